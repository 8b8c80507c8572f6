//! Events: sets of answers that can be described.

use super::columns::{Columns, OTHER};
use super::draws::Draws;

/// Maximum number of answers that are listed.
const LISTED: usize = 8;

/// A literal: the code of a column is in a range, or is not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Literal {
    pub(super) column: usize,
    /// First and last code.
    pub(super) range: (u8, u8),
    pub(super) inside: bool,
}

impl Literal {
    pub(super) fn holds(&self, codes: &[u8]) -> bool {
        let code = codes[self.column];
        let inside = code != OTHER && (self.range.0..=self.range.1).contains(&code);
        inside == self.inside
    }
}

/// A set of answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// These answers, sorted.
    Answers(Vec<u32>),
    /// Answers that satisfy all of these literals.
    All(Vec<Literal>),
}

impl Event {
    pub(super) fn is_of_answers(&self) -> bool {
        matches!(self, Event::Answers(_))
    }

    pub(super) fn holds(&self, answer: u32, codes: &[u8]) -> bool {
        match self {
            Event::Answers(answers) => answers.binary_search(&answer).is_ok(),
            Event::All(literals) => literals.iter().all(|literal| literal.holds(codes)),
        }
    }

    /// Describes the event.
    pub(super) fn describe(&self, columns: &Columns, draws: &Draws) -> String {
        match self {
            Event::Answers(answers) => {
                let listed: Vec<String> =
                    answers.iter().take(LISTED).map(|&answer| format!("\"{}\"", draws.answer(answer))).collect();
                match (answers.len(), answers.len().saturating_sub(LISTED)) {
                    (1, _) => format!("answer is {}", listed[0]),
                    (_, 0) => format!("answer is one of {}", listed.join(", ")),
                    (_, more) => format!("answer is one of {} and {more} more", listed.join(", ")),
                }
            }
            Event::All(literals) => {
                let told = literals.iter().map(|one| columns.describe(one.column, one.range, one.inside));
                told.collect::<Vec<_>>().join(" and ")
            }
        }
    }
}
