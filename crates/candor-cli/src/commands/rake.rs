//! `candor rake`: plan + responses -> weighted records.

use std::fmt::Write;
use std::time::Instant;

use candor::choice::Choice;
use candor::counts::Provenance;
use candor::rake::{
    Adjustment, DistinctRecords, KnownShare, Options, RakeOptions, Targets, Unattainable, margins, rake,
};
use candor::synthesize::{self, Parts, RakedRecords, tables};
use candor_base::plan::Plan;
use candor_tables::distinct::distinct_responses;
use candor_tables::existing::check_records;
use candor_tables::input::Inputs;
use candor_tables::margins::read_margins;
use candor_tables::output::Target;
use candor_tables::records::write_weighted;
use candor_tables::responses::Format;
use clap::Args;

use super::estimate::read_responses;
use super::{
    CellArgs, ForceArgs, MarkArgs, parse_delimiter, read_plan, refuse_both, refuse_overwriting, response_files,
    tell_provenance,
};
use crate::failure::Failure;
use crate::flags::{choice, with_flags};
use crate::progress::watched;
use crate::show::{count, emit, emit_json, plural, remark, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor rake plan.json responses.parquet -o weighted.parquet
  candor rake plan.json responses.parquet --method tree -o weighted.parquet
  candor rake plan.json responses.csv --margins \"Education,Income;Sex\" -o weighted.csv --json")]
pub struct RakeArgs {
    /// Plan (JSON) of the responses
    plan: String,
    /// Response files: CSV (also gzip), Parquet or JSON Lines; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// Output file for the weighted records: .parquet, .csv, .tsv, .csv.gz or .tsv.gz; - for standard output
    #[arg(short, long)]
    output: String,
    #[command(flatten)]
    existing: ForceArgs,
    /// Records that receive weights
    #[arg(long, value_parser = choice::<RakedRecords>(), default_value = RakedRecords::default().name())]
    method: RakedRecords,
    #[command(flatten)]
    raking: RakingArgs,
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

/// Margins of the weights, and when to stop.
#[derive(Args)]
pub struct RakingArgs {
    /// Tables that the weights must reproduce: blocks (of the plan, and public attributes), marginals, or names such
    /// as "a,b;c" [default: blocks]
    #[arg(long)]
    margins: Option<String>,
    /// Known margins, each in place of its attribute's estimate: a file with columns attribute, category and share
    #[arg(long, value_name = "FILE")]
    benchmarks: Option<String>,
    /// How estimated margins with negative shares become distributions [default: projected]
    #[arg(long, value_parser = choice::<Targets>())]
    targets: Option<Targets>,
    /// Maximum difference of a share from its estimate [default: 1e-6]
    #[arg(long, value_parser = parse_tolerance)]
    tolerance: Option<f64>,
    /// Maximum number of raking iterations [default: 1000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
}

impl RakingArgs {
    /// Returns the first of these options that was given.
    pub fn given(&self) -> Option<&'static str> {
        let margins = self.margins.as_ref().map(|_| "--margins");
        let tolerance = self.tolerance.map(|_| "--tolerance");
        let benchmarks = self.benchmarks.as_ref().map(|_| "--benchmarks");
        let targets = self.targets.map(|_| "--targets");
        margins.or(benchmarks).or(targets).or(tolerance).or(self.max_iterations.map(|_| "--max-iterations"))
    }

    /// Returns the known margins.
    fn known(&self) -> Result<Vec<KnownShare>, Failure> {
        let Some(path) = &self.benchmarks else { return Ok(Vec::new()) };
        Ok(read_margins(Inputs::new([path], None)?)?)
    }

    fn options(&self) -> Result<RakeOptions, Failure> {
        let default = Options::default();
        let most = self.max_iterations.map_or(default.max_iterations, |most| most as usize);
        let stop = default.tolerance(self.tolerance.unwrap_or(default.tolerance)).max_iterations(most);
        let targets = self.targets.unwrap_or_default();
        Ok(RakeOptions::default().benchmarks(self.known()?).targets(targets).stop(stop))
    }
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(tolerance) if (1e-12..1.0).contains(&tolerance) => Ok(tolerance),
        _ => Err("a tolerance must be at least 1e-12 and below 1, such as 1e-6".to_owned()),
    }
}

/// Maximum number of listed categories without answers.
const MAX_SHOWN: usize = 10;

/// Responses with their weights.
pub struct Weighted {
    pub records: DistinctRecords,
    pub adjustment: Adjustment,
}

/// Reads and rakes responses, and prints notes about them.
pub fn weigh(plan: &Plan, paths: &[String], delimiter: Option<u8>, raking: &RakingArgs) -> Result<Weighted, Failure> {
    let tables = margins(plan, raking.margins.as_deref())?;
    let inputs = response_files(paths, delimiter)?;
    let (records, read) = watched(|progress| distinct_responses(plan, inputs, progress))?;
    let simulation = read.simulation;
    tell_provenance(&Provenance::new(&read));
    let options = raking.options()?;
    let mut adjustment = watched(|progress| rake(plan, &records, &tables, &options, progress))?;
    adjustment.simulation = simulation;
    adjustment.reason = adjustment.reason.map(|reason| with_flags(&reason));
    Ok(Weighted { records, adjustment })
}

/// Reads responses, draws records from their pair tables, and rakes these.
fn weigh_drawn(plan: &Plan, parts: Parts, args: &RakeArgs) -> Result<Weighted, Failure> {
    let RakingArgs { margins, benchmarks, targets, .. } = &args.raking;
    if margins.is_some() || benchmarks.is_some() || targets.is_some() {
        return Err(Failure::Usage("--margins, --benchmarks and --targets require --method answers".to_owned()));
    }
    let counts = read_responses(plan, &args.responses, args.delimiter, &tables(plan, parts)?)?;
    let options = args.raking.options()?;
    let (records, mut adjustment) = watched(|progress| synthesize::weigh(plan, &counts, parts, &options, progress))?;
    adjustment.simulation = counts.provenance().simulation;
    adjustment.reason = adjustment.reason.map(|reason| with_flags(&reason));
    Ok(Weighted { records, adjustment })
}

pub fn run(args: RakeArgs) -> Result<(), Failure> {
    args.marks.apply();
    let started = Instant::now();
    let target = Target::new(&args.output);
    refuse_both(args.json, Some(&args.output))?;
    let format = args.cells.apply(Format::for_target(&target))?;
    let mut read: Vec<&str> = args.responses.iter().map(String::as_str).collect();
    read.push(&args.plan);
    refuse_overwriting(&args.output, &read)?;
    let existing = args.existing.rule();
    check_records(&target, existing)?;
    let plan = read_plan(&args.plan)?;
    let Weighted { records, mut adjustment } = match args.method {
        RakedRecords::Answers => weigh(&plan, &args.responses, args.delimiter, &args.raking)?,
        RakedRecords::Drawn(parts) => weigh_drawn(&plan, parts, &args)?,
    };
    write_weighted((&target, format, existing), plan.schema(), plan.fingerprint(), &records, &adjustment.weights)?;
    if args.json {
        adjustment.seconds = Some(started.elapsed().as_secs_f64());
        return emit_json(&adjustment);
    }
    let text = describe(&adjustment) + &format!("\nWritten to {}.\n", target.name());
    match target {
        Target::Stdout => remark(text.trim_end()),
        Target::File(_) => return emit(&text),
    }
    Ok(())
}

/// Describes the result.
pub fn describe(adjustment: &Adjustment) -> String {
    let mut text = format!(
        "{} {}, {} of them different, adjusted to {}\n{}\n",
        count(adjustment.respondents),
        if adjustment.method == "answers" { "responses" } else { "records made from as many responses" },
        count(adjustment.records as u64),
        plural(adjustment.margins.len(), "margin"),
        adjustment.summary()
    );
    let missing = adjustment.missing();
    if let Some(about) = adjustment.about_missing() {
        let _ = writeln!(text, "{about}");
        let row = |missing: &&Unattainable| vec![missing.cell.clone(), format!("{:.1e}", missing.share)];
        text += &table(&["", "share"], &missing.iter().take(MAX_SHOWN).map(row).collect::<Vec<_>>());
        if missing.len() > MAX_SHOWN {
            let _ = writeln!(text, "  and {} more; --json lists them all", missing.len() - MAX_SHOWN);
        }
    }
    text
}
