//! Parsing and validation of requests; each fault has its own kind.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use candor_base::plan::Plan;
use candor_tables::responses::{ResponseReader, response_line};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::http_problem::Problem;
use crate::ids::IdKey;
use crate::random::hash;
use crate::survey::Survey;
use crate::tokens::{TokenKey, token_tags};
use crate::validation::{Response, Submission};

/// Number of hexadecimal digits of an ID; in surveys with tokens the ID is the token.
const ID_DIGITS: usize = 32;
const TOKEN_DIGITS: usize = 64;

/// A response with its ID and its invitation or token.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    id: String,
    #[serde(default)]
    invitation: Option<String>,
    /// Value of the token.
    #[serde(default)]
    token: Option<String>,
    response: Map<String, Value>,
}

/// An invitation and the blinded token to evaluate for it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    invitation: String,
    blinded: String,
}

fn bad(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "body", detail)
}

/// The message of the parser may quote values, so only the position is reported.
fn not_json(expected: &str, error: &serde_json::Error) -> Problem {
    bad(format!("not JSON with {expected} (line {}, column {})", error.line(), error.column()))
}

/// Reads and validates a response.
///
/// # Errors
/// Returns the problem, each fault with its own kind.
pub fn submission(
    survey: &Survey,
    reader: &ResponseReader,
    key: Option<&TokenKey>,
    ids: &IdKey,
    bytes: &[u8],
) -> Result<Submission, Problem> {
    let Sent { id, invitation, token, response } =
        serde_json::from_slice(bytes).map_err(|error| not_json("id and response", &error))?;
    let digits = if key.is_some() { TOKEN_DIGITS } else { ID_DIGITS };
    if id.len() != digits || !id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(bad(format!("the id is {digits} lower-case hexadecimal digits, as /id hands them out")));
    }
    let refused = |kind, detail: &str| Err(Problem::new(StatusCode::FORBIDDEN, kind, detail));
    match (key, &token) {
        (Some(_), None) => {
            return refused("no-token", "this survey is answered with a token; get one with your invitation");
        }
        (Some(key), Some(value)) if !key.is_value(&id, value) => {
            return refused("invalid-token", "this token was not given out for this survey");
        }
        (None, Some(_)) => return Err(bad("this survey has no tokens")),
        _ => {}
    }
    if let (Some(_), Some(value)) = (key, &token)
        && !follows(&survey.plan, value, &response)
    {
        let detail = "the channel of a response follows from its token, and this is another one";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "tag", detail));
    }
    let label = |name: &String| Some((name.clone(), response.get(name)?.as_str()?.to_owned()));
    let groups: BTreeMap<String, String> = survey.wording.quotas.keys().filter_map(label).collect();
    let codes = reader.read(response).map_err(|error| Problem::of_response(&error))?;
    let response = Some(Response { line: response_line(&survey.plan, &codes, 0), codes });
    // In surveys with tokens, an invitation that is sent anyway is ignored.
    let invitation = invitation.filter(|_| key.is_none()).map(|code| hash(&code));
    let handed_out = key.is_some() || ids.is_own(&id);
    Ok(Submission { id: hash(&id), handed_out, invitation, response, groups })
}

/// Returns whether the channels named in a response are those of its token.
fn follows(plan: &Plan, value: &str, response: &Map<String, Value>) -> bool {
    let tags = token_tags(plan, value);
    let tags: Vec<u64> = tags.into_iter().flatten().map(u64::from).collect();
    let name = |number: usize| if number == 0 { "candor_tag".to_owned() } else { format!("candor_tag_{}", number + 1) };
    tags.iter().enumerate().all(|(number, tag)| response.get(&name(number)).and_then(Value::as_u64) == Some(*tag))
}

/// Reads a request for a token; returns what to record, and the blinded token.
///
/// # Errors
/// Returns the problem if the request is invalid.
pub fn token_request(bytes: &[u8]) -> Result<(Submission, String), Problem> {
    let Asked { invitation, blinded } =
        serde_json::from_slice(bytes).map_err(|error| not_json("invitation and blinded", &error))?;
    // A repeated request gets the same reply, because the first reply may have been lost.
    let id = hash(&format!("{invitation} {blinded}"));
    let submission = Submission {
        id,
        handed_out: true,
        invitation: Some(hash(&invitation)),
        response: None,
        groups: BTreeMap::new(),
    };
    Ok((submission, blinded))
}
