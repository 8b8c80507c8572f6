//! `candor import`: converts answers that interviewers wrote down to responses.

use candor::import::{Columns, check_columns, import, lotteries};
use candor_tables::input::Inputs;
use candor_tables::output::Target;
use candor_tables::responses::Format;
use clap::Args;

use super::{ForceArgs, parse_delimiter, read_plan, refuse_both, refuse_overwriting};
use crate::failure::Failure;
use crate::progress::watched;
use crate::show::{count, emit_json, remark};

#[derive(Args)]
#[command(after_help = "\
Example:
  candor import plan.json answers.csv --keep weight -o entered.parquet

The data file has one row per respondent and one column per question, with the answer that was given. If the
plan has several cards, another column holds the letter (or number) of the card. For a list experiment that is
the group: 0 or A for control, 1 or B for treatment, or words given by --card-labels.")]
pub struct ImportArgs {
    /// Plan (JSON) of the survey
    plan: String,
    /// Answers as interviewers recorded them: CSV (also gzip) or Parquet; - for standard input
    #[arg(required = true)]
    answers: Vec<String>,
    /// Output file for the responses: .parquet, .csv or .tsv
    #[arg(short, long)]
    output: String,
    #[command(flatten)]
    existing: ForceArgs,
    /// Columns with the card of each interview, one per question that has several cards [default: candor_tag,
    /// candor_tag_2, ..]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    cards: Vec<String>,
    /// Values of these columns for cards A, B, .. [default: letters, or numbers from 0]
    #[arg(long, value_delimiter = ',', value_name = "LABEL,..")]
    card_labels: Vec<String>,
    /// Columns with the answers, in the order of the plan's questions [default: named as in responses]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    answer_columns: Vec<String>,
    /// Columns to copy unchanged; other extra columns are dropped
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    keep: Vec<String>,
    /// Delimiter of CSV files: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: ImportArgs) -> Result<(), Failure> {
    refuse_both(args.json, Some(&args.output))?;
    let plan = read_plan(&args.plan)?;
    let inputs: Vec<&str> = args.answers.iter().map(String::as_str).chain([args.plan.as_str()]).collect();
    refuse_overwriting(&args.output, &inputs)?;
    let needed = lotteries(&plan);
    if !args.cards.is_empty() && args.cards.len() != needed {
        return Err(Failure::Usage(format!(
            "--cards names {} columns, but the plan has {needed} lotteries",
            args.cards.len()
        )));
    }
    let columns =
        Columns { cards: args.cards, card_labels: args.card_labels, answers: args.answer_columns, keep: args.keep };
    check_columns(&plan, &columns)?;
    let target = Target::new(&args.output);
    let tables = Inputs::new(&args.answers, args.delimiter)?;
    let to = (&target, Format::for_target(&target), args.existing.rule());
    let entered = watched(|progress| import(&plan, tables, &columns, to, progress))?;
    if args.json {
        return emit_json(&entered);
    }
    remark(&format!("{} answers entered to {} (plan {})", count(entered.records), target.name(), plan.fingerprint()));
    Ok(())
}
