//! `candor audit`: what a plan guarantees.

use std::fmt::Write;

use candor::channel::{Epsilon, rounded_up};
use candor::plan::Plan;
use candor::privacy::{Detail, Finding, Question, Requirement, audit, compose, respondent_sentence, times};
use clap::Args;
use serde_json::{Value, json};

use super::design::{attribute_rows, attributes_json, describe_prior};
use super::{compare_plans, read_plan};
use crate::failure::Failure;
use crate::show::{emit, emit_json, lower_first, paragraph, plural, table};

/// With more details than this, the text shows the first ones only.
const SHOWN_DETAILS: usize = 8;

#[derive(Args)]
#[command(after_help = "\
Examples:
  candor audit plan.json
  candor audit plan.json --require ldp=4 --require rho=0.1:0.9
  candor audit plan.json --prior Sex=0.7,0.3 --require worst-posterior=0.99
  candor audit first.json second.json              what holds for people who answer both
  candor audit --compare first.json second.json    is one at least as informative as the other?

Criteria: ldp, parity, beta-factor, rho (rho1:rho2), information-bounds (event:low:high), average-security,
map-privacy, worst-posterior, l-diversity, guessing, mutual-information; docs/privacy.md says what each means.")]
pub struct AuditArgs {
    /// The plan (JSON); - for standard input. Several: what holds for people who answer all of them
    #[arg(required = true)]
    plans: Vec<String>,
    /// What a reader believes beforehand about one attribute: a probability for each category; uniform by default
    #[arg(long, value_name = "NAME=P,..")]
    prior: Vec<String>,
    /// A threshold that must hold, such as ldp=1; if one does not, the exit code is 1. May be repeated
    #[arg(long, value_name = "CRITERION=VALUE")]
    require: Vec<String>,
    /// Two plans: is one at least as informative as the other? With a proof either way
    #[arg(long, conflicts_with_all = ["prior", "require"])]
    compare: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: AuditArgs) -> Result<(), Failure> {
    if args.compare {
        return match &args.plans[..] {
            [a, b] => compare_plans::run(a, b, args.json),
            _ => Err(Failure::Usage("--compare takes two plans".to_owned())),
        };
    }
    let requirements = args
        .require
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<Requirement>, _>>()
        .map_err(wrong("--require"))?;
    let [path] = &args.plans[..] else { return together(&args, &requirements) };
    let plan = read_plan(path)?;
    let question = question(&plan, &args.prior, requirements)?;
    let findings = audit(&question);
    match args.json {
        true => emit_json(&describe_json(&plan, &findings))?,
        false => emit(&describe(&plan, &findings))?,
    }
    let broken: Vec<String> = findings.iter().filter(|finding| finding.holds == Some(false)).map(requirement).collect();
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Failure::Input(format!("{path} does not meet {}", broken.join(", nor ")))),
    }
}

fn wrong<E: std::fmt::Display>(flag: &str) -> impl Fn(E) -> Failure {
    move |error| Failure::about(flag, error)
}

fn question<'a>(plan: &'a Plan, priors: &[String], requirements: Vec<Requirement>) -> Result<Question<'a>, Failure> {
    let mut question = Question::new(plan);
    for text in priors {
        let form = || Failure::Usage(format!("--prior {text}: write NAME=P,P,.. with a probability for each category"));
        let (name, numbers) = text.split_once('=').ok_or_else(form)?;
        let numbers: Vec<f64> =
            numbers.split(',').map(|p| p.trim().parse().map_err(|_| form())).collect::<Result<_, _>>()?;
        question = question.with_prior(name.trim(), &numbers).map_err(wrong("--prior"))?;
    }
    for requirement in requirements {
        question = question.requiring(requirement).map_err(wrong("--require"))?;
    }
    Ok(question)
}

/// A requirement that does not hold, and what is there instead.
fn requirement(finding: &Finding) -> String {
    let required = finding.required.map_or(String::new(), |required| required.to_string());
    format!("{}={required} (it is {})", finding.name, shown(finding.name, finding.value))
}

/// A value for people: bounds that are certified are rounded up, whole numbers are whole.
fn shown(name: &str, value: Option<f64>) -> String {
    match (name, value) {
        (_, None) => "unbounded".to_owned(),
        ("ldp" | "parity" | "beta-factor", Some(value)) => rounded_up(value),
        ("l-diversity", Some(value)) => value.to_string(),
        (_, Some(value)) if value > 0.0 && value < 0.001 => format!("{value:.3e}"),
        (_, Some(value)) => format!("{value:.4}"),
    }
}

/// Several plans, answered by the same people.
fn together(args: &AuditArgs, requirements: &[Requirement]) -> Result<(), Failure> {
    let about_one =
        |flag: &str| Failure::Usage(format!("{flag} is about one plan; of several together, only ldp can be required"));
    if !args.prior.is_empty() {
        return Err(about_one("--prior"));
    }
    let limit = match requirements {
        [] => None,
        [Requirement::Ldp(limit)] => Some(*limit),
        _ => return Err(about_one("--require")),
    };
    let plans = args.plans.iter().map(|path| read_plan(path)).collect::<Result<Vec<Plan>, _>>()?;
    let composition = compose(&plans.iter().collect::<Vec<_>>());
    let epsilon = composition.epsilon;
    let holds = limit.map(|limit| epsilon.get() <= limit);
    let sentence = match times(epsilon) {
        Some(times) => format!(
            "Whatever a person's record is, all responses together are at most {times} times as likely under it as under any \
             other record (epsilon {epsilon})."
        ),
        None => {
            "Together, some responses are possible under some records and impossible under others: there is no epsilon."
                .to_owned()
        }
    };
    if args.json {
        let plan = |(path, plan): (&String, &Plan)| json!({"plan": path, "fingerprint": plan.fingerprint().as_str(), "epsilon": plan.guarantee().epsilon().value()});
        let attribute = |(name, epsilon, plans): &(String, Epsilon, usize)| json!({"name": name, "conditional_epsilon": epsilon.value(), "plans": plans});
        let json = json!({
            "plans": args.plans.iter().zip(&plans).map(plan).collect::<Vec<_>>(),
            "epsilon": epsilon.value(),
            "attributes": composition.attributes.iter().map(attribute).collect::<Vec<_>>(),
            "criteria": [{"name": "ldp", "value": epsilon.value(), "required": limit, "holds": holds, "sentence": sentence}],
        });
        emit_json(&json)?;
    } else {
        let mut rows: Vec<Vec<String>> = args
            .plans
            .iter()
            .zip(&plans)
            .map(|(path, plan)| vec![path.clone(), plan.guarantee().epsilon().to_string()])
            .collect();
        rows.push(vec!["all of them".to_owned(), epsilon.to_string()]);
        let mut text = format!("{} answered by the same people\n\n", plural(plans.len(), "plan"));
        text += &table(&["plan", "record epsilon"], &rows);
        text.push('\n');
        let row = |(name, epsilon, plans): &(String, Epsilon, usize)| {
            vec![name.clone(), plans.to_string(), epsilon.to_string()]
        };
        text += &table(
            &["attribute", "plans", "conditional epsilon"],
            &composition.attributes.iter().map(row).collect::<Vec<_>>(),
        );
        text.push('\n');
        text += &paragraph(&sentence);
        emit(&text)?;
    }
    match limit.filter(|_| holds == Some(false)) {
        Some(limit) => Err(Failure::Input(format!("the plans together do not meet ldp={limit} (it is {epsilon})"))),
        None => Ok(()),
    }
}

fn describe(plan: &Plan, findings: &[Finding]) -> String {
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
    text += &table(&ATTRIBUTE_HEADER, &attribute_table(plan));
    text += "\nWhat to tell respondents\n";
    text += &told(plan, findings, str::to_owned).iter().map(|sentence| paragraph(sentence)).collect::<String>();
    text += "\nCriteria\n";
    for finding in findings {
        let verdict = match (finding.required, finding.holds) {
            (Some(required), Some(true)) => format!("   {required} required: holds"),
            (Some(required), _) => format!("   {required} required: DOES NOT HOLD"),
            (None, _) => String::new(),
        };
        let _ = writeln!(text, "\n  {} {}{verdict}", finding.name, shown(finding.name, finding.value));
        text += &paragraph(&finding.sentence);
        if finding.details.len() > 1 {
            text += &paragraph(&details(finding.name, &finding.details));
        }
        if let Some(warning) = &finding.warning {
            text += &paragraph(&format!("WARNING: {warning}"));
        }
    }
    text += &describe_prior(plan);
    if plan.for_prior().is_some() && !plan.fingerprints_prior() {
        text += &paragraph(PRIOR_NOT_FINGERPRINTED);
    }
    text += "\nWhy two epsilons\n";
    text += &paragraph(WHY_TWO_EPSILONS);
    text
}

/// The header of [`attribute_table`].
pub const ATTRIBUTE_HEADER: [&str; 6] =
    ["attribute", "categories", "truth kept", "marginal epsilon", "conditional epsilon", "times as likely"];

/// What is certified of each attribute.
pub fn attribute_table(plan: &Plan) -> Vec<Vec<String>> {
    let mut rows = attribute_rows(plan);
    for (row, a) in rows.iter_mut().zip(plan.guarantee().attributes()) {
        row.push(times(a.conditional).unwrap_or_else(|| "no bound".to_owned()));
    }
    rows
}

/// What is said of a plan of version 1 that was made for a prior.
const PRIOR_NOT_FINGERPRINTED: &str = "WARNING: this plan is of version 1, whose fingerprint does not cover the prior: somebody may have exchanged the prior, and \
     these two numbers with it.";

/// What the two epsilons of an attribute mean.
pub const WHY_TWO_EPSILONS: &str = "The marginal epsilon is for a reader of one answer alone. The conditional epsilon is for a reader of the whole \
     response who already knows all other attributes: it is the one that protects the respondent. All are computed \
     from the plan's integers and rounded up; an attribute answered in two plans adds up.";

/// What to tell respondents; `name` is how attributes are called.
pub fn told(plan: &Plan, findings: &[Finding], name: impl Fn(&str) -> String) -> Vec<String> {
    let worst = plan.guarantee().conditional();
    let mut sentences = vec![format!(
        "About any one question, even for somebody who knows all your other answers: {}",
        lower_first(&respondent_sentence(worst))
    )];
    let diverse = findings.iter().find(|finding| finding.name == "l-diversity").and_then(|finding| finding.value);
    if let Some(l) = diverse.filter(|&l| l >= 2.0 && worst == Epsilon::UNBOUNDED) {
        sentences.push(format!(
            "But at least {l} answers fit what we receive equally well, and nobody can tell which is yours."
        ));
    }
    let public: Vec<String> =
        plan.schema().attributes().iter().filter(|a| a.is_public()).map(|attribute| name(attribute.name())).collect();
    if !public.is_empty() {
        sentences.push(format!("Published as it is, without any protection: {}.", public.join(", ")));
    }
    sentences
}

fn details(name: &str, details: &[Detail]) -> String {
    let one = |detail: &Detail| format!("{}: {}", detail.about, shown(name, detail.value));
    let mut parts: Vec<String> = details.iter().take(SHOWN_DETAILS).map(one).collect();
    if details.len() > SHOWN_DETAILS {
        parts.push(format!("and {} more in --json", details.len() - SHOWN_DETAILS));
    }
    format!("[{}]", parts.join("; "))
}

fn describe_json(plan: &Plan, findings: &[Finding]) -> Value {
    let mut attributes = attributes_json(plan);
    for (json, a) in attributes.iter_mut().zip(plan.guarantee().attributes()) {
        json["keep_probability"] = a.keep_probability.into();
    }
    let detail = |detail: &Detail| json!({"about": detail.about, "value": detail.value});
    let criterion = |f: &Finding| {
        let required = f.required.map(|required| match required.to_string().parse::<f64>() {
            Ok(number) => json!(number),
            Err(_) => json!(required.to_string()),
        });
        let breaking = f.breaking_prior.as_ref();
        json!({
            "name": f.name,
            "value": f.value,
            "required": required,
            "holds": f.holds,
            "sentence": f.sentence,
            "details": f.details.iter().map(detail).collect::<Vec<_>>(),
            "warning": f.warning,
            "closest_breaking_prior": breaking.map(|b| json!({"attribute": b.attribute, "distance": b.distance, "prior": b.prior})),
        })
    };
    json!({
        "fingerprint": plan.fingerprint().as_str(),
        "version": plan.version(),
        "prior_fingerprinted": plan.for_prior().map(|_| plan.fingerprints_prior()),
        "epsilon": plan.guarantee().epsilon().value(),
        "attributes": attributes,
        "criteria": findings.iter().map(criterion).collect::<Vec<_>>(),
    })
}
