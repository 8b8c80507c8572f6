//! Randomization of one record: from the true record and a plan to the response.
//!
//! [`Client`] draws the answers block by block from exactly the distributions that the plan certifies. Nothing else
//! leaves it. It reads random bytes in a documented order (docs/reference/sampling-algorithm.md), so others can
//! reproduce it. The crate `candor-bulk` randomizes data files.

use rand_core::TryCryptoRng;

use crate::channel::sampling::draw_weighted;
use crate::channel::{Answer, Channel, Sampler};
use crate::plan::{Block, Plan};

/// Answers one record at a time, reading bytes in the order of docs/reference/sampling-algorithm.md.
pub struct Client<'a> {
    plan: &'a Plan,
    blocks: Vec<(&'a Block, Vec<Sampler<'a>>)>,
}

/// One respondent's answers to one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockAnswer {
    /// The channel that the public lottery drew; `None` if there is only one channel.
    pub tag: Option<usize>,
    /// The answers.
    pub answers: Vec<Answer>,
}

impl<'a> Client<'a> {
    /// Creates a client that answers under this plan.
    pub fn new(plan: &'a Plan) -> Client<'a> {
        let samplers = |block: &'a Block| {
            let channels: Vec<&Channel> = block.channels().iter().map(|(_, channel)| channel).collect();
            (block, Sampler::of_lottery(&channels))
        };
        Client { plan, blocks: plan.blocks().iter().map(samplers).collect() }
    }

    /// Randomizes one record, given as one code per attribute of the schema.
    ///
    /// The codes of public attributes are ignored.
    ///
    /// # Errors
    /// Returns [`RandomizeError::Columns`] or [`RandomizeError::Category`] if the record does not fit the schema, and
    /// [`RandomizeError::Randomness`] if the generator fails.
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

/// The reason why records could not be randomized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RandomizeError {
    /// The number of columns differs from the number of attributes.
    #[error("{found} columns for {expected} attributes")]
    Columns {
        /// Number of columns given.
        found: usize,
        /// Number of attributes in the schema.
        expected: usize,
    },
    /// A column has the wrong length.
    #[error("the column of attribute {attribute} has {found} values, not {expected}")]
    Length {
        /// The attribute.
        attribute: usize,
        /// Number of values given.
        found: usize,
        /// Number of values expected.
        expected: usize,
    },
    /// A code is out of range. The message does not repeat the code, which may be a true value.
    #[error("a code of attribute {attribute} is out of range; it has {categories} categories")]
    Category {
        /// The attribute.
        attribute: usize,
        /// Its number of categories.
        categories: usize,
    },
    /// The source of randomness failed.
    #[error("the source of randomness failed ({0}); nothing was answered")]
    Randomness(String),
}
