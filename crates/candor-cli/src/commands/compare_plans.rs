//! `candor audit --informativeness`: is one plan at least as informative as another?

use std::fmt::Write;

use candor::audit::{Relation, compare_plans};
use candor_design::blackwell::{TOLERANCE, Verdict};

use super::read_plan;
use crate::failure::Failure;
use crate::show::{emit, emit_json, paragraph, table};

/// Maximum number of columns of a printed matrix; wider ones are in the JSON only.
const SHOWN_COLUMNS: usize = 10;

pub fn run(first: &str, second: &str, as_json: bool) -> Result<(), Failure> {
    let (a, b) = (read_plan(first)?, read_plan(second)?);
    let comparison = compare_plans((first, &a), (second, &b))?;
    if as_json {
        return emit_json(&comparison);
    }
    let mut text = match comparison.relation {
        Relation::Equivalent => format!("{first} and {second} are equally informative.\n"),
        Relation::FirstBetter => format!("{first} is more informative than {second}.\n"),
        Relation::SecondBetter => format!("{second} is more informative than {first}.\n"),
        Relation::Incomparable => format!("Neither {first} nor {second} is at least as informative as the other.\n"),
    };
    text += &paragraph(&format!(
        "At least as informative means: answers under the other can be made out of its answers by randomizing once \
         more, so it serves every analysis at least as well, and protects no better. Proofs hold up to {TOLERANCE:e}."
    ));
    for block in &comparison.blocks {
        let _ = writeln!(text, "\nAbout {}", block.attributes.join(", "));
        text += &told(&block.first_to_second, (first, second), (&block.first_answers, &block.second_answers));
        text += &told(&block.second_to_first, (second, first), (&block.second_answers, &block.first_answers));
    }
    emit(&text)
}

/// Describes the proof, with its matrix if it is small.
fn told(verdict: &Verdict, (from, to): (&str, &str), (answers, made): (&[String], &[String])) -> String {
    match verdict {
        Verdict::Same => paragraph(&format!("{from} and {to} are the same here.")),
        Verdict::Garbling(matrix) => {
            let text = paragraph(&format!(
                "Yes, {to} can be made from {from}: the probability of each answer of {to} (rows), given the answer of \
                 {from} (columns):"
            ));
            text + &matrix_table(matrix, made, answers)
        }
        Verdict::Overlap(overlaps) => {
            let ways: Vec<String> = overlaps
                .iter()
                .map(|(overlap, p)| {
                    format!("with probability {p:.4}, {overlap} of them from those that {from} reported")
                })
                .collect();
            paragraph(&format!(
                "Yes, {to} can be made from {from}: report as many categories as {to} does, at random, {}, and the \
                 others from the rest.",
                ways.join("; ")
            ))
        }
        Verdict::SeparatedBySets { size, avoid, first, second } => paragraph(&format!(
            "No, {to} cannot be made from {from}: choose {size} {} to {} the true value. The answers of {to} \
             themselves do so with probability {second:.4}; from {from} nobody can with more than {first:.4}.",
            if *size == 1 { "category" } else { "categories" },
            if *avoid { "avoid" } else { "hold" }
        )),
        Verdict::Separated(problem) => {
            let text = paragraph(&format!(
                "No, {to} cannot be made from {from}. With these rewards for each answer of {to} (rows) under each \
                 true value (columns), all equally likely, answering under {to} earns {:.6}; no rule based on {from} \
                 earns more than {:.6}:",
                problem.second, problem.first
            ));
            let truths: Vec<String> = (1..=problem.reward.first().map_or(0, Vec::len)).map(|i| i.to_string()).collect();
            text + &matrix_table(&problem.reward, made, &truths)
        }
    }
}

fn matrix_table(matrix: &[Vec<f64>], rows: &[String], columns: &[String]) -> String {
    if columns.len() > SHOWN_COLUMNS || rows.len() > 3 * SHOWN_COLUMNS {
        return format!("  a matrix of {} rows and {} columns: see --json\n", rows.len(), columns.len());
    }
    let header: Vec<&str> = std::iter::once("").chain(columns.iter().map(String::as_str)).collect();
    let row = |(label, entries): (&String, &Vec<f64>)| {
        std::iter::once(label.clone()).chain(entries.iter().map(|e| format!("{:.4}", e + 0.0))).collect::<Vec<String>>()
    };
    table(&header, &rows.iter().zip(matrix).map(row).collect::<Vec<_>>())
}
