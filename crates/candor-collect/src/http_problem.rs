//! Errors of requests as problem details (RFC 9457).

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use candor_tables::TableError;
use serde_json::json;

use crate::validation::Outcome;
use crate::writer::DeskError;

/// Problem details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// HTTP status.
    pub status: StatusCode,
    /// Last part of `urn:candor:problem:`.
    pub kind: &'static str,
    /// What is wrong, and what would be right.
    pub detail: String,
}

impl Problem {
    /// Creates a problem of this kind.
    pub fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Problem {
        Problem { status, kind, detail: detail.into() }
    }

    /// Returns the problem of an invalid response.
    pub fn of_response(error: &TableError) -> Problem {
        let kind = match error {
            TableError::Fingerprint { .. } => "fingerprint",
            TableError::MissingColumn { .. } => "missing-column",
            TableError::UnknownColumn { .. } => "unknown-column",
            TableError::InvalidValue(bad) if bad.column.starts_with("candor_tag") => "tag",
            TableError::InvalidValue(bad) if bad.value.starts_with("a set of ") => "set-size",
            TableError::InvalidValue(_) => "category",
            _ => "response",
        };
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, kind, error.to_string())
    }

    /// Returns the reason why a response was not stored; `None` if it was.
    pub fn of_outcome(outcome: Outcome) -> Option<Problem> {
        let (status, kind, detail) = match outcome {
            Outcome::Stored | Outcome::Again => return None,
            Outcome::Closed => (StatusCode::FORBIDDEN, "closed", "the survey is closed"),
            Outcome::UnknownId => (
                StatusCode::FORBIDDEN,
                "unknown-id",
                "this survey did not hand out that id; ask for one at /id and send again",
            ),
            Outcome::Full => (StatusCode::FORBIDDEN, "full", "the survey has as many answers as it needs"),
            Outcome::GroupFull => {
                (StatusCode::FORBIDDEN, "group-full", "the survey has as many answers of this group as it needs")
            }
            Outcome::TooEarly => (
                StatusCode::FORBIDDEN,
                "too-early",
                "tokens are still given out; answers are accepted once that is over",
            ),
            Outcome::TooLate => (StatusCode::FORBIDDEN, "too-late", "tokens are no longer given out"),
            Outcome::NoInvitation => (
                StatusCode::FORBIDDEN,
                "no-invitation",
                "this survey is for invited people; open the link you were sent",
            ),
            Outcome::UnknownInvitation => (
                StatusCode::FORBIDDEN,
                "unknown-invitation",
                "there is no such invitation; open the link you were sent",
            ),
            Outcome::UsedInvitation => {
                (StatusCode::FORBIDDEN, "used-invitation", "this invitation was used already; each can be used once")
            }
        };
        Some(Problem::new(status, kind, detail))
    }
}

impl From<DeskError> for Problem {
    fn from(error: DeskError) -> Problem {
        let kind = if error == DeskError::Busy { "busy" } else { "not-stored" };
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, kind, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Problem { status, kind, detail } = self.clone();
        let title = status.canonical_reason().unwrap_or_default();
        let body = json!({"type": format!("urn:candor:problem:{kind}"), "title": title, "status": status.as_u16(),
            "detail": detail});
        let mut response = (status, [(header::CONTENT_TYPE, "application/problem+json")], Body::from(body.to_string()))
            .into_response();
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        }
        // If a person asks, it becomes a page.
        response.extensions_mut().insert(self);
        response
    }
}
