//! The page for respondents, in the languages of the study.

use candor::explain::explain;
use candor::locale::{filled, languages, sheet_texts};
use candor_base::plan::Plan;
use candor_base::schema::Attribute;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::project::Project;

/// Returns the bundled languages.
pub fn known_languages() -> Vec<&'static str> {
    languages().collect()
}

/// Returns the page in a language.
///
/// # Errors
/// Returns an error if there is no plan, or the texts do not match it.
pub fn page(project: &Project, language: &str) -> Result<String, Problem> {
    let plan = project.plan()?;
    Ok(explain(plan, &project.language(language, plan.schema())?).page.html())
}

/// Returns the texts of the page in each language, those that can be edited, and its numbers.
///
/// # Errors
/// Returns the errors of [`page`].
pub fn promise(project: &Project) -> Result<Value, Problem> {
    let plan = project.plan()?;
    let one = |code: &String| -> Result<Value, Problem> {
        let language = project.language(code, plan.schema())?;
        let sheet = explain(plan, &language);
        let own = project.texts.get(code);
        let texts: Vec<Value> = sheet_texts(code)
            .into_iter()
            .flatten()
            .map(|(name, text)| {
                let changed = own.and_then(|own| own.sheet.get(name));
                json!({"name": name, "usual": text, "own": changed, "fixed": filled(text, &[]) != *text})
            })
            .collect();
        Ok(json!({
            "language": code,
            "texts": texts,
            "text": sheet.page.text(),
            "numbers": sheet.attributes,
            "example": sheet.example,
        }))
    };
    let all: Vec<Value> = project.study.languages.iter().map(one).collect::<Result<_, _>>()?;
    Ok(json!({"languages": all, "known": known_languages(), "questions": questions(plan)}))
}

/// Returns the protected and the unprotected questions.
fn questions(plan: &Plan) -> Value {
    let (public, protected): (Vec<_>, Vec<_>) = plan.schema().attributes().iter().partition(|a| a.is_public());
    json!({"public": names(&public), "protected": names(&protected)})
}

fn names<'a>(attributes: &[&'a Attribute]) -> Vec<&'a str> {
    attributes.iter().map(|attribute| attribute.name()).collect()
}
