//! The `candor` command: parsing, wiring and printing. No mathematics.

#![forbid(unsafe_code)]

mod flags;
mod failure;
mod interruption;
mod progress;
mod shell;
mod show;
mod verbs;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Let people answer sensitive questions truthfully and safely, and still learn from the answers.
///
/// candor designs randomized-response plans for records of many categorical attributes, randomizes records under a plan
/// with an exact, certified privacy guarantee, and estimates from the randomized records, with honest uncertainty, what
/// is true of the population.
#[derive(Parser)]
#[command(name = "candor", version, after_help = "Start with: candor demo", max_term_width = 120)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
    /// Read plans that declare more work than candor does unasked (docs/limits.md)
    #[arg(long, global = true)]
    allow_costly_plan: bool,
}

#[derive(Subcommand)]
enum Verb {
    /// Infer a schema from a table, or check a table against one
    Schema(verbs::schema::SchemaArgs),
    /// Make a plan: what is randomized, how, and with which guarantee
    Design(Box<verbs::design::DesignArgs>),
    /// List what dice, coins, cards and wheels can do, and make the plan and the cards of a survey without computers
    Device(verbs::device::DeviceArgs),
    /// Say how many respondents a margin of error takes
    Size(verbs::size::SizeArgs),
    /// Put the methods side by side at equal privacy, and recommend one
    Compare(Box<verbs::compare::CompareArgs>),
    /// Say what a plan guarantees, by every criterion
    Audit(verbs::audit::AuditArgs),
    /// Sign a plan, or generate the key that signs plans
    Sign(verbs::sign::SignArgs),
    /// Check the signature of a plan
    Verify(verbs::verify::VerifyArgs),
    /// Write one page that tells respondents what a plan does with their answers
    Explain(verbs::explain::ExplainArgs),
    /// Randomize tables, or records one by one, under a plan
    Randomize(verbs::randomize::RandomizeArgs),
    /// Turn what interviewers wrote down into responses
    Enter(verbs::enter::EnterArgs),
    /// Print the query that counts responses in your own database
    Sql(verbs::sql::SqlArgs),
    /// Estimate tables of the population from responses, with intervals
    Estimate(verbs::estimate::EstimateArgs),
    /// Say whether people followed their cards, as far as the answers tell
    Comply(verbs::comply::ComplyArgs),
    /// Test whether two attributes are independent, corrected for the randomization
    Test(verbs::test::TestArgs),
    /// Fit a regression to responses, corrected for the randomization
    Regress(verbs::regress::RegressArgs),
    /// Estimate for how many people a condition holds
    Query(verbs::query::QueryArgs),
    /// Find out which attributes belong together, from true records or from responses
    Cluster(verbs::cluster::ClusterArgs),
    /// Give answers weights that agree with the estimates
    Adjust(verbs::adjust::AdjustArgs),
    /// Make synthetic records from the estimates
    Synthesize(verbs::synthesize::SynthesizeArgs),
    /// Show the trade-off of privacy and utility for one attribute, and the best there can be
    Front(verbs::front::FrontArgs),
    /// Improve the plan of one attribute at equal privacy
    Refine(verbs::refine::RefineArgs),
    /// Write one page with what the responses tell, and what was guaranteed
    Report(verbs::report::ReportArgs),
    /// Regenerate the tables and figures of the papers
    Reproduce(verbs::reproduce::ReproduceArgs),
    /// Show all of it on bundled data
    Demo(verbs::demo::DemoArgs),
    /// Print what a shell needs to complete the command's words
    Completions(verbs::completions::CompletionsArgs),
    /// Print or write manual pages
    Man(verbs::man::ManArgs),
}

fn run(command: Command) -> Result<(), Failure> {
    if command.allow_costly_plan {
        verbs::allow_costly_plans();
    }
    match command.verb {
        Verb::Schema(args) => verbs::schema::run(args),
        Verb::Design(args) => verbs::design::run(*args),
        Verb::Device(args) => verbs::device::run(args),
        Verb::Enter(args) => verbs::enter::run(args),
        Verb::Size(args) => verbs::size::run(args),
        Verb::Compare(args) => verbs::compare::run(*args),
        Verb::Audit(args) => verbs::audit::run(args),
        Verb::Explain(args) => verbs::explain::run(args),
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
    match run(Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
