//! `candor report`: plan + responses -> one page that can be published.

use candor::choice::Choice;
use candor::estimate::EstimateOptions;
use candor::page::isolated;
use candor::regress::{RegressOptions, Regression, Rows, model, regress_with_progress};
use candor::report::{ReportOptions, WaveEstimates, file_name, report, tables};
use candor::sampling::SamplingDesign;
use candor::shell;
use candor_analysis::reliability::Standard;
use candor_base::plan::Plan;
use candor_tables::existing::write_document;
use candor_tables::output::Target;
use clap::Args;

use super::estimate::{AskedArgs, parse_confidence};
use super::survey::{Sources, SurveyArgs, count};
use super::wave::{Earlier, WaveArgs};
use super::{MarkArgs, parse_delimiter, read_language, read_plan, refuse_both, refuse_overwriting, response_files};
use crate::failure::Failure;
use crate::flags::choice;
use crate::progress::watched;
use crate::show::{emit, emit_data, emit_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor report plan.json responses.parquet -o report.html
  candor report plan.json responses.csv --tables \"marginals;Education,Income\" --title \"A survey\" -o report.html
  candor report plan.json responses.csv --language de --texts texts.toml -o report.html
  candor report plan.json responses.csv --baseline 2024=earlier.parquet --baseline-plan first.json -o report.html

Earlier waves are listed in order of time, as NAME=FILE or FILE. The page draws every one-way table from wave to
wave, with its changes. The file for --texts is that of candor explain; its section [report] replaces texts of the
report.")]
pub struct ReportArgs {
    /// Plan (JSON) of the responses
    plan: String,
    /// Response files: CSV (also gzip), Parquet or JSON Lines; - for standard input
    #[arg(required_unless_present = "counts")]
    responses: Vec<String>,
    /// Files of precomputed counts instead of responses: answer columns and a column "count"; see candor sql
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with_all = ["responses", "model"])]
    counts: Vec<String>,
    /// Output file for the page; - for standard output
    #[arg(short, long, value_name = "report.html")]
    output: String,
    #[command(flatten)]
    asked: AskedArgs,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = EstimateOptions::default().confidence, value_parser = parse_confidence)]
    confidence: f64,
    /// Standard that decides which shares may be published
    #[arg(long, value_parser = choice::<Standard>(), default_value = Standard::default().name(), value_name = "RULE")]
    standards: Standard,
    /// Title of the page
    #[arg(long)]
    title: Option<String>,
    /// Regression to add, such as "Income ~ Education + Sex"; may be repeated
    #[arg(long)]
    model: Vec<String>,
    /// Subpopulation: a condition on public attributes, such as "Region = north and Sex != Male"
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    #[command(flatten)]
    survey: SurveyArgs,
    #[command(flatten)]
    waves: WaveArgs,
    /// Language: de, en, es, fr, or another one with --texts
    #[arg(long)]
    language: Option<String>,
    /// Question wording, category labels and translations (TOML)
    #[arg(long, value_name = "texts.toml")]
    texts: Option<String>,
    /// Delimiter of CSV responses: one character, or tab [default: auto-detected]
    #[arg(long, value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    #[command(flatten)]
    marks: MarkArgs,
    /// Print the results on the page as JSON
    #[arg(long)]
    json: bool,
}

impl ReportArgs {
    /// Returns the options for estimating tables.
    fn options(&self) -> EstimateOptions {
        EstimateOptions::default().confidence(self.confidence).standard(self.standards)
    }
}

pub fn run(args: ReportArgs) -> Result<(), Failure> {
    args.marks.apply();
    refuse_both(args.json, Some(&args.output))?;
    args.options().check()?;
    if !args.model.is_empty() && args.responses.iter().any(|path| path == "-") {
        return Err(Failure::Usage(
            "--model reads the responses twice, so they cannot come from standard input".to_owned(),
        ));
    }
    let plan = read_plan(&args.plan)?;
    let texts: Vec<&str> = [args.plan.as_str()].into_iter().chain(args.texts.as_deref()).collect();
    refuse_overwriting(&args.output, &texts)?;
    refuse_overwriting(&args.output, &args.responses.iter().map(String::as_str).collect::<Vec<_>>())?;
    refuse_overwriting(&args.output, &args.counts.iter().map(String::as_str).collect::<Vec<_>>())?;
    refuse_overwriting(&args.output, &args.waves.files())?;
    let (asked, wanted) = args.asked.read(plan.schema())?;
    let survey = args.survey.survey(&plan, args.condition.as_deref())?;
    let sources = Sources { responses: &args.responses, counts: &args.counts, delimiter: args.delimiter };
    // One pass: the requested tables, and those for the associations.
    let counts = count(&plan, &survey, sources, &tables(&plan, &asked, &wanted)?, false)?;
    let regressions = regressions(&plan, &survey, &args)?;
    let language = read_language(args.language.as_deref(), args.texts.as_deref(), &plan)?;
    let options = ReportOptions::default()
        .confidence(args.confidence)
        .standard(args.standards)
        .title(args.title.clone())
        .commands(how_to_repeat(&args))
        .regressions(regressions)
        .language(language)
        .waves(waves(&plan, &args)?)
        .wave(args.waves.wave.clone());
    let report = watched(|progress| report(&plan, &counts, &asked, &wanted, &options, progress))?;
    let html = report.page.html();
    let target = Target::new(&args.output);
    match target {
        Target::Stdout => return emit_data(&html),
        Target::File(_) => write_document(&target, html.as_bytes())?,
    }
    match args.json {
        true => emit_json(&report),
        false => emit(&format!("The report is in {}.\n", args.output)),
    }
}

/// Estimates the earlier waves, each under its own plan.
fn waves(plan: &Plan, args: &ReportArgs) -> Result<Vec<WaveEstimates>, Failure> {
    let wave = |earlier: Earlier<'_>| {
        let other = earlier.plan.map(read_plan).transpose()?;
        let plan = other.as_ref().unwrap_or(plan);
        let (asked, _) = args.asked.read(plan.schema())?;
        let survey = args.survey.survey(plan, args.condition.as_deref())?;
        let files = [earlier.file.to_owned()];
        let sources = Sources { responses: &files, counts: &[], delimiter: args.delimiter };
        let counts = count(plan, &survey, sources, asked.counted(), false)?;
        Ok(WaveEstimates::new(earlier.name, plan, &counts, &asked, &args.options())?)
    };
    args.waves.earlier()?.into_iter().map(wave).collect()
}

/// Fits each model from the same responses.
fn regressions(plan: &Plan, survey: &SamplingDesign, args: &ReportArgs) -> Result<Vec<Regression>, Failure> {
    let options = RegressOptions::default().confidence(args.confidence).condition(args.condition.clone());
    let fit = |text: &String| {
        let asked = model(plan, text, &options)?;
        let inputs = response_files(&args.responses, args.delimiter)?;
        let rows = watched(|progress| Rows::read(plan, inputs, &asked, survey, progress))?;
        Ok(watched(|progress| regress_with_progress(&rows, &asked, &options, progress))?)
    };
    args.model.iter().map(fit).collect()
}

/// Returns the commands that repeat the report.
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
    flags.extend(args.marks.unmarked.then(|| "--unmarked".to_owned()));
    let options = flags.iter().map(|flag| isolated(flag)).collect::<Vec<_>>().join(" ");
    let flag = |name: &'static str| move |value: &String| isolated(&shell::flag(name, value));
    let texts = args.texts.as_deref().map(file_name);
    let page = args.title.iter().map(flag("--title")).chain(args.model.iter().map(flag("--model")));
    let page = page.chain(args.language.iter().map(flag("--language"))).chain(texts.iter().map(flag("--texts")));
    let page = page.chain(args.waves.flags().into_iter().map(|flag| isolated(&flag))).map(|flag| format!("{flag} "));
    vec![
        format!("candor audit {plan}"),
        format!("candor estimate {plan} {responses} {options}"),
        format!("candor report {plan} {responses} {options} {}-o report.html", page.collect::<String>()),
    ]
}
