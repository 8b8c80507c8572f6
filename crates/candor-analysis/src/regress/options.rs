//! What a model is asked for beside its formula.

use crate::condition::Condition;

/// What kind of response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Two categories: logistic regression.
    Binary,
    /// Several categories without order: logits against a reference.
    Multinomial,
    /// Several categories in order: proportional odds.
    Ordinal,
    /// A number: a kept column, or a score of randomized attributes.
    Linear,
    /// A public count, whose variance is its mean: log-linear regression.
    Poisson,
    /// A count, of whose variance nothing is assumed: a kept column, or a score. Log-linear regression.
    QuasiPoisson,
}

impl Family {
    /// What it is called.
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

    /// Whether the outcome is a number.
    pub fn is_of_numbers(self) -> bool {
        matches!(self, Family::Linear | Family::Poisson | Family::QuasiPoisson)
    }

    /// Whether the outcome is a count, the logarithm of whose mean is modeled.
    pub fn is_of_counts(self) -> bool {
        matches!(self, Family::Poisson | Family::QuasiPoisson)
    }
}

/// What a model is asked for beside its formula.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelOptions {
    /// The kind of response; by default what the schema says of it.
    pub family: Option<Family>,
    /// Reference categories of attributes, by name, where it is not the first.
    pub references: Vec<(String, String)>,
    /// Whether numeric predictors count in standard deviations from their mean.
    pub standardize: bool,
    /// People who ignore the device, if there may be some.
    pub ignoring: Option<IgnoringOptions>,
    /// What becomes of people without an answer.
    pub missing: Missing,
    /// The subpopulation that the model is about, where randomized attributes tell who is in it.
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

/// What becomes of people whose value is missing, or who were not asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They are left out of the model, as outcomes and as predictors.
    #[default]
    LeaveOut,
    /// They are a category like any other; not of an ordinal outcome.
    Category,
}

/// People who ignore the device and say the same whatever it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IgnoringOptions {
    /// The category that they say.
    pub says: String,
    /// The true category of all who would; by default who does so does not depend on the truth.
    pub only: Option<String>,
}

impl IgnoringOptions {
    /// People who all say this category.
    pub fn new(says: impl Into<String>) -> IgnoringOptions {
        IgnoringOptions { says: says.into(), only: None }
    }

    candor_runtime::options! {
        only: impl Into<Option<String>>,
    }
}
