//! Input from Arrow record batches, without copying.

use std::collections::VecDeque;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::table::{Columns, Input, Reader, check_header};
use crate::{BATCH_ROWS, TableError};

impl Input {
    /// Creates an input from an Arrow reader.
    ///
    /// # Errors
    /// Returns the errors of [`from_batches`](Input::from_batches).
    pub fn from_record_batches<R>(name: impl Into<String>, reader: R) -> Result<Input, TableError>
    where
        R: RecordBatchReader + Send + 'static,
    {
        Input::from_batches(name, reader.schema(), reader)
    }

    /// Creates an input from record batches with one schema, such as those of an Arrow `RecordBatchReader`.
    ///
    /// The schema's metadata about responses is trusted, as in a Parquet file. Text may be `Utf8`, `LargeUtf8`,
    /// `Utf8View` or a dictionary of these. Batches of more than [`BATCH_ROWS`] rows are split, and none are joined,
    /// because with a seed, answers depend on where batches end.
    ///
    /// # Errors
    /// Returns [`TableError`] if two columns have the same name, or there are too many columns.
    pub fn from_batches<I>(name: impl Into<String>, schema: SchemaRef, batches: I) -> Result<Input, TableError>
    where
        I: IntoIterator<Item = Result<RecordBatch, ArrowError>, IntoIter: Send + 'static>,
    {
        let name = name.into();
        let header: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        check_header(&name, &header)?;
        let metadata = schema.metadata().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let reader = Box::new(Stream { name: name.clone(), schema, batches: batches.into_iter() });
        Ok(Input { name, header, rows: None, metadata, reader, missing: Default::default() })
    }
}

struct Stream<I> {
    name: String,
    schema: SchemaRef,
    batches: I,
}

impl<I> Reader for Stream<I>
where
    I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
{
    fn read(self: Box<Self>, positions: &[usize]) -> Result<Columns, TableError> {
        let positions = positions.to_vec();
        Ok(Box::new(Cut { stream: *self, positions, number: 0, over: false, ready: VecDeque::new() }))
    }
}

/// Batches of a stream, split to size.
struct Cut<I> {
    stream: Stream<I>,
    positions: Vec<usize>,
    /// Number of batches taken from the stream.
    number: u64,
    over: bool,
    ready: VecDeque<RecordBatch>,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>>> Iterator for Cut<I> {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.over {
            let Some(batch) = self.stream.batches.next() else {
                self.over = true;
                break;
            };
            self.number += 1;
            match batch.map_err(|error| error.to_string()).and_then(|batch| self.project(&batch)) {
                Ok(batch) => {
                    let pieces = (0..batch.num_rows()).step_by(BATCH_ROWS);
                    let piece = |start: usize| batch.slice(start, BATCH_ROWS.min(batch.num_rows() - start));
                    self.ready.extend(pieces.map(piece));
                }
                Err(message) => {
                    self.over = true;
                    return Some(Err(TableError::Batch {
                        file: self.stream.name.clone(),
                        batch: self.number,
                        message,
                    }));
                }
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

impl<I> Cut<I> {
    /// Returns the requested columns, if the batch has the columns of the schema.
    fn project(&self, batch: &RecordBatch) -> Result<RecordBatch, String> {
        let (schema, found) = (&self.stream.schema, batch.schema_ref());
        if found.fields().len() != schema.fields().len() {
            return Err(format!("{} columns, but the schema has {}", found.fields().len(), schema.fields().len()));
        }
        for (found, expected) in found.fields().iter().zip(schema.fields()) {
            if found.name() != expected.name() || found.data_type() != expected.data_type() {
                return Err(format!(
                    "a column \"{}\" of {}, where the schema has \"{}\" of {}",
                    found.name(),
                    found.data_type(),
                    expected.name(),
                    expected.data_type()
                ));
            }
        }
        batch.project(&self.positions).map_err(|error| error.to_string())
    }
}
