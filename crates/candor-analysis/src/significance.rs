//! Tests whether a number is zero, by its estimate divided by its standard error.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::estimate::Cell;
use crate::tally::TableCounts;

/// Two-sided test against zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZeroTest {
    /// Estimate divided by its standard error.
    pub statistic: f64,
    /// Degrees of freedom of Student's t, with a sampling design; `None` for the normal distribution.
    pub degrees: Option<f64>,
    /// P-value.
    pub p_value: f64,
}

/// Degrees of freedom from which Student's t and the normal distribution agree to more than four digits.
const MIN_NORMAL_DEGREES: f64 = 1e5;

/// Returns the degrees of freedom of the standard errors of a table; `None` without a sampling design.
pub fn degrees(tally: &TableCounts) -> Option<f64> {
    tally.drawn().map(|drawn| drawn.degrees()).filter(|degrees| *degrees < MIN_NORMAL_DEGREES)
}

/// Tests whether a number is zero; `None` if its standard error is unknown or zero.
pub fn test_zero(number: &Cell, degrees: Option<f64>) -> Option<ZeroTest> {
    let error = number.uncertainty?.standard_error;
    let statistic = number.estimate / error;
    if !(error > 0.0 && statistic.is_finite()) {
        return None;
    }
    let beyond = match degrees.and_then(|degrees| StudentsT::new(0.0, 1.0, degrees).ok()) {
        Some(law) => law.sf(statistic.abs()),
        None => Normal::standard().sf(statistic.abs()),
    };
    Some(ZeroTest { statistic, degrees, p_value: (2.0 * beyond).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Uncertainty;

    fn cell(estimate: f64, standard_error: f64) -> Cell {
        Cell { estimate, uncertainty: Some(Uncertainty { standard_error, low: 0.0, high: 1.0 }) }
    }

    /// R: `2 * pnorm(-1.96)`, `2 * pt(-2.5, 8)` and `2 * pt(-2.5, 1)`.
    #[test]
    fn golden_numbers() {
        let p = |statistic: f64, degrees| test_zero(&cell(0.1 * statistic, 0.1), degrees).unwrap().p_value;
        assert!((p(1.96, None) - 0.049_995_790_296).abs() < 1e-9);
        assert!((p(-1.96, None) - 0.049_995_790_296).abs() < 1e-9);
        assert!((p(2.5, Some(8.0)) - 0.036_942_037_7).abs() < 1e-9);
        assert!((p(2.5, Some(1.0)) - 0.242_237_883_2).abs() < 1e-9);
        assert_eq!(p(0.0, None), 1.0);
    }

    #[test]
    fn what_is_not_known_is_not_tested() {
        assert_eq!(test_zero(&cell(0.2, 0.0), None), None);
        assert_eq!(test_zero(&cell(f64::NAN, 0.1), None), None);
        assert_eq!(test_zero(&Cell { estimate: 0.2, uncertainty: None }, None), None);
    }
}
