//! Evaluates plans by every privacy criterion.
//!
//! The trusted base computes the certificate of a plan, its epsilons. This crate derives every other statement about
//! privacy from the same integers. A [`Criterion`] evaluates an [`AuditRequest`] (a plan, priors and requirements). The
//! [`CriterionResult`] has a value, a one-sentence explanation, and a judgment of the requirement.
//!
//! No criterion builds the matrix of complete records. Products are handled block by block, pattern channels by their
//! patterns, and the answers of one attribute by their own small channel.
//!
//! To add a criterion, write a file with one `static` [`Criterion`] and add it to [`CRITERIA`]. Audits in text and
//! JSON, requirements, their errors and the command's help all use that list.
#![forbid(unsafe_code)]

mod figures;
mod view;
mod channel_guess;
mod scope;
mod tied;
mod variables;
pub mod guess;
pub mod certain_disclosure;
mod breaking_prior;
mod criterion;
mod ldp;
mod parity;
mod beta_factor;
mod information_bounds;
mod rho;
mod l_diversity;
mod guessing;
mod map_privacy;
mod worst_posterior;
mod average_security;
mod mutual_information;
pub mod shuffle_model;

use std::str::FromStr;

pub use breaking_prior::BreakingPrior;
pub use criterion::{AuditRequest, Criterion, CriterionResult, Detail, Requirement, RequirementError, Rounding};
pub use figures::{at_least, at_most, times};
pub use information_bounds::belief_bounds;
pub use rho::largest_parity;

/// The criteria, in display order.
pub static CRITERIA: &[&Criterion] = &[
    &ldp::LDP,
    &parity::PARITY,
    &beta_factor::BETA_FACTOR,
    &rho::RHO,
    &information_bounds::INFORMATION_BOUNDS,
    &average_security::AVERAGE_SECURITY,
    &map_privacy::MAP_PRIVACY,
    &worst_posterior::WORST_POSTERIOR,
    &l_diversity::L_DIVERSITY,
    &guessing::GUESSING,
    &mutual_information::MUTUAL_INFORMATION,
];

/// Returns the criterion with this name.
pub fn criterion(name: &str) -> Option<&'static Criterion> {
    CRITERIA.iter().copied().find(|criterion| criterion.name == name)
}

/// Evaluates every criterion, in the order of [`CRITERIA`].
///
/// Information bounds that are required at several points have a result for each point.
pub fn audit(question: &AuditRequest<'_>) -> Vec<CriterionResult> {
    CRITERIA.iter().flat_map(|criterion| criterion.findings(question)).collect()
}

impl Criterion {
    /// Returns the results of this criterion: one, or one for each required point of information bounds.
    pub fn findings(&'static self, question: &AuditRequest<'_>) -> Vec<CriterionResult> {
        match *self == information_bounds::INFORMATION_BOUNDS {
            true => information_bounds::at_every_point(question),
            false => vec![(self.find)(question)],
        }
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    /// Parses a requirement such as `ldp=1`, `l-diversity=5` or `rho=0.1:0.5`.
    ///
    /// # Errors
    /// Returns [`RequirementError::Form`] if the text is not `name=number` or `name=number:number`,
    /// [`RequirementError::Name`] if there is no such criterion, and [`RequirementError::InvalidThreshold`] if the
    /// threshold is out of range.
    ///
    /// ```
    /// use candor_privacy::Requirement;
    ///
    /// let required: Requirement = "rho=0.1:0.5".parse()?;
    /// assert_eq!((required.name(), required.numbers()), ("rho", &[0.1, 0.5][..]));
    /// assert!("rho=0.5:0.1".parse::<Requirement>().unwrap_err().to_string().contains("rho1 below rho2"));
    /// # Ok::<(), candor_privacy::RequirementError>(())
    /// ```
    fn from_str(text: &str) -> Result<Requirement, RequirementError> {
        let form = || RequirementError::Form(text.to_owned());
        let (name, value) = text.split_once('=').ok_or_else(form)?;
        let name = name.trim();
        let known = || CRITERIA.iter().map(|criterion| criterion.name).collect::<Vec<_>>().join(", ");
        let found = criterion(name).ok_or_else(|| RequirementError::Name { name: name.to_owned(), known: known() })?;
        let numbers = value.split(':').map(|part| part.trim().parse::<f64>().map_err(|_| form()));
        found.requirement(&numbers.collect::<Result<Vec<f64>, _>>()?)
    }
}
