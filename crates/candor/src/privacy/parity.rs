//! Parity: the largest ratio of likelihoods (Nayak and Zhai 2019, definition 2.2).

use num_bigint::BigUint;

use super::{Detail, Finding, Question, Requirement, times};
use crate::channel::{Channel, Epsilon, Rational, exact};
use crate::plan::Plan;

/// `eta = max P(response | x) / P(response | y) = e^epsilon`, with 0/0 = 1 and a/0 infinite:
/// however surprising the response, no odds between two records change by more than this factor.
///
/// The details are the row parities: for each output of a matrix the largest ratio within its row. All answers of
/// a pattern channel have the same one, because every pattern is that of some truth.
pub(super) fn parity(question: &Question<'_>) -> Finding {
    let epsilon = question.plan.guarantee().epsilon();
    let sentence = match times(epsilon) {
        Some(times) => format!(
            "Nobody's odds between two records can change by more than a factor of {times} after reading the response."
        ),
        None => "Reading a response can change the odds between two records without limit.".to_owned(),
    };
    Finding::new("parity", factor(epsilon), sentence)
        .with_details(row_parities(question.plan))
        .judged(question, |required| matches!(required, Requirement::Parity(limit) if at_most(question, limit)))
}

/// `e^epsilon`, unless unbounded or beyond the floats.
pub(super) fn factor(epsilon: Epsilon) -> Option<f64> {
    // The logarithm was rounded up by a few units of its last place, and so is this; an exact 3 stays 3.
    epsilon.value().map(f64::exp).filter(|eta| eta.is_finite())
}

/// Whether the exact parity does not exceed a factor.
pub(super) fn at_most(question: &Question<'_>, factor: f64) -> bool {
    let limit = exact(factor);
    question.plan.guarantee().parity().zip(limit).is_some_and(|(parity, limit)| *parity <= limit)
}

fn row_parities(plan: &Plan) -> Vec<Detail> {
    let mut details = Vec::new();
    for block in plan.blocks() {
        let names: Vec<&str> = block.attributes().iter().map(|&a| plan.schema().name(a)).collect();
        let names = names.join(&crate::schema::CROSS.to_string());
        let patterns = block.channels().iter().map(|(_, channel)| match channel {
            Channel::Pattern(pattern) => Some(factor(pattern.record_epsilon())),
            Channel::Matrix(_) => None,
        });
        let patterns: Vec<Option<Option<f64>>> = patterns.collect();
        if let Some(value) = patterns[0].filter(|_| patterns.iter().all(|other| *other == patterns[0])) {
            details.push(Detail { about: format!("{names}: every answer"), value });
            continue;
        }
        for (tag, (_, channel)) in block.channels().iter().enumerate() {
            let tagged = if block.has_tag() { format!(", tag {tag}") } else { String::new() };
            let mut push = |answer: String, parity: Epsilon| {
                let about = format!("{names}{tagged}: {answer}");
                details.push(Detail { about, value: factor(parity) });
            };
            match channel {
                Channel::Pattern(pattern) => push("every answer".to_owned(), pattern.record_epsilon()),
                Channel::Matrix(matrix) => {
                    for (output, label) in matrix.labels().iter().enumerate() {
                        let entries = || matrix.columns().iter().map(|column| column[output]);
                        let whole = |n: Option<u64>| Rational::from(BigUint::from(n.unwrap_or(0)));
                        push(
                            format!("\"{label}\""),
                            Epsilon::between(&whole(entries().max()), &whole(entries().min())),
                        );
                    }
                }
            }
        }
    }
    details
}
