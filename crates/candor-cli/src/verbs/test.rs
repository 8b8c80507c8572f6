//! `candor test`: independence of two attributes, corrected for the randomization.

use candor_analysis::table_list::TableList;
use candor_study::estimate::EstimateOptions;
use candor_study::test::{Independence, one_pair, tables, test};
use candor_study::words::p_is;
use clap::Args;

use super::estimate::{parse_confidence, read_responses};
use super::{parse_delimiter, read_plan};
use crate::failure::Failure;
use crate::show::{count, emit, emit_json, paragraph, plural};

#[derive(Args)]
#[command(after_help = "\
Example:
  candor test plan.json responses.parquet --independence Education,Income")]
pub struct TestArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip), Parquet or JSON lines; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// The two attributes
    #[arg(long, value_name = "A,B")]
    independence: String,
    /// Confidence of the interval of the odds ratio
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: TestArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let asked =
        TableList::parse(&args.independence, plan.schema()).map_err(|error| Failure::about("--independence", error))?;
    let pair = one_pair(&asked)?;
    let counts = read_responses(&plan, &args.responses, args.delimiter, &tables(plan.schema(), pair)?)?;
    let result = test(&plan, pair, &counts, args.confidence)?;
    match args.json {
        true => emit_json(&result),
        false => emit(&describe(&result, pair.map(|a| plan.schema().name(a)), args.confidence)),
    }
}

fn describe(result: &Independence, names: [&str; 2], confidence: f64) -> String {
    let line = |statistic: f64, degrees: usize, p: f64| {
        format!("chi-square {statistic:.3} with {} of freedom, {}", plural(degrees, "degree"), p_is(p))
    };
    let corrected = line(result.statistic, result.degrees, result.p_value);
    let mut text = format!("Are {} and {} independent? {} responses\n", names[0], names[1], count(result.respondents));
    text += &paragraph(&format!("Corrected for the randomization: {corrected}."));
    let error = result.cramers_v_standard_error;
    let error = error.map_or(String::new(), |error| format!(" (standard error {error:.4})"));
    text += &paragraph(&format!("Cramer's V of the population: {:.4}{error}.", result.cramers_v));
    if let Some(odds) = result.odds_ratio {
        let percent = 100.0 * confidence;
        text += &paragraph(&format!(
            "Odds ratio: {:.3}, {percent} % interval {:.3} to {:.3}.",
            odds.estimate, odds.low, odds.high
        ));
    }
    if let Some((naive, verdict)) = result.naive.zip(result.verdict())
        && let Some(v) = naive.cramers_v
    {
        let said = line(naive.statistic, naive.degrees, naive.p_value);
        text += &paragraph(&format!(
            "Taking the answers for the truth would have said: {said}; Cramer's V {v:.4}. That is {verdict}."
        ));
    }
    text
}
