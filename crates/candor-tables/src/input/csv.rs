//! Input from CSV files.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};

use super::delimiter::sniff;
use super::table::{Columns, Input, Reader, check_header, too_long};
use crate::limits::{Excess, MAX_RECORD_BYTES, MAX_TEXT_BYTES, RecordLimiter, Stream, excess, read_bytes};
use crate::{BATCH_ROWS, TableError};
use candor_runtime::escape_control::visible;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Number of bytes given to the parser at once.
const BUFFER: usize = 1 << 18;

/// Number of bytes at which a batch ends early, because several are in memory at once.
const MAX_BATCH_BYTES: usize = 1 << 25;

/// Number of lines after which a record is assumed to lack a closing quote.
const MAX_LINES: u64 = 1000;

/// A file whose header has been read.
struct Csv {
    name: String,
    reader: Box<csv::Reader<Stream>>,
    /// Whether the text read so far ends inside quotes.
    unclosed: Arc<AtomicBool>,
    header: Vec<String>,
}

/// Reads the header of a file.
///
/// # Errors
/// Returns [`TableError`] if there is no usable header.
pub(super) fn open_csv(name: String, reader: Stream, delimiter: u8) -> Result<Input, TableError> {
    let (watch, unclosed) = RecordLimiter::new(reader, delimiter);
    let reader: Stream = Box::new(watch);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).buffer_capacity(BUFFER).from_reader(reader);
    let fields = reader.byte_headers().map_err(|error| csv_error(&name, &[], 0, error))?.clone();
    let mut header = Vec::with_capacity(fields.len());
    for (i, field) in fields.iter().enumerate() {
        let text = std::str::from_utf8(field).map_err(|_| {
            let shown = String::from_utf8_lossy(field);
            TableError::utf8(&name, format!("header, column {} (\"{}\")", i + 1, visible(&shown)), field)
        })?;
        header.push(text.strip_prefix(BYTE_ORDER_MARK).filter(|_| i == 0).unwrap_or(text).to_owned());
    }
    if header.is_empty() {
        return Err(TableError::Empty { file: name });
    }
    check_header(&name, &header)?;
    let csv = Csv { name: name.clone(), reader: Box::new(reader), unclosed, header: header.clone() };
    Ok(Input { name, header, rows: None, metadata: Vec::new(), reader: Box::new(csv), missing: Default::default() })
}

impl Reader for Csv {
    fn read(self: Box<Self>, positions: &[usize]) -> Result<Columns, TableError> {
        let field = |&position: &usize| Field::new(&self.header[position], DataType::Utf8, true);
        let fields: Vec<Field> = positions.iter().map(field).collect();
        Ok(Box::new(CsvBatches {
            csv: *self,
            schema: Arc::new(ArrowSchema::new(fields)),
            positions: positions.to_vec(),
            record: csv::ByteRecord::new(),
            row: 0,
        }))
    }
}

struct CsvBatches {
    csv: Csv,
    schema: Arc<ArrowSchema>,
    positions: Vec<usize>,
    record: csv::ByteRecord,
    row: u64,
}

impl Iterator for CsvBatches {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

impl CsvBatches {
    fn batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let mut columns: Vec<StringBuilder> = self.positions.iter().map(|_| StringBuilder::new()).collect();
        let (mut rows, mut bytes) = (0, 0);
        while rows < BATCH_ROWS && bytes < MAX_BATCH_BYTES {
            let read = self.csv.reader.read_byte_record(&mut self.record);
            if !read.map_err(|error| csv_error(&self.csv.name, &self.csv.header, self.row + 1, error))? {
                // The reader accepts the end of the file as a closing quote, which may hide rows.
                if self.csv.unclosed.load(Ordering::Relaxed) {
                    return Err(TableError::UnclosedQuote { file: self.csv.name.clone(), row: self.row });
                }
                break;
            }
            self.row += 1;
            rows += 1;
            bytes += self.record.as_slice().len();
            self.check_lines()?;
            for (column, &position) in columns.iter_mut().zip(&self.positions) {
                let field = &self.record[position];
                match std::str::from_utf8(field) {
                    Ok("") => column.append_null(),
                    Ok(text) => column.append_value(text),
                    Err(_) => {
                        let place = format!("row {}, column \"{}\"", self.row, self.csv.header[position]);
                        return Err(TableError::utf8(&self.csv.name, place, field));
                    }
                }
            }
        }
        if rows == 0 {
            return Ok(None);
        }
        let arrays: Vec<ArrayRef> =
            columns.into_iter().map(|mut column| Arc::new(column.finish()) as ArrayRef).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options);
        Ok(Some(batch.expect("columns of the same length")))
    }

    /// Detects unclosed quotes, which would hide the following rows, and empty lines.
    ///
    /// The reader skips empty lines, but in a file with one column they are missing values.
    fn check_lines(&self) -> Result<(), TableError> {
        let begun = self.record.position().map_or(0, csv::Position::line);
        if self.record.as_slice().len() > MAX_RECORD_BYTES {
            return Err(too_long(&self.csv.name, self.row, Excess::Bytes(MAX_RECORD_BYTES)));
        }
        if self.csv.reader.position().line() - begun > MAX_LINES {
            return Err(TableError::UnclosedQuote { file: self.csv.name.clone(), row: self.row });
        }
        if self.csv.header.len() > 1 {
            return Ok(());
        }
        let inside = self.record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64;
        if self.csv.reader.position().line() - begun > 1 + inside {
            return Err(TableError::EmptyLine { file: self.csv.name.clone(), row: self.row });
        }
        Ok(())
    }
}

fn csv_error(file: &str, header: &[String], row: u64, error: csv::Error) -> TableError {
    let file = file.to_owned();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => match excess(&error) {
            Some(excess) => too_long(&file, row, excess),
            None => TableError::Read { file, error },
        },
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            TableError::Ragged { file, row, found: len, expected: expected_len.max(header.len() as u64) }
        }
        other => TableError::Read { file, error: io::Error::other(format!("{other:?}")) },
    }
}

/// Returns the fields of a small CSV file without a header, such as a matrix.
///
/// # Errors
/// Returns [`TableError`] if it cannot be read or is not UTF-8.
pub fn cells(path: &Path) -> Result<Vec<Vec<String>>, TableError> {
    let file = path.display().to_string();
    let failed = |error| TableError::Read { file: file.clone(), error };
    let bytes = read_bytes(File::open(path).map_err(failed)?, MAX_TEXT_BYTES).map_err(failed)?;
    let mut lines = bytes.split(|&byte| byte == b'\n').zip(1..);
    if let Some((line, number)) = lines.find(|(line, _)| std::str::from_utf8(line).is_err()) {
        return Err(TableError::utf8(&file, format!("line {number}"), line));
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .delimiter(sniff(text.as_bytes()))
        .from_reader(text.as_bytes());
    let row = |record: Result<csv::StringRecord, csv::Error>| {
        record.map(|record| record.iter().map(str::to_owned).collect()).map_err(|error| csv_error(&file, &[], 0, error))
    };
    reader.records().map(row).collect()
}
