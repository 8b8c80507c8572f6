//! Intervals for numbers that are known up to rounding error.

use super::super::epsilon::{Rational, exact};

/// Lower and upper bounds on a number.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub(super) low: Rational,
    pub(super) high: Rational,
}

impl Bounds {
    pub(super) fn exactly(value: Rational) -> Bounds {
        Bounds { low: value.clone(), high: value }
    }

    /// Returns bounds on a number from a float with this relative error.
    pub(super) fn around(value: f64, error: f64) -> Bounds {
        let end = |value: f64| exact(value.max(0.0)).expect("finite and not negative");
        Bounds { low: end((value * (1.0 - error)).next_down()), high: end((value * (1.0 + error)).next_up()) }
    }
}
