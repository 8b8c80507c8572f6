//! The files of a study: written atomically, locked against a second program, and copied before each change.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use candor_tables::output::{self, Target};

use crate::problem::Problem;

/// The subfolder of a study that holds the lock and the copies for undo.
const OWN: &str = ".studio";

/// Maximum number of changes that can be undone.
const MAX_UNDO: usize = 200;

/// Maximum length of a study's name.
pub const MAX_NAME: usize = 80;

/// Writes a file atomically.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn write(path: &Path, content: &[u8]) -> Result<(), Problem> {
    output::write(&Target::File(path.to_owned()), content).map_err(|error| Problem::file(path, error))
}

/// Reads a text file; `None` if it does not exist.
///
/// # Errors
/// Returns an error if it cannot be read.
pub fn read(path: &Path) -> Result<Option<String>, Problem> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::file(path, error)),
    }
}

/// Creates a folder if it does not exist.
///
/// # Errors
/// Returns an error if it cannot be created.
pub fn make(path: &Path) -> Result<(), Problem> {
    fs::create_dir_all(path).map_err(|error| Problem::file(path, error))
}

/// Rejects a name that is not a folder directly below the shelf.
///
/// # Errors
/// Returns an error for such a name.
pub fn check_name(name: &str) -> Result<(), Problem> {
    let fine = !name.is_empty()
        && name.len() <= 2 * MAX_NAME
        && !name.starts_with('.')
        && !name.contains(['/', '\\', ':'])
        && !name.chars().any(char::is_control);
    if fine { Ok(()) } else { Err(Problem::missing(format!("There is no study \"{name}\"."))) }
}

/// Rejects a path that leads out of a study's folder, as symbolic links in a folder of somebody else may.
///
/// # Errors
/// If it leads elsewhere, or cannot be followed.
pub fn check_inside(folder: &Path, path: &Path) -> Result<(), Problem> {
    let real = |path: &Path| path.canonicalize().map_err(|error| Problem::file(path, error));
    match real(path)?.starts_with(real(folder)?) {
        true => Ok(()),
        false => Err(Problem::input(format!(
            "{} leads out of the study's folder, and candor studio reads nothing else. Copy the file into the folder.",
            path.display()
        ))),
    }
}

/// Locks a study's folder for this program, until the file is dropped.
///
/// # Errors
/// Returns an error if another program has it open, or the folder is not writable.
pub fn lock(folder: &Path) -> Result<File, Problem> {
    let own = folder.join(OWN);
    make(&own)?;
    let path = own.join("lock");
    let file = File::options().create(true).append(true).open(&path).map_err(|error| Problem::file(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Problem::new(
            StatusCode::CONFLICT,
            "open-elsewhere",
            "This study is open in another candor studio. Close that one, or go on there: two programs would undo \
             each other's changes.",
        )),
        Err(TryLockError::Error(error)) => Err(Problem::file(&path, error)),
    }
}

/// Returns whether a file of a study is changed by edits.
fn is_edited(name: &str) -> bool {
    ["schema.toml", "study.json"].contains(&name) || (name.starts_with("texts-") && name.ends_with(".toml"))
}

/// Returns the edited files in a folder.
fn edited(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let entries = fs::read_dir(folder).map_err(|error| Problem::file(folder, error))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths.filter(|path| path.file_name().is_some_and(|name| is_edited(&name.to_string_lossy()))).collect())
}

/// Returns the copies for undo, oldest first.
fn copies(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join(OWN).join("undo")).into_iter().flatten();
    let mut all: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.sort();
    all
}

/// Returns the number of changes that can be undone.
pub fn undoable(folder: &Path) -> usize {
    copies(folder).len()
}

/// Copies the edited files, so that the next change can be undone.
///
/// # Errors
/// Returns an error if they cannot be copied.
pub fn remember(folder: &Path) -> Result<(), Problem> {
    let all = copies(folder);
    let number = all.last().and_then(|last| last.file_name()?.to_string_lossy().parse::<u64>().ok()).unwrap_or(0) + 1;
    for old in all.iter().take((all.len() + 1).saturating_sub(MAX_UNDO)) {
        fs::remove_dir_all(old).map_err(|error| Problem::file(old, error))?;
    }
    let copy = folder.join(OWN).join("undo").join(format!("{number:010}"));
    make(&copy)?;
    for path in edited(folder)? {
        let to = copy.join(path.file_name().unwrap_or_default());
        fs::copy(&path, &to).map_err(|error| Problem::file(&to, error))?;
    }
    Ok(())
}

/// Restores the files from before the last change.
///
/// # Errors
/// Returns an error if there is nothing to undo, or files cannot be written.
pub fn undo(folder: &Path) -> Result<(), Problem> {
    let copy = copies(folder).pop().ok_or_else(|| Problem::first("There is nothing to undo."))?;
    let kept: Vec<PathBuf> = edited(&copy)?;
    for path in edited(folder)? {
        if !kept.iter().any(|copy| copy.file_name() == path.file_name()) {
            fs::remove_file(&path).map_err(|error| Problem::file(&path, error))?;
        }
    }
    for path in kept {
        let content = fs::read(&path).map_err(|error| Problem::file(&path, error))?;
        write(&folder.join(path.file_name().unwrap_or_default()), &content)?;
    }
    fs::remove_dir_all(&copy).map_err(|error| Problem::file(&copy, error))
}

/// Deletes the copies for undo, because answers have been drawn.
///
/// # Errors
/// Returns an error if the copies cannot be removed.
pub fn forget(folder: &Path) -> Result<(), Problem> {
    let undo = folder.join(OWN).join("undo");
    match undo.exists() {
        true => fs::remove_dir_all(&undo).map_err(|error| Problem::file(&undo, error)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_puts_back_and_takes_away() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write(&at("schema.toml"), b"one").unwrap();
        write(&at("plan.json"), b"plan").unwrap();
        remember(folder.path()).unwrap();
        write(&at("schema.toml"), b"two").unwrap();
        write(&at("texts-en.toml"), b"new").unwrap();
        assert_eq!(undoable(folder.path()), 1);
        undo(folder.path()).unwrap();
        assert_eq!(read(&at("schema.toml")).unwrap().unwrap(), "one");
        assert_eq!(read(&at("texts-en.toml")).unwrap(), None);
        assert_eq!(read(&at("plan.json")).unwrap().unwrap(), "plan");
        assert!(undo(folder.path()).unwrap_err().text.contains("nothing to undo"));
        for _ in 0..MAX_UNDO + 5 {
            remember(folder.path()).unwrap();
        }
        assert_eq!(undoable(folder.path()), MAX_UNDO);
        forget(folder.path()).unwrap();
        assert_eq!(undoable(folder.path()), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_rejected() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (inside, outside) = (folder.path().join("a.csv"), other.path().join("b.csv"));
        write(&inside, b"a").unwrap();
        write(&outside, b"b").unwrap();
        let link = |name: &str, to: &Path| {
            std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
            folder.path().join(name)
        };
        assert!(check_inside(folder.path(), &inside).is_ok());
        assert!(check_inside(folder.path(), &link("fine", &inside)).is_ok());
        for path in [link("out", &outside), link("up", other.path()).join("b.csv"), folder.path().join("../..")] {
            assert!(check_inside(folder.path(), &path).unwrap_err().text.contains("out of the study"), "{path:?}");
        }
        assert_eq!(check_inside(folder.path(), &folder.path().join("none")).unwrap_err().kind, "file");
    }

    #[test]
    fn second_program_is_kept_out() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock(folder.path()).unwrap();
        assert_eq!(lock(folder.path()).unwrap_err().kind, "open-elsewhere");
        drop(held);
        assert!(lock(folder.path()).is_ok());
    }
}
