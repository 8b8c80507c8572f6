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

    /// The problem of a file that was not kept: the file as the user knows it, and what to do.
    pub fn of_upload(mut self, path: &Path) -> Problem {
        if self.kind == "input" {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let text = self.text.replace(&path.display().to_string(), &name);
            self.text =
                format!("{}. Nothing was kept: correct the file, and choose it again.", text.trim_end_matches('.'));
        }
        self
    }

    /// Responses that cannot be counted.
    pub fn of_responses(error: impl Into<Problem>) -> Problem {
        let mut problem: Problem = error.into();
        if problem.kind == "input" {
            problem.text = format!("{}. Put back the responses of this study.", problem.text.trim_end_matches('.'));
        }
        problem
    }

    /// A step that must be done first.
    pub fn first(text: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, "first", text)
    }

    /// A change that is no longer possible.
    pub fn locked(text: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, "locked", text)
    }

    /// The user stopped it.
    pub fn stopped() -> Problem {
        Problem::new(StatusCode::CONFLICT, "stopped", "Stopped; nothing was changed.")
    }

    /// Something went wrong in the program itself.
    pub fn bug() -> Problem {
        let text = "Something went wrong in candor studio itself; the study's files are as they were. \
                    Please report what you did.";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", text)
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
            TableError::Cancelled(_) => Problem::stopped(),
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
