//! Worst posterior: the largest posterior of a category given any answer (Huang and Du 2008, eq. 9).

use crate::breaking_prior::closest;
use crate::criterion::{AuditRequest, Criterion, CriterionResult, Rounding};
use crate::figures::{ROUNDING, at_most};

/// The criterion, with its largest allowed posterior.
pub(crate) static WORST_POSTERIOR: Criterion = Criterion {
    name: "worst-posterior",
    example: "worst-posterior=0.75",
    expected: "a probability above 0 and below 1",
    accepts: |numbers| matches!(numbers, [p] if 0.0 < *p && *p < 1.0),
    fits: Criterion::any_plan,
    rounding: Rounding::Up,
    find: worst_posterior,
};

/// Computes `max P(x | z)` over all answers `z` that can occur and all categories `x`.
///
/// The maximum is over all attributes, each given its own answer. If a bound is required, the result includes the
/// closest prior that violates it.
fn worst_posterior(question: &AuditRequest<'_>) -> CriterionResult {
    let details =
        question.by_variable(|v| v.views.iter().map(|(_, view)| view.worst_posterior(&v.prior)).fold(0.0, f64::max));
    let worst = details.iter().max_by(|a, b| a.value.partial_cmp(&b.value).unwrap_or(std::cmp::Ordering::Equal));
    let (value, about) = worst.map_or((None, String::new()), |d| (d.value, d.about.clone()));
    let mut sentence = format!(
        "After the most revealing answer about \"{about}\", {} thinks one category {}{} likely; no answer \
         about anything tells more.",
        question.prior_in_words(),
        question.bounded("at most "),
        at_most(value.unwrap_or(0.0))
    );
    let mut breaking = None;
    if let Some(&[bound]) = question.required(&WORST_POSTERIOR) {
        breaking = question
            .variables
            .iter()
            .filter_map(|v| closest(v, bound))
            .min_by(|a, b| a.distance.total_cmp(&b.distance));
        if let Some(found) = breaking.as_ref().filter(|found| found.distance > 0.0) {
            sentence += &format!(
                " The closest prior with which {bound} is reached is {:.4} away (total variation), about \"{}\".",
                found.distance, found.attribute
            );
        }
    }
    let mut finding = CriterionResult::new(&WORST_POSTERIOR, value, sentence)
        .with_details(details)
        .judged(question, |required| matches!((required, value), (&[bound], Some(value)) if value <= bound + ROUNDING));
    finding.breaking_prior = breaking;
    finding
}
