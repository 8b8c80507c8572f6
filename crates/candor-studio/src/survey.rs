//! An online survey: the folder for `candor-collect`, which runs as a separate program.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::PoisonError;

use candor::locale::QuestionText;
use candor::shell::program_file;
use serde_json::{Value, json};

use crate::open::Open;
use crate::problem::Problem;
use crate::project::ledger::{self, Draw, now};
use crate::project::texts::TextsFile;
use crate::project::{FIRST_LANGUAGE, PLAN, Project, RESPONSES, SURVEY, folder};
use crate::running::{Running, program};

/// Runs the program to its end and returns its output.
fn run(project: &Project, arguments: &[&str]) -> Result<String, Problem> {
    let output = program()?.args(arguments).current_dir(&project.folder).stdin(Stdio::null()).output();
    let output = output.map_err(|error| Problem::input(format!("candor-collect cannot be run: {error}")))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(Problem::input(format!("candor-collect: {}", text(&output.stderr)))),
    }
}

/// Writes the survey's folder if there is none, and serves it on this computer.
///
/// # Errors
/// Returns an error if the program is missing, or the survey cannot be served.
pub fn start(open: &Open, project: &Project) -> Result<(), Problem> {
    let plan = project.plan()?;
    if !project.plan_is_current() {
        return Err(Problem::first(
            "The plan is not the one that is asked for now. Keep a plan at the step Trade-off first.",
        ));
    }
    if project.draws.iter().any(|draw| draw.way == "survey") {
        return Err(Problem::locked("This survey is closed: its answers were fetched."));
    }
    if !project.folder.join(SURVEY).join("survey.toml").exists() {
        run(project, &["init", SURVEY, "--plan", PLAN])?;
        write_words(project, plan.schema())?;
        folder::forget(&project.folder)?;
    }
    let mut running = open.survey.lock().unwrap_or_else(PoisonError::into_inner);
    if running.is_none() {
        *running = Some(Running::serve(&project.folder, SURVEY)?);
    }
    Ok(())
}

/// Writes the wording of the questions into the survey.
fn write_words(project: &Project, schema: &candor_base::schema::Schema) -> Result<(), Problem> {
    let path = project.folder.join(SURVEY).join("survey.toml");
    let text = folder::read(&path)?.unwrap_or_default();
    let mut words: toml::Table = toml::from_str(&text).map_err(Problem::input)?;
    words.insert("title".to_owned(), project.title().into());
    let none = TextsFile::new(FIRST_LANGUAGE);
    let own = project.texts.get(FIRST_LANGUAGE).unwrap_or(&none);
    let questions: BTreeMap<&str, QuestionText> = schema
        .attributes()
        .iter()
        .filter_map(|attribute| Some((attribute.name(), own.questions.get(attribute.name())?.clone())))
        .collect();
    for (name, question) in questions {
        let place = words.get_mut("questions").and_then(|all| all.get_mut(name)).and_then(|one| one.as_table_mut());
        let Some(place) = place else { continue };
        place.insert("text".to_owned(), question.text.into());
        place.extend(question.help.map(|help| ("help".to_owned(), help.into())));
        let answers = place.entry("answers").or_insert_with(|| toml::Table::new().into()).as_table_mut();
        if let Some(answers) = answers {
            answers.extend(question.answers.into_iter().map(|(label, text)| (label, text.into())));
        }
    }
    folder::write(&path, toml::to_string(&words).map_err(Problem::input)?.as_bytes())
}

/// Stops serving. The survey can be started again.
pub fn pause(open: &Open) {
    *open.survey.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Closes the survey and fetches its responses, once.
///
/// # Errors
/// Returns an error if there is no survey, nobody answered, or the responses cannot be written.
pub fn fetch(open: &Open, project: &Project) -> Result<(), Problem> {
    if !project.folder.join(SURVEY).join("survey.toml").exists() {
        return Err(Problem::first("There is no survey yet."));
    }
    if project.folder.join(RESPONSES).exists() {
        return Err(Problem::locked("The answers of this survey were fetched already."));
    }
    pause(open);
    let count = responses(project)?;
    if count == 0 {
        return Err(Problem::first(
            "Nobody has answered yet. Start the survey again, and close it when people have answered.",
        ));
    }
    run(project, &["close", SURVEY])?;
    run(project, &["export", SURVEY, "--output", RESPONSES])?;
    let plan = project.plan()?;
    ledger::add(
        &project.folder,
        Draw {
            time: now(),
            data_sha256: None,
            plan: plan.fingerprint().as_str().to_owned(),
            epsilon: plan.guarantee().epsilon().finite(),
            records: count,
            way: "survey".to_owned(),
            kept: Vec::new(),
        },
    )
}

/// Returns the number of respondents.
fn responses(project: &Project) -> Result<u64, Problem> {
    let said = run(project, &["status", SURVEY])?;
    let line = said.lines().find(|line| line.contains(" responses")).unwrap_or_default();
    Ok(line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0))
}

/// Returns the state of the survey.
pub fn state(open: &Open, project: &Project) -> Value {
    let mut running = open.survey.lock().unwrap_or_else(PoisonError::into_inner);
    // Stopped from outside.
    if running.as_mut().is_some_and(Running::has_ended) {
        *running = None;
    }
    let address = running.as_ref().map(|one| one.address().to_owned());
    let exists = project.folder.join(SURVEY).join("survey.toml").exists();
    let installed = program_file("candor-collect").is_some();
    let fetched = project.draws.iter().any(|draw| draw.way == "survey");
    json!({"installed": installed, "exists": exists, "address": address, "fetched": fetched})
}

/// Returns the number of respondents, for the page that waits for them.
///
/// # Errors
/// Returns an error if the program cannot be run.
pub fn count(project: &Project) -> Result<Value, Problem> {
    Ok(json!({"responses": responses(project)?}))
}

/// Returns the folder of the survey.
pub fn folder_of(project: &Project) -> PathBuf {
    project.folder.join(SURVEY)
}
