//! The publication folder: the report, its tables, the plan, the methods and the commands.

use candor::estimate::EstimateOptions;
use candor::evidence::{evidence, markdown, read_survey};
use candor::report::{Report, ReportOptions, report, tables};
use candor::rows::rows;
use candor_runtime::progress::ProgressSink;
use candor_tables::estimates::{Layout, estimates_csv};
use serde_json::{Value, json};

use super::results::{asked, count, regression};
use super::{promise, results};
use crate::commands::{SCRIPT, script};
use crate::open::Open;
use crate::problem::Problem;
use crate::project::texts::file_name;
use crate::project::{FIRST_LANGUAGE, PLAN, Project, RESPONSES, SURVEY, folder};
use crate::survey;

/// Name of the folder.
pub const PUBLICATION: &str = "publication";

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

/// Writes the publication folder and returns the names of its files.
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
    let mut files: Vec<String> = Vec::new();
    let mut put = |name: &str, content: &[u8]| {
        files.push(name.to_owned());
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
            std::fs::copy(&from, &responses).map_err(|error| Problem::file(&responses, error))?;
            files.push(RESPONSES.to_owned());
        }
        false if responses.exists() => {
            std::fs::remove_file(&responses).map_err(|error| Problem::file(&responses, error))?;
        }
        false => {}
    }
    Ok(json!({"folder": to.display().to_string(), "files": files}))
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
        "warnings": report.warnings,
        "epsilon": report.epsilon,
        "confidence": confidence,
        "questions": {"named": named, "all": project.schema()?.attributes().len()},
        "survey": project.folder.join(SURVEY).exists(),
        "published": project.folder.join(PUBLICATION).join("report.html").is_file(),
    }))
}
