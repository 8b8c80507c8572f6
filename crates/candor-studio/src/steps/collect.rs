//! Randomizing a file: each person's answers are drawn once.

use std::path::Path;

use candor::card::cards;
use candor::composition::compose;
use candor::device::{DeviceOptions, devices};
use candor::guarantee::likelihood_ratio;
use candor::import::{self, Columns};
use candor::randomize::{RandomizeOptions, randomize_to};
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_runtime::progress::ProgressSink;
use candor_tables::input::{Inputs, Location};
use candor_tables::output::{Existing, Target};
use candor_tables::responses::Format;
use serde_json::{Value, json};

use crate::open::Open;
use crate::problem::Problem;
use crate::project::ledger::{self, Draw, now};
use crate::project::{FIRST_LANGUAGE, Project, RESPONSES, folder};

/// File name of the instruction cards.
pub const CARDS: &str = "cards.html";

/// Randomizes the data. A second draw for the same people requires confirmation: the resulting total epsilon as text,
/// such as `6.0`.
///
/// # Errors
/// Returns an error if there is no plan or no data, a record does not fit, or an earlier draw of the same people is not
/// confirmed.
pub fn randomize(open: &Open, project: &Project, shelf: &Path, confirmed: Option<&str>) -> Result<(), Problem> {
    let plan = project.plan()?;
    if !project.plan_is_current() && !project.is_drawn() {
        return Err(Problem::first(
            "The plan is not the one that is asked for now. Keep a plan at the step Trade-off first.",
        ));
    }
    let path = project.data_path()?;
    let hash = ledger::sha256(&path)?;
    let earlier = drawn_before(shelf, project, &hash)?;
    if !earlier.is_empty() {
        let together = together(plan, earlier.len() + 1);
        if confirmed != Some(together.as_str()) {
            return Err(Problem::locked(again(plan, earlier.len(), &together)));
        }
    }
    let source = Source::from_os().map_err(Problem::input)?;
    let keep = project.study.sample.columns();
    let inputs = Inputs::new([Location::File(path)], None)?.with_missing(&project.missing());
    let options = RandomizeOptions::new(&source).keep(&keep);
    let target = Target::File(project.folder.join(RESPONSES));
    let existing = if earlier.is_empty() { Existing::Keep } else { Existing::Replace };
    let draw = Draw {
        time: now(),
        data_sha256: Some(hash),
        plan: plan.fingerprint().as_str().to_owned(),
        epsilon: plan.guarantee().epsilon().finite(),
        records: 0,
        way: "file".to_owned(),
        kept: keep.clone(),
    };
    let to = (&target, Format::for_target(&target), existing);
    let done = open.task.run(|progress| randomize_to(plan, inputs, &options, to, progress))?;
    ledger::add(&project.folder, Draw { records: done.records, ..draw })?;
    folder::forget(&project.folder)
}

/// Returns the earlier draws from the same data, in this study and in its neighbors.
fn drawn_before(shelf: &Path, project: &Project, hash: &str) -> Result<Vec<Draw>, Problem> {
    let mut found = project.draws.clone();
    let entries = std::fs::read_dir(shelf).into_iter().flatten().filter_map(Result::ok);
    for other in entries.map(|entry| entry.path()).filter(|path| path.is_dir() && *path != project.folder) {
        found.extend(ledger::read(&other).unwrap_or_default());
    }
    found.retain(|draw| draw.data_sha256.as_deref() == Some(hash));
    Ok(found)
}

/// Returns the total epsilon of this many draws under a plan, with one decimal, rounded up.
fn together(plan: &Plan, draws: usize) -> String {
    let all: Vec<&Plan> = std::iter::repeat_n(plan, draws).collect();
    let epsilon = compose(&all).epsilon.finite();
    epsilon.map_or("unbounded".to_owned(), |epsilon| format!("{:.1}", (epsilon * 10.0 - 1e-6).ceil() / 10.0))
}

fn again(plan: &Plan, earlier: usize, together: &str) -> String {
    let promised = plan.guarantee().epsilon().finite();
    let promised = promised.map_or("the epsilon".to_owned(), |epsilon| format!("epsilon {epsilon:.1}"));
    let times = if earlier == 1 { "once".to_owned() } else { format!("{earlier} times") };
    format!(
        "The answers of these people were drawn {times} already. Drawing again would break what was promised: \
         together they would be protected by epsilon {together} instead of {promised}. Everybody who has both files \
         can put them together. If you must, type {together}."
    )
}

/// Returns the facts to show before and after a draw.
pub fn state(project: &Project) -> Value {
    let plan = project.plan.as_ref().and_then(|plan| plan.as_ref().ok());
    let last = project.draws.last();
    let next = plan.map(|plan| {
        let together = together(plan, project.draws.len() + 1);
        json!({"type": together, "text": again(plan, project.draws.len(), &together)})
    });
    json!({
        "draws": project.draws,
        "responses": project.folder.join(RESPONSES).is_file(),
        "times": plan.and_then(likelihood_ratio),
        "epsilon": plan.and_then(|plan| plan.guarantee().epsilon().finite()),
        "plan": plan.map(|plan| plan.fingerprint().as_str()),
        "next": next.filter(|_| last.is_some()),
    })
}

/// Writes instruction cards for interviews: dice, coins or cards instead of a computer. Their plan replaces the current
/// one.
///
/// # Errors
/// Returns an error if answers were drawn, there is no epsilon, or a question does not fit any device.
pub fn make_cards(project: &mut Project) -> Result<Value, Problem> {
    project.check_open()?;
    let schema = project.schema()?.clone();
    let epsilon = project.study.epsilon.ok_or_else(|| Problem::first("Choose at the step Trade-off first."))?;
    let found = devices(&schema, &DeviceOptions::within(&schema, epsilon))?;
    let page = cards(&found.plan, &found.devices, &project.language(FIRST_LANGUAGE, &schema)?)?;
    folder::write(&project.folder.join(CARDS), page.as_bytes())?;
    project.keep_plan(&found.plan)?;
    Ok(json!({"questions": found.questions, "epsilon": found.record_epsilon, "warnings": found.warnings}))
}

/// Imports answers that interviewers wrote down as responses, once.
///
/// # Errors
/// Returns an error if they were imported before, the plan is not one for cards, or an answer does not fit the plan.
pub fn import(project: &Project, path: &Path) -> Result<(), Problem> {
    let plan = project.plan()?;
    if !project.folder.join(CARDS).is_file() {
        return Err(Problem::first("There are no cards yet. Print cards first."));
    }
    let target = Target::File(project.folder.join(RESPONSES));
    let inputs = Inputs::new([Location::File(path.to_owned())], None)?;
    let columns = Columns::default();
    let done = import::import(
        plan,
        inputs,
        &columns,
        (&target, Format::for_target(&target), Existing::Keep),
        ProgressSink::none(),
    )?;
    let draw = Draw {
        time: now(),
        data_sha256: None,
        plan: plan.fingerprint().as_str().to_owned(),
        epsilon: plan.guarantee().epsilon().finite(),
        records: done.records,
        way: "cards".to_owned(),
        kept: Vec::new(),
    };
    ledger::add(&project.folder, draw)?;
    folder::forget(&project.folder)
}
