//! Temporary files, which become outputs when they are complete.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

/// All unfinished files of this process, which are removed if it is interrupted.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// While it exists, an interruption waits.
pub(crate) struct Uninterrupted(MutexGuard<'static, Vec<PathBuf>>);

impl Uninterrupted {
    pub(crate) fn hold() -> Uninterrupted {
        Uninterrupted(UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Removes all unfinished files; for a signal handler, just before the process exits.
///
/// It waits for files that are being moved. Afterwards, no file can be started or moved.
pub fn abandon_unfinished() {
    let held = Uninterrupted::hold();
    for path in held.0.iter() {
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(held);
}

/// A temporary file, which is removed when dropped unless it was moved.
pub(crate) struct Unfinished {
    path: Option<TempPath>,
}

impl Unfinished {
    /// Creates a temporary file in the folder of `place`.
    pub(crate) fn beside(place: &Path) -> io::Result<(File, Unfinished)> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".candor-").suffix(".unfinished");
        #[cfg(unix)]
        {
            // The usual permissions restricted by the user's mask, and not those of a temporary file.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut held = Uninterrupted::hold();
        let (file, path) = builder.tempfile_in(folder(place))?.into_parts();
        held.0.push(path.to_path_buf());
        Ok((file, Unfinished { path: Some(path) }))
    }

    /// Creates a temporary file with this content, flushed to disk.
    pub(crate) fn holding(place: &Path, content: &[u8]) -> io::Result<Unfinished> {
        let (mut file, unfinished) = Unfinished::beside(place)?;
        file.write_all(content)?;
        file.sync_all()?;
        Ok(unfinished)
    }

    /// Moves the file to its place, atomically.
    pub(crate) fn put(&mut self, place: &Path, held: &mut Uninterrupted) -> io::Result<()> {
        let Some(path) = self.path.take() else { return Ok(()) };
        let before = path.to_path_buf();
        match path.persist(place) {
            Ok(()) => {
                held.0.retain(|path| *path != before);
                sync_folder(place);
                Ok(())
            }
            Err(failed) => {
                self.path = Some(failed.path);
                Err(failed.error)
            }
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let Some(path) = self.path.take() else { return };
        let mut held = Uninterrupted::hold();
        held.0.retain(|other| *other != *path);
        drop(path);
    }
}

/// Returns the folder of a path.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Flushes a folder to disk, if the system supports it (fsync).
pub(crate) fn sync_folder(place: &Path) {
    if let Ok(folder) = File::open(folder(place)) {
        let _ = folder.sync_all();
    }
}
