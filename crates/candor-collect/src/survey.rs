//! A survey: a plan, and the words around it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use candor::texts::Question;
use candor::texts::{Texts, names, texts};
use candor_base::plan::Plan;
use candor_base::schema::Attribute;
use serde::{Deserialize, Serialize};

pub use crate::words::{SurveyError, Words};
use crate::words::{batch, is_day, margin, per_second};

/// What survey.toml says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wording {
    /// The languages of the page, by their codes; the words outside `translations` are in the first.
    pub languages: Vec<String>,
    /// The words in the first language.
    #[serde(flatten)]
    pub first: Words,
    /// The order of the questions; that of the plan's schema if it is empty.
    #[serde(default)]
    pub order: Vec<String>,
    /// The last day on which answers are accepted, such as `2026-12-31` (UTC).
    #[serde(default)]
    pub closes: Option<String>,
    /// How many responses are accepted at most.
    #[serde(default)]
    pub quota: Option<u64>,
    /// Where the survey is found, such as `https://survey.example`: for links and for pages that are saved.
    #[serde(default)]
    pub address: Option<String>,
    /// Whether only those answer who have an invitation.
    #[serde(default)]
    pub invitations: bool,
    /// The last day on which the invited are given tokens that nobody can link to their invitations (UTC); answers are accepted after it.
    #[serde(default)]
    pub tokens_until: Option<String>,
    /// Whether several people share a device: then nothing is kept in the browser.
    #[serde(default)]
    pub shared_devices: bool,
    /// The margin of error that the number of respondents is measured by.
    #[serde(default = "margin")]
    pub margin: f64,
    /// How many responses are accepted in a second, at most.
    #[serde(default = "per_second")]
    pub per_second: u32,
    /// How many responses are stored together in random order, at least; until then they wait.
    #[serde(default = "batch")]
    pub batch: usize,
    /// How many responses make a batch, at least, if results are public: only batches that are closed at the end of a day are.
    #[serde(default)]
    pub public_results: Option<u64>,
    /// How many responses of a public batch may come from one adversary, or be known to one: colluding respondents.
    #[serde(default)]
    pub colluding: Option<u64>,
    /// How many responses are accepted at most, by category of public attributes.
    #[serde(default)]
    pub quotas: BTreeMap<String, BTreeMap<String, u64>>,
    /// The words in the other languages, by their codes.
    #[serde(default)]
    pub translations: BTreeMap<String, Words>,
}

/// A survey, ready to be asked: what can be read is whole.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Where it is.
    pub folder: PathBuf,
    /// The plan.
    pub plan: Plan,
    /// The plan as it is published.
    pub plan_text: String,
    /// The words.
    pub wording: Wording,
}

/// What invitations without tokens give up.
const INVITATIONS_TRUST: &str = "with plain invitations the server sees which response came with which; respondents have to trust \
    that it does not note it. Tokens (tokens_until, the last day before a second visit) make that impossible";

/// A plan whose draws take longer than this many steps for a respondent is told about.
const SLOW_CATEGORIES: usize = 10_000;

/// The maximum of `batch`: what waits is written again with every response.
const MOST_WAITING: usize = 1_000;

/// A smaller batch would hide nobody.
const LEAST_BATCH: u64 = 20;

/// So many groups of public attributes are told apart, at most.
const MOST_GROUPS: usize = 10_000;

impl Survey {
    /// Reads a survey's folder.
    ///
    /// # Errors
    /// If a file cannot be read, or the wording does not fit the plan.
    pub fn read(folder: &Path) -> Result<Survey, SurveyError> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|error| SurveyError::File { path, error })
        };
        let (plan_text, wording) = (read("plan.json")?, read("survey.toml")?);
        let wording = toml::from_str(&wording).map_err(|error| SurveyError::Wording(error.to_string()))?;
        Survey::new(folder, plan_text, wording)
    }

    /// Begins a survey in a folder: copies the plan, and writes a survey.toml to be edited. Gives what should be known of it.
    ///
    /// # Errors
    /// If the plan cannot be read, there is a survey already, or files cannot be written.
    pub fn create(folder: &Path, plan: &Path) -> Result<(Survey, Vec<String>), SurveyError> {
        Survey::create_for(folder, plan, false, None)
    }

    /// The same for invited people; `tokens_until` is the last day on which they are given tokens, before they come again to answer.
    ///
    /// # Errors
    /// As [`create`](Survey::create), and if the day is none.
    pub fn create_for(
        folder: &Path,
        plan: &Path,
        invitations: bool,
        tokens_until: Option<String>,
    ) -> Result<(Survey, Vec<String>), SurveyError> {
        let path = plan.to_owned();
        let text = std::fs::read_to_string(plan).map_err(|error| SurveyError::File { path, error })?;
        let read = Plan::from_json(&text)
            .map_err(|error| SurveyError::Plan { path: plan.to_owned(), message: error.to_string() })?;
        let wording = Wording { invitations, tokens_until, ..Wording::of(&read) };
        let survey = Survey::new(folder, text, wording)?;
        if folder.join("survey.toml").exists() {
            return Err(SurveyError::Exists(folder.to_owned()));
        }
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|error| SurveyError::File { path, error })
        };
        let made = std::fs::create_dir_all(folder);
        made.map_err(|error| SurveyError::File { path: folder.to_owned(), error })?;
        write("plan.json", &survey.plan_text)?;
        let wording = toml::to_string(&survey.wording).map_err(|error| SurveyError::Wording(error.to_string()))?;
        write("survey.toml", &wording)?;
        let notes = survey.notes();
        Ok((survey, notes))
    }

    /// A plan with its words.
    ///
    /// # Errors
    /// If the plan cannot be read, or the wording does not fit it.
    pub fn new(folder: &Path, plan_text: String, wording: Wording) -> Result<Survey, SurveyError> {
        let plan = Plan::from_json(&plan_text)
            .map_err(|error| SurveyError::Plan { path: folder.join("plan.json"), message: error.to_string() })?;
        wording.check(&plan).map_err(SurveyError::Wording)?;
        Ok(Survey { folder: folder.to_owned(), plan, plan_text, wording })
    }

    /// The same survey with the words of another wording: languages, texts, questions and their order.
    pub fn with_words_of(&self, Wording { languages, first, order, translations, .. }: Wording) -> Survey {
        let wording = Wording { languages, first, order, translations, ..self.wording.clone() };
        Survey { wording, ..self.clone() }
    }

    /// What should be known before people are asked.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let attributes = self.plan.schema().attributes();
        let public: Vec<&str> = attributes.iter().filter(|a| a.is_public()).map(Attribute::name).collect();
        if !public.is_empty() {
            notes.push(format!("{} will be sent as it is given, and the page says so", public.join(", ")));
        }
        if self.wording.invitations && self.wording.tokens_until.is_none() {
            notes.push(INVITATIONS_TRUST.to_owned());
        }
        if self.plan.guarantee().epsilon().value().is_none() {
            notes.push("this plan has no finite epsilon: answers can rule truths out, and the page says so".to_owned());
        }
        let sizes = attributes.iter().map(|a| a.categories().len());
        if attributes.len() > 100 || sizes.clone().sum::<usize>() > SLOW_CATEGORIES {
            notes.push(format!(
                "{} questions with {} categories take long to ask, and to answer for by chance in a browser",
                attributes.len(),
                sizes.sum::<usize>()
            ));
        }
        notes
    }

    /// The words in a language, those of the page among them.
    pub fn words(&self, language: &str) -> Option<(&Words, Texts)> {
        let words = self.wording.words(language)?;
        let mut page = texts(language).cloned().unwrap_or_default();
        page.extend(words.texts.clone());
        Some((words, page))
    }
}

impl Wording {
    /// Names and categories as they are, to be edited.
    fn of(plan: &Plan) -> Wording {
        let question = |attribute: &Attribute| {
            let asked = Question { text: format!("{}?", attribute.name()), ..Question::default() };
            (attribute.name().to_owned(), asked)
        };
        let first = Words {
            title: "A survey".to_owned(),
            introduction: "Please say here who asks, what for, and how long it takes.".to_owned(),
            contact: Some("Please say here whom to ask.".to_owned()),
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
            quotas: BTreeMap::new(),
            translations: BTreeMap::new(),
        }
    }

    fn words(&self, language: &str) -> Option<&Words> {
        match self.languages.first().is_some_and(|first| first == language) {
            true => Some(&self.first),
            false => self.translations.get(language),
        }
    }

    /// Whether the words fit the plan; what is wrong, if not.
    fn check(&self, plan: &Plan) -> Result<(), String> {
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
            return Err("closes: a day such as \"2026-12-31\"".to_owned());
        }
        if !(self.margin > 0.0 && self.margin < 1.0) {
            return Err("margin: a share above 0 and below 1, such as 0.03".to_owned());
        }
        let is_address = |address: &String| address.starts_with("https://") || address.starts_with("http://");
        if self.address.as_ref().is_some_and(|address| !is_address(address)) {
            return Err("address: where the survey is found, such as \"https://survey.example\"".to_owned());
        }
        if !(1..=MOST_WAITING).contains(&self.batch) {
            return Err(format!("batch: how many responses are settled together, from 1 to {MOST_WAITING}"));
        }
        self.check_tokens()?;
        self.check_groups(plan)
    }

    /// Whether the two periods of a survey with tokens can be.
    fn check_tokens(&self) -> Result<(), String> {
        let Some(until) = &self.tokens_until else { return Ok(()) };
        if !is_day(until) {
            return Err("tokens_until: a day such as \"2026-11-30\"".to_owned());
        }
        if !self.invitations {
            return Err("tokens_until: tokens are for the invited; say invitations = true".to_owned());
        }
        if self.shared_devices {
            return Err(
                "tokens_until: a token waits in the respondent's browser, so shared_devices cannot be true".to_owned()
            );
        }
        match self.closes.as_ref().is_some_and(|closes| closes <= until) {
            true => Err("closes: must be after tokens_until, because answers are accepted after it".to_owned()),
            false => Ok(()),
        }
    }

    /// Whether quotas and batches fit the plan.
    fn check_groups(&self, plan: &Plan) -> Result<(), String> {
        for (name, quotas) in &self.quotas {
            let attribute = plan.schema().attributes().iter().find(|attribute| attribute.name() == name);
            let attribute = attribute.ok_or_else(|| format!("[quotas.\"{name}\"]: the plan has no such attribute"))?;
            if !attribute.is_public() {
                return Err(format!("[quotas.\"{name}\"]: not a public attribute, so nobody knows its groups"));
            }
            if let Some(label) = quotas.keys().find(|label| !attribute.categories().contains(label)) {
                return Err(format!("[quotas.\"{name}\"]: the plan has no category \"{label}\""));
            }
        }
        let public = plan.schema().attributes().iter().filter(|attribute| attribute.is_public());
        let groups = public.map(|attribute| attribute.categories().len()).try_fold(1usize, usize::checked_mul);
        match self.public_results {
            Some(_) if !self.invitations && self.colluding.is_none() => Err(
                "public_results: anybody can send most of a batch of an open survey; specify colluding, the number of responses of \
                 a batch that one adversary may have sent, or invitations = true"
                    .to_owned(),
            ),
            Some(least) if self.colluding.is_some_and(|colluding| colluding >= least) => {
                Err("colluding: less than public_results, because a batch hides nobody from all of its members".to_owned())
            }
            Some(least) if least < LEAST_BATCH => {
                Err(format!("public_results: the least number of responses in a batch, {LEAST_BATCH} or more"))
            }
            Some(_) if groups.is_none_or(|groups| groups > MOST_GROUPS) => Err(format!(
                "public_results: the public attributes make more than {MOST_GROUPS} groups, too many to hide in"
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
            return Err("consent or contact is there in one language and not in another".to_owned());
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
            Some(name) => Err(format!("[texts]: candor does not come with this language, and \"{name}\" is missing")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_text() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/public.json");
        std::fs::read_to_string(path).unwrap()
    }

    fn with(change: impl Fn(&mut Wording)) -> String {
        let text = plan_text();
        let mut wording = Wording::of(&Plan::from_json(&text).unwrap());
        change(&mut wording);
        let written = toml::to_string(&wording).unwrap();
        assert_eq!(toml::from_str::<Wording>(&written).unwrap(), wording, "survey.toml reads back");
        Survey::new(Path::new("."), text, wording).err().map_or(String::new(), |error| error.to_string())
    }

    #[test]
    fn a_new_survey_fits_and_every_mistake_is_told() {
        assert_eq!(with(|_| {}), "");
        assert!(with(|w| drop(w.first.questions.remove("answer"))).contains("[questions.\"answer\"] has no text"));
        assert!(
            with(|w| drop(
                w.first.questions.insert("age".into(), Question { text: "?".into(), ..Question::default() })
            ))
            .contains("no such attribute")
        );
        let answer = |w: &mut Wording, label: &str| {
            w.first.questions.get_mut("answer").unwrap().answers.insert(label.to_owned(), "x".to_owned());
        };
        assert!(with(|w| answer(w, "maybe")).contains("no category \"maybe\""));
        assert!(with(|w| w.languages.push("de".into())).contains("[translations.de] is missing"));
        let german = |w: &mut Wording| {
            w.languages.push("de".into());
            w.translations.insert("de".into(), w.first.clone());
        };
        assert_eq!(with(german), "");
        assert!(
            with(|w| {
                german(w);
                answer(w, "yes")
            })
            .contains("language de: [questions.\"answer\"]: the answer \"yes\" is not translated")
        );
        assert!(
            with(|w| {
                german(w);
                w.first.consent = Some("I agree".into())
            })
            .contains("one language and not in another")
        );
        assert!(with(|w| w.languages = vec!["eo".into()]).contains("does not come with this language"));
        assert!(with(|w| drop(w.first.texts.insert("hello".into(), "x".into()))).contains("no text \"hello\""));
        assert!(with(|w| drop(w.order.pop())).contains("every attribute"));
        assert!(with(|w| w.closes = Some("soon".into())).contains("closes"));
        assert!(with(|w| w.margin = 0.0).contains("margin"));
        assert!(with(|w| w.batch = 0).contains("batch"));
        assert!(with(|w| w.address = Some("survey.example".into())).contains("address"));
        assert!(with(|w| w.languages.clear()).contains("at least one"));
    }

    #[test]
    fn tokens_quotas_and_batches_are_checked() {
        let tokens = |w: &mut Wording| {
            w.invitations = true;
            w.tokens_until = Some("2026-11-30".into());
        };
        assert_eq!(with(tokens), "");
        let but = |change: fn(&mut Wording)| {
            with(|w| {
                tokens(w);
                change(w)
            })
        };
        assert!(but(|w| w.tokens_until = Some("soon".into())).contains("a day such as"));
        assert!(but(|w| w.invitations = false).contains("invitations = true"));
        assert!(but(|w| w.shared_devices = true).contains("shared_devices cannot"));
        assert!(but(|w| w.closes = Some("2026-11-30".into())).contains("after tokens_until"));
        let quota = |attribute: &str, label: &str| {
            with(|w| drop(w.quotas.insert(attribute.into(), [(label.to_owned(), 5)].into())))
        };
        assert_eq!(quota("region", "south"), "");
        assert!(quota("region", "west").contains("no category \"west\""));
        assert!(quota("age", "old").contains("no such attribute"));
        assert!(quota("answer", "yes").contains("not a public attribute"));
        let public = |least: u64, colluding: Option<u64>, invitations: bool| {
            with(|w| {
                w.public_results = Some(least);
                w.colluding = colluding;
                w.invitations = invitations;
            })
        };
        assert!(public(3, Some(1), false).contains("public_results"));
        assert_eq!(public(100, Some(50), false), "");
        assert_eq!(public(100, None, true), "");
        assert!(public(100, None, false).contains("anybody can send most of a batch"));
        assert!(public(100, Some(100), true).contains("less than public_results"));
    }

    #[test]
    fn plans_that_are_slow_in_a_browser_are_told_of() {
        use candor_base::channel::{Axis, Pattern};
        use candor_base::plan::Block;
        use candor_base::schema::Schema;
        let notes = |attributes: usize| {
            let block = |attribute| Block::new(vec![attribute], Pattern::k_ary(vec![Axis::single(2)], 1.0).unwrap());
            let schema = Schema::of_sizes(&vec![2; attributes]).unwrap();
            let plan = Plan::new(schema, (0..attributes).map(block).collect()).unwrap();
            Survey::new(Path::new("."), plan.to_json(), Wording::of(&plan)).unwrap().notes()
        };
        assert!(notes(100).is_empty());
        assert!(notes(101)[0].contains("101 questions with 202 categories take long to ask"), "{:?}", notes(101));
    }

    #[test]
    fn a_survey_is_begun_once_and_says_what_is_public() {
        let folder = tempfile::tempdir().unwrap();
        let plan = folder.path().join("plan.json");
        std::fs::write(&plan, plan_text()).unwrap();
        let survey = folder.path().join("survey");
        let (_, notes) = Survey::create(&survey, &plan).unwrap();
        assert_eq!(notes, ["region will be sent as it is given, and the page says so"]);
        assert!(Survey::read(&survey).is_ok());
        assert!(
            Survey::create(&survey, &plan).is_err_and(|error| error.to_string().contains("holds a survey already"))
        );
    }
}
