//! `candor report`: plan + responses -> one page that can be published.

use std::path::Path;

use candor_analysis::table_list::TableList;
use candor_study::page::isolated;
use candor_study::report::{ReportOptions, report, tables};
use candor_tables::output::{self, Target};
use clap::Args;

use super::estimate::{parse_confidence, read_responses};
use super::{parse_delimiter, read_plan, refuse_overwriting};
use crate::failure::Failure;
use crate::shell;
use crate::show::{emit, emit_data};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor report plan.json responses.parquet -o report.html
  candor report plan.json responses.csv --tables \"marginals;Education,Income\" --title \"A survey\" -o report.html")]
pub struct ReportArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip) or Parquet; - for standard input
    #[arg(required = true)]
    responses: Vec<String>,
    /// Where to write the page; - for standard output
    #[arg(short, long, value_name = "report.html")]
    output: String,
    /// Which tables: marginals, pairs, triples, joint, or names such as "a,b;c"
    #[arg(long, default_value = "marginals")]
    tables: String,
    /// Confidence of the intervals
    #[arg(long, default_value_t = 0.95, value_parser = parse_confidence)]
    confidence: f64,
    /// The title of the page
    #[arg(long, default_value = "What randomized responses tell")]
    title: String,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
}

pub fn run(args: ReportArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    refuse_overwriting(&args.output, &[&args.plan])?;
    refuse_overwriting(&args.output, &args.responses.iter().map(String::as_str).collect::<Vec<_>>())?;
    let asked = TableList::parse(&args.tables, plan.schema()).map_err(|error| Failure::about("--tables", error))?;
    // One pass: the tables asked for, and what the dependences need.
    let counts = read_responses(&plan, &args.responses, args.delimiter, &tables(&plan, &asked)?)?;
    let options =
        ReportOptions { confidence: args.confidence, title: args.title.clone(), commands: how_to_repeat(&args) };
    let page = report(&plan, &asked, &counts, &options)?.page;
    let target = Target::new(&args.output);
    match target {
        Target::Stdout => emit_data(&page.html()),
        Target::File(_) => {
            output::write(&target, page.html().as_bytes())?;
            emit(&format!("The report is in {}.\n", args.output))
        }
    }
}

/// A file without its folder: where it was is nobody's business.
fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or(path.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// What somebody who has the files would type.
fn how_to_repeat(args: &ReportArgs) -> Vec<String> {
    let file = |path: &str| isolated(&shell::file(&file_name(path)));
    let responses = args.responses.iter().map(|path| file(path)).collect::<Vec<_>>().join(" ");
    let plan = file(&args.plan);
    let options = format!("{} --confidence {}", isolated(&shell::flag("--tables", &args.tables)), args.confidence);
    let title = isolated(&shell::flag("--title", &args.title));
    vec![
        format!("candor audit {plan}"),
        format!("candor estimate {plan} {responses} {options}"),
        format!("candor report {plan} {responses} {options} {title} -o report.html"),
    ]
}
