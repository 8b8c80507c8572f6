//! What a plan gives for the prior that it was made for. The prior is part of the plan, and of its fingerprint.

use super::format::{FORMAT_VERSION, VERSION_1, fingerprint};
use super::{Block, Plan, PlanError};
use crate::channel::Channel;

/// What a plan gives against somebody who guesses one attribute and knows how its categories are distributed. It
/// holds for this prior and for no other.
#[derive(Clone, Debug, PartialEq)]
pub struct ForPrior {
    /// The attribute's position in the schema.
    pub attribute: usize,
    /// The probabilities of its categories, up to a common factor: they count relative to their sum.
    pub prior: Vec<f64>,
    /// How often the best guess is wrong (paper 001, eq. 8); certified, rounded down.
    pub map_privacy: f64,
    /// The largest probability that any answer gives any category (paper 001, eq. 9); certified, rounded up.
    pub worst_posterior: f64,
}

impl ForPrior {
    /// `None` unless the attribute is answered by one matrix of its own, and the prior fits it.
    fn of(blocks: &[Block], attribute: usize, prior: Vec<f64>) -> Option<ForPrior> {
        let block = blocks.iter().find(|block| block.attributes == [attribute])?;
        let [(_, Channel::Matrix(matrix))] = &block.lottery[..] else { return None };
        let guess = matrix.guess(&prior)?;
        Some(ForPrior { attribute, prior, map_privacy: guess.map_privacy(), worst_posterior: guess.worst_posterior() })
    }
}

impl Plan {
    /// The same plan with what it gives for one prior, computed from its integers. The fingerprint then covers the prior.
    ///
    /// # Errors
    /// If the attribute is not answered by one matrix of its own, or the prior does not fit it.
    pub fn with_prior(mut self, attribute: usize, prior: Vec<f64>) -> Result<Plan, PlanError> {
        self.for_prior = Some(ForPrior::of(&self.blocks, attribute, prior).ok_or(PlanError::Prior)?);
        self.version = FORMAT_VERSION;
        self.fingerprint = fingerprint(&self.schema, &self.blocks, self.for_prior.as_ref());
        Ok(self)
    }

    /// The same plan as version 1 wrote it, whose fingerprint does not cover the prior.
    pub(super) fn in_version_1(mut self) -> Plan {
        self.version = VERSION_1;
        self.fingerprint = fingerprint(&self.schema, &self.blocks, None);
        self
    }

    /// What the plan gives for the prior that it was made for, if it was made for one.
    pub fn for_prior(&self) -> Option<&ForPrior> {
        self.for_prior.as_ref()
    }

    /// Whether the fingerprint covers the prior that the plan was made for. That of a file of version 1 does not: its
    /// prior may have been exchanged without a trace.
    pub fn fingerprints_prior(&self) -> bool {
        self.for_prior.is_some() && self.version > VERSION_1
    }
}
