//! `candor evidence`: the documents for those who approve a survey.

use std::path::Path;

use candor::evidence::{evidence, markdown, read_survey};
use candor_tables::existing::write_document;
use candor_tables::output::Target;
use clap::Args;

use super::{read_language, read_plan, refuse_overwriting};
use crate::failure::Failure;
use crate::show::{emit, emit_json, json_text};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor evidence plan.json                          writes evidence.html, .md, .json, registry.yaml
  candor evidence plan.json --language de -o nachweise
  candor evidence plan.json --json

An impact assessment (ICO, CNIL), the points of NIST SP 800-226, an entry for a registry, what respondents
read, the threat model and the certificate with the commands that check it. Each statement names the facts
that it rests on; what only people can answer is marked as open.")]
pub struct EvidenceArgs {
    /// Plan (JSON); - for standard input
    plan: String,
    /// Folder of a survey of candor-collect, with plan.json and survey.toml
    #[arg(long, value_name = "FOLDER")]
    survey: Option<String>,
    /// Folder for the evidence [default: evidence]
    #[arg(short, long, value_name = "FOLDER", conflicts_with = "json")]
    output: Option<String>,
    /// Language: de, en, es, fr, or another one with --texts
    #[arg(long)]
    language: Option<String>,
    /// Question wording, category labels and translations (TOML)
    #[arg(long, value_name = "texts.toml")]
    texts: Option<String>,
    /// Print JSON, and write no files
    #[arg(long)]
    json: bool,
}

pub fn run(args: EvidenceArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let language = read_language(args.language.as_deref(), args.texts.as_deref(), &plan)?;
    let survey = args.survey.as_ref().map(|folder| read_survey(Path::new(folder), &plan)).transpose()?;
    let found = evidence(&plan, survey.as_deref(), &language)?;
    if args.json {
        return emit_json(&found);
    }
    let folder = args.output.as_deref().unwrap_or("evidence");
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Input(format!("cannot create the folder {folder}: {error}")))?;
    let inputs: Vec<&str> = [args.plan.as_str()].into_iter().chain(args.texts.as_deref()).collect();
    let files = [
        ("evidence.html", found.page.html()),
        ("evidence.md", markdown(&found.page)),
        ("evidence.json", json_text(&found)),
        ("registry.yaml", found.registry),
    ];
    for (name, content) in files {
        let file = Path::new(folder).join(name).to_string_lossy().into_owned();
        refuse_overwriting(&file, &inputs)?;
        write_document(&Target::new(&file), content.as_bytes())?;
    }
    emit(&format!("The evidence is in {folder}: evidence.html, evidence.md, evidence.json and registry.yaml.\n"))
}
