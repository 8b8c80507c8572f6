//! The `candor` command: parsing, wiring and printing. No mathematics.

#![forbid(unsafe_code)]

mod flags;
mod json;
mod failure;
mod help;
mod interruption;
mod progress;
mod show;
mod commands;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::Failure;

/// Ask sensitive questions without learning anyone's answer, and estimate population tables.
///
/// candor designs randomized-response plans for records of many categorical attributes, randomizes records with a
/// certified privacy guarantee, and estimates population shares from the randomized records, with confidence
/// intervals.
#[derive(Parser)]
#[command(name = "candor", version, after_help = "Start with: candor demo", max_term_width = 120)]
struct Command {
    #[command(subcommand)]
    command: Subcommands,
    /// Accept plans that are expensive to process (docs/reference/limits.md)
    #[arg(long, global = true)]
    allow_costly_plan: bool,
    /// Print everything: no table is shortened to fit on a screen
    #[arg(long, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Infer a schema from a data file, or check a data file against a schema
    Schema(commands::schema::SchemaArgs),
    /// Design a plan: how answers are randomized, with which guarantee
    Design(Box<commands::design::DesignArgs>),
    /// Combine plans over disjoint attributes into one plan
    Combine(commands::combine::CombineArgs),
    /// Design a survey with dice, coins, cards or wheels, and print its instruction cards
    Device(commands::device::DeviceArgs),
    /// Compute the sample size for a margin of error, a difference or a coefficient
    #[command(alias = "size")]
    SampleSize(commands::sample_size::SampleSizeArgs),
    /// Choose epsilon from the respondents, the margin of error and what a guess may gain
    Choose(commands::choose::ChooseArgs),
    /// Compare design methods at equal privacy and recommend one
    Compare(Box<commands::compare::CompareArgs>),
    /// Audit a plan by every privacy criterion
    Audit(commands::audit::AuditArgs),
    /// Sign a plan, or generate a signing key
    Sign(commands::sign::SignArgs),
    /// Verify the signature of a plan
    Verify(commands::verify::VerifyArgs),
    /// Write the page that explains a plan to respondents
    Explain(commands::explain::ExplainArgs),
    /// Write the evidence that data-protection officers, ethics boards and funders ask for
    Evidence(commands::evidence::EvidenceArgs),
    /// Randomize data files, or a stream of records
    Randomize(commands::randomize::RandomizeArgs),
    /// Import answers that interviewers recorded, as responses
    #[command(alias = "enter")]
    Import(commands::import::ImportArgs),
    /// Print the SQL query that counts responses in a database
    Sql(commands::sql::SqlArgs),
    /// Estimate tables of the population, with confidence intervals
    Estimate(commands::estimate::EstimateArgs),
    /// Test for noncompliance with the randomization device
    #[command(alias = "comply")]
    Compliance(commands::compliance::ComplianceArgs),
    /// Test independence of two attributes, or differences between groups or waves
    Test(commands::test::TestArgs),
    /// Fit a regression, corrected for the randomization
    Regress(commands::regress::RegressArgs),
    /// Estimate the share of people for whom a condition holds
    Query(commands::query::QueryArgs),
    /// Measure associations between attributes and group them into clusters
    #[command(alias = "cluster")]
    Associations(commands::associations::AssociationsArgs),
    /// Learn associations between parties who show their records to nobody, as rounds of files
    Party(commands::party::PartyArgs),
    /// Rake answers: weight them to agree with the estimates (RR-Adjustment)
    #[command(alias = "adjust")]
    Rake(commands::rake::RakeArgs),
    /// Generate synthetic records from the estimates
    Synthesize(commands::synthesize::SynthesizeArgs),
    /// Print the transition matrix of a plan as probabilities, with its eigenvalues
    Matrix(commands::matrix::MatrixArgs),
    /// Compute the privacy–error trade-off of one attribute, with a proven optimum
    #[command(alias = "front")]
    Pareto(commands::pareto::ParetoArgs),
    /// Improve the plan of one attribute at equal privacy
    Refine(commands::refine::RefineArgs),
    /// Write a report of the results and the guarantee
    Report(commands::report::ReportArgs),
    /// Open the studio: a whole study in a page of the browser
    Studio(commands::programs::ProgramArgs),
    /// Collect answers online: each respondent's browser randomizes
    Collect(commands::programs::ProgramArgs),
    /// Reproduce the tables and figures of the papers
    Reproduce(commands::reproduce::ReproduceArgs),
    /// Run the experiments of the papers on your own data
    Experiment(Box<commands::experiment::ExperimentArgs>),
    /// Run a demo of all commands on bundled data
    Demo(commands::demo::DemoArgs),
    /// Print shell completions
    Completions(commands::completions::CompletionsArgs),
    /// Print or write manual pages
    Man(commands::man::ManArgs),
}

fn run(command: Command) -> Result<(), Failure> {
    if command.allow_costly_plan {
        commands::allow_costly_plans();
    }
    if command.verbose {
        show::show_everything();
    }
    match command.command {
        Subcommands::Schema(args) => commands::schema::run(args),
        Subcommands::Design(args) => commands::design::run(*args),
        Subcommands::Combine(args) => commands::combine::run(args),
        Subcommands::Device(args) => commands::device::run(args),
        Subcommands::Import(args) => commands::import::run(args),
        Subcommands::SampleSize(args) => commands::sample_size::run(args),
        Subcommands::Choose(args) => commands::choose::run(args),
        Subcommands::Compare(args) => commands::compare::run(*args),
        Subcommands::Audit(args) => commands::audit::run(args),
        Subcommands::Explain(args) => commands::explain::run(args),
        Subcommands::Evidence(args) => commands::evidence::run(args),
        Subcommands::Randomize(args) => commands::randomize::run(args),
        Subcommands::Sign(args) => commands::sign::run(args),
        Subcommands::Verify(args) => commands::verify::run(args),
        Subcommands::Sql(args) => commands::sql::run(args),
        Subcommands::Compliance(args) => commands::compliance::run(args),
        Subcommands::Test(args) => commands::test::run(args),
        Subcommands::Estimate(args) => commands::estimate::run(args),
        Subcommands::Regress(args) => commands::regress::run(args),
        Subcommands::Query(args) => commands::query::run(args),
        Subcommands::Associations(args) => commands::associations::run(args),
        Subcommands::Party(args) => commands::party::run(args),
        Subcommands::Rake(args) => commands::rake::run(args),
        Subcommands::Synthesize(args) => commands::synthesize::run(args),
        Subcommands::Matrix(args) => commands::matrix::run(args),
        Subcommands::Pareto(args) => commands::pareto::run(args),
        Subcommands::Refine(args) => commands::refine::run(args),
        Subcommands::Report(args) => commands::report::run(args),
        Subcommands::Studio(args) => commands::programs::run("studio", args),
        Subcommands::Collect(args) => commands::programs::run("collect", args),
        Subcommands::Reproduce(args) => commands::reproduce::run(args),
        Subcommands::Experiment(args) => commands::experiment::run(*args),
        Subcommands::Demo(args) => commands::demo::run(args),
        Subcommands::Completions(args) => commands::completions::run(args),
        Subcommands::Man(args) => commands::man::run(args),
    }
}

fn main() -> ExitCode {
    // Panics over damaged files are caught and reported as errors; any other panic is reported as a bug.
    std::panic::set_hook(Box::new(|panic| {
        if !candor_tables::input::panic_is_guarded() {
            failure::tell(&format!("error: this is a bug in candor, please report it: {panic}"));
        }
    }));
    interruption::prepare();
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if words.len() == 1 {
        return show::emit(help::WELCOME).map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS);
    }
    if words.iter().any(|word| word == "--json") {
        json::expect_json();
    }
    let asked = help::shaped(Command::command(), &words).get_matches();
    match run(Command::from_arg_matches(&asked).unwrap_or_else(|error| error.exit())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
