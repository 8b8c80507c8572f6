//! Opens files and detects their format from the first bytes.

use std::fs::File;
use std::io::{self, BufReader, Read};

use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;

#[cfg(feature = "csv")]
use super::csv::open_csv;
use super::delimiter::sniff;
use super::json_lines::{is_json, open_json_lines};
use super::location::{Location, Source};
#[cfg(feature = "parquet")]
use super::parquet::open_parquet;
use super::table::Input;
use crate::TableError;
use crate::limits::{MAX_STREAMED_PARQUET, Stream, read_bytes};

const GZIP: &[u8] = &[0x1f, 0x8b];
const PARQUET: &[u8] = b"PAR1";

/// Number of bytes read from a file at once.
const BUFFER: usize = 1 << 18;

impl Input {
    /// Opens a file and detects Parquet, gzip, JSON Lines or CSV from its first bytes.
    ///
    /// Unless given, the delimiter of CSV is detected from the header. Parquet from standard input is held in
    /// memory.
    ///
    /// # Errors
    /// Returns [`TableError`] if it cannot be read, is empty, or has no usable header.
    pub fn open(location: &Location, delimiter: Option<u8>) -> Result<Input, TableError> {
        let name = location.name();
        let failed = |error| TableError::Read { file: name.clone(), error };
        match location {
            Location::File(path) => {
                let mut file = File::open(path).map_err(failed)?;
                match starts_with(&mut file, PARQUET).map_err(failed)? {
                    true => open_parquet(name, Source::File(file)),
                    false => Input::from_reader(name, file, delimiter),
                }
            }
            Location::Stdin => Input::from_reader(name, io::stdin(), delimiter),
        }
    }

    /// Opens an input from any reader, as [`Input::open`] does for standard input; `name` is for messages.
    ///
    /// # Errors
    /// Returns the errors of [`Input::open`].
    pub fn from_reader(
        name: impl Into<String>,
        reader: impl Read + Send + 'static,
        delimiter: Option<u8>,
    ) -> Result<Input, TableError> {
        let name = name.into();
        let failed = |error| TableError::Read { file: name.clone(), error };
        let (head, mut reader) = peek(Box::new(reader), |head| head.len() >= PARQUET.len()).map_err(failed)?;
        if head.starts_with(PARQUET) {
            let bytes = read_bytes(reader, MAX_STREAMED_PARQUET).map_err(failed)?;
            return open_parquet(name, Source::Memory(bytes.into()));
        }
        if head.starts_with(GZIP) {
            reader = Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, reader)));
        }
        let line = |head: &[u8]| head.contains(&b'\n') || head.len() >= 1 << 16;
        let (head, reader) = peek(reader, line).map_err(failed)?;
        if is_json(&head) {
            return open_json_lines(name, reader);
        }
        open_csv(name, reader, delimiter.unwrap_or_else(|| sniff(&head)))
    }

    /// Opens an input from the bytes of a file; `name` is for messages.
    ///
    /// # Errors
    /// Returns the errors of [`Input::open`].
    pub fn from_bytes(
        name: impl Into<String>,
        bytes: impl Into<Bytes>,
        delimiter: Option<u8>,
    ) -> Result<Input, TableError> {
        let bytes = bytes.into();
        match bytes.starts_with(PARQUET) {
            true => open_parquet(name.into(), Source::Memory(bytes)),
            false => Input::from_reader(name, io::Cursor::new(bytes), delimiter),
        }
    }
}

#[cfg(not(feature = "csv"))]
fn open_csv(name: String, _: Stream, _: u8) -> Result<Input, TableError> {
    Err(TableError::NotBuilt(name, "CSV"))
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(name: String, _: Source) -> Result<Input, TableError> {
    Err(TableError::NotBuilt(name, "Parquet"))
}

fn starts_with(file: &mut File, magic: &[u8]) -> io::Result<bool> {
    use io::Seek;
    // A pipe cannot be rewound, so it is inspected through the buffer.
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut first = vec![0; magic.len()];
    let found = file.read_exact(&mut first).is_ok() && first == magic;
    file.rewind()?;
    Ok(found)
}

/// Reads the start of a stream until `enough` holds, and returns it with the complete stream.
fn peek(mut reader: Stream, enough: impl Fn(&[u8]) -> bool) -> io::Result<(Vec<u8>, Stream)> {
    let mut head = Vec::new();
    let mut piece = [0u8; 4096];
    while !enough(&head) {
        match reader.read(&mut piece)? {
            0 => break,
            read => head.extend_from_slice(&piece[..read]),
        }
    }
    let whole = Box::new(io::Cursor::new(head.clone()).chain(reader));
    Ok((head, whole))
}
