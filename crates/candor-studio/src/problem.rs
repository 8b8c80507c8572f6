//! Errors as the page shows them: what failed, why, and what to do.

use std::fmt::Display;
use std::path::Path;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use candor::StudyError;
use candor_tables::TableError;
use serde_json::json;

/// A problem in one plain sentence or two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// HTTP status of the response.
    pub status: StatusCode,
    /// Code for programs.
    pub kind: &'static str,
    /// What is wrong and what to do.
    pub text: String,
}

impl Problem {
    /// A problem of this kind.
    pub fn new(status: StatusCode, kind: &'static str, text: impl Into<String>) -> Problem {
        Problem { status, kind, text: text.into() }
    }

    /// An invalid request or input.
    pub fn input(error: impl Display) -> Problem {
        // Libraries name their parameters in backticks.
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "input", error.to_string().replace('`', ""))
    }

    /// A file that cannot be used.
    pub fn file(path: &Path, error: impl Display) -> Problem {
        let text = format!("{} cannot be used: {error}. Check that the folder may be written to.", path.display());
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "file", text)
    }

    /// A step that must be done first.
    pub fn first(text: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, "first", text)
    }

    /// A change that is no longer possible.
    pub fn locked(text: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, "locked", text)
    }

    /// Something that does not exist.
    pub fn missing(text: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "missing", text)
    }
}

impl From<StudyError> for Problem {
    fn from(error: StudyError) -> Problem {
        Problem::input(error)
    }
}

impl From<TableError> for Problem {
    fn from(error: TableError) -> Problem {
        match error {
            TableError::Cancelled(_) => Problem::new(StatusCode::CONFLICT, "stopped", "Stopped; nothing was changed."),
            TableError::Fingerprint { .. } => Problem::new(
                StatusCode::CONFLICT,
                "other-plan",
                format!("{error}. Put back the responses of this study, or open the study they belong to."),
            ),
            error => Problem::input(error),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({"kind": self.kind, "text": self.text}).to_string();
        (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
    }
}
