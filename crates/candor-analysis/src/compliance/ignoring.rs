//! Noncompliers, who give a self-protective answer regardless of the device.

use nalgebra::DMatrix;

use super::{Lottery, fit};

/// Estimated share of noncompliers, with the shares of each category that it implies.
///
/// The literature interprets the same fit in two ways, between which the responses cannot decide. According to Clark
/// and Desharnais, no noncomplier has the trait: [`Ignoring::without`]. According to Moshagen and others, all of
/// them have it: [`Ignoring::with`].
#[derive(Clone, Debug, PartialEq)]
pub struct Ignoring {
    /// Share of noncompliers.
    pub share: f64,
    /// Standard error of the share.
    pub standard_error: f64,
    /// Pearson's `X^2` with this class, which uses one degree of freedom.
    pub statistic: f64,
    /// Share of each category if no noncomplier has it, with its standard error.
    ///
    /// This is the share of compliers with the category.
    pub without: Vec<(f64, f64)>,
    /// Share of each category if all noncompliers have it, with its standard error.
    pub with: Vec<(f64, f64)>,
}

impl Ignoring {
    /// Returns the share of a category if noncompliance is independent of the true category.
    pub fn alike(&self, category: usize) -> f64 {
        self.without[category].0 / (1.0 - self.share)
    }
}

/// Estimates the share of noncompliers whose answers have the shares `said` under every channel.
///
/// `None` if the share is not identifiable, because such noncompliance looks like compliance.
pub fn ignoring(lottery: &Lottery, counts: &[Vec<f64>], said: &[f64]) -> Option<Ignoring> {
    let cells = lottery.cells();
    let widened: Vec<DMatrix<f64>> = lottery
        .tags
        .iter()
        .map(|tag| {
            let rows = tag.channel.nrows();
            DMatrix::from_fn(rows, cells + 1, |z, t| if t < cells { tag.channel[(z, t)] } else { said[z] })
        })
        .collect();
    let fitted = fit(&widened.iter().collect::<Vec<_>>(), counts)?;
    let covariance = fitted.covariance?;
    let root = |variance: f64| variance.max(0.0).sqrt();
    let share = fitted.shares[cells];
    let with = |t: usize| {
        let variance = covariance[(t, t)] + covariance[(cells, cells)] + 2.0 * covariance[(t, cells)];
        (fitted.shares[t] + share, root(variance))
    };
    Some(Ignoring {
        share,
        standard_error: root(covariance[(cells, cells)]),
        statistic: fitted.statistic,
        without: (0..cells).map(|t| (fitted.shares[t], root(covariance[(t, t)]))).collect(),
        with: (0..cells).map(with).collect(),
    })
}
