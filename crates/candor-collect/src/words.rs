//! The words of a survey page in one language, and what can be wrong with a survey.

use std::collections::BTreeMap;
use std::path::PathBuf;

use candor::locale::{QuestionText, Texts};
use serde::{Deserialize, Serialize};

/// What is written on the page in one language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Words {
    /// The title of the survey.
    pub title: String,
    /// What it is about.
    pub introduction: String,
    /// What respondents consent to, if they must say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<String>,
    /// Whom to ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// The questions, by the names of attributes.
    pub questions: BTreeMap<String, QuestionText>,
    /// Texts of the page that are to be others, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: Texts,
}

/// Why a survey cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// A file that cannot be read or written.
    #[error("cannot use {}: {error}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A plan that cannot be read.
    #[error("{}: {message}", path.display())]
    Plan {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A survey.toml that is none, or does not fit the plan.
    #[error("survey.toml: {0}")]
    Wording(String),
    /// A folder that holds a survey already.
    #[error("{} already contains a survey, whose answers would be lost", .0.display())]
    Exists(PathBuf),
}

/// Whether this is a day, as far as its signs tell.
pub(crate) fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let numbers = |part: &&str, length: usize| part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
    matches!(&parts[..], [y, m, d] if numbers(y, 4) && numbers(m, 2) && numbers(d, 2))
}

/// The default margin of error.
pub(crate) fn margin() -> f64 {
    0.03
}

/// The default number of responses that are settled together.
pub(crate) fn batch() -> usize {
    20
}

/// The default number of requests accepted in a second.
pub(crate) fn per_second() -> u32 {
    5_000
}
