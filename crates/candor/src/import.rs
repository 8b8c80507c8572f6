//! Imports answers that were collected with randomization devices.

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

/// Result of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Imported {
    /// Number of answers.
    pub records: u64,
    /// Fingerprint of the plan, which is also in the responses.
    pub fingerprint: String,
}

/// Returns the number of columns that record which card was used: one for each block with several channels.
pub fn lotteries(plan: &Plan) -> usize {
    plan.columns().iter().filter(|column| matches!(column.content, Content::Tag { .. })).count()
}

/// Checks column names: one for each answer of the plan, and distinct labels for the cards of each block.
///
/// # Errors
/// Returns [`StudyError::Refused`] if there are too many or too few, or two cards have the same label.
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

/// Writes answers that interviewers recorded as a file of responses.
///
/// Cards are given by letter, number or label. Columns have the names that they have in responses, unless `columns`
/// renames them.
///
/// # Errors
/// Returns [`TableError::Occupied`] if the file exists, with [`Existing::Keep`].
/// Returns another [`TableError`] if a column is missing, a value is neither an answer nor a card, a file cannot be
/// read or written, or `progress` cancels.
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
