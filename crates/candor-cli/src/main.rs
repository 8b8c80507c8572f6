//! The `candor` command: parsing, wiring and printing. No mathematics.

#![forbid(unsafe_code)]

mod shell;
mod flags;
mod failure;
mod help;
mod interruption;
mod progress;
mod show;
mod verbs;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::Failure;

/// Ask sensitive questions without learning anybody's answer, and estimate what is true of the population.
///
/// candor designs randomized-response plans for records of many categorical attributes, randomizes records with a
/// certified privacy guarantee, and estimates population shares from the randomized records, with confidence
/// intervals.
#[derive(Parser)]
#[command(name = "candor", version, after_help = "Start with: candor demo", max_term_width = 120)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
    /// Accept plans that are expensive to process (docs/reference/limits.md)
    #[arg(long, global = true)]
    allow_costly_plan: bool,
    /// Print everything: no table is shortened to fit on a screen
    #[arg(long, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Verb {
    /// Infer a schema from a data file, or check a data file against a schema
    Schema(verbs::schema::SchemaArgs),
    /// Design a plan: how answers are randomized, with which guarantee
    Design(Box<verbs::design::DesignArgs>),
    /// Combine plans over disjoint attributes into one plan
    Combine(verbs::combine::CombineArgs),
    /// Design a face-to-face survey with dice, coins, cards or wheels, and print its instruction cards
    Device(verbs::device::DeviceArgs),
    /// Compute the sample size for a margin of error, a difference or a coefficient
    #[command(name = "sample-size", alias = "size")]
    Size(verbs::size::SizeArgs),
    /// Compare design methods at equal privacy and recommend one
    Compare(Box<verbs::compare::CompareArgs>),
    /// Audit a plan by every privacy criterion
    Audit(verbs::audit::AuditArgs),
    /// Sign a plan, or generate a signing key
    Sign(verbs::sign::SignArgs),
    /// Verify the signature of a plan
    Verify(verbs::verify::VerifyArgs),
    /// Write the page that explains a plan to respondents
    Explain(verbs::explain::ExplainArgs),
    /// Write the evidence that data-protection officers, ethics boards and funders ask for
    Evidence(verbs::evidence::EvidenceArgs),
    /// Randomize data files, or a stream of records
    Randomize(verbs::randomize::RandomizeArgs),
    /// Import answers that interviewers recorded, as responses
    #[command(name = "import", alias = "enter")]
    Enter(verbs::enter::EnterArgs),
    /// Print the SQL query that counts responses in a database
    Sql(verbs::sql::SqlArgs),
    /// Estimate tables of the population, with confidence intervals
    Estimate(verbs::estimate::EstimateArgs),
    /// Test for noncompliance with the randomization device
    #[command(name = "compliance", alias = "comply")]
    Comply(verbs::comply::ComplyArgs),
    /// Test independence of two attributes, or differences between groups or waves
    Test(verbs::test::TestArgs),
    /// Fit a regression, corrected for the randomization
    Regress(verbs::regress::RegressArgs),
    /// Estimate the share of people for whom a condition holds
    Query(verbs::query::QueryArgs),
    /// Measure associations between attributes and group them into clusters
    #[command(name = "associations", alias = "cluster")]
    Cluster(verbs::cluster::ClusterArgs),
    /// Rake answers: weight them to agree with the estimates (RR-Adjustment)
    #[command(name = "rake", alias = "adjust")]
    Adjust(verbs::adjust::AdjustArgs),
    /// Generate synthetic records from the estimates
    Synthesize(verbs::synthesize::SynthesizeArgs),
    /// Print the transition matrix of a plan as probabilities, with its eigenvalues
    Matrix(verbs::matrix::MatrixArgs),
    /// Compute the privacy–error trade-off of one attribute, with a proven optimum
    #[command(name = "pareto", alias = "front")]
    Front(verbs::front::FrontArgs),
    /// Improve the plan of one attribute at equal privacy
    Refine(verbs::refine::RefineArgs),
    /// Write a report of the results and the guarantee
    Report(verbs::report::ReportArgs),
    /// Reproduce the tables and figures of the papers
    Reproduce(verbs::reproduce::ReproduceArgs),
    /// Run a demo of all commands on bundled data
    Demo(verbs::demo::DemoArgs),
    /// Print shell completions
    Completions(verbs::completions::CompletionsArgs),
    /// Print or write manual pages
    Man(verbs::man::ManArgs),
}

fn run(command: Command) -> Result<(), Failure> {
    if command.allow_costly_plan {
        verbs::allow_costly_plans();
    }
    if command.verbose {
        show::show_everything();
    }
    match command.verb {
        Verb::Schema(args) => verbs::schema::run(args),
        Verb::Design(args) => verbs::design::run(*args),
        Verb::Combine(args) => verbs::combine::run(args),
        Verb::Device(args) => verbs::device::run(args),
        Verb::Enter(args) => verbs::enter::run(args),
        Verb::Size(args) => verbs::size::run(args),
        Verb::Compare(args) => verbs::compare::run(*args),
        Verb::Audit(args) => verbs::audit::run(args),
        Verb::Explain(args) => verbs::explain::run(args),
        Verb::Evidence(args) => verbs::evidence::run(args),
        Verb::Randomize(args) => verbs::randomize::run(args),
        Verb::Sign(args) => verbs::sign::run(args),
        Verb::Verify(args) => verbs::verify::run(args),
        Verb::Sql(args) => verbs::sql::run(args),
        Verb::Comply(args) => verbs::comply::run(args),
        Verb::Test(args) => verbs::test::run(args),
        Verb::Estimate(args) => verbs::estimate::run(args),
        Verb::Regress(args) => verbs::regress::run(args),
        Verb::Query(args) => verbs::query::run(args),
        Verb::Cluster(args) => verbs::cluster::run(args),
        Verb::Adjust(args) => verbs::adjust::run(args),
        Verb::Synthesize(args) => verbs::synthesize::run(args),
        Verb::Matrix(args) => verbs::matrix::run(args),
        Verb::Front(args) => verbs::front::run(args),
        Verb::Refine(args) => verbs::refine::run(args),
        Verb::Report(args) => verbs::report::run(args),
        Verb::Reproduce(args) => verbs::reproduce::run(args),
        Verb::Demo(args) => verbs::demo::run(args),
        Verb::Completions(args) => verbs::completions::run(args),
        Verb::Man(args) => verbs::man::run(args),
    }
}

fn main() -> ExitCode {
    // Panics over damaged files are caught and told as errors; any other is a bug to be told as one.
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
    let asked = help::shaped(Command::command(), &words).get_matches();
    match run(Command::from_arg_matches(&asked).unwrap_or_else(|error| error.exit())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
