//! The sidecar file of a CSV file of responses, `NAME.candor.json`, which names their plan.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::TableError;

/// Content of the sidecar file of a CSV file of responses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// Fingerprint of their plan.
    pub fingerprint: String,
    /// Number of responses.
    pub records: u64,
    /// Seed, if the responses are a simulation.
    pub simulation: Option<u64>,
}

/// Content of the sidecar file while it and the responses are being replaced.
pub(crate) const REPLACING: &str = "{\"complete\":false}\n";

/// Maximum length of a sidecar file, in bytes.
const MAX_BYTES: u64 = 1 << 16;

/// State of a sidecar file.
pub(crate) enum Found {
    Nothing,
    /// The responses were being replaced when the program was stopped.
    Replacing,
    Whole(Sidecar),
}

#[derive(Deserialize)]
struct Completeness {
    /// Files without this field are older, and complete.
    #[serde(default = "yes")]
    complete: bool,
}

fn yes() -> bool {
    true
}

#[derive(Serialize)]
struct Written<'a> {
    complete: bool,
    #[serde(flatten)]
    sidecar: &'a Sidecar,
}

impl Sidecar {
    /// Returns the path of the sidecar file of responses at `path`.
    pub fn path(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".candor.json");
        name.into()
    }

    /// Returns the content of the file: one line of JSON.
    pub fn text(&self) -> String {
        serde_json::to_string(&Written { complete: true, sidecar: self }).expect("plain data") + "\n"
    }

    /// Reads a sidecar file.
    pub(crate) fn find(sidecar: &Path) -> Result<Found, TableError> {
        let file = || sidecar.display().to_string();
        let mut text = String::new();
        let read = File::open(sidecar).and_then(|opened| opened.take(MAX_BYTES).read_to_string(&mut text));
        match read {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(TableError::Read { file: file(), error }),
            Ok(_) => {}
        }
        let wrong = |error: serde_json::Error| TableError::Sidecar { file: file(), message: error.to_string() };
        let completeness: Completeness = serde_json::from_str(&text).map_err(wrong)?;
        match completeness.complete {
            false => Ok(Found::Replacing),
            true => serde_json::from_str(&text).map(Found::Whole).map_err(wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sidecars_of_before_are_complete_and_interrupted_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("r.csv.candor.json");
        let sidecar = Sidecar { fingerprint: "sha256:00".to_owned(), records: 7, simulation: None };
        let find = |text: &str| {
            std::fs::write(&place, text).unwrap();
            Sidecar::find(&place)
        };
        assert!(matches!(Sidecar::find(&place), Ok(Found::Nothing)));
        let old = "{\"fingerprint\":\"sha256:00\",\"records\":7,\"simulation\":null}\n";
        assert!(matches!(find(old), Ok(Found::Whole(found)) if found == sidecar));
        let now = "{\"complete\":true,\"fingerprint\":\"sha256:00\",\"records\":7,\"simulation\":null}\n";
        assert_eq!(sidecar.text(), now);
        assert!(matches!(find(now), Ok(Found::Whole(found)) if found == sidecar));
        assert!(matches!(find(REPLACING), Ok(Found::Replacing)));
        for wrong in ["", "{}", "{\"complete\":1}", &now[..40], &" ".repeat(1 << 20)] {
            assert!(matches!(find(wrong), Err(TableError::Sidecar { .. })), "{wrong:?}");
        }
    }
}
