//! An opened table and its rows in batches, whatever its format.

use std::sync::Arc;

use arrow_array::RecordBatch;
use candor_base::schema::nearest;

use crate::TableError;
use crate::cross::{Crossing, Parts, row_of};
use crate::limits::{Excess, MAX_COLUMNS};
use crate::missing::Missing;

/// An opened table: its header is known, its rows are not read yet.
pub struct Input {
    pub(super) name: String,
    pub(super) header: Vec<String>,
    pub(super) rows: Option<u64>,
    pub(super) metadata: Vec<(String, String)>,
    pub(super) reader: Box<dyn Reader>,
    pub(super) missing: Missing,
}

/// Reads the rows of a table in some format.
pub(super) trait Reader: Send {
    /// The columns at these positions, in batches of at most [`BATCH_ROWS`](crate::BATCH_ROWS) rows, none of them
    /// empty.
    fn read(self: Box<Self>, positions: &[usize]) -> Result<Columns, TableError>;
}

/// Batches of columns; the first that fails ends them.
pub(super) type Columns = Box<dyn Iterator<Item = Result<RecordBatch, TableError>> + Send>;

impl Input {
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

    /// A value of the table's metadata: of a Parquet file, or of an Arrow schema.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// The same table, in which these words stand for what is missing.
    pub fn with_missing(self, missing: Missing) -> Input {
        Input { missing, ..self }
    }

    /// The words that stand for what is missing.
    pub fn missing(&self) -> &Missing {
        &self.missing
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

    /// As [`Input::batches`], but an attribute `a*b` that is no column is made of the columns `a` and `b`: the values
    /// of a cross-classification. Other columns follow, and are never made of anything.
    ///
    /// # Errors
    /// If a column, or one of an attribute's parts, is missing.
    pub fn batches_with_crosses(self, attributes: &[String], others: &[String]) -> Result<Batches, TableError> {
        let crossing = Crossing::new(&self.header, attributes, others);
        let mut batches = self.batches(&crossing.read)?;
        batches.crossing = Some(crossing).filter(|crossing| !crossing.is_plain());
        Ok(batches)
    }

    /// The rows of the given columns, in that order, in batches of at most [`BATCH_ROWS`](crate::BATCH_ROWS).
    ///
    /// # Errors
    /// If a column is missing.
    pub fn batches(self, columns: &[String]) -> Result<Batches, TableError> {
        let positions = columns.iter().map(|column| self.position(column)).collect::<Result<Vec<usize>, _>>()?;
        let (columns, missing) = (self.reader.read(&positions)?, Arc::new(self.missing));
        Ok(Batches { name: self.name, row: 0, columns, missing, crossing: None })
    }
}

/// The rows of a table in batches; the first batch that fails ends the iteration.
pub struct Batches {
    name: String,
    row: u64,
    columns: Columns,
    missing: Arc<Missing>,
    /// Where the columns asked for are not those read.
    crossing: Option<Crossing>,
}

/// Some rows of a table.
pub struct Batch {
    /// The table's name.
    pub file: String,
    /// How many rows of the table came before.
    pub before: u64,
    /// The columns asked for.
    pub columns: RecordBatch,
    /// The words that stand for what is missing.
    pub missing: Arc<Missing>,
    /// What those are made of that are cross-classifications.
    parts: Parts,
}

impl Batch {
    /// All rows of a table of this name.
    pub(crate) fn of(file: &str, columns: RecordBatch) -> Batch {
        Batch { file: file.to_owned(), before: 0, columns, missing: Arc::default(), parts: Parts::new() }
    }

    /// What stands in a row in the parts that a column is made of; `None` if it is read as it is.
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

/// Refuses headers with too many columns, or with two of one name.
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

/// A record beyond the limits; row 0 is the header.
pub(super) fn too_long(file: &str, row: u64, excess: Excess) -> TableError {
    let file = file.to_owned();
    match excess {
        Excess::Quote => TableError::UnclosedQuote { file, row },
        excess => TableError::TooLong { file, row, limit: excess.to_string() },
    }
}
