//! Parity: the largest ratio of likelihoods (paper 002, section 2).

use super::{Finding, times};
use crate::plan::Plan;

/// `eta = max P(response | x) / P(response | y) = e^epsilon`, with 0/0 = 1 and a/0 infinite:
/// however surprising the response, no odds between two records change by more than this factor.
pub(super) fn parity(plan: &Plan) -> Finding {
    let epsilon = plan.guarantee().epsilon();
    let value = epsilon.value().map(f64::exp).filter(|eta| eta.is_finite());
    let sentence = match times(epsilon) {
        Some(times) => format!(
            "Nobody's odds between two records can change by more than a factor of {times} after reading the response."
        ),
        None => "Reading a response can change the odds between two records without limit.".to_owned(),
    };
    Finding { name: "parity", value, sentence }
}
