//! Local differential privacy: the record-level epsilon.

use crate::criterion::{AuditRequest, Criterion, CriterionResult, Rounding};
use crate::figures::times;

/// The criterion, with its largest allowed epsilon.
pub(crate) static LDP: Criterion = Criterion {
    name: "ldp",
    example: "ldp=1",
    expected: "an epsilon: a finite number, 0 or more",
    accepts: |numbers| matches!(numbers, [x] if x.is_finite() && *x >= 0.0),
    fits: Criterion::any_plan,
    rounding: Rounding::Up,
    find: local_differential_privacy,
};

/// Computes `epsilon = ln max P(response | x) / P(response | y)` over all responses and all pairs of records.
///
/// It is certified, so never below the true value (Nayak and Zhai 2019, definition 2.3).
fn local_differential_privacy(question: &AuditRequest<'_>) -> CriterionResult {
    let epsilon = question.plan.guarantee().epsilon();
    let sentence = match times(epsilon) {
        Some(times) => format!(
            "Whatever a person's record is, the whole response is at most {times} times as likely under it as under \
             any other record (epsilon {epsilon})."
        ),
        None => "Some responses are possible under some records and impossible under others: there is no epsilon."
            .to_owned(),
    };
    CriterionResult::new(&LDP, epsilon.finite(), sentence)
        .judged(question, |required| matches!(*required, [limit] if epsilon.as_f64() <= limit))
}
