//! Options of a model in addition to its formula.

use serde::Serialize;

use crate::condition::Condition;

/// Family of a model, which depends on the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Two categories: logistic regression.
    Binary,
    /// Unordered categories: logits against a reference.
    Multinomial,
    /// Ordered categories: proportional odds.
    Ordinal,
    /// A number: a kept column, or a score of randomized attributes.
    Linear,
    /// A public count whose variance equals its mean: log-linear regression.
    Poisson,
    /// A count with any variance, as a kept column or a score: log-linear regression.
    QuasiPoisson,
}

impl Family {
    /// Returns the name of the family.
    pub fn name(self) -> &'static str {
        match self {
            Family::Binary => "binary",
            Family::Multinomial => "multinomial",
            Family::Ordinal => "ordinal",
            Family::Linear => "linear",
            Family::Poisson => "poisson",
            Family::QuasiPoisson => "quasi-poisson",
        }
    }

    /// Returns whether the outcome is a number.
    pub fn is_of_numbers(self) -> bool {
        matches!(self, Family::Linear | Family::Poisson | Family::QuasiPoisson)
    }

    /// Returns whether the outcome is a count, whose log mean is modeled.
    pub fn is_of_counts(self) -> bool {
        matches!(self, Family::Poisson | Family::QuasiPoisson)
    }
}

/// Options of a model in addition to its formula.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelOptions {
    /// Family of the model; by default that of the outcome in the schema.
    pub family: Option<Family>,
    /// Reference categories, by attribute; the first category by default.
    pub references: Vec<(String, String)>,
    /// Whether numeric predictors are standardized.
    pub standardize: bool,
    /// Model of noncompliance, if any.
    pub ignoring: Option<IgnoringOptions>,
    /// Treatment of people without an answer.
    pub missing: Missing,
    /// Subpopulation: a condition on randomized attributes.
    pub domain: Option<Condition>,
}

impl ModelOptions {
    candor_runtime::options! {
        family: impl Into<Option<Family>>,
        references: Vec<(String, String)>,
        standardize: bool,
        ignoring: impl Into<Option<IgnoringOptions>>,
        missing: Missing,
        domain: impl Into<Option<Condition>>,
    }
}

/// Treatment of people whose value is missing or who were not asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are omitted from the model, for outcomes and predictors.
    #[default]
    LeaveOut,
    /// They are a category of their own, except for ordinal outcomes.
    Category,
}

/// A model of noncompliers, who give the same answer under every channel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IgnoringOptions {
    /// Their self-protective answer.
    pub self_protective: String,
    /// True category to which noncompliance is restricted; by default, it is independent of the true category.
    pub only: Option<String>,
}

impl IgnoringOptions {
    /// Creates a model in which noncompliers always give this answer.
    pub fn new(self_protective: impl Into<String>) -> IgnoringOptions {
        IgnoringOptions { self_protective: self_protective.into(), only: None }
    }

    candor_runtime::options! {
        only: impl Into<Option<String>>,
    }
}
