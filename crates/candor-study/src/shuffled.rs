//! What a reader of published, shuffled responses learns, beside what the collector can.

use candor::plan::Plan;
use candor::schema::Attribute;
use candor_analysis::shuffled::{Blanket, shuffled as bound};
use serde::Serialize;

use crate::error::StudyError;
use crate::words::count;

/// How many responses are published together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShuffleOptions {
    /// The responses that stand in one published multiset.
    pub respondents: u64,
    /// The chance with which the bound may fail; below one over the respondents. By default a millionth, or less for many people.
    pub delta: Option<f64>,
    /// How many respondents tell the reader their answers.
    pub colluding: u64,
    /// The largest epsilon that is allowed, if one is required.
    pub required: Option<f64>,
}

/// The criterion `shuffled`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Shuffling {
    /// Its name.
    pub name: &'static str,
    /// The central epsilon, an upper bound; `None` if unbounded.
    pub value: Option<f64>,
    /// What was required.
    pub required: Option<f64>,
    /// Whether that holds.
    pub holds: Option<bool>,
    /// What it means, in one plain sentence.
    pub sentence: String,
    /// What it does not notice.
    pub warning: Option<String>,
    /// The responses published together.
    pub respondents: u64,
    /// The chance with which the bound may fail.
    pub delta: f64,
    /// How many of them tell.
    pub colluding: u64,
}

/// What the publication of so many shuffled responses tells about one respondent, at most: certified.
///
/// # Errors
/// If there are no respondents who do not tell, or delta is not above 0 and below one over the respondents.
pub fn shuffled(plan: &Plan, options: &ShuffleOptions) -> Result<Shuffling, StudyError> {
    let ShuffleOptions { respondents, colluding, required, .. } = *options;
    if respondents == 0 || colluding >= respondents {
        return Err(StudyError::Needs("`respondents` is at least 1, and more than those who are `colluding`"));
    }
    let delta = options.delta.unwrap_or_else(|| (1e-6f64).min(0.01 / respondents as f64));
    if !(delta > 0.0 && delta < 1.0 / respondents as f64) {
        return Err(StudyError::Needs(
            "`delta` is above 0 and below one over the respondents: else somebody could be published outright",
        ));
    }
    let own = plan.guarantee().epsilon();
    let value = match own.value() {
        Some(0.0) => Some(0.0),
        Some(epsilon) => Some(
            Blanket::of_plan(plan).map_or(epsilon, |blanket| bound(&blanket, respondents - colluding, delta).epsilon),
        )
        .map(|found: f64| found.min(epsilon)),
        None => None,
    };
    let told = if colluding > 0 {
        format!(", if at most {} of them tell", count(colluding))
    } else {
        ", if nobody tells".to_owned()
    };
    let sentence = match value.zip(own.value()) {
        Some((central, own)) => format!(
            "Somebody who sees only the {} responses as they are published, shuffled, and not how they arrived, learns at most a factor \
             {:.3} about any one respondent, but for a chance of {delta:e}{told}; whoever collects could learn up to a factor {:.3}.",
            count(respondents),
            up(central.exp()),
            up(own.exp())
        ),
        None => "Some answers are impossible under some records: shuffling does not help against that.".to_owned(),
    };
    let holds = required.map(|limit| value.is_some_and(|value| value <= limit));
    let warning = warning(plan);
    Ok(Shuffling { name: "shuffled", value, required, holds, sentence, warning, respondents, delta, colluding })
}

/// Rounded up to three decimals.
fn up(factor: f64) -> f64 {
    (factor * 1e3 * (1.0 - 1e-12)).ceil() / 1e3
}

fn warning(plan: &Plan) -> Option<String> {
    let public: Vec<&str> =
        plan.schema().attributes().iter().filter(|attribute| attribute.is_public()).map(Attribute::name).collect();
    (!public.is_empty()).then(|| {
        format!(
            "A person hides only among those with the same {}: count the respondents of the smallest such group, and likewise of the smallest \
             batch that is published.",
            public.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor::channel::{Axis, Pattern};
    use candor::plan::Block;
    use candor::schema::Schema;

    fn plan(epsilon: f64) -> Plan {
        let channel = Pattern::k_ary(vec![Axis::single(16)], epsilon).unwrap();
        Plan::new(Schema::of_sizes(&[16]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap()
    }

    fn options(respondents: u64, colluding: u64) -> ShuffleOptions {
        ShuffleOptions { respondents, delta: Some(1e-6), colluding, required: Some(0.07) }
    }

    /// Golden numbers: 16 categories, epsilon 2, 10,000 respondents, of whom 0, 1,000 or 9,000 tell.
    #[test]
    fn golden_numbers_with_colluders() {
        let value = |colluding| shuffled(&plan(2.0), &options(10_000, colluding)).unwrap();
        for (colluding, expected) in [(0, 0.0675), (1_000, 0.0714), (9_000, 0.230)] {
            let found = value(colluding).value.unwrap();
            assert!((found / expected - 1.0).abs() < 0.01, "{colluding}: {found}");
        }
        assert_eq!((value(0).holds, value(1_000).holds), (Some(true), Some(false)));
        assert!(value(0).sentence.contains("up to a factor 7.390"), "{}", value(0).sentence);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let wrong = |options: ShuffleOptions| shuffled(&plan(1.0), &options).unwrap_err().to_string();
        assert!(wrong(options(0, 0)).contains("`respondents`") && wrong(options(5, 5)).contains("`respondents`"));
        for delta in [0.0, -1.0, f64::NAN, 0.01] {
            assert!(wrong(ShuffleOptions { delta: Some(delta), ..options(100, 0) }).contains("`delta`"));
        }
    }
}
