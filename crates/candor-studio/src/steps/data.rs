//! Opening a data file: the schema of its usable columns.

use candor::columns::{ColumnKind, Overview};
use candor_base::schema::{Attribute, Schema};
use serde_json::{Value, json};

use crate::open::Open;
use crate::problem::Problem;
use crate::project::{PLAN, Project, SCHEMA};

/// File name extensions of data files.
const ENDINGS: [&str; 6] = [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".txt"];

/// Returns whether a file name is that of a data file.
pub fn is_table(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns the name of a data file without its extension.
pub fn stem(name: &str) -> &str {
    let lower = name.to_ascii_lowercase();
    ENDINGS.iter().find(|ending| lower.ends_with(*ending)).map_or(name, |ending| &name[..name.len() - ending.len()])
}

/// Reads the data and infers a schema, replacing the edited one.
///
/// # Errors
/// Returns an error if answers were drawn, or the file cannot be read.
pub fn infer(open: &Open, project: &mut Project) -> Result<(), Problem> {
    project.check_open()?;
    let overview = open.overview(project)?.ok_or_else(|| Problem::first("This study has no data file."))?;
    let kinds: Vec<ColumnKind> = overview.summaries().iter().map(|one| one.kind).collect();
    // Numbers can be used once they have groups.
    project.schema = match (kinds.contains(&ColumnKind::Categories), kinds.contains(&ColumnKind::Numbers)) {
        (true, _) => Some(overview.infer()?.schema),
        (false, true) => None,
        (false, false) => {
            return Err(Problem::input(
                "No column of this table can be used: each has the same value in every row, or too many different \
                 texts. Merge answers in the file",
            ));
        }
    };
    project.study.respondents = Some(overview.records() as f64);
    project.study.aside.clear();
    project.plan = None;
    for path in [PLAN, SCHEMA].map(|name| project.folder.join(name)) {
        if path.exists() && (path.ends_with(PLAN) || project.schema.is_none()) {
            std::fs::remove_file(&path).map_err(|error| Problem::file(&path, error))?;
        }
    }
    project.save()
}

/// Reads the data with other codes of missing values.
///
/// # Errors
/// Returns the errors of [`infer`].
pub fn set_missing(open: &Open, project: &mut Project, words: Option<Vec<String>>) -> Result<(), Problem> {
    project.check_open()?;
    let old = std::mem::replace(&mut project.study.missing, words);
    open.read_again();
    let done = infer(open, project);
    if done.is_err() {
        project.study.missing = old;
        open.read_again();
    }
    done
}

/// Returns the number of records in each bin between these edges.
///
/// # Errors
/// Returns an error if there are no data, or the edges are invalid.
pub fn preview_bins(open: &Open, project: &Project, name: &str, edges: &[f64]) -> Result<Value, Problem> {
    let overview = open.overview(project)?.ok_or_else(|| Problem::first("This study has no data file."))?;
    let missing = overview.summaries().iter().any(|column| column.name == name && column.missing > 0);
    let extra = if missing { vec![String::new()] } else { Vec::new() };
    let attribute = Attribute::binned(name, edges, extra).map_err(Problem::input)?;
    let every = overview.every(name);
    Ok(json!({"labels": attribute.categories(), "counts": overview.counts(&attribute), "every": every}))
}

/// Returns the columns of the data and the questions, with what the page shows of each.
pub fn columns(project: &Project, overview: Option<&Overview>) -> Vec<Value> {
    let schema = project.schema.as_ref();
    let attributes = schema.map_or(&[][..], Schema::attributes);
    let summaries = overview.map_or(Vec::new(), Overview::summaries);
    let mut rows: Vec<Value> = attributes
        .iter()
        .map(|attribute| {
            let summary = summaries.iter().find(|summary| summary.name == attribute.name());
            json!({
                "name": attribute.name(),
                "role": if attribute.is_public() { "public" } else { "protect" },
                "counts": overview.and_then(|overview| overview.counts(attribute)),
                "every": overview.map_or(1, |overview| overview.every(attribute.name())),
                "summary": summary,
                "attribute": described(attribute),
            })
        })
        .collect();
    for summary in summaries.iter().filter(|one| attributes.iter().all(|attribute| attribute.name() != one.name)) {
        let aside = project.study.aside.iter().any(|draft| draft.name == summary.name);
        let usable = aside || summary.kind == ColumnKind::Numbers;
        rows.push(json!({"name": summary.name, "role": "out", "summary": summary, "usable": usable, "aside": aside}));
    }
    for draft in project.study.aside.iter().filter(|draft| summaries.iter().all(|one| one.name != draft.name)) {
        rows.push(json!({"name": draft.name, "role": "out", "usable": true, "aside": true}));
    }
    rows
}

fn described(attribute: &Attribute) -> Value {
    let draft = crate::project::draft::Draft::of(attribute);
    json!({
        "kind": draft.kind,
        "labels": draft.categories,
        "edges": draft.edges,
        "grid": draft.grid,
        "asked_if": draft.asked_if,
    })
}
