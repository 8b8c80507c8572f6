//! MAP privacy: the probability that the best guess is wrong (Huang and Du 2008, eq. 8).

use crate::criterion::{AuditRequest, Criterion, CriterionResult, Rounding};
use crate::figures::{ROUNDING, at_least};

/// The criterion, with its smallest allowed probability.
pub(crate) static MAP_PRIVACY: Criterion = Criterion {
    name: "map-privacy",
    example: "map-privacy=0.3",
    expected: "a probability from 0 to 1",
    accepts: |numbers| matches!(numbers, [p] if (0.0..=1.0).contains(p)),
    fits: Criterion::any_plan,
    rounding: Rounding::Down,
    find: map_privacy,
};

/// Computes `1 - sum_z max_x P(z | x) prior(x)` for each attribute given its own answer; the value is the smallest.
///
/// In a lottery the channel ID is visible, so it is the mean over the channels.
fn map_privacy(question: &AuditRequest<'_>) -> CriterionResult {
    let details = question.by_variable(|v| {
        1.0 - v.views.iter().map(|(weight, view)| weight * view.guess(&v.prior)).sum::<f64>().min(1.0)
    });
    let least = details.iter().min_by(|a, b| a.value.partial_cmp(&b.value).unwrap_or(std::cmp::Ordering::Equal));
    let (value, about) = least.map_or((None, String::new()), |d| (d.value, d.about.clone()));
    let sentence = format!(
        "Even the best guess at \"{about}\" is wrong with probability {}{}, for {} who reads the answer about it; \
         guesses at other attributes no less often.",
        question.bounded("at least "),
        at_least(value.unwrap_or(0.0)),
        question.prior_in_words()
    );
    CriterionResult::new(&MAP_PRIVACY, value, sentence)
        .with_details(details)
        .judged(question, |required| matches!((required, value), (&[least], Some(value)) if value >= least - ROUNDING))
}
