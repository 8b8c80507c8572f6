//! Power and sample size for detecting a difference or a share.
//!
//! `V` is the variance of an estimated share times the number of respondents; [`variance`] computes it for a plan.

use nalgebra::DMatrix;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::compliance::{Lottery, fit};

fn quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

fn cumulated(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// Returns the variance of an estimated share times the number of respondents; `None` if not identifiable.
///
/// The cells have the given shares. The variance is that of the efficient estimate. The unbiased one of `estimate`
/// has the same variance with one channel, and with channels that differ in their labels only.
pub fn variance(lottery: &Lottery, shares: &[f64], cell: usize) -> Option<f64> {
    let truth = nalgebra::DVector::from_column_slice(shares);
    let expected = lottery.tags.iter().map(|tag| (&tag.channel * &truth * tag.share).iter().copied().collect());
    let channels: Vec<&DMatrix<f64>> = lottery.tags.iter().map(|tag| &tag.channel).collect();
    Some(fit(&channels, &expected.collect::<Vec<Vec<f64>>>())?.covariance?[(cell, cell)])
}

/// Returns the sample size of each of two groups for a two-sided test of their difference.
///
/// It is `(z_(1-alpha/2) + z_power)^2 (V_1 + V_2)/difference^2`.
pub fn two_groups(variances: [f64; 2], difference: f64, alpha: f64, power: f64) -> f64 {
    let z = quantile(1.0 - alpha / 2.0) + quantile(power);
    z * z * (variances[0] + variances[1]) / (difference * difference)
}

/// Returns the power of that test at this sample size of each group.
pub fn two_groups_power(variances: [f64; 2], difference: f64, alpha: f64, respondents: f64) -> f64 {
    let error = ((variances[0] + variances[1]) / respondents).sqrt();
    cumulated(difference.abs() / error - quantile(1.0 - alpha / 2.0))
}

/// Returns the power of a one-sided test that a share is not `null`.
///
/// The variances are those at the null hypothesis and at the true share:
/// `Phi( (|difference| - z_(1-alpha) sqrt(V_0/n)) / sqrt(V/n) )`.
pub fn one_sample_power(null: f64, variance: f64, difference: f64, alpha: f64, respondents: f64) -> f64 {
    let (at_null, error) = ((null / respondents).sqrt(), (variance / respondents).sqrt());
    cumulated((difference.abs() - quantile(1.0 - alpha) * at_null) / error)
}

/// Returns the sample size of that test: `((z_(1-alpha) sqrt(V_0) + z_power sqrt(V))/difference)^2`.
pub fn one_sample(null: f64, variance: f64, difference: f64, alpha: f64, power: f64) -> f64 {
    ((quantile(1.0 - alpha) * null.sqrt() + quantile(power) * variance.sqrt()) / difference).powi(2)
}
