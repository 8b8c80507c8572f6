//! People who ignore the device and give one answer whatever the card says.

use nalgebra::DMatrix;

use super::{Lottery, fit};

/// A class of people who ignore the device, and what that makes of the shares.
///
/// The same fit is read in different ways in the literature: that of Clark and Desharnais (nobody who ignores the
/// device has the trait) is [`Ignoring::without`], that of Moshagen and others (all of them have it) is
/// [`Ignoring::with`]. The answers cannot tell which.
#[derive(Clone, Debug, PartialEq)]
pub struct Ignoring {
    /// The share of people who ignore it.
    pub share: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Pearson's `X^2` with this class, which takes one degree of freedom.
    pub statistic: f64,
    /// For each category, the share of those who follow the device and have it: that of all who have it if nobody who
    /// ignores it does. With standard errors.
    pub without: Vec<(f64, f64)>,
    /// For each category, the share of those who have it if all who ignore the device do. With standard errors.
    pub with: Vec<(f64, f64)>,
}

impl Ignoring {
    /// The share of a category if who ignores the device does not depend on the truth.
    pub fn alike(&self, category: usize) -> f64 {
        self.without[category].0 / (1.0 - self.share)
    }
}

/// Fits a class that gives answers by `said` (one share for each answer) whatever the tag; `None` where the answers
/// cannot tell its size: then it looks like people who follow the device.
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
