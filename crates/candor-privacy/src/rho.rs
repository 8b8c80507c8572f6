//! rho1-to-rho2 privacy (Evfimievski, Gehrke and Srikant 2003; Nayak and Zhai 2019, section 2.1).

use num_traits::One;

use crate::criterion::{AuditRequest, Criterion, CriterionResult, Detail, Rounding};
use crate::information_bounds::{belief_bounds, percent};
use candor_base::channel::{Rational, exact};

/// Lower probability for the explanation if none is required.
const DEFAULT_RHO1: f64 = 0.1;

/// The criterion, with its two probabilities as threshold.
pub(crate) static RHO: Criterion = Criterion {
    name: "rho",
    example: "rho=0.1:0.5",
    expected: "rho1:rho2, two probabilities above 0 and below 1, rho1 below rho2, such as 0.1:0.5",
    accepts: |numbers| matches!(*numbers, [rho1, rho2] if 0.0 < rho1 && rho1 < rho2 && rho2 < 1.0),
    fits: Criterion::any_plan,
    rounding: Rounding::Up,
    find: rho,
};

/// Computes the smallest `rho2` that the plan guarantees for `rho1`.
///
/// No event with prior probability at most `rho1` gets a posterior above `rho2` (upward). No event with prior
/// probability at least `rho2` gets one below `rho1` (downward). Both hold if and only if the parity is at most
/// `rho2 (1 - rho1) / (rho1 (1 - rho2))`.
fn rho(question: &AuditRequest<'_>) -> CriterionResult {
    let rho1 = match question.required(&RHO) {
        Some(&[rho1, ..]) => rho1,
        _ => DEFAULT_RHO1,
    };
    let (_, rho2) = belief_bounds(question.plan.guarantee().epsilon(), rho1);
    let sentence = match rho2 < 1.0 {
        true => format!(
            "Something that somebody thinks {} likely at most does not become more than {} likely by reading the \
             response; and something thought {} likely at least does not fall below {}.",
            percent(rho1),
            percent(rho2),
            percent(rho2),
            percent(rho1)
        ),
        false => format!("Something thought {} likely can become certain by reading the response.", percent(rho1)),
    };
    let detail = |about: &str, value| Detail { about: about.to_owned(), value: Some(value) };
    CriterionResult::new(&RHO, Some(rho2), sentence)
        .with_details(vec![detail("rho1", rho1), detail("rho2", rho2)])
        .judged(question, |required| {
            matches!(*required, [rho1, rho2] if largest_parity(rho1, rho2).is_some_and(|limit| {
                question.plan.guarantee().parity().is_some_and(|parity| *parity <= limit)
            }))
        })
}

/// Returns the largest parity that guarantees rho1-to-rho2 privacy: `rho2 (1 - rho1) / (rho1 (1 - rho2))`.
///
/// The result is exact; it is `None` unless both are above 0 and below 1.
pub fn largest_parity(rho1: f64, rho2: f64) -> Option<Rational> {
    let (low, high) = (exact(rho1)?, exact(rho2)?);
    let one = Rational::one();
    (low < one && high < one && rho1 > 0.0).then(|| &high * (&one - &low) / (&low * (&one - &high)))
}
