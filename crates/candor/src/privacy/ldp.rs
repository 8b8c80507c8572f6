//! Local differential privacy: the record epsilon.

use super::{Finding, Question, Requirement, times};

/// `epsilon = ln max P(response | x) / P(response | y)` over all responses and all pairs of
/// records; certified, so never below the true value (Nayak and Zhai 2019, definition 2.3).
pub(super) fn local_differential_privacy(question: &Question<'_>) -> Finding {
    let epsilon = question.plan.guarantee().epsilon();
    let sentence = match times(epsilon) {
        Some(times) => format!(
            "Whatever a person's record is, the whole response is at most {times} times as likely under it as under any \
             other record (epsilon {epsilon})."
        ),
        None => "Some responses are possible under some records and impossible under others: there is no epsilon."
            .to_owned(),
    };
    Finding::new("ldp", epsilon.value(), sentence)
        .judged(question, |required| matches!(required, Requirement::Ldp(limit) if epsilon.get() <= limit))
}
