//! The contents of survey.toml, and whether they fit the plan.

use std::collections::{BTreeMap, BTreeSet};

use candor::evidence::{NEW_CONTACT, NEW_TITLE};
use candor::locale::{QuestionText, names, texts};
use candor_base::plan::Plan;
use candor_base::schema::Attribute;
use serde::{Deserialize, Serialize};

use crate::words::{Words, batch, is_day, margin, per_second};

/// The contents of survey.toml.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wording {
    /// Language codes of the page; texts outside `translations` are in the first language.
    pub languages: Vec<String>,
    /// Texts in the first language.
    #[serde(flatten)]
    pub first: Words,
    /// Order of the questions; empty for the order of the schema.
    #[serde(default)]
    pub order: Vec<String>,
    /// The last day on which answers are accepted, such as `2026-12-31` (UTC).
    #[serde(default)]
    pub closes: Option<String>,
    /// Maximum number of responses.
    #[serde(default)]
    pub quota: Option<u64>,
    /// Address of the survey, such as `https://survey.example`, for links and saved pages.
    #[serde(default)]
    pub address: Option<String>,
    /// Whether only invited people can answer.
    #[serde(default)]
    pub invitations: bool,
    /// Last day (UTC) on which invited people are issued tokens that cannot be linked to their invitations; answers are
    /// accepted after it.
    #[serde(default)]
    pub tokens_until: Option<String>,
    /// Whether several people share a device; if so, the browser stores nothing.
    #[serde(default)]
    pub shared_devices: bool,
    /// Margin of error by which the dashboard measures progress.
    #[serde(default = "margin")]
    pub margin: f64,
    /// Maximum number of responses accepted per second.
    #[serde(default = "per_second")]
    pub per_second: u32,
    /// Minimum number of responses that are stored together in random order; until then they wait.
    #[serde(default = "batch")]
    pub batch: usize,
    /// Minimum number of responses of a public batch; batches close at the end of a day only.
    #[serde(default)]
    pub public_results: Option<u64>,
    /// Maximum number of responses in a public batch that one adversary sent or knows: the colluding respondents.
    #[serde(default)]
    pub colluding: Option<u64>,
    /// Smallest and largest number that can be typed, by attribute; numbers on a grid use the ends of the grid.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ranges: BTreeMap<String, [f64; 2]>,
    /// Maximum number of responses, by category of public attributes.
    #[serde(default)]
    pub quotas: BTreeMap<String, BTreeMap<String, u64>>,
    /// Texts in the other languages, by language code.
    #[serde(default)]
    pub translations: BTreeMap<String, Words>,
}

/// Maximum of `batch`: the waiting set is rewritten with every response.
const MAX_WAITING: usize = 1_000;

/// Minimum of `batch`: a smaller one would hide nobody.
const MIN_BATCH: u64 = 20;

/// Maximum number of groups of public attributes that are distinguished.
const MAX_GROUPS: usize = 10_000;

impl Wording {
    /// Returns the default texts, names and categories as they are, to be edited.
    pub(crate) fn new(plan: &Plan) -> Wording {
        let question = |attribute: &Attribute| {
            let asked = QuestionText { text: format!("{}?", attribute.name()), ..QuestionText::default() };
            (attribute.name().to_owned(), asked)
        };
        let first = Words {
            title: NEW_TITLE.to_owned(),
            introduction: "Please say here who asks, what for, and how long it takes.".to_owned(),
            contact: Some(NEW_CONTACT.to_owned()),
            questions: plan.schema().attributes().iter().map(question).collect(),
            ..Words::default()
        };
        Wording {
            languages: vec!["en".to_owned()],
            first,
            order: plan.schema().attributes().iter().map(|a| a.name().to_owned()).collect(),
            closes: None,
            quota: None,
            address: None,
            invitations: false,
            tokens_until: None,
            shared_devices: false,
            margin: margin(),
            per_second: per_second(),
            batch: batch(),
            public_results: None,
            colluding: None,
            ranges: BTreeMap::new(),
            quotas: BTreeMap::new(),
            translations: BTreeMap::new(),
        }
    }

    /// Returns the texts in a language, if the survey has it.
    pub(crate) fn words(&self, language: &str) -> Option<&Words> {
        match self.languages.first().is_some_and(|first| first == language) {
            true => Some(&self.first),
            false => self.translations.get(language),
        }
    }

    /// Checks whether the texts fit the plan; the error says what is wrong.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), String> {
        if self.languages.is_empty() {
            return Err("languages: name at least one, such as \"en\"".to_owned());
        }
        for language in &self.languages {
            let words = self.words(language).ok_or_else(|| format!("[translations.{language}] is missing"))?;
            words.check(plan, language, &self.first).map_err(|wrong| format!("language {language}: {wrong}"))?;
        }
        if let Some(other) = self.translations.keys().find(|code| !self.languages.contains(code)) {
            return Err(format!("[translations.{other}]: \"{other}\" is not among the languages"));
        }
        let asked: BTreeSet<&str> = plan.schema().attributes().iter().map(Attribute::name).collect();
        let listed: BTreeSet<&str> = self.order.iter().map(String::as_str).collect();
        if !self.order.is_empty() && (listed != asked || listed.len() != self.order.len()) {
            return Err("order: name every attribute of the plan once".to_owned());
        }
        if self.closes.as_ref().is_some_and(|day| !is_day(day)) {
            return Err("closes: expected a date such as \"2026-12-31\"".to_owned());
        }
        if !(self.margin > 0.0 && self.margin < 1.0) {
            return Err("margin: expected a share above 0 and below 1, such as 0.03".to_owned());
        }
        let is_address = |address: &String| address.starts_with("https://") || address.starts_with("http://");
        if self.address.as_ref().is_some_and(|address| !is_address(address)) {
            return Err("address: expected the URL of the survey, such as \"https://survey.example\"".to_owned());
        }
        if !(1..=MAX_WAITING).contains(&self.batch) {
            return Err(format!("batch: expected a number of responses from 1 to {MAX_WAITING}"));
        }
        self.check_ranges(plan)?;
        self.check_tokens()?;
        self.check_groups(plan)
    }

    /// Checks that ranges are for attributes with typed numbers and contain their edges.
    fn check_ranges(&self, plan: &Plan) -> Result<(), String> {
        for (name, &[least, most]) in &self.ranges {
            let attribute = plan.schema().attributes().iter().find(|attribute| attribute.name() == name);
            let attribute = attribute.ok_or_else(|| format!("[ranges] \"{name}\": the plan has no such attribute"))?;
            let edges: Vec<f64> = attribute.edges().collect();
            let (Some(&first), Some(&last)) = (edges.first(), edges.last()) else {
                return Err(format!(
                    "[ranges] \"{name}\": respondents do not enter a number for it, or its grid defines the range"
                ));
            };
            if !(least.is_finite() && most.is_finite() && least < first && last < most) {
                return Err(format!(
                    "[ranges] \"{name}\": expected two numbers, one below {first} and one above {last}"
                ));
            }
        }
        Ok(())
    }

    /// Checks that the two periods of a survey with tokens are possible.
    fn check_tokens(&self) -> Result<(), String> {
        let Some(until) = &self.tokens_until else { return Ok(()) };
        if !is_day(until) {
            return Err("tokens_until: expected a date such as \"2026-11-30\"".to_owned());
        }
        if !self.invitations {
            return Err("tokens_until: tokens require invitations = true".to_owned());
        }
        if self.shared_devices {
            return Err(
                "tokens_until: the token is stored in the respondent's browser, so shared_devices must be false"
                    .to_owned(),
            );
        }
        match self.closes.as_ref().is_some_and(|closes| closes <= until) {
            true => {
                Err("closes: must be after tokens_until, because answers are accepted only after that day".to_owned())
            }
            false => Ok(()),
        }
    }

    /// Checks that quotas and batches fit the plan.
    fn check_groups(&self, plan: &Plan) -> Result<(), String> {
        for (name, quotas) in &self.quotas {
            let attribute = plan.schema().attributes().iter().find(|attribute| attribute.name() == name);
            let attribute = attribute.ok_or_else(|| format!("[quotas.\"{name}\"]: the plan has no such attribute"))?;
            if !attribute.is_public() {
                return Err(format!(
                    "[quotas.\"{name}\"]: must be a public attribute; the groups of others are unknown"
                ));
            }
            if let Some(label) = quotas.keys().find(|label| !attribute.categories().contains(label)) {
                return Err(format!("[quotas.\"{name}\"]: the plan has no category \"{label}\""));
            }
        }
        let public = plan.schema().attributes().iter().filter(|attribute| attribute.is_public());
        let groups = public.map(|attribute| attribute.categories().len()).try_fold(1usize, usize::checked_mul);
        match self.public_results {
            Some(_) if !self.invitations && self.colluding.is_none() => {
                Err("public_results: in an open survey one adversary can send most of a batch; specify colluding, the \
                     number of responses of a batch that one adversary may have sent, or invitations = true"
                    .to_owned())
            }
            Some(least) if self.colluding.is_some_and(|colluding| colluding >= least) => Err(
                "colluding: must be less than public_results, because a batch does not protect a response from all its \
                 other members together"
                    .to_owned(),
            ),
            Some(least) if least < MIN_BATCH => Err(format!(
                "public_results: expected the minimum number of responses in a batch, at least {MIN_BATCH}"
            )),
            Some(_) if groups.is_none_or(|groups| groups > MAX_GROUPS) => Err(format!(
                "public_results: the public attributes form more than {MAX_GROUPS} groups, too many to protect anyone"
            )),
            _ => Ok(()),
        }
    }
}

impl Words {
    fn check(&self, plan: &Plan, language: &str, first: &Words) -> Result<(), String> {
        let empty = |text: &str| text.trim().is_empty();
        if empty(&self.title) || empty(&self.introduction) {
            return Err("title or introduction is empty".to_owned());
        }
        if (first.consent.is_some(), first.contact.is_some()) != (self.consent.is_some(), self.contact.is_some()) {
            return Err("consent or contact is missing in some of the languages".to_owned());
        }
        for attribute in plan.schema().attributes() {
            let name = attribute.name();
            let question = self.questions.get(name).filter(|question| !empty(&question.text));
            let question = question.ok_or_else(|| format!("[questions.\"{name}\"] has no text"))?;
            if let Some(label) = question.answers.keys().find(|label| !attribute.categories().contains(label)) {
                return Err(format!("[questions.\"{name}\"]: the plan has no category \"{label}\""));
            }
            let told = first.questions.get(name).map(|question| &question.answers);
            if let Some(label) = told.and_then(|told| told.keys().find(|label| !question.answers.contains_key(*label)))
            {
                return Err(format!("[questions.\"{name}\"]: the answer \"{label}\" is not translated"));
            }
        }
        if let Some(name) = self.questions.keys().find(|name| plan.schema().position(name).is_err()) {
            return Err(format!("[questions.\"{name}\"]: the plan has no such attribute"));
        }
        if let Some(name) = self.texts.keys().find(|name| !names().any(|known| known == name.as_str())) {
            return Err(format!("[texts]: the page has no text \"{name}\""));
        }
        let own = texts(language);
        match names().find(|name| own.is_none_or(|own| !own.contains_key(*name)) && !self.texts.contains_key(*name)) {
            Some(name) => Err(format!("[texts]: candor has no texts in this language, and \"{name}\" is missing")),
            None => Ok(()),
        }
    }
}
