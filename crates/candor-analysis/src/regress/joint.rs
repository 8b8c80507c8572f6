//! Joint tests of the coefficients of a term, over the categories of a factor and of the outcome.
//!
//! Let `u` be the score and `I` the information of the fit without the term. Let `W` be the tested directions less
//! their projections on the others, and `V` the covariance of `u`. The statistic `u'W (W'VW)^-1 W'u` is chi-square,
//! with as many degrees of freedom as coefficients. With primary sampling units, it is Hotelling's, with units less
//! strata.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::RegressError;
use super::coefficients::{p_value, terms};
use super::corrected_profile::CorrectedProfile;
use super::expected::{projected, projected_with_law, weighted_covariance};
use super::family::Kernel;
use super::fit::maximise_for_score;
use super::likelihood_profile::{Drawn, Information};
use super::penalty::Penalty;
use super::problem::Problem;
use super::projection::Projections;
use super::result::{JointTest, Test};
use super::variance::score_covariance;

/// Returns `v' C^-1 v`; `None` if the covariance is not positive definite.
fn quadratic(vector: &DVector<f64>, covariance: DMatrix<f64>) -> Option<f64> {
    let scale = covariance.diagonal().map(|own| own.sqrt().recip());
    if !scale.iter().all(|own| own.is_finite()) {
        return None;
    }
    let scaled = DMatrix::from_fn(scale.len(), scale.len(), |i, j| covariance[(i, j)] * scale[i] * scale[j]);
    let scaled_vector = vector.component_mul(&scale);
    Some(scaled_vector.dot(&scaled.cholesky()?.solve(&scaled_vector)))
}

fn told(term: String, df: usize, statistic: f64, units: Option<f64>) -> Option<JointTest> {
    let (k, test) = (df as f64, Test::Score);
    let Some(units) = units else {
        return Some(JointTest { term, statistic, df, denominator_df: None, p_value: p_value(statistic, df), test });
    };
    let left = units - k + 1.0;
    let law = FisherSnedecor::new(k, left).ok().filter(|_| left >= 1.0)?;
    let (statistic, denominator_df) = (statistic * left / (units * k), Some(left));
    Some(JointTest { term, p_value: law.sf(statistic), statistic, df, denominator_df, test })
}

/// Tests the terms of a likelihood. Fits without a term are searched from two starts, and terms without a fit are
/// omitted.
///
/// # Errors
/// Returns [`RegressError`] if the sampling design does not identify the variance.
pub(super) fn by_likelihood(
    problem: &Problem<'_>,
    starts: [&[f64]; 2],
    information: Information<'_>,
    ridge: &Penalty,
) -> Result<Vec<JointTest>, RegressError> {
    let mut found = Vec::new();
    for (term, tested) in terms(problem) {
        let free: Vec<usize> = (0..problem.parameters).filter(|at| !tested.contains(at)).collect();
        let fit = |start: &&[f64]| {
            let mut start = start.to_vec();
            tested.iter().for_each(|&at| start[at] = 0.0);
            maximise_for_score(problem, &start, &free, ridge)
        };
        let fits = starts.iter().map(fit).filter(|fit| fit.converged);
        let Some(fit) = fits.max_by(|a, b| a.sums.value.total_cmp(&b.sums.value)) else { continue };
        let projections = match information {
            Information::Response(possible) => Some(projected(problem, possible, &fit.theta, &tested)),
            Information::Everything(all) => Some(projected_with_law(problem, all, &fit.theta, &tested)),
            Information::Observed => Projections::of_matrix(&fit.sums.observed, &tested, &free),
        };
        let Some(Projections { weights, information: left }) = projections else { continue };
        let slope = |(at, u): (usize, &f64)| u + ridge.slope(&fit.theta, at);
        let gradient = DVector::from_iterator(problem.parameters, fit.sums.gradient.iter().enumerate().map(slope));
        let directions = columns(&weights);
        let scores = directions.tr_mul(&gradient);
        let sandwich = |covariance: DMatrix<f64>| directions.tr_mul(&(covariance * &directions));
        let scatter = || sandwich(DMatrix::from_column_slice(problem.parameters, problem.parameters, &fit.sums.scores));
        let statistic = match (Drawn::of(problem), information) {
            (Drawn::Simple, _) => quadratic(&scores, left),
            (Drawn::Weighted, Information::Response(possible)) => {
                // The larger variance, as for single coefficients.
                let model = quadratic(&scores, weighted_covariance(problem, possible, &fit.theta, &weights));
                model.zip(quadratic(&scores, scatter())).map(|(a, b)| a.min(b))
            }
            (Drawn::Weighted, _) => quadratic(&scores, scatter()),
            (Drawn::Design, _) => quadratic(&scores, sandwich(score_covariance(problem, &fit.theta, Some(&fit.sums))?)),
        };
        found.extend(statistic.and_then(|statistic| told(term, tested.len(), statistic, problem.data.degrees)));
    }
    Ok(found)
}

/// Tests the terms of a corrected score; terms without a solution are omitted.
///
/// # Errors
/// Returns [`RegressError`] if the sampling design does not identify the variance.
pub(super) fn by_score(profile: &CorrectedProfile<'_>, near: &[f64]) -> Result<Vec<JointTest>, RegressError> {
    let problem = profile.problem;
    let mut found = Vec::new();
    for (term, tested) in terms(problem) {
        let free: Vec<usize> = (0..problem.parameters).filter(|at| !tested.contains(at)).collect();
        let mut start = near.to_vec();
        tested.iter().for_each(|&at| start[at] = 0.0);
        let none = vec![0.0; problem.parameters];
        let Some(theta) = profile.solved([&start, &none], &tested, &free) else { continue };
        let sums = problem.corrected(&theta, profile.tables);
        let projections = match problem.kernel {
            Kernel::LeastSquares => Projections::of_matrix(&sums.complete, &tested, &free),
            _ => Some(profile.projections(&theta, &tested, &free)),
        };
        let Some(Projections { weights, .. }) = projections else { continue };
        let directions = columns(&weights);
        let scores = directions.tr_mul(&DVector::from_column_slice(&sums.gradient));
        let scatter = directions.tr_mul(&(score_covariance(problem, &theta, None)? * &directions));
        let covariance = match (problem.kernel, profile.drawn) {
            (_, Drawn::Design) => scatter,
            // About its mean, as in Fieller's sets.
            (Kernel::LeastSquares, _) => scatter - &scores * scores.transpose() / problem.data.total,
            _ => profile.covariance(&theta, &weights)?,
        };
        let statistic = quadratic(&scores, covariance);
        found.extend(statistic.and_then(|statistic| told(term, tested.len(), statistic, problem.data.degrees)));
    }
    Ok(found)
}

/// Returns Wald tests of the terms, by a covariance matrix with these degrees of freedom.
pub(super) fn by_covariance(
    terms: &[(String, Vec<usize>)],
    estimates: &[f64],
    covariance: &DMatrix<f64>,
    df: f64,
) -> Vec<JointTest> {
    let one = |(term, tested): &(String, Vec<usize>)| {
        let own = DVector::from_iterator(tested.len(), tested.iter().map(|&at| estimates[at]));
        let part = DMatrix::from_fn(tested.len(), tested.len(), |i, j| covariance[(tested[i], tested[j])]);
        let statistic = quadratic(&own, part)? / tested.len() as f64;
        let law = FisherSnedecor::new(tested.len() as f64, df).ok()?;
        let (term, p_value, test) = (term.clone(), law.sf(statistic), Test::WaldReplicates);
        Some(JointTest { term, statistic, df: tested.len(), denominator_df: Some(df), p_value, test })
    };
    terms.iter().filter_map(one).collect()
}

fn columns(weights: &[Vec<f64>]) -> DMatrix<f64> {
    DMatrix::from_fn(weights[0].len(), weights.len(), |i, j| weights[j][i])
}
