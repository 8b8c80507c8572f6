//! Parses parameter values by name, such as `"iterative"`, `"simultaneous"` or `"spark"`.

use candor_analysis::association::Measure;
use candor_analysis::estimate::{Interval, Method, Target};
use candor_design::clusters::ClusterMethod;
use candor_design::matrix::Inputs;

use crate::error::StudyError;

/// A parameter with a few named values.
///
/// ```
/// use candor::choice::Choice;
/// use candor::prelude::*;
///
/// assert_eq!(Dialect::of_name("spark")?, Dialect::Spark);
/// assert!(Dialect::of_name("oracle").unwrap_err().to_string().starts_with("invalid `dialect`: \"oracle\""));
/// # Ok::<(), StudyError>(())
/// ```
pub trait Choice: Copy + PartialEq + 'static {
    /// Name of the parameter.
    const PARAMETER: &'static str;

    /// All values: name, value and description, which is empty if the name is clear.
    ///
    /// If a value occurs twice, its later names are old ones.
    const ALL: &'static [(&'static str, Self, &'static str)];

    /// Returns the value with this name.
    ///
    /// # Errors
    /// Returns [`StudyError::Choice`], with the valid names, if no value has this name.
    fn of_name(name: &str) -> Result<Self, StudyError> {
        let found = Self::ALL.iter().find(|(known, ..)| *known == name);
        found.map(|(_, value, _)| *value).ok_or_else(|| StudyError::Choice {
            parameter: Self::PARAMETER,
            value: name.to_owned(),
            known: Self::ALL.iter().map(|(known, ..)| *known).collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns the name of the value.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, value, _)| *value == self).map_or("", |(name, ..)| name)
    }
}

impl Choice for Method {
    const PARAMETER: &'static str = "method";
    const ALL: &'static [(&'static str, Method, &'static str)] = &[
        ("unbiased", Method::Unbiased, "Unbiased; cells can be negative"),
        (
            "plug-in",
            Method::PlugIn,
            "Weighted by the observed responses if a matrix has more outputs than inputs; asymptotically unbiased",
        ),
        ("iterative", Method::Iterative, "Maximum likelihood by iteration; a proper distribution, biased"),
        ("projected", Method::Projected, "Closest distribution to the unbiased estimate; biased"),
        (
            "constrained",
            Method::Constrained,
            "Closest distributions that agree across all tables; biased, best at \
                                              small epsilons",
        ),
        ("clipped", Method::Clipped, "Negative cells set to zero and the rest rescaled; biased"),
    ];
}

impl Choice for Target {
    const PARAMETER: &'static str = "target";
    const ALL: &'static [(&'static str, Target, &'static str)] = &[
        (
            "population",
            Target::Population,
            "Population that the respondents were drawn \
                                              from",
        ),
        (
            "records",
            Target::Table,
            "The randomized records \
                                                                                  themselves",
        ),
        ("table", Target::Table, ""),
    ];
}

impl Choice for Interval {
    const PARAMETER: &'static str = "interval";
    const ALL: &'static [(&'static str, Interval, &'static str)] = &[
        (
            "binomial",
            Interval::Binomial,
            "Covers at the stated level, also for few responses and rare cells; within 0 \
                                          and 1",
        ),
        ("wald", Interval::Wald, "Normal approximation, for many responses"),
        ("simultaneous", Interval::Simultaneous, "Simultaneous coverage of all intervals of a table"),
        ("bootstrap", Interval::Bootstrap, "One thousand resamples of the responses; for few responses and rare cells"),
    ];
}

/// `None` selects a measure for each pair.
impl Choice for Option<Measure> {
    const PARAMETER: &'static str = "measure";
    const ALL: &'static [(&'static str, Option<Measure>, &'static str)] = &[
        ("auto", None, "Pearson for two ordinal attributes, else Cramér's V"),
        ("pearson", Some(Measure::Pearson), "Absolute value of Pearson's correlation"),
        ("cramer", Some(Measure::CramersV), "Cramér's V"),
        ("mutual-information", Some(Measure::MutualInformation), "Mutual information divided by the smaller entropy"),
        ("covariance", Some(Measure::Covariance), "Absolute value of the covariance; can exceed 1"),
    ];
}

impl Choice for Inputs {
    const PARAMETER: &'static str = "matrix_inputs";
    const ALL: &'static [(&'static str, Inputs, &'static str)] = &[
        ("columns", Inputs::Columns, "Columns are inputs and sum to 1"),
        ("rows", Inputs::Rows, "Rows are inputs and sum to 1"),
    ];
}

impl Choice for ClusterMethod {
    const PARAMETER: &'static str = "cluster_method";
    const ALL: &'static [(&'static str, ClusterMethod, &'static str)] = &[
        (
            "joint",
            ClusterMethod::Joint,
            "All attributes kept or replaced together (RR-Joint), at the sum of their epsilons",
        ),
        (
            "optimal",
            ClusterMethod::Optimal,
            "Largest attribute epsilons for the sum of the cluster; with `attribute_epsilon`, the least sum for those",
        ),
        ("workload", ClusterMethod::Workload, "Least error of all pairs in the cluster, at the sum of their epsilons"),
    ];
}
