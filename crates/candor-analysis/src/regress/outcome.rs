//! Kinds of outcomes, and the numbers that categories stand for.

use candor_base::schema::Attribute;

use super::RegressError;
use crate::moments::{Values, ValuesError};

/// What kind of response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Two categories: logistic regression.
    Binary,
    /// Several categories without order: logits against a reference.
    Multinomial,
    /// Several categories in order: proportional odds.
    Ordinal,
    /// A number.
    Linear,
    /// A public count, whose variance is its mean: log-linear regression.
    Poisson,
    /// A count, of whose variance nothing is assumed: log-linear regression.
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

/// The numbers that the categories of an outcome stand for, if it is an attribute that is taken for a number.
pub(super) fn values(attribute: Option<&Attribute>, kept: &[usize], family: Family) -> Result<Vec<f64>, RegressError> {
    let Some(attribute) = attribute.filter(|_| family.is_of_numbers()) else { return Ok(Vec::new()) };
    let refused = |message: String| RegressError::Family { family: family.name(), message };
    let values = Values::new(attribute).map_err(|error| match error {
        ValuesError::OpenBins { name, .. } => {
            refused(format!("the bins of \"{name}\" are not numbers; plan with points of a grid, or take ordinal"))
        }
        ValuesError::Words { name, category } => {
            refused(format!("the category \"{category}\" of \"{name}\" is not a number; take ordinal or multinomial"))
        }
        other => refused(other.to_string()),
    })?;
    let of = |&code: &usize| values.of(code as u16).filter(|value| !family.is_of_counts() || *value >= 0.0);
    kept.iter().map(of).collect::<Option<_>>().ok_or_else(|| {
        let message = format!("a category of \"{}\" is not a count; they must be 0 or more", attribute.name());
        refused(message)
    })
}
