//! `candor query`: plan + responses -> the share and number of people for whom a condition holds.

use candor::choice::Choice;
use candor::counts::{Counts, Provenance};
use candor::estimate::EstimateOptions;
use candor::query::{
    Answer, Answers, ComparedAnswer, QueryMethods, QueryOptions, ShareQuery, query_groups_with_progress,
    query_with_progress,
};
use candor_analysis::adjust::DistinctRecords;
use candor_analysis::estimate::Target;
use candor_base::plan::Plan;
use candor_tables::distinct::distinct_responses;
use clap::Args;
use serde::Serialize;

use super::estimate::parse_confidence;
use super::survey::{Sources, SurveyArgs, count as count_responses};
use super::{MarkArgs, parse_delimiter, read_plan, response_files, tell_provenance};
use crate::failure::Failure;
use crate::flags::choice;
use crate::progress::watched;
use crate::show::{count, emit, emit_json, label, lead, paragraph, table};

#[derive(Args)]
#[command(after_help = "\
A condition compares attributes with categories by =, !=, in (..) and not in (..); ordinal attributes also by
<, <=, > and >=. Combine comparisons with and, or, not and parentheses. Quote names and labels that contain spaces.

Examples:
  candor query plan.json responses.parquet --where \"Education in (bachelor, 'higher degree') and Sex = Female\"
  candor query plan.json responses.parquet --where \"Income = '>50K'\" --method all --json
  candor query plan.json responses.parquet --where \"Income = '>50K'\" --given \"Education = bachelor\" \
  --compare-groups Sex
  candor query plan.json responses.csv --where \"Income = '>50K'\" --by Region --weights weight")]
pub struct QueryArgs {
    /// Plan (JSON) of the responses
    plan: String,
    /// Response files: CSV (also gzip), Parquet or JSON Lines; - for standard input
    #[arg(required_unless_present = "counts")]
    responses: Vec<String>,
    /// Files of precomputed counts instead of responses: answer columns and a column "count"; see candor sql
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with = "responses")]
    counts: Vec<String>,
    /// Condition whose share is estimated
    #[arg(long = "where", value_name = "CONDITION")]
    condition: String,
    /// Conditional share: only people for whom this condition holds
    #[arg(long, value_name = "CONDITION")]
    given: Option<String>,
    /// Attribute whose mean is estimated, among people for whom the condition holds
    #[arg(long, value_name = "NAME")]
    mean: Option<String>,
    /// Numeric score of each category of that attribute, such as 9,40,75
    #[arg(long = "scores", alias = "values", value_name = "NUMBERS", allow_hyphen_values = true, requires = "mean")]
    values: Option<String>,
    /// Attribute whose groups are compared; differences and ratios to the first group
    #[arg(long = "compare-groups", alias = "compare", value_name = "NAME")]
    compare: Option<String>,
    /// Estimation method
    #[arg(long, value_parser = choice::<QueryMethods>(), default_value = QueryOptions::default().methods.name())]
    method: QueryMethods,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// Inference target
    #[arg(long, value_parser = choice::<Target>(), default_value = Target::default().name())]
    target: Target,
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

pub fn run(args: QueryArgs) -> Result<(), Failure> {
    args.marks.apply();
    let plan = read_plan(&args.plan)?;
    let options = QueryOptions::default()
        .methods(args.method)
        .confidence(args.confidence)
        .target(args.target)
        .given(args.given.clone())
        .mean(args.mean.clone())
        .values(args.values.clone())
        .compare(args.compare.clone());
    let mut question = ShareQuery::new(&plan, &args.condition, options)?;
    let survey = args.survey.survey(&plan, None)?;
    if survey.has_design() {
        EstimateOptions::default().target(args.target).check_design()?;
    }
    if !(args.survey.is_plain() && args.counts.is_empty()) {
        question = question.of_survey()?;
    }
    let tables = question.tables()?;
    let note = question.note().map_or(String::new(), |note| paragraph(&note));
    let answers = if question.needs_records() {
        let (records, responses) = read_records(&args, &plan)?;
        let groups = [(Vec::new(), records.tallies(&plan, &tables))].into();
        let counts = Counts::new(&plan, &[], groups, responses)?;
        watched(|progress| query_with_progress(&counts, Some(&records), &question, progress))?
    } else {
        let sources = Sources { responses: &args.responses, counts: &args.counts, delimiter: args.delimiter };
        let counts = count_responses(&plan, &survey, sources, &tables, false)?;
        if !counts.by().is_empty() {
            let groups = watched(|progress| query_groups_with_progress(&counts, &question, progress))?;
            return match args.json {
                true => emit_json(&Groups { groups }),
                false => emit(&(groups.iter().map(describe).collect::<Vec<_>>().join("\n") + &note)),
            };
        }
        watched(|progress| query_with_progress(&counts, None, &question, progress))?
    };
    match args.json {
        true => emit_json(&answers),
        false => emit(&(describe(&answers) + &note)),
    }
}

#[derive(Serialize)]
struct Groups {
    groups: Vec<Answers>,
}

/// Reads the distinct responses and their total number.
fn read_records(args: &QueryArgs, plan: &Plan) -> Result<(DistinctRecords, u64), Failure> {
    let inputs = response_files(&args.responses, args.delimiter)?;
    let (records, read) = watched(|progress| distinct_responses(plan, inputs, progress))?;
    tell_provenance(&Provenance::new(&read));
    Ok((records, read.responses))
}

fn describe(answers: &Answers) -> String {
    let mut text = answers.verdict.as_ref().map_or(String::new(), |verdict| lead(&verdict.text));
    text += &format!("{} responses; where {}", count(answers.respondents), answers.condition.trim());
    let given = answers.given.as_ref().map(|given| format!(", among those with {}", given.trim()));
    let group: Vec<String> = answers.group.iter().map(|(name, category)| format!("{name} = {category}")).collect();
    let group = (!group.is_empty()).then(|| format!(", in the group {}", group.join(", ")));
    let design = answers.sampling_note.as_ref().map(|design| format!(", {design}"));
    text.extend([given, group, design].into_iter().flatten());
    text.push('\n');
    if !answers.compared.is_empty() {
        return text + &compared_table(answers);
    }
    let several = answers.answers.len() > 1;
    let row = |answer: &Answer| {
        let people = answer.estimate.map(|share| format!("{:.0}", share * answers.respondents as f64));
        let shown = |number: Option<f64>| number.map(|number| format!("{number:.4}"));
        let [error, low, high] = [answer.standard_error, answer.low, answer.high].map(shown);
        let mut cells = if several { vec![Some(answer.method.to_owned())] } else { Vec::new() };
        cells.push(shown(answer.estimate));
        if whole(answers) {
            cells.push(people);
        }
        cells.extend([error, low, high]);
        cells.into_iter().map(|cell| cell.unwrap_or("-".to_owned())).collect::<Vec<_>>()
    };
    let number = answers.mean.as_ref().map_or("share".to_owned(), |name| format!("mean of {name}"));
    let mut header = if several { vec!["method"] } else { Vec::new() };
    header.push(&number);
    if whole(answers) {
        header.push("people");
    }
    header.extend(["standard error", "low", "high"]);
    text += &table(&header, &answers.answers.iter().map(row).collect::<Vec<_>>());
    for answer in &answers.answers {
        if let Some(reason) = &answer.reason {
            let method = if several { format!("{}: ", answer.method) } else { String::new() };
            text += &paragraph(&format!("{method}{reason}."));
        }
    }
    text
}

/// Returns whether shares refer to all respondents, so that they are also numbers of people.
fn whole(answers: &Answers) -> bool {
    answers.given.is_none() && answers.mean.is_none()
}

fn compared_table(answers: &Answers) -> String {
    let shown = |number: f64| if number.is_finite() { format!("{number:.4}") } else { "any".to_owned() };
    let row = |one: &ComparedAnswer| {
        let number = one.number.map(|m| [m.estimate, m.low, m.high]);
        let difference = one.difference.map(|m| [m.estimate, m.low, m.high]);
        let ratio = one.ratio.map(|r| [r.estimate, r.low, r.high]);
        let cells = |numbers: Option<[f64; 3]>| numbers.map_or(["-"; 3].map(str::to_owned), |n| n.map(shown));
        [label(&one.category)]
            .into_iter()
            .chain([number, difference, ratio].into_iter().flat_map(cells))
            .collect::<Vec<_>>()
    };
    let name = answers.compared.first().map_or("", |one| &one.attribute);
    let number = answers.mean.as_ref().map_or("share".to_owned(), |name| format!("mean of {name}"));
    let header = [name, &number, "low", "high", "difference", "low", "high", "ratio", "low", "high"];
    table(&header, &answers.compared.iter().map(row).collect::<Vec<_>>())
}
