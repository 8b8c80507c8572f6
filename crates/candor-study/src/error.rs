//! What is refused, and why.

use candor::schema::SchemaError;
use candor_analysis::adjust::AdjustError;
use candor_analysis::condition::ConditionError;
use candor_analysis::dependence::ProtocolError;
use candor_analysis::estimate::EstimateError;
use candor_analysis::table_list::TableListError;

/// Why there is no result. Parameters are named in backticks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// Groups of an attribute that is randomized.
    #[error(
        "`by`: \"{name}\" is randomized, so its groups are not known; estimate a table instead: `tables` \"{attribute},..\""
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
    /// Counts that do not belong together.
    #[error("the counts are not those of this plan and these groups: {0}")]
    Counts(&'static str),
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
    /// Parties could not learn anything.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// A table cannot be estimated.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// Answers cannot be given weights.
    #[error(transparent)]
    Adjust(#[from] AdjustError),
}

/// Refuses a confidence that is none.
pub(crate) fn check_confidence(confidence: f64) -> Result<(), StudyError> {
    match confidence > 0.0 && confidence < 1.0 {
        true => Ok(()),
        false => Err(StudyError::Confidence(confidence)),
    }
}
