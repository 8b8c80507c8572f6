//! Plans that were made for a prior.

use super::for_prior::{ForPrior, Known};
use super::format::fingerprint;
use super::{FORMAT_VERSION, Plan, PlanError, VERSION_1};

impl Plan {
    /// The same plan with what it gives for one prior, computed from its integers. The fingerprint then covers the
    /// prior.
    ///
    /// # Errors
    /// If the attribute is not answered by one matrix of its own, or the prior does not fit it.
    pub fn with_prior(mut self, attribute: usize, prior: Vec<f64>) -> Result<Plan, PlanError> {
        let known = Known { attribute, shares: prior.clone() };
        self.for_prior = Some(ForPrior::new(&self.blocks, attribute, prior).ok_or(PlanError::Prior)?);
        self.version = FORMAT_VERSION;
        self.fingerprint = fingerprint(&self.schema, &self.blocks, Some(&known));
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
