//! An open input and its rows in batches, for any format.

use std::sync::Arc;

use arrow_array::RecordBatch;
use candor_base::schema::nearest;

use crate::TableError;
use crate::cross::{Crossing, Parts, row_of};
use crate::limits::{Excess, MAX_COLUMNS};
use crate::missing::Missing;

/// An open input: its header is known, and its rows are not read yet.
pub struct Input {
    pub(super) name: String,
    pub(super) header: Vec<String>,
    pub(super) rows: Option<u64>,
    pub(super) metadata: Vec<(String, String)>,
    pub(super) reader: Box<dyn Reader>,
    pub(super) missing: Missing,
}

/// A reader of rows in some format.
pub(super) trait Reader: Send {
    /// Returns the columns at these positions, in nonempty batches of at most [`BATCH_ROWS`](crate::BATCH_ROWS)
    /// rows.
    fn read(self: Box<Self>, positions: &[usize]) -> Result<Columns, TableError>;
}

/// Batches of columns, which end after the first error.
pub(super) type Columns = Box<dyn Iterator<Item = Result<RecordBatch, TableError>> + Send>;

impl Input {
    /// Returns the name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Returns the number of rows, if it is known in advance.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Returns a value from the metadata of a Parquet file or an Arrow schema.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// Sets the codes of missing values.
    pub fn with_missing(self, missing: Missing) -> Input {
        Input { missing, ..self }
    }

    /// Returns the codes of missing values.
    pub fn missing(&self) -> &Missing {
        &self.missing
    }

    /// Returns the position of a column.
    ///
    /// # Errors
    /// Returns [`TableError::MissingColumn`], with the most similar name, if there is no such column.
    pub fn position(&self, column: &str) -> Result<usize, TableError> {
        self.header.iter().position(|name| name == column).ok_or_else(|| TableError::MissingColumn {
            file: self.name.clone(),
            column: column.to_owned(),
            nearest: nearest(column, self.header.iter().map(String::as_str)).map(str::to_owned),
        })
    }

    /// Reads attributes and other columns, in batches.
    ///
    /// An attribute `a*b` without a column is made from the columns `a` and `b`. Other columns follow, and are
    /// read as they are.
    /// See [`Input::batches`].
    ///
    /// # Errors
    /// Returns [`TableError`] if a column, or one of an attribute's parts, is missing.
    pub fn batches_with_crosses(self, attributes: &[String], others: &[String]) -> Result<Batches, TableError> {
        let crossing = Crossing::new(&self.header, attributes, others);
        let mut batches = self.batches(&crossing.read)?;
        batches.crossing = Some(crossing).filter(|crossing| !crossing.is_plain());
        Ok(batches)
    }

    /// Reads the given columns, in this order, in batches of at most [`BATCH_ROWS`](crate::BATCH_ROWS) rows.
    ///
    /// # Errors
    /// Returns [`TableError`] if a column is missing.
    pub fn batches(self, columns: &[String]) -> Result<Batches, TableError> {
        let positions = columns.iter().map(|column| self.position(column)).collect::<Result<Vec<usize>, _>>()?;
        let (columns, missing) = (self.reader.read(&positions)?, Arc::new(self.missing));
        Ok(Batches { name: self.name, row: 0, columns, missing, crossing: None })
    }
}

/// The rows of an input in batches, which end after the first error.
pub struct Batches {
    name: String,
    row: u64,
    columns: Columns,
    missing: Arc<Missing>,
    /// How the requested columns are made, if they differ from those read.
    crossing: Option<Crossing>,
}

/// Some rows of an input.
pub struct Batch {
    /// Name of the input.
    pub file: String,
    /// Number of rows before this batch.
    pub before: u64,
    /// Requested columns.
    pub columns: RecordBatch,
    /// Codes of missing values.
    pub missing: Arc<Missing>,
    /// Parts of the columns that are cross-classifications.
    parts: Parts,
}

impl Batch {
    /// Creates a batch with all rows of an input.
    pub(crate) fn of(file: &str, columns: RecordBatch) -> Batch {
        Batch { file: file.to_owned(), before: 0, columns, missing: Arc::default(), parts: Parts::new() }
    }

    /// Returns the parts of a value in a row; `None` if its column is read as it is.
    pub(crate) fn parts(&self, column: usize, row: usize) -> Option<Vec<&str>> {
        self.parts.get(&column).map(|texts| row_of(texts, row))
    }
}

impl Iterator for Batches {
    type Item = Result<Batch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        let made = self.columns.next()?.and_then(|columns| match &self.crossing {
            Some(crossing) => crossing.make(&columns).map_err(|(column, found)| TableError::Type {
                file: self.name.clone(),
                column,
                found: found.to_string(),
            }),
            None => Ok((columns, Parts::new())),
        });
        Some(made.map(|(columns, parts)| {
            let before = self.row;
            self.row += columns.num_rows() as u64;
            Batch { file: self.name.clone(), before, columns, missing: self.missing.clone(), parts }
        }))
    }
}

/// Rejects headers with too many columns, or with two of the same name.
pub(super) fn check_header(file: &str, header: &[String]) -> Result<(), TableError> {
    if header.len() > MAX_COLUMNS {
        return Err(too_long(file, 0, Excess::Fields));
    }
    let mut sorted: Vec<&String> = header.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(TableError::DuplicateColumn { file: file.to_owned(), column: pair[0].clone() }),
        None => Ok(()),
    }
}

/// Returns the error about a record beyond the limits; row 0 is the header.
pub(super) fn too_long(file: &str, row: u64, excess: Excess) -> TableError {
    let file = file.to_owned();
    match excess {
        Excess::Quote => TableError::UnclosedQuote { file, row },
        excess => TableError::TooLong { file, row, limit: excess.to_string() },
    }
}
