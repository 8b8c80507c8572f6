//! Plans that were made for a prior.

use super::for_prior::{ForPrior, Known};
use super::format::fingerprint;
use super::{FORMAT_VERSION, Plan, PlanError, VERSION_1};

impl Plan {
    /// Returns the plan with its guarantee for one prior, computed from its integers.
    ///
    /// The fingerprint then covers the prior.
    ///
    /// # Errors
    /// Returns [`PlanError::Prior`] if no single matrix answers the attribute alone, or if the prior does not fit it.
    pub fn with_prior(mut self, attribute: usize, prior: Vec<f64>) -> Result<Plan, PlanError> {
        let known = Known { attribute, shares: prior.clone() };
        self.for_prior = Some(ForPrior::new(&self.blocks, attribute, prior).ok_or(PlanError::Prior)?);
        self.version = FORMAT_VERSION;
        self.fingerprint = fingerprint(&self.schema, &self.blocks, Some(&known));
        Ok(self)
    }

    /// Returns the plan in the form of version 1, whose fingerprint does not cover the prior.
    pub(super) fn in_version_1(mut self) -> Plan {
        self.version = VERSION_1;
        self.fingerprint = fingerprint(&self.schema, &self.blocks, None);
        self
    }

    /// Returns the guarantee for the prior that the plan was made for, if any.
    pub fn for_prior(&self) -> Option<&ForPrior> {
        self.for_prior.as_ref()
    }

    /// Returns whether the fingerprint covers the prior that the plan was made for.
    ///
    /// In files of version 1 it does not, so a changed prior would go unnoticed there.
    pub fn fingerprints_prior(&self) -> bool {
        self.for_prior.is_some() && self.version > VERSION_1
    }
}
