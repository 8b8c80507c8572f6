//! An open study: its lock, the contents of its data, and the computations behind its page.

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

/// Modification time and size of a file.
type Stamp = (Option<SystemTime>, u64);

/// An open study.
pub struct Open {
    /// Name of its folder.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its long-running work.
    pub task: Task,
    /// Its trade-off.
    pub curve: Mutex<Option<Curve>>,
    /// Its survey, if it is running here.
    pub survey: Mutex<Option<Running>>,
    overview: Mutex<Option<(Stamp, Arc<Overview>)>>,
    gate: Mutex<()>,
    _lock: File,
}

impl Open {
    /// Opens a study.
    ///
    /// # Errors
    /// Returns an error if another program has it open, or its folder is not writable.
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

    /// Locks the study for a change.
    pub fn enter(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an overview of the data, cached until the file changes. `None` if the study has no data.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
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

    /// Discards the cached overview, so that the data are read again with other settings.
    pub fn read_again(&self) {
        *self.overview.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
