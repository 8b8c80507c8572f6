//! Labels of the cells that subset channels report (docs/reference/formats.md).

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use arrow_schema::DataType;
use candor_base::channel::Channel;
use candor_base::plan::{Plan, SET_SEPARATOR};
use candor_bulk::Sets;

/// Labels of the cells of all subset channels of a block.
pub(crate) struct CellLabels {
    /// All distinct labels.
    values: Arc<StringArray>,
    /// For each channel, the index of each cell's label; empty for other kinds of channels.
    cells: Vec<Vec<i32>>,
    /// For each channel, the cell of each label.
    codes: Vec<HashMap<i32, u16>>,
    known: HashMap<Box<str>, i32>,
}

impl CellLabels {
    pub(crate) fn new(plan: &Plan, block: usize) -> CellLabels {
        let mut values: Vec<String> = Vec::new();
        let mut known: HashMap<Box<str>, i32> = HashMap::new();
        let mut of_channel = |channel: &Channel| -> Vec<i32> {
            let Channel::Strip(strip) = channel else { return Vec::new() };
            let place = |label: String| {
                *known.entry(label.as_str().into()).or_insert_with(|| {
                    values.push(label);
                    (values.len() - 1) as i32
                })
            };
            plan.cell_labels(block, strip).into_iter().map(place).collect()
        };
        let channels = plan.blocks()[block].channels();
        let cells: Vec<Vec<i32>> = channels.iter().map(|(_, channel)| of_channel(channel)).collect();
        let code = |cells: &Vec<i32>| cells.iter().zip(0..).map(|(&key, cell)| (key, cell)).collect();
        CellLabels { codes: cells.iter().map(code).collect(), cells, values: Arc::new(values.into()), known }
    }

    /// Returns the type of a stored cell: its label, from a dictionary.
    pub(crate) fn item_type() -> DataType {
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
    }

    /// Returns all distinct labels.
    pub(crate) fn values(&self) -> ArrayRef {
        self.values.clone()
    }

    /// Returns the labels of all cells of all answers, as indices in [`CellLabels::values`].
    ///
    /// Without channel IDs, there is one channel.
    pub(crate) fn keys(&self, tags: &[u16], sets: &Sets) -> Vec<i32> {
        let mut keys = Vec::with_capacity(sets.codes().len());
        for (row, set) in sets.iter().enumerate() {
            let cells = &self.cells[usize::from(tags.get(row).copied().unwrap_or(0))];
            keys.extend(set.iter().map(|&cell| cells[usize::from(cell)]));
        }
        keys
    }

    /// Formats one answer as text.
    pub(crate) fn joined(&self, tag: Option<u16>, set: &[u16]) -> String {
        let cells = &self.cells[usize::from(tag.unwrap_or(0))];
        let mut text = String::new();
        for (i, &cell) in set.iter().enumerate() {
            if i > 0 {
                text.push(SET_SEPARATOR);
            }
            text += self.values.value(cells[usize::from(cell)] as usize);
        }
        text
    }

    /// Returns the index of a label.
    pub(crate) fn place(&self, label: &str) -> Option<i32> {
        self.known.get(label).copied()
    }

    /// Returns the cell of a label in an answer of a channel.
    pub(crate) fn cell(&self, channel: usize, place: i32) -> Option<u16> {
        self.codes[channel].get(&place).copied()
    }
}
