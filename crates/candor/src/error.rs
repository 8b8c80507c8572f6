//! The error type of this crate.

use candor_analysis::adjust::{AdjustError, RakeError};
use candor_analysis::association::ProtocolError;
use candor_analysis::condition::ConditionError;
use candor_analysis::estimate::EstimateError;
use candor_analysis::mechanism::DrawsError;
use candor_analysis::regress::RegressError;
use candor_analysis::table_list::TableListError;
use candor_base::schema::SchemaError;
use candor_design::DesignError;
use candor_design::blackwell::BlackwellError;
use candor_design::pareto::FrontError;
use candor_privacy::RequirementError;
use candor_runtime::progress::Cancelled;

/// Error of a function of this crate. Messages name parameters in backticks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// Grouping by a randomized attribute.
    #[error(
        "`by`: \"{name}\" is randomized, so its groups are unknown; estimate a table instead: `tables` \
         \"{attribute},..\""
    )]
    NotPublic {
        /// The requested name.
        name: String,
        /// The randomized attribute that contains it.
        attribute: String,
    },
    /// Grouping by an unknown attribute.
    #[error("`by`: {0}")]
    NoAttribute(SchemaError),
    /// An attribute that is used both for groups or conditions and in a table of precomputed counts.
    #[error("`by`, `where` or `benchmarks`: \"{0}\" is also in a table; remove it from one of them")]
    InTable(String),
    /// Inconsistent counts.
    #[error("the counts do not match this plan and these groups: {0}")]
    Counts(&'static str),
    /// Counts made with another plan.
    #[error("Wrong plan: the counts were made with {found}, and the plan given is {expected}")]
    OtherPlan {
        /// Fingerprint in the counts.
        found: String,
        /// Fingerprint of the given plan.
        expected: String,
    },
    /// Invalid or uncountable tables.
    #[error("`{parameter}`: {error}")]
    Tables {
        /// The parameter that requested them.
        parameter: &'static str,
        /// The reason.
        error: TableListError,
    },
    /// Invalid condition.
    #[error("`where`: {0}")]
    Condition(ConditionError),
    /// Invalid confidence level.
    #[error("invalid `confidence`: {0}; expected a number above 0 and below 1, such as 0.95")]
    Confidence(f64),
    /// Parameters that are missing, invalid, or cannot be combined.
    #[error("{0}")]
    InvalidParameter(&'static str),
    /// A request that exceeds a limit or cannot be satisfied.
    #[error("{0}")]
    Refused(String),
    /// An epsilon that 64-bit integers cannot reach.
    #[error(
        "epsilon {asked} cannot be reached: with weights of 64 bits the limit is {certified:.4}, because the rarest \
         answer is too rare. Use fewer attributes or categories together, or another epsilon"
    )]
    OutOfReach {
        /// Requested epsilon.
        asked: f64,
        /// Certified epsilon.
        certified: f64,
    },
    /// A plan without a finite epsilon.
    #[error(
        "this plan has no finite epsilon: some answers rule out some true values. If that is intended, use \
         `allow_unbounded`"
    )]
    Unbounded,
    /// A plan whose epsilon is too large to protect anybody.
    #[error(
        "the record-level epsilon is {epsilon:.4}, beyond `max_epsilon {limit}`: an answer could be e^{epsilon:.0} \
         times as likely under one record as under another, which protects nobody"
    )]
    ProtectsNobody {
        /// Certified epsilon.
        epsilon: f64,
        /// Largest accepted epsilon.
        limit: f64,
    },
    /// A refinement that would lose the plan's guarantee for every prior.
    #[error(
        "the plan guarantees epsilon {epsilon:.4} for every prior; split answers would rule out some true values and \
         leave only the guarantee for this prior. If that is intended, use `allow_unbounded`"
    )]
    LosesEpsilon {
        /// Epsilon of the given plan.
        epsilon: f64,
    },
    /// Invalid custom texts.
    #[error("texts: {0}")]
    Texts(String),
    /// An unknown value of a parameter.
    #[error("invalid `{parameter}`: \"{value}\"; expected one of {known}")]
    Choice {
        /// The parameter.
        parameter: &'static str,
        /// The given value.
        value: String,
        /// The valid values.
        known: String,
    },
    /// A number out of range.
    #[error("`{name}` is {value}; {range}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The valid range.
        range: &'static str,
    },
    /// An invalid prior or requirement.
    #[error("`{parameter}`: {error}")]
    Requirement {
        /// The parameter.
        parameter: &'static str,
        /// What is wrong with it.
        error: RequirementError,
    },
    /// Failure of a design or a Pareto front.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// Failure of a comparison of two plans.
    #[error(transparent)]
    Blackwell(#[from] BlackwellError),
    /// Cancelled by the caller.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Failure of a protocol between parties.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// Failure of an estimate.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// Failure of a regression.
    #[error(transparent)]
    Regress(RegressError),
    /// Failure of an audit of a mechanism.
    #[error(transparent)]
    Draws(#[from] DrawsError),
    /// Failure of raking.
    #[error(transparent)]
    Adjust(AdjustError),
}

impl From<AdjustError> for StudyError {
    fn from(error: AdjustError) -> StudyError {
        match error {
            AdjustError::Rake(RakeError::Cancelled(cancelled)) => StudyError::Cancelled(cancelled),
            other => StudyError::Adjust(other),
        }
    }
}

impl From<RegressError> for StudyError {
    fn from(error: RegressError) -> StudyError {
        match error {
            RegressError::Cancelled(cancelled) => StudyError::Cancelled(cancelled),
            other => StudyError::Regress(other),
        }
    }
}

impl From<FrontError> for StudyError {
    fn from(error: FrontError) -> StudyError {
        StudyError::Design(error.into())
    }
}

/// Maximum number of respondents for predicted errors.
const MAX_RESPONDENTS: f64 = 1e12;

/// Rejects an invalid number of respondents.
pub(crate) fn check_respondents(value: f64) -> Result<(), StudyError> {
    match (1.0..=MAX_RESPONDENTS).contains(&value) {
        true => Ok(()),
        false => Err(StudyError::Parameter { name: "respondents", value, range: "it is a number from 1 to 10^12" }),
    }
}

/// Rejects an invalid confidence level.
pub(crate) fn check_confidence(confidence: f64) -> Result<(), StudyError> {
    match confidence > 0.0 && confidence < 1.0 {
        true => Ok(()),
        false => Err(StudyError::Confidence(confidence)),
    }
}
