//! `candor enter`: what interviewers wrote down -> responses.

use candor::enter::{enter, lotteries};
use candor_tables::input::Inputs;
use candor_tables::output::Target;
use candor_tables::responses::Format;
use clap::Args;

use super::{parse_delimiter, read_plan, refuse_both, refuse_overwriting};
use crate::failure::Failure;
use crate::progress::working;
use crate::show::{count, emit_json, remark};

#[derive(Args)]
#[command(after_help = "\
Example:
  candor enter plan.json answers.csv --keep weight -o entered.parquet

The table has one row per respondent and one column per question, by its name, with the answer that was
given; and, if the plan comes with several cards, a column with the letter (or number) of the card. Every
other verb reads what is written.")]
pub struct EnterArgs {
    /// The plan that people answered under (JSON)
    plan: String,
    /// What was written down: CSV (also gzip) or Parquet; - for standard input
    #[arg(required = true)]
    answers: Vec<String>,
    /// Where to write the responses: .parquet, .csv or .tsv
    #[arg(short, long)]
    output: String,
    /// The columns that say which card was used, one for each question with several; candor_tag, candor_tag_2, .. by default
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    cards: Vec<String>,
    /// Further columns to pass on unchanged; all others are dropped
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    keep: Vec<String>,
    /// The delimiter of CSV tables, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Say what was done as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: EnterArgs) -> Result<(), Failure> {
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
    let target = Target::new(&args.output);
    let tables = Inputs::new(&args.answers, args.delimiter)?;
    let enter = || enter(&plan, tables, &args.cards, &args.keep, (&target, Format::of(&target)));
    let entered = working("entering answers", enter)?;
    if args.json {
        return emit_json(&entered);
    }
    remark(&format!("{} answers entered to {} (plan {})", count(entered.records), target.name(), plan.fingerprint()));
    Ok(())
}
