//! Errors: the sandwich, with weights, sampling clusters and strata.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::RegressError;
use super::observations::Case;
use super::problem::Problem;

/// The covariance of the total score: `sum w^2 s s'`; with sampling clusters, the sums of `w s` within clusters in place of single responses,
/// centred within strata, times `k/(k-1)`, and, where a share `f` of all units was drawn, times `1 - f`.
///
/// # Errors
/// If a stratum has one cluster only, or more than there are.
pub(super) fn score_covariance(
    problem: &Problem<'_>,
    theta: &[f64],
    corrected: bool,
) -> Result<DMatrix<f64>, RegressError> {
    let n = problem.parameters;
    let [clusters, strata] = problem.data.labels;
    let mut total = DMatrix::zeros(n, n);
    if clusters == 0 && strata == 0 && problem.data.fpc.is_empty() {
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
    for (number, stratum) in sums {
        total += stratum.covariance(problem.data.fpc.get(&number).copied())?;
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

    fn covariance(mut self, fpc: Option<f64>) -> Result<DMatrix<f64>, RegressError> {
        for own in self.clusters.values() {
            self.squares.ger(1.0, own, own, 1.0);
            self.units += 1.0;
        }
        let left = fpc.map_or(Ok(1.0), |fpc| not_drawn(fpc, self.units))?;
        if left == 0.0 {
            return Ok(self.squares * 0.0);
        }
        if self.units < 2.0 {
            let message = "a stratum has one cluster only, so that it does not tell how clusters differ; join strata";
            return Err(RegressError::Clusters(message.to_owned()));
        }
        self.squares.ger(-1.0 / self.units, &self.sum, &self.sum, 1.0);
        Ok(self.squares * (left * self.units / (self.units - 1.0)))
    }
}

/// The share of a stratum's units that were not drawn; up to 1, `fpc` is the share that was, else how many there are.
fn not_drawn(fpc: f64, units: f64) -> Result<f64, RegressError> {
    let refused = |message: String| Err(RegressError::Population(message));
    match fpc {
        fpc if fpc.is_nan() => {
            refused("it says different things of one stratum; it is the same for all its people".to_owned())
        }
        fpc if fpc <= 0.0 => refused(format!("it is {fpc}; a population has more than nobody")),
        fpc if fpc <= 1.0 => Ok(1.0 - fpc),
        fpc if fpc < units - 1e-9 => {
            refused(format!("a stratum has {units} sampling units, but its population only {fpc}"))
        }
        fpc => Ok((1.0 - units / fpc).max(0.0)),
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
