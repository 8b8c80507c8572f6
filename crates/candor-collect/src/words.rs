//! The texts of a survey page in one language, and the errors of a survey.

use std::collections::BTreeMap;
use std::path::PathBuf;

use candor::locale::{QuestionText, Texts};
use serde::{Deserialize, Serialize};

/// The texts of the page in one language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Words {
    /// The title of the survey.
    pub title: String,
    /// Introduction.
    pub introduction: String,
    /// Consent statement that respondents must accept, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<String>,
    /// Contact for questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// The questions, by attribute name.
    pub questions: BTreeMap<String, QuestionText>,
    /// Replaced texts of the page, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: Texts,
}

/// Reasons why a survey cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// A file cannot be read or written.
    #[error("cannot use {}: {error}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the file system.
        error: std::io::Error,
    },
    /// The plan cannot be read.
    #[error("{}: {message}", path.display())]
    Plan {
        /// Path of the file.
        path: PathBuf,
        /// Error message.
        message: String,
    },
    /// survey.toml is invalid, or does not fit the plan.
    #[error("survey.toml: {0}")]
    Wording(String),
    /// The folder already holds a survey.
    #[error("{} already contains a survey, whose answers would be lost", .0.display())]
    Exists(PathBuf),
}

/// Returns whether this has the form of a date.
pub(crate) fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let numbers = |part: &&str, length: usize| part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
    matches!(&parts[..], [y, m, d] if numbers(y, 4) && numbers(m, 2) && numbers(d, 2))
}

/// The default margin of error.
pub(crate) fn margin() -> f64 {
    0.03
}

/// Default number of responses that are settled together.
pub(crate) fn batch() -> usize {
    20
}

/// Default number of requests accepted per second.
pub(crate) fn per_second() -> u32 {
    5_000
}
