//! Where tables are.

use std::fs::File;
use std::path::{Path, PathBuf};

use bytes::Bytes;

/// What standard input is called among files.
const STDIN: &str = "/dev/stdin";

/// Where a table is: a file, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

/// Where the bytes of a table are that is not read in one go.
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "nothing else is read so"))]
pub(super) enum Source {
    File(File),
    Memory(Bytes),
}

impl Location {
    /// A path, with `-` for standard input.
    pub fn new(path: &str) -> Location {
        if path == "-" { Location::Stdin } else { Location::File(path.into()) }
    }

    /// The name to use in messages.
    pub fn name(&self) -> String {
        match self {
            Location::File(path) => path.display().to_string(),
            Location::Stdin => "standard input".to_owned(),
        }
    }

    /// The path that is the same for all names of a file, as far as the system tells.
    pub(super) fn canonical(&self) -> PathBuf {
        let path = match self {
            Location::File(path) => path,
            Location::Stdin => Path::new(STDIN),
        };
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    }
}

/// As [`Location::new`].
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
