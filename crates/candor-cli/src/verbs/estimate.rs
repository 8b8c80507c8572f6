//! `candor estimate`: plan + responses -> tables with intervals.

use std::fmt::Write;

use candor::plan::Plan;
use candor::schema::Schema;
use candor_analysis::estimate::{
    Analysis, Cell, EstimateError, Interval, Method, NoAnswer, Options, TableEstimator, Target, analyse,
};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableTally;
use candor_tables::counts::tally_counts;
use candor_tables::estimates::{EstimateRow, write_estimates};
use candor_tables::input::Inputs;
use candor_tables::output;
use candor_tables::spreadsheet::safe_cell;
use candor_tables::tally::{Job, Tallied, tally, tally_keeping_sets};
use candor_tables::visible::visible;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{CellArgs, parse_delimiter, read_plan, tell_provenance};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::show::{count, emit_data, json_text, remark, table};

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
    /// Responses: CSV (also gzip) or Parquet; - for standard input
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
    #[arg(long, default_value_t = 0.95, value_parser = parse_confidence)]
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

/// A condition number worth mentioning.
const ILL_CONDITIONED: f64 = 1e3;

/// One published table, for one combination of categories of the `--by` attributes.
struct Published {
    group: Vec<(String, String)>,
    analysis: Analysis,
    /// Of the cells, if asked for and to be had.
    covariance: Option<Vec<Vec<f64>>>,
}

pub fn run(args: EstimateArgs) -> Result<(), Failure> {
    let in_json = args.json || args.format == FormatArg::Json;
    if args.covariance && !(in_json && args.method == MethodArg::Unbiased) {
        return Err(Failure::Usage("--covariance goes with --json and the unbiased method".to_owned()));
    }
    if args.cells.safe_cells && (in_json || args.format != FormatArg::Csv) {
        return Err(Failure::Usage("--safe-cells goes with --format csv only".to_owned()));
    }
    let plan = read_plan(&args.plan)?;
    let schema = plan.schema();
    let tables = TableList::parse(&args.tables, schema).map_err(|error| Failure::about("--tables", error))?;
    let by = public_attributes(schema, &args.by)?;
    let tallied = if args.counts.is_empty() {
        let keep_sets = args.method == MethodArg::Iterative;
        let inputs = Inputs::new(&args.responses, args.delimiter)?;
        let job = Job { plan: &plan, tables: &tables, by: &by, weights: args.weights.as_deref() };
        count_responses(&job, inputs, keep_sets)?
    } else {
        read_counts(&plan, &args.counts, args.delimiter, &tables)?
    };
    let options = options(&args);
    let mut published = Vec::new();
    for (key, tallies) in &tallied.groups {
        let group: Vec<(String, String)> = by
            .iter()
            .zip(key)
            .map(|(&a, &code)| {
                let attribute = &schema.attributes()[a];
                (attribute.name().to_owned(), attribute.categories()[usize::from(code)].clone())
            })
            .collect();
        for tally in tallies {
            let analysis = analyse(&plan, tally, &options);
            let covariance = if args.covariance { covariance(&plan, tally, &analysis) } else { None };
            published.push(Published { group: group.clone(), analysis, covariance });
        }
    }
    cautions(published.iter().map(|published| &published.analysis)).iter().for_each(|caution| remark(caution));
    let format = if args.json { FormatArg::Json } else { args.format };
    let target = output::Target::new(&args.output);
    let text = match format {
        FormatArg::Parquet => return Ok(write_estimates(&target, &long_rows(&plan, &published))?),
        FormatArg::Text => visible(&describe(&args, &plan, tallied.responses, &published)),
        FormatArg::Csv => csv(&plan, &published, args.cells.safe_cells),
        FormatArg::Json => json_text(&describe_json(&args, &plan, tallied.responses, &published)),
    };
    match target {
        output::Target::Stdout => emit_data(&text),
        file => Ok(output::write(&file, text.as_bytes())?),
    }
}

/// What should be known before believing these tables.
pub fn cautions<'a>(analyses: impl Iterator<Item = &'a Analysis> + Clone) -> Vec<String> {
    let mut cautions = Vec::new();
    if analyses.clone().any(|analysis| analysis.implausible) {
        cautions.push(
            "warning: these responses can hardly have come from this plan (chance below one in a million): wrong plan, \
             wrong file, or answers edited"
                .to_owned(),
        );
    }
    let condition = analyses.filter_map(|analysis| analysis.condition).fold(0.0, f64::max);
    if condition > ILL_CONDITIONED {
        cautions.push(format!(
            "note: a matrix of the plan has condition number {condition:.1e}: errors of the answers' shares may grow by as \
             much, and standard errors will be large"
        ));
    }
    cautions
}

/// The covariance of a one-way table.
fn covariance(plan: &Plan, tally: &TableTally, analysis: &Analysis) -> Option<Vec<Vec<f64>>> {
    let shares: Vec<f64> = analysis.cells.as_ref().ok()?.iter().map(|cell| cell.estimate).collect();
    TableEstimator::new(plan, &analysis.attributes).ok()?.one_way_covariance(tally, &shares)
}

/// Counts responses, and tells what should be known of them.
pub fn read_responses(
    plan: &Plan,
    paths: &[String],
    delimiter: Option<u8>,
    tables: &TableList,
) -> Result<Tallied, Failure> {
    let inputs = Inputs::new(paths, delimiter)?;
    count_responses(&Job { plan, tables, by: &[], weights: None }, inputs, false)
}

fn count_responses(job: &Job<'_>, inputs: Inputs, keep_sets: bool) -> Result<Tallied, Failure> {
    let bar = Progress::new();
    let progress = |done, all| bar.show(done, all);
    let tallied = if keep_sets { tally_keeping_sets(job, inputs, progress) } else { tally(job, inputs, progress) };
    bar.clear();
    let tallied = tallied?;
    tell_provenance(&tallied.unmarked, tallied.simulation);
    Ok(tallied)
}

fn read_counts(plan: &Plan, paths: &[String], delimiter: Option<u8>, tables: &TableList) -> Result<Tallied, Failure> {
    let tallies = tally_counts(plan, tables, Inputs::new(paths, delimiter)?)?;
    let responses = tallies.iter().map(|tally| tally.total() as u64).max().unwrap_or(0);
    let groups = std::collections::BTreeMap::from([(Vec::new(), tallies)]);
    Ok(Tallied { groups, responses, simulation: None, unmarked: Vec::new() })
}

fn public_attributes(schema: &Schema, names: &[String]) -> Result<Vec<usize>, Failure> {
    let one = |name: &String| match schema.protects(name) {
        None => schema.position(name).map_err(|error| Failure::about("--by", error)),
        Some(attribute) => Err(Failure::Input(format!(
            "--by: \"{name}\" is randomized, so its groups are not known; estimate a table instead: --tables \"{},..\"",
            attribute.name()
        ))),
    };
    names.iter().map(one).collect()
}

fn options(args: &EstimateArgs) -> Options {
    Options {
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
    }
}

/// The name of a flag's value, as the user writes it.
fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

pub fn names(plan: &Plan, analysis: &Analysis) -> Vec<String> {
    analysis.attributes.iter().map(|&a| plan.schema().name(a).to_owned()).collect()
}

/// The categories of each cell, in order.
pub fn categories(plan: &Plan, analysis: &Analysis) -> Vec<Vec<String>> {
    analysis.attributes.iter().fold(vec![Vec::new()], |rows, &attribute| {
        let labels = plan.schema().attributes()[attribute].categories();
        rows.iter()
            .flat_map(|row| labels.iter().map(move |label| [row.clone(), vec![label.clone()]].concat()))
            .collect()
    })
}

fn describe(args: &EstimateArgs, plan: &Plan, responses: u64, published: &[Published]) -> String {
    let mut text = format!("{} responses, {} estimate", count(responses), word(&args.method));
    if matches!(args.method, MethodArg::Unbiased | MethodArg::PlugIn) {
        let percent = 100.0 * args.confidence;
        let _ = write!(text, ", {percent} % {} intervals for the {}", word(&args.interval), word(&args.target));
    } else {
        text += " (not unbiased; without standard errors)";
    }
    if let Some(weights) = &args.weights {
        let _ = write!(text, ", weighted by {weights}");
    }
    text.push('\n');
    for Published { group, analysis, .. } in published {
        let names = names(plan, analysis);
        let group: Vec<String> = group.iter().map(|(name, category)| format!("{name} = {category}")).collect();
        let heading = if group.is_empty() {
            names.join(" x ")
        } else {
            format!("{} where {}", names.join(" x "), group.join(", "))
        };
        let _ = writeln!(text, "\n{heading}");
        match &analysis.cells {
            Err(reason) => text += &crate::show::paragraph(&reason.to_string()),
            Ok(cells) => text += &cell_table(&names, &categories(plan, analysis), cells),
        }
    }
    text
}

fn cell_table(names: &[String], categories: &[Vec<String>], cells: &[Cell]) -> String {
    let certain = cells.iter().any(|cell| cell.uncertainty.is_some());
    let label = names.join(" x ");
    let mut header = vec![label.as_str(), "estimate"];
    if certain {
        header.extend(["standard error", "low", "high"]);
    }
    let row = |(categories, cell): (&Vec<String>, &Cell)| {
        let shown = |label: &String| if label.is_empty() { "\"\"".to_owned() } else { label.clone() };
        let mut row =
            vec![categories.iter().map(shown).collect::<Vec<_>>().join(" x "), format!("{:.4}", cell.estimate)];
        if let Some(u) = cell.uncertainty {
            row.extend([u.standard_error, u.low, u.high].map(|value| format!("{value:.4}")));
        }
        row
    };
    table(&header, &categories.iter().zip(cells).map(row).collect::<Vec<_>>())
}

/// One row per cell of all tables; those without numbers are told of.
fn long_rows(plan: &Plan, published: &[Published]) -> Vec<EstimateRow> {
    let mut rows = Vec::new();
    for Published { group, analysis, .. } in published {
        let table = names(plan, analysis).join(",");
        let cells = match &analysis.cells {
            Ok(cells) => cells,
            Err(reason) => {
                remark(&format!("note: {table}: {reason}"));
                continue;
            }
        };
        let group = group.iter().map(|(name, category)| format!("{name}={category}")).collect::<Vec<_>>().join(",");
        for (categories, cell) in categories(plan, analysis).into_iter().zip(cells) {
            rows.push(EstimateRow {
                table: table.clone(),
                group: group.clone(),
                categories,
                estimate: cell.estimate,
                uncertainty: cell.uncertainty.map(|u| [u.standard_error, u.low, u.high]),
            });
        }
    }
    rows
}

fn csv(plan: &Plan, published: &[Published], safe_cells: bool) -> String {
    let quoted = |text: &str| {
        let text = if safe_cells { safe_cell(text) } else { text.into() };
        match text.contains([',', '"', '\n', '\r']) || text.is_empty() {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.into_owned(),
        }
    };
    let mut text = String::from("table,group,cell,estimate,standard_error,low,high\n");
    for row in long_rows(plan, published) {
        let numbers = row.uncertainty.map_or(",,".to_owned(), |[se, low, high]| format!("{se},{low},{high}"));
        let cell = quoted(&row.categories.join("*"));
        let _ = writeln!(text, "{},{},{cell},{},{numbers}", quoted(&row.table), quoted(&row.group), row.estimate);
    }
    text
}

fn describe_json(args: &EstimateArgs, plan: &Plan, responses: u64, published: &[Published]) -> Value {
    let one = |Published { group, analysis, covariance }: &Published| {
        let identifiable = !matches!(analysis.cells, Err(NoAnswer::Estimate(EstimateError::NotIdentifiable(_))));
        let cell = |(categories, cell): (Vec<String>, &Cell)| {
            let u = cell.uncertainty;
            json!({
                "categories": categories,
                "estimate": cell.estimate,
                "standard_error": u.map(|u| u.standard_error),
                "low": u.map(|u| u.low),
                "high": u.map(|u| u.high),
            })
        };
        let cells: Vec<Value> = match &analysis.cells {
            Ok(cells) => categories(plan, analysis).into_iter().zip(cells).map(cell).collect(),
            Err(_) => Vec::new(),
        };
        let mut table = json!({
            "attributes": names(plan, analysis),
            "group": group.iter().cloned().collect::<std::collections::BTreeMap<String, String>>(),
            "respondents": analysis.respondents,
            "condition": analysis.condition,
            "implausible": analysis.implausible,
            "identifiable": identifiable,
            "reason": analysis.cells.as_ref().err().map(ToString::to_string),
            "cells": cells,
        });
        if let Some(covariance) = covariance {
            table["covariance"] = json!(covariance);
        }
        table
    };
    json!({
        "respondents": responses,
        "method": word(&args.method),
        "target": word(&args.target),
        "interval": word(&args.interval),
        "confidence": args.confidence,
        "tables": published.iter().map(one).collect::<Vec<_>>(),
    })
}
