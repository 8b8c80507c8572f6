//! One file per command.

mod compare_plans;
mod audit_program;
mod survey;
pub mod completions;
pub mod demo;
pub mod import;
pub mod estimate;
pub mod rake;
pub mod compliance;
pub mod device;
pub mod evidence;
pub mod explain;
pub mod man;
pub mod matrix;
mod plots;
mod prior;
pub mod programs;
pub mod design;
pub mod audit;
pub mod choose;
pub mod combine;
pub mod compare;
pub mod pareto;
pub mod query;
pub mod randomize;
pub mod associations;
pub mod party;
pub mod refine;
pub mod regress;
mod reproduction;
pub mod reproduce;
pub mod experiment;
pub mod schema;
pub mod sign;
pub mod sample_size;
pub mod sql;
pub mod synthesize;
mod differences;
pub mod test;
pub mod verify;
mod wave;
pub mod report;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use candor::StudyError;
use candor::counts::Provenance;
use candor::locale::{Language, OwnTexts};
use candor::shares::Shares;
use candor::shell;
use candor_base::plan::{MAX_COST, Plan, PlanError};
use candor_base::schema::Schema;
use candor_tables::existing::write_plan;
use candor_tables::input::{Input, Inputs, Location};
use candor_tables::limits;
use candor_tables::missing::Missing;
use candor_tables::output::{Existing, Target};
use candor_tables::responses::Format;

use crate::failure::Failure;
use crate::show::remark;

/// Options for writing CSV cells.
#[derive(clap::Args)]
struct CellArgs {
    /// Put a quote (') before CSV cells that a spreadsheet would run as formulas; the quote stays when such cells are
    /// read back
    #[arg(long = "escape-formulas", alias = "safe-cells")]
    safe_cells: bool,
}

impl CellArgs {
    fn apply(&self, format: Format) -> Result<Format, Failure> {
        match self.safe_cells {
            true => format
                .with_safe_cells()
                .ok_or_else(|| Failure::Usage("--escape-formulas requires CSV output".to_owned())),
            false => Ok(format),
        }
    }
}

/// Codes of missing values in true records.
#[derive(clap::Args)]
struct MissingArgs {
    /// Codes of missing values, such as NA,-9, unless the schema lists them; "" for none [default: NA, N/A, n/a, NaN,
    /// NULL and null, where they are no category]
    #[arg(long, value_delimiter = ',', value_name = "WORD,..", allow_hyphen_values = true)]
    missing: Option<Vec<String>>,
}

impl MissingArgs {
    fn words(&self) -> Missing {
        Missing::named(self.missing.clone())
    }
}

/// Option for replacing an existing plan.
#[derive(clap::Args)]
struct PlanOutputArgs {
    /// Replace a different plan at the output; responses made with that plan cannot be analyzed without it
    #[arg(long, requires = "output")]
    force: bool,
}

impl PlanOutputArgs {
    fn write(&self, path: &str, plan: &Plan) -> Result<(), Failure> {
        Ok(write_plan(&Target::new(path), plan, Existing::forced(self.force))?)
    }
}

/// Option for replacing an existing file.
#[derive(clap::Args)]
struct ForceArgs {
    /// Replace an existing output file [default: an existing file is an error]
    #[arg(long)]
    force: bool,
}

impl ForceArgs {
    fn rule(&self) -> Existing {
        Existing::forced(self.force)
    }
}

/// Option for reading responses without a fingerprint.
#[derive(clap::Args)]
struct MarkArgs {
    /// Accept responses or counts that do not name their plan. Use it only if you know that they were made with this
    /// plan: otherwise every result is wrong [default: an error]
    #[arg(long)]
    unmarked: bool,
}

/// Whether the user vouches for responses without a fingerprint.
static UNMARKED: AtomicBool = AtomicBool::new(false);

impl MarkArgs {
    /// Applies the option to all responses read from now on.
    fn apply(&self) {
        UNMARKED.store(self.unmarked, Ordering::Relaxed);
    }
}

/// Opens files of responses, or of their counts.
fn response_files(paths: &[String], delimiter: Option<u8>) -> Result<Inputs, Failure> {
    if let Some(path) = paths.iter().find(|path| is_plan(path)) {
        return Err(Failure::about(path, "this is a plan; the plan comes first, then the responses"));
    }
    if let Some(path) = paths.iter().find(|path| is_schema(path)) {
        return Err(Failure::about(path, "this is a schema, not responses: candor randomize makes them"));
    }
    Ok(Inputs::new(paths, delimiter)?.unmarked(UNMARKED.load(Ordering::Relaxed)))
}

/// Whether plans of any cost are accepted.
static ANY_COST: AtomicBool = AtomicBool::new(false);

/// Accepts plans of any cost from now on.
pub fn allow_costly_plans() {
    ANY_COST.store(true, Ordering::Relaxed);
}

/// Reads a file, or standard input if it is `-`.
fn read_text(path: &str) -> Result<String, Failure> {
    let text = match path {
        "-" => limits::read_text(std::io::stdin()),
        path => std::fs::File::open(path).and_then(limits::read_text),
    };
    text.map_err(|error| Failure::Input(format!("cannot read {path}: {error}")))
}

/// Returns whether a file is a plan.
fn is_plan(path: &str) -> bool {
    path.ends_with(".json")
        && std::fs::File::open(path)
            .and_then(limits::read_text)
            .is_ok_and(|text| Plan::from_json_within(&text, MAX_COST).is_ok())
}

/// Returns whether a file is a schema.
fn is_schema(path: &str) -> bool {
    path.ends_with(".toml")
        && std::fs::File::open(path).and_then(limits::read_text).is_ok_and(|text| Schema::from_toml(&text).is_ok())
}

/// Returns whether a name has the extension of a data file.
fn names_table(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    [".csv", ".csv.gz", ".parquet", ".jsonl"].iter().any(|ending| path.ends_with(ending))
}

fn read_plan(path: &str) -> Result<Plan, Failure> {
    if names_table(path) && Path::new(path).is_file() {
        let advice = "this is a table, not a plan; the plan comes first: candor design makes one of a schema";
        return Err(Failure::about(path, advice));
    }
    let text = read_text(path)?;
    let steps = if ANY_COST.load(Ordering::Relaxed) { u64::MAX } else { MAX_COST };
    plan_failure(path, &text, Plan::from_json_within(&text, steps))
}

/// Reads a plan that may understate its guarantee, and returns it with the true one.
fn read_restated(path: &str) -> Result<Plan, Failure> {
    let text = read_text(path)?;
    let steps = if ANY_COST.load(Ordering::Relaxed) { u64::MAX } else { MAX_COST };
    plan_failure(path, &text, Plan::restated(&text, steps))
}

fn plan_failure(path: &str, text: &str, read: Result<Plan, PlanError>) -> Result<Plan, Failure> {
    read.map_err(|error| match error {
        PlanError::Understated { .. } => Failure::about(
            path,
            format!("{error}. Write a corrected plan with: candor audit {path} --restate NEW.json"),
        ),
        PlanError::TooCostly { .. } => Failure::about(path, format!("{error}; to accept it, use --allow-costly-plan")),
        _ if Schema::from_toml(text).is_ok() => {
            Failure::about(path, "expected a plan, but this is a schema; make a plan with candor design")
        }
        error => Failure::about(path, error),
    })
}

fn read_schema(path: &str) -> Result<Schema, Failure> {
    if names_table(path) && Path::new(path).is_file() {
        let advice = "this is a table, not a schema; make a schema of it with: candor schema infer";
        return Err(Failure::about(path, format!("{advice} {} -o schema.toml", shell::file(path))));
    }
    let text = read_text(path)?;
    Schema::from_toml(&text).map_err(|error| {
        if text.trim_start().starts_with('{') && serde_json::from_str::<serde_json::Value>(&text).is_ok() {
            return Failure::about(
                path,
                "this is JSON, such as a plan; a schema is TOML: candor schema infer makes one of a table",
            );
        }
        Failure::Input(format!("{path}: {error}"))
    })
}

/// Reads the expected shares, if a file is given.
fn read_shares(file: Option<&str>, schema: &Schema) -> Result<Option<Shares>, Failure> {
    let read = |file: &str| Ok(Shares::read(schema, Input::open(&Location::new(file), None)?, &[])?);
    file.map(read).transpose()
}

/// Returns the language of a page by its code, with the user's own texts.
fn read_language(code: Option<&str>, texts: Option<&str>, plan: &Plan) -> Result<Language, Failure> {
    let about = |error: StudyError| match texts {
        Some(path) => Failure::about(path, error),
        None => error.into(),
    };
    let own = texts.map(|path| read_text(path).and_then(|text| OwnTexts::parse(&text).map_err(about))).transpose()?;
    Language::new(code, own.as_ref(), plan.schema()).map_err(about)
}

/// Rejects `--json` together with an output to standard output.
fn refuse_both(json: bool, output: Option<&str>) -> Result<(), Failure> {
    match json && output == Some("-") {
        true => {
            Err(Failure::Usage("--json and -o - both write to standard output; write the plan to a file".to_owned()))
        }
        false => Ok(()),
    }
}

/// Rejects an output that is also an input.
fn refuse_overwriting(output: &str, inputs: &[&str]) -> Result<(), Failure> {
    let place = |path: &str| Path::new(path).canonicalize().ok().filter(|path| path.is_file());
    match place(output).is_some_and(|output| inputs.iter().any(|input| place(input).as_ref() == Some(&output))) {
        true => Err(Failure::Input(format!("{output} is both an input and the output; choose another output"))),
        false => Ok(()),
    }
}

/// Prints notes about the responses that were read.
fn tell_provenance(provenance: &Provenance) {
    provenance.notes(str::to_owned).iter().for_each(|note| remark(note));
}

/// Parses the tables of a design. Percentages within groups come from the table of both attributes.
fn parse_tables(text: &str) -> Result<String, String> {
    let within = text.split(';').find_map(|table| table.split_once('|')).filter(|_| !text.contains(['"', '\'']));
    match within {
        Some((of, among)) => {
            Err(format!("percentages within groups come from the table of both: name {},{}", among.trim(), of.trim()))
        }
        None => Ok(text.to_owned()),
    }
}

/// Parses a number of respondents.
fn parse_respondents(text: &str) -> Result<f64, String> {
    match text.replace([',', '_'], "").parse::<u64>() {
        Ok(n) if (1..=1_000_000_000_000).contains(&n) => Ok(n as f64),
        _ => Err("expected an integer from 1 to 10^12".to_owned()),
    }
}

/// Parses a limit: seconds, or an epsilon.
fn parse_limit(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(limit) if limit >= 0.0 => Ok(limit),
        _ => Err("expected a number, 0 or more".to_owned()),
    }
}

/// Parses a delimiter: one character, or `tab`.
fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" | "\t" => Ok(b'\t'),
        text if text.len() == 1 && !text.contains(['"', '\n', '\r']) => Ok(text.as_bytes()[0]),
        _ => Err("expected one ASCII character, or tab".to_owned()),
    }
}
