//! Locations of input files.

use std::fs::File;
use std::path::{Path, PathBuf};

use bytes::Bytes;

/// Path of standard input.
const STDIN: &str = "/dev/stdin";

/// Location of an input: a file or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

/// Source of the bytes of a file that needs random access.
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "nothing else is read so"))]
pub(super) enum Source {
    File(File),
    Memory(Bytes),
}

impl Location {
    /// Creates a location from a path; `-` is standard input.
    pub fn new(path: &str) -> Location {
        if path == "-" { Location::Stdin } else { Location::File(path.into()) }
    }

    /// Returns the name for messages.
    pub fn name(&self) -> String {
        match self {
            Location::File(path) => path.display().to_string(),
            Location::Stdin => "standard input".to_owned(),
        }
    }

    /// Returns the canonical path, which is the same for all names of a file.
    pub(super) fn canonical(&self) -> PathBuf {
        let path = match self {
            Location::File(path) => path,
            Location::Stdin => Path::new(STDIN),
        };
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    }
}

/// See [`Location::new`].
impl<T: AsRef<str> + ?Sized> From<&T> for Location {
    fn from(path: &T) -> Location {
        Location::new(path.as_ref())
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Location {
        Location::File(path)
    }
}
