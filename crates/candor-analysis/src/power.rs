//! Power and sample size: how likely a difference is found, and how many respondents that takes.
//!
//! `V` is the number of respondents times the variance of an estimated share; with a plan it is [`variance`].

use nalgebra::DMatrix;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::compliance::{Lottery, fit};

fn quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

fn cumulated(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The number of respondents times the variance of the estimated share of a cell, if the cells have these shares;
/// `None` if the channels do not tell them. It is that of the efficient estimate; the unbiased one of `estimate` has
/// the same with one tag, and with tags that differ in their labels only.
pub fn variance(lottery: &Lottery, shares: &[f64], cell: usize) -> Option<f64> {
    let truth = nalgebra::DVector::from_column_slice(shares);
    let expected = lottery.tags.iter().map(|tag| (&tag.channel * &truth * tag.share).iter().copied().collect());
    let channels: Vec<&DMatrix<f64>> = lottery.tags.iter().map(|tag| &tag.channel).collect();
    Some(fit(&channels, &expected.collect::<Vec<Vec<f64>>>())?.covariance?[(cell, cell)])
}

/// How many respondents each of two groups takes for a two-sided test of level `alpha` to find their difference with
/// this power: `(z_(1-alpha/2) + z_power)^2 (V_1 + V_2)/difference^2`.
pub fn two_groups(variances: [f64; 2], difference: f64, alpha: f64, power: f64) -> f64 {
    let z = quantile(1.0 - alpha / 2.0) + quantile(power);
    z * z * (variances[0] + variances[1]) / (difference * difference)
}

/// The power of that test with so many respondents in each group.
pub fn two_groups_power(variances: [f64; 2], difference: f64, alpha: f64, respondents: f64) -> f64 {
    let error = ((variances[0] + variances[1]) / respondents).sqrt();
    cumulated(difference.abs() / error - quantile(1.0 - alpha / 2.0))
}

/// The power of a one-sided test of level `alpha` that a share is not `null`, with the variances at `null` and at the
/// share: `Phi( (|difference| - z_(1-alpha) sqrt(V_0/n)) / sqrt(V/n) )`.
pub fn one_sample_power(null: f64, variance: f64, difference: f64, alpha: f64, respondents: f64) -> f64 {
    let (at_null, error) = ((null / respondents).sqrt(), (variance / respondents).sqrt());
    cumulated((difference.abs() - quantile(1.0 - alpha) * at_null) / error)
}

/// How many respondents that test takes: `((z_(1-alpha) sqrt(V_0) + z_power sqrt(V))/difference)^2`.
pub fn one_sample(null: f64, variance: f64, difference: f64, alpha: f64, power: f64) -> f64 {
    ((quantile(1.0 - alpha) * null.sqrt() + quantile(power) * variance.sqrt()) / difference).powi(2)
}
