//! Sharing a total epsilon out over attributes.

use crate::DesignError;

/// Attribute epsilons in the given ratio that sum to `total`.
///
/// # Errors
/// If the total is not a privacy loss or the ratio shares nothing out.
pub fn share(total: f64, ratio: &[f64]) -> Result<Vec<f64>, DesignError> {
    if !(total.is_finite() && total >= 0.0) {
        return Err(DesignError::Epsilon(total));
    }
    let sum: f64 = ratio.iter().sum();
    if ratio.iter().any(|&r| !(r.is_finite() && r >= 0.0)) || !(sum.is_finite() && sum > 0.0) {
        return Err(DesignError::Ratio);
    }
    Ok(ratio.iter().map(|r| total * (r / sum)).collect())
}

/// Whether a certified epsilon is what was asked for, or so little less that nobody would mind. It is much less where the rarest
/// answer is too rare for integer weights of 64 bits.
pub fn is_met(asked: f64, certified: f64) -> bool {
    certified >= 0.99 * asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_the_ratio() {
        let shares = share(4.0, &[2.0, 1.0, 1.0]).unwrap();
        for (share, expected) in shares.iter().zip([2.0, 1.0, 1.0]) {
            assert!((share - expected).abs() < 1e-12);
        }
        assert_eq!(share(4.0, &[1.0]).unwrap(), [4.0]);
        assert_eq!(share(0.0, &[1.0, 0.0]).unwrap(), [0.0, 0.0]);
    }

    #[test]
    fn what_cannot_be_shared_is_refused() {
        for total in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(share(total, &[1.0]), Err(DesignError::Epsilon(_))));
        }
        for ratio in [&[][..], &[0.0], &[-1.0, 2.0], &[f64::NAN], &[f64::INFINITY]] {
            assert_eq!(share(1.0, ratio), Err(DesignError::Ratio), "{ratio:?}");
        }
    }
}
