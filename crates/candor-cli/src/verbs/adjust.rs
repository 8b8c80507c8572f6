//! `candor adjust`: plan + responses -> weighted records.

use std::fmt::Write;
use std::time::Instant;

use candor::plan::Plan;
use candor_analysis::adjust::{Adjusted, DistinctRecords, Options, adjust, check_plan};
use candor_analysis::table_list::TableList;
use candor_tables::distinct::distinct_responses;
use candor_tables::input::Inputs;
use candor_tables::output::Target;
use candor_tables::records::write_weighted;
use candor_tables::responses::{Format, Read};
use clap::Args;
use serde_json::{Value, json};

use super::{CellArgs, parse_delimiter, read_plan, refuse_overwriting, tell_provenance};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::show::{count, emit, emit_json, plural, remark, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor adjust plan.json responses.parquet -o weighted.parquet
  candor adjust plan.json responses.csv --margins \"Education,Income;Sex\" -o weighted.csv --json")]
pub struct AdjustArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip) or Parquet; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// Where to write the weighted records: .parquet, .csv, .tsv, and .gz of these texts; - for standard output
    #[arg(short, long)]
    output: String,
    #[command(flatten)]
    raking: RakingArgs,
    #[command(flatten)]
    cells: CellArgs,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Say what was done as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// What the weights agree with, and when to stop.
#[derive(Args)]
pub struct RakingArgs {
    /// The tables whose estimates the weights agree with: blocks (of the plan, and public attributes), marginals, or names such
    /// as "a,b;c" [default: blocks]
    #[arg(long)]
    margins: Option<String>,
    /// How far margins may be from their estimates, and any share from its limit [default: 1e-6]
    #[arg(long, value_parser = parse_tolerance)]
    tolerance: Option<f64>,
    /// The most sweeps over all margins [default: 1000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
}

impl RakingArgs {
    /// The first of these flags that was given.
    pub fn given(&self) -> Option<&'static str> {
        let margins = self.margins.as_ref().map(|_| "--margins");
        let tolerance = self.tolerance.map(|_| "--tolerance");
        margins.or(tolerance).or(self.max_iterations.map(|_| "--max-iterations"))
    }

    fn options(&self) -> Options {
        let default = Options::default();
        let most = self.max_iterations.map_or(default.max_iterations, |most| most as usize);
        Options { tolerance: self.tolerance.unwrap_or(default.tolerance), max_iterations: most }
    }

    fn tables(&self, plan: &Plan) -> Result<TableList, Failure> {
        let tables = match self.margins.as_deref() {
            None | Some("blocks") => TableList::of_blocks(plan),
            Some(named) => TableList::parse(named, plan.schema()),
        };
        tables.map_err(|error| Failure::about("--margins", error))
    }
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(tolerance) if (1e-12..1.0).contains(&tolerance) => Ok(tolerance),
        _ => Err("a tolerance is a number from 1e-12 to below 1, such as 1e-6".to_owned()),
    }
}

/// How many categories without answers are listed for people.
const MOST_SHOWN: usize = 10;

/// Answers with their weights.
pub struct Weighted {
    pub records: DistinctRecords,
    pub adjusted: Adjusted,
    pub read: Read,
}

/// Reads responses and adjusts them, and tells what should be known of them.
pub fn weigh(plan: &Plan, paths: &[String], delimiter: Option<u8>, raking: &RakingArgs) -> Result<Weighted, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    check_plan(plan).map_err(|error| wrong(&error))?;
    let tables = raking.tables(plan)?;
    let inputs = Inputs::new(paths, delimiter)?;
    let bar = Progress::new();
    let counted = distinct_responses(plan, inputs, |done, all| bar.show(done, all));
    bar.clear();
    let (records, read) = counted?;
    tell_provenance(&read.unmarked, read.simulation);
    let adjusted = adjust(plan, &records, &tables, &raking.options()).map_err(|error| wrong(&error))?;
    Ok(Weighted { records, adjusted, read })
}

pub fn run(args: AdjustArgs) -> Result<(), Failure> {
    let started = Instant::now();
    let target = Target::new(&args.output);
    if args.json && target == Target::Stdout {
        return Err(Failure::Usage("--json and -o - would both go to standard output".to_owned()));
    }
    let format = args.cells.apply(Format::of(&target))?;
    let mut read: Vec<&str> = args.responses.iter().map(String::as_str).collect();
    read.push(&args.plan);
    refuse_overwriting(&args.output, &read)?;
    let plan = read_plan(&args.plan)?;
    let weighted = weigh(&plan, &args.responses, args.delimiter, &args.raking)?;
    let (records, weights) = (&weighted.records, &weighted.adjusted.raked.weights);
    write_weighted(&target, format, plan.schema(), plan.fingerprint(), records, weights)?;
    if args.json {
        let mut json = describe_json(&plan, &weighted, &args.raking);
        json["seconds"] = started.elapsed().as_secs_f64().into();
        return emit_json(&json);
    }
    let text = describe(&plan, &weighted, &args.raking) + &format!("\nWritten to {}.\n", target.name());
    match target {
        Target::Stdout => remark(text.trim_end()),
        Target::File(_) => return emit(&text),
    }
    Ok(())
}

/// What was found, for people.
pub fn describe(plan: &Plan, weighted: &Weighted, raking: &RakingArgs) -> String {
    let Weighted { records, adjusted, read } = weighted;
    let raked = &adjusted.raked;
    let mut text = format!(
        "{} responses, {} of them different, adjusted to {}\n",
        count(read.responses),
        count(records.len() as u64),
        plural(adjusted.tables.len(), "estimated margin")
    );
    let _ = match reason(weighted, raking) {
        None => writeln!(
            text,
            "Converged after {}: margins are within {} of {}, and any share is within about {} of its limit.",
            plural(raked.iterations, "sweep"),
            small(raked.largest_margin_error),
            if raked.unattainable.is_empty() { "their estimates" } else { "what can be attained of their estimates" },
            small(raked.distance.unwrap_or_default())
        ),
        Some(reason) => writeln!(text, "NOT CONVERGED: {reason}"),
    };
    let mut missing = unattainable(plan, adjusted);
    missing.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    if !missing.is_empty() {
        let all: f64 = missing.iter().map(|(_, share)| share).sum();
        let _ = writeln!(
            text,
            "No answer with a weight has these, although their estimated shares are positive, {all:.1e} in all; the others of their margins \
             share it:"
        );
        let row = |(cell, share): &(String, f64)| vec![cell.clone(), format!("{share:.1e}")];
        text += &table(&["", "share"], &missing.iter().take(MOST_SHOWN).map(row).collect::<Vec<_>>());
        if missing.len() > MOST_SHOWN {
            let _ = writeln!(text, "  and {} more; --json lists them all", missing.len() - MOST_SHOWN);
        }
    }
    text
}

/// A small number; zero without an exponent.
fn small(number: f64) -> String {
    if number == 0.0 { "0".to_owned() } else { format!("{number:.1e}") }
}

/// Why the weights are not converged, if they are not.
fn reason(weighted: &Weighted, raking: &RakingArgs) -> Option<String> {
    let raked = &weighted.adjusted.raked;
    let error = raked.largest_margin_error;
    let sweeps = plural(raked.iterations, "sweep");
    match raked.distance {
        _ if raked.converged => None,
        Some(distance) if distance <= raking.options().tolerance => Some(format!(
            "the weights settled after {sweeps}, but margins stay up to {error:.1e} from their estimates: no weights on the answers that were \
             given agree with all margins. Fewer or smaller --margins would do."
        )),
        distance => {
            let far = distance.map_or("an unknown distance".to_owned(), |distance| format!("about {distance:.1e}"));
            Some(format!(
                "after {sweeps} margins are up to {error:.1e} from their estimates, weights still change by up to {:.1e} of themselves, and shares \
                 may be {far} from their limit. Weights that go to zero do so slowly, and margins that overlap may contradict each other; \
                 allow more --max-iterations, a larger --tolerance, or fewer --margins.",
                raked.largest_weight_change
            ))
        }
    }
}

/// The categories that no weight could reach, by name, and their shares.
fn unattainable(plan: &Plan, adjusted: &Adjusted) -> Vec<(String, f64)> {
    let one = |missing: &candor_analysis::adjust::Unattainable| {
        let mut cell = missing.cell;
        let mut names = Vec::new();
        for &attribute in adjusted.tables[missing.margin].iter().rev() {
            let attribute = &plan.schema().attributes()[attribute];
            let size = attribute.categories().len();
            names.push(format!("{} = {}", attribute.name(), attribute.categories()[cell % size]));
            cell /= size;
        }
        names.reverse();
        (names.join(", "), missing.share)
    };
    adjusted.raked.unattainable.iter().map(one).collect()
}

fn describe_json(plan: &Plan, weighted: &Weighted, raking: &RakingArgs) -> Value {
    let Weighted { records, adjusted, read } = weighted;
    let raked = &adjusted.raked;
    let name = |&attribute: &usize| plan.schema().name(attribute);
    let margins = adjusted.tables.iter().map(|table| table.iter().map(name).collect::<Vec<_>>()).collect::<Vec<_>>();
    let missing = unattainable(plan, adjusted);
    json!({
        "respondents": read.responses,
        "records": records.len(),
        "iterations": raked.iterations,
        "converged": raked.converged,
        "reason": reason(weighted, raking),
        "largest_margin_error": raked.largest_margin_error,
        "largest_weight_change": raked.largest_weight_change,
        "distance": raked.distance,
        "margins": margins,
        "unattainable": missing.iter().map(|(cell, share)| json!({"cell": cell, "share": share})).collect::<Vec<_>>(),
        "fingerprint": plan.fingerprint().as_str(),
        "simulation": read.simulation,
    })
}
