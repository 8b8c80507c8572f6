//! Writes a file and its sidecar file atomically, as a pair.
//!
//! At any time, even if the program or the machine stops, there is the old pair, the new pair, or a pair that is
//! marked as being replaced, which readers reject. There is never a file with the sidecar of another. All content is
//! flushed to disk before anything is moved. Then, under the folder's lock, the old sidecar is replaced by a mark
//! ([`REPLACING`]). The file is moved, and then the new sidecar. If the new file has no sidecar, the old one is
//! removed.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::TableError;
use crate::sidecar::{Found, REPLACING, Sidecar};
use crate::temporary_file::{Unfinished, Uninterrupted, folder, sync_folder};

/// Maximum number of links that are followed.
const MAX_LINKS: usize = 40;

/// Maximum time to wait for a locked folder; candor itself holds the lock only briefly.
const WAIT: Duration = Duration::from_secs(60);

/// Follows links, including those to files that do not exist yet.
pub(crate) fn place(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        match place.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => place = folder(&place).join(place.read_link()?),
            _ => return Ok(place),
        }
    }
    Err(io::Error::other("its links lead to no place"))
}

/// A lock on a folder, shared by readers of pairs, or exclusive to a writer. It is released when dropped.
///
/// It has no effect if folders cannot be locked, as on systems other than Unix and on some network drives.
pub(crate) struct FolderLock(#[expect(dead_code, reason = "the lock lasts as long as it is open")] Option<File>);

impl FolderLock {
    /// Locks the folder of `place` for reading a pair.
    pub(crate) fn shared(place: &Path) -> io::Result<FolderLock> {
        FolderLock::wait(place, File::try_lock_shared)
    }

    /// Locks the folder of `place` for replacing a pair.
    pub(crate) fn exclusive(place: &Path) -> io::Result<FolderLock> {
        FolderLock::wait(place, File::try_lock)
    }

    fn wait(place: &Path, lock: impl Fn(&File) -> Result<(), TryLockError>) -> io::Result<FolderLock> {
        let Ok(file) = File::open(folder(place)) else { return Ok(FolderLock(None)) };
        let begun = Instant::now();
        loop {
            match lock(&file) {
                Ok(()) => return Ok(FolderLock(Some(file))),
                Err(TryLockError::Error(_)) => return Ok(FolderLock(None)),
                Err(TryLockError::WouldBlock) if begun.elapsed() > WAIT => {
                    return Err(io::Error::other("another program has kept its folder locked for a minute"));
                }
                Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(5)),
            }
        }
    }
}

/// What to do with an existing file at an output's place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Keeps the file and rejects the output.
    #[default]
    Keep,
    /// Replaces the file.
    Replace,
}

impl Existing {
    /// Replaces existing files if `force` is set, and otherwise keeps them.
    pub fn forced(force: bool) -> Existing {
        if force { Existing::Replace } else { Existing::Keep }
    }
}

/// Returns whether there is a nonempty regular file at a path.
pub(crate) fn is_taken(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0)
}

/// A step of replacing a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Marks the pair as being replaced.
    Announce,
    /// Moves the file.
    Table,
    /// Moves the new sidecar file, or removes the old one.
    Sidecar,
    /// Restores the old sidecar file after a failure.
    Undo,
}

/// Moves a file that is flushed to disk to its `place`, with its sidecar file if there is one.
///
/// # Errors
/// Returns [`TableError`] with the state that a failure leaves.
pub(crate) fn publish(
    table: Unfinished,
    place: &Path,
    sidecar: Option<&Sidecar>,
    existing: Existing,
) -> Result<(), TableError> {
    publish_with(table, place, sidecar, existing, |_| Ok(()))
}

/// Publishes a pair; a test may let any step fail.
fn publish_with(
    mut table: Unfinished,
    place: &Path,
    sidecar: Option<&Sidecar>,
    existing: Existing,
    mut before: impl FnMut(Step) -> io::Result<()>,
) -> Result<(), TableError> {
    let name = || place.display().to_string();
    let untouched = |error| TableError::Write { file: name(), error };
    let _lock = FolderLock::exclusive(place).map_err(untouched)?;
    if existing == Existing::Keep && is_taken(place) {
        return Err(untouched(io::Error::other("another program has written it meanwhile")));
    }
    let Some(mut beside) = SidecarSwap::prepare(place, sidecar)? else {
        let mut held = Uninterrupted::hold();
        return before(Step::Table).and_then(|()| table.put(place, &mut held)).map_err(untouched);
    };
    let mut held = Uninterrupted::hold();
    before(Step::Announce).and_then(|()| beside.replacing.put(&beside.path, &mut held)).map_err(untouched)?;
    if let Err(error) = before(Step::Table).and_then(|()| table.put(place, &mut held)) {
        let undone = before(Step::Undo).and_then(|()| beside.undo(&mut held));
        let sidecar = beside.path.display().to_string();
        return Err(match undone {
            Ok(()) => untouched(error),
            Err(_) => TableError::StillReplacing { file: name(), sidecar, error },
        });
    }
    before(Step::Sidecar).and_then(|()| beside.finish(&mut held)).map_err(|error| TableError::SidecarMissing {
        file: name(),
        sidecar: beside.path.display().to_string(),
        error,
        content: sidecar.map(|sidecar| sidecar.text().trim_end().to_owned()),
    })
}

/// Files for replacing a sidecar file, all flushed to disk.
struct SidecarSwap {
    path: PathBuf,
    replacing: Unfinished,
    new: Option<Unfinished>,
    old: Option<Unfinished>,
}

impl SidecarSwap {
    /// Prepares the files; `None` if there is no sidecar file, before or after.
    fn prepare(place: &Path, sidecar: Option<&Sidecar>) -> Result<Option<SidecarSwap>, TableError> {
        let path = Sidecar::path(place);
        let old = match (Sidecar::find(&path), sidecar) {
            // An unknown file is not a sidecar file, and irrelevant to this output.
            (Err(_) | Ok(Found::Nothing), None) => return Ok(None),
            (Err(error), Some(_)) => return Err(error),
            (Ok(Found::Nothing), Some(_)) => None,
            (Ok(Found::Replacing), _) => Some(REPLACING.to_owned()),
            (Ok(Found::Whole(old)), _) => Some(old.text()),
        };
        let hold = |text: &str| Unfinished::holding(&path, text.as_bytes());
        let prepared = || -> io::Result<(Unfinished, Option<Unfinished>, Option<Unfinished>)> {
            let new = sidecar.map(|sidecar| hold(&sidecar.text())).transpose()?;
            Ok((hold(REPLACING)?, new, old.as_deref().map(hold).transpose()?))
        };
        match prepared() {
            Ok((replacing, new, old)) => Ok(Some(SidecarSwap { path, replacing, new, old })),
            Err(error) => Err(TableError::Write { file: place.display().to_string(), error }),
        }
    }

    /// Moves the new sidecar file to its place, or removes the old one.
    fn finish(&mut self, held: &mut Uninterrupted) -> io::Result<()> {
        put_or_remove(self.new.as_mut(), &self.path, held)
    }

    /// Restores the old sidecar file.
    fn undo(&mut self, held: &mut Uninterrupted) -> io::Result<()> {
        put_or_remove(self.old.as_mut(), &self.path, held)
    }
}

fn put_or_remove(file: Option<&mut Unfinished>, place: &Path, held: &mut Uninterrupted) -> io::Result<()> {
    match file {
        Some(file) => file.put(place, held),
        None => std::fs::remove_file(place).map(|()| sync_folder(place)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "old";
    const NEW: &str = "new";

    /// Returns the content of a file and of its sidecar file.
    fn state(place: &Path) -> (Option<String>, Option<String>) {
        let read = |path: &Path| std::fs::read_to_string(path).ok();
        (read(place), read(&Sidecar::path(place)))
    }

    fn sidecar(of: &str) -> Sidecar {
        Sidecar { fingerprint: of.to_owned(), records: 1, simulation: None }
    }

    /// From every state and for every interruption: the old pair, the new pair, or one that is rejected, and the
    /// error says which.
    #[test]
    fn stopped_anywhere_there_is_one_pair_or_none() {
        let olds =
            [(None, None), (Some(OLD), None), (Some(OLD), Some(sidecar(OLD).text())), (None, Some(REPLACING.into()))];
        let (mut refused, mut tried) = (0, 0);
        for (table, beside) in olds {
            for new in [Some(sidecar(NEW)), None] {
                for stopped in [None, Some(Step::Announce), Some(Step::Table), Some(Step::Sidecar)] {
                    for undone in [true, false] {
                        let folder = tempfile::tempdir().unwrap();
                        let place = folder.path().join("r.csv");
                        table.iter().for_each(|text| std::fs::write(&place, text).unwrap());
                        beside.iter().for_each(|text| std::fs::write(Sidecar::path(&place), text).unwrap());
                        let before = state(&place);
                        let unfinished = Unfinished::holding(&place, NEW.as_bytes()).unwrap();
                        let result = publish_with(unfinished, &place, new.as_ref(), Existing::Replace, |step| {
                            let fails = Some(step) == stopped || (step == Step::Undo && !undone);
                            if fails { Err(io::Error::other("stopped")) } else { Ok(()) }
                        });
                        let after = state(&place);
                        let wanted = (Some(NEW.to_owned()), new.as_ref().map(Sidecar::text));
                        let refuses = after.1.as_deref() == Some(REPLACING);
                        assert!(
                            after == before || after == wanted || refuses,
                            "{after:?} from {before:?}, {stopped:?}"
                        );
                        match result {
                            Ok(()) => assert_eq!(after, wanted),
                            Err(TableError::Write { .. }) => assert_eq!(after, before),
                            Err(TableError::StillReplacing { .. }) => assert!(refuses && after.0 == before.0),
                            Err(TableError::SidecarMissing { .. }) => assert!(refuses && after.0 == wanted.0),
                            Err(other) => panic!("{other}"),
                        }
                        let files = std::fs::read_dir(folder.path()).unwrap().count();
                        assert_eq!(files, usize::from(after.0.is_some()) + usize::from(after.1.is_some()));
                        refused += usize::from(refuses);
                        tried += 1;
                    }
                }
            }
        }
        assert_eq!(tried, 64);
        assert!(refused > 0 && refused < tried / 2, "{refused}");
    }

    #[test]
    fn another_file_beside_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("r.csv");
        std::fs::write(Sidecar::path(&place), "a plan").unwrap();
        let new = || Unfinished::holding(&place, NEW.as_bytes()).unwrap();
        let refused = publish(new(), &place, Some(&sidecar(NEW)), Existing::Replace);
        assert!(matches!(refused, Err(TableError::Sidecar { .. })));
        assert_eq!(state(&place), (None, Some("a plan".to_owned())));
        publish(new(), &place, None, Existing::Keep).unwrap();
        let kept = publish(new(), &place, None, Existing::Keep);
        assert!(matches!(kept, Err(TableError::Write { .. })), "{kept:?}");
        publish(new(), &place, None, Existing::Replace).unwrap();
        assert_eq!(state(&place), (Some(NEW.to_owned()), Some("a plan".to_owned())));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_also_to_nothing() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("far")).unwrap();
        symlink("far/there", at("first")).unwrap();
        symlink("first", at("second")).unwrap();
        symlink("round", at("round")).unwrap();
        assert_eq!(place(&at("second")).unwrap(), at("far/there"));
        assert_eq!(place(&at("plain")).unwrap(), at("plain"));
        assert!(place(&at("round")).is_err());
    }
}
