//! Fits common shares to the answers of all channels, with Pearson's statistic.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Lower limit of expected shares of answers; fitted true shares may be negative.
const MIN_EXPECTED_SHARE: f64 = 1e-9;

/// Maximum number of iterations; no fit needs as many.
const MAX_STEPS: usize = 200;

/// Shares that best explain the answers of all channels, with goodness of fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Shares, which sum to one and may be negative.
    pub shares: Vec<f64>,
    /// Covariance matrix of the shares; `None` if they are not identifiable.
    pub covariance: Option<DMatrix<f64>>,
    /// Pearson's `X^2`.
    pub statistic: f64,
}

impl Fit {
    /// Returns the probability of a statistic at least as large, with these degrees of freedom.
    pub fn p_value(&self, degrees: usize) -> f64 {
        ChiSquared::new(degrees as f64).map_or(1.0, |law| law.sf(self.statistic.max(0.0)))
    }
}

/// Fits shares to the counts of all channels by iteratively reweighted least squares; `None` without counts.
///
/// The weights are `1/q`, with `q` the expected shares of the fit. This solves the likelihood equations, and
/// Pearson's statistic is evaluated at the solution. Each iteration solves a system with one unknown per share.
pub fn fit(channels: &[&DMatrix<f64>], counts: &[Vec<f64>]) -> Option<Fit> {
    let cells = channels.first()?.ncols();
    let totals: Vec<f64> = counts.iter().map(|counts| counts.iter().sum()).collect();
    if totals.iter().sum::<f64>() <= 0.0 || cells < 2 {
        return None;
    }
    let mut shares = DVector::from_element(cells, 1.0 / cells as f64);
    let mut information = DMatrix::zeros(cells - 1, cells - 1);
    for _ in 0..MAX_STEPS {
        let mut right = DVector::zeros(cells - 1);
        information.fill(0.0);
        for ((channel, counts), &total) in channels.iter().zip(counts).zip(&totals).filter(|(_, total)| **total > 0.0) {
            let weights = (*channel * &shares).map(|q| total / q.max(MIN_EXPECTED_SHARE));
            let last = channel.column(cells - 1);
            let free = DMatrix::from_fn(channel.nrows(), cells - 1, |z, t| channel[(z, t)] - last[z]);
            let weighted = DMatrix::from_fn(cells - 1, channel.nrows(), |t, z| free[(z, t)] * weights[z]);
            let seen = DVector::from_fn(channel.nrows(), |z, _| counts[z] / total - last[z]);
            information += &weighted * &free;
            right += &weighted * seen;
        }
        let solved = solution(&information, &right)?;
        let rest = 1.0 - solved.sum();
        let next = DVector::from_fn(cells, |t, _| if t + 1 < cells { solved[t] } else { rest });
        let change = (&next - &shares).amax();
        shares = next;
        if change < 1e-13 {
            break;
        }
    }
    let statistic = pearson(channels, counts, &totals, &shares);
    let covariance = covariance(&information, cells);
    Some(Fit { shares: shares.iter().copied().collect(), covariance, statistic })
}

fn pearson(channels: &[&DMatrix<f64>], counts: &[Vec<f64>], totals: &[f64], shares: &DVector<f64>) -> f64 {
    let of_tag = |((channel, counts), &total): ((&&DMatrix<f64>, &Vec<f64>), &f64)| -> f64 {
        let expected = (*channel * shares).map(|q| total * q);
        let cell = |(count, &expected): (&f64, &f64)| match expected > total * MIN_EXPECTED_SHARE {
            true => (count - expected).powi(2) / expected,
            // An answer that is impossible, or has no expected count.
            false => {
                if *count > 0.0 {
                    count * count / (total * MIN_EXPECTED_SHARE)
                } else {
                    0.0
                }
            }
        };
        counts.iter().zip(expected.iter()).map(cell).sum()
    };
    channels.iter().zip(counts).zip(totals).filter(|(_, total)| **total > 0.0).map(of_tag).sum()
}

/// Solves a symmetric system that may be singular; the fitted answers do not depend on the solution chosen.
fn solution(matrix: &DMatrix<f64>, right: &DVector<f64>) -> Option<DVector<f64>> {
    let largest = matrix.amax();
    if let Some(factor) = matrix.clone().cholesky()
        && factor.l_dirty().diagonal().iter().all(|pivot| pivot * pivot > largest * 1e-9)
    {
        return Some(factor.solve(right));
    }
    Some(matrix.clone().svd(true, true).pseudo_inverse(largest * 1e-11).ok()? * right)
}

/// Returns the covariance of all shares, from the information about all but the last.
fn covariance(information: &DMatrix<f64>, cells: usize) -> Option<DMatrix<f64>> {
    let eigenvalues = information.clone().symmetric_eigenvalues();
    if eigenvalues.min() <= eigenvalues.max() * 1e-10 {
        return None;
    }
    let inverse = information.clone().try_inverse()?;
    let full = DMatrix::from_fn(cells, cells - 1, |t, free| match t {
        t if t == free => 1.0,
        t if t + 1 == cells => -1.0,
        _ => 0.0,
    });
    Some(&full * inverse * full.transpose())
}
