//! Answers that people gave by a device, entered as responses.

use candor_base::plan::{Content, Plan};
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
pub use candor_tables::import::Columns;
use candor_tables::import::{Entry, import_to};
use candor_tables::input::Inputs;
use candor_tables::output::{Existing, Target};
use candor_tables::responses::Format;
use serde::Serialize;

use crate::error::StudyError;

/// What was entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Imported {
    /// How many answers.
    pub records: u64,
    /// The plan's fingerprint, which the responses carry.
    pub fingerprint: String,
}

/// How many columns of cards the plan's answers come with: one for each lottery.
pub fn lotteries(plan: &Plan) -> usize {
    plan.columns().iter().filter(|column| matches!(column.content, Content::Tag { .. })).count()
}

/// Checks that columns are named for a plan: one for each of its answers, and a label for each card of a lottery.
///
/// # Errors
/// Returns [`StudyError::Refused`] if they are more or fewer, or a label stands for two cards.
pub fn check_columns(plan: &Plan, columns: &Columns) -> Result<(), StudyError> {
    let refused = |message: String| Err(StudyError::Refused(message));
    let answers = plan.columns().iter().filter(|column| matches!(column.content, Content::Answer { .. })).count();
    if !columns.answers.is_empty() && columns.answers.len() != answers {
        let named = columns.answers.len();
        return refused(format!("`answer_columns` names {named} columns, but the plan has {answers} of answers"));
    }
    let labels = &columns.card_labels;
    if let Some(twice) = (1..labels.len()).find(|&at| labels[..at].contains(&labels[at])) {
        return refused(format!("`card_labels` has \"{}\" twice; each card has a label of its own", labels[twice]));
    }
    let cards = plan.blocks().iter().filter(|block| block.has_tag()).map(|block| block.channels().len());
    match cards.max().unwrap_or(0) {
        most if labels.is_empty() || labels.len() == most => Ok(()),
        0 => refused("`card_labels`: the plan has no cards".to_owned()),
        most => refused(format!("`card_labels` names {} cards, but the plan has {most}", labels.len())),
    }
}

/// Writes what interviewers wrote down (answers, and the cards of lotteries by letter, number or label) as responses to
/// a file that every other verb reads; its columns are called as in responses, if nothing else is said.
///
/// # Errors
/// [`TableError::Occupied`] if something is there, with [`Existing::Keep`]; if a column is missing, a value cannot be
/// an answer or a card, or something cannot be read or written.
pub fn import(
    plan: &Plan,
    inputs: Inputs,
    columns: &Columns,
    to: (&Target, Format, Existing),
    progress: ProgressSink<'_>,
) -> Result<Imported, TableError> {
    let records = import_to(&Entry { plan, columns }, inputs, to, progress)?;
    Ok(Imported { records, fingerprint: plan.fingerprint().as_str().to_owned() })
}
