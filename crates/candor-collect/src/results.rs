//! What the dashboard shows, all of it computed by the functions of a study.

use candor::plan::Plan;
use candor_analysis::estimate::Interval;
use candor_analysis::table_list::TableList;
use candor_study::StudyError;
use candor_study::counts::Counts;
use candor_study::estimate::{EstimateOptions, estimate};
use candor_study::size::size;
use candor_study::test::test;
use serde_json::{Value, json};

use crate::survey::Survey;
use crate::tallies::tables;
use crate::writer::Snapshot;

/// The confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// The state of a survey as the dashboard shows it.
///
/// # Errors
/// If the counts do not fit the plan.
pub fn results(survey: &Survey, snapshot: &Snapshot) -> Result<Value, StudyError> {
    let plan = &survey.plan;
    let Snapshot { tallies, days, closed } = snapshot;
    let mut shown = json!({
        "responses": tallies.responses(),
        "days": days,
        "closed": closed,
        "fingerprint": plan.fingerprint().as_str(),
        "epsilon": plan.guarantee().epsilon().value(),
        "privacy": privacy(plan),
        "margin": survey.wording.margin,
    });
    let needed = size(plan, &TableList::marginals(plan.schema()), survey.wording.margin, CONFIDENCE, Interval::Wald)?;
    shown["needed"] = json!(needed.tables);
    if let Some(counts) = tallies.counts(plan).filter(|_| tallies.responses() > 0) {
        let options = EstimateOptions { confidence: CONFIDENCE, ..EstimateOptions::default() };
        let estimates = estimate(plan, &counts, &options)?;
        shown["summary"] = json!(estimates.summary());
        shown["cautions"] = json!(estimates.cautions());
        shown["estimates"] = json!(estimates);
        shown["dependences"] = dependences(plan, &counts);
    }
    Ok(shown)
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
fn privacy(plan: &Plan) -> String {
    match plan.guarantee().epsilon().value() {
        Some(epsilon) => format!(
            "Towards whoever sees responses arrive, each is at most {:.3} times as likely under one truth as under any other (epsilon {epsilon:.3}). \
             This page is live: do not publish it while answers come in, because two looks differ by a few people.",
            epsilon.exp()
        ),
        None => "This plan has no finite epsilon: responses can rule truths out.".to_owned(),
    }
}
