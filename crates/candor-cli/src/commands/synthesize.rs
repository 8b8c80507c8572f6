//! `candor synthesize`: plan + responses -> synthetic records.

use std::time::Instant;

use candor::choice::Choice;
use candor::synthesize::{Parts, Synthesis, synthesize, synthesize_weighted, tables};
use candor_analysis::synthesize::MAX_RECORDS;
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_tables::existing::check_records;
use candor_tables::output::Target;
use candor_tables::records::write_synthetic;
use candor_tables::responses::Format;
use clap::Args;

use super::estimate::read_responses;
use super::rake::{RakingArgs, Weighted, describe, weigh};
use super::{CellArgs, ForceArgs, MarkArgs, parse_delimiter, read_plan, refuse_both, refuse_overwriting};
use crate::failure::Failure;
use crate::flags::{choice, with_flags};
use crate::progress::{watched, working};
use crate::show::{count, emit, emit_json, paragraph, remark};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor synthesize plan.json responses.parquet -o synthetic.csv
  candor synthesize plan.json responses.parquet --method entropy -o synthetic.csv
  candor synthesize plan.json responses.parquet --method adjusted --records 100000 -o synthetic.parquet
  candor synthesize plan.json responses.csv --method joint --seed 1 -o synthetic.csv")]
pub struct SynthesizeArgs {
    /// Plan (JSON) of the responses
    plan: String,
    /// Response files: CSV (also gzip), Parquet or JSON Lines; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// Output file for the records: .parquet, .csv, .tsv, .csv.gz or .tsv.gz; - for standard output
    #[arg(short, long)]
    output: String,
    #[command(flatten)]
    existing: ForceArgs,
    /// Model that the records are drawn from
    #[arg(long, value_parser = choice::<PartsChoice>(), default_value = Some(Parts::default()).name())]
    method: PartsChoice,
    /// Number of records [default: the number of responses]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_RECORDS))]
    records: Option<u64>,
    #[command(flatten)]
    raking: RakingArgs,
    /// Seed for the order of the records and the pairing of their parts; does not weaken privacy
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    cells: CellArgs,
    /// Delimiter of CSV responses: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    #[command(flatten)]
    marks: MarkArgs,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
}

/// Tables to draw records from, or `None` for weighted answers.
type PartsChoice = Option<Parts>;

pub fn run(args: SynthesizeArgs) -> Result<(), Failure> {
    args.marks.apply();
    let started = Instant::now();
    let target = Target::new(&args.output);
    refuse_both(args.json, Some(&args.output))?;
    let format = args.cells.apply(Format::for_target(&target))?;
    if let Some(flag) = args.raking.given().filter(|_| args.method.is_some()) {
        return Err(Failure::Usage(format!("{flag} requires --method adjusted")));
    }
    let mut read: Vec<&str> = args.responses.iter().map(String::as_str).collect();
    read.push(&args.plan);
    refuse_overwriting(&args.output, &read)?;
    let existing = args.existing.rule();
    check_records(&target, existing)?;
    let plan = read_plan(&args.plan)?;
    let source = match args.seed {
        Some(seed) => Source::from_seed(seed),
        None => Source::from_os().map_err(|error| Failure::Input(error.to_string()))?,
    };
    let (mut made, about_weights) = make(&args, &plan, &source)?;
    made.seed = args.seed;
    write_synthetic((&target, format, existing), plan.schema(), plan.fingerprint(), &made.columns)?;
    if args.json {
        made.seconds = Some(started.elapsed().as_secs_f64());
        return emit_json(&made);
    }
    let mut text = about_weights.map_or(String::new(), |description| description + "\n");
    text += &format!(
        "{} synthetic records from {} responses ({}), written to {}.\n",
        count(made.records),
        count(made.respondents),
        made.method,
        target.name()
    );
    made.about().iter().for_each(|sentence| text += &(paragraph(&with_flags(sentence)) + "\n"));
    text += &paragraph(made.caution());
    match target {
        Target::Stdout => remark(text.trim_end()),
        Target::File(_) => return emit(&text),
    }
    Ok(())
}

/// Makes the records and, if they are drawn from weights, describes these.
fn make(args: &SynthesizeArgs, plan: &Plan, source: &Source) -> Result<(Synthesis, Option<String>), Failure> {
    let Some(parts) = args.method else {
        let Weighted { records, adjustment } = weigh(plan, &args.responses, args.delimiter, &args.raking)?;
        let made =
            working("making records", || synthesize_weighted(plan, &records, &adjustment, args.records, source))?;
        return Ok((made, Some(describe(&adjustment))));
    };
    let counts = read_responses(plan, &args.responses, args.delimiter, &tables(plan, parts)?)?;
    Ok((watched(|progress| synthesize(plan, &counts, parts, args.records, source, progress))?, None))
}
