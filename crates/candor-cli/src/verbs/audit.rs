//! `candor audit`: what a plan guarantees.

use std::fmt::Write;

use candor::channel::rounded_up;
use candor::plan::Plan;
use candor::privacy::{audit, respondent_sentence, times};
use clap::Args;
use serde_json::{Value, json};

use super::design::{attribute_rows, attributes_json, describe_prior};
use super::read_plan;
use crate::failure::Failure;
use crate::show::{emit, paragraph, plural, table};

#[derive(Args)]
pub struct AuditArgs {
    /// The plan (JSON); - for standard input
    plan: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: AuditArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    match args.json {
        true => emit(&format!("{}\n", describe_json(&plan))),
        false => emit(&describe(&plan)),
    }
}

pub fn describe(plan: &Plan) -> String {
    let guarantee = plan.guarantee();
    let attributes = plan.schema().attributes();
    let public = attributes.len() - guarantee.attributes().len();
    let mut text = format!(
        "{} in {}{}\n  fingerprint {}, recomputed and matching\n\n",
        plural(guarantee.attributes().len(), "randomized attribute"),
        plural(plan.blocks().len(), "block"),
        if public > 0 { format!(", {public} public") } else { String::new() },
        plan.fingerprint()
    );
    let mut rows = attribute_rows(plan);
    for (row, a) in rows.iter_mut().zip(guarantee.attributes()) {
        row.push(times(a.conditional).unwrap_or_else(|| "no bound".to_owned()));
    }
    let header =
        ["attribute", "categories", "truth kept", "marginal epsilon", "conditional epsilon", "times as likely"];
    text += &table(&header, &rows);
    text += "\nWhat to tell respondents\n";
    let worst =
        guarantee.attributes().iter().map(|a| a.conditional).fold(candor::channel::Epsilon::ZERO, |a, b| a.max(b));
    text += &paragraph(&format!(
        "About any one question, even for somebody who knows all your other answers: {}",
        lower_first(&respondent_sentence(worst))
    ));
    if public > 0 {
        let names = attributes.iter().filter(|a| a.is_public()).map(|a| a.name()).collect::<Vec<_>>().join(", ");
        text += &paragraph(&format!("Published as it is, without any protection: {names}."));
    }
    text += "\nCriteria\n";
    for finding in audit(plan) {
        let value = finding.value.map_or("unbounded".to_owned(), rounded_up);
        let _ = writeln!(text, "  {:<8} {value}", finding.name);
        text += &paragraph(&finding.sentence);
    }
    text += &describe_prior(plan);
    text += "\nWhy two epsilons\n";
    text += &paragraph(
        "The marginal epsilon is for a reader of one answer alone. The conditional epsilon is for a reader of the whole \
         response who already knows all other attributes: it is the one that protects the respondent. All are computed \
         from the plan's integers and rounded up; an attribute answered in two plans adds up.",
    );
    text
}

fn lower_first(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

fn describe_json(plan: &Plan) -> Value {
    let mut attributes = attributes_json(plan);
    for (json, a) in attributes.iter_mut().zip(plan.guarantee().attributes()) {
        json["keep_probability"] = a.keep_probability.into();
    }
    let criterion = |f: candor::privacy::Finding| json!({"name": f.name, "value": f.value, "required": null, "holds": null, "sentence": f.sentence});
    json!({
        "fingerprint": plan.fingerprint().as_str(),
        "epsilon": plan.guarantee().epsilon().value(),
        "attributes": attributes,
        "criteria": audit(plan).into_iter().map(criterion).collect::<Vec<_>>(),
    })
}
