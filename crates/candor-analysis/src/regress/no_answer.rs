//! Categories that are no answers: missing values, and "(not asked)".

use candor_base::schema::{Attribute, NOT_ASKED};

use super::options::Missing;

/// Returns the codes of an attribute without an answer.
pub(super) fn without_answer(attribute: &Attribute, missing: Missing) -> Vec<u16> {
    let is_none = |label: &str| label.is_empty() || label == NOT_ASKED;
    let all = attribute.categories().iter().enumerate();
    let none = all.filter(|(_, label)| missing == Missing::LeaveOut && is_none(label));
    none.map(|(code, _)| code as u16).collect()
}

/// Returns whether an attribute has a category for missing values or for people who were not asked.
pub(super) fn has_missing(attribute: &Attribute) -> bool {
    !without_answer(attribute, Missing::LeaveOut).is_empty()
}
