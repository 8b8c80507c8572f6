//! Differences and ratios of two estimates, from their intervals.
//!
//! The lower error of a difference combines the lower error of the first estimate and the upper error of the second,
//! as standard errors are combined. This is the method of variance estimates recovery (Zou and Donner 2008; for
//! ratios Donner and Zou 2012). Each interval keeps its shape, so small-sample properties carry over: the interval
//! of a difference of shares stays within -1 and 1, and that of a ratio above 0. If an estimated share is out of
//! range by chance, the interval is extended to the estimated difference, if that is possible.

use crate::estimate::{Cell, Uncertainty};

/// Returns the difference `second - first` with its uncertainty; `None` if either is unknown.
///
/// `correlation` is that of the two estimates.
pub fn difference(first: &Cell, second: &Cell, correlation: f64) -> Option<Cell> {
    let (a, b) = (Known::new(first)?, Known::new(second)?);
    let together = |x: f64, y: f64| (x * x + y * y - 2.0 * correlation * x * y).max(0.0).sqrt();
    let (middle, estimate) = (b.estimate - a.estimate, second.estimate - first.estimate);
    // An estimate that is out of range by chance may be outside of its interval.
    let possible = if estimate.abs() <= 1.0 { estimate } else { middle };
    let uncertainty = Uncertainty {
        standard_error: together(a.standard_error, b.standard_error),
        low: (middle - together(b.below, a.above)).min(possible),
        high: (middle + together(b.above, a.below)).max(possible),
    };
    Some(Cell { estimate, uncertainty: Some(uncertainty) })
}

/// A ratio with its interval; the upper limit is infinite if the denominator may be zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioOfTwo {
    /// The ratio.
    pub estimate: f64,
    /// Lower confidence limit.
    pub low: f64,
    /// Upper confidence limit.
    pub high: f64,
}

/// Returns `second / first` with its interval; `None` if either is unknown, or the first is not positive.
pub fn ratio(first: &Cell, second: &Cell, correlation: f64) -> Option<RatioOfTwo> {
    let (a, b) = (Known::new(first)?, Known::new(second)?);
    if a.estimate <= 0.0 {
        return None;
    }
    // Treats `second - r first` as a difference, whose interval excludes 0 beyond the limits of the ratio.
    let reach = |r: f64, x: f64, y: f64| (x * x + r * r * y * y - 2.0 * correlation * r * x * y).max(0.0).sqrt();
    let above = |r: f64| b.estimate - r * a.estimate - reach(r, b.below, a.above) > 0.0;
    let below = |r: f64| b.estimate - r * a.estimate + reach(r, b.above, a.below) < 0.0;
    let low = if above(0.0) { turn(above) } else { 0.0 };
    let high = turn(|r| !below(r));
    Some(RatioOfTwo { estimate: b.estimate / a.estimate, low, high })
}

/// Returns the largest number up to which the predicate holds, starting from 0.
fn turn(holds: impl Fn(f64) -> bool) -> f64 {
    const FAR: f64 = 1e9;
    let mut high = 1.0;
    while holds(high) {
        high *= 2.0;
        if high > FAR {
            return f64::INFINITY;
        }
    }
    let mut low = 0.0;
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// An estimate moved into its interval, with the distances to its limits.
struct Known {
    estimate: f64,
    standard_error: f64,
    below: f64,
    above: f64,
}

impl Known {
    fn new(cell: &Cell) -> Option<Known> {
        let Uncertainty { standard_error, low, high } = cell.uncertainty?;
        if !(cell.estimate.is_finite() && low <= high) {
            return None;
        }
        let estimate = cell.estimate.clamp(low, high);
        Some(Known { estimate, standard_error, below: estimate - low, above: high - estimate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(estimate: f64, low: f64, high: f64) -> Cell {
        Cell { estimate, uncertainty: Some(Uncertainty { standard_error: 0.1, low, high }) }
    }

    /// Newcombe (1998), method 10: 56 of 70 and 48 of 80 with their Wilson intervals.
    #[test]
    fn newcombes_difference() {
        let (first, second) = (cell(0.6, 0.490_4, 0.700_4), cell(0.8, 0.691_8, 0.877_0));
        let found = difference(&first, &second, 0.0).unwrap().uncertainty.unwrap();
        assert!((found.low - 0.052_4).abs() < 2e-4 && (found.high - 0.333_9).abs() < 2e-4, "{found:?}");
        assert!((found.standard_error - 0.02f64.sqrt()).abs() < 1e-12);
    }

    /// Positively correlated estimates have smaller differences; equal ones have none.
    #[test]
    fn correlations_count() {
        let (a, b) = (cell(0.3, 0.2, 0.4), cell(0.5, 0.4, 0.6));
        let width = |correlation| {
            let found = difference(&a, &b, correlation).unwrap().uncertainty.unwrap();
            found.high - found.low
        };
        assert!(width(0.5) < width(0.0) && width(0.0) < width(-0.5));
        assert!(width(1.0).abs() < 1e-12);
        let found = ratio(&a, &b, 0.0).unwrap();
        assert!(found.low < 5.0 / 3.0 && found.high > 5.0 / 3.0 && found.low > 1.0);
    }

    #[test]
    fn ends() {
        // The first may be zero, so there is no upper limit. The second may be, so the lower limit is 0.
        let found = ratio(&cell(0.1, 0.0, 0.3), &cell(0.2, 0.0, 0.5), 0.0).unwrap();
        assert_eq!((found.low, found.high), (0.0, f64::INFINITY));
        assert_eq!(ratio(&cell(0.0, 0.0, 0.3), &cell(0.2, 0.0, 0.5), 0.0), None);
        assert_eq!(difference(&cell(f64::NAN, 0.0, 1.0), &cell(0.2, 0.0, 0.5), 0.0), None);
        // Shares outside of 0 and 1 are moved inside for the comparison.
        let found = difference(&cell(-0.1, 0.0, 0.2), &cell(1.1, 0.8, 1.0), 0.0).unwrap();
        let Uncertainty { low, high, .. } = found.uncertainty.unwrap();
        assert!((found.estimate - 1.2).abs() < 1e-12 && high <= 1.0 && low > 0.6);
    }
}
