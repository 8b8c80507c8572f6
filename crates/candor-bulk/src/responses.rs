//! Responses in memory, in columns.

use candor_base::channel::Answer;

use crate::Sets;

/// The responses of many records under a plan: everything that an analyst needs in addition to the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Responses {
    /// The answers of each block.
    pub blocks: Vec<BlockAnswers>,
    /// By attribute: the codes of public ones, unchanged; empty for randomized attributes.
    pub public: Vec<Vec<u16>>,
}

/// The answers about one attribute or cross-classification for many records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerColumn {
    /// One category for each record.
    One(Vec<u16>),
    /// A set of categories for each record.
    Set(Sets),
}

impl AnswerColumn {
    pub(crate) fn push(&mut self, answer: Answer) {
        match (self, answer) {
            (AnswerColumn::One(codes), Answer::One(code)) => codes.push(code),
            (AnswerColumn::One(_), Answer::Set(_)) => unreachable!("the plan says which answers are sets"),
            (AnswerColumn::Set(sets), Answer::One(code)) => sets.push(&[code]),
            (AnswerColumn::Set(sets), Answer::Set(codes)) => sets.push(&codes),
        }
    }

    /// Returns a column of `rows` records with these answers at their rows, and none elsewhere.
    pub(crate) fn spread(self, at: &[(usize, usize)], rows: usize) -> AnswerColumn {
        match self {
            AnswerColumn::One(codes) => {
                let mut all = vec![UNANSWERED; rows];
                at.iter().zip(codes).for_each(|(&(row, _), code)| all[row] = code);
                AnswerColumn::One(all)
            }
            AnswerColumn::Set(sets) => {
                let mut next = at.iter().zip(sets.iter()).peekable();
                let set = |row| next.next_if(|(at, _)| at.0 == row).map_or(&[][..], |(_, set)| set);
                AnswerColumn::Set((0..rows).map(set).collect())
            }
        }
    }
}

/// The answers of one block for many records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockAnswers {
    /// The channel that each record's lottery drew; empty if the block has one channel only.
    pub tags: Vec<u16>,
    /// One column per answer. Records whose channel is a strip have [no answer](UNANSWERED), or an empty set.
    pub columns: Vec<AnswerColumn>,
    /// For each record, the cells that its strip answers with, or none if its channel is not a strip.
    ///
    /// `None` if the block has no strip.
    pub cells: Option<Sets>,
}

/// Code for "no answer" in a column of codes; it is never the code of a category.
pub const UNANSWERED: u16 = u16::MAX;
