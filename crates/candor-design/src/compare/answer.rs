//! What a respondent sends.

use candor::channel::Channel;
use candor::plan::{Content, Plan};

/// The size of a response, public attributes left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// How many columns it has, tags of lotteries among them.
    pub columns: usize,
    /// How many categories it names, the most there can be.
    pub categories: usize,
    /// The bits that tell one possible response from all others: the logarithm of their number.
    pub bits: f64,
}

/// The size of a response under a plan.
pub fn answer(plan: &Plan) -> Answer {
    let mut sum = Answer { columns: 0, categories: 0, bits: 0.0 };
    for column in plan.columns() {
        let (categories, possible) = match column.content {
            Content::Public { .. } => continue,
            Content::Tag { block } => (0, (plan.blocks()[block].channels().len() as f64).log2()),
            Content::Answer { block, place, ref labels, .. } => {
                let sizes = plan.blocks()[block].channels().iter().map(|(_, channel)| match channel {
                    Channel::Pattern(pattern) => pattern.axes()[place].answer,
                    Channel::Matrix(_) => 1,
                });
                let size = sizes.max().unwrap_or(1);
                (size, choices(labels.len(), size))
            }
        };
        sum.columns += 1;
        sum.categories += categories;
        sum.bits += possible;
    }
    sum
}

/// The binary logarithm of the number of sets of `size` out of `all`.
fn choices(all: usize, size: usize) -> f64 {
    (0..size).map(|i| ((all - i) as f64 / (i + 1) as f64).log2()).sum()
}
