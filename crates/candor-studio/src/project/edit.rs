//! Changes of a study, as the page requests them.

use std::collections::BTreeMap;

use candor::moments::MomentQuery;
use candor_base::schema::{Attribute, NOT_ASKED};
use serde::Deserialize;

use super::draft::{self, Draft};
use super::study::{Model, Sample, Wanted};
use super::texts::TextsFile;
use super::{FIRST_LANGUAGE, Project};
use crate::problem::Problem;

/// Role of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Randomized.
    Protect,
    /// Sent unchanged.
    Public,
    /// Not used.
    Out,
}

/// One change.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Edit {
    /// Title of the study.
    Title { title: String },
    /// Role of columns.
    Role { names: Vec<String>, role: Role },
    /// Order of an attribute's categories, and whether it is ordinal.
    Order { name: String, categories: Vec<String>, ordinal: bool },
    /// Bins of a numeric column.
    Bins { name: String, edges: Vec<f64> },
    /// Condition under which a question is asked.
    AskedIf { name: String, condition: Option<String> },
    /// Wording of a question, and labels of its answers.
    Question { name: String, language: String, text: String, answers: BTreeMap<String, String> },
    /// Adds a handwritten question.
    Add { name: String, text: String, answers: Vec<String>, ordinal: bool, role: Role },
    /// Removes a handwritten question.
    Remove { name: String },
    /// The tables, means and regressions to publish.
    Publish { tables: Vec<Wanted>, means: Vec<String>, models: Vec<Model> },
    /// Number of respondents.
    Respondents { respondents: f64 },
    /// The record-level epsilon.
    Epsilon { epsilon: f64 },
    /// The languages of the page for respondents.
    Languages { languages: Vec<String> },
    /// A text of the page for respondents; empty restores the default.
    Sheet { language: String, name: String, text: String },
    /// Facts about the survey.
    About { language: String, name: String, text: String },
    /// The main points of the report; those that candor finds if there is no list.
    Points { language: String, points: Option<Vec<String>> },
    /// Sampling design.
    Sample { sample: Sample },
    /// Subpopulation of the results.
    Only { only: Option<(String, String)> },
    /// Whether responses are published.
    PublishResponses { publish: bool },
}

impl Edit {
    /// Returns whether the change alters the promise to respondents.
    fn changes_promise(&self) -> bool {
        matches!(
            self,
            Edit::Role { .. }
                | Edit::Order { .. }
                | Edit::Bins { .. }
                | Edit::AskedIf { .. }
                | Edit::Add { .. }
                | Edit::Remove { .. }
                | Edit::Respondents { .. }
                | Edit::Epsilon { .. }
        )
    }
}

impl Project {
    /// Makes a change and saves it. `missing` returns whether a column of the data has missing values.
    ///
    /// # Errors
    /// Returns the reason if the change is not possible; then nothing is changed.
    pub fn edit(&mut self, edit: Edit, missing: impl Fn(&str) -> bool) -> Result<(), Problem> {
        if edit.changes_promise() {
            self.check_open()?;
        }
        let of_text = if let Edit::Sheet { name, .. } = &edit { Some(name.clone()) } else { None };
        let mut changed = self.clone();
        changed.apply(edit, missing)?;
        // Texts that no longer match the questions would cause errors everywhere else.
        if let Some(schema) = &changed.schema {
            let names: Vec<&str> = schema.attributes().iter().map(Attribute::name).collect();
            changed.texts.values_mut().for_each(|file| file.questions.retain(|name, _| names.contains(&name.as_str())));
            for language in changed.texts.keys() {
                changed.language(language, schema).map_err(|problem| match &of_text {
                    // The text is in front of the user: its place in the file says nothing.
                    Some(name) => {
                        Problem { text: problem.text.replace(&format!("texts: [sheet] {name} = "), ""), ..problem }
                    }
                    None => problem,
                })?;
            }
        }
        changed.save()?;
        *self = changed;
        Ok(())
    }

    fn apply(&mut self, edit: Edit, missing: impl Fn(&str) -> bool) -> Result<(), Problem> {
        let study = &mut self.study;
        match edit {
            Edit::Title { title } => study.title = Some(title.trim().to_owned()).filter(|title| !title.is_empty()),
            Edit::Publish { tables, means, models } => {
                (study.tables, study.means, study.models) = (tables, means, models);
                check_tables(self)?;
            }
            Edit::Respondents { respondents } => {
                if !(respondents.is_finite() && respondents >= 1.0) {
                    return Err(Problem::input("The number of people must be 1 or more."));
                }
                study.respondents = Some(respondents.round());
            }
            Edit::Epsilon { epsilon } => {
                if !(epsilon.is_finite() && epsilon > 0.0) {
                    return Err(Problem::input("Epsilon must be a number above 0, such as 2."));
                }
                study.epsilon = Some(epsilon);
            }
            Edit::Languages { languages } => self.speak(languages),
            Edit::Sample { sample } => study.sample = sample,
            Edit::Only { only } => study.only = only,
            Edit::PublishResponses { publish } => study.publish_responses = publish,
            Edit::Question { name, language, text, answers } => self.texts_of(&language).ask(&name, &text, answers),
            Edit::Sheet { language, name, text } => replace(&mut self.texts_of(&language).sheet, name, text),
            Edit::About { language, name, text } => replace(&mut self.texts_of(&language).about, name, text),
            Edit::Points { language, points } => {
                let said = |point: &String| !point.trim().is_empty();
                self.texts_of(&language).points = points.map(|all| all.into_iter().filter(said).collect());
            }
            Edit::Role { names, role } => return self.set_role(&names, role),
            Edit::Add { name, text, answers, ordinal, role } => return self.add(&name, &text, answers, ordinal, role),
            Edit::Remove { name } => {
                let drafts: Vec<Draft> = self.drafts().into_iter().filter(|draft| draft.name != name).collect();
                return self.use_drafts(&drafts);
            }
            Edit::Bins { name, edges } => return self.set_bins(&name, &edges, missing(&name)),
            Edit::Order { name, categories, ordinal } => return self.set_order(&name, &categories, ordinal),
            Edit::AskedIf { name, condition } => {
                return self.change(&name, |draft| {
                    draft.asked_if = condition.clone().filter(|condition| !condition.trim().is_empty());
                    // The schema adds it again for questions that are asked of some only.
                    draft.categories.retain(|category| category != NOT_ASKED);
                    Ok(())
                });
            }
        }
        Ok(())
    }

    fn texts_of(&mut self, language: &str) -> &mut TextsFile {
        self.texts.entry(language.to_owned()).or_insert_with(|| TextsFile::new(language))
    }

    /// Sets the languages of the page for respondents; the first one stays.
    fn speak(&mut self, languages: Vec<String>) {
        let mut all = vec![FIRST_LANGUAGE.to_owned()];
        languages.into_iter().filter(|code| code != FIRST_LANGUAGE).for_each(|code| all.push(code));
        for code in &all {
            self.texts.entry(code.clone()).or_insert_with(|| TextsFile::new(code));
        }
        self.texts.retain(|code, _| all.contains(code));
        self.study.languages = all;
    }

    fn use_drafts(&mut self, drafts: &[Draft]) -> Result<(), Problem> {
        let schema = draft::schema(drafts)?;
        if schema.is_none() {
            return Err(Problem::input("At least one question must stay."));
        }
        self.schema = schema;
        Ok(())
    }

    fn change(&mut self, name: &str, mut how: impl FnMut(&mut Draft) -> Result<(), Problem>) -> Result<(), Problem> {
        let mut drafts = self.drafts();
        let draft = drafts.iter_mut().find(|draft| draft.name == name);
        how(draft.ok_or_else(|| Problem::input(format!("There is no question \"{name}\".")))?)?;
        self.use_drafts(&drafts)
    }

    fn set_order(&mut self, name: &str, categories: &[String], ordinal: bool) -> Result<(), Problem> {
        self.change(name, |draft| {
            let (mut old, mut new) = (draft.categories.clone(), categories.to_vec());
            old.sort();
            new.sort();
            if old != new || !draft.edges.is_empty() && draft.categories != categories {
                return Err(Problem::input("The order must have the same answers."));
            }
            draft.categories = categories.to_vec();
            draft.kind = if ordinal { "ordinal" } else { "nominal" }.to_owned();
            Ok(())
        })
    }

    fn set_role(&mut self, names: &[String], role: Role) -> Result<(), Problem> {
        let mut drafts = self.drafts();
        for name in names {
            let (used, aside) = (drafts.iter().position(|d| d.name == *name), &mut self.study.aside);
            let place = aside.iter().position(|draft| draft.name == *name);
            match (role, used, place) {
                (Role::Out, Some(at), _) => aside.push(drafts.remove(at)),
                (Role::Out, None, _) => {}
                (role, Some(at), _) => drafts[at].public = role == Role::Public,
                (role, None, Some(at)) => drafts.push(Draft { public: role == Role::Public, ..aside.remove(at) }),
                (_, None, None) => {
                    return Err(Problem::input(format!(
                        "\"{name}\" needs groups before it can be used: write their edges first."
                    )));
                }
            }
        }
        self.use_drafts(&drafts)
    }

    fn set_bins(&mut self, name: &str, edges: &[f64], missing: bool) -> Result<(), Problem> {
        let mut drafts = self.drafts();
        let at = drafts.iter().position(|draft| draft.name == name);
        let old = at.map(|at| drafts[at].clone());
        let extra = match &old {
            Some(old) => old.extra(),
            None if missing => vec![String::new()],
            None => Vec::new(),
        };
        let new = Draft::binned(name, edges, extra)?;
        let new = Draft { public: old.as_ref().is_some_and(|old| old.public), ..new };
        match at {
            Some(at) => drafts[at] = new,
            None => drafts.push(new),
        }
        self.study.aside.retain(|draft| draft.name != name);
        self.use_drafts(&drafts)
    }

    fn add(&mut self, name: &str, text: &str, answers: Vec<String>, ordinal: bool, role: Role) -> Result<(), Problem> {
        let name = name.trim().to_owned();
        let categories: Vec<String> =
            answers.into_iter().map(|answer| answer.trim().to_owned()).filter(|answer| !answer.is_empty()).collect();
        if name.is_empty() || categories.len() < 2 {
            return Err(Problem::input("A question needs a short name and at least two answers."));
        }
        let kind = if ordinal { "ordinal" } else { "nominal" }.to_owned();
        let public = role == Role::Public;
        let draft = Draft { name: name.clone(), kind, public, asked_if: None, edges: vec![], grid: vec![], categories };
        let mut drafts = self.drafts();
        match drafts.iter_mut().find(|draft| draft.name == name) {
            Some(old) => *old = draft,
            None => drafts.push(draft),
        }
        self.use_drafts(&drafts)?;
        self.texts_of(FIRST_LANGUAGE).ask(&name, text, BTreeMap::new());
        Ok(())
    }
}

/// Sets a text, or removes it if it is empty.
fn replace(texts: &mut BTreeMap<String, String>, name: String, text: String) {
    match text.trim() {
        "" => drop(texts.remove(&name)),
        text => drop(texts.insert(name, text.to_owned())),
    }
}

/// Rejects tables of unknown questions, tables grouped by themselves, and means of answers that are not numbers.
fn check_tables(project: &Project) -> Result<(), Problem> {
    let schema = project.schema()?;
    let study = &project.study;
    let tables = study.tables.iter().flat_map(|table| table.by.iter().chain([&table.of]));
    let models = study.models.iter().flat_map(|model| model.predictors.iter().chain([&model.outcome]));
    for name in tables.chain(models).chain(&study.means) {
        schema.position(name).map_err(Problem::input)?;
    }
    if !study.means.is_empty() {
        MomentQuery::parse(schema, &study.mean_text(), "", "")?;
    }
    match study.tables.iter().find(|table| table.by.contains(&table.of)) {
        Some(table) => Err(Problem::input(format!("\"{}\" cannot be within groups of itself.", table.of))),
        None => Ok(()),
    }
}
