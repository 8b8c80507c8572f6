//! `candor schema`: infers a schema from data, or checks data against a schema.

use candor::format::lower_first;
use candor::schema::{Grouped, check, each_problem, infer, to_toml};
use candor::verdict::fits;
use candor_tables::existing::write_schema;
use candor_tables::infer::{Bins, InferOptions};
use candor_tables::input::{Input, Inputs};
use candor_tables::missing::Missing;
use candor_tables::output::Target;
use candor_tables::responses::{Provenance, open};
use clap::{Args, Subcommand};

use super::{
    ForceArgs, MissingArgs, is_plan, is_schema, names_table, parse_delimiter, read_schema, refuse_overwriting, shell,
};
use crate::failure::Failure;
use crate::flags::with_flags;
use crate::progress::watched;
use crate::show::{count, emit, emit_json, plural, remark};

#[derive(Args)]
pub struct SchemaArgs {
    #[command(subcommand)]
    command: SchemaCommand,
}

#[derive(Subcommand)]
enum SchemaCommand {
    /// Infer a schema (TOML) from a data file, to edit by hand
    ///
    /// The categories are those that occur in the data file, so a published schema reveals that each of them
    /// occurred. Columns with many distinct numbers must be binned; columns with many distinct texts must be dropped.
    Infer(InferArgs),
    /// Check data files against a schema; print every value that does not fit, with its row and column
    Check(CheckArgs),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor schema infer people.csv -o schema.toml
  candor schema infer people.csv --public Region --drop weight -o schema.toml
  candor schema infer people.csv --bins weight=edges:1.2")]
struct InferArgs {
    /// Data file: CSV (also gzip) or Parquet; - for standard input
    table: String,
    /// Output file for the schema; - for standard output
    #[arg(short, long, default_value = "-")]
    output: String,
    #[command(flatten)]
    existing: ForceArgs,
    /// Bins of a numeric column: NAME=edges:18,65, NAME=width:10 or NAME=quantile:5; without NAME, of all numeric
    /// columns with many values. Bins by width or quantile are computed from the data and reveal something about it
    #[arg(long, value_name = "[NAME=]BINS")]
    bins: Vec<String>,
    /// Columns that are public: not randomized
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    public: Vec<String>,
    /// Columns to drop
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    drop: Vec<String>,
    /// Maximum number of distinct values in a column
    #[arg(long, default_value_t = InferOptions::default().max_categories, value_name = "N")]
    max_categories: usize,
    /// Codes of missing values in every column, such as NA,-9; "" for none [default: NA, N/A, n/a, NaN, NULL and null
    /// among numbers; NA among texts, unless all values are two-letter codes]
    #[arg(long, value_delimiter = ',', value_name = "WORD,..", allow_hyphen_values = true)]
    missing: Option<Vec<String>>,
    /// Delimiter of a CSV file: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Print a description of the schema as JSON (requires -o)
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  candor schema check schema.toml people.csv")]
struct CheckArgs {
    /// Schema (TOML)
    schema: String,
    /// Data file: CSV (also gzip) or Parquet; - for standard input
    #[arg(required = true)]
    files: Vec<String>,
    #[command(flatten)]
    missing: MissingArgs,
    /// Delimiter of CSV files: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Print problems as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: SchemaArgs) -> Result<(), Failure> {
    match args.command {
        SchemaCommand::Infer(args) => run_infer(args),
        SchemaCommand::Check(args) => run_check(args),
    }
}

fn run_infer(args: InferArgs) -> Result<(), Failure> {
    if args.json && args.output == "-" {
        return Err(Failure::Usage("--json requires -o FILE: both would go to standard output".to_owned()));
    }
    refuse_overwriting(&args.output, &[&args.table])?;
    let (public, drop, max_categories) = (args.public, args.drop, args.max_categories);
    let mut wishes = InferOptions::default().public(public).drop(drop).max_categories(max_categories);
    for text in &args.bins {
        let parse = |bins: &str| Bins::parse(bins).map_err(Failure::Usage);
        match text.rsplit_once('=') {
            Some((name, bins)) => wishes.bins.push((name.to_owned(), parse(bins)?)),
            None => wishes.bins_elsewhere = Some(parse(text)?),
        }
    }
    let input = true_records(&args.table, args.delimiter)?.with_missing(Missing::named(args.missing));
    let inferred = watched(|progress| infer(input, &wishes, progress))?;
    let target = Target::new(&args.output);
    write_schema(&target, &to_toml(&inferred.schema), args.existing.rule())?;
    inferred.verdict.iter().for_each(|verdict| remark(&verdict.text));
    inferred.notes.iter().for_each(|note| remark(&format!("note: {}", with_flags(note))));
    if args.json {
        emit_json(&inferred)?;
    } else if let Target::File(_) = target {
        remark(&format!(
            "{}: {} from {} records; look it over and edit it before you publish it",
            target.name(),
            plural(inferred.schema.attributes().len(), "attribute"),
            count(inferred.records)
        ));
    }
    Ok(())
}

/// Opens a file of true records; a plan, a schema or responses in its place are an error that names them.
fn true_records(path: &str, delimiter: Option<u8>) -> Result<Input, Failure> {
    let taken = |what: &str| Failure::about(path, format!("this is {what}; a schema is inferred from true records"));
    if is_plan(path) {
        return Err(taken("a plan, which holds its schema"));
    }
    if is_schema(path) {
        return Err(taken("a schema already"));
    }
    let table = Inputs::new([path], delimiter)?.into_iter().next().expect("one table for one path");
    match open(table)? {
        (_, Some(Provenance { fingerprint, .. })) => {
            Err(taken(&format!("a file of responses, made under the plan {fingerprint}")))
        }
        (input, None) => Ok(input),
    }
}

fn run_check(args: CheckArgs) -> Result<(), Failure> {
    if let Some(swapped) = args.files.iter().find(|path| names_table(&args.schema) && is_schema(path)) {
        let advice = format!("this is a table; the schema comes first: candor schema check {}", shell::file(swapped));
        return Err(Failure::about(&args.schema, format!("{advice} {}", shell::file(&args.schema))));
    }
    let schema = read_schema(&args.schema)?;
    let inputs = Inputs::new(&args.files, args.delimiter)?.with_missing(&args.missing.words());
    let (records, found, read) = if args.json {
        let checked = watched(|progress| check(&schema, inputs, progress));
        emit_json(&checked)?;
        (checked.records, checked.problems.len() as u64, checked.unreadable.map_or(Ok(()), Err))
    } else {
        let mut problems = Grouped::default();
        let (records, read) =
            watched(|progress| each_problem(&schema, inputs, progress, |problem| problems.add(problem)));
        problems.lines(&schema).iter().try_for_each(|line| emit(&format!("{line}\n")))?;
        (records, problems.count(), read)
    };
    read?;
    match found {
        0 if args.json => Ok(()),
        0 => emit(&format!("{}\n", fits(records, 0).text)),
        n => Err(Failure::Input(lower_first(fits(records, n).text.trim_end_matches('.')))),
    }
}
