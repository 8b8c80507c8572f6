//! The state of a study for the page.

use candor::moments::MomentQuery;
use candor_base::schema::Schema;
use serde_json::{Value, json};

use crate::commands::commands;
use crate::open::Open;
use crate::problem::Problem;
use crate::project::{Project, damaged, folder};
use crate::steps::publish::PUBLICATION;
use crate::steps::{collect, data, promise};
use crate::survey;

/// Returns everything that the steps show without computing.
///
/// # Errors
/// Returns an error if the data cannot be read.
pub fn state(open: &Open, project: &Project) -> Result<Value, Problem> {
    let overview = open.overview(project)?;
    let left_out = overview.as_ref().map_or(Vec::new(), |overview| overview.left_out());
    let plan = match &project.plan {
        None => Value::Null,
        Some(Err(error)) => json!({"problem": damaged(error)}),
        Some(Ok(plan)) => json!({
            "fingerprint": plan.fingerprint().as_str(),
            "epsilon": plan.guarantee().epsilon().finite(),
            "method": plan.origin().method,
            "current": project.plan_is_current(),
        }),
    };
    let data = overview.as_ref().map(|overview| {
        let names: Vec<String> = overview.summaries().into_iter().map(|one| one.name).collect();
        json!({"rows": overview.records(), "columns": names, "first": overview.first_rows()})
    });
    Ok(json!({
        "name": open.name,
        "folder": open.folder.display().to_string(),
        "title": project.title(),
        "study": project.study,
        "data": data,
        "columns": data::columns(project, overview.as_deref()),
        "means": project.schema.as_ref().map_or(Vec::new(), have_means),
        "texts": project.texts,
        "known_languages": promise::known_languages(),
        "plan": plan,
        "locked": project.is_drawn(),
        "collect": collect::state(project),
        "survey": survey::state(open, project),
        "published": project.folder.join(PUBLICATION).join("report.html").is_file(),
        "undo": folder::undoable(&project.folder),
        "commands": commands(project, &left_out),
    }))
}

/// Returns the attributes that stand for numbers.
fn have_means(schema: &Schema) -> Vec<&str> {
    let names = schema.attributes().iter().map(|attribute| attribute.name());
    names.filter(|name| MomentQuery::parse(schema, &candor_runtime::names::quoted(name), "", "").is_ok()).collect()
}
