//! A survey: a plan and its texts.

use std::path::{Path, PathBuf};

pub use candor::locale::QuestionText;
use candor::locale::{Texts, texts};
use candor_base::plan::Plan;
use candor_base::schema::Attribute;

pub use crate::wording::Wording;
pub use crate::words::{SurveyError, Words};

/// A valid survey: whatever can be read is complete.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Folder of the survey.
    pub folder: PathBuf,
    /// The plan.
    pub plan: Plan,
    /// Text of the plan as it is published.
    pub plan_text: String,
    /// Settings and texts.
    pub wording: Wording,
}

/// Statement about the trust that plain invitations require.
const INVITATIONS_TRUST: &str = "with plain invitations the server sees which response came with which; respondents \
                                 have to trust that it does not note it. Tokens (tokens_until, the last day before a \
                                 second visit) make that impossible";

/// Number of steps per respondent beyond which a plan is noted as slow.
const SLOW_CATEGORIES: usize = 10_000;

impl Survey {
    /// Reads a survey's folder.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or the texts do not fit the plan.
    pub fn read(folder: &Path) -> Result<Survey, SurveyError> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|error| SurveyError::File { path, error })
        };
        let (plan_text, wording) = (read("plan.json")?, read("survey.toml")?);
        let wording = toml::from_str(&wording).map_err(|error| SurveyError::Wording(error.to_string()))?;
        Survey::new(folder, plan_text, wording)
    }

    /// Creates a survey in a folder: copies the plan and writes a survey.toml to edit. Returns it with notes.
    ///
    /// # Errors
    /// Returns an error if the plan cannot be read, the folder already has a survey, or files cannot be written.
    pub fn create(folder: &Path, plan: &Path) -> Result<(Survey, Vec<String>), SurveyError> {
        Survey::create_for(folder, plan, false, None)
    }

    /// Creates a survey for invited people; `tokens_until` is the last day on which they are issued tokens, before they
    /// return to answer.
    ///
    /// # Errors
    /// Returns an error as [`create`](Survey::create) does, and if the day is invalid.
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
        let wording = Wording { invitations, tokens_until, ..Wording::new(&read) };
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

    /// Creates a survey from a plan and its texts.
    ///
    /// # Errors
    /// Returns an error if the plan cannot be read, or the texts do not fit it.
    pub fn new(folder: &Path, plan_text: String, wording: Wording) -> Result<Survey, SurveyError> {
        let plan = Plan::from_json(&plan_text)
            .map_err(|error| SurveyError::Plan { path: folder.join("plan.json"), message: error.to_string() })?;
        wording.check(&plan).map_err(SurveyError::Wording)?;
        Ok(Survey { folder: folder.to_owned(), plan, plan_text, wording })
    }

    /// Returns the survey with the texts of another wording: languages, texts, and questions with their order.
    pub fn with_words_of(&self, Wording { languages, first, order, translations, .. }: Wording) -> Survey {
        let wording = Wording { languages, first, order, translations, ..self.wording.clone() };
        Survey { wording, ..self.clone() }
    }

    /// Returns notes to read before people are asked.
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
        if self.plan.guarantee().epsilon().finite().is_none() {
            notes.push(
                "this plan has no finite epsilon: responses can rule true answers out; the page says so".to_owned(),
            );
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

    /// Returns the texts in a language, including those of the page.
    pub fn words(&self, language: &str) -> Option<(&Words, Texts)> {
        let words = self.wording.words(language)?;
        let mut page = texts(language).cloned().unwrap_or_default();
        page.extend(words.texts.clone());
        Some((words, page))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_text() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/public.json");
        std::fs::read_to_string(path).unwrap()
    }

    /// A plan with a typed age: below 30, 30 to below 50, 50 or more.
    fn demo_plan() -> String {
        use candor_base::schema::Schema;
        let schema = Schema::from_toml(include_str!("../assets/demo-schema.toml")).unwrap();
        let request = serde_json::from_str(r#"{"method": "independent", "epsilon": 3}"#).unwrap();
        candor_design::design(&schema, &request).unwrap().plan.to_json()
    }

    fn with(change: impl Fn(&mut Wording)) -> String {
        let text = plan_text();
        let mut wording = Wording::new(&Plan::from_json(&text).unwrap());
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
                w.first.questions.insert("age".into(), QuestionText { text: "?".into(), ..QuestionText::default() })
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
            .contains("in some of the languages")
        );
        assert!(with(|w| w.languages = vec!["eo".into()]).contains("has no texts in this language"));
        assert!(with(|w| drop(w.first.texts.insert("hello".into(), "x".into()))).contains("no text \"hello\""));
        assert!(with(|w| drop(w.order.pop())).contains("every attribute"));
        assert!(with(|w| w.closes = Some("soon".into())).contains("closes"));
        assert!(with(|w| w.margin = 0.0).contains("margin"));
        assert!(with(|w| w.batch = 0).contains("batch"));
        assert!(with(|w| w.address = Some("survey.example".into())).contains("address"));
        assert!(with(|w| w.languages.clear()).contains("at least one"));
        assert!(with(|w| w.ranges = [("age".into(), [0.0, 9.0])].into()).contains("no such attribute"));
        assert!(
            with(|w| w.ranges = [("answer".into(), [0.0, 9.0])].into()).contains("respondents do not enter a number")
        );
        let age = |range: [f64; 2]| {
            let demo = Survey::new(
                Path::new("."),
                demo_plan(),
                Wording {
                    ranges: [("Age".to_owned(), range)].into(),
                    ..Wording::new(&Plan::from_json(&demo_plan()).unwrap())
                },
            );
            demo.err().map_or(String::new(), |error| error.to_string())
        };
        assert_eq!(age([0.0, 120.0]), "");
        for wrong in [[30.0, 120.0], [0.0, 50.0], [f64::NAN, 120.0]] {
            assert!(age(wrong).contains("one below 30 and one above 50"), "{wrong:?}");
        }
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
        assert!(but(|w| w.tokens_until = Some("soon".into())).contains("expected a date such as"));
        assert!(but(|w| w.invitations = false).contains("invitations = true"));
        assert!(but(|w| w.shared_devices = true).contains("shared_devices must"));
        assert!(but(|w| w.closes = Some("2026-11-30".into())).contains("after tokens_until"));
        let quota = |attribute: &str, label: &str| {
            with(|w| drop(w.quotas.insert(attribute.into(), [(label.to_owned(), 5)].into())))
        };
        assert_eq!(quota("region", "south"), "");
        assert!(quota("region", "west").contains("no category \"west\""));
        assert!(quota("age", "old").contains("no such attribute"));
        assert!(quota("answer", "yes").contains("must be a public attribute"));
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
        assert!(public(100, None, false).contains("one adversary can send most of a batch"));
        assert!(public(100, Some(100), true).contains("must be less than public_results"));
    }

    #[test]
    fn plans_that_are_slow_in_a_browser_are_told_of() {
        use candor_base::channel::{Axis, Pattern};
        use candor_base::plan::Block;
        use candor_base::schema::Schema;
        let notes = |attributes: usize| {
            let block = |attribute| Block::new(vec![attribute], Pattern::k_ary(vec![Axis::single(2)], 1.0).unwrap());
            let schema = Schema::with_sizes(&vec![2; attributes]).unwrap();
            let plan = Plan::new(schema, (0..attributes).map(block).collect()).unwrap();
            Survey::new(Path::new("."), plan.to_json(), Wording::new(&plan)).unwrap().notes()
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
            Survey::create(&survey, &plan).is_err_and(|error| error.to_string().contains("already contains a survey"))
        );
    }
}
