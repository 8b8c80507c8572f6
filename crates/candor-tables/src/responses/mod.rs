//! Files of responses: their metadata, writing and reading (docs/reference/formats.md).

mod as_text;
mod beside;
mod cells;
mod decode;
mod read;
mod json;
mod write;
mod copy;

pub(crate) use as_text::check as check_kept;
pub(crate) use beside::{Columns, matches};
pub(crate) use cells::CellLabels;
pub use copy::copy_to;
pub(crate) use copy::taken_apart;
pub(crate) use decode::{A_TAG, NOT_AN_ANSWER, invalid_value, tags_are, unsupported, weights_of, written};
pub use decode::{Decoder, ResponseBatch};
pub use json::{ResponseReader, one_response, response_line};
pub use read::{ReadSummary, Responses};
pub(crate) use read::{read_batches, read_batches_beside};
pub(crate) use write::{Encoded, Layout, ResponseWriter};

pub use crate::metadata_keys::{FINGERPRINT_KEY, SIMULATION_KEY};

use std::path::Path;

use serde_json::Value;

use crate::TableError;
use crate::error::shown;
use crate::input::{Input, Location, Table};
use crate::metadata_keys::PANDAS_KEY;
use crate::output::Target;
use crate::publish::{FolderLock, place};
use crate::sidecar::{Found, Sidecar};

/// Metadata of responses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Fingerprint of their plan.
    pub fingerprint: String,
    /// Seed, if the responses are a simulation.
    pub simulation: Option<u64>,
    /// Number of responses written, and the file that states it.
    pub records: Option<(u64, String)>,
}

/// Opens an input and, if it contains responses, their metadata.
///
/// Both belong together, even if another program is replacing them.
///
/// # Errors
/// Returns [`TableError`] if the input cannot be opened, or its sidecar file is invalid or marked as being
/// replaced.
pub fn open(table: Table) -> Result<(Input, Option<Provenance>), TableError> {
    let path = match table.location() {
        // Nobody replaces a pipe, and opening one may block.
        Some(Location::File(path)) if path.is_file() => Some(path.clone()),
        _ => None,
    };
    let failed = |error| TableError::Read { file: table.name(), error };
    let real = path.as_deref().map(place).transpose().map_err(failed)?;
    let lock = real.as_deref().map(FolderLock::shared).transpose().map_err(failed)?;
    let name = table.name();
    let input = table.open()?;
    let marks = Marks::of(&input);
    if let Some(fingerprint) = marks.get(FINGERPRINT_KEY) {
        let seed = |text: &str| {
            let message = format!("\"{SIMULATION_KEY}\" is not a seed: {}", shown(text));
            text.parse::<u64>().map_err(|_| TableError::Sidecar { file: name.clone(), message })
        };
        let simulation = marks.get(SIMULATION_KEY).as_deref().map(seed).transpose()?;
        let provenance = Provenance { fingerprint, simulation, records: None };
        return Ok((input, Some(provenance)));
    }
    let beside = real.iter().chain(&path).find_map(|path| beside(path).transpose()).transpose()?;
    drop(lock);
    Ok((input, beside))
}

/// Metadata of a file: its own, or the attributes of a data frame that pandas wrote.
struct Marks<'a> {
    input: &'a Input,
    pandas: Option<Value>,
}

impl Marks<'_> {
    fn of(input: &Input) -> Marks<'_> {
        let pandas = input.metadata(PANDAS_KEY).and_then(|text| serde_json::from_str(text).ok());
        Marks { input, pandas }
    }

    fn get(&self, key: &str) -> Option<String> {
        let attribute = || match self.pandas.as_ref()?.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        self.input.metadata(key).map(str::to_owned).or_else(attribute)
    }
}

/// Returns the metadata in a sidecar file.
fn beside(path: &Path) -> Result<Option<Provenance>, TableError> {
    let sidecar = Sidecar::path(path);
    let name = sidecar.display().to_string();
    match Sidecar::find(&sidecar)? {
        Found::Nothing => Ok(None),
        Found::Replacing => Err(TableError::Replacing { file: path.display().to_string(), sidecar: name }),
        Found::Whole(Sidecar { fingerprint, records, simulation }) => {
            Ok(Some(Provenance { fingerprint, simulation, records: Some((records, name)) }))
        }
    }
}

/// Format of a file of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text.
    Csv {
        /// Field delimiter.
        delimiter: u8,
        /// Whether to escape cells that could be formulas ([`safe_cell`](crate::spreadsheet::safe_cell)).
        safe_cells: bool,
    },
    /// Parquet, compressed with zstd.
    Parquet,
}

impl Format {
    /// Chooses the format by file extension: `.parquet` or `.pq`, `.tsv` with tabs, and CSV for all others.
    pub fn for_target(target: &Target) -> Format {
        match () {
            () if target.ends_with(".parquet") || target.ends_with(".pq") => Format::Parquet,
            () if target.ends_with(".tsv") => Format::csv(b'\t'),
            () => Format::csv(b','),
        }
    }

    /// Returns text with this delimiter, without escaping of formulas.
    pub fn csv(delimiter: u8) -> Format {
        Format::Csv { delimiter, safe_cells: false }
    }

    /// Enables escaping of formulas; `None` if the format is not text.
    pub fn with_safe_cells(self) -> Option<Format> {
        match self {
            Format::Csv { delimiter, .. } => Some(Format::Csv { delimiter, safe_cells: true }),
            Format::Parquet => None,
        }
    }
}
