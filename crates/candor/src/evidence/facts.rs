//! Facts about a plan and its survey, each with a number, a value and a source.

use std::collections::BTreeMap;

use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_privacy::{AuditRequest, at_most, audit, times};
use serde::Serialize;
use toml::{Table, Value};

use super::{NEW_CONTACT, NEW_TITLE};
use crate::error::StudyError;
use crate::guarantee::certified;
use crate::locale::Language;
use crate::made_by::made_by;
use crate::sample_size::{SampleSizeOptions, sample_size};

/// Margin of error for which the required number of respondents is stated.
pub(super) const MARGIN: f64 = 0.03;
/// Default number of responses that a survey stores together.
const DEFAULT_BATCH: i64 = 20;

/// A fact with its source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Fact {
    /// Number to which statements refer.
    pub number: usize,
    /// Name for programs.
    pub name: &'static str,
    /// Description in the language of the evidence.
    pub about: String,
    /// Value in the language of the evidence.
    pub value: String,
    /// Source: a command, or a field of `survey.toml`.
    pub source: String,
}

/// Admission of respondents to the survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Nothing,
    Open,
    Invited,
    Tokens,
}

/// All facts, and the conditions that select statements.
pub(super) struct Facts {
    pub(super) facts: Vec<Fact>,
    pub(super) bounded: bool,
    /// Without a finite epsilon: the number of answers to each question that fit a response equally well, from two on.
    pub(super) plausible: Option<u64>,
    pub(super) has_public: bool,
    pub(super) precise: bool,
    pub(super) admission: Admission,
    pub(super) publishes: bool,
}

/// Parsed `survey.toml`, if there is one.
struct Survey(Option<Table>);

impl Survey {
    fn read(text: Option<&str>) -> Result<Survey, StudyError> {
        let read = |text: &str| {
            let wrong = |error: toml::de::Error| StudyError::Refused(format!("survey.toml: {}", error.message()));
            toml::from_str::<Table>(text).map_err(wrong)
        };
        Ok(Survey(text.map(read).transpose()?))
    }

    /// Returns a text that somebody has written in place of the one in a new `survey.toml`.
    fn text(&self, name: &str) -> Option<String> {
        let text = self.0.as_ref()?.get(name)?.as_str()?.trim();
        (![NEW_CONTACT, NEW_TITLE, ""].contains(&text)).then(|| text.to_owned())
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.0.as_ref()?.get(name)?.as_integer()
    }

    fn admission(&self) -> Admission {
        match &self.0 {
            None => Admission::Nothing,
            Some(table) if table.contains_key("tokens_until") => Admission::Tokens,
            Some(table) if table.get("invitations").and_then(Value::as_bool) == Some(true) => Admission::Invited,
            Some(_) => Admission::Open,
        }
    }
}

impl Facts {
    /// Collects the facts about a plan and, if given, about the survey with this `survey.toml`.
    pub(super) fn new(plan: &Plan, survey: Option<&str>, language: &Language) -> Result<Facts, StudyError> {
        let survey = Survey::read(survey)?;
        let say = |name: &str| language.evidence(name, &[]);
        let mut values: BTreeMap<&'static str, String> = BTreeMap::new();
        let not_stated = || say("not_stated");
        values.insert("fingerprint", plan.fingerprint().as_str().to_owned());
        values.insert("version", env!("CARGO_PKG_VERSION").to_owned());
        let named = |public: bool| -> Vec<String> {
            let attributes = plan.schema().attributes().iter().filter(|attribute| attribute.is_public() == public);
            attributes.map(|attribute| language.asked(attribute.name()).to_owned()).collect()
        };
        let listed = |names: &[String]| if names.is_empty() { say("nothing") } else { names.join(", ") };
        let public = named(true);
        values.insert("randomized", listed(&named(false)));
        values.insert("public_count", language.whole(public.len() as u64));
        values.insert("public", listed(&public));
        values.insert("blocks", language.whole(plan.blocks().len() as u64));
        let method = made_by(plan).and_then(|told| told["request"]["method"].as_str().map(str::to_owned));
        values.insert("method", method.unwrap_or_else(not_stated));
        privacy(plan, language, &mut values);
        let plausible = plausible(plan);
        values.extend(plausible.map(|least| ("plausible", language.whole(least))));
        let respondents = respondents(plan);
        values.insert("margin", language.whole((100.0 * MARGIN).round() as u64));
        values.insert("respondents", respondents.map_or_else(not_stated, |n| language.whole(n)));
        let admission = survey.admission();
        let who = match admission {
            Admission::Nothing => None,
            Admission::Open => Some("everybody"),
            Admission::Invited => Some("invited"),
            Admission::Tokens => Some("tokens"),
        };
        let published = survey.number("public_results").map(i64::unsigned_abs);
        if let Some(who) = who {
            values.insert("survey", survey.text("title").unwrap_or_else(|| say("this_survey")));
            values.insert("contact", survey.text("contact").unwrap_or_else(not_stated));
            values.insert("admission", say(who));
            values.insert("tokens_until", survey.text("tokens_until").unwrap_or_else(|| say("nothing")));
            values.insert("batch", language.whole(survey.number("batch").unwrap_or(DEFAULT_BATCH).unsigned_abs()));
            values.insert("public_results", published.map_or_else(|| say("nothing"), |n| language.whole(n)));
        }
        Ok(Facts {
            facts: numbered(values, language),
            bounded: plan.guarantee().epsilon().finite().is_some(),
            plausible,
            has_public: !public.is_empty(),
            precise: respondents.is_some(),
            admission,
            publishes: published.is_some(),
        })
    }

    /// Returns the facts for which a text has placeholders.
    pub(super) fn in_text(&self, text: &str) -> Vec<&Fact> {
        self.facts.iter().filter(|fact| text.contains(&format!("{{{}}}", fact.name))).collect()
    }
}

/// Adds the facts about privacy from the certificate.
fn privacy(plan: &Plan, language: &Language, values: &mut BTreeMap<&'static str, String>) {
    let epsilon = plan.guarantee().epsilon();
    let unbounded = || language.evidence("unbounded", &[]);
    let attributes = certified(plan);
    values.insert("questions", language.whole(attributes.len() as u64));
    values.insert("epsilon", epsilon.finite().map_or_else(unbounded, |value| language.decimal(&at_most(value))));
    values.insert("times", times(epsilon).map_or_else(unbounded, |times| language.decimal(&times)));
    let surest = attributes.iter().max_by(|a, b| a.guess_probability.total_cmp(&b.guess_probability));
    let (guess, luck) = surest.map_or((0.0, 0.0), |a| (a.guess_probability, 1.0 / a.categories as f64));
    values.insert("guess", language.decimal(&at_most(guess)));
    values.insert("luck", language.number(luck, 4));
    let worst = attributes.iter().map(|a| a.worst_posterior).fold(0.0, f64::max);
    values.insert("worst", language.decimal(&at_most(worst)));
}

/// Returns the number of answers that fit each response equally well; `None` with a finite epsilon, or below two.
fn plausible(plan: &Plan) -> Option<u64> {
    let unbounded = AuditRequest::new(plan);
    let findings = plan.guarantee().epsilon().finite().is_none().then(|| audit(&unbounded))?;
    let diverse = findings.iter().find(|finding| finding.name() == "l-diversity")?.value?;
    (diverse >= 2.0).then_some(diverse as u64)
}

/// Returns the sample size for the margin in every one-way table; `None` if no number suffices.
fn respondents(plan: &Plan) -> Option<u64> {
    let tables = TableList::marginals(plan.schema());
    let sizes = sample_size(plan, &tables, &SampleSizeOptions::new(MARGIN)).ok()?;
    let each: Option<Vec<f64>> = sizes.tables.iter().map(|table| table.respondents).collect();
    each?.into_iter().reduce(f64::max).filter(|n| *n < 1e15).map(|n| n.ceil() as u64)
}

/// Facts in the order in which they are shown, with their sources.
const ORDER: [(&str, &str); 22] = [
    ("survey", "survey.toml: title"),
    ("contact", "survey.toml: contact"),
    ("fingerprint", "candor audit plan.json --json: fingerprint"),
    ("version", "candor --version"),
    ("questions", "candor audit plan.json --json: attributes"),
    ("randomized", "candor audit plan.json --json: attributes"),
    ("public_count", "plan.json: schema"),
    ("public", "plan.json: schema"),
    ("blocks", "plan.json: blocks"),
    ("method", "candor audit plan.json --json: made_by"),
    ("epsilon", "candor audit plan.json --json: epsilon"),
    ("times", "candor audit plan.json"),
    ("plausible", "candor audit plan.json --json: l-diversity"),
    ("guess", "candor audit plan.json --json: guess_probability"),
    ("luck", "candor audit plan.json --json: categories"),
    ("worst", "candor audit plan.json --json: worst_posterior"),
    ("margin", "candor sample-size plan.json --margin 0.03 --tables marginals"),
    ("respondents", "candor sample-size plan.json --margin 0.03 --tables marginals --json"),
    ("admission", "survey.toml: invitations, tokens_until"),
    ("tokens_until", "survey.toml: tokens_until"),
    ("batch", "survey.toml: batch"),
    ("public_results", "survey.toml: public_results"),
];

fn numbered(mut values: BTreeMap<&'static str, String>, language: &Language) -> Vec<Fact> {
    let known = ORDER.iter().filter_map(|(name, source)| Some((*name, values.remove(name)?, *source)));
    let fact = |(place, (name, value, source)): (usize, (&'static str, String, &str))| Fact {
        number: place + 1,
        name,
        about: language.evidence(&format!("fact_{name}"), &[]),
        value,
        source: source.to_owned(),
    };
    known.enumerate().map(fact).collect()
}
