//! `candor explain`: one page that tells respondents what is sent and what it can reveal.

use candor::explain::explain;
use candor_tables::existing::write_document;
use candor_tables::output::Target;
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

The file for --texts (TOML) has the wording of questions and the labels of categories:
[questions.Health] text = \"How is your health?\" answers = { \"1.0\" = \"very poor\" }. For a language that candor
does not include, it also has all texts of the sheet: language = \"it\", then [sheet]. These texts are not part of
the plan or its fingerprint.")]
pub struct ExplainArgs {
    /// Plan (JSON); - for standard input
    plan: String,
    /// Output file for the page; - for standard output
    #[arg(short, long, value_name = "sheet.html")]
    output: Option<String>,
    /// Output format [default: by the file name; text on standard output]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// Language: de, en, es, fr, or another one with --texts
    #[arg(long)]
    language: Option<String>,
    /// Question wording, category labels and translations (TOML)
    #[arg(long, value_name = "texts.toml")]
    texts: Option<String>,
    /// Print the numbers on the page as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// Plain text
    Text,
    /// Self-contained page
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
    write_document(&Target::new(named), text.as_bytes())?;
    if args.json {
        return emit_json(&sheet);
    }
    emit(&format!("The page for respondents is in {named}.\n"))
}
