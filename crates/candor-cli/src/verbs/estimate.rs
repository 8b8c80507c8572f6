//! `candor estimate`: plan + responses -> tables with intervals.

use std::fmt::Write;

use candor::plan::Plan;
use candor_analysis::estimate::{Interval, Method, Target};
use candor_analysis::table_list::TableList;
use candor_study::counts::{CountOptions, Counts, public_attributes};
use candor_study::estimate::{Cell, EstimateOptions, Estimates, Table, estimate};
use candor_tables::estimates::{EstimateRow, write_estimates};
use candor_tables::input::Inputs;
use candor_tables::output;
use candor_tables::spreadsheet::safe_cell;
use candor_tables::visible::visible;
use clap::{Args, ValueEnum};

use super::{CellArgs, parse_delimiter, read_plan, tell_provenance};
use crate::failure::Failure;
use crate::progress::watched;
use crate::show::{count, emit_data, json_text, paragraph, remark, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor estimate plan.json responses.parquet
  candor estimate plan.json responses.csv --tables \"Education,Income;Sex\" --format csv -o tables.csv
  candor estimate plan.json responses.csv --tables pairs --interval simultaneous --json
  candor estimate plan.json responses.csv --by Region --weights weight
  candor estimate plan.json --counts counts.csv --tables pairs")]
pub struct EstimateArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip), Parquet or JSON lines; - for standard input
    #[arg(required_unless_present = "counts")]
    responses: Vec<String>,
    /// Instead of responses, files of counts made elsewhere: columns of answers and a column "count"; see candor sql
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with_all = ["responses", "by", "weights"])]
    counts: Vec<String>,
    /// Which tables: marginals, pairs, triples, joint, or names such as "a,b;c"
    #[arg(long, default_value = "marginals")]
    tables: String,
    /// Which estimate; only unbiased and plug-in have standard errors
    #[arg(long, value_enum, default_value_t = MethodArg::Unbiased)]
    method: MethodArg,
    /// Which intervals
    #[arg(long, value_enum, default_value_t = IntervalArg::Wald)]
    interval: IntervalArg,
    /// Confidence of the intervals
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// Whose table: the population the respondents come from, or the very table that was randomized
    #[arg(long, value_enum, default_value_t = TargetArg::Population)]
    target: TargetArg,
    /// In JSON, also the covariance of the estimates of each one-way table, for a population [unbiased]
    #[arg(long)]
    covariance: bool,
    /// Public attributes by which to estimate separately
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    by: Vec<String>,
    /// A column of survey weights, passed on by randomize --keep
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// The format of the tables
    #[arg(long, value_enum, default_value_t = FormatArg::Text, conflicts_with = "json")]
    format: FormatArg,
    #[command(flatten)]
    cells: CellArgs,
    /// Where to write the tables; standard output by default
    #[arg(short, long, default_value = "-")]
    output: String,
    /// As JSON; the same as --format json
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    /// Unbiased and unclipped; cells can be negative
    Unbiased,
    /// As unbiased, but matrices with more outputs than inputs weighted by the responses; nearly unbiased
    PlugIn,
    /// The likelihood by iteration; a proper distribution, not unbiased
    Iterative,
    /// The distribution closest to the unbiased estimate; not unbiased
    Projected,
    /// Negative cells cut off and the rest rescaled, as much of the literature does; not unbiased
    Clipped,
}

#[derive(Clone, Copy, ValueEnum)]
enum IntervalArg {
    /// Each interval holds with the confidence asked for
    Wald,
    /// All intervals of a table hold at once
    Simultaneous,
    /// Each interval by resampling the responses a thousand times; for few responses and rare cells
    Bootstrap,
}

/// Whose table is estimated, as a flag.
#[derive(Clone, Copy, ValueEnum)]
pub enum TargetArg {
    Population,
    Table,
}

impl From<TargetArg> for Target {
    fn from(target: TargetArg) -> Target {
        match target {
            TargetArg::Population => Target::Population,
            TargetArg::Table => Target::Table,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Text,
    Csv,
    Json,
    Parquet,
}

pub fn parse_confidence(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(confidence) if confidence > 0.0 && confidence < 1.0 => Ok(confidence),
        _ => Err("confidence is a number above 0 and below 1, such as 0.95".to_owned()),
    }
}

pub fn run(args: EstimateArgs) -> Result<(), Failure> {
    let in_json = args.json || args.format == FormatArg::Json;
    if args.covariance && !in_json {
        return Err(Failure::Usage("--covariance goes with --json and the unbiased method".to_owned()));
    }
    if args.cells.safe_cells && (in_json || args.format != FormatArg::Csv) {
        return Err(Failure::Usage("--safe-cells goes with --format csv only".to_owned()));
    }
    let options = options(&args);
    options.check()?;
    let plan = read_plan(&args.plan)?;
    let schema = plan.schema();
    let tables = TableList::parse(&args.tables, schema).map_err(|error| Failure::about("--tables", error))?;
    let by = public_attributes(schema, &args.by)?;
    let counts = if args.counts.is_empty() {
        let inputs = Inputs::new(&args.responses, args.delimiter)?;
        let counting = CountOptions { by: &by, weights: args.weights.as_deref(), keep_sets: options.needs_sets() };
        count_responses(&plan, inputs, &tables, counting)?
    } else {
        Counts::made_elsewhere(&plan, Inputs::new(&args.counts, args.delimiter)?, &tables)?
    };
    let estimates = estimate(&plan, &counts, &options)?;
    estimates.cautions().iter().for_each(|caution| remark(caution));
    let format = if args.json { FormatArg::Json } else { args.format };
    let target = output::Target::new(&args.output);
    let text = match format {
        FormatArg::Parquet => return Ok(write_estimates(&target, &long_rows(&estimates))?),
        FormatArg::Text => visible(&describe(&estimates, args.weights.as_deref())),
        FormatArg::Csv => csv(&estimates, args.cells.safe_cells),
        FormatArg::Json => json_text(&estimates),
    };
    match target {
        output::Target::Stdout => emit_data(&text),
        file => Ok(output::write(&file, text.as_bytes())?),
    }
}

/// Counts responses, and tells what should be known of them.
pub fn read_responses(
    plan: &Plan,
    paths: &[String],
    delimiter: Option<u8>,
    tables: &TableList,
) -> Result<Counts, Failure> {
    count_responses(plan, Inputs::new(paths, delimiter)?, tables, CountOptions::default())
}

fn count_responses(
    plan: &Plan,
    inputs: Inputs,
    tables: &TableList,
    options: CountOptions<'_>,
) -> Result<Counts, Failure> {
    let counts = watched(|watch| Counts::read(plan, inputs, tables, options, watch))?;
    tell_provenance(counts.provenance());
    Ok(counts)
}

fn options(args: &EstimateArgs) -> EstimateOptions {
    EstimateOptions {
        method: match args.method {
            MethodArg::Unbiased => Method::Unbiased,
            MethodArg::PlugIn => Method::PlugIn,
            MethodArg::Iterative => Method::Iterative,
            MethodArg::Projected => Method::Projected,
            MethodArg::Clipped => Method::Clipped,
        },
        target: args.target.into(),
        interval: match args.interval {
            IntervalArg::Wald => Interval::Wald,
            IntervalArg::Simultaneous => Interval::Simultaneous,
            IntervalArg::Bootstrap => Interval::Bootstrap,
        },
        confidence: args.confidence,
        covariance: args.covariance,
    }
}

fn describe(estimates: &Estimates, weights: Option<&str>) -> String {
    let mut text = format!("{} responses, {}", count(estimates.respondents), estimates.summary());
    if let Some(weights) = weights {
        let _ = write!(text, ", weighted by {weights}");
    }
    text.push('\n');
    let summary = silent_tables(estimates);
    for one in estimates.tables.iter().filter(|one| summary.is_none() || one.reason.is_none()) {
        let names = one.attributes.join(" x ");
        let group: Vec<String> = one.group.iter().map(|(name, category)| format!("{name} = {category}")).collect();
        let heading = if group.is_empty() { names } else { format!("{names} where {}", group.join(", ")) };
        let _ = writeln!(text, "\n{heading}");
        text += &match &one.reason {
            Some(reason) => paragraph(reason),
            None => cell_table(one),
        };
    }
    if let Some(summary) = summary {
        let _ = write!(text, "\n{}", paragraph(&summary));
    }
    for sentence in estimates.compliance_sentences() {
        let _ = write!(text, "\n{}", paragraph(&sentence));
    }
    text
}

/// Up to so many tables without numbers are told of one by one.
const FEW: usize = 5;

/// One sentence about all tables without numbers, if they are more than a few.
fn silent_tables(estimates: &Estimates) -> Option<String> {
    let silent: Vec<(&Table, &String)> =
        estimates.tables.iter().filter_map(|one| Some((one, one.reason.as_ref()?))).collect();
    let &(first, reason) = silent.first().filter(|_| silent.len() > FEW)?;
    let (without, all) = (silent.len(), estimates.tables.len());
    let name = first.attributes.join(",");
    Some(format!(
        "{without} of {all} tables have no numbers; the first of them, {name}, is {reason}. `--json` says it of each"
    ))
}

fn cell_table(one: &Table) -> String {
    let certain = one.cells.iter().any(|cell| cell.standard_error.is_some());
    let label = one.attributes.join(" x ");
    let mut header = vec![label.as_str(), "estimate"];
    if certain {
        header.extend(["standard error", "low", "high"]);
    }
    let row = |cell: &Cell| {
        let shown = |label: &String| if label.is_empty() { "\"\"".to_owned() } else { label.clone() };
        let label = cell.categories.iter().map(shown).collect::<Vec<_>>().join(" x ");
        let numbers = [Some(cell.estimate), cell.standard_error, cell.low, cell.high];
        let numbers = numbers.into_iter().flatten().map(|value| format!("{value:.4}"));
        [label].into_iter().chain(numbers).collect()
    };
    table(&header, &one.cells.iter().map(row).collect::<Vec<_>>())
}

/// One row per cell of all tables; those without numbers are told of.
fn long_rows(estimates: &Estimates) -> Vec<EstimateRow> {
    let mut rows = Vec::new();
    let summary = silent_tables(estimates);
    for one in &estimates.tables {
        let table = one.attributes.join(",");
        if let Some(reason) = one.reason.as_ref().filter(|_| summary.is_none()) {
            remark(&format!("note: {table}: {reason}"));
        }
        let group = one.group.iter().map(|(name, category)| format!("{name}={category}")).collect::<Vec<_>>().join(",");
        for cell in &one.cells {
            let uncertainty = || Some([cell.standard_error?, cell.low?, cell.high?]);
            rows.push(EstimateRow {
                table: table.clone(),
                group: group.clone(),
                categories: cell.categories.clone(),
                estimate: cell.estimate,
                uncertainty: uncertainty(),
            });
        }
    }
    if let Some(summary) = summary {
        remark(&format!("note: {summary}"));
    }
    rows
}

fn csv(estimates: &Estimates, safe_cells: bool) -> String {
    let quoted = |text: &str| {
        let text = if safe_cells { safe_cell(text) } else { text.into() };
        match text.contains([',', '"', '\n', '\r']) || text.is_empty() {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.into_owned(),
        }
    };
    let mut text = String::from("table,group,cell,estimate,standard_error,low,high\n");
    for row in long_rows(estimates) {
        let numbers = row.uncertainty.map_or(",,".to_owned(), |[se, low, high]| format!("{se},{low},{high}"));
        let cell = quoted(&row.categories.join("*"));
        let _ = writeln!(text, "{},{},{cell},{},{numbers}", quoted(&row.table), quoted(&row.group), row.estimate);
    }
    text
}
