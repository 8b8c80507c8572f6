//! The folder of all studies; each study is a folder of its own.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use crate::open::Open;
use crate::problem::Problem;
use crate::project::STUDY;
use crate::project::folder::{self, MAX_NAME, check_name};
use crate::secret::secret;

/// State of the program.
pub struct Shelf {
    /// The folder of studies.
    pub folder: PathBuf,
    opened: Mutex<BTreeMap<String, Arc<Open>>>,
    tickets: Mutex<HashMap<String, PathBuf>>,
    arriving: Mutex<Option<Arc<Open>>>,
}

impl Shelf {
    /// Returns the studies in a folder, which is created if it does not exist.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn new(path: &Path) -> Result<Shelf, Problem> {
        folder::make(path)?;
        let path = path.canonicalize().map_err(|error| Problem::file(path, error))?;
        Ok(Shelf { folder: path, opened: Mutex::default(), tickets: Mutex::default(), arriving: Mutex::default() })
    }

    /// Opens a study, or returns it if it is open.
    ///
    /// # Errors
    /// Returns an error if it does not exist, or another program has it open.
    pub fn open(&self, name: &str) -> Result<Arc<Open>, Problem> {
        check_name(name)?;
        let path = self.folder.join(name);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if !path.is_dir() {
            opened.remove(name);
            return Err(Problem::missing(format!("There is no study \"{name}\" in {}.", self.folder.display())));
        }
        if let Some(open) = opened.get(name) {
            return Ok(Arc::clone(open));
        }
        let open = Arc::new(Open::new(name, path)?);
        opened.insert(name.to_owned(), Arc::clone(&open));
        Ok(open)
    }

    /// Creates a folder for a new study, with this name or a similar free one.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn create(&self, wanted: &str) -> Result<Arc<Open>, Problem> {
        let base = plain(wanted);
        for number in 1.. {
            let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
            let path = self.folder.join(&name);
            match std::fs::create_dir(&path) {
                Ok(()) => return self.open(&name),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Problem::file(&path, error)),
            }
        }
        unreachable!("some number is free")
    }

    /// Removes a study that could not begin.
    ///
    /// # Errors
    /// If its folder cannot be removed.
    pub fn remove(&self, open: &Open) -> Result<(), Problem> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).remove(&open.name);
        std::fs::remove_dir_all(&open.folder).map_err(|error| Problem::file(&open.folder, error))
    }

    /// Returns the studies, the most recently changed one first.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn list(&self) -> Result<Value, Problem> {
        let entries = std::fs::read_dir(&self.folder).map_err(|error| Problem::file(&self.folder, error))?;
        let mut found: Vec<(u64, String)> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let name = path.file_name()?.to_str()?.to_owned();
                let changed = path.join(STUDY).metadata().ok()?.modified().ok()?;
                let seconds = changed.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
                check_name(&name).is_ok().then_some((seconds, name))
            })
            .collect();
        found.sort_by(|a, b| b.cmp(a));
        let studies: Vec<Value> =
            found.into_iter().map(|(changed, name)| json!({"name": name, "changed": changed})).collect();
        Ok(json!({"folder": self.folder.display().to_string(), "studies": studies}))
    }

    /// Notes whose table is arriving; nobody's when it is read.
    pub fn set_arriving(&self, open: Option<&Arc<Open>>) {
        *self.arriving.lock().unwrap_or_else(PoisonError::into_inner) = open.map(Arc::clone);
    }

    /// The study whose table is arriving.
    pub fn arriving(&self) -> Option<Arc<Open>> {
        self.arriving.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Arc::clone)
    }

    /// Returns a ticket that lets the browser show one file.
    pub fn ticket(&self, file: PathBuf) -> String {
        let ticket = secret();
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner).insert(ticket.clone(), file);
        ticket
    }

    /// Returns the file of a ticket.
    pub fn file_of(&self, ticket: &str) -> Option<PathBuf> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner).get(ticket).cloned()
    }
}

/// Returns a folder name that every system accepts.
fn plain(wanted: &str) -> String {
    let letters = wanted.chars().map(|c| if c.is_alphanumeric() || "-_ ".contains(c) { c } else { '-' });
    let name: String = letters.take(MAX_NAME).collect();
    let name = name.trim_matches([' ', '-']);
    if name.is_empty() { "study".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_stay_below_the_shelf() {
        for name in ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a\0", "c:x"] {
            assert_eq!(check_name(name).unwrap_err().kind, "missing", "{name:?}");
        }
        assert!(check_name("Health survey 2027").is_ok());
        assert_eq!(
            [plain("../etc/passwd"), plain("yrbs"), plain("///"), plain("Größe")].map(|n| n),
            ["etc-passwd".to_owned(), "yrbs".to_owned(), "study".to_owned(), "Größe".to_owned()]
        );
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(folder.path()).unwrap();
        let names = [shelf.create("a b").unwrap(), shelf.create("a b").unwrap()].map(|open| open.name.clone());
        assert_eq!(names, ["a b", "a b-2"]);
        assert!(Arc::ptr_eq(&shelf.open("a b").unwrap(), &shelf.open("a b").unwrap()));
        assert_eq!(shelf.open("none").err().unwrap().kind, "missing");
        let other = Shelf::new(folder.path()).unwrap();
        assert_eq!(other.open("a b").err().unwrap().kind, "open-elsewhere");
        let ticket = shelf.ticket("x".into());
        assert_eq!((shelf.file_of(&ticket), shelf.file_of("")), (Some("x".into()), None));
    }
}
