//! beta-factor privacy (Nayak, Zhang and Adeshiyan 2015; Nayak and Zhai 2019, section 2.1).

use super::parity::{at_most, factor};
use super::{Finding, Question, Requirement, times};

/// The smallest `beta` with `1/beta <= P(Q | response)/P(Q) <= beta` for every prior, property `Q` and response: it is the
/// parity. (The supremum is approached by properties that are all but impossible beforehand.)
pub(super) fn beta_factor(question: &Question<'_>) -> Finding {
    let epsilon = question.plan.guarantee().epsilon();
    let sentence = match times(epsilon) {
        Some(times) => format!(
            "Whatever somebody believes beforehand, nothing about a person becomes more than {times} times as probable by \
             reading the response, nor falls below 1/{times} of what it was."
        ),
        None => {
            "Reading a response can make something about a person many times as probable, without limit.".to_owned()
        }
    };
    Finding::new("beta-factor", factor(epsilon), sentence)
        .judged(question, |required| matches!(required, Requirement::BetaFactor(limit) if at_most(question, limit)))
}
