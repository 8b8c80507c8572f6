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
use candor_tables::responses::ResponseReader;
use serde_json::{Value, json};

use crate::admission::Outcome;
use crate::pages;
use crate::problem::Problem;
use crate::random::same_secret;
use crate::requests::{submission, token_request};
use crate::results::{Said, public_results, report_page, results};
use crate::store::Store;
use crate::survey::Survey;
use crate::tokens::{Evaluation, TokenKey};
use crate::writer::Desk;

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
    key: Option<TokenKey>,
    access: Access,
    /// What was said last about publication, to who has the token and to everybody.
    said: Said,
    said_to_all: Said,
    /// The public results, and of how many batches.
    public: Mutex<Option<(u64, Arc<str>)>>,
    /// When the current second began, and how many responses came in it.
    rate: Mutex<(Instant, u32)>,
}

/// Who sees what, and how.
#[derive(Clone, Debug)]
pub struct Access {
    /// Who knows it sees the results; without one nobody does.
    pub token: Option<String>,
    /// Whether a proxy in front speaks TLS.
    pub behind_proxy: bool,
}

impl Service {
    /// A service that stores through this desk, and gives out tokens if there is a key.
    pub fn new(survey: Arc<Survey>, desk: Desk, store: Store, key: Option<TokenKey>, access: Access) -> Service {
        let reader = ResponseReader::new(&survey.plan);
        let (said, said_to_all) = (Said::default(), Said::default());
        let (public, rate) = (Mutex::new(None), Mutex::new((Instant::now(), 0)));
        Service { survey, reader, desk, store, key, access, said, said_to_all, public, rate }
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
        let token = self.access.token.as_ref().ok_or_else(not_found)?;
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

fn not_found() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not-found", "there is no such page")
}

/// The routes of the service.
pub fn router(service: Service) -> Router {
    let typed = |kind: &'static str, text: String| {
        let text = Arc::<str>::from(text);
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text.to_string()) })
    };
    let survey = &service.survey;
    let key = service.key.as_ref().map(TokenKey::public);
    let (html, script, data) = ("text/html; charset=utf-8", "text/javascript; charset=utf-8", "application/json");
    Router::new()
        .route("/", typed(html, pages::survey_page(survey)))
        .route("/survey.json", typed(data, pages::survey_json(survey, key.as_deref()).to_string()))
        .route("/plan.json", typed(data, survey.plan_text.clone()))
        .route("/client.js", typed(script, pages::CLIENT.to_owned()))
        .route("/tokens.js", typed(script, pages::TOKENS.to_owned()))
        .route("/noble.js", typed(script, pages::NOBLE.to_owned()))
        .route("/survey.js", typed(script, pages::SURVEY_SCRIPT.to_owned()))
        .route("/results.js", typed(script, pages::RESULTS_SCRIPT.to_owned()))
        .route("/style.css", typed("text/css; charset=utf-8", pages::STYLE.to_owned()))
        .route("/offline.html", get(offline))
        .route("/responses", axum::routing::post(respond).options(preflight))
        .route("/tokens", axum::routing::post(give_token).options(preflight))
        .route("/results", get(results_page))
        .route("/public.json", get(public_json))
        .route("/report.html", get(report))
        .route("/results.json", get(results_json))
        .route("/responses.jsonl", get(download))
        .fallback(|| async { not_found() })
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

/// The body of a request, if it comes in time and is not too long.
async fn read_body(service: &Service, body: Body) -> Result<axum::body::Bytes, Problem> {
    service.admit()?;
    let late = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "slow", "the request took too long; please send it again");
    let large = |_| {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", format!("a request is at most {MOST_BYTES} bytes"))
    };
    tokio::time::timeout(BODY_TIME, to_bytes(body, MOST_BYTES)).await.map_err(late)?.map_err(large)
}

/// Reads, checks and stores a response.
async fn accept(service: &Service, body: Body) -> Result<Outcome, Problem> {
    let bytes = read_body(service, body).await?;
    let submission = submission(&service.survey, &service.reader, service.key.as_ref(), &bytes)?;
    let outcome = service.desk.submit(submission).await?;
    Problem::of_outcome(outcome).map_or(Ok(outcome), Err)
}

async fn give_token(State(service): State<Arc<Service>>, body: Body) -> Response {
    let answer = evaluate(&service, body).await.map(|Evaluation { evaluated, proof }| {
        let text = json!({"evaluated": evaluated, "proof": proof}).to_string();
        ([(header::CONTENT_TYPE, "application/json")], text).into_response()
    });
    ([FROM_ANYWHERE], answer.unwrap_or_else(Problem::into_response)).into_response()
}

/// Notes that the invitation is used, then seals the blinded token.
async fn evaluate(service: &Service, body: Body) -> Result<Evaluation, Problem> {
    let key = service.key.as_ref().ok_or_else(not_found)?;
    let (submission, blinded) = token_request(&read_body(service, body).await?)?;
    let evaluation = key.evaluate(&blinded).ok_or_else(|| {
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "blinded",
            "blinded is not an element of ristretto255, in hexadecimal digits",
        )
    })?;
    let outcome = service.desk.submit(submission).await?;
    Problem::of_outcome(outcome).map_or(Ok(evaluation), Err)
}

async fn offline(State(service): State<Arc<Service>>, headers: HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let address = format!("{}://{host}", if service.access.behind_proxy { "https" } else { "http" });
    let kind = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=survey.html"),
    ];
    (kind, pages::offline_page(&service.survey, service.key.as_ref().map(TokenKey::public).as_deref(), &address))
        .into_response()
}

async fn results_page(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    let seen = service.access.token.is_some() || service.survey.wording.public_results.is_some();
    let page = pages::results_page(&service.survey);
    seen.then(|| ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()).ok_or_else(not_found)
}

/// Computes something that takes a while, on a thread of its own.
async fn computed<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, candor_study::StudyError> + Send + 'static,
) -> Result<T, Problem> {
    let failed = |detail: String| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "results", detail);
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| failed(error.to_string()))?;
    done.map_err(|error| failed(error.to_string()))
}

fn as_json(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn results_json(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Problem> {
    service.check_token(&headers)?;
    let snapshot = service.desk.snapshot().await?;
    let shown: Value = computed(move || results(&service.survey, &snapshot, &service.said)).await?;
    Ok(as_json(shown.to_string()))
}

/// What is public; computed once for each number of batches.
async fn public_json(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    service.survey.wording.public_results.ok_or_else(not_found)?;
    let text = computed(move || {
        let published = service.desk.published();
        let mut known = service.public.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, text)) = known.as_ref().filter(|(batches, _)| *batches == published.batches) {
            return Ok(Arc::clone(text));
        }
        let text = Arc::<str>::from(public_results(&service.survey, &published, &service.said_to_all)?.to_string());
        *known = Some((published.batches, Arc::clone(&text)));
        Ok(text)
    });
    Ok(as_json(text.await?.to_string()))
}

async fn report(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Problem> {
    service.check_token(&headers)?;
    let snapshot = service.desk.snapshot().await?;
    let page = computed(move || report_page(&service.survey, &snapshot.tallies)).await?;
    Ok(([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response())
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
