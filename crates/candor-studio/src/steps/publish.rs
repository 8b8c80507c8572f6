//! The publication folder: the report, its tables, the plan, the methods and the commands.

use candor::estimate::{EstimateOptions, Table};
use candor::evidence::{evidence, markdown, read_survey};
use candor::report::points::{filled_point, proposed_points, reference};
use candor::report::{Report, ReportOptions, report, tables};
use candor::rows::rows;
use candor_runtime::progress::ProgressSink;
use candor_tables::estimates::{Layout, estimates_csv};
use serde_json::{Value, json};

use super::results::{asked, count, regression};
use super::{promise, results};
use crate::archive::zip;
use crate::commands::{SCRIPT, script};
use crate::open::Open;
use crate::problem::Problem;
use crate::project::texts::file_name;
use crate::project::{FIRST_LANGUAGE, PLAN, Project, RESPONSES, SURVEY, folder};
use crate::survey;

/// Name of the folder.
pub const PUBLICATION: &str = "publication";

/// The same files in one.
pub const ARCHIVE: &str = "publication.zip";

/// Returns the report as it would be published now.
///
/// # Errors
/// Returns an error if there are no responses, no table is chosen, or texts do not match the plan.
pub fn preview(open: &Open, project: &Project) -> Result<Report, Problem> {
    let plan = project.plan()?;
    let (asked, wanted) = asked(project, plan)?;
    let counts = count(open, project, plan, &tables(plan, &asked, &wanted)?)?;
    let models = &project.study.models;
    let regressions = models.iter().map(|model| regression(open, project, model)).collect::<Result<_, _>>()?;
    let commands = crate::commands::commands(project, &[]).of_report();
    let language = project.study.languages.first().map_or(FIRST_LANGUAGE, String::as_str);
    let options = ReportOptions::default()
        .title(project.title())
        .commands(commands)
        .regressions(regressions)
        .language(project.language(language, plan.schema())?);
    Ok(report(plan, &counts, &asked, &wanted, &options, ProgressSink::none())?)
}

/// The main points as they are written and as they will be read, those that candor proposes, and the shares that points
/// can name.
///
/// # Errors
/// As [`preview`], but for what is wrong with a point: that is told with it.
pub fn points(open: &Open, project: &Project) -> Result<Value, Problem> {
    let plan = project.plan()?;
    let language = project.language(FIRST_LANGUAGE, plan.schema())?;
    let estimates = results::estimates(open, project)?;
    let own = project.texts.get(FIRST_LANGUAGE).and_then(|texts| texts.points.clone());
    let written = own.clone().unwrap_or_default();
    let points: Vec<Value> = written
        .iter()
        .map(|point| match filled_point(point, &estimates, &language) {
            Ok(read) => json!({"text": point, "read": read}),
            Err(error) => json!({"text": point, "problem": Problem::input(error).text}),
        })
        .collect();
    let tables = estimates.tables.iter().filter(|table| table.group.is_empty());
    let shares = tables.flat_map(|table| table.cells.iter().map(|cell| reference(table, cell)));
    let shares: Vec<Value> = shares
        .filter_map(|share| {
            let read = filled_point(&share, &estimates, &language).ok()?;
            Some(json!({"share": share, "read": read}))
        })
        .collect();
    Ok(json!({
        "own": own.is_some(),
        "points": points,
        "proposed": proposed_points(&estimates, &language),
        "shares": shares,
    }))
}

/// Writes the publication folder and the same files into one zip file; returns the names of the files.
///
/// # Errors
/// Returns the errors of [`preview`], and an error if a file cannot be written.
pub fn publish(open: &Open, project: &Project) -> Result<Value, Problem> {
    let plan = project.plan()?;
    let report = preview(open, project)?;
    let estimates = results::estimates(open, project)?;
    let attributes: Vec<String> = plan.schema().attributes().iter().map(|a| a.name().to_owned()).collect();
    let survey = survey::folder_of(project);
    let asked = survey.join("survey.toml").exists().then(|| read_survey(&survey, plan)).transpose()?;
    let language = project.language(FIRST_LANGUAGE, plan.schema())?;
    let methods = markdown(&evidence(plan, asked.as_deref(), &language)?.page);
    let script = script(project)?;
    let to = project.folder.join(PUBLICATION);
    folder::make(&to)?;
    folder::check_inside(&project.folder, &to)?;
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut put = |name: &str, content: &[u8]| {
        files.push((name.to_owned(), content.to_vec()));
        folder::write(&to.join(name), content)
    };
    put("report.html", report.page.html().as_bytes())?;
    put("tables.csv", estimates_csv(&rows(&estimates), Layout::Columns(&attributes), false).as_bytes())?;
    put(PLAN, plan.to_json().as_bytes())?;
    put("methods.md", methods.as_bytes())?;
    for language in &project.study.languages {
        put(&format!("promise-{language}.html"), promise::page(project, language)?.as_bytes())?;
        if let Some(texts) = folder::read(&project.folder.join(file_name(language)))? {
            put(&file_name(language), texts.as_bytes())?;
        }
    }
    put(SCRIPT, script.as_bytes())?;
    let responses = to.join(RESPONSES);
    match project.study.publish_responses {
        true => {
            let from = project.folder.join(RESPONSES);
            folder::check_inside(&project.folder, &from)?;
            put(RESPONSES, &std::fs::read(&from).map_err(|error| Problem::file(&from, error))?)?;
        }
        false if responses.exists() => {
            std::fs::remove_file(&responses).map_err(|error| Problem::file(&responses, error))?;
        }
        false => {}
    }
    let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    // One folder in the archive, so that unpacking it makes no mess.
    let inside = |(name, content)| (format!("{}/{name}", open.name), content);
    let archive = zip(&files.into_iter().map(inside).collect::<Vec<_>>())?;
    folder::write(&project.folder.join(ARCHIVE), &archive)?;
    Ok(json!({"folder": to.display().to_string(), "files": names, "archive": ARCHIVE, "bytes": archive.len()}))
}

/// Returns what to check before publishing.
///
/// # Errors
/// Returns the errors of [`preview`].
pub fn checks(open: &Open, project: &Project) -> Result<Value, Problem> {
    let report = preview(open, project)?;
    let confidence = EstimateOptions::default().confidence;
    let named = project.texts.get(FIRST_LANGUAGE).map_or(0, |texts| texts.questions.len());
    Ok(json!({
        "verdict": report.estimates.verdict,
        "precise": report.estimates.tables.iter().all(Table::is_precise),
        "warnings": report.warnings,
        "epsilon": report.epsilon,
        "confidence": confidence,
        "questions": {"named": named, "all": project.schema()?.attributes().len()},
        "survey": project.folder.join(SURVEY).exists(),
        "published": project.folder.join(PUBLICATION).join("report.html").is_file(),
    }))
}
