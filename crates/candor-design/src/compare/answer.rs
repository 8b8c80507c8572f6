//! Size of a response.

use candor_base::channel::{Channel, Strip};
use candor_base::plan::{Block, Content, Plan};

/// Size of a response, without public attributes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Number of columns, including channel IDs.
    pub columns: usize,
    /// Largest number of categories that a response names; a cell of a strip names one category per attribute.
    pub categories: usize,
    /// Binary logarithm of the number of possible responses.
    ///
    /// For strips it is the smaller of two counts: sets of this many cells, and relabelings.
    pub bits: f64,
}

/// Returns the size of a response under a plan.
pub fn answer(plan: &Plan) -> Answer {
    let is_public = |content: &Content| matches!(content, Content::Public { .. });
    let columns = plan.columns().iter().filter(|column| !is_public(&column.content)).count();
    let categories = |block: &Block| block.channels().iter().map(|(_, channel)| named(channel)).max().unwrap_or(0);
    Answer {
        columns,
        categories: plan.blocks().iter().map(categories).sum(),
        bits: plan
            .blocks()
            .iter()
            .map(|block| together(block.channels().iter().map(|(_, channel)| bits(channel))))
            .sum(),
    }
}

/// Returns the number of categories that an answer names.
fn named(channel: &Channel) -> usize {
    match channel {
        Channel::Matrix(_) => 1,
        Channel::Pattern(pattern) => pattern.axes().iter().map(|axis| axis.answer).sum(),
        Channel::Strip(strip) => strip.members().len() * strip.places().len(),
    }
}

/// Returns the binary logarithm of the number of answers.
fn bits(channel: &Channel) -> f64 {
    match channel {
        Channel::Matrix(matrix) => (matrix.labels().len() as f64).log2(),
        Channel::Pattern(pattern) => pattern.axes().iter().map(|axis| choices(axis.categories, axis.answer)).sum(),
        Channel::Strip(strip) => choices(strip.table().cells(), strip.members().len()).min(relabellings(strip)),
    }
}

/// Returns the binary logarithm of a sum of powers of two.
fn together(exponents: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = exponents.clone().fold(0.0, f64::max);
    most + exponents.map(|bits| (bits - most).exp2()).sum::<f64>().log2()
}

/// Returns the binary logarithm of the number of sets of `size` out of `all`.
fn choices(all: usize, size: usize) -> f64 {
    (0..size).map(|i| ((all - i) as f64 / (i + 1) as f64).log2()).sum()
}

/// Returns the binary logarithm of the number of relabelings of all attributes of a strip.
fn relabellings(strip: &Strip) -> f64 {
    strip.table().sizes().iter().flat_map(|&size| 2..=size).map(|factor| (factor as f64).log2()).sum()
}
