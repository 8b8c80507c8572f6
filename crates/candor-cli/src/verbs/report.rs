//! `candor report`: plan + responses -> one page that can be published.

use candor::plan::Plan;
use candor_study::estimate::EstimateOptions;
use candor_study::page::isolated;
use candor_study::regress::{RegressOptions, Regression, Rows, model, regress};
use candor_study::report::{ReportOptions, file_name, report, tables};
use candor_study::survey::Survey;
use candor_tables::input::Inputs;
use candor_tables::output::{self, Target};
use clap::Args;

use super::estimate::{AskedArgs, parse_confidence};
use super::survey::{Sources, SurveyArgs, count};
use super::{parse_delimiter, read_language, read_plan, refuse_both, refuse_overwriting};
use crate::failure::Failure;
use crate::progress::watched;
use crate::shell;
use crate::show::{emit, emit_data, emit_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor report plan.json responses.parquet -o report.html
  candor report plan.json responses.csv --tables \"marginals;Education,Income\" --title \"A survey\" -o report.html")]
pub struct ReportArgs {
    /// The plan the responses were made under (JSON)
    plan: String,
    /// Responses: CSV (also gzip), Parquet or JSON lines; - for standard input
    #[arg(required_unless_present = "counts")]
    responses: Vec<String>,
    /// Instead of responses, files of counts made elsewhere: columns of answers and a column "count"; see candor sql
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with_all = ["responses", "model"])]
    counts: Vec<String>,
    /// Where to write the page; - for standard output
    #[arg(short, long, value_name = "report.html")]
    output: String,
    #[command(flatten)]
    asked: AskedArgs,
    /// Confidence of the intervals
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// The title of the page
    #[arg(long, default_value_t = ReportOptions::default().title)]
    title: String,
    /// Also regressions, such as "Income ~ Education + Sex"; may be given several times
    #[arg(long)]
    model: Vec<String>,
    /// Only those for whom a condition on public attributes holds, such as "Region = north and Sex != Male"
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    #[command(flatten)]
    survey: SurveyArgs,
    /// Questions as they are asked, and labels of categories (TOML)
    #[arg(long, value_name = "texts.toml")]
    texts: Option<String>,
    /// The delimiter of CSV responses, if it is not found out: one character, or tab
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Say what is on the page as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: ReportArgs) -> Result<(), Failure> {
    refuse_both(args.json, Some(&args.output))?;
    if !args.model.is_empty() && args.responses.iter().any(|path| path == "-") {
        return Err(Failure::Usage("--model reads the responses again, which standard input cannot be".to_owned()));
    }
    let plan = read_plan(&args.plan)?;
    let texts: Vec<&str> = [args.plan.as_str()].into_iter().chain(args.texts.as_deref()).collect();
    refuse_overwriting(&args.output, &texts)?;
    refuse_overwriting(&args.output, &args.responses.iter().map(String::as_str).collect::<Vec<_>>())?;
    refuse_overwriting(&args.output, &args.counts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let (asked, wanted) = args.asked.read(plan.schema())?;
    let survey = args.survey.survey(&plan, args.condition.as_deref())?;
    let sources = Sources { responses: &args.responses, counts: &args.counts, delimiter: args.delimiter };
    // One pass: the tables asked for, and what the dependences need.
    let counts = count(&plan, &survey, sources, &tables(&plan, &asked, &wanted)?, false)?;
    let regressions = regressions(&plan, &survey, &args)?;
    let (title, commands) = (args.title.clone(), how_to_repeat(&args));
    let language = read_language(None, args.texts.as_deref(), &plan)?;
    let options = ReportOptions { confidence: args.confidence, title, commands, regressions, language };
    let report = report(&plan, &asked, &wanted, &counts, &options)?;
    let html = report.page.html();
    let target = Target::new(&args.output);
    match target {
        Target::Stdout => return emit_data(&html),
        Target::File(_) => output::write(&target, html.as_bytes())?,
    }
    match args.json {
        true => emit_json(&report),
        false => emit(&format!("The report is in {}.\n", args.output)),
    }
}

/// Fits each model, from the same responses read again.
fn regressions(plan: &Plan, survey: &Survey, args: &ReportArgs) -> Result<Vec<Regression>, Failure> {
    let options = RegressOptions { confidence: args.confidence, ..RegressOptions::default() };
    let fit = |text: &String| {
        let asked = model(plan, text, &options)?;
        let inputs = Inputs::new(&args.responses, args.delimiter)?;
        let rows = watched(|watch| Rows::read(plan, &asked, survey, inputs, watch))?;
        Ok(regress(&asked, &rows, &options)?)
    };
    args.model.iter().map(fit).collect()
}

/// What somebody who has the files would type.
fn how_to_repeat(args: &ReportArgs) -> Vec<String> {
    let file = |path: &str| isolated(&shell::file(&file_name(path)));
    let files = |paths: &[String]| paths.iter().map(|path| file(path)).collect::<Vec<_>>().join(" ");
    let responses = match args.counts.is_empty() {
        true => files(&args.responses),
        false => format!("--counts {}", files(&args.counts)),
    };
    let plan = file(&args.plan);
    let mut flags = args.asked.flags();
    flags.extend(args.condition.iter().map(|condition| shell::flag("--where", condition)));
    flags.extend(args.survey.flags());
    flags.push(format!("--confidence {}", args.confidence));
    let options = flags.iter().map(|flag| isolated(flag)).collect::<Vec<_>>().join(" ");
    let title = isolated(&shell::flag("--title", &args.title));
    let models: Vec<String> = args.model.iter().map(|text| isolated(&shell::flag("--model", text))).collect();
    let texts = args.texts.iter().map(|path| isolated(&shell::flag("--texts", &file_name(path))));
    let title = [title].into_iter().chain(models).chain(texts).collect::<Vec<String>>().join(" ");
    vec![
        format!("candor audit {plan}"),
        format!("candor estimate {plan} {responses} {options}"),
        format!("candor report {plan} {responses} {options} {title} -o report.html"),
    ]
}
