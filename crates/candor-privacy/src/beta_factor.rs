//! beta-factor privacy (Nayak, Zhang and Adeshiyan 2015; Nayak and Zhai 2019, section 2.1).

use crate::criterion::{AuditRequest, Criterion, CriterionResult, Rounding};
use crate::figures::times;
use crate::parity::{at_most, factor};

/// The criterion, with its threshold beta.
pub(crate) static BETA_FACTOR: Criterion = Criterion {
    name: "beta-factor",
    example: "beta-factor=3",
    expected: "a factor by which probabilities may grow: a finite number, 1 or more",
    accepts: |numbers| matches!(numbers, [x] if x.is_finite() && *x >= 1.0),
    fits: Criterion::any_plan,
    rounding: Rounding::Up,
    find: beta_factor,
};

/// Computes the smallest `beta` with `1/beta <= P(Q | response)/P(Q) <= beta` for all priors, properties and responses.
///
/// It equals the parity. Properties `Q` with prior probabilities near 0 approach the supremum.
fn beta_factor(question: &AuditRequest<'_>) -> CriterionResult {
    let epsilon = question.plan.guarantee().epsilon();
    let sentence = match times(epsilon) {
        Some(times) => format!(
            "Whatever somebody believes beforehand, nothing about a person becomes more than {times} times as probable \
             by reading the response, nor falls below 1/{times} of what it was."
        ),
        None => {
            "Reading a response can make something about a person many times as probable, without limit.".to_owned()
        }
    };
    CriterionResult::new(&BETA_FACTOR, factor(epsilon), sentence)
        .judged(question, |required| matches!(*required, [limit] if at_most(question, limit)))
}
