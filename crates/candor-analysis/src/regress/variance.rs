//! Errors: the sandwich, with weights, sampling clusters and strata.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::RegressError;
use super::observations::Case;
use super::problem::Problem;

/// The covariance of the total score: `sum w^2 s s'`; with sampling clusters, the sums of `w s` within clusters in place of single responses,
/// centred within strata, times `k/(k-1)`.
///
/// # Errors
/// If a stratum has one cluster only.
pub(super) fn score_covariance(
    problem: &Problem<'_>,
    theta: &[f64],
    corrected: bool,
) -> Result<DMatrix<f64>, RegressError> {
    let n = problem.parameters;
    let [clusters, strata] = problem.data.labels;
    let mut total = DMatrix::zeros(n, n);
    if clusters == 0 && strata == 0 {
        problem.each_score(theta, corrected, |case, score| {
            let score = DVector::from_column_slice(score);
            total.ger(case.square, &score, &score, 1.0);
        });
        return Ok(total);
    }
    let mut sums: BTreeMap<u32, Stratum> = BTreeMap::new();
    problem.each_score(theta, corrected, |case, score| {
        let stratum = sums.entry(case.stratum).or_insert_with(|| Stratum::new(n));
        stratum.add(score, case, clusters > 0);
    });
    for stratum in sums.into_values() {
        total += stratum.covariance()?;
    }
    Ok(total)
}

/// The sums of one stratum.
struct Stratum {
    sum: DVector<f64>,
    /// The sum of `w s` of each sampling cluster, if there are any.
    clusters: BTreeMap<u32, DVector<f64>>,
    /// The sum of `w^2 s s'`, and the number of responses, if each is a cluster of its own.
    squares: DMatrix<f64>,
    units: f64,
}

impl Stratum {
    fn new(n: usize) -> Stratum {
        let (sum, squares) = (DVector::zeros(n), DMatrix::zeros(n, n));
        Stratum { sum, clusters: BTreeMap::new(), squares, units: 0.0 }
    }

    fn add(&mut self, score: &[f64], case: &Case, clustered: bool) {
        let score = DVector::from_column_slice(score);
        self.sum.axpy(case.weight, &score, 1.0);
        if clustered {
            let own = self.clusters.entry(case.cluster).or_insert_with(|| DVector::zeros(score.len()));
            own.axpy(case.weight, &score, 1.0);
        } else {
            self.squares.ger(case.square, &score, &score, 1.0);
            self.units += case.count;
        }
    }

    fn covariance(mut self) -> Result<DMatrix<f64>, RegressError> {
        for own in self.clusters.values() {
            self.squares.ger(1.0, own, own, 1.0);
            self.units += 1.0;
        }
        if self.units < 2.0 {
            let message = "a stratum has one cluster only, so that it does not tell how clusters differ; join strata";
            return Err(RegressError::Clusters(message.to_owned()));
        }
        self.squares.ger(-1.0 / self.units, &self.sum, &self.sum, 1.0);
        Ok(self.squares * (self.units / (self.units - 1.0)))
    }
}

/// How two estimates differ, in what their errors allow: `d' (V - W)^+ d` with as many degrees of freedom as `V - W` has positive
/// directions (Hausman 1978).
pub(super) fn hausman(difference: &[f64], larger: &DMatrix<f64>, smaller: &DMatrix<f64>) -> Option<(f64, usize)> {
    let eigen = (larger - smaller).symmetric_eigen();
    let least = 1e-6 * larger.diagonal().max();
    let d = DVector::from_column_slice(difference);
    let (mut statistic, mut degrees) = (0.0, 0);
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if *value > least {
            statistic += vector.dot(&d).powi(2) / value;
            degrees += 1;
        }
    }
    (degrees > 0).then_some((statistic, degrees))
}
