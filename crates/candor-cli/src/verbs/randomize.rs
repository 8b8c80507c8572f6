//! `candor randomize`: plan + table -> responses.

use std::io::Write;
use std::time::Instant;

use candor::randomize::{OneByOne, RandomizeOptions, caution, randomize_to};
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
  head -n 2 people.jsonl | candor randomize plan.json --one-by-one")]
pub struct RandomizeArgs {
    /// The plan (JSON)
    plan: String,
    /// Tables of true records, one after another: CSV (also gzip) or Parquet; - for standard input
    #[arg(required_unless_present = "one_by_one", conflicts_with = "one_by_one")]
    tables: Vec<String>,
    /// Where to write the responses: .parquet, .csv, .tsv, and .gz of these texts; - for standard output
    #[arg(short, long, required_unless_present = "one_by_one", conflicts_with = "one_by_one")]
    output: Option<String>,
    /// Further columns to pass on unchanged, none of which the plan randomizes; all others are dropped
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    keep: Vec<String>,
    #[command(flatten)]
    missing: MissingArgs,
    /// The format of the responses, if their name does not tell
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// The delimiter of CSV tables, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// The delimiter of CSV responses; a comma by default
    #[arg(long, value_parser = parse_delimiter)]
    output_delimiter: Option<u8>,
    #[command(flatten)]
    cells: CellArgs,
    /// Replace responses that exist at the output. If anybody has seen them, a second release of the same people adds the epsilon of the
    /// plan to their loss
    #[arg(long, conflicts_with = "one_by_one")]
    force: bool,
    /// For simulations only: reproducible randomness that protects nobody
    #[arg(long)]
    seed: Option<u64>,
    /// Read one JSON object per line from standard input and answer each at once, as docs/sampling.md specifies
    #[arg(long, conflicts_with_all = ["keep", "format", "delimiter", "output_delimiter", "safe_cells", "missing"])]
    one_by_one: bool,
    /// Say what was done as JSON on standard output
    #[arg(long, conflicts_with = "one_by_one")]
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
    let Some(output) = &args.output else { return one_by_one(&plan, &source) };
    let target = Target::new(output);
    let format = format(&args, &target)?;
    let inputs = Inputs::new(&args.tables, args.delimiter)?.with_missing(&args.missing.words());
    let options = RandomizeOptions { keep: &args.keep, source: &source };
    let to = (&target, format, Existing::forced(args.force));
    let mut done = watched(|watch| randomize_to(&plan, inputs, &options, to, watch))?;
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
    let by_name = Format::of(target);
    if by_name == Format::Parquet && target.name().to_lowercase().ends_with(".gz") {
        return Err(Failure::Usage("Parquet is compressed inside; name the output .parquet without .gz".to_owned()));
    }
    let format = match (args.format, by_name) {
        (Some(FormatArg::Parquet), _) => Format::Parquet,
        (Some(FormatArg::Csv), Format::Parquet) => Format::csv(b','),
        (Some(FormatArg::Csv) | None, by_name) => by_name,
    };
    let format = match (format, args.output_delimiter) {
        (Format::Csv { .. }, Some(delimiter)) => Format::csv(delimiter),
        (Format::Parquet, Some(_)) => {
            return Err(Failure::Usage("--output-delimiter does not go with Parquet".to_owned()));
        }
        (format, None) => format,
    };
    args.cells.apply(format)
}

/// Answers records as they come, one line each; what was answered stays answered if a later line
/// is wrong.
fn one_by_one(plan: &Plan, source: &Source) -> Result<(), Failure> {
    let one_by_one = OneByOne::new(plan);
    let mut rng = source.stream(0);
    for (number, text) in (1u64..).zip(limits::lines(std::io::stdin().lock())) {
        let wrong = |message: String| Failure::Input(format!("line {number}: {message}"));
        let text = text.map_err(|error| wrong(error.to_string()))?;
        if text.trim().is_empty() {
            continue;
        }
        // The message of the parser may quote the line, which holds true values.
        let fields: Map<String, Value> = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("not a JSON object (at column {})", error.column())))?;
        emit_data(&format!("{}\n", one_by_one.answer(&fields, &mut rng).map_err(wrong)?))?;
        let _ = std::io::stdout().flush();
    }
    Ok(())
}

/// Randomness of the operating system, or for a simulation from a seed.
pub fn randomness(seed: Option<u64>) -> Result<Source, Failure> {
    match seed {
        Some(seed) => {
            remark("warning: --seed is for simulations: whoever knows the seed can undo the randomization");
            Ok(Source::from_seed(seed))
        }
        None => Source::from_os().map_err(|error| Failure::Input(error.to_string())),
    }
}
