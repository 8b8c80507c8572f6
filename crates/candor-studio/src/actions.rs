//! Actions on a study, by name; the page sends one request for each.

use std::sync::PoisonError;

use axum::http::StatusCode;
use candor::trade_off::{FIRST_STOP, position};
use candor_runtime::progress::ProgressSink;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::commands::{SCRIPT, script};
use crate::curve::Curve;
use crate::open::Open;
use crate::problem::Problem;
use crate::project::edit::Edit;
use crate::project::study::{Model, Wanted};
use crate::project::{FIRST_LANGUAGE, Project, folder};
use crate::shelf::Shelf;
use crate::state::state;
use crate::steps::{collect, data, promise, publish, results};
use crate::survey;

/// Performs an action and returns what the page shows next.
///
/// # Errors
/// Returns the reason if there is no such action, the request is invalid, or the action fails.
pub fn act(shelf: &Shelf, open: &Open, action: &str, body: &Value) -> Result<Value, Problem> {
    match action {
        // Requests that are answered while other work is in progress.
        "task" => return Ok(open.task.json()),
        "stop" => {
            open.task.stop();
            return Ok(Value::Null);
        }
        _ => {}
    }
    let _entered = open.enter();
    match action {
        "undo" => {
            Project::undo(&open.folder)?;
            open.read_again();
            changed(open)
        }
        "state" | "trade" | "promise" | "page" | "bins" | "estimates" | "compare" | "regression" | "checks"
        | "preview" | "points" | "ticket" | "responses" => look(shelf, open, action, body),
        _ => change(shelf, open, action, body),
    }
}

/// Returns a field of the request.
fn field<T: DeserializeOwned>(body: &Value, name: &str) -> Result<T, Problem> {
    serde_json::from_value(body[name].clone()).map_err(|error| {
        let why = error.to_string().replace('`', "\"");
        Problem::new(StatusCode::BAD_REQUEST, "request", format!("The field {name} is wrong: {why}."))
    })
}

/// Performs an action that changes nothing.
fn look(shelf: &Shelf, open: &Open, action: &str, body: &Value) -> Result<Value, Problem> {
    let project = Project::load(&open.folder)?;
    let json = |value: Result<Value, serde_json::Error>| value.map_err(Problem::input);
    match action {
        "trade" => trade(open, &project, body),
        "promise" => promise::promise(&project),
        "page" => {
            let language: String = field(body, "language")?;
            let name = format!("promise-{language}.html");
            let page = promise::page(&project, &language)?;
            let path = open.folder.join(&name);
            folder::write(&path, page.as_bytes())?;
            Ok(json!({"address": address(shelf, path)}))
        }
        "bins" => {
            data::preview_bins(open, &project, &field::<String>(body, "name")?, &field::<Vec<f64>>(body, "edges")?)
        }
        "estimates" => json(serde_json::to_value(results::estimates(open, &project)?)),
        "compare" => json(serde_json::to_value(results::compare(open, &project, &field::<Wanted>(body, "table")?)?)),
        "regression" => {
            json(serde_json::to_value(results::regression(open, &project, &field::<Model>(body, "model")?)?))
        }
        "checks" => publish::checks(open, &project),
        "preview" => {
            let path = open.folder.join("report.html");
            folder::write(&path, publish::preview(open, &project)?.page.html().as_bytes())?;
            Ok(json!({"address": address(shelf, path)}))
        }
        "points" => publish::points(open, &project),
        "responses" => survey::count(&project),
        "ticket" => {
            let file: String = field(body, "file")?;
            let path = published(open, &file)?;
            Ok(json!({"address": address(shelf, path)}))
        }
        _ => state(open, &project),
    }
}

/// Returns a file that the page may offer for download.
fn published(open: &Open, file: &str) -> Result<std::path::PathBuf, Problem> {
    let missing = || Problem::missing(format!("There is no file {file} to be shown."));
    let (place, name) = match file.strip_prefix("publication/") {
        Some(name) => (open.folder.join(publish::PUBLICATION), name),
        None => (open.folder.clone(), file),
    };
    crate::project::folder::check_name(name).map_err(|_| missing())?;
    let path = place.join(name);
    if !path.is_file() {
        return Err(missing());
    }
    folder::check_inside(&open.folder, &path).map(|()| path)
}

/// Returns the address at which the browser finds a file.
fn address(shelf: &Shelf, path: std::path::PathBuf) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    format!("{}{}/{name}", crate::guard::FILES, shelf.ticket(path))
}

/// Returns the trade-off at an epsilon, as far as it is computed.
fn trade(open: &Open, project: &Project, body: &Value) -> Result<Value, Problem> {
    let schema = project.schema()?;
    let wanted: Option<f64> = field(body, "epsilon")?;
    let epsilon = wanted.or(project.study.epsilon).unwrap_or(FIRST_STOP);
    let fine = epsilon.is_finite() && epsilon > 0.0;
    if !fine {
        return Err(Problem::input("Epsilon must be a number above 0, such as 2."));
    }
    if project.study.respondents.is_none() {
        return Err(Problem::first("Say how many people will answer."));
    }
    let options = project.study.trade_off();
    let options = options
        .ok_or_else(|| Problem::first("No tables are chosen. Tick at least one at the step What to publish."))?;
    let mut curve = open.curve.lock().unwrap_or_else(PoisonError::into_inner);
    if curve.as_ref().is_none_or(|curve| !curve.is_of(schema, &options)) {
        *curve = Some(Curve::start(schema.clone(), options, epsilon));
    }
    Ok(curve.as_ref().map_or(Value::Null, |curve| curve.look(epsilon)))
}

/// What changes the study's files: only from a window that knows them as they are.
fn change(shelf: &Shelf, open: &Open, action: &str, body: &Value) -> Result<Value, Problem> {
    let mut project = Project::load(&open.folder)?;
    if field::<u64>(body, "revision")? != project.study.revision {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "changed",
            "This study was changed in another window. You see it now as it is; \
             make your change again if it is still needed.",
        ));
    }
    match action {
        "edit" => {
            let edit: Edit = field(body, "edit")?;
            let overview = open.overview(&project)?;
            let summaries = overview.map_or(Vec::new(), |overview| overview.summaries());
            project.edit(edit, |name| summaries.iter().any(|one| one.name == name && one.missing > 0))?;
        }
        "infer" => data::infer(open, &mut project)?,
        "missing" => data::set_missing(open, &mut project, field(body, "words")?)?,
        "plan" => keep_plan(&mut project)?,
        "randomize" => {
            let confirmed: Option<String> = field(body, "confirmed")?;
            collect::randomize(open, &project, &shelf.folder, confirmed.as_deref())?;
        }
        "cards" => drop(collect::make_cards(&mut project)?),
        "survey-start" => survey::start(open, &project)?,
        "survey-pause" => survey::pause(open),
        "survey-fetch" => survey::fetch(open, &project)?,
        "publish" => {
            let done = publish::publish(open, &project)?;
            return Ok(json!({"done": done, "state": changed(open)?}));
        }
        _ => return Err(Problem::missing(format!("candor studio cannot \"{action}\"."))),
    }
    changed(open)
}

/// Returns the study after a change, and updates its script.
fn changed(open: &Open) -> Result<Value, Problem> {
    let project = Project::load(&open.folder)?;
    if let Some(Ok(_)) = &project.plan {
        folder::write(&open.folder.join(SCRIPT), script(&project)?.as_bytes())?;
    }
    state(open, &project)
}

/// Designs the requested plan, and stores it with the page for respondents.
fn keep_plan(project: &mut Project) -> Result<(), Problem> {
    let schema = project.schema()?;
    let options = project.study.trade_off();
    let options = options
        .ok_or_else(|| Problem::first("No tables are chosen. Tick at least one at the step What to publish."))?;
    let epsilon = project.study.epsilon.ok_or_else(|| Problem::first("Move the slider first."))?;
    let (_, design) = position(schema, epsilon, &options, ProgressSink::none())?;
    project.keep_plan(&design.plan)?;
    let page = promise::page(project, FIRST_LANGUAGE)?;
    folder::write(&project.folder.join(format!("promise-{FIRST_LANGUAGE}.html")), page.as_bytes())
}
