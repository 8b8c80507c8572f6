//! Texts for respondents and analysts, one table per language.
//!
//! A table has one section per page: survey, instruction cards, page for respondents, report, evidence.
//! Custom texts can replace them and can add question wording and category labels.
//! Texts are not part of the plan's fingerprint.

mod overrides;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use candor_base::schema::{NOT_ASKED, Schema};
use serde::Deserialize;

pub use self::overrides::{Direction, OwnTexts, QuestionText, Texts};
#[cfg(feature = "pages")]
pub(crate) use self::overrides::{FACTS, NOTES};
use crate::error::StudyError;
use crate::html_escape::isolated;

/// All texts in one language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    survey: Texts,
    card: Texts,
    sheet: Texts,
    report: Texts,
    evidence: Texts,
}

/// Built-in languages by code. The English texts are complete.
const WRITTEN: [(&str, &str); 4] = [
    ("en", include_str!("../../texts/en.toml")),
    ("de", include_str!("../../texts/de.toml")),
    ("es", include_str!("../../texts/es.toml")),
    ("fr", include_str!("../../texts/fr.toml")),
];

static TABLES: LazyLock<BTreeMap<&'static str, Table>> = LazyLock::new(|| {
    WRITTEN.iter().map(|&(code, table)| (code, toml::from_str(table).expect("a table of texts, as tested"))).collect()
});

/// Returns the codes of the built-in languages.
pub fn languages() -> impl Iterator<Item = &'static str> {
    TABLES.keys().copied()
}

/// Returns the texts of the survey page by language code; `None` if the language is not built in.
pub fn texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code).map(|table| &table.survey)
}

/// Returns the texts of instruction cards by language code; `None` if the language is not built in.
pub fn card_texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code).map(|table| &table.card)
}

/// Returns the texts of the page for respondents by code; `None` if the language is not built in.
pub fn sheet_texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code).map(|table| &table.sheet)
}

/// Returns the texts of the report by language code; `None` if the language is not built in.
pub fn report_texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code).map(|table| &table.report)
}

/// Returns the texts of the evidence by language code; `None` if the language is not built in.
pub fn evidence_texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code).map(|table| &table.evidence)
}

/// Returns the keys of the survey texts, which are the same in every language.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES["en"].survey.keys().map(String::as_str)
}

/// Fills the placeholders of a text.
///
/// Each is filled once, so an inserted word is never read as a placeholder.
///
/// ```
/// use candor::locale::filled;
///
/// assert_eq!(filled("{n} people", &[("n", "{m}")]), "{m} people");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn filled(text: &str, words: &[(&str, &str)]) -> String {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let word = part.split_once('}').and_then(|(place, rest)| {
            words.iter().find(|(known, _)| *known == place).map(|(_, word)| format!("{word}{rest}"))
        });
        filled.push_str(&word.unwrap_or_else(|| format!("{{{part}")));
    }
    filled
}

/// Returns the placeholders of a text.
fn places(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(place, _)| place).collect()
}

/// Codes of languages written from right to left.
const RIGHT_TO_LEFT: [&str; 10] = ["ar", "arc", "ckb", "dv", "fa", "he", "ps", "ug", "ur", "yi"];

/// Texts of all pages in one language, with question wording and category labels.
///
/// The texts of the page for respondents are complete. Those of any other page are complete or absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Language {
    code: String,
    direction: Direction,
    sheet: Texts,
    card: Texts,
    report: Texts,
    evidence: Texts,
    about: Texts,
    points: Option<Vec<String>>,
    questions: BTreeMap<String, QuestionText>,
}

impl Default for Language {
    fn default() -> Language {
        let Table { sheet, card, report, evidence, .. } = &TABLES["en"];
        let [sheet, card, report, evidence] = [sheet, card, report, evidence].map(Texts::clone);
        let (code, direction) = ("en".to_owned(), Direction::LeftToRight);
        let (about, questions) = (Texts::new(), BTreeMap::new());
        Language { code, direction, sheet, card, report, evidence, about, points: None, questions }
    }
}

impl Language {
    /// Returns the texts of a language, with custom texts in place of the built-in ones.
    ///
    /// # Errors
    /// Returns [`StudyError::Choice`] if the language is not built in and no custom page for respondents is given.
    /// Returns [`StudyError::Texts`] if
    /// - the custom texts are in another language than the requested one,
    /// - the language code is invalid,
    /// - a text is unknown, or missing for a language that is not built in,
    /// - a text lacks a placeholder of the English text,
    /// - a question or category is not in the schema.
    pub fn new(code: Option<&str>, own: Option<&OwnTexts>, schema: &Schema) -> Result<Language, StudyError> {
        let own = own.cloned().unwrap_or_default();
        if let (Some(asked), Some(given)) = (code, &own.language)
            && asked != given
        {
            return Err(StudyError::Texts(format!(
                "the texts are in \"{given}\", but `language {asked}` was requested"
            )));
        }
        let code = own.language.as_deref().or(code).unwrap_or("en");
        if !code.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') || code.is_empty() {
            return Err(StudyError::Texts(format!("invalid language code \"{code}\"; expected a code such as \"it\"")));
        }
        let (english, known) = (&TABLES["en"], TABLES.get(code.split('-').next().unwrap_or(code)));
        if known.is_none() && own.sheet.is_empty() {
            let known = languages().collect::<Vec<&str>>().join(", ") + ", or any other with `texts`";
            return Err(StudyError::Choice { parameter: "language", value: code.to_owned(), known });
        }
        let whole = |name: &str, given: Texts, section: fn(&Table) -> &Texts| {
            check_texts(name, &given, section(english), known.is_some())?;
            let mut texts = known.map_or_else(Texts::new, |known| section(known).clone());
            texts.extend(given);
            Ok::<Texts, StudyError>(texts)
        };
        check_questions(&own.questions, schema)?;
        let turned = RIGHT_TO_LEFT.contains(&code.split('-').next().unwrap_or(code));
        let usual = if turned { Direction::RightToLeft } else { Direction::LeftToRight };
        Ok(Language {
            sheet: whole("sheet", own.sheet, |table| &table.sheet)?,
            card: whole("card", own.card, |table| &table.card)?,
            report: whole("report", own.report, |table| &table.report)?,
            evidence: whole("evidence", own.evidence, |table| &table.evidence)?,
            code: code.to_owned(),
            direction: own.direction.unwrap_or(usual),
            about: own.about,
            points: own.points,
            questions: own.questions,
        })
    }

    /// Returns the language code, such as `en`.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns the direction of the script.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns a text of the page for respondents, with placeholders filled.
    pub(crate) fn say(&self, name: &str, words: &[(&str, &str)]) -> String {
        filled(self.sheet.get(name).map_or("", String::as_str), words)
    }

    /// Returns a text of the report, with placeholders filled.
    pub(crate) fn report(&self, name: &str, words: &[(&str, &str)]) -> String {
        filled(self.report.get(name).map_or("", String::as_str), words)
    }

    /// Returns a text of the evidence, with placeholders filled.
    pub(crate) fn evidence(&self, name: &str, words: &[(&str, &str)]) -> String {
        filled(self.evidence_text(name), words)
    }

    /// Returns a text of the evidence, with its placeholders unfilled.
    pub(crate) fn evidence_text(&self, name: &str) -> &str {
        self.evidence.get(name).map_or("", String::as_str)
    }

    /// Checks that the texts of the evidence are available.
    ///
    /// # Errors
    /// Returns [`StudyError::Texts`] if the language has none, neither built in nor custom.
    pub(crate) fn check_evidence(&self) -> Result<(), StudyError> {
        self.has("evidence", &self.evidence).map(|_| ())
    }

    /// Checks that the texts of the report are available.
    ///
    /// # Errors
    /// Returns [`StudyError::Texts`] if the language has none, neither built in nor custom.
    pub(crate) fn check_report(&self) -> Result<(), StudyError> {
        self.has("report", &self.report).map(|_| ())
    }

    /// Returns the texts of instruction cards.
    ///
    /// # Errors
    /// Returns [`StudyError::Texts`] if the language has none, neither built in nor custom.
    pub(crate) fn card(&self) -> Result<&Texts, StudyError> {
        self.has("card", &self.card)
    }

    fn has<'t>(&self, name: &str, texts: &'t Texts) -> Result<&'t Texts, StudyError> {
        let code = &self.code;
        let missing =
            || StudyError::Texts(format!("candor has no texts in \"{code}\", and the given texts have no [{name}]"));
        if texts.is_empty() { Err(missing()) } else { Ok(texts) }
    }

    /// Returns the question text of an attribute, or its name if it has none.
    pub fn asked<'a>(&'a self, attribute: &'a str) -> &'a str {
        self.questions.get(attribute).map_or(attribute, |question| question.text.as_str())
    }

    /// Returns the author's main points of the report; `None` for those that candor finds.
    pub(crate) fn points(&self) -> Option<&[String]> {
        self.points.as_deref()
    }

    /// Returns a fact about the survey, or the notes: by its name in [`FACTS`].
    pub(crate) fn fact(&self, name: &str) -> Option<&str> {
        self.about.get(name).map(String::as_str)
    }

    /// Returns the label of a category in this language.
    pub fn label(&self, attribute: &str, category: &str) -> String {
        let given = self.questions.get(attribute).and_then(|question| question.answers.get(category));
        match given {
            Some(label) => label.clone(),
            None if category.is_empty() => self.say("missing", &[]),
            None if category == NOT_ASKED => self.say("not_asked", &[]),
            None => category.to_owned(),
        }
    }

    /// Formats a name or label for a sentence: quoted and isolated.
    pub(crate) fn quoted(&self, text: &str) -> String {
        self.say("quoted", &[("text", &isolated(text))])
    }

    /// Formats an integer with the separators of the language.
    pub(crate) fn whole(&self, n: u64) -> String {
        crate::format::count(n).replace(',', &self.say("thousands", &[]))
    }

    /// Formats a number with the given number of decimals, without a sign if it rounds to zero.
    pub(crate) fn number(&self, number: f64, decimals: usize) -> String {
        let written = format!("{number:.decimals$}");
        let is_zero = !written.contains(|c: char| ('1'..='9').contains(&c)) && number.is_finite();
        self.decimal(if is_zero { written.trim_start_matches('-') } else { &written })
    }

    /// Returns the thousands and decimal separators.
    pub(crate) fn separators(&self) -> [String; 2] {
        ["thousands", "decimal"].map(|name| self.say(name, &[]))
    }

    /// Replaces the decimal point of a number by the separator of the language.
    pub(crate) fn decimal(&self, written: &str) -> String {
        written.replace('.', &self.say("decimal", &[]))
    }
}

fn check_texts(section: &str, given: &Texts, english: &Texts, is_known: bool) -> Result<(), StudyError> {
    let wrong = |problem: String| Err(StudyError::Texts(format!("[{section}] {problem}")));
    for (name, text) in given {
        let Some(original) = english.get(name) else { return wrong(format!("has no text \"{name}\"")) };
        let (found, expected) = (places(text), places(original));
        if found != expected || text.trim().is_empty() && name != "thousands" {
            let braces = expected.iter().map(|place| format!("{{{place}}}")).collect::<Vec<String>>().join(", ");
            let needs = if braces.is_empty() { "words, and no braces".to_owned() } else { braces };
            return wrong(format!("{name} = \"{text}\": it must have {needs}, as in \"{original}\""));
        }
    }
    let missing: Vec<&str> = english.keys().filter(|name| !given.contains_key(*name)).map(String::as_str).collect();
    match is_known || missing.is_empty() || given.is_empty() {
        true => Ok(()),
        false => wrong(format!(
            "candor does not come with this language, and these texts are missing: {}",
            missing.join(", ")
        )),
    }
}

fn check_questions(questions: &BTreeMap<String, QuestionText>, schema: &Schema) -> Result<(), StudyError> {
    for (name, question) in questions {
        let wrong = |problem: String| Err(StudyError::Texts(format!("[questions.\"{name}\"]: {problem}")));
        let Some(attribute) = schema.attributes().iter().find(|attribute| attribute.name() == name) else {
            return wrong("the plan has no such attribute".to_owned());
        };
        if question.text.trim().is_empty() {
            return wrong("has no text".to_owned());
        }
        if let Some(label) = question.answers.keys().find(|label| !attribute.categories().contains(label)) {
            return wrong(format!("the plan has no category \"{label}\""));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_languages_say_the_same_things() {
        for section in [texts, card_texts, sheet_texts, report_texts, evidence_texts] {
            let english = section("en").unwrap();
            for code in languages() {
                let table = section(code).unwrap();
                assert!(table.keys().eq(english.keys()), "{code}");
                for (name, text) in table {
                    assert_eq!(places(text), places(&english[name]), "{code}: {name}");
                    assert!(!text.is_empty(), "{code}: {name}");
                }
            }
        }
        assert!(languages().eq(["de", "en", "es", "fr"]) && texts("xx").is_none());
        assert_eq!(names().count(), texts("en").unwrap().len());
    }

    #[test]
    fn what_is_missing_or_was_not_asked_is_said_in_the_language() {
        let schema = Schema::with_sizes(&[2]).unwrap();
        let german = Language::new(Some("de"), None, &schema).unwrap();
        assert_eq!(
            ["", NOT_ASKED, "0"].map(|category| german.label("a1", category)),
            ["(keine Angabe)", "(nicht gefragt)", "0"]
        );
    }

    #[test]
    fn places_are_filled_once() {
        assert_eq!(filled("{a} {b} {c}", &[("a", "{b}"), ("b", "x")]), "{b} x {c}");
    }

    fn refused(code: Option<&str>, own: &str) -> String {
        let schema = Schema::with_sizes(&[2]).unwrap();
        let own = OwnTexts::parse(own);
        own.and_then(|own| Language::new(code, Some(&own), &schema))
            .map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn texts_of_ones_own_are_checked() {
        assert_eq!(refused(None, ""), "");
        assert_eq!(refused(Some("de-AT"), "[sheet]\nmore = \"sowie {n}\""), "");
        assert!(refused(Some("it"), "").contains("de, en, es, fr, or any other with `texts`"));
        assert!(
            refused(None, "language = \"it\"\n[sheet]\nmore = \"e {n}\"").contains("these texts are missing: again,")
        );
        assert!(refused(None, "[sheet]\nmore = \"and\"").contains("it must have {n}, as in \"and {n} more\""));
        assert!(refused(None, "[sheet]\nequal = \"{n}\"").contains("words, and no braces"));
        assert!(refused(None, "[sheet]\nhello = \"x\"").contains("has no text \"hello\""));
        assert!(
            refused(None, "[report]\nand_more = \"and\"").contains("[report] and_more = \"and\": it must have {n}")
        );
        assert!(refused(None, "hello = 1").contains("hello"));
        assert!(refused(Some("de"), "language = \"it\"").contains("in \"it\""));
        assert!(refused(None, "language = \"<b>\"").contains("invalid language code"));
        assert!(refused(None, "[questions.b]\ntext = \"B?\"").contains("no such attribute"));
        assert!(refused(None, "[questions.a1]\ntext = \" \"").contains("has no text"));
        let label = |label: &str| format!("[questions.a1]\ntext = \"A?\"\nanswers = {{ \"{label}\" = \"x\" }}");
        assert!(refused(None, &label("9")).contains("no category \"9\""));
        assert_eq!(refused(None, &label("1")), "");
    }

    #[test]
    fn a_language_may_be_written_from_right_to_left() {
        let schema = Schema::with_sizes(&[2]).unwrap();
        let all = TABLES["en"].sheet.clone();
        let own =
            |language: &str| OwnTexts { language: Some(language.into()), sheet: all.clone(), ..OwnTexts::default() };
        let made = |own: &OwnTexts| Language::new(None, Some(own), &schema).unwrap().direction();
        assert_eq!(made(&own("he")), Direction::RightToLeft);
        assert_eq!(made(&own("it")), Direction::LeftToRight);
        assert_eq!(made(&OwnTexts { direction: Some(Direction::RightToLeft), ..own("it") }), Direction::RightToLeft);
    }
}
