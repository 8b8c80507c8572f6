//! `candor sample-size`: number of respondents for a margin of error, a difference, a coefficient, or the detection of
//! noncompliance.

use candor::effects::{self, EffectOptions, EffectPower};
use candor::estimate::EstimateOptions;
use candor::power::{Alternative, PowerOptions, Powers, QuestionPower, powers};
use candor::regress::RegressOptions;
use candor::sample_size::{SampleSizeOptions, TableSampleSize, sample_size};
use candor::shares::Shares;
use candor_analysis::estimate::Interval;
use candor_analysis::regress::{Effect, Family};
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_runtime::names;
use candor_tables::input::{Input, Location};
use clap::Args;

use super::estimate::parse_confidence;
use super::regress::parse_reference;
use super::{parse_respondents, read_plan, read_shares};
use crate::failure::Failure;
use crate::flags::{choice, with_flags};
use crate::progress::working;
use crate::show::{count, emit, emit_json, label, lead, paragraph, remark, short_table, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor sample-size plan.json --margin 0.02 --tables pairs
  candor sample-size plan.json --margin 0.02 --expected-shares people.csv
  candor sample-size plan.json --detect-difference 0.1,0.2
  candor sample-size plan.json --detect-difference 0.1 --null-share 0.05 --power 0.9
  candor sample-size plan.json --noncompliance 0.1 --detect-difference 0.2
  candor sample-size plan.json --detect-difference 0.1,0.2 --respondents 500
  candor sample-size plan.json --model \"Income ~ Sex + Region\" --effect \"Sex=Male=0.7\"
  candor sample-size plan.json --model \"Income ~ Region\" --effect \"Region=south=0.4\" --expected-shares people.csv
  candor sample-size plan.json --model \"Income ~ Sex + age\" --effect \"age=0.2\" --numeric-columns age")]
pub struct SampleSizeArgs {
    /// Plan (JSON); - for standard input
    plan: String,
    /// Margin of error, as a share: 0.02 is two percentage points
    #[arg(
        long,
        value_parser = parse_margin,
        required_unless_present_any = ["detect", "ignoring", "model"],
        conflicts_with_all = ["detect", "ignoring", "model"]
    )]
    margin: Option<f64>,
    /// Shares of the last category in two groups whose difference is to be detected; one share with --null-share or
    /// --noncompliance
    #[arg(
        long = "detect-difference",
        alias = "detect",
        value_delimiter = ',',
        value_name = "P,P",
        allow_negative_numbers = true
    )]
    detect: Vec<f64>,
    /// Share under the null hypothesis, for a one-sided test
    #[arg(
        long = "null-share",
        alias = "null",
        value_name = "P",
        requires = "detect",
        conflicts_with = "ignoring",
        allow_negative_numbers = true
    )]
    null: Option<f64>,
    /// Share of noncompliance to detect: people who ignore their device and give the first answer (see candor
    /// compliance)
    #[arg(long = "noncompliance", alias = "ignoring", value_name = "G", allow_negative_numbers = true)]
    ignoring: Option<f64>,
    /// Model with a coefficient to detect, such as "Income ~ Education + Sex + age" (see candor regress)
    #[arg(long, requires = "effect", conflicts_with_all = ["detect", "ignoring"])]
    model: Option<String>,
    /// Coefficient to detect, by its term; "TERM=0.7 for CATEGORY" for a multinomial outcome. May be repeated;
    /// coefficients not listed are zero
    #[arg(long, value_name = "TERM=0.7", requires = "model", value_parser = parse_effect)]
    effect: Vec<Effect>,
    /// Expected shares for --margin and --model (CSV or Parquet): columns attribute, category and share, or pilot
    /// records; attributes not listed have equal shares
    #[arg(long = "expected-shares", alias = "shares", value_name = "FILE", conflicts_with_all = ["detect", "ignoring"])]
    shares: Option<String>,
    /// Numeric columns of the model that --expected-shares does not list; assumed to be normal
    #[arg(long = "numeric-columns", alias = "numbers", value_name = "NAME,..", requires = "model")]
    numbers: Option<String>,
    /// Type of the outcome [default: as in the schema]
    #[arg(long, value_parser = choice::<Family>(), requires = "model")]
    family: Option<Family>,
    /// Reference category of an attribute [default: the first]; may be repeated
    #[arg(long, value_name = "NAME=CATEGORY", value_parser = parse_reference, requires = "model")]
    reference: Vec<(String, String)>,
    /// Power: probability of detecting the effect, between 0 and 1
    #[arg(long, default_value_t = EffectOptions::default().power, allow_negative_numbers = true)]
    power: f64,
    /// Significance level of the test, between 0 and 1
    #[arg(long, default_value_t = EffectOptions::default().alpha, allow_negative_numbers = true)]
    alpha: f64,
    /// Sample size whose power is reported instead; of two groups, in each
    #[arg(long, value_name = "N", value_parser = parse_respondents, conflicts_with = "margin")]
    respondents: Option<f64>,
    /// Tables: marginals, pairs, triples, joint, or names such as "a,b;c"
    #[arg(long, default_value = "marginals", value_parser = super::parse_tables)]
    tables: String,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// Simultaneous coverage of all intervals of a table
    #[arg(long)]
    simultaneous: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn parse_margin(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(margin) if margin > 0.0 && margin < 1.0 => Ok(margin),
        _ => Err("expected a share above 0 and below 1, such as 0.02".to_owned()),
    }
}

/// Description of the progress.
const WHAT: &str = "computing the number of respondents";

pub fn run(args: SampleSizeArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    if let Some(text) = &args.model {
        return run_effects(&plan, text, &args);
    }
    let Some(margin) = args.margin else { return run_power(&plan, &args) };
    let tables = TableList::parse(&args.tables, plan.schema()).map_err(|error| Failure::about("--tables", error))?;
    let interval = if args.simultaneous { Interval::Simultaneous } else { Interval::Wald };
    let expected = read_shares(args.shares.as_deref(), plan.schema())?;
    let options = SampleSizeOptions::new(margin).confidence(args.confidence).interval(interval).expected(expected);
    let sizes = working(WHAT, || sample_size(&plan, &tables, &options))?;
    if args.json {
        return emit_json(&sizes);
    }
    let row = |one: &TableSampleSize| {
        let needed = one.respondents.map_or("not identifiable".to_owned(), |needed| count(needed as u64));
        let shown = |needed: Option<f64>| needed.map_or("-".to_owned(), |needed| count(needed as u64));
        let anticipated = args.shares.as_ref().map(|_| shown(one.anticipated));
        let first = [one.attributes.join(","), needed, shown(one.conditional)];
        first.into_iter().chain(anticipated).chain([shown(one.constrained), shown(one.worst_case)]).collect()
    };
    let rows: Vec<Vec<String>> = sizes.tables.iter().map(row).collect();
    let each = if args.simultaneous { "all intervals of a table at once" } else { "each interval" };
    let heading = format!(
        "Respondents for a margin of {} ({each} with confidence {}): in every cell of a uniform population, within \
         groups of average size (the last attribute given the others), {}with constrained estimates, and in the worst \
         case",
        margin,
        args.confidence,
        if args.shares.is_some() { "for the expected shares, " } else { "" }
    );
    let anticipated = args.shares.as_ref().map(|_| "expected");
    let header: Vec<&str> = ["table", "uniform", "within groups"].into_iter().chain(anticipated).collect();
    let header = [&header[..], &["constrained", "worst case"]].concat();
    let note = "Constrained: respondents for constrained estimates (candor estimate --method constrained) to have the \
                root mean square error of unbiased ones, in the expected or else a uniform population. Their \
                intervals are those of unbiased estimates.";
    let heading = lead(&sizes.verdict.text) + lead(&heading).trim_end() + "\n";
    emit(&(heading + &short_table(&header, &rows) + &paragraph(note)))
}

/// Parses the alternative to detect.
fn finding(args: &SampleSizeArgs) -> Result<Alternative, Failure> {
    let found = Alternative::new(&args.detect, args.null, args.ignoring);
    found.map_err(|error| Failure::Usage(with_flags(&error.to_string())))
}

fn parse_effect(text: &str) -> Result<Effect, String> {
    effects::parse_effect(text).map_err(|error| with_flags(&error.to_string()))
}

/// Computes the number of respondents for the effects of a model.
fn run_effects(plan: &Plan, text: &str, args: &SampleSizeArgs) -> Result<(), Failure> {
    let fitting = RegressOptions::default().family(args.family).references(args.reference.clone());
    let asked = effects::model(plan, text, fitting)?;
    let shares = match &args.shares {
        Some(file) => Shares::read(plan.schema(), Input::open(&Location::new(file), None)?, asked.numbers())?,
        None => Shares::uniform(),
    };
    let (alpha, power, respondents) = (args.alpha, args.power, args.respondents);
    let numbers = args.numbers.as_deref().map_or(Ok(Vec::new()), names::list);
    let numbers = numbers.map_err(|error| Failure::about("--numeric-columns", error))?;
    let options = EffectOptions::default().effects(args.effect.clone()).numbers(numbers);
    let options = options.alpha(alpha).power(power).respondents(respondents);
    let found = working(WHAT, || effects::effects(plan, &asked, &shares, &options))?;
    if args.json {
        return emit_json(&found);
    }
    found.notes.iter().for_each(|note| remark(&with_flags(note)));
    let row = |one: &EffectPower| {
        let term =
            one.category.as_ref().map_or(one.term.clone(), |category| format!("{} for {}", one.term, label(category)));
        let effect = one.effect.to_string();
        vec![
            term,
            effect,
            count(one.respondents as u64),
            format!("{:.3}", one.power),
            format!("{:.4}", one.standard_error),
            format!("{:.3}", one.one_sided),
        ]
    };
    let rows: Vec<Vec<String>> = found.effects.iter().map(row).collect();
    let heading = format!("Respondents for finding a coefficient of {}, level {alpha}\n", found.model);
    let header = ["term", "effect", "respondents", "power", "standard error", "no limit"];
    let legend = "\nno limit: probability that the confidence interval lacks a lower or an upper limit\n";
    emit(&(heading + &table(&header, &rows) + legend))
}

fn run_power(plan: &Plan, args: &SampleSizeArgs) -> Result<(), Failure> {
    let (alpha, power, respondents) = (args.alpha, args.power, args.respondents);
    let options = PowerOptions::new(finding(args)?).alpha(alpha).power(power).respondents(respondents);
    let found = powers(plan, &options)?;
    if args.json {
        return emit_json(&found);
    }
    let row = |one: &QuestionPower| {
        let numbers = one.respondents.zip(one.power).map(|(n, power)| [count(n as u64), format!("{power:.3}")]);
        let reason = || [one.reason.clone().unwrap_or_default(), String::new()];
        [one.attribute.clone(), label(&one.category)].into_iter().chain(numbers.unwrap_or_else(reason)).collect()
    };
    let rows: Vec<Vec<String>> = found.questions.iter().map(row).collect();
    emit(&(heading(&found) + &table(&["question", "category", "respondents", "power"], &rows)))
}

fn heading(found: &Powers) -> String {
    let what = match found.finding {
        "groups" => "Respondents in each of two groups, for a two-sided test of the shares of a category",
        "null" => "Respondents for a one-sided test of the share of a category",
        _ => "Respondents for finding people who ignore their device and give this answer",
    };
    format!("{what}, level {}\n", found.alpha)
}
