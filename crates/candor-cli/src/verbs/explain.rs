//! `candor explain`: one page that tells a participant what is sent and what it reveals at most.

use candor::explain::explain;
use candor_tables::output::{self, Target};
use clap::{Args, ValueEnum};

use super::{read_language, read_plan, refuse_both, refuse_overwriting};
use crate::failure::Failure;
use crate::show::{emit, emit_data, emit_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor explain plan.json                      as text, here
  candor explain plan.json -o sheet.html        as a page for a browser or a printer
  candor explain plan.json --language de -o sheet.html
  candor explain plan.json --texts texts.toml -o sheet.html
  candor explain plan.json -o sheet.txt

A file of texts (TOML) says how attributes are asked for and what categories are called:
[questions.Health] text = \"How is your health?\" answers = { \"1.0\" = \"very poor\" }. For a language that candor
does not come with it has all texts of the sheet, too: language = \"it\", then [sheet]. Nothing of it is in the
plan or its fingerprint.")]
pub struct ExplainArgs {
    /// The plan (JSON); - for standard input
    plan: String,
    /// Where to write the page; - for standard output
    #[arg(short, long, value_name = "sheet.html")]
    output: Option<String>,
    /// Text or HTML; by the ending of the output's name if not given, text on standard output
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// The language: de, en, es, fr, or any other with --texts
    #[arg(long)]
    language: Option<String>,
    /// Questions as they are asked, labels of categories, and texts of your own (TOML)
    #[arg(long, value_name = "texts.toml")]
    texts: Option<String>,
    /// The numbers on the page as JSON on standard output
    #[arg(long)]
    json: bool,
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
    refuse_both(args.json, args.output.as_deref())?;
    let language = read_language(args.language.as_deref(), args.texts.as_deref(), &plan)?;
    let sheet = explain(&plan, &language);
    let page = &sheet.page;
    let named = args.output.as_deref().unwrap_or("-");
    let html = [".html", ".htm"].iter().any(|ending| named.to_ascii_lowercase().ends_with(ending));
    let text = match args.format.unwrap_or(if html { FormatArg::Html } else { FormatArg::Text }) {
        FormatArg::Text => page.text(),
        FormatArg::Html => page.html(),
    };
    if named == "-" {
        return if args.json { emit_json(&sheet) } else { emit_data(&text) };
    }
    let inputs: Vec<&str> = [args.plan.as_str()].into_iter().chain(args.texts.as_deref()).collect();
    refuse_overwriting(named, &inputs)?;
    output::write(&Target::new(named), text.as_bytes())?;
    if args.json {
        return emit_json(&sheet);
    }
    emit(&format!("The page for respondents is in {named}.\n"))
}
