//! `candor randomize`: plan + table -> responses.

use std::io::Write;
use std::time::Instant;

use candor::randomize::{RandomizeOptions, RecordRandomizer, caution, randomize_to};
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_tables::input::Inputs;
use candor_tables::limits;
use candor_tables::output::{Existing, Target};
use candor_tables::responses::Format;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use super::{CellArgs, MissingArgs, parse_delimiter, read_plan, refuse_both, refuse_overwriting};
use crate::failure::Failure;
use crate::progress::watched;
use crate::show::{count, emit_data, emit_json, remark};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor randomize plan.json people.csv -o responses.parquet
  candor randomize plan.json north.csv south.csv.gz -o responses.csv --keep weight
  gunzip -c people.csv.gz | candor randomize plan.json - -o - > responses.csv
  head -n 2 people.jsonl | candor randomize plan.json --stream")]
pub struct RandomizeArgs {
    /// Plan (JSON)
    plan: String,
    /// Data files with true records: CSV (also gzip) or Parquet; - for standard input
    #[arg(required_unless_present = "stream", conflicts_with = "stream")]
    files: Vec<String>,
    /// Output file for the responses: .parquet, .csv, .tsv, .csv.gz or .tsv.gz; - for standard output
    #[arg(short, long, required_unless_present = "stream", conflicts_with = "stream")]
    output: Option<String>,
    /// Columns to copy unchanged, without randomizing; other extra columns are dropped
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    keep: Vec<String>,
    #[command(flatten)]
    missing: MissingArgs,
    /// Output format [default: by the file name]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// Delimiter of CSV files: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Delimiter of CSV output: one character, or tab [default: comma]
    #[arg(long, value_parser = parse_delimiter)]
    output_delimiter: Option<u8>,
    #[command(flatten)]
    cells: CellArgs,
    /// Replace existing responses. If anyone has seen the old ones, a second release about the same people adds the
    /// plan's epsilon to their privacy loss
    #[arg(long, conflicts_with = "stream")]
    force: bool,
    /// Seed for simulations: reproducible, without any privacy
    #[arg(long)]
    seed: Option<u64>,
    /// Read JSON Lines from standard input and answer each line at once, as docs/reference/sampling-algorithm.md
    /// specifies
    #[arg(
        long,
        alias = "one-by-one",
        conflicts_with_all = ["keep", "format", "delimiter", "output_delimiter", "safe_cells", "missing"]
    )]
    stream: bool,
    /// Print a summary as JSON
    #[arg(long, conflicts_with = "stream")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Csv,
    Parquet,
}

pub fn run(args: RandomizeArgs) -> Result<(), Failure> {
    let started = Instant::now();
    refuse_both(args.json, args.output.as_deref())?;
    let plan = read_plan(&args.plan)?;
    if let Some(output) = &args.output {
        refuse_overwriting(output, &[&args.plan])?;
    }
    if let Some(caution) = caution(&plan) {
        remark(&format!("warning: {caution}"));
    }
    let source = randomness(args.seed)?;
    let Some(output) = &args.output else { return stream(&plan, &source) };
    let target = Target::new(output);
    let format = format(&args, &target)?;
    let inputs = Inputs::new(&args.files, args.delimiter)?.with_missing(&args.missing.words());
    let options = RandomizeOptions::new(&source).keep(&args.keep);
    let to = (&target, format, Existing::forced(args.force));
    let mut done = watched(|progress| randomize_to(&plan, inputs, &options, to, progress))?;
    let seconds = started.elapsed().as_secs_f64();
    done.seconds = Some(seconds);
    if args.json {
        return emit_json(&done);
    }
    remark(&format!(
        "{} records randomized to {} in {seconds:.2} s (plan {})",
        count(done.records),
        target.name(),
        plan.fingerprint()
    ));
    Ok(())
}

fn format(args: &RandomizeArgs, target: &Target) -> Result<Format, Failure> {
    let by_name = Format::for_target(target);
    if by_name == Format::Parquet && target.name().to_lowercase().ends_with(".gz") {
        return Err(Failure::Usage(
            "Parquet is compressed internally; use the extension .parquet without .gz".to_owned(),
        ));
    }
    let format = match (args.format, by_name) {
        (Some(FormatArg::Parquet), _) => Format::Parquet,
        (Some(FormatArg::Csv), Format::Parquet) => Format::csv(b','),
        (Some(FormatArg::Csv) | None, by_name) => by_name,
    };
    let format = match (format, args.output_delimiter) {
        (Format::Csv { .. }, Some(delimiter)) => Format::csv(delimiter),
        (Format::Parquet, Some(_)) => {
            return Err(Failure::Usage("--output-delimiter cannot be used with Parquet".to_owned()));
        }
        (format, None) => format,
    };
    args.cells.apply(format)
}

/// Randomizes records as they arrive, one line each. Written responses stay if a later line is invalid.
fn stream(plan: &Plan, source: &Source) -> Result<(), Failure> {
    let randomizer = RecordRandomizer::new(plan);
    let mut rng = source.stream(0);
    for (number, text) in (1u64..).zip(limits::lines(std::io::stdin().lock())) {
        let wrong = |message: String| Failure::Input(format!("line {number}: {message}"));
        let text = text.map_err(|error| wrong(error.to_string()))?;
        if text.trim().is_empty() {
            continue;
        }
        // The parser's message may quote the line, which contains true values.
        let fields: Map<String, Value> = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("not a JSON object (at column {})", error.column())))?;
        emit_data(&format!("{}\n", randomizer.answer(&fields, &mut rng).map_err(|error| wrong(error.to_string()))?))?;
        let _ = std::io::stdout().flush();
    }
    Ok(())
}

/// Returns the randomness of the operating system, or of a seed for simulations.
pub fn randomness(seed: Option<u64>) -> Result<Source, Failure> {
    match seed {
        Some(seed) => {
            remark("warning: --seed is for simulations: whoever knows the seed can undo the randomization");
            Ok(Source::from_seed(seed))
        }
        None => Source::from_os().map_err(|error| Failure::Input(error.to_string())),
    }
}
