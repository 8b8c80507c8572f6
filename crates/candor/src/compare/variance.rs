//! The methods for one attribute at the same variance instead of the same epsilon.

use candor_design::compare::{AtVariance, Variance, at_variance};
use serde::Serialize;

use crate::error::{StudyError, check_respondents};

/// The methods for one attribute at the same added variance.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct VarianceComparison {
    /// How many categories the attribute has.
    pub categories: usize,
    /// The variance, summed over the categories and for one respondent.
    pub added_variance: f64,
    /// For how many respondents errors are told.
    pub respondents: f64,
    /// Each method.
    pub methods: Vec<AtVariance>,
    /// None: they promise different things.
    pub recommended: Option<&'static str>,
}

/// The methods for one attribute of so many categories, at the same added variance (Nayak and Zhai 2019, section 4.3).
///
/// # Errors
/// If there is no such attribute, variance or number of respondents.
pub fn compare_at_variance(
    categories: usize,
    variance: Variance,
    respondents: f64,
) -> Result<VarianceComparison, StudyError> {
    check_respondents(respondents)?;
    let added_variance = variance.value(categories)?;
    let methods = at_variance(categories, added_variance, respondents);
    Ok(VarianceComparison { categories, added_variance, respondents, methods, recommended: None })
}
