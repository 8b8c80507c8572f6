//! `candor audit`: the guarantees of a plan.

use std::fmt::Write;

use candor::audit::{
    Audit, AuditOptions, AuditTogether, Criterion, Detail, audit_composition, audit_with_progress, shown, shown_detail,
};
use candor::guarantee::{
    ATTRIBUTE_HEADER, PRIOR_NOT_FINGERPRINTED, WHAT_A_GUESS_IS, WHY_TWO_EPSILONS, attribute_rows, respondent_statements,
};
use candor::made_by::made_by_sentence;
use candor::shuffled::{CountedPart, ShuffleOptions, Shuffling};
use candor_base::channel::Epsilon;
use candor_base::plan::Plan;
use candor_privacy::{CRITERIA, Requirement};
use candor_tables::existing::write_document;
use candor_tables::output::Target;
use clap::Args;

use super::audit_program::{self, ProgramArgs};
use super::design::describe_prior;
use super::{compare_plans, read_plan, read_restated, refuse_overwriting};
use crate::failure::Failure;
use crate::progress::watched;
use crate::show::{emit, emit_json, lead, paragraph, plural, short_table, table, verbose};

/// Maximum number of details per criterion in the text.
const SHOWN_DETAILS: usize = 8;

/// Returns the examples, and the criteria with their thresholds.
fn after_help() -> String {
    let examples: Vec<&str> = CRITERIA.iter().map(|criterion| criterion.example).collect();
    let mut lines = vec![String::new()];
    for example in examples.into_iter().chain(["shuffled=0.5 (with --respondents)"]) {
        let last = lines.last_mut().expect("a line");
        match last.len() + example.len() {
            0..=100 if last.is_empty() => last.push_str(example),
            0..=100 => *last += &format!(", {example}"),
            _ => lines.push(example.to_owned()),
        }
    }
    format!(
        "{EXAMPLES}\n\nCriteria with example thresholds (docs/reference/privacy-criteria.md):\n  {}",
        lines.join(",\n  ")
    )
}

const EXAMPLES: &str = "\
Examples:
  candor audit plan.json
  candor audit plan.json --require ldp=4 --require rho=0.1:0.9
  candor audit plan.json --prior Sex=0.7,0.3 --require worst-posterior=0.99
  candor audit plan.json --respondents 10000 --require shuffled=0.5
  candor audit plan.json --respondents 10000 --tables marginals
  candor audit first.json second.json              guarantee for people who answer both
  candor audit --informativeness first.json second.json    is one at least as informative as the other?
  candor audit --program ./client --truths yes,no    lower bound on the epsilon of any program";

#[derive(Args)]
#[command(after_help = after_help())]
pub struct AuditArgs {
    /// Plans (JSON); - for standard input. Several plans: the guarantee for people who answer all of them
    #[arg(required_unless_present = "program")]
    plans: Vec<String>,
    /// Prior of an adversary about one attribute: a probability for each category [default: uniform]
    #[arg(long, value_name = "NAME=P,..")]
    prior: Vec<String>,
    /// Required threshold, such as ldp=1; the exit code is 1 if the plan violates it. May be repeated
    #[arg(long, value_name = "CRITERION=VALUE")]
    require: Vec<String>,
    /// Number of responses in a shuffled batch; adds the guarantee against readers of the batch
    #[arg(long, value_name = "N", conflicts_with = "compare")]
    respondents: Option<u64>,
    /// Failure probability of the guarantee after shuffling [default: 1e-6, or less for many respondents]
    #[arg(long, requires = "respondents")]
    delta: Option<f64>,
    /// Number of colluding respondents, who share their answers with the adversary
    #[arg(long, requires = "respondents", default_value_t = 0)]
    colluding: u64,
    /// Tables whose counts are published instead of whole responses: marginals, or names such as "a,b;c"
    #[arg(long, requires = "respondents")]
    tables: Option<String>,
    /// Compare two plans: is one at least as informative as the other? Prints a proof either way
    #[arg(long = "informativeness", alias = "compare", conflicts_with_all = ["prior", "require"])]
    compare: bool,
    /// Output file for the plan with its corrected guarantee, if an older version stated too small an epsilon for
    /// tied attributes
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    restate: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    program: ProgramArgs,
}

pub fn run(args: AuditArgs) -> Result<(), Failure> {
    if let Some(program) = &args.program.program {
        return audit_program::run(program, &args.program, args.json);
    }
    if args.compare {
        return match &args.plans[..] {
            [a, b] => compare_plans::run(a, b, args.json),
            _ => Err(Failure::Usage("--informativeness requires two plans".to_owned())),
        };
    }
    let (required, others) = required_after_shuffling(&args)?;
    let shuffle = args.respondents.map(|respondents| {
        ShuffleOptions::default()
            .respondents(respondents)
            .delta(args.delta)
            .colluding(args.colluding)
            .required(required)
            .tables(args.tables.clone())
    });
    let options =
        AuditOptions::default().priors(priors(&args.prior)?).requirements(requirements(&others)?).shuffle(shuffle);
    let [path] = &args.plans[..] else {
        return match args.restate {
            Some(_) => Err(Failure::Usage("--restate requires exactly one plan".to_owned())),
            None => together(&args, &options),
        };
    };
    let plan = match &args.restate {
        Some(file) => {
            refuse_overwriting(file, &[path])?;
            let plan = read_restated(path)?;
            write_document(&Target::new(file), plan.to_json().as_bytes())?;
            plan
        }
        None => read_plan(path)?,
    };
    let audit = watched(|progress| audit_with_progress(&plan, &options, progress))?;
    match args.json {
        true => emit_json(&audit)?,
        false => emit(&(describe(&plan, &audit) + &describe_shuffling(audit.shuffled.as_ref())))?,
    }
    let broken = audit.broken();
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Failure::Input(format!("{path} does not meet {}", broken.join(", nor ")))),
    }
}

/// Splits the requirements into those after shuffling and the others.
fn required_after_shuffling(args: &AuditArgs) -> Result<(Option<f64>, Vec<String>), Failure> {
    let (shuffled, others): (Vec<String>, Vec<String>) =
        args.require.iter().cloned().partition(|text| text.starts_with("shuffled="));
    let wrong = |message: &str| Failure::Usage(format!("--require shuffled: {message}"));
    let limit = match &shuffled[..] {
        [] => return Ok((None, others)),
        [one] => one["shuffled=".len()..].parse::<f64>().ok().filter(|limit| *limit >= 0.0),
        _ => return Err(wrong("is given twice")),
    };
    match (limit, args.respondents, args.plans.len()) {
        (None, ..) => Err(wrong("write an epsilon, such as shuffled=0.5")),
        (_, None, _) => Err(wrong("say of how many, with --respondents")),
        (_, _, 2..) => Err(wrong("is about one plan")),
        (limit, ..) => Ok((limit, others)),
    }
}

fn describe_shuffling(shuffling: Option<&Shuffling>) -> String {
    let Some(found) = shuffling else { return String::new() };
    let verdict = match (found.required, found.holds) {
        (Some(required), Some(true)) => format!("   {required} required: holds"),
        (Some(required), _) => format!("   {required} required: DOES NOT HOLD"),
        (None, _) => String::new(),
    };
    let mut text = format!("\nAfter shuffling\n\n  shuffled {}{verdict}\n", shown("shuffled", found.value));
    text += &paragraph(&found.sentence);
    if let Some(parts) = found.parts.as_ref().filter(|parts| parts.len() > 1) {
        let one =
            |part: &CountedPart| format!("{}: {}", part.attributes.join(", "), shown("shuffled", Some(part.value)));
        let more = parts.len().saturating_sub(SHOWN_DETAILS);
        let more = if more > 0 { format!("; and {more} more in --json") } else { String::new() };
        let parts: Vec<String> = parts.iter().take(SHOWN_DETAILS).map(one).collect();
        text += &paragraph(&format!("[{}{more}]", parts.join("; ")));
    }
    if let Some(warning) = &found.warning {
        text += &paragraph(&format!("WARNING: {warning}"));
    }
    text
}

fn requirements(texts: &[String]) -> Result<Vec<Requirement>, Failure> {
    let read = texts.iter().map(|text| text.parse()).collect::<Result<Vec<Requirement>, _>>();
    read.map_err(|error| Failure::about("--require", error))
}

/// Parses priors: `NAME=P,P,..`.
fn priors(texts: &[String]) -> Result<Vec<(String, Vec<f64>)>, Failure> {
    let one = |text: &String| {
        let form =
            || Failure::Usage(format!("--prior {text}: expected NAME=P,P,.. with a probability for each category"));
        let (name, numbers) = text.split_once('=').ok_or_else(form)?;
        let numbers = numbers.split(',').map(|p| p.trim().parse().map_err(|_| form())).collect::<Result<_, _>>()?;
        Ok((name.trim().to_owned(), numbers))
    };
    texts.iter().map(one).collect()
}

/// Audits several plans that the same people answer.
fn together(args: &AuditArgs, options: &AuditOptions) -> Result<(), Failure> {
    let plans = args.plans.iter().map(|path| read_plan(path)).collect::<Result<Vec<Plan>, _>>()?;
    let named: Vec<(&str, &Plan)> = args.plans.iter().map(String::as_str).zip(&plans).collect();
    let audit = audit_composition(&named, options)?;
    match args.json {
        true => emit_json(&audit)?,
        false => emit(&describe_together(&named, &audit))?,
    }
    match audit.broken() {
        Some(broken) => Err(Failure::Input(format!("the plans together do not meet {broken}"))),
        None => Ok(()),
    }
}

fn describe_together(plans: &[(&str, &Plan)], audit: &AuditTogether) -> String {
    let one = |(path, plan): &(&str, &Plan)| vec![(*path).to_owned(), plan.guarantee().epsilon().to_string()];
    let mut rows: Vec<Vec<String>> = plans.iter().map(one).collect();
    rows.push(vec!["all of them".to_owned(), audit.composition.epsilon.to_string()]);
    let mut text = format!("{} answered by the same people\n\n", plural(plans.len(), "plan"));
    text += &table(&["plan", "record-level epsilon"], &rows);
    text.push('\n');
    let row =
        |(name, epsilon, plans): &(String, Epsilon, usize)| vec![name.clone(), plans.to_string(), epsilon.to_string()];
    let rows: Vec<Vec<String>> = audit.composition.attributes.iter().map(row).collect();
    text += &table(&["attribute", "plans", "conditional epsilon"], &rows);
    text.push('\n');
    text + &audit.criteria.iter().map(|criterion| paragraph(&criterion.sentence)).collect::<String>()
}

fn describe(plan: &Plan, audit: &Audit) -> String {
    let verdict = lead(&audit.verdict.text);
    let verdict = verdict.trim_end();
    let worst = audit.worst_reply.as_ref().map_or(String::new(), |sentence| paragraph(sentence));
    format!("{verdict}\n{worst}\n{}", findings(plan, audit))
}

fn findings(plan: &Plan, audit: &Audit) -> String {
    let guarantee = plan.guarantee();
    let attributes = plan.schema().attributes();
    let public = attributes.len() - guarantee.attributes().len();
    let mut text = format!(
        "{} in {}{}\n  fingerprint {}, recomputed and matching\n\n",
        plural(guarantee.attributes().len(), "randomized attribute"),
        plural(plan.blocks().len(), "block"),
        if public > 0 { format!(", {public} public") } else { String::new() },
        plan.fingerprint()
    );
    text += &short_table(&ATTRIBUTE_HEADER, &attribute_rows(plan));
    if verbose() {
        text += &made_by_sentence(plan).map_or(String::new(), |sentence| format!("\n{}", paragraph(&sentence)));
    }
    text += "\nWhat to tell respondents\n";
    text += &respondent_statements(plan, &audit.findings, str::to_owned)
        .iter()
        .map(|sentence| paragraph(sentence))
        .collect::<String>();
    text += "\nCriteria\n";
    text += &match verbose() {
        true => audit.criteria.iter().map(describe_criterion).collect::<String>(),
        false => list_criteria(&audit.criteria),
    };
    text += &describe_prior(plan);
    if plan.for_prior().is_some() && !plan.fingerprints_prior() {
        text += &paragraph(PRIOR_NOT_FINGERPRINTED);
    }
    if verbose() {
        text += "\nWhat a guess is\n";
        text += &paragraph(WHAT_A_GUESS_IS);
        text += "\nWhy two epsilons\n";
        text += &paragraph(WHY_TWO_EPSILONS);
    }
    text
}

/// Lists the values of the criteria, with sentences about requirements and warnings.
fn list_criteria(criteria: &[Criterion]) -> String {
    let row = |criterion: &Criterion| {
        let holds = match (&criterion.required, criterion.holds) {
            (Some(required), Some(true)) => format!("{required} required: holds"),
            (Some(required), _) => format!("{required} required: DOES NOT HOLD"),
            (None, _) => String::new(),
        };
        vec![criterion.name.to_owned(), shown(criterion.name, criterion.value), holds]
    };
    let mut text = table(&["", "value", ""], &criteria.iter().map(row).collect::<Vec<_>>());
    for criterion in criteria {
        if criterion.required.is_some() {
            text += &format!("\n{}", paragraph(&criterion.sentence));
        }
        if let Some(warning) = &criterion.warning {
            text += &paragraph(&format!("WARNING: {warning}"));
        }
    }
    text + &paragraph("What each means, attribute by attribute: --verbose.")
}

fn describe_criterion(criterion: &Criterion) -> String {
    let verdict = match (&criterion.required, criterion.holds) {
        (Some(required), Some(true)) => format!("   {required} required: holds"),
        (Some(required), _) => format!("   {required} required: DOES NOT HOLD"),
        (None, _) => String::new(),
    };
    let mut text = String::new();
    let _ = writeln!(text, "\n  {} {}{verdict}", criterion.name, shown(criterion.name, criterion.value));
    text += &paragraph(&criterion.sentence);
    if criterion.details.len() > 1 {
        text += &paragraph(&details(criterion));
    }
    if let Some(warning) = &criterion.warning {
        text += &paragraph(&format!("WARNING: {warning}"));
    }
    text
}

fn details(criterion: &Criterion) -> String {
    let details = &criterion.details;
    let one = |detail: &Detail| format!("{}: {}", detail.about, shown_detail(criterion, detail));
    let mut parts: Vec<String> = details.iter().take(SHOWN_DETAILS).map(one).collect();
    if details.len() > SHOWN_DETAILS {
        parts.push(format!("and {} more in --json", details.len() - SHOWN_DETAILS));
    }
    format!("[{}]", parts.join("; "))
}
