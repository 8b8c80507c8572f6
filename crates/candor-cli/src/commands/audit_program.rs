//! `candor audit --program`: a lower bound on the epsilon of any program.

use candor::mechanism::{MechanismAudit, MechanismOptions, PairBound, audit_program};
use candor_privacy::at_least;
use clap::Args;

use crate::failure::Failure;
use crate::progress::watched;
use crate::show::{emit, emit_json, paragraph, table};

/// Maximum length of an event in the table, in characters.
const MAX_EVENT: usize = 45;

#[derive(Args)]
#[command(next_help_heading = "Audit of a program")]
pub struct ProgramArgs {
    /// Program to audit, with its arguments: reads one true value per line, prints one answer per line. Prints a lower
    /// bound on its epsilon. No shell is used
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "truths",
        conflicts_with_all = ["plans", "prior", "require", "respondents", "compare", "restate"]
    )]
    pub program: Option<String>,
    /// True values to compare, 2 to 16
    #[arg(long, value_name = "VALUE,..", value_delimiter = ',', requires = "program")]
    truths: Vec<String>,
    /// Number of answers to draw, for all true values together [default: 200000]
    #[arg(long, value_name = "N", requires = "program")]
    draws: Option<u64>,
    /// Confidence with which all bounds hold together [default: 0.95]
    #[arg(long, requires = "program")]
    confidence: Option<f64>,
    /// Epsilon that the program claims; if the bound is above it, the exit code is 1
    #[arg(long, value_name = "EPSILON", requires = "program")]
    claimed: Option<f64>,
    /// Seconds the program may take [default: 600]
    #[arg(long, value_name = "SECONDS", requires = "program")]
    time_limit: Option<f64>,
}

pub fn run(program: &str, args: &ProgramArgs, json: bool) -> Result<(), Failure> {
    let default = MechanismOptions::default();
    let options = MechanismOptions::default()
        .draws(args.draws.unwrap_or(default.draws))
        .confidence(args.confidence.unwrap_or(default.confidence))
        .claimed(args.claimed)
        .time_limit(args.time_limit.unwrap_or(default.time_limit));
    let audit = watched(|progress| audit_program(program, &args.truths, &options, progress))?;
    match json {
        true => emit_json(&audit)?,
        false => emit(&describe(&audit))?,
    }
    match audit.broken() {
        Some(broken) => Err(Failure::Input(format!("{program} does not meet the claimed {broken}"))),
        None => Ok(()),
    }
}

fn describe(audit: &MechanismAudit) -> String {
    let mut text = format!("Epsilon at least {}\n\n", at_least(audit.lower_bound));
    text += &paragraph(&audit.sentences[0]);
    text.push('\n');
    let values = |pair: &PairBound| format!("{} against {}", pair.truths[0], pair.truths[1]);
    // Long events stand below the table.
    let are_short = audit.pairs.iter().all(|pair| pair.event.chars().count() <= MAX_EVENT);
    let row = |pair: &PairBound| {
        let [hits, other] = MechanismAudit::seen(pair);
        let event = are_short.then(|| pair.event.clone());
        [values(pair), at_least(pair.lower_bound), hits, other].into_iter().chain(event).collect()
    };
    let rows: Vec<Vec<String>> = audit.pairs.iter().map(row).collect();
    let header = ["truths", "at least", "first", "second", "event"];
    text += &table(&header[..if are_short { 5 } else { 4 }], &rows);
    if !are_short {
        text.extend(audit.pairs.iter().map(|pair| paragraph(&format!("{}: {}", values(pair), pair.event))));
    }
    text.push('\n');
    text + &audit.sentences[1..].iter().map(|sentence| paragraph(sentence)).collect::<String>()
}
