//! `candor device`: dice, coins, cards and wheels for surveys without a computer.

use std::fmt::Write;

use candor::card::cards;
use candor::device::{DeviceOptions, Devices, ListedDevice, QuestionDevices, devices};
use candor_base::channel::rounded_up;
use candor_base::schema::Schema;
use candor_tables::existing::write_document;
use candor_tables::output::Target;
use clap::Args;

use super::{PlanOutputArgs, read_language, read_schema, refuse_overwriting};
use crate::failure::Failure;
use crate::show::{count, emit, emit_json, paragraph, remark, table, verbose};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor device --categories 2 --epsilon 1.61
  candor device --categories 3 --device \"die: 1-3 truth, 4 0, 5 1, 6 2\"
  candor device schema.toml --epsilon 1.61 -o plan.json --card card.html
  candor device schema.toml --epsilon 1.61 --compliance-check -o plan.json --card card.html --language de

A device is written as its kind, a colon, and rules: outcomes with an instruction.
Kinds: coin, two coins, three coins, die, ten-sided die, twenty-sided die, two dice, two ten-sided dice, sum of
two dice, card, suit, rank, wheel of 12. Instructions: truth, opposite, a category (a forced response), or
\"other 1/2\" (an unrelated question that half of the people answer with the second category).
\"crosswise: 1/4\" is the crosswise model, \"triangular: 1/4\" the triangular model. Tosses are written
heads+tails, playing cards C1 (ace of clubs) to S13 (king of spades).")]
pub struct DeviceArgs {
    /// Schema (TOML); each question that is not public gets a device
    #[arg(required_unless_present = "categories", conflicts_with = "categories")]
    schema: Option<String>,
    /// Number of categories of each question, instead of a schema; the questions are named a1, a2, ..
    #[arg(long, value_delimiter = ',', value_name = "N,..")]
    categories: Option<Vec<usize>>,
    /// Largest epsilon of one answer
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Custom device, such as "die: 1-4 truth, 5 yes, 6 no"
    #[arg(long, value_name = "DEVICE", required_unless_present = "epsilon")]
    device: Option<String>,
    /// Add compliance-check cards, assigned at random, so that noncompliance can be detected (see candor compliance)
    #[arg(long = "compliance-check", alias = "mirrored")]
    mirrored: bool,
    /// Margin of error for the reported sample size, as a share
    #[arg(long, default_value_t = DeviceOptions::default().margin)]
    margin: f64,
    /// Confidence level of that margin, between 0 and 1
    #[arg(
        long,
        default_value_t = DeviceOptions::default().confidence,
        value_parser = super::estimate::parse_confidence
    )]
    confidence: f64,
    /// Output file for the plan
    #[arg(short, long, value_name = "plan.json")]
    output: Option<String>,
    #[command(flatten)]
    plan_output: PlanOutputArgs,
    /// Output file for the instruction cards, a page to print
    #[arg(long, value_name = "card.html")]
    card: Option<String>,
    /// Language of the cards: de, en, es, fr, or another one with --texts
    #[arg(long, requires = "card")]
    language: Option<String>,
    /// Question wording, category labels and translations (TOML) for the cards
    #[arg(long, value_name = "texts.toml", requires = "card")]
    texts: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: DeviceArgs) -> Result<(), Failure> {
    let schema = match (&args.schema, &args.categories) {
        (Some(path), _) => read_schema(path)?,
        (None, Some(sizes)) => Schema::with_sizes(sizes).map_err(|error| Failure::about("--categories", error))?,
        (None, None) => return Err(Failure::Usage("a schema or --categories is required".to_owned())),
    };
    let options = DeviceOptions::default()
        .epsilon(args.epsilon)
        .device(args.device.as_deref())
        .margin(args.margin)
        .confidence(args.confidence)
        .mirrored(args.mirrored);
    let found = devices(&schema, &options)?;
    let language = read_language(args.language.as_deref(), args.texts.as_deref(), &found.plan)?;
    let inputs: Vec<&str> = args.schema.as_deref().into_iter().chain(args.texts.as_deref()).collect();
    for output in [&args.output, &args.card].into_iter().flatten() {
        refuse_overwriting(output, &inputs)?;
    }
    if let Some(path) = &args.output {
        args.plan_output.write(path, &found.plan)?;
    }
    if let Some(path) = &args.card {
        let page = cards(&found.plan, &found.devices, &language)?;
        write_document(&Target::new(path), page.as_bytes())?;
    }
    if args.json {
        return emit_json(&found);
    }
    found.warnings.iter().for_each(|warning| remark(&format!("warning: {warning}")));
    emit(&describe(&found, &args))
}

fn describe(found: &Devices, args: &DeviceArgs) -> String {
    let mut text = String::new();
    for question in &found.questions {
        text += &describe_question(question, found);
    }
    if found.questions.len() > 1 {
        let together =
            found.record_epsilon.map_or("unbounded".to_owned(), |epsilon| format!("epsilon {}", rounded_up(epsilon)));
        text +=
            &paragraph(&format!("All answers of a person together: {together}; each question takes its own throw."));
    }
    for (path, what) in [(&args.output, "The plan"), (&args.card, "The cards")] {
        if let Some(path) = path {
            writeln!(text, "{what}: {path}").expect("text takes text");
        }
    }
    text
}

/// So many devices of a question are printed if there are several questions.
const BEST: usize = 3;

fn describe_question(question: &QuestionDevices, found: &Devices) -> String {
    let row = |(place, listed): (usize, &ListedDevice)| {
        let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.3}"));
        vec![
            format!("{}{}", if place == question.chosen { "* " } else { "  " }, listed.device),
            listed.ratio.clone().unwrap_or_else(|| "unbounded".to_owned()),
            listed.epsilon.map_or("unbounded".to_owned(), rounded_up),
            share(listed.slope),
            share(listed.efficiency),
            listed.respondents.map_or("-".to_owned(), |n| count(n as u64)),
        ]
    };
    // Of many questions the devices that are used, and the best ones.
    let few = found.questions.len() > 1 && !verbose();
    let shown = |(place, _): &(usize, &ListedDevice)| !few || *place < BEST || *place == question.chosen;
    let rows: Vec<Vec<String>> = question.devices.iter().enumerate().filter(shown).map(row).collect();
    let header = ["device", "times as likely", "epsilon", "slope", "efficiency", "respondents"];
    let mut text = format!("{}, {} categories\n", question.attribute, question.categories) + &table(&header, &rows);
    let against = match found.epsilon {
        Some(epsilon) => format!("the best device of epsilon {epsilon}"),
        None => "the best device of the same epsilon".to_owned(),
    };
    text += &paragraph(&format!(
        "Efficiency: information relative to {against}. Respondents: for a margin of {} with confidence {}, if all \
         answers are equally common. * is the one that the plan uses{}.",
        found.margin,
        found.confidence,
        if question.devices.len() > 1 { ", the simplest among those within 5% of the best" } else { "" }
    ));
    if let [ListedDevice { efficiency: Some(efficiency), .. }] = question.devices[..]
        && efficiency < 0.995
    {
        text += &paragraph(&format!(
            "It wastes {:.0}% of the respondents: the best device of this epsilon would do with {:.0}% of them.",
            100.0 * (1.0 - efficiency),
            100.0 * efficiency
        ));
    }
    text
}
