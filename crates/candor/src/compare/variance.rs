//! Compares methods for one attribute at the same variance instead of the same epsilon.

use candor_design::compare::{AtVariance, Variance, at_variance};
use serde::Serialize;

use crate::error::{StudyError, check_respondents};

/// Methods for one attribute at the same added variance.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct VarianceComparison {
    /// Number of categories of the attribute.
    pub categories: usize,
    /// Added variance, summed over the categories, for one respondent.
    pub added_variance: f64,
    /// Number of respondents.
    pub respondents: f64,
    /// The methods.
    pub methods: Vec<AtVariance>,
    /// Always `None`: the methods give different guarantees.
    pub recommended: Option<&'static str>,
}

/// Compares the methods for one attribute at the same added variance (Nayak and Zhai 2019, section 4.3).
///
/// # Errors
/// Returns an error if the number of categories, the variance or the number of respondents is invalid.
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
