//! Local differential privacy: the record epsilon.

use super::{Finding, times};
use crate::plan::Plan;

/// `epsilon = ln max P(response | x) / P(response | y)` over all responses and all pairs of
/// records; certified, so never below the true value.
pub(super) fn local_differential_privacy(plan: &Plan) -> Finding {
    let epsilon = plan.guarantee().epsilon();
    let sentence = match times(epsilon) {
        Some(times) => format!(
            "Whatever a person's record is, the whole response is at most {times} times as likely under it as under any \
             other record (epsilon {epsilon})."
        ),
        None => "Some responses are possible under some records and impossible under others: there is no epsilon."
            .to_owned(),
    };
    Finding { name: "ldp", value: epsilon.value(), sentence }
}
