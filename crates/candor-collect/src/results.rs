//! What the dashboard shows, all of it computed by the functions of a study.

use std::sync::{Mutex, PoisonError};

use candor::StudyError;
use candor::asked::Asked;
use candor::counts::Counts;
use candor::estimate::{EstimateOptions, estimate};
use candor::numbers::NumbersAsked;
use candor::report::{ReportOptions, report};
use candor::shuffled::{ShuffleOptions, shuffled};
use candor::size::size;
use candor::test::test;
use candor::texts::{Language, OwnTexts};
use candor::words::capital;
use candor_analysis::estimate::Interval;
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_privacy::times;
use serde_json::{Value, json};

use crate::batches::Published;
use crate::survey::Survey;
use crate::tallies::{Tallies, tables};
use crate::writer::Snapshot;

/// The confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// The state of a survey as the dashboard shows it to who has the token.
///
/// # Errors
/// If the counts do not fit the plan.
pub fn results(survey: &Survey, snapshot: &Snapshot, said: &Said) -> Result<Value, StudyError> {
    let plan = &survey.plan;
    let Snapshot { tallies, days, closed, .. } = snapshot;
    let mut shown = found(survey, tallies)?;
    shown["days"] = json!(days);
    shown["closed"] = json!(closed);
    let mut privacy = vec![local(plan)];
    if !closed {
        privacy.push(
            "This page is live: do not publish it while answers come in, because two looks differ by a few people."
                .to_owned(),
        );
    }
    let smallest = tallies.groups(plan).into_iter().filter(|&group| group > 0).min();
    privacy.extend(smallest.map(|smallest| {
        format!(
            "Once the survey is closed and all responses are published together, shuffled: {}",
            said.of(plan, smallest, survey.wording.colluding.unwrap_or(0))
        )
    }));
    shown["privacy"] = json!(privacy);
    let needed = size(plan, &TableList::marginals(plan.schema()), survey.wording.margin, CONFIDENCE, Interval::Wald)?;
    shown["margin"] = json!(survey.wording.margin);
    shown["needed"] = json!(needed.tables);
    Ok(shown)
}

/// What everybody may see: the closed batches.
///
/// # Errors
/// If the counts do not fit the plan.
pub fn public_results(survey: &Survey, published: &Published, said: &Said) -> Result<Value, StudyError> {
    let Published { tallies, batches, smallest } = published;
    let least = survey.wording.public_results.unwrap_or(0);
    let mut shown = found(survey, tallies)?;
    shown["batches"] = json!(batches);
    let mut privacy = vec![format!(
        "Results are published in batches, at most one a day: a batch is closed when a day (UTC) or the survey has ended and there are at \
         least {least} new responses{}. Responses that are not in a closed batch yet are not shown, so that no two looks differ by a few \
         people and nobody's response closes a batch.",
        if tallies.groups(&survey.plan).len() > 1 {
            " of every group of the public questions that is in them"
        } else {
            ""
        }
    )];
    if *batches > 0 {
        privacy.push(format!(
            "In the smallest batch and group: {}",
            said.of(&survey.plan, *smallest, survey.wording.colluding.unwrap_or(0))
        ));
    }
    shown["privacy"] = json!(privacy);
    Ok(shown)
}

/// Estimates and what goes with them.
fn found(survey: &Survey, tallies: &Tallies) -> Result<Value, StudyError> {
    let plan = &survey.plan;
    let mut shown = json!({
        "title": survey.wording.first.title,
        "responses": tallies.responses(),
        "fingerprint": plan.fingerprint().as_str(),
        "epsilon": plan.guarantee().epsilon().value(),
        "questions": survey.wording.first.questions,
    });
    if let Some(counts) = tallies.counts(plan).filter(|_| tallies.responses() > 0) {
        let options = EstimateOptions { confidence: CONFIDENCE, ..EstimateOptions::default() };
        let estimates = estimate(plan, &counts, &options)?;
        shown["summary"] = json!(capital(&estimates.summary()));
        shown["cautions"] = json!(estimates.cautions());
        shown["estimates"] = json!(estimates);
        shown["dependences"] = dependences(plan, &counts);
    }
    Ok(shown)
}

/// The report on all responses up to now, as a page.
///
/// # Errors
/// If there are none, or the plan has too many attributes for the tables that were counted.
pub fn report_page(survey: &Survey, tallies: &Tallies) -> Result<String, StudyError> {
    let plan = &survey.plan;
    let counts = tallies.counts(plan).ok_or(StudyError::Counts("the counts are not those of this plan"))?;
    let words = &survey.wording.first;
    let own = OwnTexts { questions: words.questions.clone(), ..OwnTexts::default() };
    let language = Language::new(None, Some(&own), plan.schema())?;
    let options = ReportOptions { title: Some(words.title.clone()), language, ..ReportOptions::default() };
    let asked = Asked::tables(TableList::marginals(plan.schema()));
    Ok(report(plan, &asked, &NumbersAsked::default(), &counts, &options)?.page.html())
}

/// How strongly the attributes of each pair depend on each other.
fn dependences(plan: &Plan, counts: &Counts) -> Value {
    let lists = tables(plan);
    let pairs = lists.lists().iter().filter_map(|table| <[usize; 2]>::try_from(table.clone()).ok());
    let one = |pair: [usize; 2]| {
        let attributes = pair.map(|attribute| plan.schema().name(attribute));
        match test(plan, pair, counts, CONFIDENCE) {
            Ok(found) => json!({"attributes": attributes, "cramers_v": found.cramers_v, "p_value": found.p_value}),
            Err(error) => json!({"attributes": attributes, "reason": error.to_string()}),
        }
    };
    pairs.map(one).collect()
}

/// What a response tells whoever collects, in a sentence.
fn local(plan: &Plan) -> String {
    let epsilon = plan.guarantee().epsilon();
    match times(epsilon) {
        Some(times) => format!(
            "Towards whoever sees responses arrive, each is at most {times} times as likely under one truth as under any other (epsilon {epsilon})."
        ),
        None => "This plan has no finite epsilon: responses can rule truths out.".to_owned(),
    }
}

/// What is said about the publication of so many responses; the last is remembered, because it takes a moment to compute.
#[derive(Debug, Default)]
pub struct Said(Mutex<Option<(u64, String)>>);

impl Said {
    /// The sentence, as `candor audit --respondents --colluding` prints it. It is computed for a round number of respondents that is not
    /// larger, so that it changes rarely: fewer hide less well.
    fn of(&self, plan: &Plan, respondents: u64, colluding: u64) -> String {
        let round = rounded_down(respondents).max((colluding + 1).min(respondents));
        if colluding >= respondents {
            return format!(
                "{colluding} colluding respondents know all of {respondents} responses, which hide nobody from them."
            );
        }
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, said)) = last.as_ref().filter(|(known, _)| *known == round) {
            return said.clone();
        }
        let options = ShuffleOptions { respondents: round, colluding, ..ShuffleOptions::default() };
        let said = shuffled(plan, &options).map_or_else(|error| error.to_string(), |found| found.sentence);
        *last = Some((round, said.clone()));
        said
    }
}

/// Two significant digits, not above the number.
fn rounded_down(number: u64) -> u64 {
    let unit = 10u64.pow(number.max(1).ilog10().saturating_sub(1));
    number / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_is_that_of_the_audit() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/public.json");
        let plan = Plan::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
        let audit = |respondents, colluding| {
            let options = ShuffleOptions { respondents, colluding, ..ShuffleOptions::default() };
            shuffled(&plan, &options).unwrap().sentence
        };
        let said = Said::default();
        assert_eq!(said.of(&plan, 5_049, 4_000), audit(5_000, 4_000));
        assert_ne!(audit(5_000, 4_000), audit(5_000, 0));
        assert!(said.of(&plan, 10, 10).contains("hide nobody"));
    }

    /// Responses whose senders chose their channel: the dashboard warns, and does not otherwise.
    #[test]
    fn channels_that_were_chosen_are_told() {
        use candor_base::randomize::Client;
        use candor_base::randomness::Source;
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/lotteries.json");
        let folder = tempfile::tempdir().unwrap();
        let (survey, _) = Survey::create(&folder.path().join("survey"), std::path::Path::new(path)).unwrap();
        let plan = &survey.plan;
        let lines = crate::simulate::responses(plan, &Client::new(plan), &mut Source::from_seed(5).stream(0), 3_000);
        let warned = |lines: &[String]| {
            let mut tallies = Tallies::new(plan);
            tallies.read(plan, lines).unwrap();
            found(&survey, &tallies).unwrap()["cautions"].to_string().contains("may be invented")
        };
        assert!(!warned(&lines));
        let chosen: Vec<String> = lines.iter().filter(|line| line.contains("\"candor_tag\":0")).cloned().collect();
        assert!(chosen.len() > 1_000 && warned(&chosen));
    }

    #[test]
    fn numbers_are_rounded_down() {
        assert_eq!([1, 9, 10, 99, 100, 1_999, 123_456].map(rounded_down), [1, 9, 10, 99, 100, 1_900, 120_000]);
    }
}
