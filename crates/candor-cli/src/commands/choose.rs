//! `candor choose`: recommends an epsilon from respondents, tables and margin.

use candor::choose::{ChooseOptions, Deployment, EpsilonChoice, EpsilonOption, WHAT_IS_SHOWN, choose};
use candor::shell;
use candor::verdict::{by_luck, of_hundred, points};
use candor_base::schema::Schema;
use clap::Args;

use super::{parse_respondents, read_schema};
use crate::failure::Failure;
use crate::progress::watched;
use crate::show::{count, emit, emit_json, lead, paragraph, table};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor choose schema.toml --respondents 5000
  candor choose schema.toml --respondents 5000 --tables \"Sex,Income\" --margin 0.08 --max-guess 0.9
  candor choose --categories 2 --respondents 1000 --max-guess 0.75
  candor choose --categories 4,3 --respondents 20000 --tables marginals --json")]
pub struct ChooseArgs {
    /// Schema (TOML), as made by candor schema infer
    #[arg(required_unless_present = "categories", conflicts_with = "categories")]
    schema: Option<String>,
    /// Number of categories of each attribute, instead of a schema; the attributes are named a1, a2, ..
    #[arg(long, value_delimiter = ',', value_name = "N,..")]
    categories: Option<Vec<usize>>,
    /// Number of people who will respond
    #[arg(long, value_name = "N", value_parser = parse_respondents)]
    respondents: f64,
    /// Tables to publish: marginals, pairs, triples, joint, or names such as "a,b;c" [default: pairs, or marginals of
    /// one attribute]
    #[arg(long, value_parser = super::parse_tables)]
    tables: Option<String>,
    /// Largest margin of error, as a share: 0.05 is five percentage points; of tables of several attributes, that of
    /// percentages within groups
    #[arg(long, default_value_t = ChooseOptions::default().margin, allow_negative_numbers = true)]
    margin: f64,
    /// Largest probability that a guess about one answer is right, after the most revealing reply: 0.75 is 75 of 100
    /// [default: no limit]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    max_guess: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: ChooseArgs) -> Result<(), Failure> {
    let schema = match (&args.schema, &args.categories) {
        (Some(path), _) => read_schema(path)?,
        (None, sizes) => Schema::with_sizes(sizes.as_deref().unwrap_or_default())
            .map_err(|error| Failure::about("--categories", error))?,
    };
    let options = ChooseOptions::default()
        .respondents(args.respondents)
        .tables(args.tables.clone())
        .margin(args.margin)
        .max_guess(args.max_guess);
    let mut found = watched(|progress| choose(&schema, &options, progress))?;
    found.command = found.recommended.map(|epsilon| command(&args, epsilon));
    match args.json {
        true => emit_json(&found),
        false => emit(&text(&found)),
    }
}

/// Returns the command that makes the plan.
fn command(args: &ChooseArgs, epsilon: f64) -> String {
    let schema = match &args.schema {
        Some(path) => shell::file(path),
        None => {
            let sizes: Vec<String> = args.categories.iter().flatten().map(ToString::to_string).collect();
            format!("--categories {}", sizes.join(","))
        }
    };
    let tables = args.tables.as_ref().map_or(String::new(), |tables| format!(" {}", shell::flag("--tables", tables)));
    format!("candor design {schema} --epsilon {epsilon}{tables} --respondents {} -o plan.json", args.respondents)
}

/// Formats percentage points with one decimal, rounded up.
fn tenths(margin: f64) -> String {
    if margin < 100.0 { format!("±{:.1} points", (10.0 * margin - 1e-9).ceil() / 10.0) } else { "useless".to_owned() }
}

fn text(found: &EpsilonChoice) -> String {
    let mut text = format!("{}{}\n", lead(&found.verdict.text), paragraph(&found.reason));
    let needed = format!("people for ±{}", points(100.0 * found.margin));
    let header = ["  epsilon", "margin of error", &needed, "worst guess", "average", "by luck"];
    let row = |option: &EpsilonOption| {
        let mark = if found.recommended == Some(option.epsilon) { "* " } else { "  " };
        vec![
            format!("{mark}{}", option.epsilon),
            tenths(100.0 * option.margin),
            count(option.respondents_needed.min(1e18) as u64),
            format!("{} of 100", of_hundred(option.worst_posterior)),
            of_hundred(option.guess_probability),
            by_luck(option.by_luck),
        ]
    };
    text += &table(&header, &found.epsilons.iter().map(row).collect::<Vec<_>>());
    text += &paragraph(WHAT_IS_SHOWN);
    text += "\nEpsilons that others use (facts, not advice)\n";
    let row = |one: &Deployment| {
        vec![one.what.to_owned(), one.epsilon.to_string(), one.model.to_owned(), one.covers.to_owned()]
    };
    text += &table(&["", "epsilon", "model", "covers"], &found.deployments.iter().map(row).collect::<Vec<_>>());
    text += &paragraph("Central: the curator sees the answers; only what is published is protected. Sources: --json.");
    text + &found.command.as_ref().map_or(String::new(), |command| format!("\nNext: {command}\n"))
}
