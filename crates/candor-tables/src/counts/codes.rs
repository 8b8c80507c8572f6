//! Converts rows of counts to codes.

use std::collections::{BTreeMap, HashMap};

use candor_analysis::tally::CountLayout;
use candor_base::channel::Channel;
use candor_base::plan::{Content, Plan, SET_SEPARATOR};
use candor_bulk::{AnswerColumn, Sets, UNANSWERED};

use super::{CountFile, Holds};
use crate::TableError;
use crate::error::InvalidValue;
use crate::responses::{A_TAG, CellLabels, NOT_AN_ANSWER, tags_are};

/// Rows of one kind in a counts file, for one table.
pub(super) struct CountRows<'a> {
    pub(super) plan: &'a Plan,
    pub(super) layout: &'a CountLayout,
    pub(super) file: &'a CountFile,
    /// Position in the file of each column of the plan that the table requires.
    pub(super) places: &'a BTreeMap<usize, usize>,
    pub(super) holds: Holds,
    pub(super) rows: &'a [usize],
}

impl CountRows<'_> {
    /// Returns one column of codes for each column of the plan; unused ones are empty.
    ///
    /// # Errors
    /// Returns the first value that is not a valid response under the plan.
    pub(super) fn columns(&self) -> Result<Vec<AnswerColumn>, TableError> {
        let columns = self.plan.columns();
        let mut tags: HashMap<usize, Vec<u16>> = HashMap::new();
        for (&at, &place) in self.places {
            match columns[at].content {
                Content::Tag { block } if self.holds != Holds::Responses || self.layout.tagged.contains(&block) => {
                    tags.insert(block, self.tags(at, place, block)?);
                }
                _ => {}
            }
        }
        let column = |at: usize| match (&columns[at].content, self.places.get(&at)) {
            (Content::Tag { block }, Some(_)) => Ok(AnswerColumn::One(tags.get(block).cloned().unwrap_or_default())),
            (_, Some(&place)) if self.holds != Holds::Responses => self.column(at, place, &tags),
            _ => Ok(AnswerColumn::One(Vec::new())),
        };
        (0..columns.len()).map(column).collect()
    }

    fn tags(&self, at: usize, place: usize, block: usize) -> Result<Vec<u16>, TableError> {
        let channels = self.plan.blocks()[block].channels().len();
        let tag = |row: usize, text: &str| {
            let found = text.parse().ok().filter(|&tag: &u16| usize::from(tag) < channels && tag.to_string() == text);
            found
                .ok_or_else(|| TableError::InvalidValue(self.bad(at, row, text).not(A_TAG, &tags_are(channels as u64))))
        };
        self.texts(place).map(|(_, row, text)| tag(row, text)).collect()
    }

    /// Encodes a column of answers, of cells, or of a public attribute.
    fn column(&self, at: usize, place: usize, tags: &HashMap<usize, Vec<u16>>) -> Result<AnswerColumn, TableError> {
        let content = &self.plan.columns()[at].content;
        let (block, labels, set) = match content {
            Content::Answer { block, labels, set, .. } => (Some(*block), &labels[..], *set),
            Content::Public { attribute } => (None, self.plan.schema().attributes()[*attribute].categories(), false),
            Content::Cells { block } => (Some(*block), &[][..], true),
            Content::Tag { .. } => unreachable!("read by themselves"),
        };
        let known: HashMap<&str, u16> = labels.iter().map(String::as_str).zip(0..).collect();
        let cells = match content {
            Content::Cells { block } => Some(CellLabels::new(self.plan, *block)),
            _ => None,
        };
        let code = |index: usize, row: usize, label: &str| {
            let found = match &cells {
                Some(cells) => cells.place(label).and_then(|place| cells.cell(channel(tags, block, index), place)),
                None => known.get(label).copied(),
            };
            found.ok_or_else(|| TableError::InvalidValue(self.bad(at, row, label)))
        };
        let silent = |index: usize, text: &str| text.is_empty() && self.is_silent(content, channel(tags, block, index));
        if !set {
            let one = |(index, row, text)| if silent(index, text) { Ok(UNANSWERED) } else { code(index, row, text) };
            return self.texts(place).map(one).collect::<Result<_, _>>().map(AnswerColumn::One);
        }
        let mut sets = Sets::with_capacity(self.rows.len(), 0);
        for (index, row, text) in self.texts(place) {
            let set: Vec<u16> = match self.holds {
                _ if silent(index, text) => Vec::new(),
                Holds::Cells => vec![code(index, row, text)?],
                _ => text.split(SET_SEPARATOR).map(|label| code(index, row, label)).collect::<Result<_, _>>()?,
            };
            sets.push(&set);
        }
        Ok(AnswerColumn::Set(sets))
    }

    /// Returns whether a column may be empty for a channel.
    ///
    /// Only subset channels report cells, and cells about other attributes are irrelevant for the table.
    fn is_silent(&self, content: &Content, channel: usize) -> bool {
        let strip = |block: usize| matches!(self.plan.blocks()[block].channels()[channel].1, Channel::Strip(_));
        match *content {
            Content::Answer { block, .. } => strip(block),
            Content::Cells { block } => !strip(block) || !self.layout.asks(self.plan, block, channel as u16),
            Content::Public { .. } | Content::Tag { .. } => false,
        }
    }

    /// Returns the values of a column of the file, by position and row number.
    fn texts(&self, place: usize) -> impl Iterator<Item = (usize, usize, &str)> {
        self.rows.iter().enumerate().map(move |(index, &row)| (index, row, self.file.rows[row][place].as_str()))
    }

    fn bad(&self, at: usize, row: usize, value: &str) -> InvalidValue {
        let (file, column) = (self.file.name.clone(), self.plan.columns()[at].name.clone());
        let (value, hint) = (value.to_owned(), NOT_AN_ANSWER.to_owned());
        InvalidValue { file, row: row as u64 + 1, column, value, hint }
    }
}

/// Returns the channel of a block that produced a row.
fn channel(tags: &HashMap<usize, Vec<u16>>, block: Option<usize>, index: usize) -> usize {
    block.and_then(|block| tags.get(&block)).map_or(0, |tags| tags[index].into())
}
