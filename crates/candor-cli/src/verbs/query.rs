//! `candor query`: plan + responses -> the share and number of people for whom a condition holds.

use candor::plan::Plan;
use candor_analysis::adjust::{DistinctRecords, Options, adjust, check_plan};
use candor_analysis::condition::Condition;
use candor_analysis::estimate::{Interval, Linear};
use candor_analysis::query::{Assume, parts, share_where};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::TableTally;
use candor_tables::distinct::distinct_responses;
use candor_tables::input::Inputs;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::estimate::{TargetArg, parse_confidence, read_responses};
use super::{parse_delimiter, read_plan, tell_provenance};
use crate::failure::Failure;
use crate::progress::Progress;
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
    /// Responses: CSV (also gzip) or Parquet; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// The condition
    #[arg(long = "where", value_name = "CONDITION")]
    condition: String,
    /// How to estimate; all ways side by side by default
    #[arg(long, value_enum)]
    method: Option<MethodArg>,
    /// Confidence of the intervals
    #[arg(long, default_value_t = 0.95, value_parser = parse_confidence)]
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

impl MethodArg {
    fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    /// What it takes for independent; `None` if it does not multiply tables.
    fn assume(self) -> Option<Assume> {
        match self {
            MethodArg::Joint => Some(Assume::Nothing),
            MethodArg::Clusters => Some(Assume::BlocksIndependent),
            MethodArg::Independent => Some(Assume::AttributesIndependent),
            MethodArg::Adjusted => None,
        }
    }
}

/// One way to answer, and its answer or why there is none.
struct Answer {
    method: MethodArg,
    share: Result<Linear, String>,
}

pub fn run(args: QueryArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let condition =
        Condition::parse(&args.condition, plan.schema()).map_err(|error| Failure::about("--where", error))?;
    let methods = args.method.map_or_else(|| MethodArg::value_variants().to_vec(), |method| vec![method]);
    // The tables of all methods, each counted once.
    let mut lists: Vec<Vec<usize>> = Vec::new();
    let assumed = methods.iter().filter_map(|method| method.assume());
    for part in assumed.flat_map(|assume| parts(&plan, &condition, assume)) {
        let fits = TableList::of(vec![part.clone()], plan.schema()).is_ok();
        if fits && !lists.contains(&part) {
            lists.push(part);
        }
    }
    let tables = TableList::of(lists, plan.schema()).map_err(|error| Failure::about("--where", error))?;
    let counted = if methods.contains(&MethodArg::Adjusted) && check_plan(&plan).is_ok() {
        Counted::distinct(&args, &plan, &tables)?
    } else {
        let mut tallied = read_responses(&plan, &args.responses, args.delimiter, &tables)?;
        let tallies = tallied.groups.pop_first().map_or(Vec::new(), |(_, tallies)| tallies);
        Counted { tallies, responses: tallied.responses, records: None }
    };
    let answer = |&method: &MethodArg| {
        let share = match method.assume() {
            Some(assume) => counted.product(&args, &plan, &condition, assume),
            None => counted.adjusted(&plan, &condition),
        };
        Answer { method, share }
    };
    let answers: Vec<Answer> = methods.iter().map(answer).collect();
    if args.json {
        return emit_json(&describe_json(&args, counted.responses, &answers));
    }
    emit(&describe(&args, &plan, counted.responses, &condition, &answers))
}

/// What was counted of the responses, in one pass.
struct Counted {
    tallies: Vec<TableTally>,
    responses: u64,
    /// The different responses, if records were asked for.
    records: Option<DistinctRecords>,
}

impl Counted {
    fn distinct(args: &QueryArgs, plan: &Plan, tables: &TableList) -> Result<Counted, Failure> {
        let inputs = Inputs::new(&args.responses, args.delimiter)?;
        let bar = Progress::new();
        let found = distinct_responses(plan, inputs, |done, all| bar.show(done, all));
        bar.clear();
        let (records, read) = found?;
        tell_provenance(&read.unmarked, read.simulation);
        Ok(Counted { tallies: records.tallies(plan, tables), responses: read.responses, records: Some(records) })
    }

    fn product(&self, args: &QueryArgs, plan: &Plan, condition: &Condition, assume: Assume) -> Result<Linear, String> {
        if TableList::of(vec![condition.attributes().to_vec()], plan.schema()).is_err() {
            return Err("the attributes of the condition have too many combinations of categories".to_owned());
        }
        let wanted = parts(plan, condition, assume);
        let found = wanted.iter().map(|part| self.tallies.iter().find(|tally| tally.layout().attributes == *part));
        match found.collect::<Option<Vec<_>>>() {
            Some(tallies) => {
                share_where(plan, condition, &tallies, args.target.into()).map_err(|error| error.to_string())
            }
            None => Err("a table is too large".to_owned()),
        }
    }

    fn adjusted(&self, plan: &Plan, condition: &Condition) -> Result<Linear, String> {
        check_plan(plan).map_err(|error| error.to_string())?;
        let records = self.records.as_ref().ok_or("the responses were not kept")?;
        let margins = TableList::of_blocks(plan).map_err(|error| error.to_string())?;
        let adjusted = adjust(plan, records, &margins, &Options::default()).map_err(|error| error.to_string())?;
        if !adjusted.raked.converged {
            return Err("the weights do not converge; candor adjust tells why".to_owned());
        }
        // The columns of record-shaped responses are the attributes.
        let holds = |record: &[u16]| condition.holds(|attribute| record[attribute]);
        let inside = (0..records.len()).filter(|&i| holds(records.record(i)));
        Ok(Linear { value: inside.map(|i| adjusted.raked.weights[i]).sum(), standard_error: None })
    }
}

fn interval(args: &QueryArgs, share: &Linear) -> Option<[f64; 3]> {
    let error = share.standard_error?;
    let reach = Interval::Wald.reach(args.confidence, 1) * error;
    Some([error, share.value - reach, share.value + reach])
}

fn describe(args: &QueryArgs, plan: &Plan, responses: u64, condition: &Condition, answers: &[Answer]) -> String {
    let mut text = format!("{} responses; where {}\n", count(responses), args.condition.trim());
    let row = |answer: &Answer| match &answer.share {
        Ok(share) => {
            let people = format!("{:.0}", share.value * responses as f64);
            let mut row = vec![answer.method.name(), format!("{:.4}", share.value), people];
            row.extend(match interval(args, share) {
                Some(numbers) => numbers.map(|number| format!("{number:.4}")),
                None => ["-", "-", "-"].map(str::to_owned),
            });
            row
        }
        Err(_) => [answer.method.name(), "-".into(), "-".into(), "-".into(), "-".into(), "-".into()].to_vec(),
    };
    let header = ["method", "share", "people", "standard error", "low", "high"];
    text += &table(&header, &answers.iter().map(row).collect::<Vec<_>>());
    for answer in answers {
        if let Err(reason) = &answer.share {
            text += &paragraph(&format!("{}: {reason}.", answer.method.name()));
        }
    }
    if condition.attributes().len() > 1 && answers.iter().any(|answer| answer.method != MethodArg::Joint) {
        let clusters = match parts(plan, condition, Assume::BlocksIndependent).len() {
            1 => "all attributes of the condition are in one block of the plan, so clusters is the same as joint",
            _ => "clusters takes attributes of different blocks of the plan for independent",
        };
        text += &paragraph(&format!(
            "joint is unbiased; independent takes all attributes for independent, and {clusters}. adjusted keeps what randomization left \
             of the dependences. What has no standard error is biased by as much as nobody can tell from the responses."
        ));
    }
    text
}

fn describe_json(args: &QueryArgs, responses: u64, answers: &[Answer]) -> Value {
    let one = |answer: &Answer| {
        let share = answer.share.as_ref().ok();
        let numbers = share.and_then(|share| interval(args, share));
        json!({
            "method": answer.method.name(),
            "estimate": share.map(|share| share.value),
            "standard_error": numbers.map(|[error, ..]| error),
            "low": numbers.map(|[_, low, _]| low),
            "high": numbers.map(|[.., high]| high),
            "reason": answer.share.as_ref().err(),
        })
    };
    json!({
        "where": args.condition,
        "respondents": responses,
        "confidence": args.confidence,
        "answers": answers.iter().map(one).collect::<Vec<_>>(),
    })
}
