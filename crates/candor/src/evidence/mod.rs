//! Evidence for those who approve a survey.
//!
//! It consists of an impact assessment, the questions of NIST SP 800-226, a registry entry, the page for
//! respondents, a threat model and the certificate. Every statement refers to the facts it is based on.

mod facts;
mod markdown;
mod registry;

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
use facts::{Admission, Facts, MARGIN};
pub use markdown::markdown;

/// Evidence for one plan.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// Language code.
    pub language: String,
    /// Known facts.
    pub facts: Vec<Fact>,
    /// Documents that follow from the facts.
    pub sections: Vec<Section>,
    /// Commands that recompute every guarantee.
    pub commands: Vec<String>,
    /// The form of the deployments registry, filled in (YAML, in English).
    pub registry: String,
    /// The evidence as one page. Not in JSON.
    #[serde(skip)]
    pub page: Page,
}

/// A document of the evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Section {
    /// Name for programs.
    pub name: &'static str,
    /// Title.
    pub title: String,
    /// Questions with their statements.
    pub points: Vec<Point>,
}

/// A question of a document, with its statements.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Point {
    /// The question.
    pub question: String,
    /// Statements that answer it.
    pub statements: Vec<Statement>,
}

/// A statement with references to facts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Statement {
    /// Name in the tables of texts.
    pub name: &'static str,
    /// Text of the statement.
    pub text: String,
    /// The text with names isolated. Not in JSON.
    #[serde(skip)]
    marked: String,
    /// Numbers of the facts it is based on; empty if it applies to every plan or must be completed by hand.
    pub facts: Vec<usize>,
}

/// Contact in a new `survey.toml`, until somebody replaces it.
pub const NEW_CONTACT: &str = "Please say here whom to ask.";

/// Title in a new `survey.toml`, until somebody replaces it.
pub const NEW_TITLE: &str = "A survey";

/// Questions of a document with their statements, some of which depend on facts.
type Outline = &'static [(&'static str, &'static [&'static str])];

const DPIA: Outline = &[
    ("q_need", &["need", "open_need"]),
    ("q_processing", &["processing", "where", "public", "storage", "open_processing"]),
    ("q_consultation", &["open_consultation"]),
    ("q_necessity", &["proportion", "precision", "rights", "open_necessity"]),
    (
        "q_risks",
        &[
            "risk_access",
            "limit",
            "guess",
            "public",
            "derived",
            "side",
            "timing",
            "server",
            "risk_change",
            "risk_loss",
            "open_risks",
        ],
    ),
    ("q_measures", &["irreversible", "admission", "storage", "release", "open_measures"]),
    ("q_approval", &["open_approval"]),
];

const NIST: Outline = &[
    ("q_parameter", &["limit"]),
    ("q_unit", &["unit", "again"]),
    ("q_mixed", &["public", "derived"]),
    ("q_algorithm", &["algorithm", "drawing"]),
    ("q_utility", &["precision", "bias"]),
    ("q_query", &["query"]),
    ("q_security", &["side", "timing", "storage", "admission"]),
    ("q_trust", &["local", "where"]),
    ("q_exposure", &["where", "public"]),
];

const RESPONDENTS: Outline = &[("q_consent", &["consent", "withdrawal", "contact"])];

const THREATS: Outline = &[
    ("q_collector", &["limit", "guess", "admission", "where", "side", "server"]),
    ("q_reader", &["reader", "release"]),
    ("q_database", &["limit", "storage"]),
    ("q_colluding", &["colluding"]),
];

/// Creates the evidence for a plan and, if given, for the survey with this `survey.toml`.
///
/// ```
/// # use candor::prelude::*;
/// # let schema = Schema::with_sizes(&[2])?;
/// # let plan = design(&schema, &Independent::new(1.0).into(), &DesignOptions::default())?.plan;
/// let found = evidence(&plan, None, &Language::default())?;
/// assert_eq!(found.sections[0].name, "dpia");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`StudyError::Texts`] if the language has no texts of the evidence.
/// Returns [`StudyError::Refused`] if `survey` is not TOML.
pub fn evidence(plan: &Plan, survey: Option<&str>, language: &Language) -> Result<Evidence, StudyError> {
    language.check_evidence()?;
    let facts = Facts::new(plan, survey, language)?;
    let writer = Writer { facts: &facts, language };
    let sections = vec![
        writer.section("dpia", DPIA),
        writer.section("nist", NIST),
        writer.section("registry", &registry::outline()),
        writer.section("respondents", RESPONDENTS),
        writer.section("threats", THREATS),
    ];
    let commands = commands(plan, &facts);
    let registry = registry::form(plan, survey, language)?;
    let page = page(plan, &writer, &sections, &commands);
    Ok(Evidence {
        fingerprint: plan.fingerprint().as_str().to_owned(),
        language: language.code().to_owned(),
        facts: facts.facts,
        sections,
        commands,
        registry,
        page,
    })
}

/// Reads `survey.toml` from the folder of a survey, which must use this plan.
///
/// # Errors
/// Returns [`StudyError::Refused`] if a file cannot be read or the survey has another plan.
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

/// Returns commands that check the certificate.
fn commands(plan: &Plan, facts: &Facts) -> Vec<String> {
    let required = match (plan.guarantee().epsilon().finite(), facts.plausible) {
        (Some(epsilon), _) => format!(" --require ldp={}", at_most(epsilon)),
        (None, Some(plausible)) => format!(" --require l-diversity={plausible}"),
        (None, None) => String::new(),
    };
    [
        format!("candor audit plan.json{required}"),
        "candor explain plan.json".to_owned(),
        format!("candor sample-size plan.json --margin {MARGIN} --tables marginals"),
    ]
    .to_vec()
}

/// Fills facts into texts.
struct Writer<'a> {
    facts: &'a Facts,
    language: &'a Language,
}

impl Writer<'_> {
    /// Returns the variant of a text that matches the facts.
    fn fitting(&self, name: &'static str) -> &'static str {
        let Facts { bounded, plausible, has_public, precise, admission, publishes, .. } = *self.facts;
        let has_survey = admission != Admission::Nothing;
        match name {
            "limit" if bounded => "limit_bounded",
            "limit" if plausible.is_some() => "limit_diverse",
            "limit" => "limit_unbounded",
            "check" if bounded => "check_bounded",
            "check" if plausible.is_some() => "check_diverse",
            "check" => "check_unbounded",
            "variant" if bounded => "variant_pure",
            "variant" => "variant_none",
            "irreversible" if !has_survey => "irreversible_seed",
            "withdrawal" if has_public => "withdrawal_public",
            "public" if has_public => "public_some",
            "public" => "public_none",
            "rights" if has_public => "rights_public",
            "rights" => "rights_none",
            "precision" if precise => "precision_known",
            "precision" => "precision_unknown",
            "where" if has_survey => "device",
            "where" => "holder",
            "storage" if has_survey => "storage_batches",
            "storage" => "storage_none",
            "release" if publishes => "release_public",
            "release" if !has_survey => "release_plan",
            "title" if !has_survey => "title_plan",
            "name" if !has_survey => "name_plan",
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

    /// Returns whether a statement applies.
    ///
    /// Statements about the page, stored responses and contacts need a survey; those about sums of epsilons need a
    /// finite epsilon.
    fn applies(&self, name: &str) -> bool {
        match name {
            "server" | "rights" | "contact" | "withdrawal" => self.facts.admission != Admission::Nothing,
            "again" => self.facts.bounded,
            _ => true,
        }
    }

    fn statements(&self, names: &[&'static str]) -> Vec<Statement> {
        names.iter().filter(|name| self.applies(name)).map(|name| self.statement(name)).collect()
    }

    fn section(&self, name: &'static str, outline: &[(&'static str, impl AsRef<[&'static str]>)]) -> Section {
        let point = |(question, names): &(&'static str, _)| Point {
            question: self.language.evidence(question, &[]),
            statements: self.statements(AsRef::<[&'static str]>::as_ref(names)),
        };
        Section { name, title: self.language.evidence(name, &[]), points: outline.iter().map(point).collect() }
    }
}

/// Appends the numbers of its facts to a statement.
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
    parts.push(Part::Paragraph(referenced(&writer.statement("client"))));
    parts.push(Part::Commands(commands.to_vec()));
    let row = |fact: &Fact| vec![fact.number.to_string(), fact.about.clone(), fact.value.clone(), fact.source.clone()];
    parts.push(Part::Table {
        caption: say("facts"),
        header: ["number", "fact", "value", "source"].map(say).to_vec(),
        rows: writer.facts.facts.iter().map(row).collect(),
    });
    Page::new(writer.statement("title").text, parts, writer.language.clone())
}

/// Lowers the headings of a part that is nested in another page.
fn below(part: Part) -> Part {
    match part {
        Part::Heading(heading) => Part::Subheading(heading),
        part => part,
    }
}
