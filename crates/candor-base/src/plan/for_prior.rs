//! What a plan gives for the prior that it was made for. The prior is part of the plan, and of its fingerprint.

use super::Block;
use crate::channel::Channel;

/// What a plan gives against somebody who guesses one attribute and knows how its categories are distributed. It
/// holds for this prior and for no other.
#[derive(Clone, Debug, PartialEq)]
pub struct ForPrior {
    /// The attribute's position in the schema.
    pub attribute: usize,
    /// The probabilities of its categories, up to a common factor: they count relative to their sum.
    pub prior: Vec<f64>,
    /// How often the best guess is wrong (Huang and Du 2008, eq. 8); certified, rounded down.
    pub map_privacy: f64,
    /// The largest probability that any answer gives any category (Huang and Du 2008, eq. 9); certified, rounded up.
    pub worst_posterior: f64,
}

/// A prior, as far as the fingerprint covers it.
pub(super) struct Known {
    /// The attribute's position in the schema.
    pub(super) attribute: usize,
    /// As [`ForPrior::prior`].
    pub(super) shares: Vec<f64>,
}

impl ForPrior {
    /// `None` unless the attribute is answered by one matrix of its own, and the prior fits it.
    pub(super) fn new(blocks: &[Block], attribute: usize, prior: Vec<f64>) -> Option<ForPrior> {
        let block = blocks.iter().find(|block| block.attributes == [attribute])?;
        let [(_, Channel::Matrix(matrix))] = &block.lottery[..] else { return None };
        let guess = matrix.guess(&prior)?;
        Some(ForPrior { attribute, prior, map_privacy: guess.map_privacy(), worst_posterior: guess.worst_posterior() })
    }
}
