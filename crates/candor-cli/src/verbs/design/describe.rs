//! A plan in words, tables and JSON.

use std::fmt::Write;

use candor::plan::Plan;
use candor::privacy::{Question, audit};
use candor_design::designed::Designed;
use serde_json::{Value, json};

use super::expectation::{Expectation, table_name};
use super::pairs::Pairs;
use crate::show::{count, paragraph, plural, probability, table};

/// A difference between epsilon asked for and certified that is worth mentioning.
const WORTH_MENTIONING: f64 = 1e-9;

pub fn describe(plan: &Plan, asked: Option<f64>) -> String {
    let guarantee = plan.guarantee();
    let mut text = format!(
        "{} of {}: record epsilon {} (certified)\n",
        plan.origin().method,
        plural(guarantee.attributes().len(), "attribute"),
        guarantee.epsilon()
    );
    if let Some((asked, certified)) = asked.zip(guarantee.epsilon().value())
        && asked - certified > WORTH_MENTIONING
    {
        let _ =
            writeln!(text, "  asked for {asked}; integer weights of 64 bits come to {:.3e} less", asked - certified);
    }
    text.push('\n');
    let rows = attribute_rows(plan);
    text += &table(&["attribute", "categories", "truth kept", "marginal epsilon", "conditional epsilon"], &rows);
    if guarantee.attributes().iter().any(|a| a.marginal != Some(a.conditional)) {
        text += &paragraph(
            "The marginal epsilon is for a reader of that attribute's answer alone; the conditional one is for a reader \
             of the whole answer who knows all other attributes. Respondents are told the conditional one.",
        );
    }
    if guarantee.epsilon().value().is_none() {
        let findings = audit(&Question::new(plan));
        for finding in findings.iter().filter(|finding| finding.name == "l-diversity") {
            text += &paragraph(&finding.sentence);
        }
    }
    text += &describe_prior(plan);
    let _ = write!(text, "\n  fingerprint {}\n", plan.fingerprint());
    text
}

/// What a plan gives for the prior that it was made for: a heading and sentences; `None` if it was made for none.
pub fn prior_sentences(plan: &Plan, name: impl Fn(&str) -> String) -> Option<(String, Vec<String>)> {
    let known = plan.for_prior()?;
    let name = name(plan.schema().name(known.attribute));
    let mut sentences = vec![
        // Rounded outward, like the certificate.
        format!(
            "MAP privacy {:.6}: the best guess is wrong at least so often",
            (known.map_privacy * 1e6 + 1e-6).floor() / 1e6
        ),
        format!(
            "worst posterior {:.6}: no answer makes any category likelier than this",
            (known.worst_posterior * 1e6 - 1e-6).ceil() / 1e6
        ),
    ];
    if plan.guarantee().epsilon().value().is_none() {
        sentences.push(
            "There is no finite epsilon: against somebody who knows something else beforehand, this plan guarantees nothing."
                .to_owned(),
        );
    }
    Some((format!("For the stated prior of \"{name}\" only (certified)"), sentences))
}

/// The same as text; nothing if there is none.
pub fn describe_prior(plan: &Plan) -> String {
    prior_sentences(plan, str::to_owned).map_or(String::new(), |(heading, sentences)| {
        let sentences: String = sentences.iter().map(|sentence| paragraph(sentence)).collect();
        format!("\n{heading}\n{sentences}")
    })
}

/// What is certified of each attribute, as cells of a table.
pub fn attribute_rows(plan: &Plan) -> Vec<Vec<String>> {
    let row = |a: &candor::plan::AttributeGuarantee| {
        let described = &plan.schema().attributes()[a.attribute];
        vec![
            described.name().to_owned(),
            described.categories().len().to_string(),
            probability(a.keep_probability),
            a.marginal.map_or("-".to_owned(), |epsilon| epsilon.to_string()),
            a.conditional.to_string(),
        ]
    };
    plan.guarantee().attributes().iter().map(row).collect()
}

/// The attributes of a plan with their guarantees, as JSON.
pub fn attributes_json(plan: &Plan) -> Vec<Value> {
    let requested = &plan.origin().requested;
    let attribute = |(i, a): (usize, &candor::plan::AttributeGuarantee)| {
        let described = &plan.schema().attributes()[a.attribute];
        json!({
            "name": described.name(),
            "categories": described.categories().len(),
            "requested": requested.get(i).copied().flatten(),
            "marginal_epsilon": a.marginal.and_then(candor::channel::Epsilon::value),
            "conditional_epsilon": a.conditional.value(),
        })
    };
    plan.guarantee().attributes().iter().enumerate().map(attribute).collect()
}

pub fn describe_expectations(plan: &Plan, expected: &[Expectation], respondents: f64) -> String {
    let mut text = format!(
        "\nStandard errors to expect from {} respondents, if the truth is uniform\n",
        count(respondents as u64)
    );
    let shown = |e: &Expectation| {
        let error = e.standard_error.as_ref();
        let error = error.map_or_else(|_| "not identifiable".to_owned(), |error| format!("{error:.4}"));
        let answers = |which: fn((f64, f64)) -> f64| {
            e.answer_errors.map_or("-".to_owned(), |errors| format!("{:.4}", which(errors)))
        };
        vec![table_name(plan, &e.attributes), e.cells.to_string(), error, answers(|e| e.0), answers(|e| e.1)]
    };
    let header = ["table", "cells", "standard error", "e_abs of answers", "e_rel of answers"];
    text += &table(&header, &expected.iter().map(shown).collect::<Vec<_>>());
    text += &paragraph(
        "The standard error is that of an estimated share. e_abs and e_rel are how far the observed shares of answers may \
         be off, all at once with confidence 0.95, before the randomization is taken out.",
    );
    text
}

pub fn describe_json(designed: &Designed, expected: &[Expectation], pairs: Option<&Pairs>, seconds: f64) -> Value {
    let plan = &designed.plan;
    let names = |e: &Expectation| -> Vec<&str> { e.attributes.iter().map(|&a| plan.schema().name(a)).collect() };
    let expectation = |e: &Expectation| {
        let error = e.standard_error.as_ref().ok();
        json!({
            "attributes": names(e),
            "identifiable": error.is_some(),
            "standard_error": error,
            "absolute_error": e.answer_errors.map(|(absolute, _)| absolute),
            "relative_error": e.answer_errors.map(|(_, relative)| relative),
        })
    };
    json!({
        "expected": expected.iter().map(expectation).collect::<Vec<_>>(),
        "method": plan.origin().method,
        "epsilon": {"certified": plan.guarantee().epsilon().value(), "lower_bound": designed.lower_bound},
        "alternatives": designed.alternatives,
        "workload": designed.judgement(),
        "pairs": pairs.map(|pairs| pairs.json(plan)),
        "attributes": attributes_json(plan),
        "for_prior": plan.for_prior().map(|known| json!({
            "attribute": plan.schema().name(known.attribute),
            "prior": known.prior,
            "map_privacy": known.map_privacy,
            "worst_posterior": known.worst_posterior,
        })),
        "fingerprint": plan.fingerprint().as_str(),
        "seconds": seconds,
    })
}
