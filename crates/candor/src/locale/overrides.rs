//! Custom texts: a TOML file with question wording, category labels and replacements for built-in texts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::error::StudyError;

/// Texts by key, with placeholders in braces such as `{times}`.
pub type Texts = BTreeMap<String, String>;

/// The direction of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// Left to right, as in English.
    #[default]
    #[serde(rename = "ltr")]
    LeftToRight,
    /// Right to left, as in Arabic and Hebrew.
    #[serde(rename = "rtl")]
    RightToLeft,
}

/// Wording of a question and labels of its categories.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionText {
    /// The question.
    pub text: String,
    /// Help text below the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Category labels that differ from the schema.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, String>,
}

/// Names of the facts in a statement of methods that only the authors of a survey know.
pub const FACTS: [&str; 6] = ["sponsor", "population", "sampling", "mode", "dates", "response_rate"];

/// Key of the author's notes among the facts.
pub const NOTES: &str = "notes";

/// Custom texts, for a language that is not built in or to replace built-in texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnTexts {
    /// Language code, such as `it`; `None` for the requested language.
    pub language: Option<String>,
    /// Direction of the script; `None` if it follows from the language code.
    pub direction: Option<Direction>,
    /// Texts of the page for respondents, by key.
    pub sheet: Texts,
    /// Texts of instruction cards.
    pub card: Texts,
    /// Texts of the report.
    pub report: Texts,
    /// Texts of the evidence.
    pub evidence: Texts,
    /// Facts about the survey, by their names in `FACTS`, and notes.
    pub about: Texts,
    /// Main points of the report, with shares in braces; `None` for those that candor finds.
    pub points: Option<Vec<String>>,
    /// Question wording, by attribute.
    pub questions: BTreeMap<String, QuestionText>,
}

impl OwnTexts {
    /// Parses a file of custom texts (TOML).
    ///
    /// # Errors
    /// Returns [`StudyError::Texts`] with the line or section, the problem and the expected form.
    pub fn parse(text: &str) -> Result<OwnTexts, StudyError> {
        let table: Table = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            wrong(&format!(
                "line {line} is not TOML, which is a name, = and a text in quotes, below a [section] ({})",
                error.message()
            ))
        })?;
        let mut own = OwnTexts::default();
        for (name, value) in &table {
            match name.as_str() {
                "language" => own.language = Some(text_of("language", value, "\"it\"")?),
                "direction" => own.direction = Some(direction(value)?),
                "sheet" => own.sheet = texts("sheet", value)?,
                "card" => own.card = texts("card", value)?,
                "report" => own.report = texts("report", value)?,
                "evidence" => own.evidence = texts("evidence", value)?,
                "about" => own.about = facts(value)?,
                "points" => own.points = Some(points(value)?),
                "questions" => own.questions = questions(value)?,
                _ => {
                    return Err(wrong(&format!(
                        "unknown \"{name}\"; a file of texts has language, direction, points, [sheet], \
                         [card], [report], [evidence], [about], [questions.name]"
                    )));
                }
            }
        }
        Ok(own)
    }
}

fn wrong(problem: &str) -> StudyError {
    StudyError::Texts(problem.to_owned())
}

/// Describes a value in an error: its type and, if it is short, the value.
fn described(value: &Value) -> String {
    match value {
        Value::Table(_) => "a section".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) => format!("the text \"{text}\""),
        Value::Boolean(value) => format!("{value}, a truth value"),
        Value::Datetime(date) => format!("{date}, a date"),
        number => format!("{number}, a number"),
    }
}

fn text_of(place: &str, value: &Value, example: &str) -> Result<String, StudyError> {
    value.as_str().map(str::to_owned).ok_or_else(|| {
        wrong(&format!("{place} is {}; it is a text in quotation marks, such as {example}", described(value)))
    })
}

fn section<'v>(place: &str, value: &'v Value, example: &str) -> Result<&'v Table, StudyError> {
    value
        .as_table()
        .ok_or_else(|| wrong(&format!("{place} is {}; it is a section, such as {example}", described(value))))
}

fn direction(value: &Value) -> Result<Direction, StudyError> {
    match value.as_str() {
        Some("ltr") => Ok(Direction::LeftToRight),
        Some("rtl") => Ok(Direction::RightToLeft),
        _ => Err(wrong(&format!("direction is {}; it is \"ltr\" or \"rtl\"", described(value)))),
    }
}

fn texts(name: &str, value: &Value) -> Result<Texts, StudyError> {
    let one = |(text, value): (&String, &Value)| {
        Ok((text.clone(), text_of(&format!("[{name}] {text}"), value, &format!("{text} = \"words\""))?))
    };
    section(name, value, &format!("[{name}]"))?.iter().map(one).collect()
}

/// Parses the main points of the report.
fn points(value: &Value) -> Result<Vec<String>, StudyError> {
    let example = "points = [\"{smoking: daily} smoke every day.\"]";
    let list = value
        .as_array()
        .ok_or_else(|| wrong(&format!("points is {}; it is a list, such as {example}", described(value))))?;
    list.iter().map(|point| text_of("points", point, example)).collect()
}

/// Parses the facts about the survey.
fn facts(value: &Value) -> Result<Texts, StudyError> {
    let facts = texts("about", value)?;
    match facts.keys().find(|name| *name != NOTES && !FACTS.contains(&name.as_str())) {
        Some(name) => Err(wrong(&format!("[about] has no \"{name}\", only {}, {NOTES}", FACTS.join(", ")))),
        None => Ok(facts),
    }
}

fn questions(value: &Value) -> Result<BTreeMap<String, QuestionText>, StudyError> {
    let one = |(name, value): (&String, &Value)| {
        let place = format!("[questions.\"{name}\"]");
        let mut question = QuestionText::default();
        for (part, value) in section(&place, value, &place)? {
            let at = format!("{place} {part}");
            match part.as_str() {
                "text" => question.text = text_of(&at, value, "text = \"How is your health?\"")?,
                "help" => question.help = Some(text_of(&at, value, "help = \"As you see it yourself\"")?),
                "answers" => question.answers = answers(&at, value)?,
                _ => return Err(wrong(&format!("{place} has no \"{part}\", only text, help and answers"))),
            }
        }
        Ok((name.clone(), question))
    };
    section("questions", value, "[questions.Health]")?.iter().map(one).collect()
}

fn answers(place: &str, value: &Value) -> Result<BTreeMap<String, String>, StudyError> {
    let example = "answers = { \"1.0\" = \"very poor\" }";
    let one = |(category, value): (&String, &Value)| {
        Ok((category.clone(), text_of(&format!("{place} \"{category}\""), value, example)?))
    };
    section(place, value, example)?.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_type_is_told_in_our_words() {
        let refused = |text: &str| OwnTexts::parse(text).map_or_else(|error| error.to_string(), |_| String::new());
        for (text, said) in [
            ("language = 1", "language is 1, a number; it is a text in quotation marks, such as \"it\""),
            ("direction = \"up\"", "direction is the text \"up\"; it is \"ltr\" or \"rtl\""),
            ("sheet = \"x\"", "sheet is the text \"x\"; it is a section, such as [sheet]"),
            (
                "[sheet]\nmore = 5",
                "[sheet] more is 5, a number; it is a text in quotation marks, such as more = \"words\"",
            ),
            ("[report]\nlow = true", "[report] low is true, a truth value"),
            ("[card]\ncard = [\"a\"]", "[card] card is a list"),
            ("questions = 3", "questions is 3, a number; it is a section, such as [questions.Health]"),
            ("[questions]\nage = \"How old?\"", "[questions.\"age\"] is the text \"How old?\"; it is a section"),
            ("[questions.age]\ntext = 18", "[questions.\"age\"] text is 18, a number"),
            ("[questions.age]\nanswers = \"x\"", "such as answers = { \"1.0\" = \"very poor\" }"),
            ("[questions.age.answers]\n1 = 2.5", "[questions.\"age\"] answers \"1\" is 2.5, a number"),
            ("[questions.age]\ntexts = \"x\"", "has no \"texts\", only text, help and answers"),
            ("[colours]\n", "unknown \"colours\"; a file of texts has"),
            ("language = \"it\"\nsheet", "line 2 is not TOML"),
        ] {
            let found = refused(text);
            assert!(found.contains(said), "{text}: {found}");
            assert!(!found.contains("invalid type") && !found.contains("expected a"), "{found}");
        }
        assert_eq!(refused("[sheet]\n[card]\n[report]\n[questions.a]\ntext = \"A?\"\nhelp = \"b\""), "");
    }
}
