//! What is refused, and why.

use candor_analysis::adjust::AdjustError;
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

/// Why there is no result. Parameters are named in backticks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// Groups of an attribute that is randomized.
    #[error(
        "`by`: \"{name}\" is randomized, so its groups are not known; estimate a table instead: \
         `tables` \"{attribute},..\""
    )]
    NotPublic {
        /// What was named.
        name: String,
        /// The attribute that protects it.
        attribute: String,
    },
    /// Groups of an attribute that there is not.
    #[error("`by`: {0}")]
    NoAttribute(SchemaError),
    /// An attribute that both makes groups and is in a table, of counts that were made elsewhere.
    #[error("`by`, `where` or `benchmarks`: \"{0}\" is in a table, too; leave it out of one")]
    InTable(String),
    /// Counts that do not belong together.
    #[error("the counts are not those of this plan and these groups: {0}")]
    Counts(&'static str),
    /// Counts of another plan.
    #[error("Wrong plan: the counts were made with {found}, and the plan given is {expected}")]
    OtherPlan {
        /// The fingerprint of theirs.
        found: String,
        /// The fingerprint of the plan at hand.
        expected: String,
    },
    /// Tables that cannot be counted.
    #[error("`{parameter}`: {error}")]
    Tables {
        /// What asked for them.
        parameter: &'static str,
        /// What is wrong with them.
        error: TableListError,
    },
    /// A condition that is none.
    #[error("`where`: {0}")]
    Condition(ConditionError),
    /// A confidence that is none.
    #[error("`confidence` is {0}; it is a number above 0 and below 1, such as 0.95")]
    Confidence(f64),
    /// Parameters that do not go together.
    #[error("{0}")]
    Needs(&'static str),
    /// More than can be done, or less than is needed.
    #[error("{0}")]
    Refused(String),
    /// An epsilon was asked for that integers of 64 bits cannot give.
    #[error(
        "epsilon {asked} was asked for, but with weights of 64 bits only {certified:.4} can be given: the rarest \
         answer is too rare. Use fewer attributes or categories together, or another epsilon"
    )]
    OutOfReach {
        /// What was asked for.
        asked: f64,
        /// What is certified.
        certified: f64,
    },
    /// A plan that has no epsilon.
    #[error(
        "this plan has no finite epsilon: some answers rule out some truths. If that is meant, say `allow_unbounded`"
    )]
    Unbounded,
    /// A plan whose epsilon is beyond what protects anybody.
    #[error(
        "the record epsilon is {epsilon:.4}, beyond `max_epsilon {limit}`: an answer could be e^{epsilon:.0} times as \
         likely under one record as under another, which protects nobody"
    )]
    ProtectsNobody {
        /// What is certified.
        epsilon: f64,
        /// What is allowed.
        limit: f64,
    },
    /// A plan that guaranteed something whatever is known beforehand would no longer.
    #[error(
        "the plan guarantees epsilon {epsilon:.4} whatever is known beforehand; split answers would rule some truths \
         out and leave only the guarantee for this prior. If that is meant, say `allow_unbounded`"
    )]
    LosesEpsilon {
        /// What it guarantees.
        epsilon: f64,
    },
    /// Texts of one's own that cannot be used.
    #[error("texts: {0}")]
    Texts(String),
    /// A value that a parameter has not.
    #[error("`{parameter}` is \"{value}\"; it is one of {known}")]
    Choice {
        /// The parameter.
        parameter: &'static str,
        /// What was given.
        value: String,
        /// What it may be.
        known: String,
    },
    /// A number out of its range.
    #[error("`{name}` is {value}; {range}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// What is believed or required of a plan is wrong.
    #[error("`{parameter}`: {error}")]
    Requirement {
        /// What asked for it.
        parameter: &'static str,
        /// What is wrong with it.
        error: RequirementError,
    },
    /// No plan, or no front.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// Plans cannot be compared.
    #[error(transparent)]
    Blackwell(#[from] BlackwellError),
    /// Whoever waited for it ended the work.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Parties could not learn anything.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// A table cannot be estimated.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// A model cannot be fitted.
    #[error(transparent)]
    Regress(RegressError),
    /// Answers of a mechanism cannot be collected.
    #[error(transparent)]
    Draws(#[from] DrawsError),
    /// Answers cannot be given weights.
    #[error(transparent)]
    Adjust(#[from] AdjustError),
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

/// The most people that errors are told for.
const MAX_RESPONDENTS: f64 = 1e12;

/// Refuses a number of people that is none.
pub(crate) fn check_respondents(value: f64) -> Result<(), StudyError> {
    match (1.0..=MAX_RESPONDENTS).contains(&value) {
        true => Ok(()),
        false => Err(StudyError::Parameter { name: "respondents", value, range: "it is a number from 1 to 10^12" }),
    }
}

/// Refuses a confidence that is none.
pub(crate) fn check_confidence(confidence: f64) -> Result<(), StudyError> {
    match confidence > 0.0 && confidence < 1.0 {
        true => Ok(()),
        false => Err(StudyError::Confidence(confidence)),
    }
}
