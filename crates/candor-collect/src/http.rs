//! What browsers see: pages, the plan, and the door for responses.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use candor_tables::responses::{ResponseReader, response_line};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::pages;
use crate::problem::Problem;
use crate::random::{hash, same_secret};
use crate::results::results;
use crate::store::Store;
use crate::survey::Survey;
use crate::writer::{Desk, Outcome, Submission};

/// The longest body of a request.
const MOST_BYTES: usize = 1 << 20;

/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(15);

/// How many responses are handed out over HTTP at most; `export` hands out all.
const MOST_DOWNLOADED: i64 = 200_000;

/// What all requests share.
pub struct Service {
    survey: Arc<Survey>,
    reader: ResponseReader,
    desk: Desk,
    store: Store,
    /// Who knows it sees the results; without one nobody does.
    token: Option<String>,
    /// Whether a proxy in front speaks TLS.
    behind_proxy: bool,
    /// When the current second began, and how many responses came in it.
    rate: Mutex<(Instant, u32)>,
}

impl Service {
    /// A service that stores through this desk.
    pub fn new(survey: Arc<Survey>, desk: Desk, store: Store, token: Option<String>, behind_proxy: bool) -> Service {
        let reader = ResponseReader::new(&survey.plan);
        Service { survey, reader, desk, store, token, behind_proxy, rate: Mutex::new((Instant::now(), 0)) }
    }

    /// Counts a response against the limit of the second.
    fn admit(&self) -> Result<(), Problem> {
        let mut rate = self.rate.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if rate.0.elapsed() >= Duration::from_secs(1) {
            *rate = (Instant::now(), 0);
        }
        rate.1 += 1;
        match rate.1 > self.survey.wording.per_second {
            true => Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too-many",
                "too many answers at once; please send it again",
            )),
            false => Ok(()),
        }
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let none = || Problem::new(StatusCode::NOT_FOUND, "not-found", "there is no such page");
        let token = self.token.as_ref().ok_or_else(none)?;
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        match given.and_then(|given| given.strip_prefix("Bearer ")).is_some_and(|given| same_secret(given, token)) {
            true => Ok(()),
            false => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "token",
                "the token behind # in the address is not the one of this survey",
            )),
        }
    }
}

/// The routes of the service.
pub fn router(service: Service) -> Router {
    let typed = |kind: &'static str, text: String| {
        let text = Arc::<str>::from(text);
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text.to_string()) })
    };
    let survey = &service.survey;
    let (html, script, data) = ("text/html; charset=utf-8", "text/javascript; charset=utf-8", "application/json");
    Router::new()
        .route("/", typed(html, pages::survey_page(survey)))
        .route("/survey.json", typed(data, pages::survey_json(survey).to_string()))
        .route("/plan.json", typed(data, survey.plan_text.clone()))
        .route("/client.js", typed(script, pages::CLIENT.to_owned()))
        .route("/survey.js", typed(script, pages::SURVEY_SCRIPT.to_owned()))
        .route("/results.js", typed(script, pages::RESULTS_SCRIPT.to_owned()))
        .route("/style.css", typed("text/css; charset=utf-8", pages::STYLE.to_owned()))
        .route("/offline.html", get(offline))
        .route("/responses", axum::routing::post(respond).options(preflight))
        .route("/results", get(results_page))
        .route("/results.json", get(results_json))
        .route("/responses.jsonl", get(download))
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "not-found", "there is no such page") })
        .layer(from_fn(guard))
        .with_state(Arc::new(service))
}

/// What every answer says: nothing from elsewhere runs here, nothing is kept, nothing is told to others.
async fn guard(request: axum::extract::Request, next: Next) -> Response {
    const ALWAYS: [(HeaderName, &str); 6] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    let mut response = next.run(request).await;
    for (name, value) in ALWAYS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What a client sends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    id: String,
    #[serde(default)]
    invitation: Option<String>,
    response: Map<String, Value>,
}

/// A page that was saved to a file has no origin: it may send responses all the same, and read whether they were stored.
const FROM_ANYWHERE: (HeaderName, &str) = (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");

async fn preflight() -> Response {
    let allowed = [
        FROM_ANYWHERE,
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
    ];
    (StatusCode::NO_CONTENT, allowed).into_response()
}

async fn respond(State(service): State<Arc<Service>>, body: Body) -> Response {
    let stored = accept(&service, body).await;
    let answer = stored.map(|outcome| {
        let status = if outcome == Outcome::Stored { StatusCode::CREATED } else { StatusCode::OK };
        (status, [(header::CONTENT_TYPE, "application/json")], json!({"stored": true}).to_string()).into_response()
    });
    ([FROM_ANYWHERE], answer.unwrap_or_else(Problem::into_response)).into_response()
}

/// Reads, checks and stores a response.
async fn accept(service: &Service, body: Body) -> Result<Outcome, Problem> {
    service.admit()?;
    let late = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "slow", "the request took too long; please send it again");
    let large = |_| {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", format!("a request is at most {MOST_BYTES} bytes"))
    };
    let bytes = tokio::time::timeout(BODY_TIME, to_bytes(body, MOST_BYTES)).await.map_err(late)?.map_err(large)?;
    let submission = submission(&service.survey, &service.reader, &bytes)?;
    let outcome = service.desk.submit(submission).await?;
    Problem::of_outcome(outcome).map_or(Ok(outcome), Err)
}

/// Reads and checks the body of a request.
///
/// # Errors
/// What is wrong with it, each fault of its own kind.
pub fn submission(survey: &Survey, reader: &ResponseReader, bytes: &[u8]) -> Result<Submission, Problem> {
    let bad = |detail: &str| Problem::new(StatusCode::BAD_REQUEST, "body", detail);
    // The message of the parser may quote values.
    let Sent { id, invitation, response } = serde_json::from_slice(bytes).map_err(|error| {
        bad(&format!("not JSON with id and response (line {}, column {})", error.line(), error.column()))
    })?;
    if id.len() != 32 || !id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(bad("the id is 32 lower-case hexadecimal digits, drawn by chance"));
    }
    let batch = reader.read(response).map_err(|error| Problem::of_response(&error))?;
    let line = response_line(&survey.plan, &batch, 0);
    Ok(Submission { id: hash(&id), invitation: invitation.map(|code| hash(&code)), line })
}

async fn offline(State(service): State<Arc<Service>>, headers: HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let address = format!("{}://{host}", if service.behind_proxy { "https" } else { "http" });
    let kind = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=survey.html"),
    ];
    (kind, pages::offline_page(&service.survey, &address)).into_response()
}

async fn results_page(State(service): State<Arc<Service>>) -> Response {
    match &service.token {
        Some(_) => {
            ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], pages::results_page(&service.survey)).into_response()
        }
        None => Problem::new(StatusCode::NOT_FOUND, "not-found", "there is no such page").into_response(),
    }
}

async fn results_json(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Problem> {
    service.check_token(&headers)?;
    let snapshot = service.desk.snapshot().await?;
    let survey = Arc::clone(&service.survey);
    let failed = |detail: String| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "results", detail);
    let computed = tokio::task::spawn_blocking(move || results(&survey, &snapshot)).await;
    let shown = computed.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], shown.to_string()).into_response())
}

async fn download(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Problem> {
    service.check_token(&headers)?;
    let failed = |detail: String| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "download", detail);
    let page = service.store.page(0, MOST_DOWNLOADED + 1).await.map_err(|error| failed(error.to_string()))?;
    if page.len() as i64 > MOST_DOWNLOADED {
        return Err(failed(format!(
            "more than {MOST_DOWNLOADED} responses; candor-collect export hands out all of them"
        )));
    }
    let lines: String = page.into_iter().flat_map(|(_, line)| [line, "\n".to_owned()]).collect();
    Ok(([(header::CONTENT_TYPE, "application/jsonl")], lines).into_response())
}
