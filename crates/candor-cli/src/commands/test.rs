//! `candor test`: independence of two attributes, differences of groups and waves; corrected for the randomization.

use candor::choice::Choice;
use candor::estimate::EstimateOptions;
use candor::format::{p_is, p_value};
use candor::sampling::SamplingDesign;
use candor::scan::{self, Adjust, Scan, ScanTarget, ScanTest};
use candor::test::{GroupTest, Independence, one_pair, tables, test_groups_with_progress, test_with_progress};
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use clap::Args;
use serde::Serialize;

use super::differences::{self, DifferenceArgs, Read};
use super::estimate::parse_confidence;
use super::survey::{Sources, SurveyArgs, count as count_responses};
use super::{MarkArgs, parse_delimiter, read_plan};
use crate::failure::Failure;
use crate::flags::choice;
use crate::progress::watched;
use crate::show::{count, emit, emit_json, label, paragraph, plural, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor test plan.json responses.parquet --independence Education,Income
  candor test plan.json responses.csv --independence Education,Income --by Region --weights weight
  candor test plan.json responses.csv --with Income --adjust bh --top 3
  candor test crossed.json crossed.csv --crossed --top 3
  candor test plan.json responses.csv --tables Income --compare-groups Sex
  candor test plan.json responses.csv --mean Income --scores Income:30,70 --compare-groups Sex
  candor test plan.json responses.csv --tables Income --baseline earlier.parquet --baseline-plan first.json")]
pub struct TestArgs {
    /// Plan (JSON) of the responses
    plan: String,
    /// Response files: CSV (also gzip), Parquet or JSON Lines; - for standard input
    #[arg(required_unless_present = "counts")]
    responses: Vec<String>,
    /// Files of precomputed counts instead of responses: answer columns and a column "count"; see candor sql
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with = "responses")]
    counts: Vec<String>,
    /// Two attributes to test for independence
    #[arg(long, value_name = "A,B")]
    independence: Option<String>,
    /// Attribute to test for independence of every other one (a scan), smallest p-value first
    #[arg(
        long,
        value_name = "NAME",
        group = "scan",
        conflicts_with_all = ["independence", "by", "tables", "mean", "compare", "against"]
    )]
    with: Option<String>,
    /// Test the two parts of every crossed attribute for independence (a scan): attributes such as SNP*Disease, whose
    /// categories are all combinations; see candor design --cross-with
    #[arg(
        long,
        group = "scan",
        conflicts_with_all = ["independence", "by", "tables", "mean", "compare", "against"]
    )]
    crossed: bool,
    /// Adjustment of the p-values of a scan for multiple testing
    #[arg(long, value_parser = choice::<Adjust>(), default_value = Adjust::default().name(), requires = "scan")]
    adjust: Adjust,
    /// Number of attributes that a scan selects; reports how often each would be selected again
    #[arg(long, value_name = "K", default_value_t = 10, requires = "scan")]
    top: usize,
    #[command(flatten)]
    differences: DifferenceArgs,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
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
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: TestArgs) -> Result<(), Failure> {
    args.marks.apply();
    let plan = read_plan(&args.plan)?;
    let survey = |plan: &Plan| args.survey.survey(plan, args.condition.as_deref());
    let sources = Sources { responses: &args.responses, counts: &args.counts, delimiter: args.delimiter };
    let target = args.with.as_deref().map(ScanTarget::With).or(args.crossed.then_some(ScanTarget::Crossed));
    if let Some(target) = target {
        return run_scan(&args, &plan, target, &survey(&plan)?, sources);
    }
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
        let groups = watched(|told| test_groups_with_progress(&plan, &counts, pair, args.confidence, told))?;
        return match args.json {
            true => emit_json(&Groups { groups }),
            false => emit(&groups.iter().map(|group| in_group(group, names, args.confidence)).collect::<String>()),
        };
    }
    let result = watched(|told| test_with_progress(&plan, &counts, pair, args.confidence, told))?;
    match args.json {
        true => emit_json(&result),
        false => emit(&describe(&result, names, args.confidence)),
    }
}

fn run_scan(
    args: &TestArgs,
    plan: &Plan,
    target: ScanTarget<'_>,
    survey: &SamplingDesign,
    sources: Sources<'_>,
) -> Result<(), Failure> {
    let counts = count_responses(plan, survey, sources, &scan::tables(plan.schema(), target)?, false)?;
    let found = watched(|progress| scan::scan_with_progress(plan, &counts, target, args.adjust, args.top, progress))?;
    match args.json {
        true => emit_json(&found),
        false => emit(&describe_scan(&found)),
    }
}

/// Formats the selected attributes of a scan, naive and corrected statistics side by side.
fn describe_scan(found: &Scan) -> String {
    let tested = match &found.outcome {
        Some(outcome) => format!("Which of {} depend on {outcome}?", plural(found.tested, "attribute")),
        None => format!("Which of {} have parts that depend on each other?", plural(found.tested, "crossed attribute")),
    };
    let mut text = format!("{tested} {} responses\n\n", count(found.respondents));
    let row = |test: &ScanTest| {
        let naive = test.naive.as_ref().map_or(["-".to_owned(), "-".to_owned()], |naive| {
            [format!("{:.2}", naive.statistic), p_value(naive.p_value)]
        });
        let again = test.selected_again.map_or("-".to_owned(), |share| format!("{:.0}%", 100.0 * share));
        let corrected = [format!("{:.2}", test.statistic), test.degrees.to_string(), p_value(test.p_value)];
        [[test.attribute.clone()].as_slice(), &corrected, &[p_value(test.adjusted_p_value), again], &naive].concat()
    };
    let header = ["attribute", "chi-square", "df", "p", "adjusted p", "again", "naive", "naive p"];
    text += &table(&header, &found.tests.iter().take(found.top).map(row).collect::<Vec<_>>());
    let method = match found.adjust {
        "holm" => "Holm: among those below 0.05, the probability of any false finding is at most 5%",
        _ => "Benjamini and Hochberg: of those below 0.05, at most 5% on average are false findings",
    };
    text += &paragraph(&format!(
        "p: corrected for the randomization; adjusted p: also for the number of tests ({method}). again: how often the \
         attribute would be among the first {} again in as many new responses. naive: the answers treated as true \
         values.",
        found.top
    ));
    for untested in &found.untested {
        text += &paragraph(&format!("{} was not tested: {}.", untested.attribute, untested.reason));
    }
    text
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
    match &result.sampling_note {
        None => text += &paragraph(&format!("Corrected for the randomization: {corrected}.")),
        Some(design) => text += &paragraph(&format!("Corrected for the randomization, {design}: {corrected}.")),
    }
    let error = result.cramers_v_standard_error;
    let ends = result.cramers_v_low.zip(result.cramers_v_high);
    let error = error.zip(ends).map_or(String::new(), |(error, (low, high))| {
        format!(" (standard error {error:.4}, {}% interval {low:.4} to {high:.4})", 100.0 * confidence)
    });
    text += &paragraph(&format!("Cramér's V of the population: {:.4}{error}.", result.cramers_v));
    for merged in &result.merged {
        let labels: Vec<String> = merged.categories.iter().map(|label| format!("\"{label}\"")).collect();
        text += &paragraph(&format!(
            "Too rare to be distinguished in {}, and merged for V, which can only lower it: {}.",
            merged.attribute,
            labels.join(", ")
        ));
    }
    if let Some(odds) = result.odds_ratio {
        let percent = 100.0 * confidence;
        text += &paragraph(&format!(
            "Odds ratio: {:.3}, {percent}% interval {:.3} to {:.3}.",
            odds.estimate, odds.low, odds.high
        ));
    }
    if let Some((naive, verdict)) = result.naive.zip(result.verdict())
        && let Some(v) = naive.cramers_v
    {
        let said = line(naive.statistic, naive.degrees, naive.p_value);
        text += &paragraph(&format!("Without the correction: {said}; Cramér's V {v:.4}. That is {verdict}."));
    }
    text
}
