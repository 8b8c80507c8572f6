//! Strict information privacy: bounds on every posterior (Chai and Nayak 2018; Nayak and Zhai 2019, eq. 2.3).

use crate::criterion::{AuditRequest, Criterion, CriterionResult, Detail, Requirement, Rounding};
use crate::figures::ROUNDING;
use candor_base::channel::Epsilon;

/// Prior probability for the explanation if none is required.
const DEFAULT_EVENT: f64 = 0.1;

/// The criterion, with a prior probability and bounds on its posterior as threshold.
pub(crate) static INFORMATION_BOUNDS: Criterion = Criterion {
    name: "information-bounds",
    example: "information-bounds=0.1:0.02:0.4",
    expected: "event:low:high, the probability before and its bounds after, with 0 <= low <= event <= high <= 1, such \
               as 0.1:0.02:0.4",
    accepts: |numbers| {
        matches!(*numbers, [event, low, high] if 0.0 <= low && low <= event && event <= high
        && high <= 1.0)
    },
    fits: Criterion::any_plan,
    rounding: Rounding::Up,
    find: information_bounds,
};

/// Computes the bounds on the posterior of an event.
///
/// With parity `g`, an event with prior probability `a` has a posterior between `a/(1 + (g-1)(1-a))` and
/// `g a/(1 + (g-1) a)`, for every prior. Both bounds are attained.
fn information_bounds(question: &AuditRequest<'_>) -> CriterionResult {
    at(question, question.all_required(&INFORMATION_BOUNDS).next())
}

/// Returns a result for each required point, or one result if none is required.
///
/// The points define a pair of functions (Nayak and Zhai 2019, definition 2.1).
pub(crate) fn at_every_point(question: &AuditRequest<'_>) -> Vec<CriterionResult> {
    let points: Vec<CriterionResult> =
        question.all_required(&INFORMATION_BOUNDS).map(|required| at(question, Some(required))).collect();
    if points.is_empty() { vec![information_bounds(question)] } else { points }
}

fn at(question: &AuditRequest<'_>, required: Option<&Requirement>) -> CriterionResult {
    let event = required.map_or(DEFAULT_EVENT, |required| required.numbers()[0]);
    let (low, high) = belief_bounds(question.plan.guarantee().epsilon(), event);
    let sentence = format!(
        "Something about a person that somebody thinks {} likely is, after reading the response, between {} and {} \
         likely for them.",
        percent(event),
        percent_down(low),
        percent(high)
    );
    let detail = |about: &str, value| Detail { about: about.to_owned(), value: Some(value) };
    let mut finding = CriterionResult::new(&INFORMATION_BOUNDS, Some(high), sentence).with_details(vec![
        detail("before", event),
        detail("lowest", low),
        detail("highest", high),
    ]);
    finding.required = required.cloned();
    finding.holds = required.map(|required| {
        matches!(*required.numbers(), [_, least, most] if low >= least - ROUNDING && high <= most + ROUNDING)
    });
    finding
}

/// Returns the bounds on the posterior of an event with prior probability `before` (Nayak and Zhai 2019, eq. 2.3).
///
/// They hold for every response under a plan with this epsilon.
pub fn belief_bounds(epsilon: Epsilon, before: f64) -> (f64, f64) {
    // In terms of 1/g, an unbounded parity gives 0 and 1, and certain events stay certain.
    let inverse = (-epsilon.as_f64()).exp();
    let after = |p: f64| if p > 0.0 { p / (inverse + (1.0 - inverse) * p) } else { 0.0 };
    ((1.0 - after(1.0 - before)).max(0.0), after(before))
}

/// Formats a probability, rounded up to a tenth of a percent.
pub(crate) fn percent(p: f64) -> String {
    format!("{}%", (1000.0 * p - 1e-9).ceil().max(0.0) / 10.0)
}

/// Formats a lower bound, rounded down to a tenth of a percent.
fn percent_down(p: f64) -> String {
    format!("{}%", (1000.0 * p + 1e-9).floor().max(0.0) / 10.0)
}
