//! Parity: the largest likelihood ratio (Nayak and Zhai 2019, definition 2.2).

use num_bigint::BigUint;

use crate::criterion::{AuditRequest, Criterion, CriterionResult, Detail, Rounding};
use crate::figures::times;
use candor_base::channel::{Channel, Epsilon, Rational, exact};
use candor_base::plan::Plan;

/// The criterion, with its largest allowed likelihood ratio.
pub(crate) static PARITY: Criterion = Criterion {
    name: "parity",
    example: "parity=3",
    expected: "a likelihood ratio: a finite number, 1 or more",
    accepts: |numbers| matches!(numbers, [x] if x.is_finite() && *x >= 1.0),
    fits: Criterion::any_plan,
    rounding: Rounding::Up,
    find: parity,
};

/// Computes `eta = max P(response | x) / P(response | y) = e^epsilon`, with 0/0 = 1 and a/0 infinite.
///
/// No response changes the odds between two records by more than this factor. The details are the row parities: for
/// each output of a matrix, the largest ratio within its row. All answers of a pattern channel or a strip have the same
/// row parity.
fn parity(question: &AuditRequest<'_>) -> CriterionResult {
    let epsilon = question.plan.guarantee().epsilon();
    let sentence = match times(epsilon) {
        Some(times) => format!(
            "Nobody's odds between two records can change by more than a factor of {times} after reading the response."
        ),
        None => "Reading a response can change the odds between two records without limit.".to_owned(),
    };
    CriterionResult::new(&PARITY, factor(epsilon), sentence)
        .with_details(row_parities(question.plan))
        .judged(question, |required| matches!(*required, [limit] if at_most(question, limit)))
}

/// Returns `e^epsilon`, or `None` if it is unbounded or exceeds the range of floats.
pub(crate) fn factor(epsilon: Epsilon) -> Option<f64> {
    // The logarithm was rounded up by a few units in its last place, and so is this; an exact 3 stays 3.
    epsilon.finite().map(f64::exp).filter(|eta| eta.is_finite())
}

/// Returns whether the exact parity is at most `factor`.
pub(crate) fn at_most(question: &AuditRequest<'_>, factor: f64) -> bool {
    let limit = exact(factor);
    question.plan.guarantee().parity().zip(limit).is_some_and(|(parity, limit)| *parity <= limit)
}

fn row_parities(plan: &Plan) -> Vec<Detail> {
    let mut details = Vec::new();
    for block in plan.blocks() {
        let names: Vec<&str> = block.attributes().iter().map(|&a| plan.schema().name(a)).collect();
        let names = names.join(&candor_base::schema::CROSS.to_string());
        let rows: Vec<Vec<Row>> = block.channels().iter().map(|(_, channel)| rows(channel)).collect();
        let alike = !matches!(block.channels()[0].1, Channel::Matrix(_)) && rows.iter().all(|other| *other == rows[0]);
        for (tag, rows) in rows.into_iter().enumerate().take(if alike { 1 } else { usize::MAX }) {
            let tagged = if block.has_tag() && !alike { format!(", tag {tag}") } else { String::new() };
            let detail = |(answer, value)| Detail { about: format!("{names}{tagged}: {answer}"), value };
            details.extend(rows.into_iter().map(detail));
        }
    }
    details
}

/// The description of an answer, and its parity.
type Row = (String, Option<f64>);

fn rows(channel: &Channel) -> Vec<Row> {
    let Channel::Matrix(matrix) = channel else {
        return vec![("every answer".to_owned(), factor(channel.record_epsilon()))];
    };
    let row = |(output, label): (usize, &String)| {
        let entries = || matrix.columns().iter().map(|column| column[output]);
        let whole = |n: Option<u64>| Rational::from(BigUint::from(n.unwrap_or(0)));
        let parity = Epsilon::between(&whole(entries().max()), &whole(entries().min()));
        (format!("\"{label}\""), factor(parity))
    };
    matrix.labels().iter().enumerate().map(row).collect()
}
