//! Formats privacy values, rounded so that they never overstate privacy.

use candor_base::channel::Epsilon;

/// Tolerance of criteria that are computed in floating point, added to their thresholds.
///
/// Epsilon, parity and their consequences are exact and need none.
pub(crate) const ROUNDING: f64 = 1e-12;

/// Formats the likelihood ratio `e^epsilon`, rounded up to three digits; `None` if it is unbounded.
///
/// The result is "1" only for epsilon 0.
pub fn times(epsilon: Epsilon) -> Option<String> {
    let factor = epsilon.finite()?.exp();
    if !factor.is_finite() {
        return None;
    }
    let unit = 10f64.powi(factor.log10().floor() as i32 - 2);
    // The upward rounding of the logarithm must not turn an exact factor such as 3 into 3.01.
    let least = if epsilon == Epsilon::ZERO { 1.0 } else { 1.0 + unit };
    let rounded = ((factor / unit - 1e-9).ceil() * unit).max(least);
    let decimals = (-unit.log10().round()).max(0.0) as usize;
    let text = format!("{rounded:.decimals$}");
    Some(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text })
}

/// Formats an upper bound with four decimals, rounded up, or with four digits if it is below 0.001.
pub fn at_most(value: f64) -> String {
    candor_base::channel::rounded_up(value)
}

/// Formats a lower bound with four decimals, rounded down.
pub fn at_least(value: f64) -> String {
    candor_base::channel::rounded_down(value)
}

#[cfg(test)]
mod tests {
    use candor_base::channel::Rational;

    use super::*;

    fn ratio(n: u32, d: u32) -> Epsilon {
        Epsilon::of_ratio(&Rational::new(n.into(), d.into()), &Rational::new(1u32.into(), 1u32.into()))
    }

    #[test]
    fn factors_are_rounded_up_to_three_digits() {
        for (n, d, expected) in [
            (3, 1, "3"),
            (2718, 1000, "2.72"),
            (10001, 1000, "10.1"),
            (54598, 1000, "54.6"),
            (123_456, 1, "124000"),
            (1, 1, "1"),
        ] {
            assert_eq!(times(ratio(n, d)).as_deref(), Some(expected), "{n}/{d}");
        }
        let hardly = Rational::new((u64::MAX).into(), (u64::MAX - 1).into());
        assert_eq!(times(Epsilon::of_parity(Some(&hardly))).as_deref(), Some("1.01"));
        assert_eq!(times(Epsilon::UNBOUNDED), None);
    }

    #[test]
    fn bounds_are_rounded_outward() {
        for (value, most, least) in [
            (0.576_117, "0.5762", "0.5761"),
            (0.5, "0.5000", "0.5000"),
            (0.0, "0.0000", "0.0000"),
            (0.000_123_456, "1.235e-4", "0.0001"),
        ] {
            assert_eq!((at_most(value).as_str(), at_least(value).as_str()), (most, least));
        }
    }
}
