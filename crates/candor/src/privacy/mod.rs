//! What an audit says of a plan: one file per criterion.
//!
//! To add a criterion, write a file with a function `fn(&Plan) -> Finding` and name it in
//! [`CRITERIA`]; every audit, in text and JSON, then shows it.

mod ldp;
mod parity;

use crate::channel::Epsilon;
use crate::plan::Plan;

/// One criterion's verdict on a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The criterion's name.
    pub name: &'static str,
    /// Its value; `None` if unbounded or not applicable.
    pub value: Option<f64>,
    /// What it means, in one plain sentence.
    pub sentence: String,
}

/// The criteria, in the order in which they are shown.
pub const CRITERIA: &[fn(&Plan) -> Finding] = &[ldp::local_differential_privacy, parity::parity];

/// What every criterion says of the plan.
pub fn audit(plan: &Plan) -> Vec<Finding> {
    CRITERIA.iter().map(|criterion| criterion(plan)).collect()
}

/// How much likelier an answer may be under one truth than under another, for people: `e^epsilon`
/// rounded up to three digits, or `None` if unbounded.
pub fn times(epsilon: Epsilon) -> Option<String> {
    let factor = epsilon.value()?.exp();
    if !factor.is_finite() {
        return None;
    }
    let unit = 10f64.powi(factor.log10().floor() as i32 - 2);
    // An exact factor such as 3 must not be pushed to 3.01 by the rounding of the logarithm.
    let rounded = ((factor / unit - 1e-9).ceil() * unit).max(1.0);
    let decimals = (-unit.log10().round()).max(0.0) as usize;
    let text = format!("{rounded:.decimals$}");
    Some(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text })
}

/// What a respondent should be told about one answer, given its conditional epsilon.
pub fn respondent_sentence(epsilon: Epsilon) -> String {
    if epsilon == Epsilon::ZERO {
        return "What we receive does not depend on your answer at all.".to_owned();
    }
    match times(epsilon) {
        Some(times) => format!(
            "Whatever you answer, what we receive is at most {times} times as likely under your answer as under any other."
        ),
        None => "There is no bound: what we receive can rule some answers out.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Rational;

    fn ratio(n: u32, d: u32) -> Epsilon {
        Epsilon::of_ratio(&Rational::new(n.into(), d.into()), &Rational::new(1u32.into(), 1u32.into()))
    }

    #[test]
    fn factors_are_rounded_up_to_three_digits() {
        for (n, d, expected) in [
            (3, 1, "3"),
            (2718, 1000, "2.72"),
            (10001, 1000, "10.1"),
            (54598, 1000, "54.6"),
            (123_456, 1, "124000"),
            (1, 1, "1"),
        ] {
            assert_eq!(times(ratio(n, d)).as_deref(), Some(expected), "{n}/{d}");
        }
        assert_eq!(times(Epsilon::UNBOUNDED), None);
    }

    #[test]
    fn respondents_are_told_the_truth() {
        assert!(respondent_sentence(ratio(3, 1)).contains("at most 3 times as likely"));
        assert!(respondent_sentence(Epsilon::ZERO).contains("does not depend"));
        assert!(respondent_sentence(Epsilon::UNBOUNDED).contains("no bound"));
    }
}
