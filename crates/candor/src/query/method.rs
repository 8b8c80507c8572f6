//! Methods for answering a query.

use candor_analysis::query::Assume;

use crate::choice::Choice;

/// A method for answering a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryMethod {
    /// One table of all attributes in the condition: unbiased, with a standard error.
    Joint,
    /// Assumes that attributes of different blocks are independent.
    Clusters,
    /// Assumes that all attributes are independent.
    Independent,
    /// Weights the answers so that they reproduce the estimated tables of the blocks.
    Adjusted,
    /// Counts the answers as if they were true values.
    Naive,
}

/// Methods to use: one, or all that apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryMethods(pub(super) &'static [QueryMethod]);

impl QueryMethods {
    /// The unbiased method, with a confidence interval.
    pub const JOINT: QueryMethods = QueryMethods(&[QueryMethod::Joint]);
    /// All methods that can be combined with the other options.
    pub const ALL: QueryMethods = QueryMethods(&[
        QueryMethod::Joint,
        QueryMethod::Clusters,
        QueryMethod::Independent,
        QueryMethod::Adjusted,
        QueryMethod::Naive,
    ]);
}

impl Choice for QueryMethods {
    const PARAMETER: &'static str = "method";
    const ALL: &'static [(&'static str, QueryMethods, &'static str)] = &[
        ("joint", QueryMethods::JOINT, "One table of all attributes in the condition; unbiased, with a standard error"),
        (
            "clusters",
            QueryMethods(&[QueryMethod::Clusters]),
            "Assumes that attributes in different blocks are independent",
        ),
        ("independent", QueryMethods(&[QueryMethod::Independent]), "Assumes that all attributes are independent"),
        ("adjusted", QueryMethods(&[QueryMethod::Adjusted]), "Answers with raked weights; see candor rake"),
        (
            "naive",
            QueryMethods(&[QueryMethod::Naive]),
            "The answers taken for the true values (\"Randomized\" of Domingo-Ferrer and Soria-Comas 2020)",
        ),
        ("all", QueryMethods::ALL, "All methods side by side"),
    ];
}

impl QueryMethod {
    /// Returns the name of the method.
    pub(super) fn name(self) -> &'static str {
        match self {
            QueryMethod::Joint => "joint",
            QueryMethod::Clusters => "clusters",
            QueryMethod::Independent => "independent",
            QueryMethod::Adjusted => "adjusted",
            QueryMethod::Naive => "naive",
        }
    }

    /// Returns whether the method uses the answer records.
    pub(super) fn takes_records(self) -> bool {
        matches!(self, QueryMethod::Adjusted | QueryMethod::Naive)
    }

    /// Returns the independence assumption; `None` if the method does not multiply tables.
    pub(super) fn assume(self) -> Option<Assume> {
        match self {
            QueryMethod::Joint => Some(Assume::Nothing),
            QueryMethod::Clusters => Some(Assume::BlocksIndependent),
            QueryMethod::Independent => Some(Assume::AttributesIndependent),
            QueryMethod::Adjusted | QueryMethod::Naive => None,
        }
    }
}
