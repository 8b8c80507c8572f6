//! The evidence that whoever approves a survey asks for: an impact assessment, the questions of NIST SP 800-226, a
//! registry entry, what respondents read, a threat model and the certificate. Every statement names the facts that it
//! rests on.

mod facts;
mod markdown;

use std::path::Path;

use candor_base::plan::Plan;
use candor_privacy::at_most;
use candor_tables::limits::read_text;
use serde::Serialize;

use crate::error::StudyError;
use crate::explain::explain;
use crate::html_escape::{isolated, unmarked};
use crate::locale::Language;
use crate::page::{Page, Part};

pub use facts::Fact;
use facts::{Admission, Facts};
pub use markdown::markdown;

/// The evidence for one plan.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// The plan's fingerprint.
    pub fingerprint: String,
    /// The code of its language.
    pub language: String,
    /// What is known.
    pub facts: Vec<Fact>,
    /// What follows, section by section.
    pub sections: Vec<Section>,
    /// Commands that compute every guarantee anew.
    pub commands: Vec<String>,
    /// All of it as one page. Not in JSON.
    #[serde(skip)]
    pub page: Page,
}

/// A document of the evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Section {
    /// Its name in programs.
    pub name: &'static str,
    /// Its title.
    pub title: String,
    /// What is asked, with what is stated.
    pub points: Vec<Point>,
}

/// A point of a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Point {
    /// What is asked.
    pub question: String,
    /// The statements.
    pub statements: Vec<Statement>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Statement {
    /// Its name in the tables of texts.
    pub name: &'static str,
    /// Its sentences.
    pub text: String,
    /// The same with names isolated. Not in JSON.
    #[serde(skip)]
    marked: String,
    /// The numbers of the facts it rests on; empty if it holds for every plan, or is for people to fill in.
    pub facts: Vec<usize>,
}

/// The points of a document: what is asked, and the statements, of which some depend on the facts.
type Outline = &'static [(&'static str, &'static [&'static str])];

const DPIA: Outline = &[
    ("q_need", &["need", "open_need"]),
    ("q_processing", &["processing", "where", "public", "storage", "open_processing"]),
    ("q_consultation", &["open_consultation"]),
    ("q_necessity", &["proportion", "precision", "open_necessity"]),
    ("q_risks", &["limit", "guess", "public", "side", "server", "risk_change", "risk_loss"]),
    ("q_measures", &["irreversible", "admission", "storage", "release"]),
    ("q_approval", &["open_approval"]),
];

const NIST: Outline = &[
    ("q_parameter", &["limit"]),
    ("q_unit", &["unit"]),
    ("q_algorithm", &["algorithm"]),
    ("q_utility", &["precision", "bias"]),
    ("q_security", &["side", "storage", "admission"]),
    ("q_trust", &["local", "where"]),
    ("q_exposure", &["where", "public"]),
];

const REGISTRY: Outline = &[
    ("q_name", &["name"]),
    ("q_organization", &["contact", "open_purpose"]),
    ("q_trust", &["local", "where"]),
    ("q_unit", &["unit"]),
    ("q_parameter", &["limit"]),
    ("q_algorithm", &["algorithm"]),
    ("q_software", &["software"]),
    ("q_release", &["release"]),
];

const THREATS: Outline = &[
    ("q_collector", &["limit", "guess", "admission", "where", "side", "server"]),
    ("q_reader", &["reader", "release"]),
    ("q_database", &["limit", "storage"]),
    ("q_colluding", &["colluding"]),
];

/// The evidence for a plan, and for the survey whose `survey.toml` this is.
///
/// # Errors
/// If the language has no texts of evidence, or the survey's text is not TOML.
pub fn evidence(plan: &Plan, survey: Option<&str>, language: &Language) -> Result<Evidence, StudyError> {
    language.check_evidence()?;
    let facts = Facts::new(plan, survey, language)?;
    let writer = Writer { facts: &facts, language };
    let sections = vec![
        writer.section("dpia", DPIA),
        writer.section("nist", NIST),
        writer.section("registry", REGISTRY),
        writer.section("respondents", &[("q_consent", &["consent"])]),
        writer.section("threats", THREATS),
    ];
    let commands = commands(plan);
    let page = page(plan, &writer, &sections, &commands);
    Ok(Evidence {
        fingerprint: plan.fingerprint().as_str().to_owned(),
        language: language.code().to_owned(),
        facts: facts.facts,
        sections,
        commands,
        page,
    })
}

/// The text of `survey.toml` in a survey's folder, whose plan must be this one.
///
/// # Errors
/// If a file cannot be read, or the survey has another plan.
pub fn read_survey(folder: &Path, plan: &Plan) -> Result<String, StudyError> {
    let read = |name: &str| {
        let path = folder.join(name);
        let cannot = |error| StudyError::Refused(format!("cannot read {}: {error}", path.display()));
        std::fs::File::open(&path).and_then(read_text).map_err(cannot)
    };
    let asked = Plan::from_json(&read("plan.json")?);
    let asked = asked.map_err(|error| StudyError::Refused(format!("{}/plan.json: {error}", folder.display())))?;
    match asked.fingerprint() == plan.fingerprint() {
        true => read("survey.toml"),
        false => Err(StudyError::Refused(format!(
            "{} has the plan {}, not {}; use the plan of the survey",
            folder.display(),
            asked.fingerprint(),
            plan.fingerprint()
        ))),
    }
}

/// What checks the certificate.
fn commands(plan: &Plan) -> Vec<String> {
    let epsilon = plan.guarantee().epsilon().finite();
    let required = epsilon.map_or(String::new(), |epsilon| format!(" --require ldp={}", at_most(epsilon)));
    [
        format!("candor audit plan.json{required}"),
        "candor explain plan.json".to_owned(),
        "candor sample-size plan.json".to_owned(),
    ]
    .to_vec()
}

/// Puts facts into texts.
struct Writer<'a> {
    facts: &'a Facts,
    language: &'a Language,
}

impl Writer<'_> {
    /// The text that fits the facts.
    fn fitting(&self, name: &'static str) -> &'static str {
        let Facts { bounded, has_public, precise, admission, publishes, .. } = *self.facts;
        let has_survey = admission != Admission::Nothing;
        match name {
            "limit" if bounded => "limit_bounded",
            "limit" => "limit_unbounded",
            "check" if bounded => "check_bounded",
            "check" => "check_unbounded",
            "public" if has_public => "public_some",
            "public" => "public_none",
            "precision" if precise => "precision_known",
            "precision" => "precision_unknown",
            "where" if has_survey => "device",
            "where" => "holder",
            "storage" if has_survey => "storage_batches",
            "storage" => "storage_none",
            "release" if publishes => "release_public",
            "release" => "release_none",
            "admission" => match admission {
                Admission::Nothing => "admission_none",
                Admission::Open => "admission_open",
                Admission::Invited => "admission_invited",
                Admission::Tokens => "admission_tokens",
            },
            name => name,
        }
    }

    fn statement(&self, name: &'static str) -> Statement {
        let name = self.fitting(name);
        let text = self.language.evidence_text(name);
        let used = self.facts.in_text(text);
        let isolates = |fact: &Fact| ["survey", "contact", "randomized", "public"].contains(&fact.name);
        let value = |fact: &Fact| if isolates(fact) { isolated(&fact.value) } else { fact.value.clone() };
        let values: Vec<(&str, String)> = used.iter().map(|fact| (fact.name, value(fact))).collect();
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let marked = self.language.evidence(name, &values);
        Statement { name, text: unmarked(&marked), marked, facts: used.iter().map(|fact| fact.number).collect() }
    }

    fn section(&self, name: &'static str, outline: Outline) -> Section {
        let point = |(question, statements): &(&'static str, &'static [&'static str])| {
            // Whoever serves a page has more power than the responses give; without a survey there is no page.
            let fits = |name: &&&'static str| **name != "server" || self.facts.admission != Admission::Nothing;
            let statements = statements.iter().filter(fits).map(|name| self.statement(name)).collect();
            Point { question: self.language.evidence(question, &[]), statements }
        };
        Section { name, title: self.language.evidence(name, &[]), points: outline.iter().map(point).collect() }
    }
}

/// The statement with the numbers of its facts.
fn referenced(statement: &Statement) -> String {
    let numbers: Vec<String> = statement.facts.iter().map(usize::to_string).collect();
    match numbers.is_empty() {
        true => statement.marked.clone(),
        false => format!("{} [{}]", statement.marked, numbers.join(", ")),
    }
}

fn page(plan: &Plan, writer: &Writer<'_>, sections: &[Section], commands: &[String]) -> Page {
    let say = |name: &str| writer.language.evidence(name, &[]);
    let mut parts = vec![Part::Paragraph(referenced(&writer.statement("intro")))];
    for section in sections {
        parts.push(Part::Heading(section.title.clone()));
        let source = format!("{}_source", section.name);
        parts.extend(Some(say(&source)).filter(|source| !source.is_empty()).map(Part::Paragraph));
        if section.name == "respondents" {
            let sheet = explain(plan, writer.language).page;
            parts.push(Part::Subheading(sheet.title));
            parts.extend(sheet.parts.into_iter().map(below));
        }
        for point in &section.points {
            parts.push(Part::Subheading(point.question.clone()));
            parts.push(Part::List(point.statements.iter().map(referenced).collect()));
        }
    }
    parts.push(Part::Heading(say("certificate")));
    parts.push(Part::Paragraph(referenced(&writer.statement("check"))));
    parts.push(Part::Commands(commands.to_vec()));
    let row = |fact: &Fact| vec![fact.number.to_string(), fact.about.clone(), fact.value.clone(), fact.source.clone()];
    parts.push(Part::Table {
        caption: say("facts"),
        header: ["number", "fact", "value", "source"].map(say).to_vec(),
        rows: writer.facts.facts.iter().map(row).collect(),
    });
    Page::new(writer.statement("title").text, parts, writer.language.clone())
}

/// Parts of a page within another one.
fn below(part: Part) -> Part {
    match part {
        Part::Heading(heading) => Part::Subheading(heading),
        part => part,
    }
}
