//! The guarantee of a plan for the prior it was made for, which is part of the plan and of its fingerprint.

use super::Block;
use crate::channel::Channel;

/// The guarantee for one attribute against an adversary whose prior is the given one.
///
/// It holds for this prior only.
#[derive(Clone, Debug, PartialEq)]
pub struct ForPrior {
    /// The attribute's position in the schema.
    pub attribute: usize,
    /// Prior probabilities of its categories, up to a common factor.
    pub prior: Vec<f64>,
    /// Probability that the best guess is wrong (Huang and Du 2008, eq. 8); certified, rounded down.
    pub map_privacy: f64,
    /// Largest posterior of any category given any answer (Huang and Du 2008, eq. 9); certified, rounded up.
    pub worst_posterior: f64,
}

/// A prior, in the form that the fingerprint covers.
pub(super) struct Known {
    /// The attribute's position in the schema.
    pub(super) attribute: usize,
    /// The same as [`ForPrior::prior`].
    pub(super) shares: Vec<f64>,
}

impl ForPrior {
    /// Returns `None` unless one matrix answers the attribute alone, and the prior fits it.
    pub(super) fn new(blocks: &[Block], attribute: usize, prior: Vec<f64>) -> Option<ForPrior> {
        let block = blocks.iter().find(|block| block.attributes == [attribute])?;
        let [(_, Channel::Matrix(matrix))] = &block.lottery[..] else { return None };
        let guess = matrix.guess(&prior)?;
        Some(ForPrior { attribute, prior, map_privacy: guess.map_privacy(), worst_posterior: guess.worst_posterior() })
    }
}
