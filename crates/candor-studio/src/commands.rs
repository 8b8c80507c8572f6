//! The commands that do what the page's actions do, and the script that repeats a study.

use candor::made_by::made_by;
use candor::shell::{file, flag, word};
use serde::Serialize;

use crate::problem::Problem;
use crate::project::texts::file_name;
use crate::project::{Project, RESPONSES, SCHEMA};

/// The command of each step, ready to copy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Commands {
    open: String,
    columns: String,
    tables: String,
    trade: String,
    promise: String,
    collect: String,
    results: String,
    publish: String,
}

/// The commands of a study; `left_out` are columns of its data that cannot be used as they are.
pub fn commands(project: &Project, left_out: &[String]) -> Commands {
    let data = project.study.data.as_deref();
    let design = design(project).unwrap_or_default();
    Commands {
        open: data.map_or(String::new(), |data| {
            let drop = (!left_out.is_empty()).then(|| format!(" {}", flag("--drop", &left_out.join(","))));
            let missing = missing(project).map(|flag| format!(" {flag}"));
            format!(
                "candor schema infer {}{}{} -o {SCHEMA}",
                file(data),
                drop.unwrap_or_default(),
                missing.unwrap_or_default()
            )
        }),
        columns: data.map_or(String::new(), |data| {
            let missing = missing(project).map(|flag| format!(" {flag}"));
            format!("candor schema check {SCHEMA} {}{}", file(data), missing.unwrap_or_default())
        }),
        tables: design.clone(),
        trade: design,
        promise: project.study.languages.first().map_or(String::new(), |code| explain(project, code)),
        collect: data.map_or("candor-collect serve survey".to_owned(), |data| randomize(project, data)),
        results: estimate(project, RESPONSES, "tables.csv").unwrap_or_default(),
        publish: report(project, RESPONSES).unwrap_or_default(),
    }
}

impl Commands {
    /// Returns the commands for the report, for readers who have its files.
    pub fn of_report(&self) -> Vec<String> {
        let audit = "candor audit plan.json".to_owned();
        [audit, self.results.clone(), self.publish.clone()].into_iter().filter(|line| !line.is_empty()).collect()
    }
}

fn missing(project: &Project) -> Option<String> {
    project.study.missing.as_ref().map(|words| flag("--missing", &words.join(",")))
}

fn design(project: &Project) -> Option<String> {
    let asked = project.study.trade_off()?;
    Some(format!(
        "candor design {SCHEMA} --method workload --epsilon {} --respondents {} {} -o plan.json",
        project.study.epsilon?,
        asked.respondents,
        flag("--tables", &asked.tables)
    ))
}

fn explain(project: &Project, language: &str) -> String {
    format!("candor explain plan.json{} -o promise-{language}.html", speaking(project, language))
}

/// Returns the options for a language and its texts.
fn speaking(project: &Project, language: &str) -> String {
    let name = file_name(language);
    let texts = project.folder.join(&name).is_file().then(|| format!(" --texts {}", word(&name)));
    format!(" --language {}{}", word(language), texts.unwrap_or_default())
}

fn randomize(project: &Project, data: &str) -> String {
    let drawn = project.draws.iter().rfind(|draw| draw.way == "file");
    let keep = drawn.map_or_else(|| project.study.sample.columns(), |draw| draw.kept.clone());
    let keep = (!keep.is_empty()).then(|| format!(" {}", flag("--keep", &keep.join(","))));
    let missing = missing(project).map(|flag| format!(" {flag}"));
    let flags = format!("{}{}", keep.unwrap_or_default(), missing.unwrap_or_default());
    format!("candor randomize plan.json {}{flags} -o {RESPONSES}", file(data))
}

/// Returns the options that select the results.
fn asked(project: &Project) -> Option<String> {
    let study = &project.study;
    let mut flags = vec![flag("--tables", &study.estimate_tables()?)];
    let mean = study.mean_text();
    flags.extend((!mean.is_empty()).then(|| flag("--mean", &mean)));
    flags.extend(study.condition().map(|condition| flag("--where", &condition)));
    let sample = &study.sample;
    for (name, column) in [("--weights", &sample.weights), ("--strata", &sample.strata), ("--psu", &sample.psu)] {
        flags.extend(column.iter().map(|column| flag(name, column)));
    }
    Some(flags.join(" "))
}

fn estimate(project: &Project, responses: &str, output: &str) -> Option<String> {
    Some(format!("candor estimate plan.json {responses} {} -o {output}", asked(project)?))
}

fn report(project: &Project, responses: &str) -> Option<String> {
    let models: String =
        project.study.models.iter().map(|model| format!(" {}", flag("--model", &model.formula()))).collect();
    let language = project.study.languages.first()?;
    Some(format!(
        "candor report plan.json {responses} {} {}{models}{} -o report.html",
        asked(project)?,
        flag("--title", &project.title()),
        speaking(project, language)
    ))
}

/// The script's name.
pub const SCRIPT: &str = "commands.sh";

/// Returns a shell script that makes the study's plan, page, tables and report in the current folder.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub fn script(project: &Project) -> Result<String, Problem> {
    let schema = candor::schema::to_toml(project.schema()?);
    let mut text = format!(
        "#!/bin/sh\n# Repeats the study {}: run it in an empty folder.\n\
         # The answers are not drawn again: they are read from the folder of this file.\n\
         set -eu\nstudy=$(cd \"$(dirname \"$0\")\" && pwd)\n\n",
        word(&project.title())
    );
    text += &here(SCHEMA, &schema);
    for language in &project.study.languages {
        let name = file_name(language);
        if let Some(texts) = crate::project::folder::read(&project.folder.join(&name))? {
            text += &here(&name, &texts);
        }
    }
    let plan = project.plan()?;
    let cut = made_by(plan).is_some_and(|made| !made["stopped"].is_null());
    let copy = "[ \"$study\" = \"$(pwd)\" ] || cp \"$study/plan.json\" .";
    text += "\n";
    text += &match (cut || !project.plan_is_current(), design(project)) {
        (false, Some(design)) => format!("{design}\n"),
        (true, Some(design)) if cut => format!(
            "# The search for this plan was cut by time, so that the same command may find another one: it is copied.\n\
             # {design}\n{copy}\n"
        ),
        _ => format!("# The plan was not made by this study's request: it is copied.\n{copy}\n"),
    };
    for language in &project.study.languages {
        text += &format!("{}\n", explain(project, language));
    }
    text += "\n";
    if let Some(data) = &project.study.data {
        text += &format!(
            "# Done once. Another draw about the same people would add to what can be learned about them:\n# {}\n",
            randomize(project, data).replace('\n', " ")
        );
    }
    Ok(text + &results(project))
}

/// Returns lines that estimate from the responses next to the script.
fn results(project: &Project) -> String {
    if !project.folder.join(RESPONSES).is_file() {
        return "# There are no answers yet.\n".to_owned();
    }
    let responses = format!("\"$study/{RESPONSES}\"");
    let missing = format!("{RESPONSES} is not beside this script: the answers were not published.");
    let check = format!("if [ ! -f {responses} ]; then\n  echo '{missing}' >&2\n  exit 1\nfi");
    let lines = [Some(check), estimate(project, &responses, "tables.csv"), report(project, &responses)];
    lines.into_iter().flatten().map(|line| format!("{line}\n")).collect()
}

/// Returns lines that write a file.
fn here(name: &str, content: &str) -> String {
    let mut end = "CANDOR_END".to_owned();
    while content.lines().any(|line| line == end) {
        end.push('_');
    }
    let newline = if content.ends_with('\n') || content.is_empty() { "" } else { "\n" };
    format!("cat > {} <<'{end}'\n{content}{newline}{end}\n", word(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_as_they_are() {
        for content in ["a\n", "", "CANDOR_END\n$x `y`\n", "CANDOR_END\nCANDOR_END_\n"] {
            let folder = tempfile::tempdir().unwrap();
            let script = here("a file.toml", content);
            let run = std::process::Command::new("sh").args(["-c", &script]).current_dir(folder.path()).status();
            assert!(run.unwrap().success());
            assert_eq!(std::fs::read_to_string(folder.path().join("a file.toml")).unwrap(), content);
        }
    }
}
