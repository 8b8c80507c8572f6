//! One file per verb.

pub mod adjust;
mod compare_plans;
pub mod completions;
pub mod demo;
pub mod estimate;
pub mod explain;
pub mod man;
mod prior;
pub mod design;
pub mod audit;
pub mod compare;
pub mod front;
pub mod query;
pub mod randomize;
pub mod cluster;
pub mod refine;
mod reproduction;
pub mod reproduce;
pub mod schema;
pub mod size;
pub mod sql;
pub mod synthesize;
pub mod test;
pub mod report;

use std::path::Path;

use candor::plan::Plan;
use candor::schema::Schema;

use crate::failure::Failure;
use crate::show::remark;

/// Reads a file, or standard input if it is `-`.
fn read_text(path: &str) -> Result<String, Failure> {
    let text = match path {
        "-" => std::io::read_to_string(std::io::stdin()),
        path => std::fs::read_to_string(path),
    };
    text.map_err(|error| Failure::Input(format!("cannot read {path}: {error}")))
}

fn read_plan(path: &str) -> Result<Plan, Failure> {
    let text = read_text(path)?;
    Plan::from_json(&text).map_err(|error| match Schema::from_toml(&text).is_ok() {
        true => Failure::about(path, "this is a schema, not a plan; candor design makes a plan of it"),
        false => Failure::about(path, error),
    })
}

fn read_schema(path: &str) -> Result<Schema, Failure> {
    let text = read_text(path)?;
    Schema::from_toml(&text).map_err(|error| {
        let looks_like_a_table = Path::new(path).extension().is_some_and(|e| e == "csv" || e == "parquet");
        let hint = if looks_like_a_table { "; make a schema of a table with: candor schema infer" } else { "" };
        Failure::Input(format!("{path}: {error}{hint}"))
    })
}

/// Refuses an output that is one of the files being read.
fn refuse_overwriting(output: &str, inputs: &[&str]) -> Result<(), Failure> {
    let place = |path: &str| Path::new(path).canonicalize().ok().filter(|path| path.is_file());
    match place(output).is_some_and(|output| inputs.iter().any(|input| place(input).as_ref() == Some(&output))) {
        true => Err(Failure::Input(format!("{output} is both input and output; choose another output"))),
        false => Ok(()),
    }
}

/// What should be known about where responses come from: files that do not tell their plan, and the seed of a simulation; `name` is
/// what files are called.
fn provenance(unmarked: &[String], simulation: Option<u64>, name: impl Fn(&str) -> String) -> Vec<String> {
    let unmarked = unmarked.iter().map(|file| {
        format!("note: the file {} does not tell the plan it was made under; its labels fit this one", name(file))
    });
    unmarked.chain(simulation.map(|seed| format!("note: these responses are a simulation (seed {seed})"))).collect()
}

/// Tells what should be known of responses that were read.
fn tell_provenance(unmarked: &[String], simulation: Option<u64>) {
    provenance(unmarked, simulation, str::to_owned).iter().for_each(|note| remark(note));
}

/// A number of people.
fn parse_respondents(text: &str) -> Result<f64, String> {
    match text.replace([',', '_'], "").parse::<u64>() {
        Ok(n) if (1..=1_000_000_000_000).contains(&n) => Ok(n as f64),
        _ => Err("a number of respondents is a whole number from 1 to 10^12".to_owned()),
    }
}

/// A delimiter as the user writes it: one character, or `tab`.
fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" | "\t" => Ok(b'\t'),
        text if text.len() == 1 && !text.contains(['"', '\n', '\r']) => Ok(text.as_bytes()[0]),
        _ => Err("a delimiter is one ASCII character, or tab".to_owned()),
    }
}

/// A word of a command as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+".contains(c);
    match word.chars().all(plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
