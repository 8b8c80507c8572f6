//! The record of draws, `draws.json`: each entry adds to what can be learned about the same people.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::problem::Problem;
use crate::secret::hex;

/// The name of the file.
pub const LEDGER: &str = "draws.json";

/// One draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// Time in seconds since 1970.
    pub time: u64,
    /// SHA-256 of the data file; `None` for a survey.
    pub data_sha256: Option<String>,
    /// The plan's fingerprint.
    pub plan: String,
    /// Its record-level epsilon.
    pub epsilon: Option<f64>,
    /// Number of records.
    pub records: u64,
    /// `file`, `survey` or `cards`.
    pub way: String,
    /// Columns of the data that are kept with the responses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

/// Returns the time in seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Reads the draws of a study; none if there is no file.
///
/// # Errors
/// Returns an error if the file is damaged, because the number of draws is then unknown.
pub fn read(folder: &Path) -> Result<Vec<Draw>, Problem> {
    let path = folder.join(LEDGER);
    match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| {
            Problem::input(format!(
                "{} was changed and cannot be read ({error}). It says how often these people's answers were drawn: \
                 put it back from a copy before you go on.",
                path.display()
            ))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Problem::file(&path, error)),
    }
}

/// Adds a draw.
///
/// # Errors
/// Returns an error if the file cannot be read or written.
pub fn add(folder: &Path, draw: Draw) -> Result<(), Problem> {
    let mut draws = read(folder)?;
    draws.push(draw);
    let text = serde_json::to_string_pretty(&draws).map_err(Problem::input)?;
    super::folder::write(&folder.join(LEDGER), text.as_bytes())
}

/// Returns the SHA-256 of a file in hexadecimal.
///
/// # Errors
/// Returns an error if it cannot be read.
pub fn sha256(path: &Path) -> Result<String, Problem> {
    let failed = |error| Problem::file(path, error);
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match std::io::Read::read(&mut file, &mut buffer).map_err(failed)? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}
