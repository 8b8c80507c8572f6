//! Answers that people gave by a device, entered as responses.

use candor_base::plan::{Content, Plan};
use candor_tables::TableError;
use candor_tables::import::{Entry, enter_to};
use candor_tables::input::Inputs;
use candor_tables::output::{Existing, Target};
use candor_tables::responses::Format;
use serde::Serialize;

/// What was entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Entered {
    /// How many answers.
    pub records: u64,
    /// The plan's fingerprint, which the responses carry.
    pub fingerprint: String,
}

/// How many columns of cards the plan's answers come with: one for each lottery.
pub fn lotteries(plan: &Plan) -> usize {
    plan.columns().iter().filter(|column| matches!(column.content, Content::Tag { .. })).count()
}

/// Writes what interviewers wrote down (answers, and the cards of lotteries by letter or number) as responses to a file
/// that every other verb reads. `cards` names the columns of the cards, if they are not called as in responses; `keep`
/// columns to pass on.
///
/// # Errors
/// [`TableError::Occupied`] if something is there, with [`Existing::Keep`]; if a column is missing, a value cannot be
/// an answer or a card, or something cannot be read or written.
pub fn enter(
    plan: &Plan,
    inputs: Inputs,
    cards: &[String],
    keep: &[String],
    to: (&Target, Format, Existing),
) -> Result<Entered, TableError> {
    let records = enter_to(&Entry { plan, cards, keep }, inputs, to)?;
    Ok(Entered { records, fingerprint: plan.fingerprint().as_str().to_owned() })
}
