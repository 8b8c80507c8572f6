//! A study: a folder, and nothing else. What is shown as saved is in its files.

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
/// What is asked for.
pub const STUDY: &str = "study.json";
/// The plan.
pub const PLAN: &str = "plan.json";
/// The responses.
pub const RESPONSES: &str = "responses.parquet";
/// The folder of a survey.
pub const SURVEY: &str = "survey";

/// The language in which questions are written first.
pub const FIRST_LANGUAGE: &str = "en";

/// A study as its files have it.
#[derive(Clone, Debug)]
pub struct Project {
    /// The folder.
    pub folder: PathBuf,
    /// What is asked for.
    pub study: Study,
    /// The schema; `None` before there is one.
    pub schema: Option<Schema>,
    /// The plan, or why it cannot be used; `None` before there is one.
    pub plan: Option<Result<Plan, String>>,
    /// How often answers were drawn.
    pub draws: Vec<Draw>,
    /// The texts, by language.
    pub texts: BTreeMap<String, TextsFile>,
}

impl Project {
    /// Reads a study's files.
    ///
    /// # Errors
    /// If one cannot be read: which, and what is wrong with it.
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

    /// Writes what edits change, after a copy for undo; a window that does not know this state yet will notice.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn save(&mut self) -> Result<(), Problem> {
        folder::remember(&self.folder)?;
        self.write()
    }

    /// Writes what edits change.
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

    /// Puts back what was before the last change; the revision grows all the same.
    ///
    /// # Errors
    /// If there is nothing to undo, or files cannot be written.
    pub fn undo(folder: &Path) -> Result<(), Problem> {
        // The state to go back from may be one that cannot be read.
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

    /// The schema.
    ///
    /// # Errors
    /// If there is none yet.
    pub fn schema(&self) -> Result<&Schema, Problem> {
        self.schema
            .as_ref()
            .ok_or_else(|| Problem::first("There are no questions yet. Open a table, or write questions."))
    }

    /// The plan.
    ///
    /// # Errors
    /// If there is none yet, or it cannot be used.
    pub fn plan(&self) -> Result<&Plan, Problem> {
        match &self.plan {
            None => Err(Problem::first("There is no plan yet. Choose one at the step Trade-off.")),
            Some(Err(error)) => Err(Problem::first(damaged(error))),
            Some(Ok(plan)) => Ok(plan),
        }
    }

    /// Whether the plan is the one that is asked for now.
    pub fn plan_is_current(&self) -> bool {
        let (Some(Ok(plan)), Some(schema), Some(asked)) = (&self.plan, &self.schema, self.study.request()) else {
            return false;
        };
        let Some(made) = made_by(plan) else { return false };
        let same =
            asked.as_object().is_some_and(|asked| asked.iter().all(|(name, value)| made["request"][name] == *value));
        plan.schema() == schema && same
    }

    /// Whether answers were drawn, or are being asked for: then questions and plan are what people were promised.
    pub fn is_drawn(&self) -> bool {
        let at = |path: PathBuf| self.folder.join(path).exists();
        !self.draws.is_empty() || at(RESPONSES.into()) || at(Path::new(SURVEY).join("survey.toml"))
    }

    /// Rejects changes of what people were promised.
    ///
    /// # Errors
    /// If answers were drawn.
    pub fn check_open(&self) -> Result<(), Problem> {
        match self.is_drawn() {
            true => Err(Problem::locked(
                "Answers were drawn under this plan, so questions and plan stay as they were promised. Begin a new \
                 study for another plan.",
            )),
            false => Ok(()),
        }
    }

    /// Writes a plan; only while nobody's answer was drawn.
    ///
    /// # Errors
    /// If answers were drawn, or the file cannot be written.
    pub fn keep_plan(&mut self, plan: &Plan) -> Result<(), Problem> {
        self.check_open()?;
        write_plan(&Target::File(self.folder.join(PLAN)), plan, Existing::Replace)?;
        self.plan = Some(Ok(plan.clone()));
        Ok(())
    }

    /// The words that stand for a missing value.
    pub fn missing(&self) -> Missing {
        Missing::named(self.study.missing.clone())
    }

    /// The place of the data.
    ///
    /// # Errors
    /// If the study began with questions, not with a table.
    pub fn data_path(&self) -> Result<PathBuf, Problem> {
        let name = self.study.data.as_ref().ok_or_else(|| Problem::first("This study has no data file."))?;
        let path = self.folder.join(name);
        match path.is_file() {
            true => Ok(path),
            false => Err(Problem::missing(format!(
                "{} is no longer in the study's folder. Put it back, or begin a new study.",
                path.display()
            ))),
        }
    }

    /// The data, to be read.
    ///
    /// # Errors
    /// If there is none, or it is not a table.
    pub fn data(&self) -> Result<Input, Problem> {
        let location = Location::File(self.data_path()?);
        Ok(Input::open(&location, None)?.with_missing(self.missing()))
    }

    /// The responses, to be read.
    ///
    /// # Errors
    /// If there are none yet.
    pub fn responses(&self) -> Result<Inputs, Problem> {
        let path = self.folder.join(RESPONSES);
        if !path.is_file() {
            return Err(Problem::first("There are no answers yet. Ask or protect them at the step Collect."));
        }
        Ok(Inputs::new([Location::File(path)], None)?)
    }

    /// The texts of a language, as far as they go with a schema.
    ///
    /// # Errors
    /// If candor does not come with the language, or a text is unknown or misses a word in braces.
    pub fn language(&self, code: &str, schema: &Schema) -> Result<Language, Problem> {
        Ok(Language::new(Some(code), self.own_texts(code)?.as_ref(), schema)?)
    }

    fn own_texts(&self, code: &str) -> Result<Option<OwnTexts>, Problem> {
        self.texts.get(code).map(TextsFile::own).transpose()
    }

    /// The title, or the folder's name.
    pub fn title(&self) -> String {
        let folder = || self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.study.title.clone().unwrap_or_else(folder)
    }

    /// The attributes as they are edited.
    pub fn drafts(&self) -> Vec<Draft> {
        Draft::all(self.schema.as_ref())
    }
}

/// What is said of a plan that cannot be used.
pub fn damaged(error: &str) -> String {
    format!(
        "plan.json cannot be used: {error}. If it was changed by hand, put it back from a copy; if nobody answered \
         yet, keep a plan again at the step Trade-off."
    )
}
