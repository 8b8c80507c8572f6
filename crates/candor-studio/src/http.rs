//! What the browser asks for: the page's files, studies, and files of studies by ticket.

use std::fs::File;
use std::future::poll_fn;
use std::io::Write;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path as UrlPath, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use candor_runtime::progress::Progress;
use hyper::body::Body as _;
use serde_json::{Value, json};

use crate::actions::act;
use crate::guard::{Guard, guarded};
use crate::open::Open;
use crate::pages;
use crate::problem::Problem;
use crate::project::{Project, RESPONSES};
use crate::shelf::Shelf;
use crate::steps::collect;
use crate::steps::data::{self, is_table, stem};
use crate::task::Task;

/// The answers that interviewers wrote down.
const ANSWERS: &str = "answers.csv";

/// The longest request that is no file.
const MAX_BYTES: usize = 1 << 22;

type Answer = Result<Response, Problem>;

/// All that can be asked for.
pub fn router(shelf: Arc<Shelf>, guard: Guard) -> Router {
    let mut router = Router::new();
    for &(path, kind, content) in pages::FILES {
        router = router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], content) }));
    }
    router
        .route("/words.json", get(words))
        .route("/files/{ticket}/{name}", get(file))
        .route("/api/studies", get(studies).post(create))
        .route("/api/upload/{name}", put(upload))
        .route("/api/arriving", get(arriving).delete(stop_arriving))
        .route("/api/study/{name}/answers", put(answers))
        .route("/api/study/{name}/{action}", post(action))
        .fallback(async || Problem::missing("There is no such page.").into_response())
        .with_state(shelf)
        .layer(from_fn_with_state(guard, guarded))
}

fn as_json(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// Does work that takes a while on a thread of its own.
async fn working<T: Send + 'static>(work: impl FnOnce() -> Result<T, Problem> + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Problem::bug())?
}

async fn words(headers: HeaderMap) -> Response {
    let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], pages::texts(wanted)).into_response()
}

async fn file(State(shelf): State<Arc<Shelf>>, UrlPath((ticket, _)): UrlPath<(String, String)>) -> Answer {
    let gone =
        || Problem::missing("This address is no longer valid. Go back to candor studio and open the file again.");
    let path = shelf.file_of(&ticket).ok_or_else(gone)?;
    working(move || {
        let content = std::fs::read(&path).map_err(|error| Problem::file(&path, error))?;
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let kind = match ending.as_str() {
            "html" => "text/html; charset=utf-8",
            "csv" | "md" | "sh" | "toml" => "text/plain; charset=utf-8",
            "json" => "application/json",
            "zip" => "application/zip",
            _ => "application/octet-stream",
        };
        Ok(([(header::CONTENT_TYPE, kind)], content).into_response())
    })
    .await
}

async fn studies(State(shelf): State<Arc<Shelf>>) -> Answer {
    working(move || Ok(as_json(&shelf.list()?))).await
}

/// A request's body as JSON.
async fn json_body(body: Body) -> Result<Value, Problem> {
    let wrong = |text: String| Problem::new(StatusCode::BAD_REQUEST, "request", text);
    let bytes =
        to_bytes(body, MAX_BYTES).await.map_err(|error| wrong(format!("The request cannot be read: {error}.")))?;
    serde_json::from_slice(&bytes).map_err(|error| wrong(format!("The request is not JSON: {error}.")))
}

/// Begins a study of questions that are written by hand.
async fn create(State(shelf): State<Arc<Shelf>>, body: Body) -> Answer {
    let body = json_body(body).await?;
    let name = body["name"].as_str().unwrap_or_default().to_owned();
    working(move || {
        let open = shelf.create(&name)?;
        let mut project = Project::load(&open.folder)?;
        project.study.title = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        project.save()?;
        crate::project::folder::forget(&open.folder)?;
        Ok(as_json(&json!({"name": open.name})))
    })
    .await
}

/// Begins a study of a table, which is copied into the study's folder as it comes.
async fn upload(State(shelf): State<Arc<Shelf>>, UrlPath(name): UrlPath<String>, body: Body) -> Answer {
    let file = Path::new(&name).file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !is_table(&file) || crate::project::folder::check_name(&file).is_err() {
        return Err(Problem::input(format!(
            "\"{file}\" is not a table that candor reads. Choose a CSV file (.csv, .csv.gz, .tsv) or a Parquet file \
             (.parquet); Excel and other programs can save one."
        )));
    }
    // A task of its own, which ends in order even if the browser is closed.
    tokio::spawn(arrive(shelf, free_name(file), body)).await.map_err(|_| Problem::bug())?
}

/// A study of a table that arrives. Nothing of a study that could not begin stays.
async fn arrive(shelf: Arc<Shelf>, file: String, body: Body) -> Answer {
    let open = {
        let (shelf, name) = (Arc::clone(&shelf), stem(&file).to_owned());
        working(move || shelf.create(&name)).await?
    };
    shelf.set_arriving(Some(&open));
    let study = Arc::clone(&open);
    let path = open.folder.join(&file);
    let done = match receive(body, &path, &open.task).await {
        Ok(()) => working(move || begin(&study, file)).await,
        Err(problem) => Err(problem),
    };
    shelf.set_arriving(None);
    match done {
        Ok(()) => Ok(as_json(&json!({"name": open.name}))),
        Err(problem) => {
            let _ = working(move || shelf.remove(&open)).await;
            Err(problem.of_upload(&path))
        }
    }
}

/// How far the table that arrives is.
async fn arriving(State(shelf): State<Arc<Shelf>>) -> Response {
    as_json(&shelf.arriving().map_or(Value::Null, |open| open.task.json()))
}

/// Ends reading the table that arrives.
async fn stop_arriving(State(shelf): State<Arc<Shelf>>) -> Response {
    if let Some(open) = shelf.arriving() {
        open.task.stop();
    }
    as_json(&Value::Null)
}

/// The name of a table in a study's folder, where files of the study have names of their own.
fn free_name(file: String) -> String {
    let taken = [RESPONSES, ANSWERS].iter().any(|name| file.eq_ignore_ascii_case(name));
    if taken { format!("table-{file}") } else { file }
}

/// A study of the file in its folder.
fn begin(open: &Open, file: String) -> Result<(), Problem> {
    let mut project = Project::load(&open.folder)?;
    project.study.data = Some(file);
    data::infer(open, &mut project)?;
    crate::project::folder::forget(&open.folder)
}

/// Writes what comes into a file, and tells how much came.
async fn receive(mut body: Body, path: &Path, task: &Task) -> Result<(), Problem> {
    let failed = |error: std::io::Error| Problem::file(path, error);
    let mut file = File::create(path).map_err(failed)?;
    let (total, mut came) = (body.size_hint().exact(), 0);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| Problem::input(format!("The file did not arrive completely: {error}.")))?;
        if let Ok(bytes) = frame.into_data() {
            tokio::task::block_in_place(|| file.write_all(&bytes)).map_err(failed)?;
            came += bytes.len() as u64;
            if !task.tell(Progress::new("bytes", came, total)) {
                return Err(Problem::stopped());
            }
        }
    }
    file.sync_all().map_err(failed)
}

/// Takes answers that interviewers wrote down.
async fn answers(State(shelf): State<Arc<Shelf>>, UrlPath(name): UrlPath<String>, body: Body) -> Answer {
    let open = {
        let shelf = Arc::clone(&shelf);
        working(move || shelf.open(&name)).await?
    };
    let path = open.folder.join(ANSWERS);
    receive(body, &path, &Task::default()).await?;
    working(move || {
        let _entered = open.enter();
        collect::import(&Project::load(&open.folder)?, &path)?;
        Ok(as_json(&crate::state::state(&open, &Project::load(&open.folder)?)?))
    })
    .await
}

async fn action(
    State(shelf): State<Arc<Shelf>>,
    UrlPath((name, action)): UrlPath<(String, String)>,
    body: Body,
) -> Answer {
    let body = json_body(body).await?;
    working(move || {
        let open = shelf.open(&name)?;
        Ok(as_json(&act(&shelf, &open, &action, &body)?))
    })
    .await
}
