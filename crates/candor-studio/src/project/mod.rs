//! A study: a folder and nothing else. Everything shown as saved is in its files.

pub mod folder;
pub mod draft;
pub mod study;
pub mod texts;
pub mod ledger;
pub mod edit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use candor::locale::{Language, OwnTexts};
use candor::made_by::made_by;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_tables::existing::write_plan;
use candor_tables::input::{Input, Inputs, Location};
use candor_tables::missing::Missing;
use candor_tables::output::{Existing, Target};

use crate::problem::Problem;
use draft::Draft;
use ledger::Draw;
use study::Study;
use texts::TextsFile;

/// The files of a study.
pub const SCHEMA: &str = "schema.toml";
/// The settings of the study.
pub const STUDY: &str = "study.json";
/// The plan.
pub const PLAN: &str = "plan.json";
/// The responses.
pub const RESPONSES: &str = "responses.parquet";
/// The folder of a survey.
pub const SURVEY: &str = "survey";

/// Language in which questions are written first.
pub const FIRST_LANGUAGE: &str = "en";

/// A study as read from its files.
#[derive(Clone, Debug)]
pub struct Project {
    /// The folder.
    pub folder: PathBuf,
    /// Settings of the study.
    pub study: Study,
    /// Schema; `None` before there is one.
    pub schema: Option<Schema>,
    /// Plan, or why it cannot be used; `None` before there is one.
    pub plan: Option<Result<Plan, String>>,
    /// Draws of answers so far.
    pub draws: Vec<Draw>,
    /// The texts, by language.
    pub texts: BTreeMap<String, TextsFile>,
}

impl Project {
    /// Reads a study's files.
    ///
    /// # Errors
    /// Returns an error that names the file that cannot be read, and why.
    pub fn load(folder: &Path) -> Result<Project, Problem> {
        let text = |name: &str| folder::read(&folder.join(name));
        let wrong = |name: &str, error: String| {
            Problem::input(format!(
                "{name} was changed by hand and cannot be read: {error}. Correct it, or press Undo."
            ))
        };
        let mut study: Study = match text(STUDY)? {
            Some(text) => serde_json::from_str(&text).map_err(|error| wrong(STUDY, error.to_string()))?,
            None => Study::default(),
        };
        if study.languages.is_empty() {
            study.languages.push(FIRST_LANGUAGE.to_owned());
        }
        // A folder of somebody else must not make the program read or write elsewhere.
        let code = |code: &&String| !code.is_empty() && code.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if let Some(bad) = study.languages.iter().find(|one| !code(one)) {
            return Err(wrong(STUDY, format!("\"{bad}\" is not the code of a language")));
        }
        if let Some(name) = study.data.as_ref().filter(|name| folder::check_name(name).is_err()) {
            return Err(wrong(STUDY, format!("\"{name}\" is not a file of the study's folder")));
        }
        let schema =
            text(SCHEMA)?.map(|text| Schema::from_toml(&text).map_err(|error| wrong(SCHEMA, error.to_string())));
        let plan = text(PLAN)?.map(|text| Plan::from_json(&text).map_err(|error| error.to_string()));
        let mut texts = BTreeMap::new();
        for language in &study.languages {
            let name = texts::file_name(language);
            let file = text(&name)?.map(|text| TextsFile::parse(&name, &text)).transpose()?;
            texts.insert(language.clone(), file.unwrap_or_else(|| TextsFile::new(language)));
        }
        let draws = ledger::read(folder)?;
        Ok(Project { folder: folder.to_owned(), study, schema: schema.transpose()?, plan, draws, texts })
    }

    /// Writes the edited files, after a copy for undo; other windows with an older state will notice.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn save(&mut self) -> Result<(), Problem> {
        folder::remember(&self.folder)?;
        self.write()
    }

    /// Writes the edited files.
    fn write(&mut self) -> Result<(), Problem> {
        self.study.revision += 1;
        if let Some(schema) = &self.schema {
            self.study.keep_to(schema);
            folder::write(&self.folder.join(SCHEMA), candor::schema::to_toml(schema).as_bytes())?;
        }
        for (language, file) in &self.texts {
            let path = self.folder.join(texts::file_name(language));
            if *file != TextsFile::new(language) || path.exists() {
                folder::write(&path, file.to_toml()?.as_bytes())?;
            }
        }
        let text = serde_json::to_string_pretty(&self.study).map_err(Problem::input)?;
        folder::write(&self.folder.join(STUDY), text.as_bytes())
    }

    /// Restores the state before the last change; the revision still increases.
    ///
    /// # Errors
    /// Returns an error if there is nothing to undo, or files cannot be written.
    pub fn undo(folder: &Path) -> Result<(), Problem> {
        // The current state may be unreadable.
        let revision = Project::load(folder).map_or(0, |project| project.study.revision);
        folder::undo(folder)?;
        let mut project = Project::load(folder)?;
        if project.schema.is_none() && folder.join(SCHEMA).exists() {
            let path = folder.join(SCHEMA);
            std::fs::remove_file(&path).map_err(|error| Problem::file(&path, error))?;
        }
        project.study.revision = project.study.revision.max(revision);
        project.write()
    }

    /// Returns the schema.
    ///
    /// # Errors
    /// Returns an error if there is none yet.
    pub fn schema(&self) -> Result<&Schema, Problem> {
        self.schema
            .as_ref()
            .ok_or_else(|| Problem::first("There are no questions yet. Open a table, or write questions."))
    }

    /// Returns the plan.
    ///
    /// # Errors
    /// Returns an error if there is none yet, or it cannot be used.
    pub fn plan(&self) -> Result<&Plan, Problem> {
        match &self.plan {
            None => Err(Problem::first("There is no plan yet. Choose one at the step Trade-off.")),
            Some(Err(error)) => Err(Problem::first(damaged(error))),
            Some(Ok(plan)) => Ok(plan),
        }
    }

    /// Returns whether the plan matches the current settings.
    pub fn plan_is_current(&self) -> bool {
        let (Some(Ok(plan)), Some(schema), Some(asked)) = (&self.plan, &self.schema, self.study.request()) else {
            return false;
        };
        let Some(made) = made_by(plan) else { return false };
        let same =
            asked.as_object().is_some_and(|asked| asked.iter().all(|(name, value)| made["request"][name] == *value));
        plan.schema() == schema && same
    }

    /// Returns whether answers were drawn or are being collected; questions and plan are then what people were
    /// promised.
    pub fn is_drawn(&self) -> bool {
        let at = |path: PathBuf| self.folder.join(path).exists();
        !self.draws.is_empty() || at(RESPONSES.into()) || at(Path::new(SURVEY).join("survey.toml"))
    }

    /// Rejects changes of what people were promised.
    ///
    /// # Errors
    /// Returns an error if answers were drawn.
    pub fn check_open(&self) -> Result<(), Problem> {
        match self.is_drawn() {
            true => Err(Problem::locked(
                "Answers were drawn under this plan, so questions and plan stay as they were promised. Begin a new \
                 study for another plan.",
            )),
            false => Ok(()),
        }
    }

    /// Writes a plan, as long as no answers were drawn.
    ///
    /// # Errors
    /// Returns an error if answers were drawn, or the file cannot be written.
    pub fn keep_plan(&mut self, plan: &Plan) -> Result<(), Problem> {
        self.check_open()?;
        write_plan(&Target::File(self.folder.join(PLAN)), plan, Existing::Replace)?;
        self.plan = Some(Ok(plan.clone()));
        Ok(())
    }

    /// Returns the codes of missing values.
    pub fn missing(&self) -> Missing {
        Missing::named(self.study.missing.clone())
    }

    /// Returns the path of the data.
    ///
    /// # Errors
    /// Returns an error if the study began with questions, not with a data file.
    pub fn data_path(&self) -> Result<PathBuf, Problem> {
        let name = self.study.data.as_ref().ok_or_else(|| Problem::first("This study has no data file."))?;
        let path = self.folder.join(name);
        match path.is_file() {
            true => folder::check_inside(&self.folder, &path).map(|()| path),
            false => Err(Problem::missing(format!(
                "{} is no longer in the study's folder. Put it back, or begin a new study.",
                path.display()
            ))),
        }
    }

    /// Returns the data as an input.
    ///
    /// # Errors
    /// Returns an error if there are none, or they are not a table.
    pub fn data(&self) -> Result<Input, Problem> {
        let location = Location::File(self.data_path()?);
        Ok(Input::open(&location, None)?.with_missing(self.missing()))
    }

    /// Returns the responses as an input.
    ///
    /// # Errors
    /// Returns an error if there are none yet.
    pub fn responses(&self) -> Result<Inputs, Problem> {
        let path = self.folder.join(RESPONSES);
        if !path.is_file() {
            return Err(Problem::first("There are no answers yet. Ask or protect them at the step Collect."));
        }
        Ok(Inputs::new([Location::File(path)], None)?)
    }

    /// Returns the texts of a language, as far as they match a schema.
    ///
    /// # Errors
    /// Returns an error if the language is not bundled, or a text is unknown or lacks a placeholder.
    pub fn language(&self, code: &str, schema: &Schema) -> Result<Language, Problem> {
        Ok(Language::new(Some(code), self.own_texts(code)?.as_ref(), schema)?)
    }

    fn own_texts(&self, code: &str) -> Result<Option<OwnTexts>, Problem> {
        self.texts.get(code).map(TextsFile::own).transpose()
    }

    /// Returns the title, or the folder's name.
    pub fn title(&self) -> String {
        let folder = || self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.study.title.clone().unwrap_or_else(folder)
    }

    /// Returns the attributes in editable form.
    pub fn drafts(&self) -> Vec<Draft> {
        Draft::all(self.schema.as_ref())
    }
}

/// Returns the message about a plan that cannot be used.
pub fn damaged(error: &str) -> String {
    format!(
        "plan.json cannot be used: {}. If it was changed by hand, put it back from a copy; if nobody answered \
         yet, keep a plan again at the step Trade-off.",
        error.replace('`', "\"")
    )
}
