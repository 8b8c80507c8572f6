//! `candor explain`: one page that tells a participant what is sent and what it reveals at most.

use candor_study::explain::explain;
use candor_tables::output::{self, Target};
use clap::{Args, ValueEnum};

use super::{read_plan, refuse_overwriting};
use crate::failure::Failure;
use crate::show::{emit, emit_data};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor explain plan.json                      as text, here
  candor explain plan.json -o sheet.html        as a page for a browser or a printer
  candor explain plan.json -o sheet.txt")]
pub struct ExplainArgs {
    /// The plan (JSON); - for standard input
    plan: String,
    /// Where to write the page; - for standard output
    #[arg(short, long, value_name = "sheet.html")]
    output: Option<String>,
    /// Text or HTML; by the ending of the output's name if not given, text on standard output
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// Plain text
    Text,
    /// A self-contained page
    Html,
}

pub fn run(args: ExplainArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let page = explain(&plan);
    let named = args.output.as_deref().unwrap_or("-");
    let html = [".html", ".htm"].iter().any(|ending| named.to_ascii_lowercase().ends_with(ending));
    let text = match args.format.unwrap_or(if html { FormatArg::Html } else { FormatArg::Text }) {
        FormatArg::Text => page.text(),
        FormatArg::Html => page.html(),
    };
    if named == "-" {
        return emit_data(&text);
    }
    refuse_overwriting(named, &[&args.plan])?;
    output::write(&Target::new(named), text.as_bytes())?;
    emit(&format!("The page for respondents is in {named}.\n"))
}
