//! `candor compliance`: tests whether people followed their instruction cards.

use candor::compliance::{Compliance, ComplianceOptions, QuestionCompliance, UNDETECTABLE, compliance, tables};
use clap::Args;

use super::estimate::{parse_confidence, read_responses};
use super::{MarkArgs, parse_delimiter, read_plan};
use crate::failure::Failure;
use crate::show::{count, emit, emit_json, label, lead, paragraph, table, verbose};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor compliance plan.json responses.parquet
  candor compliance plan.json responses.parquet --self-protective \"<=50K\"
  candor compliance plan.json responses.parquet --anchor Sex=Male")]
pub struct ComplianceArgs {
    /// Plan (JSON) of the responses
    plan: String,
    /// Response files: CSV (also gzip), Parquet or JSON Lines; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// Self-protective answer of people who ignore their card [default: the first answer to each question]
    #[arg(long = "self-protective", alias = "says", value_name = "ANSWER")]
    says: Option<String>,
    /// Anchor question: a question whose true answer is known; estimates the share of random answering
    #[arg(long, value_name = "QUESTION=CATEGORY")]
    anchor: Option<String>,
    /// Share of noncompliance, between 0 and 1, for which power is reported
    #[arg(long = "noncompliance", alias = "ignoring", default_value_t = ComplianceOptions::default().ignoring)]
    ignoring: f64,
    /// Significance level of the tests, between 0 and 1
    #[arg(long, default_value_t = ComplianceOptions::default().alpha)]
    alpha: f64,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = ComplianceOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// Delimiter of CSV responses: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    #[command(flatten)]
    marks: MarkArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: ComplianceArgs) -> Result<(), Failure> {
    args.marks.apply();
    let plan = read_plan(&args.plan)?;
    let anchor = match args.anchor.as_deref().map(|text| text.split_once('=')) {
        Some(None) => {
            return Err(Failure::Usage(
                "--anchor: expected a question and its true answer, such as Sex=Male".to_owned(),
            ));
        }
        Some(Some(pair)) => Some(pair),
        None => None,
    };
    let options = ComplianceOptions::default()
        .self_protective(args.says.as_deref())
        .anchor(anchor)
        .ignoring(args.ignoring)
        .alpha(args.alpha)
        .confidence(args.confidence);
    let counts = read_responses(&plan, &args.responses, args.delimiter, &tables(&plan, &options)?)?;
    let found = compliance(&plan, &counts, &options)?;
    match args.json {
        true => emit_json(&found),
        false => emit(&describe(&found)),
    }
}

fn describe(found: &Compliance) -> String {
    let mut text = found.verdict.as_ref().map_or(String::new(), |verdict| lead(&verdict.text));
    text += &format!("Did people follow their cards? {} responses\n", count(found.respondents));
    if let Some(attentive) = &found.attentive {
        text += &paragraph(&format!(
            "By {}, {:.4} of them attended to the question (standard error {:.4}); the others answered at random.",
            attentive.anchor, attentive.estimate, attentive.standard_error
        ));
    }
    for question in &found.questions {
        text += &describe_question(question, found);
    }
    if found.questions.len() > FEW && !verbose() {
        text += "\n  What the shares would be if some people answered at random: --verbose\n";
    }
    text + "\n" + &paragraph(UNDETECTABLE)
}

/// Of more questions, what random answers would do to the shares is printed if asked for.
const FEW: usize = 3;

fn describe_question(question: &QuestionCompliance, found: &Compliance) -> String {
    let mut text = format!("\n{}\n", question.attribute);
    if let Some(reason) = &question.reason {
        text += &paragraph(&format!("No test: {reason}."));
    }
    if let Some(test) = &question.test {
        text += &paragraph(&test.sentence(&question.attribute, found.alpha));
    }
    if let Some(class) = &question.ignoring {
        text += &paragraph(&format!(
            "People who ignore the card and say \"{}\": {:.4} (standard error {:.4}), {}% interval {:.4} to {:.4}. The \
             share of each category lies between two limits, and these answers do not say where:",
            class.self_protective_answer,
            class.share,
            class.standard_error,
            100.0 * found.confidence,
            class.low,
            class.high
        ));
        let number = |share: f64, error: f64| format!("{share:.4} ({error:.4})");
        let row = |reading: &candor::compliance::ShareBounds| {
            vec![
                label(&reading.category),
                number(reading.lower_scenario, reading.lower_scenario_standard_error),
                number(reading.upper_scenario, reading.upper_scenario_standard_error),
            ]
        };
        let rows: Vec<Vec<String>> = class.readings.iter().map(row).collect();
        text += &table(&[&question.attribute, "nobody of them has it", "all of them have it"], &rows);
    }
    if question.anchored.is_empty() && found.questions.len() > FEW && !verbose() {
        return text;
    }
    if question.anchored.is_empty() {
        let line = |one: &candor::compliance::Sensitivity| {
            let shares: Vec<String> = one.shares.iter().map(|share| format!("{share:.4}")).collect();
            vec![format!("{}%", 100.0 * one.if_attentive), shares.join(" ")]
        };
        let rows: Vec<Vec<String>> = question.sensitivity.iter().map(line).collect();
        if !rows.is_empty() {
            text += &table(&["if so many attend", "shares, the others answering at random"], &rows);
        }
    } else {
        let row = |one: &candor::compliance::CorrectedShare| {
            vec![label(&one.category), format!("{:.4}", one.estimate), format!("{:.4}", one.standard_error)]
        };
        let rows: Vec<Vec<String>> = question.anchored.iter().map(row).collect();
        text += &table(&[question.attribute.as_str(), "corrected by the anchor", "standard error"], &rows);
    }
    text
}
