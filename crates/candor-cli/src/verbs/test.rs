//! `candor test`: independence of two attributes, differences of groups and waves; corrected for the randomization.

use candor::estimate::EstimateOptions;
use candor::test::{GroupTest, Independence, one_pair, tables, test, test_groups};
use candor::words::p_is;
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use clap::Args;
use serde::Serialize;

use super::differences::{self, DifferenceArgs, Read};
use super::estimate::parse_confidence;
use super::survey::{Sources, SurveyArgs, count as count_responses};
use super::{MarkArgs, parse_delimiter, read_plan};
use crate::failure::Failure;
use crate::show::{count, emit, emit_json, label, paragraph, plural};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor test plan.json responses.parquet --independence Education,Income
  candor test plan.json responses.csv --independence Education,Income --by Region --weights weight
  candor test plan.json responses.csv --tables Income --compare Sex
  candor test plan.json responses.csv --mean Income --values Income:30,70 --compare Sex
  candor test plan.json responses.csv --tables Income --against earlier.parquet --against-plan first.json")]
pub struct TestArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip), Parquet or JSON lines; - for standard input
    #[arg(required_unless_present = "counts")]
    responses: Vec<String>,
    /// Instead of responses, files of counts made elsewhere: columns of answers and a column "count"; see candor sql
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with = "responses")]
    counts: Vec<String>,
    /// Whether these two attributes are independent
    #[arg(long, value_name = "A,B")]
    independence: Option<String>,
    #[command(flatten)]
    differences: DifferenceArgs,
    /// Confidence of the intervals
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// Only those for whom a condition on public attributes holds, such as "Region = north and Sex != Male"
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    #[command(flatten)]
    survey: SurveyArgs,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    #[command(flatten)]
    marks: MarkArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: TestArgs) -> Result<(), Failure> {
    args.marks.apply();
    let plan = read_plan(&args.plan)?;
    let survey = |plan: &Plan| args.survey.survey(plan, args.condition.as_deref());
    let sources = Sources { responses: &args.responses, counts: &args.counts, delimiter: args.delimiter };
    let Some(independence) = &args.independence else {
        let read = Read { plan: &plan, sources, survey: &survey, confidence: args.confidence };
        let found = args.differences.run(&read)?;
        return if args.json { emit_json(&found) } else { emit(&differences::describe(&found)) };
    };
    let asked =
        TableList::parse(independence, plan.schema()).map_err(|error| Failure::about("--independence", error))?;
    let pair = one_pair(&asked)?;
    let survey = survey(&plan)?;
    let counts = count_responses(&plan, &survey, sources, &tables(plan.schema(), pair)?, false)?;
    let names = pair.map(|a| plan.schema().name(a));
    if !counts.by().is_empty() {
        let groups = test_groups(&plan, pair, &counts, args.confidence)?;
        return match args.json {
            true => emit_json(&Groups { groups }),
            false => emit(&groups.iter().map(|group| in_group(group, names, args.confidence)).collect::<String>()),
        };
    }
    let result = test(&plan, pair, &counts, args.confidence)?;
    match args.json {
        true => emit_json(&result),
        false => emit(&describe(&result, names, args.confidence)),
    }
}

#[derive(Serialize)]
struct Groups {
    groups: Vec<GroupTest>,
}

fn in_group(group: &GroupTest, names: [&str; 2], confidence: f64) -> String {
    let categories: Vec<String> =
        group.group.iter().map(|(name, category)| format!("{name} = {}", label(category))).collect();
    let result = match (&group.test, &group.reason) {
        (Some(test), _) => describe(test, names, confidence),
        (None, reason) => paragraph(reason.as_deref().unwrap_or_default()),
    };
    format!("Where {}:\n{result}\n", categories.join(", "))
}

fn describe(result: &Independence, names: [&str; 2], confidence: f64) -> String {
    let line = |statistic: f64, degrees: usize, p: f64| {
        format!("chi-square {statistic:.3} with {} of freedom, {}", plural(degrees, "degree"), p_is(p))
    };
    let corrected = line(result.statistic, result.degrees, result.p_value);
    let mut text = format!("Are {} and {} independent? {} responses\n", names[0], names[1], count(result.respondents));
    match &result.design {
        None => text += &paragraph(&format!("Corrected for the randomization: {corrected}.")),
        Some(design) => text += &paragraph(&format!("Corrected for the randomization, {design}: {corrected}.")),
    }
    let error = result.cramers_v_standard_error;
    let ends = result.cramers_v_low.zip(result.cramers_v_high);
    let error = error.zip(ends).map_or(String::new(), |(error, (low, high))| {
        format!(" (standard error {error:.4}, {} % interval {low:.4} to {high:.4})", 100.0 * confidence)
    });
    text += &paragraph(&format!("Cramer's V of the population: {:.4}{error}.", result.cramers_v));
    for merged in &result.merged {
        let labels: Vec<String> = merged.categories.iter().map(|label| format!("\"{label}\"")).collect();
        text += &paragraph(&format!(
            "Too rare to be told apart in {}, and counted as one for V, which can only lower it: {}.",
            merged.attribute,
            labels.join(", ")
        ));
    }
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
