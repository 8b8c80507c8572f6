//! `candor query`: plan + responses -> the share and number of people for whom a condition holds.

use candor::plan::Plan;
use candor_analysis::adjust::DistinctRecords;
use candor_study::counts::{Counts, Provenance};
use candor_study::estimate::EstimateOptions;
use candor_study::query::{Answer, Answers, QueryMethod, QueryOptions, Question, query};
use candor_tables::distinct::distinct_responses;
use candor_tables::input::Inputs;
use clap::{Args, ValueEnum};

use super::estimate::{TargetArg, parse_confidence, read_responses};
use super::{parse_delimiter, read_plan, tell_provenance};
use crate::failure::Failure;
use crate::progress::watched;
use crate::show::{count, emit, emit_json, paragraph, table};

#[derive(Args)]
#[command(after_help = "\
Conditions compare attributes with categories by =, !=, in (..), not in (..), and ordinal ones by <, <=, >, >=; they are
joined by and, or, not and parentheses. Names and labels with spaces go into quotes.

Examples:
  candor query plan.json responses.parquet --where \"Education in (bachelor, 'higher degree') and Sex = Female\"
  candor query plan.json responses.parquet --where \"Income = '>50K'\" --method joint --json")]
pub struct QueryArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip), Parquet or JSON lines; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// The condition
    #[arg(long = "where", value_name = "CONDITION")]
    condition: String,
    /// How to estimate; all ways side by side by default
    #[arg(long, value_enum)]
    method: Option<MethodArg>,
    /// Confidence of the intervals
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// Whose share: that of the population the respondents come from, or of the very table that was randomized
    #[arg(long, value_enum, default_value_t = TargetArg::Population)]
    target: TargetArg,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    /// From one table of all attributes in the condition; unbiased, with a standard error
    Joint,
    /// As if attributes of different blocks (clusters) were independent
    Clusters,
    /// As if all attributes were independent
    Independent,
    /// From answers weighted to agree with the estimated tables of the blocks; see candor adjust
    Adjusted,
}

impl From<MethodArg> for QueryMethod {
    fn from(method: MethodArg) -> QueryMethod {
        match method {
            MethodArg::Joint => QueryMethod::Joint,
            MethodArg::Clusters => QueryMethod::Clusters,
            MethodArg::Independent => QueryMethod::Independent,
            MethodArg::Adjusted => QueryMethod::Adjusted,
        }
    }
}

pub fn run(args: QueryArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let methods = args.method.map_or(QueryOptions::default().methods, |method| vec![method.into()]);
    let options = QueryOptions { methods, confidence: args.confidence, target: args.target.into() };
    let question = Question::new(&plan, &args.condition, options)?;
    let tables = question.tables()?;
    let answers = if question.needs_records() {
        let (records, responses) = read_records(&args, &plan)?;
        let groups = [(Vec::new(), records.tallies(&plan, &tables))].into();
        query(&question, &Counts::new(&plan, &[], groups, responses)?, Some(&records))
    } else {
        query(&question, &read_responses(&plan, &args.responses, args.delimiter, &tables)?, None)
    };
    match args.json {
        true => emit_json(&answers),
        false => emit(&describe(&answers, question.note())),
    }
}

/// The different responses, and how many there are in all.
fn read_records(args: &QueryArgs, plan: &Plan) -> Result<(DistinctRecords, u64), Failure> {
    let inputs = Inputs::new(&args.responses, args.delimiter)?;
    let (records, read) = watched(|watch| distinct_responses(plan, inputs, watch))?;
    tell_provenance(&Provenance::of(read.simulation, read.unmarked));
    Ok((records, read.responses))
}

fn describe(answers: &Answers, note: Option<String>) -> String {
    let mut text = format!("{} responses; where {}\n", count(answers.respondents), answers.condition.trim());
    let row = |answer: &Answer| {
        let people = answer.estimate.map(|share| format!("{:.0}", share * answers.respondents as f64));
        let shown = |number: Option<f64>| number.map(|number| format!("{number:.4}"));
        let [error, low, high] = [answer.standard_error, answer.low, answer.high].map(shown);
        let cells = [Some(answer.method.to_owned()), shown(answer.estimate), people, error, low, high];
        cells.map(|cell| cell.unwrap_or("-".to_owned())).to_vec()
    };
    let header = ["method", "share", "people", "standard error", "low", "high"];
    text += &table(&header, &answers.answers.iter().map(row).collect::<Vec<_>>());
    for answer in &answers.answers {
        if let Some(reason) = &answer.reason {
            text += &paragraph(&format!("{}: {reason}.", answer.method));
        }
    }
    text + &note.map_or(String::new(), |note| paragraph(&note))
}
