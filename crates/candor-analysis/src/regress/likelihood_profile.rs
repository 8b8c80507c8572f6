//! Score statistic of a coefficient under the likelihood, at every tested value.

use std::collections::BTreeSet;

use nalgebra::{DMatrix, DVector};

use super::RegressError;
use super::chord::Chord;
use super::cr2::{Cluster, Clusters, OneStep, normal_of_student, one_step};
use super::expected::{
    Everything, Possible, add_cluster_information, projected, projected_with_law, weighted_covariance,
};
use super::fit::{Fit, maximise_for_score, maximise_penalised};
use super::penalty::Penalty;
use super::problem::Problem;
use super::projection::{Projection, only};
use super::variance::score_covariance;
use super::walk::{Point, Profile};

/// Source of the information.
#[derive(Clone, Copy)]
pub(super) enum Information<'a> {
    /// All possible answers to a randomized outcome.
    Response(&'a Possible),
    /// All possible answers to all randomized attributes.
    Everything(&'a Everything),
    /// The observed answers.
    Observed,
}

/// Sampling of the respondents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drawn {
    /// Independent, with equal weights.
    Simple,
    /// Independent, with sampling weights.
    Weighted,
    /// With sampling units, strata, finite populations or benchmarks.
    Design,
}

impl Drawn {
    /// Returns the sampling of a problem's respondents.
    pub(super) fn of(problem: &Problem<'_>) -> Drawn {
        let data = problem.data;
        match (data.labels != [0, 0] || !data.fpc.is_empty() || data.calibration.is_some(), data.weighted) {
            (true, _) => Drawn::Design,
            (_, true) => Drawn::Weighted,
            _ => Drawn::Simple,
        }
    }
}

/// Returns the numbers of clusters and strata, if the design has nothing else.
pub(super) fn clustered(problem: &Problem<'_>) -> Option<[usize; 2]> {
    let data = problem.data;
    (data.labels[0] > 0 && data.fpc.is_empty() && data.calibration.is_none()).then_some(data.labels)
}

/// Adds clusters without people in the model, which count in their strata nonetheless.
pub(super) fn add_outside(problem: &Problem<'_>, clusters: &mut Clusters) {
    let strata: BTreeSet<u32> = clusters.keys().map(|(stratum, _)| *stratum).collect();
    for &(stratum, cluster) in problem.data.outside.keys().filter(|(stratum, _)| strata.contains(stratum)) {
        clusters.entry((stratum, cluster)).or_insert_with(|| Cluster::new(problem.parameters));
    }
}

/// Returns the degrees of freedom of a design with clusters: units less strata, plus 1, less parameters; at least
/// one.
pub(super) fn design_df(problem: &Problem<'_>) -> Option<f64> {
    problem.data.degrees.map(|degrees| (degrees + 1.0 - problem.own as f64).max(1.0))
}

/// Score statistic of one coefficient under a likelihood.
pub(super) struct LikelihoodProfile<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) information: Information<'a>,
    pub(super) drawn: Drawn,
    /// Penalty that keeps the other parameters finite.
    pub(super) ridge: &'a Penalty,
    pub(super) tested: usize,
    pub(super) free: Vec<usize>,
    /// Whether there is enough data that one search suffices.
    pub(super) much: bool,
    /// Shortcut near a regular best fit.
    pub(super) chord: Option<Chord<'a>>,
}

impl LikelihoodProfile<'_> {
    /// Returns the statistic at the best fit with the ridge.
    pub(super) fn start(&self, top: &Fit) -> Result<Point, RegressError> {
        match &self.chord {
            Some(chord) => self.projected_point(top, chord.start()),
            None => self.point(top),
        }
    }

    /// Returns the statistic at a fit with the ridge, in which the coefficient is fixed.
    fn point(&self, fit: &Fit) -> Result<Point, RegressError> {
        self.projected_point(fit, self.projection(fit))
    }

    fn projected_point(&self, fit: &Fit, projection: Projection) -> Result<Point, RegressError> {
        let Projection { weights, information } = projection;
        let slope = |(at, u): (usize, &f64)| u + self.ridge.slope(&fit.theta, at);
        let gradient = fit.sums.gradient.iter().enumerate().map(slope);
        let score: f64 = weights.iter().zip(gradient).map(|(w, u)| w * u).sum();
        let few = self.by_clusters(fit);
        let (root, error, df, variance) = match few {
            Some(few) => {
                let df = design_df(self.problem).filter(|_| self.problem.data.design_df).unwrap_or(few.df);
                (normal_of_student(few.step / few.error, df), few.error, Some(df), few.error.powi(2))
            }
            None => {
                let variance = self.variance(fit, &weights, information)?;
                let root = if variance > 0.0 { score / variance.sqrt() } else { 0.0 };
                let df = design_df(self.problem);
                let root = df.map_or(root, |df| normal_of_student(root, df));
                (root, variance.max(0.0).sqrt() / information, df, variance)
            }
        };
        Ok(Point {
            at: fit.theta[self.tested],
            root,
            variance,
            theta: fit.theta.clone(),
            follows: weights,
            error,
            value: Some(fit.sums.value + self.ridge.taken(&fit.theta)),
            df,
            one_step: few.is_some(),
        })
    }

    /// Takes one step with the variance for few clusters.
    ///
    /// `None` without clusters, or if a share is near 0 or 1.
    fn by_clusters(&self, fit: &Fit) -> Option<OneStep> {
        let Information::Response(possible) = self.information else { return None };
        let [_, strata] = clustered(self.problem)?;
        let mut clusters = self.problem.cluster_scores(&fit.theta, false);
        add_cluster_information(self.problem, possible, &fit.theta, &mut clusters);
        add_outside(self.problem, &mut clusters);
        one_step(&clusters, self.problem.parameters, self.tested, (strata > 1).then_some(self.problem.data.lonely))
    }

    fn projection(&self, fit: &Fit) -> Projection {
        match self.information {
            Information::Response(possible) => only(projected(self.problem, possible, &fit.theta, &[self.tested])),
            Information::Everything(all) => only(projected_with_law(self.problem, all, &fit.theta, &[self.tested])),
            Information::Observed => {
                let matrices = [&fit.sums.observed, &fit.sums.scores, &fit.sums.complete];
                let found =
                    matrices.into_iter().find_map(|matrix| Projection::of_matrix(matrix, self.tested, &self.free));
                found.unwrap_or_else(|| self.alone())
            }
        }
    }

    /// Returns the score without projection.
    fn alone(&self) -> Projection {
        let mut weights = vec![0.0; self.problem.parameters];
        weights[self.tested] = 1.0;
        Projection { weights, information: 0.0 }
    }

    /// Returns the variance of the projected score.
    fn variance(&self, fit: &Fit, weights: &[f64], information: f64) -> Result<f64, RegressError> {
        let n = weights.len();
        let direction = DVector::from_column_slice(weights);
        let form = |matrix: &DMatrix<f64>| direction.dot(&(matrix * &direction));
        let scatter = || form(&DMatrix::from_column_slice(n, n, &fit.sums.scores));
        Ok(match (self.drawn, self.information) {
            (Drawn::Simple, _) => information,
            (Drawn::Weighted, Information::Response(possible)) => {
                let by_model = weighted_covariance(self.problem, possible, &fit.theta, &[weights.to_vec()])[(0, 0)];
                by_model.max(scatter())
            }
            (Drawn::Weighted, _) => scatter(),
            (Drawn::Design, _) => form(&score_covariance(self.problem, &fit.theta, Some(&fit.sums))?),
        })
    }
}

impl Profile for LikelihoodProfile<'_> {
    fn at(&self, value: f64, near: &Point) -> Result<Point, RegressError> {
        self.problem.data.check_goes_on()?;
        let by = value - near.at;
        let mut followed: Vec<f64> = near.theta.iter().zip(&near.follows).map(|(t, w)| t + by * w).collect();
        followed[self.tested] = value;
        let near_best = self.chord.as_ref().and_then(|chord| chord.at(&followed, &near.follows, self.tested));
        if let Some((fit, projection)) = near_best {
            return self.projected_point(&fit, projection);
        }
        let mut fit = maximise_for_score(self.problem, &followed, &self.free, self.ridge);
        if !self.much || !fit.converged {
            let mut kept = near.theta.clone();
            kept[self.tested] = value;
            let other = maximise_for_score(self.problem, &kept, &self.free, self.ridge);
            if !fit.sums.value.is_finite() || other.sums.value > fit.sums.value {
                fit = other;
            }
        }
        self.point(&fit)
    }

    fn restart(&self, near: &Point) -> Result<Option<Point>, RegressError> {
        let all: Vec<usize> = (0..self.problem.parameters).collect();
        let fit = maximise_penalised(self.problem, &near.theta, &all, self.ridge);
        self.point(&fit).map(Some)
    }
}
