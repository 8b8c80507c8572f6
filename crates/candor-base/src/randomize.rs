//! Randomizing one record: from a respondent's truth and a plan to the answers that are sent.
//!
//! [`Client`] reads random bytes in the documented order (docs/reference/sampling-algorithm.md), and draws from exactly
//! the distributions that the plan certifies. Whole tables are the crate `candor-bulk`.

use rand_core::TryCryptoRng;

use crate::channel::sampling::draw_weighted;
use crate::channel::{Answer, Channel, Sampler};
use crate::plan::{Block, Plan};

/// Answers one record at a time, in the order of bytes that docs/reference/sampling-algorithm.md specifies.
pub struct Client<'a> {
    plan: &'a Plan,
    blocks: Vec<(&'a Block, Vec<Sampler<'a>>)>,
}

/// One respondent's answers to one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockAnswer {
    /// The channel that the public lottery drew; `None` if there is one channel only.
    pub tag: Option<usize>,
    /// The answers.
    pub answers: Vec<Answer>,
}

impl<'a> Client<'a> {
    /// Prepares a plan.
    pub fn new(plan: &'a Plan) -> Client<'a> {
        let samplers = |block: &'a Block| {
            let channels: Vec<&Channel> = block.channels().iter().map(|(_, channel)| channel).collect();
            (block, Sampler::of_lottery(&channels))
        };
        Client { plan, blocks: plan.blocks().iter().map(samplers).collect() }
    }

    /// Answers for one record: one code per attribute of the schema (what stands for public
    /// attributes does not matter).
    ///
    /// # Errors
    /// If the record does not fit the schema, or the source of randomness fails.
    pub fn answer<R: TryCryptoRng + ?Sized>(
        &self,
        record: &[u16],
        rng: &mut R,
    ) -> Result<Vec<BlockAnswer>, RandomizeError> {
        let attributes = self.plan.schema().attributes();
        if record.len() != attributes.len() {
            return Err(RandomizeError::Columns { found: record.len(), expected: attributes.len() });
        }
        for attribute in self.plan.schema().randomized() {
            let categories = attributes[attribute].categories().len();
            if usize::from(record[attribute]) >= categories {
                return Err(RandomizeError::Category { attribute, categories });
            }
        }
        let failed = |error: R::Error| RandomizeError::Randomness(error.to_string());
        let mut answers = Vec::with_capacity(self.blocks.len());
        for (block, samplers) in &self.blocks {
            let drawn = draw_weighted(block.channels().iter().map(|&(weight, _)| weight), rng).map_err(failed)?;
            let truth: Vec<u16> = block.attributes().iter().map(|&attribute| record[attribute]).collect();
            let answer = samplers[drawn].draw(&truth, rng).map_err(failed)?;
            answers.push(BlockAnswer { tag: block.has_tag().then_some(drawn), answers: answer });
        }
        Ok(answers)
    }
}

/// Why records could not be randomized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RandomizeError {
    /// Another number of columns than attributes.
    #[error("{found} columns for {expected} attributes")]
    Columns {
        /// Columns given.
        found: usize,
        /// Attributes of the schema.
        expected: usize,
    },
    /// Columns of different lengths.
    #[error("the column of attribute {attribute} has {found} values, not {expected}")]
    Length {
        /// Which attribute.
        attribute: usize,
        /// Values given.
        found: usize,
        /// Values needed.
        expected: usize,
    },
    /// A code beyond the categories. The value itself is not repeated here.
    #[error("a code of attribute {attribute} is out of range; it has {categories} categories")]
    Category {
        /// Which attribute.
        attribute: usize,
        /// How many categories it has.
        categories: usize,
    },
    /// The source of randomness failed.
    #[error("the source of randomness failed ({0}); nothing was answered")]
    Randomness(String),
}
