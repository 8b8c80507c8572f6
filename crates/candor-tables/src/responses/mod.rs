//! Tables of responses: what travels with them, how they are written and read (docs/formats.md).

mod read;
mod write;

pub(crate) use read::read_batches;
pub use read::{Decoder, Read, ResponseBatch, ResponseCodes, Responses};
pub(crate) use write::{Encoded, Layout, ResponseWriter};

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::TableError;
use crate::input::{Input, Location};
use crate::limits::read_text;
use crate::output::Target;

/// Key of the plan's fingerprint in a Parquet file's metadata.
pub const FINGERPRINT_KEY: &str = "candor:fingerprint";
/// Key of the seed, if the responses are a simulation.
pub const SIMULATION_KEY: &str = "candor:simulation";

/// What stands beside a CSV file of responses, in `NAME.candor.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// The plan they were made under.
    pub fingerprint: String,
    /// How many they are.
    pub records: u64,
    /// The seed, if they are a simulation.
    pub simulation: Option<u64>,
}

impl Sidecar {
    /// The place of the file beside responses at `path`.
    pub fn path(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".candor.json");
        name.into()
    }

    /// Reads the file beside responses at `path`, if there is one.
    ///
    /// # Errors
    /// If there is one that cannot be understood.
    pub fn read(path: &Path) -> Result<Option<Sidecar>, TableError> {
        let place = Sidecar::path(path);
        let file = place.display().to_string();
        let text = match std::fs::File::open(&place).and_then(read_text) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(TableError::Read { file, error }),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| TableError::Sidecar { file, message: error.to_string() })
    }
}

/// The fingerprint and the seed that travel with a table, if it is one of responses.
///
/// # Errors
/// If a file beside it cannot be understood.
pub fn provenance(location: &Location, input: &Input) -> Result<Option<(String, Option<u64>)>, TableError> {
    if let Some(fingerprint) = input.metadata(FINGERPRINT_KEY) {
        let seed = input.metadata(SIMULATION_KEY).and_then(|seed| seed.parse().ok());
        return Ok(Some((fingerprint.to_owned(), seed)));
    }
    match location {
        Location::File(path) => Ok(Sidecar::read(path)?.map(|sidecar| (sidecar.fingerprint, sidecar.simulation))),
        Location::Stdin => Ok(None),
    }
}

/// The format of a table of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with this delimiter.
    Csv(u8),
    /// Parquet, compressed with zstd.
    Parquet,
}

impl Format {
    /// By the ending of the name: `.parquet` (or `.pq`), `.tsv` with tabs, all else CSV.
    pub fn of(target: &Target) -> Format {
        match () {
            () if target.ends_with(".parquet") || target.ends_with(".pq") => Format::Parquet,
            () if target.ends_with(".tsv") => Format::Csv(b'\t'),
            () => Format::Csv(b','),
        }
    }
}
