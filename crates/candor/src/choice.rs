//! Choices by name, as they are written down: `"iterative"`, `"simultaneous"`, `"spark"`.

use candor_analysis::association::Measure;
use candor_analysis::estimate::{Interval, Method, Target};

use crate::error::StudyError;

/// One of a few values of a parameter, each with a name.
///
/// ```
/// use candor::choice::Choice;
/// use candor::prelude::*;
///
/// assert_eq!(Dialect::of_name("spark")?, Dialect::Spark);
/// assert!(Dialect::of_name("oracle").unwrap_err().to_string().starts_with("`dialect` is \"oracle\""));
/// # Ok::<(), StudyError>(())
/// ```
pub trait Choice: Copy + PartialEq + 'static {
    /// The parameter.
    const PARAMETER: &'static str;

    /// All its values, by name.
    const ALL: &'static [(&'static str, Self)];

    /// The value of this name.
    ///
    /// # Errors
    /// If there is none: then with those that there are.
    fn of_name(name: &str) -> Result<Self, StudyError> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value).ok_or_else(|| StudyError::Choice {
            parameter: Self::PARAMETER,
            value: name.to_owned(),
            known: Self::ALL.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", "),
        })
    }

    /// What it is called.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, value)| *value == self).map_or("", |(name, _)| name)
    }
}

impl Choice for Method {
    const PARAMETER: &'static str = "method";
    const ALL: &'static [(&'static str, Method)] = &[
        ("unbiased", Method::Unbiased),
        ("plug-in", Method::PlugIn),
        ("iterative", Method::Iterative),
        ("projected", Method::Projected),
        ("constrained", Method::Constrained),
        ("clipped", Method::Clipped),
    ];
}

impl Choice for Target {
    const PARAMETER: &'static str = "target";
    const ALL: &'static [(&'static str, Target)] =
        &[("population", Target::Population), ("records", Target::Table), ("table", Target::Table)];
}

impl Choice for Interval {
    const PARAMETER: &'static str = "interval";
    const ALL: &'static [(&'static str, Interval)] = &[
        ("binomial", Interval::Binomial),
        ("wald", Interval::Wald),
        ("simultaneous", Interval::Simultaneous),
        ("bootstrap", Interval::Bootstrap),
    ];
}

impl Choice for Measure {
    const PARAMETER: &'static str = "measure";
    const ALL: &'static [(&'static str, Measure)] = &[
        ("pearson", Measure::Pearson),
        ("cramer", Measure::CramersV),
        ("mutual-information", Measure::MutualInformation),
    ];
}
