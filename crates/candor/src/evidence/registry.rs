//! The form of the Differential Privacy Deployments Registry, filled in.
//!
//! Fields and choices are those of its schema (github.com/opendp/deployments-registry-data, July 2026). The registry
//! is in English, and so is the form.

use candor_base::plan::Plan;
use candor_privacy::at_most;

use super::facts::{Admission, Facts};
use super::markdown::escaped;
use super::{Statement, Writer};
use crate::error::StudyError;
use crate::locale::Language;

/// A group of the form: its name, its question in the document, and its fields with their statements.
type Group = (&'static str, &'static str, &'static [(&'static str, &'static [&'static str])]);

const FORM: [Group; 7] = [
    (
        "basic",
        "q_basic",
        &[
            ("name", &["name"]),
            ("data_curators", &["open_curator"]),
            ("intended_use", &["open_use"]),
            ("data_product_type", &[]),
            ("data_product_region", &["open_region"]),
            ("description", &["need", "proportion", "release"]),
            ("publication_date", &[]),
        ],
    ),
    (
        "dp_variant",
        "q_variant",
        &[
            ("variant_name", &["variant"]),
            ("data_domain", &["domain"]),
            ("unprotected_quantities", &["public", "side"]),
        ],
    ),
    (
        "privacy_loss",
        "q_loss",
        &[
            ("privacy_unit", &["unit_name"]),
            ("privacy_unit_details", &["unit"]),
            ("privacy_parameters", &[]),
            ("privacy_parameters_details", &["limit", "guess"]),
        ],
    ),
    (
        "deployment_model",
        "q_trust",
        &[
            ("model_name", &[]),
            ("model_name_details", &["local", "where"]),
            ("actors", &["server", "admission", "reader", "colluding"]),
            ("release_type", &[]),
            ("release_type_details", &["release"]),
            ("data_source_type", &[]),
            ("access_type", &[]),
            ("access_type_details", &["query"]),
        ],
    ),
    ("accounting", "q_accounting", &[("post_processing", &["bias"]), ("composition", &["again"])]),
    (
        "implementation",
        "q_implementation",
        &[
            ("preprocessing_and_hyperparameter_tuning", &["derived"]),
            ("mechanisms", &["algorithm", "drawing", "timing", "storage", "software"]),
            ("justification", &["precision", "open_justification"]),
        ],
    ),
    ("administrative", "q_administrative", &[("notes", &["contact"]), ("registry_authors", &["open_authors"])]),
];

/// Returns the questions of the form with the statements of all their fields.
pub(super) fn outline() -> Vec<(&'static str, Vec<&'static str>)> {
    let of_group = |group: &Group| {
        let statements: Vec<&'static str> = group.2.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        (group.1, statements)
    };
    FORM.iter().map(of_group).collect()
}

/// Returns the form as YAML, in English; open points say that people must fill them in.
pub(super) fn form(plan: &Plan, survey: Option<&str>, language: &Language) -> Result<String, StudyError> {
    let language = if language.code() == "en" { language.clone() } else { Language::default() };
    let facts = Facts::new(plan, survey, &language)?;
    let writer = Writer { facts: &facts, language: &language };
    let (_, hash) = plan.fingerprint().as_str().split_once(':').unwrap_or_default();
    let hash: String = hash.chars().take(12).collect();
    let mut form = format!("url_slug: candor_{hash}\nstatus: Draft\ntier: 3\ndeployment:\n");
    for (group, _, fields) in &FORM {
        form += &format!("  {group}:\n");
        for (field, names) in *fields {
            form += &filled(field, &writer.statements(names), plan, &facts);
        }
    }
    Ok(form)
}

/// Returns a field with its value; empty if there is none.
fn filled(field: &str, statements: &[Statement], plan: &Plan, facts: &Facts) -> String {
    if let Some(choice) = choice(field, facts) {
        return format!("    {field}: {choice}\n");
    }
    if field == "privacy_parameters" {
        let epsilon = plan.guarantee().epsilon().finite().map(at_most);
        return epsilon.map_or(String::new(), |e| format!("    {field}:\n      epsilon: {e}\n      delta: 0\n"));
    }
    // What JSON quotes, YAML reads; the registry shows texts as Markdown.
    let texts: Vec<String> = statements.iter().map(|statement| escaped(&statement.text)).collect();
    let quoted = serde_json::Value::from(texts.join(" "));
    match field {
        _ if texts.is_empty() => String::new(),
        "data_curators" | "registry_authors" => format!("    {field}:\n      - {quoted}\n"),
        _ => format!("    {field}: {quoted}\n"),
    }
}

/// Returns the value of a field that has a choice of values.
fn choice(field: &str, facts: &Facts) -> Option<&'static str> {
    Some(match field {
        "data_product_type" => "Summary statistics",
        "publication_date" => "'1900-01-01' # to be filled in",
        "variant_name" if facts.bounded => "Pure DP",
        "variant_name" => "Custom",
        "model_name" => "Local",
        "release_type" if facts.publishes => "Many releases",
        "release_type" => "One release",
        "data_source_type" if facts.admission == Admission::Nothing => "Static",
        "data_source_type" => "Dynamic",
        "access_type" => "Non-interactive",
        _ => return None,
    })
}
