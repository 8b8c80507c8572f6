//! `candor estimate`: plan + responses -> tables with intervals.

mod asked;
mod text;
mod rows;

use candor::choice::Choice;
use candor::counts::{CountOptions, Counts};
use candor::estimate::{EstimateOptions, Estimates, estimate_query_with_progress};
use candor_analysis::estimate::{Interval, Method, Target};
use candor_analysis::reliability::Standard;
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_runtime::escape_control::visible;
use candor_runtime::progress::ProgressSink;
use candor_tables::estimates::{Layout, estimates_csv, write_estimates};
use candor_tables::existing::{check_document, write_document};
use candor_tables::output;
use clap::{Args, ValueEnum};

pub use asked::{AskedArgs, ValuesArgs};

use super::survey::{Sources, SurveyArgs, count};
use super::{CellArgs, MarkArgs, parse_delimiter, read_plan, response_files, tell_provenance};
use crate::failure::Failure;
use crate::flags::choice;
use crate::progress::watched;
use crate::show::{emit_data, json_text, remark};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor estimate plan.json responses.parquet
  candor estimate plan.json responses.csv --tables \"Education,Income;Sex\" -o tables.csv
  candor estimate plan.json responses.csv --tables pairs --interval simultaneous --json
  candor estimate plan.json responses.csv --by Region --weights weight
  candor estimate plan.json responses.csv --where \"Region = north\" --weights weight
  candor estimate plan.json responses.csv --tables \"Income | Education, Sex\"
  candor estimate plan.json responses.csv --tables Income --compare-groups Sex
  candor estimate plan.json responses.csv --tables Income --baseline earlier.parquet --baseline-plan first.json
  candor estimate plan.json responses.csv --mean \"Income | Sex\" --quantile Income:0.5 --scores Income:30,70
  candor estimate plan.json --counts counts.csv --tables pairs")]
pub struct EstimateArgs {
    /// Plan (JSON) of the responses
    plan: String,
    /// Response files: CSV (also gzip), Parquet or JSON Lines; - for standard input
    #[arg(required_unless_present = "counts")]
    responses: Vec<String>,
    /// Files of precomputed counts instead of responses: answer columns and a column "count"; see candor sql
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with = "responses")]
    counts: Vec<String>,
    #[command(flatten)]
    asked: AskedArgs,
    /// Earlier responses to compare with; adds differences and ratios
    #[arg(
        long = "baseline",
        alias = "against",
        num_args = 1..,
        value_name = "FILE",
        conflicts_with_all = ["compare", "counts"]
    )]
    against: Vec<String>,
    /// Plan of the earlier responses [default: the same plan]
    #[arg(long = "baseline-plan", alias = "against-plan", value_name = "PLAN", requires = "against")]
    against_plan: Option<String>,
    /// Estimator; unbiased and plug-in have standard errors, constrained has root mean square errors
    #[arg(long, value_parser = choice::<Method>(), default_value = Method::default().name())]
    method: Method,
    /// Type of intervals
    #[arg(long, value_parser = choice::<Interval>(), default_value = Interval::default().name())]
    interval: Interval,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// Inference target
    #[arg(long, value_parser = choice::<Target>(), default_value = Target::default().name())]
    target: Target,
    /// Standard that decides which shares may be published
    #[arg(long, value_parser = choice::<Standard>(), default_value = Standard::default().name(), value_name = "RULE")]
    standards: Standard,
    /// Add the covariance matrix of each one-way table to the JSON output; for a population [unbiased]
    #[arg(long)]
    covariance: bool,
    /// Subpopulation: a condition on public attributes, such as "Region = north and Sex != Male"
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    #[command(flatten)]
    survey: SurveyArgs,
    /// Delimiter of CSV responses: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    #[command(flatten)]
    marks: MarkArgs,
    /// Output format [default: by the file name (.csv, .json, .parquet), else text]
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<FormatArg>,
    /// In CSV and Parquet, put all categories of a cell into one column, joined by *, instead of one column per
    /// attribute
    #[arg(long = "single-cell-column", alias = "joined")]
    joined: bool,
    #[command(flatten)]
    cells: CellArgs,
    /// Output file for the tables; - for standard output
    #[arg(short, long, default_value = "-")]
    output: String,
    /// Print JSON; short for --format json
    #[arg(long)]
    json: bool,
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
        _ => Err("confidence must be above 0 and below 1, such as 0.95".to_owned()),
    }
}

pub fn run(args: EstimateArgs) -> Result<(), Failure> {
    args.marks.apply();
    let format = format(&args);
    if args.covariance && format != FormatArg::Json {
        return Err(Failure::Usage("--covariance requires --json and --method unbiased".to_owned()));
    }
    if args.cells.safe_cells && format != FormatArg::Csv {
        return Err(Failure::Usage("--escape-formulas requires --format csv".to_owned()));
    }
    check_layout(&args, format)?;
    let options = options(&args);
    options.check()?;
    let target = output::Target::new(&args.output);
    check_document(&target)?;
    let plan = read_plan(&args.plan)?;
    let estimates = estimates(&args, &plan, &options)?;
    estimates.check_found()?;
    estimates.cautions().iter().for_each(|caution| remark(caution));
    let attributes: Vec<String> = plan.schema().attributes().iter().map(|a| a.name().to_owned()).collect();
    let layout = if args.joined { Layout::Joined } else { Layout::Columns(&attributes) };
    let text = match format {
        FormatArg::Parquet => return Ok(write_estimates(&target, &rows::long_rows(&estimates), layout)?),
        FormatArg::Text => visible(&text::describe(&plan, &estimates)),
        FormatArg::Csv => estimates_csv(&rows::long_rows(&estimates), layout, args.cells.safe_cells),
        FormatArg::Json => json_text(&estimates),
    };
    match target {
        output::Target::Stdout => emit_data(&text),
        file => Ok(write_document(&file, text.as_bytes())?),
    }
}

/// Returns the requested format, or the one of the output's extension.
fn format(args: &EstimateArgs) -> FormatArg {
    let named = args.output.to_ascii_lowercase();
    let by_name = [(".csv", FormatArg::Csv), (".json", FormatArg::Json), (".parquet", FormatArg::Parquet)]
        .into_iter()
        .find(|(ending, _)| named.ends_with(ending))
        .map_or(FormatArg::Text, |(_, format)| format);
    if args.json { FormatArg::Json } else { args.format.unwrap_or(by_name) }
}

fn check_layout(args: &EstimateArgs, format: FormatArg) -> Result<(), Failure> {
    let rows = matches!(format, FormatArg::Csv | FormatArg::Parquet);
    let others = args.asked.is_more_than_tables() || !args.against.is_empty();
    match args.joined {
        true if !rows => Err(Failure::Usage("--single-cell-column requires --format csv or parquet".to_owned())),
        true if others => Err(Failure::Usage(
            "--single-cell-column is for tables only; it cannot be used with comparisons, means or quantiles"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Estimates what is requested from these responses and, for comparisons, from earlier ones.
fn estimates(args: &EstimateArgs, plan: &Plan, options: &EstimateOptions) -> Result<Estimates, Failure> {
    let mut now = wave(args, plan, (&args.responses, &args.counts), options)?;
    if !args.against.is_empty() {
        let other = args.against_plan.as_deref().map(read_plan).transpose()?;
        let before = wave(args, other.as_ref().unwrap_or(plan), (&args.against, &[]), options)?;
        now.against(&before)?;
        remark(
            "note: the two are compared as answers given anew; people whose clients repeat a stored response show no \
             change, however much has changed",
        );
    }
    Ok(now)
}

/// Estimates what is requested from one file of responses or counts.
fn wave(
    args: &EstimateArgs,
    plan: &Plan,
    (responses, counts): (&[String], &[String]),
    options: &EstimateOptions,
) -> Result<Estimates, Failure> {
    let schema = plan.schema();
    let (asked, wanted) = args.asked.read(schema)?;
    let survey = args.survey.survey(plan, args.condition.as_deref())?;
    if survey.has_design() {
        options.check_design()?;
    }
    let lists = asked.counted().lists().iter().cloned().chain(wanted.tables()).collect();
    let tables = TableList::new(lists, schema).map_err(|error| Failure::about("--tables", error))?;
    let sources = Sources { responses, counts, delimiter: args.delimiter };
    let counts = count(plan, &survey, sources, &tables, options.needs_sets())?;
    let estimate =
        |progress: ProgressSink<'_>| estimate_query_with_progress(plan, &counts, &asked, &wanted, options, progress);
    Ok(watched(estimate)?)
}

/// Counts responses and prints notes about them.
pub fn read_responses(
    plan: &Plan,
    paths: &[String],
    delimiter: Option<u8>,
    tables: &TableList,
) -> Result<Counts, Failure> {
    let inputs = response_files(paths, delimiter)?;
    let counts = watched(|progress| Counts::read(plan, inputs, tables, CountOptions::default(), progress))?;
    tell_provenance(counts.provenance());
    Ok(counts)
}

fn options(args: &EstimateArgs) -> EstimateOptions {
    EstimateOptions::default()
        .method(args.method)
        .target(args.target)
        .interval(args.interval)
        .confidence(args.confidence)
        .covariance(args.covariance)
        .standard(args.standards)
}
