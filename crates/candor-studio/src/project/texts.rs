//! Wording of questions and of the page for respondents: `texts-en.toml` and similar files.

use std::collections::BTreeMap;

use candor::locale::{OwnTexts, QuestionText, Texts};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// The texts of one language, as in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextsFile {
    /// The code of the language.
    pub language: String,
    /// The direction of its script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// Main points of the report; `None` for those that candor finds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<String>>,
    /// Facts about the survey.
    #[serde(skip_serializing_if = "Texts::is_empty")]
    pub about: Texts,
    /// Texts of the page for respondents.
    #[serde(skip_serializing_if = "Texts::is_empty")]
    pub sheet: Texts,
    /// Texts of cards.
    #[serde(skip_serializing_if = "Texts::is_empty")]
    pub card: Texts,
    /// Texts of the report.
    #[serde(skip_serializing_if = "Texts::is_empty")]
    pub report: Texts,
    /// Texts of the evidence.
    #[serde(skip_serializing_if = "Texts::is_empty")]
    pub evidence: Texts,
    /// Questions, by the names of attributes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub questions: BTreeMap<String, QuestionText>,
}

impl TextsFile {
    /// Creates an empty set of texts.
    pub fn new(language: &str) -> TextsFile {
        TextsFile { language: language.to_owned(), ..TextsFile::default() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if it is invalid.
    pub fn parse(name: &str, text: &str) -> Result<TextsFile, Problem> {
        toml::from_str(text).map_err(|error| Problem::input(format!("{name}: {error}")))
    }

    /// Formats the file.
    ///
    /// # Errors
    /// Returns an error if it cannot be written as TOML.
    pub fn to_toml(&self) -> Result<String, Problem> {
        toml::to_string(self).map_err(Problem::input)
    }

    /// Returns the texts as the facade reads them from the file.
    ///
    /// # Errors
    /// Returns an error if a text is unknown.
    pub fn own(&self) -> Result<OwnTexts, Problem> {
        Ok(OwnTexts::parse(&self.to_toml()?)?)
    }

    /// Sets the wording of a question and the labels of its answers; empty texts restore those of the schema.
    pub fn ask(&mut self, name: &str, text: &str, answers: BTreeMap<String, String>) {
        let answers: BTreeMap<String, String> =
            answers.into_iter().map(|(label, text)| (label, text.trim().to_owned())).collect();
        let answers: BTreeMap<String, String> =
            answers.into_iter().filter(|(label, text)| !text.is_empty() && text != label).collect();
        let text = if text.trim().is_empty() { name } else { text.trim() };
        let help = self.questions.get(name).and_then(|question| question.help.clone());
        if text == name && answers.is_empty() && help.is_none() {
            self.questions.remove(name);
        } else {
            self.questions.insert(name.to_owned(), QuestionText { text: text.to_owned(), help, answers });
        }
    }
}

/// Returns the file name for a language.
pub fn file_name(language: &str) -> String {
    format!("texts-{language}.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_and_defaults_are_not_kept() {
        let mut file = TextsFile::new("en");
        let labels = |label: &str| BTreeMap::from([("y".to_owned(), label.to_owned())]);
        file.ask("a", " Do you? ", labels("Yes, I do"));
        file.ask("b", "", labels("y"));
        assert_eq!(file.questions.len(), 1);
        file.about.insert("population".to_owned(), "All of \"them\"".to_owned());
        assert_eq!(TextsFile::parse("texts-en.toml", &file.to_toml().unwrap()).unwrap(), file);
        assert_eq!(file.own().unwrap().questions["a"].answers["y"], "Yes, I do");
        file.ask("a", "a", BTreeMap::new());
        assert!(file.questions.is_empty());
        assert!(TextsFile::parse("texts-en.toml", "x = 3").unwrap_err().text.contains("texts-en.toml"));
        file.sheet.insert("no such text".to_owned(), "x".to_owned());
        assert!(file.own().is_ok(), "which texts there are is checked with the schema");
    }
}
