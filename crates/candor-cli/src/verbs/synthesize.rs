//! `candor synthesize`: plan + responses -> synthetic records.

use std::time::Instant;

use candor::plan::Plan;
use candor::randomness::Source;
use candor_analysis::synthesize::{MAX_CELLS, MAX_RECORDS, estimated_tables, from_tables, from_weights};
use candor_analysis::table_list::TableList;
use candor_tables::output::Target;
use candor_tables::records::write_synthetic;
use candor_tables::responses::Format;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::adjust::{RakingArgs, describe, weigh};
use super::estimate::read_responses;
use super::{CellArgs, parse_delimiter, read_plan, refuse_overwriting};
use crate::failure::Failure;
use crate::show::{count, emit, emit_json, paragraph, remark};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor synthesize plan.json responses.parquet -o synthetic.csv
  candor synthesize plan.json responses.parquet --method adjusted --records 100000 -o synthetic.parquet
  candor synthesize plan.json responses.csv --method joint --seed 1 -o synthetic.csv")]
pub struct SynthesizeArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip) or Parquet; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// Where to write the records: .parquet, .csv, .tsv, and .gz of these texts; - for standard output
    #[arg(short, long)]
    output: String,
    /// What the records are made from
    #[arg(long, value_enum, default_value_t = MethodArg::Clusters)]
    method: MethodArg,
    /// How many records; as many as there are responses by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_RECORDS))]
    records: Option<u64>,
    #[command(flatten)]
    raking: RakingArgs,
    /// Makes the order of the records, and how parts are paired, reproducible; protects as much as without
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    cells: CellArgs,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Say what was done as JSON on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    /// The estimated table of all attributes; for small domains
    Joint,
    /// The estimated table of each block of the plan, blocks independent of each other
    Clusters,
    /// The answers themselves, with the weights of candor adjust
    Adjusted,
}

/// Synthetic records, and what is to be said about them.
struct Made {
    columns: Vec<Vec<u16>>,
    responses: u64,
    /// What the weights are like, if records are made from weights.
    weights: Option<(bool, String)>,
}

pub fn run(args: SynthesizeArgs) -> Result<(), Failure> {
    let started = Instant::now();
    let target = Target::new(&args.output);
    if args.json && target == Target::Stdout {
        return Err(Failure::Usage("--json and -o - would both go to standard output".to_owned()));
    }
    let format = args.cells.apply(Format::of(&target))?;
    if let Some(flag) = args.raking.given().filter(|_| args.method != MethodArg::Adjusted) {
        return Err(Failure::Usage(format!("{flag} belongs to --method adjusted")));
    }
    let mut read: Vec<&str> = args.responses.iter().map(String::as_str).collect();
    read.push(&args.plan);
    refuse_overwriting(&args.output, &read)?;
    let plan = read_plan(&args.plan)?;
    let source = match args.seed {
        Some(seed) => Source::from_seed(seed),
        None => Source::from_os().map_err(|error| Failure::Input(error.to_string()))?,
    };
    let made = match args.method {
        MethodArg::Joint => {
            let all = (0..plan.schema().attributes().len()).collect();
            let hint = "--method clusters or adjusted";
            from_estimates(&args, &plan, TableList::of(vec![all], plan.schema()), hint, &source)?
        }
        MethodArg::Clusters => from_estimates(
            &args,
            &plan,
            TableList::of_blocks(&plan),
            "--method adjusted, or a plan with smaller blocks",
            &source,
        )?,
        MethodArg::Adjusted => {
            let weighted = weigh(&plan, &args.responses, args.delimiter, &args.raking)?;
            let adjustment = &weighted.adjustment;
            let records = args.records.unwrap_or(adjustment.respondents);
            check_records(records)?;
            Made {
                columns: from_weights(&weighted.records, &adjustment.weights, records, &mut source.stream(0)),
                responses: adjustment.respondents,
                weights: Some((adjustment.converged, describe(adjustment))),
            }
        }
    };
    write_synthetic(&target, format, plan.schema(), plan.fingerprint(), &made.columns)?;
    let records = made.columns.first().map_or(0, |column| column.len() as u64);
    let method = args.method.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
    if args.json {
        let json = json!({
            "records": records,
            "respondents": made.responses,
            "method": method,
            "converged": made.weights.as_ref().map(|(converged, _)| converged),
            "seed": args.seed,
            "fingerprint": plan.fingerprint().as_str(),
            "seconds": started.elapsed().as_secs_f64(),
        });
        return emit_json(&json);
    }
    let mut text = made.weights.map_or(String::new(), |(_, description)| description + "\n");
    text += &format!(
        "{} synthetic records from {} responses ({method}), written to {}.\n",
        count(records),
        count(made.responses),
        target.name()
    );
    text += &paragraph(
        "They carry the noise of the estimates they are made from: a table of them is no more certain than candor estimate says. They are made from the \
         responses alone, so nobody loses any further privacy by them.",
    );
    match target {
        Target::Stdout => remark(text.trim_end()),
        Target::File(_) => return emit(&text),
    }
    Ok(())
}

fn check_records(records: u64) -> Result<(), Failure> {
    match records <= MAX_RECORDS {
        true => Ok(()),
        false => Err(Failure::Input(format!(
            "there are {} responses, and at most {} synthetic records can be made; say --records",
            count(records),
            count(MAX_RECORDS)
        ))),
    }
}

/// Records from estimated tables that hold every attribute once.
fn from_estimates(
    args: &SynthesizeArgs,
    plan: &Plan,
    tables: Result<TableList, candor_analysis::table_list::TableListError>,
    instead: &str,
    source: &Source,
) -> Result<Made, Failure> {
    // Lotteries have no records to give weights to.
    let instead = match plan.blocks().iter().any(|block| block.has_tag()) {
        true => "a plan whose answers are records, such as those of --method independent, joint or clusters",
        false => instead,
    };
    let wrong = |error: &dyn std::fmt::Display| Failure::Input(format!("{error}; use {instead}"));
    let tables = tables.map_err(|error| wrong(&error))?;
    for table in tables.lists() {
        let attributes = table.iter().map(|&attribute| &plan.schema().attributes()[attribute]);
        let cells = attributes.clone().map(|attribute| attribute.categories().len()).product::<usize>();
        if cells > MAX_CELLS {
            let names: Vec<&str> = attributes.map(|attribute| attribute.name()).collect();
            let (cells, most) = (count(cells as u64), count(MAX_CELLS as u64));
            return Err(wrong(&format!(
                "the table of {} has {cells} cells; records are made from tables of up to {most}",
                names.join(", ")
            )));
        }
    }
    let tallied = read_responses(plan, &args.responses, args.delimiter, &tables)?;
    let records = args.records.unwrap_or(tallied.responses);
    check_records(records)?;
    let tallies = tallied.groups.values().flatten();
    let estimated = estimated_tables(plan, tallies).map_err(|error| wrong(&error))?;
    let columns = from_tables(plan.schema(), &estimated, records, &mut source.stream(0));
    Ok(Made { columns, responses: tallied.responses, weights: None })
}
