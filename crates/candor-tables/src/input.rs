//! Reading tables: CSV and Parquet behind one iterator of batches.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use bytes::Bytes;
use candor::plan::CROSS;
use candor::schema::nearest;
use flate2::bufread::MultiGzDecoder;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;

use crate::types::{cast, text_dictionary_type};
use crate::{BATCH, TableError};

const GZIP: &[u8] = &[0x1f, 0x8b];
const PARQUET: &[u8] = b"PAR1";
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Bytes read from a file at once.
const BUFFER: usize = 1 << 18;

/// A batch ends early once its text is this long: columns of text hold at most 2 GiB.
const MAX_BATCH_BYTES: usize = 1 << 28;

/// A record that is longer than this, or runs over more lines, has lost a closing quote.
const MAX_RECORD_BYTES: usize = 1 << 26;
const MAX_LINES: u64 = 1000;

/// Where a table is: a file, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
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
}

/// An opened table: its header is known, its rows are not read yet.
pub struct Input {
    name: String,
    header: Vec<String>,
    rows: Option<u64>,
    metadata: Vec<(String, String)>,
    kind: Kind,
}

enum Kind {
    Csv { reader: Box<csv::Reader<Box<dyn Read + Send>>>, unclosed: Arc<AtomicBool> },
    Parquet { metadata: ArrowReaderMetadata, source: ParquetSource },
}

enum ParquetSource {
    File(File),
    Memory(Bytes),
}

impl Input {
    /// Opens a table. Whether it is Parquet, gzip or plain CSV is read off its first bytes; the
    /// delimiter of a CSV file, unless given, off its header. Parquet from standard input is held
    /// in memory.
    ///
    /// # Errors
    /// If it cannot be read, is empty, or its header is not usable.
    pub fn open(location: &Location, delimiter: Option<u8>) -> Result<Input, TableError> {
        let name = location.name();
        let failed = |error| TableError::Read { file: name.clone(), error };
        let mut reader: Box<dyn Read + Send> = match location {
            Location::File(path) => {
                let mut file = File::open(path).map_err(failed)?;
                if starts_with(&mut file, PARQUET).map_err(failed)? {
                    return Input::parquet(name, ParquetSource::File(file));
                }
                Box::new(file)
            }
            Location::Stdin => Box::new(io::stdin()),
        };
        let (mut head, rest) = peek(reader, |head| head.len() >= PARQUET.len()).map_err(failed)?;
        reader = rest;
        if head.starts_with(PARQUET) {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).map_err(failed)?;
            return Input::parquet(name, ParquetSource::Memory(bytes.into()));
        }
        if head.starts_with(GZIP) {
            reader = Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, reader)));
        }
        let line = |head: &[u8]| head.contains(&b'\n') || head.len() >= 1 << 16;
        (head, reader) = peek(reader, line).map_err(failed)?;
        Input::csv(name, reader, delimiter.unwrap_or_else(|| sniff(&head)))
    }

    fn csv(name: String, reader: Box<dyn Read + Send>, delimiter: u8) -> Result<Input, TableError> {
        let unclosed = Arc::new(AtomicBool::new(false));
        let reader: Box<dyn Read + Send> = Box::new(QuoteWatch { reader, unclosed: Arc::clone(&unclosed) });
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).buffer_capacity(BUFFER).from_reader(reader);
        let fields = reader.byte_headers().map_err(|error| csv_error(&name, &[], 0, error))?.clone();
        let mut header = Vec::with_capacity(fields.len());
        for (i, field) in fields.iter().enumerate() {
            let text = std::str::from_utf8(field).map_err(|_| TableError::Utf8 {
                file: name.clone(),
                row: 0,
                column: format!("number {}", i + 1),
            })?;
            header.push(text.strip_prefix(BYTE_ORDER_MARK).filter(|_| i == 0).unwrap_or(text).to_owned());
        }
        if header.is_empty() {
            return Err(TableError::Empty { file: name });
        }
        check_header(&name, &header)?;
        Ok(Input {
            name,
            header,
            rows: None,
            metadata: Vec::new(),
            kind: Kind::Csv { reader: Box::new(reader), unclosed },
        })
    }

    fn parquet(name: String, source: ParquetSource) -> Result<Input, TableError> {
        let failed = |error: parquet::errors::ParquetError| parquet_error(&name, error);
        let options = ArrowReaderOptions::default();
        let load = || match &source {
            ParquetSource::File(file) => ArrowReaderMetadata::load(file, options),
            ParquetSource::Memory(bytes) => ArrowReaderMetadata::load(bytes, options),
        };
        let metadata = guarded(load).ok_or_else(|| parquet_message(&name, DAMAGED.to_owned()))?.map_err(failed)?;
        let header: Vec<String> = metadata.schema().fields().iter().map(|field| field.name().clone()).collect();
        check_header(&name, &header)?;
        let file = metadata.metadata().file_metadata();
        let pairs = file.key_value_metadata().into_iter().flatten();
        let pairs = pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect();
        let rows = u64::try_from(file.num_rows()).ok();
        Ok(Input { name, header, rows, metadata: pairs, kind: Kind::Parquet { metadata, source } })
    }

    /// The name to use in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// How many rows there are, where that is known beforehand.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// A value of the file's key-value metadata (Parquet only).
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// The position of a column.
    ///
    /// # Errors
    /// If there is none of that name; names the nearest.
    pub fn position(&self, column: &str) -> Result<usize, TableError> {
        self.header.iter().position(|name| name == column).ok_or_else(|| TableError::MissingColumn {
            file: self.name.clone(),
            column: column.to_owned(),
            nearest: nearest(column, self.header.iter().map(String::as_str)).map(str::to_owned),
        })
    }

    /// As [`Input::batches`], but a column `a*b` that is not there is made of the columns `a` and `b`: the values of a
    /// cross-classification.
    ///
    /// # Errors
    /// If a column, or one of its parts, is missing.
    pub fn batches_with_crosses(self, columns: &[String]) -> Result<Batches, TableError> {
        let mut read: Vec<String> = Vec::new();
        let mut made = Vec::with_capacity(columns.len());
        for column in columns {
            let crossed = !self.header.contains(column) && column.contains(CROSS);
            let parts: Vec<&str> = if crossed { column.split(CROSS).collect() } else { vec![column] };
            let places = parts.into_iter().map(|part| {
                let place = read.iter().position(|name| name == part);
                place.unwrap_or_else(|| {
                    read.push(part.to_owned());
                    read.len() - 1
                })
            });
            made.push((column.clone(), places.collect::<Vec<usize>>()));
        }
        let crosses = made.iter().any(|(_, places)| places.len() > 1);
        let mut batches = self.batches(&read)?;
        batches.made = crosses.then_some(made);
        Ok(batches)
    }

    /// The rows of the given columns, in that order, in batches of [`BATCH`].
    ///
    /// # Errors
    /// If a column is missing.
    pub fn batches(self, columns: &[String]) -> Result<Batches, TableError> {
        let positions = columns.iter().map(|column| self.position(column)).collect::<Result<Vec<usize>, _>>()?;
        let reader = match self.kind {
            Kind::Csv { reader, unclosed } => {
                let fields: Vec<Field> = columns.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
                BatchReader::Csv(CsvBatches {
                    reader,
                    unclosed,
                    header: self.header.clone(),
                    schema: Arc::new(ArrowSchema::new(fields)),
                    positions,
                    record: csv::ByteRecord::new(),
                    row: 0,
                })
            }
            Kind::Parquet { metadata, source } => {
                let failed = |error| parquet_error(&self.name, error);
                let open = || {
                    let metadata = with_dictionaries(&metadata, &positions);
                    match source {
                        ParquetSource::File(file) => parquet_batches(file, metadata, &positions),
                        ParquetSource::Memory(bytes) => parquet_batches(bytes, metadata, &positions),
                    }
                };
                let damaged = || parquet_message(&self.name, DAMAGED.to_owned());
                let reader = guarded(open).ok_or_else(damaged)?.map_err(failed)?;
                let mut sorted = positions.clone();
                sorted.sort_unstable();
                sorted.dedup();
                let order = positions.iter().map(|p| sorted.binary_search(p).unwrap_or_default()).collect();
                BatchReader::Parquet { reader, order }
            }
        };
        Ok(Batches { name: self.name, row: 0, reader, made: None })
    }
}

/// The rows of a table in batches; the first batch that fails ends the iteration.
pub struct Batches {
    name: String,
    row: u64,
    reader: BatchReader,
    /// Where some columns are cross-classifications: each column's name, and which of those read it is made of.
    made: Option<Vec<(String, Vec<usize>)>>,
}

/// Some rows of a table.
pub struct Batch {
    /// The file's name.
    pub file: String,
    /// How many rows of the file came before.
    pub before: u64,
    /// The columns asked for.
    pub columns: RecordBatch,
}

enum BatchReader {
    Csv(CsvBatches),
    Parquet {
        reader: ParquetRecordBatchReader,
        /// Where each column asked for stands in what is read.
        order: Vec<usize>,
    },
}

struct CsvBatches {
    reader: Box<csv::Reader<Box<dyn Read + Send>>>,
    /// Whether what was read so far ends inside quotes.
    unclosed: Arc<AtomicBool>,
    header: Vec<String>,
    schema: Arc<ArrowSchema>,
    positions: Vec<usize>,
    record: csv::ByteRecord,
    row: u64,
}

impl Iterator for Batches {
    type Item = Result<Batch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        let columns = match &mut self.reader {
            BatchReader::Csv(csv) => csv.next(&self.name).transpose()?,
            BatchReader::Parquet { reader, order } => {
                let read = || reader.next().map(|batch| batch.and_then(|batch| batch.project(order)));
                match guarded(read) {
                    Some(batch) => batch?.map_err(|error| parquet_message(&self.name, error.to_string())),
                    None => Err(parquet_message(&self.name, DAMAGED.to_owned())),
                }
            }
        };
        let columns = columns.and_then(|columns| match &self.made {
            Some(made) => crossed(&columns, made).ok_or_else(|| TableError::Type {
                file: self.name.clone(),
                column: made
                    .iter()
                    .filter(|(_, p)| p.len() > 1)
                    .map(|(name, _)| name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
                found: "a type that cannot be a label".to_owned(),
            }),
            None => Ok(columns),
        });
        Some(columns.map(|columns| {
            let before = self.row;
            self.row += columns.num_rows() as u64;
            Batch { file: self.name.clone(), before, columns }
        }))
    }
}

/// The columns as asked for: as read, or the texts of several joined. `None` if one cannot be text.
fn crossed(read: &RecordBatch, made: &[(String, Vec<usize>)]) -> Option<RecordBatch> {
    let mut fields = Vec::with_capacity(made.len());
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(made.len());
    for (name, places) in made {
        if let [place] = places[..] {
            fields.push(read.schema().field(place).clone());
            columns.push(read.column(place).clone());
            continue;
        }
        let parts: Vec<ArrayRef> =
            places.iter().map(|&place| cast(read.column(place), &DataType::Utf8)).collect::<Option<_>>()?;
        let mut builder = StringBuilder::new();
        for row in 0..read.num_rows() {
            let value = |part: &ArrayRef| {
                let text = part.as_string::<i32>();
                if text.is_null(row) { "" } else { text.value(row) }.to_owned()
            };
            builder.append_value(parts.iter().map(value).collect::<Vec<String>>().join(&CROSS.to_string()));
        }
        fields.push(Field::new(name, DataType::Utf8, true));
        columns.push(Arc::new(builder.finish()));
    }
    RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), columns).ok()
}

impl CsvBatches {
    fn next(&mut self, file: &str) -> Result<Option<RecordBatch>, TableError> {
        let mut columns: Vec<StringBuilder> = self.positions.iter().map(|_| StringBuilder::new()).collect();
        let (mut rows, mut bytes) = (0, 0);
        while rows < BATCH && bytes < MAX_BATCH_BYTES {
            let read = self.reader.read_byte_record(&mut self.record);
            if !read.map_err(|error| csv_error(file, &self.header, self.row + 1, error))? {
                // The reader takes the end of the file for a closing quote: rows may be inside.
                if self.unclosed.load(Ordering::Relaxed) {
                    return Err(TableError::UnclosedQuote { file: file.to_owned(), row: self.row });
                }
                break;
            }
            self.row += 1;
            rows += 1;
            bytes += self.record.as_slice().len();
            self.check_lines(file)?;
            for (column, &position) in columns.iter_mut().zip(&self.positions) {
                let field = &self.record[position];
                match std::str::from_utf8(field) {
                    Ok("") => column.append_null(),
                    Ok(text) => column.append_value(text),
                    Err(_) => {
                        let column = self.header[position].clone();
                        return Err(TableError::Utf8 { file: file.to_owned(), row: self.row, column });
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

    /// A quote that is not closed swallows the rows after it; and the reader passes over empty lines,
    /// which in a table of one column are missing values.
    fn check_lines(&self, file: &str) -> Result<(), TableError> {
        let begun = self.record.position().map_or(0, csv::Position::line);
        if self.reader.position().line() - begun > MAX_LINES || self.record.as_slice().len() > MAX_RECORD_BYTES {
            return Err(TableError::UnclosedQuote { file: file.to_owned(), row: self.row });
        }
        if self.header.len() > 1 {
            return Ok(());
        }
        let inside = self.record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64;
        if self.reader.position().line() - begun > 1 + inside {
            return Err(TableError::EmptyLine { file: file.to_owned(), row: self.row });
        }
        Ok(())
    }
}

fn parquet_batches<T: ChunkReader + 'static>(
    source: T,
    metadata: ArrowReaderMetadata,
    positions: &[usize],
) -> Result<ParquetRecordBatchReader, parquet::errors::ParquetError> {
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata);
    let mask = ProjectionMask::roots(builder.parquet_schema(), positions.iter().copied());
    builder.with_projection(mask).with_batch_size(BATCH).build()
}

/// Asks for text columns as dictionaries, which is how Parquet usually stores them: then each
/// label is looked up once, not once per row.
fn with_dictionaries(metadata: &ArrowReaderMetadata, positions: &[usize]) -> ArrowReaderMetadata {
    let is_text = |data_type: &DataType| match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, value) => **value == DataType::Utf8,
        _ => false,
    };
    let field = |(i, field): (usize, &Arc<Field>)| {
        let wanted = match field.data_type() {
            text if is_text(text) => text_dictionary_type(),
            DataType::List(item) if is_text(item.data_type()) => {
                DataType::List(Arc::new(item.as_ref().clone().with_data_type(text_dictionary_type())))
            }
            other => other.clone(),
        };
        let field = field.as_ref().clone();
        if positions.contains(&i) { field.with_data_type(wanted) } else { field }
    };
    let fields: Vec<Field> = metadata.schema().fields().iter().enumerate().map(field).collect();
    let schema = Arc::new(ArrowSchema::new(fields));
    let options = ArrowReaderOptions::default().with_schema(schema);
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).unwrap_or_else(|_| metadata.clone())
}

fn starts_with(file: &mut File, magic: &[u8]) -> io::Result<bool> {
    use io::Seek;
    // A pipe cannot be rewound; it is then looked at through the buffer.
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut first = vec![0; magic.len()];
    let found = file.read_exact(&mut first).is_ok() && first == magic;
    file.rewind()?;
    Ok(found)
}

/// A stream of bytes that can be read on another thread.
type Stream = Box<dyn Read + Send>;

/// What a stream begins with, up to where `enough` holds or it ends, and the stream from its beginning.
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

/// Notes whether the bytes that went through end inside quotes: in a well-formed table quotes come in
/// pairs, doubled ones too.
struct QuoteWatch {
    reader: Stream,
    unclosed: Arc<AtomicBool>,
}

impl Read for QuoteWatch {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        if buffer[..read].iter().filter(|&&byte| byte == b'"').count() % 2 == 1 {
            self.unclosed.fetch_xor(true, Ordering::Relaxed);
        }
        Ok(read)
    }
}

thread_local! {
    /// Whether this thread is inside [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread will be caught and told as an error; for a panic hook.
pub fn panic_is_guarded() -> bool {
    GUARDED.get()
}

/// Runs a reader of Parquet, which panics on some damaged files; `None` if it did.
fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    GUARDED.set(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    GUARDED.set(false);
    result.ok()
}

const DAMAGED: &str = "the file is damaged";

/// The delimiter that occurs most often in the first line, outside quotes.
fn sniff(start: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [0usize; 4];
    const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
    for &byte in start {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            _ if !quoted => {
                if let Some(i) = CANDIDATES.iter().position(|&c| c == byte) {
                    counts[i] += 1;
                }
            }
            _ => {}
        }
    }
    // The first of the most frequent, so that a comma wins ties.
    let best = (0..CANDIDATES.len()).rev().max_by_key(|&i| counts[i]).unwrap_or(0);
    CANDIDATES[best]
}

fn check_header(file: &str, header: &[String]) -> Result<(), TableError> {
    let mut sorted: Vec<&String> = header.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(TableError::DuplicateColumn { file: file.to_owned(), column: pair[0].clone() }),
        None => Ok(()),
    }
}

fn csv_error(file: &str, header: &[String], row: u64, error: csv::Error) -> TableError {
    let file = file.to_owned();
    match error.into_kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            TableError::Ragged { file, row, found: len, expected: expected_len.max(header.len() as u64) }
        }
        csv::ErrorKind::Io(error) => TableError::Read { file, error },
        other => TableError::Read { file, error: io::Error::other(format!("{other:?}")) },
    }
}

fn parquet_error(file: &str, error: parquet::errors::ParquetError) -> TableError {
    parquet_message(file, error.to_string())
}

fn parquet_message(file: &str, message: String) -> TableError {
    TableError::Parquet { file: file.to_owned(), message }
}

/// The fields of a small CSV file without a header, such as a matrix.
///
/// # Errors
/// If it cannot be read or is not UTF-8.
pub fn cells(path: &Path) -> Result<Vec<Vec<String>>, TableError> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| TableError::Read { file: file.clone(), error })?;
    let text = std::str::from_utf8(&bytes).map_err(|_| TableError::Utf8 {
        file: file.clone(),
        row: 0,
        column: "any".into(),
    })?;
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_sniffed_outside_quotes() {
        assert_eq!(sniff(b"a,b;c,d\n1;2;3;4"), b',');
        assert_eq!(sniff(b"a;b;c\n"), b';');
        assert_eq!(sniff(b"\"a,b,c,d\"\te\n"), b'\t');
        assert_eq!(sniff(b"a|b"), b'|');
        assert_eq!(sniff(b"alone\n"), b',');
        assert_eq!(sniff(b""), b',');
    }
}
