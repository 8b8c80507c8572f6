//! Limits on the memory that a file can take (docs/reference/limits.md).
//!
//! They apply while a file is read, and not only afterwards.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "parquet")]
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use crate::TableError;

/// Maximum length of a record of a CSV file, in bytes.
pub const MAX_RECORD_BYTES: usize = 1 << 26;

/// Maximum length of the header of a CSV file, in bytes.
pub const MAX_HEADER_BYTES: usize = 1 << 22;

/// Maximum number of columns of a file.
pub const MAX_COLUMNS: usize = 1 << 16;

/// Maximum length of a text that is read completely, such as a plan, a schema or a matrix, in bytes.
pub const MAX_TEXT_BYTES: u64 = 1 << 26;

/// Maximum length of a line of a stream of records, in bytes.
pub const MAX_LINE_BYTES: u64 = 1 << 22;

/// Maximum length of a Parquet file from standard input, which is held in memory, in bytes.
pub const MAX_STREAMED_PARQUET: u64 = 1 << 30;

/// Maximum number of rows per byte of a Parquet file, beyond [`MAX_FREE_ROWS`].
///
/// Columns that repeat one value take almost no space, but each of their pages takes some.
pub const MAX_ROWS_PER_BYTE: u64 = 1 << 13;

/// Number of rows that a Parquet file of any length may claim.
pub const MAX_FREE_ROWS: u64 = 1 << 20;

/// A stream of bytes that can be read on another thread.
pub(crate) type Stream = Box<dyn Read + Send>;

/// A reader that passes on a CSV file while its records are within the limits.
///
/// It also records whether the text so far ends inside quotes: in a well-formed file, quotes come in pairs.
pub(crate) struct RecordLimiter {
    reader: Stream,
    delimiter: u8,
    unclosed: Arc<AtomicBool>,
    /// Length of the incomplete record.
    bytes: usize,
    fields: usize,
    header: bool,
}

/// Reason why a file exceeds the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Excess {
    #[error("longer than {0} bytes")]
    Bytes(usize),
    #[error("more than {MAX_COLUMNS} fields")]
    Fields,
    #[error("a quote that is not closed")]
    Quote,
}

impl RecordLimiter {
    /// Creates a limiter, and the flag for whether the text read so far ends inside quotes.
    pub(crate) fn new(reader: Stream, delimiter: u8) -> (RecordLimiter, Arc<AtomicBool>) {
        let unclosed = Arc::new(AtomicBool::new(false));
        let watch =
            RecordLimiter { reader, delimiter, unclosed: Arc::clone(&unclosed), bytes: 0, fields: 0, header: true };
        (watch, unclosed)
    }

    /// Returns the end of the last complete record in `piece`, if any, and whether `piece` ends inside quotes.
    fn last_end(&self, piece: &[u8]) -> (Option<usize>, bool) {
        let mut quoted = self.unclosed.load(Ordering::Relaxed);
        if !quoted && !piece.contains(&b'"') {
            return (piece.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map(|at| at + 1), false);
        }
        let mut last = None;
        for (at, &byte) in piece.iter().enumerate() {
            match byte {
                b'"' => quoted = !quoted,
                b'\n' | b'\r' if !quoted => last = Some(at + 1),
                _ => {}
            }
        }
        (last, quoted)
    }

    fn check(&mut self, piece: &[u8]) -> Result<(), Excess> {
        let (end, quoted) = self.last_end(piece);
        self.unclosed.store(quoted, Ordering::Relaxed);
        let limit = if self.header { MAX_HEADER_BYTES } else { MAX_RECORD_BYTES };
        if let Some(end) = end {
            (self.bytes, self.fields, self.header) = (0, 0, false);
            self.add(&piece[end..]);
        } else {
            self.add(piece);
        }
        match self.bytes > limit || self.fields > MAX_COLUMNS {
            false => Ok(()),
            true if quoted => Err(Excess::Quote),
            true if self.bytes > limit => Err(Excess::Bytes(limit)),
            true => Err(Excess::Fields),
        }
    }

    fn add(&mut self, piece: &[u8]) {
        self.bytes += piece.len();
        self.fields += piece.iter().filter(|&&byte| byte == self.delimiter).count();
    }
}

impl Read for RecordLimiter {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.check(&buffer[..read]).map_err(io::Error::other)?;
        Ok(read)
    }
}

/// Returns the exceeded limit behind a reader's error, if any.
pub(crate) fn excess(error: &io::Error) -> Option<Excess> {
    error.get_ref()?.downcast_ref::<Excess>().copied()
}

/// Returns the number of rows that a Parquet file claims, unless its length cannot contain as many.
///
/// # Errors
/// Returns [`TableError::RowsClaimed`] with this number and the largest plausible one.
#[cfg(feature = "parquet")]
pub(crate) fn claimed_rows(file: &str, metadata: &ArrowReaderMetadata, length: u64) -> Result<u64, TableError> {
    let groups = metadata.metadata().row_groups().iter().map(|group| group.num_rows().unsigned_abs());
    let claimed =
        metadata.metadata().file_metadata().num_rows().unsigned_abs().max({ groups }.fold(0, u64::saturating_add));
    let most = MAX_FREE_ROWS.saturating_add(length.saturating_mul(MAX_ROWS_PER_BYTE));
    match claimed > most {
        true => Err(TableError::RowsClaimed { file: file.to_owned(), claimed, most }),
        false => Ok(claimed),
    }
}

/// Reads a complete text of up to [`MAX_TEXT_BYTES`].
///
/// # Errors
/// Returns an error if it cannot be read, is not UTF-8, or is longer.
pub fn read_text(reader: impl Read) -> io::Result<String> {
    let bytes = read_bytes(reader, MAX_TEXT_BYTES)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not valid UTF-8"))
}

/// Returns the lines of a text, each of at most [`MAX_LINE_BYTES`]; it ends after the first error.
pub fn lines(mut reader: impl BufRead) -> impl Iterator<Item = io::Result<String>> {
    let mut failed = false;
    std::iter::from_fn(move || {
        if failed {
            return None;
        }
        let mut line = Vec::new();
        let read = (&mut reader).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line);
        let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidData, message);
        let line = match read {
            Ok(0) => return None,
            Ok(_) if line.len() as u64 > MAX_LINE_BYTES => Err(invalid(format!("longer than {MAX_LINE_BYTES} bytes"))),
            Ok(_) => String::from_utf8(line).map_err(|_| invalid("not valid UTF-8".to_owned())),
            Err(error) => Err(error),
        };
        failed = line.is_err();
        Some(line)
    })
}

/// Reads all bytes, up to a limit.
pub(crate) fn read_bytes(reader: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, format!("longer than {} MiB", limit >> 20))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length at which an endless file is rejected, and the reason.
    fn let_through(table: impl Iterator<Item = u8> + Send + 'static, piece: usize) -> (usize, Option<Excess>) {
        struct Endless<I>(I);
        impl<I: Iterator<Item = u8>> Read for Endless<I> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                Ok(buffer.iter_mut().zip(&mut self.0).map(|(place, byte)| *place = byte).count())
            }
        }
        let mut watch = RecordLimiter::new(Box::new(Endless(table)), b',').0;
        let (mut buffer, mut through) = (vec![0; piece], 0);
        loop {
            match watch.read(&mut buffer) {
                Ok(0) => return (through, None),
                Ok(read) => through += read,
                Err(error) => return (through, excess(&error)),
            }
        }
    }

    #[test]
    fn nothing_beyond_the_limits_goes_through() {
        let letters = || std::iter::repeat(b'x');
        let (through, why) = let_through(letters(), 4096);
        assert_eq!((through, why), (MAX_HEADER_BYTES, Some(Excess::Bytes(MAX_HEADER_BYTES))));
        let (through, why) = let_through(b"a,b\n".iter().copied().chain(letters()), 1 << 20);
        assert_eq!(why, Some(Excess::Bytes(MAX_RECORD_BYTES)));
        assert!(through.abs_diff(MAX_RECORD_BYTES) <= 1 << 20);
        let (through, why) = let_through(b"a,b\n1,\"".iter().copied().chain(std::iter::repeat(b'\n')), 1 << 20);
        assert_eq!(why, Some(Excess::Quote));
        assert!(through.abs_diff(MAX_RECORD_BYTES) <= 1 << 20);
        let (through, why) = let_through(std::iter::repeat(b','), 1000);
        assert_eq!(why, Some(Excess::Fields));
        assert!(through.abs_diff(MAX_COLUMNS) <= 1000);
    }

    #[test]
    fn records_within_the_limits_go_through_whatever_the_pieces() {
        let record: Vec<u8> = [&b"1,\"two\nlines \"\" \",3\n"[..], &[b'x'; 500], b"\n"].concat();
        let table: Vec<u8> = record.iter().copied().cycle().take(record.len() * 20_000).collect();
        assert!(table.len() > MAX_HEADER_BYTES);
        let old: Vec<u8> = table.iter().map(|&byte| if byte == b'\n' { b'\r' } else { byte }).collect();
        assert_eq!(let_through(old.into_iter(), 4096), (table.len(), None));
        for piece in [1, 7, 4096, 1 << 18] {
            assert_eq!(let_through(table.clone().into_iter(), piece), (table.len(), None), "{piece}");
        }
    }

    #[test]
    fn lines_are_read_up_to_a_limit() {
        let read = |text: &[u8]| lines(text).map(|line| line.map_err(|e| e.to_string())).collect::<Vec<_>>();
        assert_eq!(read(b"a\n\nb"), [Ok("a\n".into()), Ok("\n".into()), Ok("b".into())]);
        let mut endless = lines(io::BufReader::new(io::repeat(b'x')));
        assert!(endless.next().is_some_and(|line| line.is_err_and(|e| e.to_string().contains("longer than 4194304"))));
        assert!(endless.next().is_none());
        assert_eq!(read(b"\xff\nb"), [Err("not valid UTF-8".into())]);
    }

    #[test]
    fn texts_are_read_up_to_a_limit() {
        assert_eq!(read_bytes(&b"abc"[..], 3).unwrap(), b"abc");
        assert!(read_bytes(io::repeat(b'x'), 1000).is_err());
        assert_eq!(read_text(&b"\xff"[..]).unwrap_err().to_string(), "not valid UTF-8");
    }
}
