//! Power to detect noncompliance with a randomization device.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::{Lottery, fit};

/// Returns the power of a chi-square test with these degrees of freedom, noncentrality and level `alpha`.
///
/// The noncentral distribution is a mixture of central ones, with Poisson weights of mean half the noncentrality.
pub fn power(degrees: usize, noncentrality: f64, alpha: f64) -> f64 {
    let law = |degrees: f64| ChiSquared::new(degrees).expect("degrees are positive");
    if degrees == 0 {
        return 0.0;
    }
    let critical = law(degrees as f64).inverse_cdf(1.0 - alpha);
    let mean = noncentrality / 2.0;
    // Terms further from the mean have a total weight below 1e-12.
    let (centre, reach) = (mean.floor(), 8.0 * mean.sqrt() + 30.0);
    let first = (centre - reach).max(0.0) as u64;
    let mut total = 0.0;
    for term in first..=(centre + reach) as u64 {
        let weight = (-mean + term as f64 * mean.max(f64::MIN_POSITIVE).ln() - ln_factorial(term)).exp();
        total += weight * law(degrees as f64 + 2.0 * term as f64).sf(critical);
    }
    total.clamp(0.0, 1.0)
}

fn ln_factorial(n: u64) -> f64 {
    statrs::function::factorial::ln_factorial(n)
}

/// Returns the noncentrality at which the test of level `alpha` has the required power.
pub fn noncentrality(degrees: usize, alpha: f64, wanted: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while power(degrees, high, alpha) < wanted && high < 1e9 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        match power(degrees, middle, alpha) < wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// Returns the noncentrality that one respondent adds; zero if noncompliance is undetectable.
///
/// A share `ignoring` of respondents does not comply, and their answers have the shares `said`. The others comply,
/// and their true categories have the given shares.
pub fn per_record(lottery: &Lottery, shares: &[f64], ignoring: f64, said: &[f64]) -> f64 {
    let (shares, said) = (DVector::from_column_slice(shares), DVector::from_column_slice(said));
    let answers = |channel: &DMatrix<f64>| (channel * &shares) * (1.0 - ignoring) + &said * ignoring;
    let expected = lottery.tags.iter().map(|tag| (answers(&tag.channel) * tag.share).iter().copied().collect());
    let channels: Vec<&DMatrix<f64>> = lottery.tags.iter().map(|tag| &tag.channel).collect();
    let fitted = fit(&channels, &expected.collect::<Vec<Vec<f64>>>());
    fitted.map_or(0.0, |fitted| if fitted.statistic < 1e-12 { 0.0 } else { fitted.statistic })
}
