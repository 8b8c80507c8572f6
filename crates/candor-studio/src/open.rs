//! A study that is open in this program: its lock, what was read of its data, and what is computed behind its page.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use candor::columns::Overview;

use crate::curve::Curve;
use crate::problem::Problem;
use crate::project::{Project, folder};
use crate::running::Running;
use crate::task::Task;

/// When a file was written last, and how long it is.
type Stamp = (Option<SystemTime>, u64);

/// An open study.
pub struct Open {
    /// The name of its folder.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What takes long.
    pub task: Task,
    /// Its trade-off.
    pub curve: Mutex<Option<Curve>>,
    /// Its survey, if it runs here.
    pub survey: Mutex<Option<Running>>,
    overview: Mutex<Option<(Stamp, Arc<Overview>)>>,
    gate: Mutex<()>,
    _lock: File,
}

impl Open {
    /// Opens a study.
    ///
    /// # Errors
    /// If another program has it open, or its folder cannot be written to.
    pub fn new(name: &str, path: PathBuf) -> Result<Open, Problem> {
        let lock = folder::lock(&path)?;
        Ok(Open {
            name: name.to_owned(),
            folder: path,
            task: Task::default(),
            curve: Mutex::default(),
            survey: Mutex::default(),
            overview: Mutex::default(),
            gate: Mutex::default(),
            _lock: lock,
        })
    }

    /// The study for somebody who changes it: nobody else does meanwhile.
    pub fn enter(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is in the data; read once, unless the file changes. `None` if the study has no data.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn overview(&self, project: &Project) -> Result<Option<Arc<Overview>>, Problem> {
        if project.study.data.is_none() {
            return Ok(None);
        }
        let path = project.data_path()?;
        let metadata = path.metadata().map_err(|error| Problem::file(&path, error))?;
        let stamp = (metadata.modified().ok(), metadata.len());
        let mut known = self.overview.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, overview)) = known.as_ref().filter(|(of, _)| *of == stamp) {
            return Ok(Some(Arc::clone(overview)));
        }
        let read = self.task.run(|progress| Ok::<_, Problem>(Overview::read(project.data()?, progress)?));
        let overview = Arc::new(read?);
        *known = Some((stamp, Arc::clone(&overview)));
        Ok(Some(overview))
    }

    /// Forgets what was read of the data: it is to be read in another way.
    pub fn read_again(&self) {
        *self.overview.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
