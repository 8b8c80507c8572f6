//! Contents of the dashboard, computed by functions of the facade.

use std::sync::{Mutex, PoisonError};

use candor::StudyError;
use candor::counts::Counts;
use candor::estimate::{EstimateOptions, estimate};
use candor::format::{capital, count};
use candor::locale::{Language, OwnTexts};
use candor::moments::MomentQuery;
use candor::query_spec::TableQuery;
use candor::report::{ReportOptions, report};
use candor::sample_size::{SampleSizeOptions, sample_size};
use candor::shuffled::{ShuffleOptions, shuffled};
use candor::test::test;
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_privacy::times;
use candor_runtime::progress::ProgressSink;
use serde_json::{Value, json};

use crate::batches::Published;
use crate::survey::Survey;
use crate::tallies::{Tallies, tables};
use crate::writer::Snapshot;

/// The confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// Returns the state of a survey for the holder of the token; `repeated` is the count of a suspicious response.
///
/// # Errors
/// Returns an error if the counts do not fit the plan.
pub fn results(
    survey: &Survey,
    snapshot: &Snapshot,
    repeated: Option<u64>,
    said: &CachedStatement,
) -> Result<Value, StudyError> {
    let plan = &survey.plan;
    let Snapshot { tallies, days, closed, .. } = snapshot;
    let mut shown = found(survey, tallies, repeated)?;
    shown["waiting"] = json!(snapshot.waiting);
    shown["days"] = json!(days);
    shown["closed"] = json!(closed);
    let mut privacy = vec![local(plan)];
    if !closed {
        privacy.push(
            "Do not publish this page while responses arrive: two versions differ by a few people, and the difference \
             reveals something about them."
                .to_owned(),
        );
    }
    let smallest = tallies.groups(plan).into_iter().filter(|&group| group > 0).min();
    privacy.extend(smallest.map(|smallest| {
        format!(
            "{} Once the survey is closed and all responses are published together, shuffled: {}",
            hidden_among(smallest, tallies.responses()),
            said.of(plan, smallest, survey.wording.colluding.unwrap_or(0))
        )
    }));
    shown["privacy"] = json!(privacy);
    let asked = SampleSizeOptions::new(survey.wording.margin).confidence(CONFIDENCE);
    let needed = sample_size(plan, &TableList::marginals(plan.schema()), &asked)?;
    shown["margin"] = json!(survey.wording.margin);
    shown["needed"] = json!(needed.tables);
    Ok(shown)
}

/// Describes, with a round number, among how many responses a person is hidden.
fn hidden_among(smallest: u64, responses: u64) -> String {
    let (some, all) = (count(smallest), count(responses));
    match smallest < responses {
        true => format!(
            "A person hides only among people with the same answers to the questions that are sent as they are. The \
             smallest such group has {some} of the {all} responses counted so far; its number is rounded down below."
        ),
        false => {
            format!("A person hides among the {all} responses counted so far; their number is rounded down below.")
        }
    }
}

/// Returns the public results: the closed batches.
///
/// # Errors
/// Returns an error if the counts do not fit the plan.
pub fn public_results(survey: &Survey, published: &Published, said: &CachedStatement) -> Result<Value, StudyError> {
    let Published { tallies, batches, smallest } = published;
    let least = survey.wording.public_results.unwrap_or(0);
    let mut shown = found(survey, tallies, None)?;
    shown["batches"] = json!(batches);
    let mut privacy = vec![format!(
        "Results are published in batches, at most one a day: a batch is closed when a day (UTC) or the survey has \
         ended and there are at least {least} new responses{}. Responses that are not in a closed batch yet are not \
         shown, so that no two looks differ by a few people and nobody's response closes a batch.",
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

/// Returns estimates, associations and notes.
fn found(survey: &Survey, tallies: &Tallies, repeated: Option<u64>) -> Result<Value, StudyError> {
    let plan = &survey.plan;
    let mut shown = json!({
        "title": survey.wording.first.title,
        "responses": tallies.responses(),
        "fingerprint": plan.fingerprint().as_str(),
        "epsilon": plan.guarantee().epsilon().finite(),
        "questions": survey.wording.first.questions,
    });
    if let Some(counts) = tallies.counts(plan).filter(|_| tallies.responses() > 0) {
        let counts = counts.with_repeated(repeated);
        let options = EstimateOptions::default().confidence(CONFIDENCE);
        let estimates = estimate(plan, &counts, &options)?;
        shown["summary"] = json!(capital(&estimates.summary()));
        shown["cautions"] = json!(estimates.cautions());
        shown["estimates"] = json!(estimates);
        shown["dependences"] = dependences(plan, &counts);
    }
    Ok(shown)
}

/// Returns the report on all responses so far as a page.
///
/// # Errors
/// Returns an error if there are no responses, or the plan has too many attributes for the counted tables.
pub fn report_page(survey: &Survey, tallies: &Tallies, repeated: Option<u64>) -> Result<String, StudyError> {
    let plan = &survey.plan;
    let counts = tallies.counts(plan).ok_or(StudyError::Counts("the counts were made with another plan"))?;
    let counts = counts.with_repeated(repeated);
    let words = &survey.wording.first;
    let own = OwnTexts { questions: words.questions.clone(), ..OwnTexts::default() };
    let language = Language::new(None, Some(&own), plan.schema())?;
    let options = ReportOptions::default().title(Some(words.title.clone())).language(language);
    let asked = TableQuery::tables(TableList::marginals(plan.schema()));
    Ok(report(plan, &counts, &asked, &MomentQuery::default(), &options, ProgressSink::none())?.page.html())
}

/// Returns the strength of association of each pair of attributes.
fn dependences(plan: &Plan, counts: &Counts) -> Value {
    let lists = tables(plan);
    let pairs = lists.lists().iter().filter_map(|table| <[usize; 2]>::try_from(table.clone()).ok());
    let one = |pair: [usize; 2]| {
        let attributes = pair.map(|attribute| plan.schema().name(attribute));
        match test(plan, counts, pair, CONFIDENCE) {
            Ok(found) => json!({"attributes": attributes, "cramers_v": found.cramers_v, "p_value": found.p_value}),
            Err(error) => json!({"attributes": attributes, "reason": error.to_string()}),
        }
    };
    pairs.map(one).collect()
}

/// Returns a sentence about what a response reveals to the collector.
fn local(plan: &Plan) -> String {
    let epsilon = plan.guarantee().epsilon();
    match times(epsilon) {
        Some(times) => format!(
            "For someone who sees responses arrive, each is at most {times} times as likely under one true record as \
             under any other (epsilon {epsilon})."
        ),
        None => "This plan has no finite epsilon: responses can rule true answers out.".to_owned(),
    }
}

/// The latest statement about the publication of this many responses, cached because it takes a moment to compute.
#[derive(Debug, Default)]
pub struct CachedStatement(Mutex<Option<(u64, String)>>);

impl CachedStatement {
    /// Returns the sentence that `candor audit --respondents --colluding` prints. The number of respondents is rounded
    /// down, so that the sentence changes rarely and never overstates the protection.
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
        let options = ShuffleOptions::default().respondents(round).colluding(colluding);
        let said = shuffled(plan, &options).map_or_else(|error| error.to_string(), |found| found.sentence);
        *last = Some((round, said.clone()));
        said
    }
}

/// Rounds down to two significant digits.
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
            let options = ShuffleOptions::default().respondents(respondents).colluding(colluding);
            shuffled(&plan, &options).unwrap().sentence
        };
        let said = CachedStatement::default();
        assert_eq!(said.of(&plan, 5_049, 4_000), audit(5_000, 4_000));
        assert_ne!(audit(5_000, 4_000), audit(5_000, 0));
        assert!(said.of(&plan, 10, 10).contains("hide nobody"));
    }

    /// The dashboard warns if senders chose their channel, and only then.
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
            found(&survey, &tallies, None).unwrap()["cautions"].to_string().contains("may be invented")
        };
        assert!(!warned(&lines));
        let chosen: Vec<String> = lines.iter().filter(|line| line.contains("\"candor_tag\":0")).cloned().collect();
        assert!(chosen.len() > 1_000 && warned(&chosen));
    }

    /// 200 invented responses among 20,000 under a workload plan for six attributes, all about one table: if their
    /// answers differ, their channel is too frequent; if they are equal, the response is. Honest responses cause
    /// neither warning.
    #[test]
    fn two_hundred_invented_responses_among_twenty_thousand_show() {
        use candor_base::randomize::Client;
        use candor_base::randomness::Source;
        use candor_base::schema::Schema;
        use candor_tables::input::{Input, Inputs};
        use candor_tables::tally::{TallyJob, tally};
        let schema = Schema::with_sizes(&[3, 3, 4, 4, 5, 2]).unwrap();
        let request = serde_json::from_str(r#"{"method": "workload", "epsilon": 1, "tables": "pairs"}"#).unwrap();
        let plan = candor_design::design(&schema, &request).unwrap().plan;
        let lines = crate::simulate::responses(&plan, &Client::new(&plan), &mut Source::from_seed(9).stream(0), 30_000);
        let (honest, more) = lines.split_at(20_000);
        let lists = TableList::new(vec![vec![3, 5], vec![0, 1]], plan.schema()).unwrap();
        let found = |lines: Vec<String>| {
            let job = TallyJob { plan: &plan, tables: &lists, by: &[], weights: None };
            let input = Input::from_bytes("responses", lines.join("\n"), None).unwrap();
            let tallied = tally(&job, Inputs::from(input).unmarked(true), ProgressSink::none()).unwrap();
            let groups = tallied.groups.into_values().next().unwrap();
            (candor_analysis::estimate::channel_law(&plan, &groups).unwrap(), tallied.read.repeated)
        };
        let (law, repeated) = found(honest.to_vec());
        assert!(law > 1e-3 && repeated.is_none(), "{law} {repeated:?}");
        // This channel asks about the table of attributes 4 and 6; its probability is 3.2%.
        let chosen: Vec<String> =
            more.iter().filter(|line| line.contains("\"candor_tag\":13,")).take(200).cloned().collect();
        assert_eq!(chosen.len(), 200);
        let (law, repeated) = found([honest, &chosen].concat());
        println!("200 with one channel: p = {law:.1e}");
        assert!(law < 1e-6 && repeated.is_none(), "{law} {repeated:?}");
        let same = vec![chosen[0].clone(); 200];
        let (_, repeated) = found([honest, &same].concat());
        assert!(repeated.is_some_and(|times| times >= 200), "{repeated:?}");
    }

    /// For every plan and any number of responses, the dashboard and its report show shares that lie in their
    /// intervals.
    #[test]
    fn dashboards_show_only_what_may_be_published() {
        use candor_base::randomize::Client;
        use candor_base::randomness::Source;
        let plans = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good");
        let mut files: Vec<_> = std::fs::read_dir(plans).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let (mut surveys, mut grades) = (0, std::collections::BTreeMap::<String, usize>::new());
        for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "json")) {
            let folder = tempfile::tempdir().unwrap();
            // Some plans cannot be used online.
            let Ok((survey, _)) = Survey::create(&folder.path().join("survey"), file) else { continue };
            let plan = &survey.plan;
            if plan.schema().attributes().len() > 6 {
                continue;
            }
            surveys += 1;
            for people in [1, 12, 600] {
                let mut source = Source::from_seed(38).stream(people as u64);
                let lines = crate::simulate::responses(plan, &Client::new(plan), &mut source, people);
                let mut tallies = Tallies::new(plan);
                tallies.read(plan, &lines).unwrap();
                let shown = found(&survey, &tallies, None).unwrap();
                let about = format!("{}, {people}", file.display());
                let tables = shown["estimates"]["tables"].as_array().unwrap();
                for cell in tables.iter().flat_map(|table| table["cells"].as_array().unwrap()) {
                    let grade = cell["reliability"].as_str().unwrap_or("none");
                    *grades.entry(grade.to_owned()).or_default() += 1;
                    match (cell["shown_estimate"].as_f64(), cell["low"].as_f64(), cell["high"].as_f64()) {
                        (Some(share), Some(low), Some(high)) => {
                            assert!(matches!(grade, "shown" | "rough"), "{about}: {cell}");
                            assert!((0.0..=1.0).contains(&share), "{about}: {cell}");
                            assert!((low - 1e-12..=high + 1e-12).contains(&share), "{about}: {cell}");
                        }
                        (Some(_), ..) => panic!("{about}: a point without an interval: {cell}"),
                        (None, ..) => assert!(matches!(grade, "under" | "hidden" | "none"), "{about}: {cell}"),
                    }
                }
                if let Ok(page) = report_page(&survey, &tallies, None) {
                    assert!(!page.contains("NaN") && !page.contains(">inf"), "{about}");
                }
            }
        }
        assert!(surveys >= 3, "{surveys}");
        assert!(grades["shown"] > 10 && grades["hidden"] > 10, "{grades:?}");
    }

    #[test]
    fn numbers_are_rounded_down() {
        assert_eq!([1, 9, 10, 99, 100, 1_999, 123_456].map(rounded_down), [1, 9, 10, 99, 100, 1_900, 120_000]);
    }
}
