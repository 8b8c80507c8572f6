//! What a user requires of a plan, one threshold per criterion.

use std::fmt;

/// A threshold on one criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Requirement {
    /// Record epsilon at most this.
    Ldp(f64),
    /// Parity at most this.
    Parity(f64),
    /// No probability grows or shrinks by more than this factor.
    BetaFactor(f64),
    /// Nothing at most `rho1` probable becomes more than `rho2` probable, and the other way round.
    Rho {
        /// The lower probability.
        rho1: f64,
        /// The higher one.
        rho2: f64,
    },
    /// Something of probability `event` stays between `low` and `high`.
    InformationBounds {
        /// The probability before.
        event: f64,
        /// The least probability after.
        low: f64,
        /// The greatest probability after.
        high: f64,
    },
    /// phi-average security at this phi.
    AverageSecurity(f64),
    /// MAP privacy at least this.
    MapPrivacy(f64),
    /// Worst posterior at most this.
    WorstPosterior(f64),
    /// At least so many categories stay equally plausible.
    LDiversity(usize),
    /// Guessing right with probability at most this.
    Guessing(f64),
    /// At most so many bits of information.
    MutualInformation(f64),
}

impl Requirement {
    /// The criterion's name.
    pub fn name(&self) -> &'static str {
        match self {
            Requirement::Ldp(_) => "ldp",
            Requirement::Parity(_) => "parity",
            Requirement::BetaFactor(_) => "beta-factor",
            Requirement::Rho { .. } => "rho",
            Requirement::InformationBounds { .. } => "information-bounds",
            Requirement::AverageSecurity(_) => "average-security",
            Requirement::MapPrivacy(_) => "map-privacy",
            Requirement::WorstPosterior(_) => "worst-posterior",
            Requirement::LDiversity(_) => "l-diversity",
            Requirement::Guessing(_) => "guessing",
            Requirement::MutualInformation(_) => "mutual-information",
        }
    }
}

impl fmt::Display for Requirement {
    /// The value as it is written after the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::Rho { rho1, rho2 } => write!(f, "{rho1}:{rho2}"),
            Requirement::InformationBounds { event, low, high } => write!(f, "{event}:{low}:{high}"),
            Requirement::LDiversity(l) => write!(f, "{l}"),
            Requirement::Ldp(x)
            | Requirement::Parity(x)
            | Requirement::BetaFactor(x)
            | Requirement::AverageSecurity(x)
            | Requirement::MapPrivacy(x)
            | Requirement::WorstPosterior(x)
            | Requirement::Guessing(x)
            | Requirement::MutualInformation(x) => write!(f, "{x}"),
        }
    }
}

/// Why a requirement or a prior does not go with a plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequirementError {
    /// Two thresholds on one criterion.
    #[error("{0} is required twice; give one threshold for each criterion")]
    Twice(&'static str),
    /// More categories than any attribute has.
    #[error(
        "l-diversity={l}: \"{attribute}\" has only {categories} categories; l is from 2 to the number of categories"
    )]
    TooDiverse {
        /// What was required.
        l: usize,
        /// The attribute with the fewest categories.
        attribute: String,
        /// How many it has.
        categories: usize,
    },
    /// A prior for an attribute that is not randomized, or not there.
    #[error("there is no randomized attribute \"{0}\" to have a prior")]
    NoAttribute(String),
    /// Not a distribution over the attribute's categories.
    #[error("the prior of \"{attribute}\": {problem}")]
    Prior {
        /// Which attribute.
        attribute: String,
        /// What is wrong.
        problem: String,
    },
}
