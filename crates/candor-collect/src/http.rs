//! The HTTP interface: pages, the plan, and the endpoint for responses.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use candor_tables::responses::ResponseReader;
use serde_json::{Value, json};

use crate::http_problem::Problem;
use crate::ids::IdKey;
use crate::pages::{self, PAGES};
use crate::random::same_secret;
use crate::repeated::Repeated;
use crate::requests::{submission, token_request};
use crate::results::{CachedStatement, public_results, report_page, results};
use crate::senders::{Sender, Senders};
use crate::server::Busy;
use crate::store::Store;
use crate::survey::Survey;
use crate::tokens::{Evaluation, TokenKey};
use crate::validation::Outcome;
use crate::writer::WriterHandle;

/// Maximum size of a request body in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Maximum time to receive a request body.
const BODY_TIME: Duration = Duration::from_secs(15);

/// Maximum number of responses that can be downloaded over HTTP; `export` has no limit.
const MAX_DOWNLOADED: i64 = 200_000;

/// State shared by all requests.
pub struct Service {
    survey: Arc<Survey>,
    reader: ResponseReader,
    desk: WriterHandle,
    store: Store,
    keys: Keys,
    access: Access,
    /// Counts of identical responses.
    repeated: Arc<Repeated>,
    /// The latest statements about publication, for the holder of the token and for everybody.
    said: CachedStatement,
    said_to_all: CachedStatement,
    /// The public results, and the number of their batches.
    public: Mutex<Option<(u64, Arc<str>)>>,
    /// Number of requests of each sender in the current second.
    senders: Mutex<Senders>,
    /// Contents of the survey page, which can be reloaded while the service runs.
    shown: RwLock<Shown>,
    /// Number of responses by the first digit of their HTTP status.
    answered: [AtomicU64; 6],
}

/// The texts of the survey page, as read and as sent to the page.
#[derive(Clone)]
struct Shown {
    survey: Arc<Survey>,
    json: Arc<str>,
}

/// The keys of a survey.
pub struct Keys {
    /// Key of the tokens, if the survey issues any.
    pub tokens: Option<TokenKey>,
    /// Key of the response IDs.
    pub ids: IdKey,
}

/// Access settings.
#[derive(Clone, Debug)]
pub struct Access {
    /// Token that gives access to the results; without one nobody has access.
    pub token: Option<String>,
    /// Whether a proxy in front terminates TLS.
    pub behind_proxy: bool,
    /// Public address of the survey, for saved pages; `None` behind a proxy, unless survey.toml specifies it.
    pub address: Option<String>,
}

impl Service {
    /// Creates a service that stores responses through `desk`, and issues tokens if there is a key.
    pub fn new(survey: Arc<Survey>, desk: WriterHandle, store: Store, keys: Keys, access: Access) -> Service {
        let reader = ResponseReader::new(&survey.plan);
        let (said, said_to_all) = (CachedStatement::default(), CachedStatement::default());
        let senders = Mutex::new(Senders::new(survey.wording.per_second));
        let shown = RwLock::new(Shown::new(Arc::clone(&survey), keys.tokens.as_ref()));
        let (public, answered) = (Mutex::new(None), Default::default());
        let repeated = Arc::default();
        Service {
            survey,
            reader,
            desk,
            store,
            keys,
            access,
            repeated,
            said,
            said_to_all,
            public,
            senders,
            shown,
            answered,
        }
    }

    /// Reloads the texts of the survey page: languages, texts, and questions with their order. Other settings take
    /// effect at the next start.
    ///
    /// # Errors
    /// Returns the reason why the texts stay unchanged: survey.toml cannot be read, or the plan has changed.
    pub fn reload(&self) -> Result<(), String> {
        let read = Survey::read(&self.survey.folder).map_err(|error| error.to_string())?;
        if read.plan.fingerprint() != self.survey.plan.fingerprint() {
            return Err("plan.json is not the plan that is being served".to_owned());
        }
        let survey = Arc::new(self.survey.with_words_of(read.wording));
        let shown = Shown::new(survey, self.keys.tokens.as_ref());
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = shown;
        Ok(())
    }

    fn shown(&self) -> Shown {
        self.shown.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a request against the limits of the current second. The sender is the last address that the proxy
    /// reports; without a proxy all senders are local.
    fn admit(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let named = headers.get("x-forwarded-for").and_then(|list| list.to_str().ok()?.rsplit(',').next());
        let named = named.filter(|_| self.access.behind_proxy).and_then(|last| last.trim().parse::<IpAddr>().ok());
        let sender = named.map(Sender::from);
        let admitted = self.senders.lock().unwrap_or_else(PoisonError::into_inner).admit(sender, Instant::now());
        match admitted {
            false => Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too-many",
                "too many requests at once; please send it again in a second",
            )),
            true => Ok(()),
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

impl Shown {
    fn new(survey: Arc<Survey>, key: Option<&TokenKey>) -> Shown {
        let json = Arc::from(pages::survey_json(&survey, key.map(TokenKey::public).as_deref()).to_string());
        Shown { survey, json }
    }
}

fn not_found() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not-found", "there is no such page")
}

/// Returns the routes of the service.
pub fn router(service: Arc<Service>) -> Router {
    let typed =
        |kind: &'static str, text: &'static str| get(move || async move { ([(header::CONTENT_TYPE, kind)], text) });
    let (html, script, data) = ("text/html; charset=utf-8", "text/javascript; charset=utf-8", "application/json");
    let plan = Arc::<str>::from(service.survey.plan_text.as_str());
    Router::new()
        .route("/", typed(html, &PAGES.survey))
        .route("/survey.js", typed(script, &PAGES.script))
        .route("/tokens.js", typed(script, &PAGES.tokens))
        .route("/style.css", typed("text/css; charset=utf-8", PAGES.style))
        .route("/results.js", typed(script, PAGES.results_script))
        .route("/client.js", typed(script, pages::CLIENT))
        .route("/plan.json", get(move || async move { ([(header::CONTENT_TYPE, data)], plan.to_string()) }))
        .route(
            "/survey.json",
            get(async |State(service): State<Arc<Service>>| as_json(service.shown().json.to_string())),
        )
        .route("/offline.html", get(offline))
        .route("/id", get(new_id))
        .route("/responses", axum::routing::post(respond).options(preflight))
        .route("/tokens", axum::routing::post(give_token).options(preflight))
        .route("/results", get(results_page))
        .route("/public.json", get(public_json))
        .route("/report.html", get(report))
        .route("/results.json", get(results_json))
        .route("/responses.jsonl", get(download))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/version", get(version))
        .route("/metrics", get(metrics))
        .fallback(|| async { not_found() })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this address is not used with this method")
        })
        .layer(from_fn_with_state(Arc::clone(&service), guard))
        .with_state(service)
}

/// Draws an ID for a response before its contents are known. The ID is not stored until the response arrives.
async fn new_id(State(service): State<Arc<Service>>) -> Response {
    ([FROM_ANYWHERE], as_json(json!({"id": service.keys.ids.draw()}).to_string())).into_response()
}

/// Reports whether responses can be stored.
async fn ready(State(service): State<Arc<Service>>) -> Result<&'static str, Problem> {
    let failed = |detail: String| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", detail);
    service.store.is_closed().await.map_err(|error| failed(error.to_string()))?;
    match service.desk.is_writing() {
        true => Ok("ready\n"),
        false => Err(failed("responses are not stored any more; the server is ending".to_owned())),
    }
}

async fn version(State(service): State<Arc<Service>>) -> Response {
    let (fingerprint, page) = (service.survey.plan.fingerprint().as_str(), &PAGES.hash);
    let shown = json!({"version": env!("CARGO_PKG_VERSION"), "fingerprint": fingerprint, "page_sha256": page});
    as_json(shown.to_string())
}

/// Returns metrics in Prometheus format. They require the token, because totals reveal when somebody answered.
async fn metrics(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Problem> {
    service.check_token(&headers)?;
    let snapshot = service.desk.snapshot().await?;
    let mut text = String::new();
    let mut put = |name: &str, kind: &str, help: &str, rows: &[(String, u64)]| {
        text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        rows.iter().for_each(|(labels, value)| text.push_str(&format!("{name}{labels} {value}\n")));
    };
    let one = |value: u64| vec![(String::new(), value)];
    put("candor_responses", "gauge", "Responses that are stored.", &one(snapshot.tallies.responses()));
    put("candor_responses_waiting", "gauge", "Responses that wait for their batch.", &one(snapshot.waiting));
    put("candor_survey_closed", "gauge", "1 once the survey is closed.", &one(snapshot.closed.into()));
    let statuses: Vec<(String, u64)> = (2..6)
        .map(|digit| (format!("{{status=\"{digit}xx\"}}"), service.answered[digit].load(Ordering::Relaxed)))
        .collect();
    put("candor_http_requests_total", "counter", "Requests that were answered, by status.", &statuses);
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

/// Adds the security headers of every response: no foreign code, no caching, no referrer. Turns an error into a page if
/// the request asks for HTML.
async fn guard(State(service): State<Arc<Service>>, request: axum::extract::Request, next: Next) -> Response {
    const ALWAYS: [(HeaderName, &str); 6] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'none'; base-uri \
             'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    let accepts = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let by_person = request.method() == Method::GET && accepts.is_some_and(|accept| accept.contains("text/html"));
    let accepted = request.headers().get(header::ACCEPT_LANGUAGE).and_then(|list| list.to_str().ok());
    let accepted = accepted.unwrap_or_default().to_owned();
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions().get::<Problem>().filter(|_| by_person) {
        let page = match problem.status {
            StatusCode::NOT_FOUND => pages::missing_page(&service.shown().survey, &accepted),
            status => pages::problem_page(status, &problem.detail),
        };
        let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
        response = (problem.status, kind, page).into_response();
    }
    let digit = usize::from(response.status().as_u16() / 100).min(5);
    service.answered[digit].fetch_add(1, Ordering::Relaxed);
    for (name, value) in ALWAYS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A saved page has no origin; it may still send responses and read whether they were stored.
const FROM_ANYWHERE: (HeaderName, &str) = (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");

async fn preflight() -> Response {
    let allowed = [
        FROM_ANYWHERE,
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
    ];
    (StatusCode::NO_CONTENT, allowed).into_response()
}

async fn respond(
    State(service): State<Arc<Service>>,
    Extension(busy): Extension<Busy>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let stored = accept(&service, &busy, &headers, body).await;
    let answer = stored.map(|outcome| {
        let status = if outcome == Outcome::Stored { StatusCode::CREATED } else { StatusCode::OK };
        (status, [(header::CONTENT_TYPE, "application/json")], json!({"stored": true}).to_string()).into_response()
    });
    ([FROM_ANYWHERE], answer.unwrap_or_else(Problem::into_response)).into_response()
}

/// Reads the body of a request within the limits of time and size.
async fn read_body(
    service: &Service,
    busy: &Busy,
    headers: &HeaderMap,
    body: Body,
) -> Result<axum::body::Bytes, Problem> {
    service.admit(headers)?;
    let late = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "slow", "the request took too long; please send it again");
    let large =
        |_| Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", format!("a request is at most {MAX_BYTES} bytes"));
    let read = tokio::time::timeout(BODY_TIME, to_bytes(body, MAX_BYTES)).await.map_err(late)?.map_err(large)?;
    busy.0.store(true, Ordering::Relaxed);
    Ok(read)
}

/// Reads, checks and stores a response.
async fn accept(service: &Service, busy: &Busy, headers: &HeaderMap, body: Body) -> Result<Outcome, Problem> {
    let bytes = read_body(service, busy, headers, body).await?;
    let Keys { tokens, ids } = &service.keys;
    let submission = submission(&service.survey, &service.reader, tokens.as_ref(), ids, &bytes)?;
    let outcome = service.desk.submit(submission).await?;
    Problem::of_outcome(outcome).map_or(Ok(outcome), Err)
}

async fn give_token(
    State(service): State<Arc<Service>>,
    Extension(busy): Extension<Busy>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let answer = evaluate(&service, &busy, &headers, body).await.map(|Evaluation { evaluated, proof }| {
        let text = json!({"evaluated": evaluated, "proof": proof}).to_string();
        ([(header::CONTENT_TYPE, "application/json")], text).into_response()
    });
    ([FROM_ANYWHERE], answer.unwrap_or_else(Problem::into_response)).into_response()
}

/// Records that the invitation is used, then evaluates the blinded token.
async fn evaluate(service: &Service, busy: &Busy, headers: &HeaderMap, body: Body) -> Result<Evaluation, Problem> {
    let key = service.keys.tokens.as_ref().ok_or_else(not_found)?;
    let (submission, blinded) = token_request(&read_body(service, busy, headers, body).await?)?;
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

/// Returns the survey as one file. It sends to the address in the settings, because the host of a request can be
/// forged.
async fn offline(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    let missing = "there is no page to be saved: survey.toml does not specify the address of the survey (address \
                   = \"https://...\")";
    let address = service.access.address.as_deref();
    let address = address.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "no-address", missing))?;
    let kind = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=survey.html"),
    ];
    let key = service.keys.tokens.as_ref().map(TokenKey::public);
    Ok((kind, pages::offline_page(&service.shown().survey, key.as_deref(), address)).into_response())
}

async fn results_page(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    let seen = service.access.token.is_some() || service.survey.wording.public_results.is_some();
    let page = PAGES.results.as_str();
    seen.then(|| ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()).ok_or_else(not_found)
}

/// Runs a long computation on a thread of its own.
async fn computed<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, candor::StudyError> + Send + 'static,
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
    let repeated = service.repeated.times(&service.survey, &service.store, &snapshot).await;
    let shown: Value = computed(move || results(&service.survey, &snapshot, repeated, &service.said)).await?;
    Ok(as_json(shown.to_string()))
}

/// Returns the public results; they are computed once per number of batches.
async fn public_json(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    service.survey.wording.public_results.ok_or_else(not_found)?;
    let text = computed(move || {
        let published = service.desk.published();
        let mut known = service.public.lock().unwrap_or_else(PoisonError::into_inner);
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
    let repeated = service.repeated.times(&service.survey, &service.store, &snapshot).await;
    let page = computed(move || report_page(&service.survey, &snapshot.tallies, repeated)).await?;
    Ok(([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response())
}

async fn download(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Problem> {
    service.check_token(&headers)?;
    let failed = |detail: String| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "download", detail);
    let page = service.store.page(0, MAX_DOWNLOADED + 1).await.map_err(|error| failed(error.to_string()))?;
    if page.len() as i64 > MAX_DOWNLOADED {
        return Err(failed(format!(
            "more than {MAX_DOWNLOADED} responses; candor-collect export hands out all of them"
        )));
    }
    let lines: String = page.into_iter().flat_map(|(_, line)| [line, "\n".to_owned()]).collect();
    Ok(([(header::CONTENT_TYPE, "application/jsonl")], lines).into_response())
}
