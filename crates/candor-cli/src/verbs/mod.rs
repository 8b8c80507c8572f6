//! One file per verb.

mod compare_plans;
mod survey;
pub mod completions;
pub mod demo;
pub mod enter;
pub mod estimate;
pub mod adjust;
pub mod comply;
pub mod device;
pub mod explain;
pub mod man;
mod plots;
mod prior;
pub mod design;
pub mod audit;
pub mod compare;
pub mod front;
pub mod query;
pub mod randomize;
pub mod cluster;
pub mod refine;
pub mod regress;
mod reproduction;
pub mod reproduce;
pub mod schema;
pub mod sign;
pub mod size;
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
use candor::shares::Shares;
use candor::texts::{Language, OwnTexts};
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

/// How cells of CSV files are written.
#[derive(clap::Args)]
struct CellArgs {
    /// In CSV, put a quote (') before cells that a spreadsheet would run as formulas; such cells do not read back as they were
    #[arg(long)]
    safe_cells: bool,
}

impl CellArgs {
    fn apply(&self, format: Format) -> Result<Format, Failure> {
        match self.safe_cells {
            true => {
                format.with_safe_cells().ok_or_else(|| Failure::Usage("--safe-cells goes with CSV only".to_owned()))
            }
            false => Ok(format),
        }
    }
}

/// Words that stand for what is missing in tables of true records.
#[derive(clap::Args)]
struct MissingArgs {
    /// Words that stand for a missing value, such as NA,-9, unless the schema lists them. By default NA, N/A, n/a, NaN, NULL and null do, where they
    /// would not fit otherwise; "" for none
    #[arg(long, value_delimiter = ',', value_name = "WORD,..", allow_hyphen_values = true)]
    missing: Option<Vec<String>>,
}

impl MissingArgs {
    fn words(&self) -> Missing {
        Missing::named(self.missing.clone())
    }
}

/// What becomes of a plan that exists.
#[derive(clap::Args)]
struct PlanOutputArgs {
    /// Replace another plan that exists at the output; responses made with it cannot be analyzed without it
    #[arg(long, requires = "output")]
    force: bool,
}

impl PlanOutputArgs {
    fn write(&self, path: &str, plan: &Plan) -> Result<(), Failure> {
        Ok(write_plan(&Target::new(path), plan, Existing::forced(self.force))?)
    }
}

/// What is read as responses.
#[derive(clap::Args)]
struct MarkArgs {
    /// Vouch that responses, or counts, that do not tell their plan were made under this one: under another one, every result would be
    /// wrong. Without it they are an error
    #[arg(long)]
    unmarked: bool,
}

/// Whether the user vouches for responses without a mark.
static UNMARKED: AtomicBool = AtomicBool::new(false);

impl MarkArgs {
    /// From now on, reads responses as the flag says.
    fn apply(&self) {
        UNMARKED.store(self.unmarked, Ordering::Relaxed);
    }
}

/// Files of responses, or of their counts.
fn response_files(paths: &[String], delimiter: Option<u8>) -> Result<Inputs, Failure> {
    Ok(Inputs::new(paths, delimiter)?.unmarked(UNMARKED.load(Ordering::Relaxed)))
}

/// Whether plans are read whatever they cost.
static ANY_COST: AtomicBool = AtomicBool::new(false);

/// From now on, reads plans whatever they cost.
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

fn read_plan(path: &str) -> Result<Plan, Failure> {
    let text = read_text(path)?;
    let steps = if ANY_COST.load(Ordering::Relaxed) { u64::MAX } else { MAX_COST };
    plan_failure(path, &text, Plan::from_json_within(&text, steps))
}

/// A plan that may state too little, with its true guarantee.
fn read_restated(path: &str) -> Result<Plan, Failure> {
    let text = read_text(path)?;
    let steps = if ANY_COST.load(Ordering::Relaxed) { u64::MAX } else { MAX_COST };
    plan_failure(path, &text, Plan::restated(&text, steps))
}

fn plan_failure(path: &str, text: &str, read: Result<Plan, PlanError>) -> Result<Plan, Failure> {
    read.map_err(|error| match error {
        PlanError::Understated { .. } => {
            Failure::about(path, format!("{error}. Write it again with: candor audit {path} --restate NEW.json"))
        }
        PlanError::TooCostly { .. } => Failure::about(path, format!("{error}: then say --allow-costly-plan")),
        _ if Schema::from_toml(text).is_ok() => {
            Failure::about(path, "this is a schema, not a plan; candor design makes a plan of it")
        }
        error => Failure::about(path, error),
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

/// Shares that are anticipated, if a file has them.
fn read_shares(file: Option<&str>, schema: &Schema) -> Result<Option<Shares>, Failure> {
    let read = |file: &str| Ok(Shares::read(schema, &[], Input::open(&Location::new(file), None)?)?);
    file.map(read).transpose()
}

/// The language of a page: by its code, and with texts of the user's own.
fn read_language(code: Option<&str>, texts: Option<&str>, plan: &Plan) -> Result<Language, Failure> {
    let about = |error: StudyError| match texts {
        Some(path) => Failure::about(path, error),
        None => error.into(),
    };
    let own = texts.map(|path| read_text(path).and_then(|text| OwnTexts::parse(&text).map_err(about))).transpose()?;
    Language::new(code, own.as_ref(), plan.schema()).map_err(about)
}

/// Refuses JSON and another output on standard output at once.
fn refuse_both(json: bool, output: Option<&str>) -> Result<(), Failure> {
    match json && output == Some("-") {
        true => Err(Failure::Usage("--json and -o - would both go to standard output".to_owned())),
        false => Ok(()),
    }
}

/// Refuses an output that is one of the files being read.
fn refuse_overwriting(output: &str, inputs: &[&str]) -> Result<(), Failure> {
    let place = |path: &str| Path::new(path).canonicalize().ok().filter(|path| path.is_file());
    match place(output).is_some_and(|output| inputs.iter().any(|input| place(input).as_ref() == Some(&output))) {
        true => Err(Failure::Input(format!("{output} is both input and output; choose another output"))),
        false => Ok(()),
    }
}

/// Tells what should be known of responses that were read.
fn tell_provenance(provenance: &Provenance) {
    provenance.notes(str::to_owned).iter().for_each(|note| remark(note));
}

/// A number of people.
fn parse_respondents(text: &str) -> Result<f64, String> {
    match text.replace([',', '_'], "").parse::<u64>() {
        Ok(n) if (1..=1_000_000_000_000).contains(&n) => Ok(n as f64),
        _ => Err("a number of respondents is a whole number from 1 to 10^12".to_owned()),
    }
}

/// A limit: seconds, or an epsilon.
fn parse_limit(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(limit) if limit >= 0.0 => Ok(limit),
        _ => Err("a limit is a number, 0 or more".to_owned()),
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
