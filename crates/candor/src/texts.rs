//! What respondents and readers read: one table of texts for each language, outside the fingerprint of a plan.
//!
//! A table has a section for each page: the survey, the cards of devices, the sheet for respondents, the report. Others
//! may bring their own, for another language or other words, with the questions as they are asked and what categories
//! are called.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use candor_base::schema::{NOT_ASKED, Schema};
use serde::Deserialize;

use crate::error::StudyError;
use crate::html_escape::isolated;
pub use crate::own_texts::{Direction, OwnTexts, QuestionText, Texts};

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

/// The languages that come with candor, by their codes; English is complete by definition.
const WRITTEN: [(&str, &str); 4] = [
    ("en", include_str!("../texts/en.toml")),
    ("de", include_str!("../texts/de.toml")),
    ("es", include_str!("../texts/es.toml")),
    ("fr", include_str!("../texts/fr.toml")),
];

static TABLES: LazyLock<BTreeMap<&'static str, Table>> = LazyLock::new(|| {
    WRITTEN.iter().map(|&(code, table)| (code, toml::from_str(table).expect("a table of texts, as tested"))).collect()
});

/// The codes of the languages that candor comes with.
pub fn languages() -> impl Iterator<Item = &'static str> {
    TABLES.keys().copied()
}

/// The texts of the survey page in a language, by its code such as `en`; `None` if candor does not come with it.
pub fn texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code).map(|table| &table.survey)
}

/// What stands on the cards of devices, by the code of a language; `None` if candor does not come with it.
pub fn card_texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code).map(|table| &table.card)
}

/// What stands on the sheet for respondents, by the code of a language; `None` if candor does not come with it.
pub fn sheet_texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code).map(|table| &table.sheet)
}

/// What stands on the report, by the code of a language; `None` if candor does not come with it.
pub fn report_texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code).map(|table| &table.report)
}

/// What stands in the evidence for approvals, by the code of a language; `None` if candor does not come with it.
pub fn evidence_texts(code: &str) -> Option<&'static Texts> {
    TABLES.get(code).map(|table| &table.evidence)
}

/// The names that every table of texts for the survey page has.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES["en"].survey.keys().map(String::as_str)
}

/// A text with words put in. Each place is filled once, so that no word can hold another's place.
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

/// The words in braces of a text.
fn places(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(place, _)| place).collect()
}

/// Languages that are written from right to left.
const RIGHT_TO_LEFT: [&str; 10] = ["ar", "arc", "ckb", "dv", "fa", "he", "ps", "ug", "ur", "yi"];

/// The texts of all pages in one language, and what attributes and categories are called in it: what can be made has a
/// whole sheet, and the other pages whole or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Language {
    code: String,
    direction: Direction,
    sheet: Texts,
    card: Texts,
    report: Texts,
    evidence: Texts,
    about: Texts,
    questions: BTreeMap<String, QuestionText>,
}

impl Default for Language {
    fn default() -> Language {
        let Table { sheet, card, report, evidence, .. } = &TABLES["en"];
        let [sheet, card, report, evidence] = [sheet, card, report, evidence].map(Texts::clone);
        let (code, direction) = ("en".to_owned(), Direction::LeftToRight);
        Language { code, direction, sheet, card, report, evidence, about: Texts::new(), questions: BTreeMap::new() }
    }
}

impl Language {
    /// The texts in a language, by its code, with those of one's own in their place.
    ///
    /// # Errors
    /// If candor does not come with the language and not every text of the sheet, or not every one of another page, is
    /// given, or a text is unknown or does not have the words in braces that it has in English, or a question is about
    /// nothing that the schema has.
    pub fn new(code: Option<&str>, own: Option<&OwnTexts>, schema: &Schema) -> Result<Language, StudyError> {
        let own = own.cloned().unwrap_or_default();
        if let (Some(asked), Some(given)) = (code, &own.language)
            && asked != given
        {
            return Err(StudyError::Texts(format!(
                "the texts are in \"{given}\", but `language {asked}` is asked for"
            )));
        }
        let code = own.language.as_deref().or(code).unwrap_or("en");
        if !code.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') || code.is_empty() {
            return Err(StudyError::Texts(format!("\"{code}\" is no code of a language, such as \"it\"")));
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
            questions: own.questions,
        })
    }

    /// Its code, such as `en`.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The direction of its script.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// A text of the sheet, with words put in.
    pub(crate) fn say(&self, name: &str, words: &[(&str, &str)]) -> String {
        filled(self.sheet.get(name).map_or("", String::as_str), words)
    }

    /// A text of the report, with words put in.
    pub(crate) fn report(&self, name: &str, words: &[(&str, &str)]) -> String {
        filled(self.report.get(name).map_or("", String::as_str), words)
    }

    /// A text of the evidence, with words put in.
    pub(crate) fn evidence(&self, name: &str, words: &[(&str, &str)]) -> String {
        filled(self.evidence_text(name), words)
    }

    /// A text of the evidence with its places.
    pub(crate) fn evidence_text(&self, name: &str) -> &str {
        self.evidence.get(name).map_or("", String::as_str)
    }

    /// Whether it has the texts of the evidence.
    ///
    /// # Errors
    /// If it has none: candor does not come with the language, and nobody gave them.
    pub(crate) fn check_evidence(&self) -> Result<(), StudyError> {
        self.has("evidence", &self.evidence).map(|_| ())
    }

    /// Whether it has the texts of a report.
    ///
    /// # Errors
    /// If it has none: candor does not come with the language, and nobody gave them.
    pub(crate) fn check_report(&self) -> Result<(), StudyError> {
        self.has("report", &self.report).map(|_| ())
    }

    /// The texts of cards.
    ///
    /// # Errors
    /// If it has none: candor does not come with the language, and nobody gave them.
    pub(crate) fn card(&self) -> Result<&Texts, StudyError> {
        self.has("card", &self.card)
    }

    fn has<'t>(&self, name: &str, texts: &'t Texts) -> Result<&'t Texts, StudyError> {
        let code = &self.code;
        let missing =
            || StudyError::Texts(format!("candor does not come with \"{code}\", and the texts have no [{name}]"));
        if texts.is_empty() { Err(missing()) } else { Ok(texts) }
    }

    /// How an attribute is asked for: its question, or its name.
    pub fn asked<'a>(&'a self, attribute: &'a str) -> &'a str {
        self.questions.get(attribute).map_or(attribute, |question| question.text.as_str())
    }

    /// What is known of the survey: one of [`crate::own_texts::FACTS`].
    pub(crate) fn fact(&self, name: &str) -> Option<&str> {
        self.about.get(name).map(String::as_str)
    }

    /// What a category is called.
    pub fn label(&self, attribute: &str, category: &str) -> String {
        let given = self.questions.get(attribute).and_then(|question| question.answers.get(category));
        match given {
            Some(label) => label.clone(),
            None if category.is_empty() => self.say("missing", &[]),
            None if category == NOT_ASKED => self.say("not_asked", &[]),
            None => category.to_owned(),
        }
    }

    /// A name or label in a sentence: in quotation marks, with a direction of its own.
    pub(crate) fn quoted(&self, text: &str) -> String {
        self.say("quoted", &[("text", &isolated(text))])
    }

    /// A whole number with this language's separators.
    pub(crate) fn whole(&self, n: u64) -> String {
        crate::format::count(n).replace(',', &self.say("thousands", &[]))
    }

    /// A number with so many decimals.
    pub(crate) fn number(&self, number: f64, decimals: usize) -> String {
        self.decimal(&format!("{number:.decimals$}"))
    }

    /// What stands between thousands, and before decimals.
    pub(crate) fn separators(&self) -> [String; 2] {
        ["thousands", "decimal"].map(|name| self.say(name, &[]))
    }

    /// A number that is written with a point in English.
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
        assert!(refused(Some("it"), "").contains("it is one of de, en, es, fr, or any other with `texts`"));
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
        assert!(refused(None, "language = \"<b>\"").contains("no code"));
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
