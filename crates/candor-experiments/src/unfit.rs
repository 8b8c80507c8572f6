//! Errors of experiments.

use std::fmt;
use std::ops::RangeInclusive;

/// Reasons why an experiment cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit(String);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unfit {}

impl Unfit {
    pub(crate) fn new(why: impl Into<String>) -> Unfit {
        Unfit(why.into())
    }
}

/// Rejects values outside a range.
pub(crate) fn check(name: &str, values: &[f64], range: RangeInclusive<f64>) -> Result<(), Unfit> {
    if values.is_empty() {
        return Err(Unfit::new(format!("`{name}` has no value")));
    }
    match values.iter().find(|value| !range.contains(value)) {
        Some(value) => {
            let (low, high) = (range.start(), range.end());
            Err(Unfit::new(format!("`{name}` is {value}; expected a number from {low} to {high}")))
        }
        None => Ok(()),
    }
}
