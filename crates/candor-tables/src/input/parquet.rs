//! Input from Parquet files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;

use super::location::Source;
use super::table::{Columns, Input, Reader, check_header};
use crate::guard::guarded;
use crate::limits::claimed_rows;
use crate::types::text_dictionary_type;
use crate::{BATCH_ROWS, TableError};

/// A file whose metadata has been read.
struct Parquet {
    name: String,
    metadata: ArrowReaderMetadata,
    source: Source,
    /// Number of rows.
    rows: u64,
}

/// Reads the metadata of a file.
///
/// # Errors
/// Returns [`TableError`] if it is damaged, claims too many rows, or has no usable header.
pub(super) fn open_parquet(name: String, source: Source) -> Result<Input, TableError> {
    let options = ArrowReaderOptions::default();
    let load = || match &source {
        Source::File(file) => ArrowReaderMetadata::load(file, options),
        Source::Memory(bytes) => ArrowReaderMetadata::load(bytes, options),
    };
    let metadata = guarded(load).ok_or_else(|| damaged(&name))?.map_err(|error| failed(&name, &error))?;
    let length = match &source {
        Source::File(file) => file.metadata().map_err(|error| TableError::Read { file: name.clone(), error })?.len(),
        Source::Memory(bytes) => bytes.len() as u64,
    };
    let rows = claimed_rows(&name, &metadata, length)?;
    let header: Vec<String> = metadata.schema().fields().iter().map(|field| field.name().clone()).collect();
    check_header(&name, &header)?;
    let pairs = metadata.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let pairs = pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect();
    let reader = Box::new(Parquet { name: name.clone(), metadata, source, rows });
    Ok(Input { name, header, rows: Some(rows), metadata: pairs, reader, missing: Default::default() })
}

impl Reader for Parquet {
    fn read(self: Box<Self>, positions: &[usize]) -> Result<Columns, TableError> {
        let Parquet { name, metadata, source, rows } = *self;
        let open = || {
            let metadata = with_dictionaries(&metadata, positions);
            match source {
                Source::File(file) => parquet_batches(file, metadata, positions),
                Source::Memory(bytes) => parquet_batches(bytes, metadata, positions),
            }
        };
        let reader = guarded(open).ok_or_else(|| damaged(&name))?.map_err(|error| failed(&name, &error))?;
        let mut sorted = positions.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let order = positions.iter().map(|p| sorted.binary_search(p).unwrap_or_default()).collect();
        Ok(Box::new(ParquetBatches { name, left: rows, reader, order }))
    }
}

struct ParquetBatches {
    name: String,
    /// Number of rows that remain.
    left: u64,
    reader: ParquetRecordBatchReader,
    /// Position of each requested column among those read.
    order: Vec<usize>,
}

impl Iterator for ParquetBatches {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (reader, order) = (&mut self.reader, &self.order);
        let read = || reader.next().map(|batch| batch.and_then(|batch| batch.project(order)));
        let Some(read) = guarded(read) else { return Some(Err(damaged(&self.name))) };
        Some(read?.map_err(|error| failed(&self.name, &error)).and_then(|batch| {
            // Pages of a damaged file can contain more rows than stated, without end.
            if !batch.columns().iter().all(is_sound) {
                return Err(damaged(&self.name));
            }
            self.left = self.left.checked_sub(batch.num_rows() as u64).ok_or_else(|| damaged(&self.name))?;
            Ok(batch)
        }))
    }
}

fn parquet_batches<T: ChunkReader + 'static>(
    source: T,
    metadata: ArrowReaderMetadata,
    positions: &[usize],
) -> Result<ParquetRecordBatchReader, parquet::errors::ParquetError> {
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata);
    let mask = ProjectionMask::roots(builder.parquet_schema(), positions.iter().copied());
    builder.with_projection(mask).with_batch_size(BATCH_ROWS).build()
}

/// Requests text columns as dictionaries, as Parquet usually stores them, so that each label is looked up once.
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

/// Returns whether an array and its children have the stated types; damaged files can violate this.
fn is_sound(array: &ArrayRef) -> bool {
    let child_is = |child: &ArrayRef, data_type: &DataType| child.data_type() == data_type && is_sound(child);
    match array.data_type() {
        DataType::Dictionary(_, values) => {
            array.as_any_dictionary_opt().is_some_and(|dictionary| child_is(dictionary.values(), values))
        }
        DataType::List(item) => {
            array.as_list_opt::<i32>().is_some_and(|list| child_is(list.values(), item.data_type()))
        }
        DataType::LargeList(item) => {
            array.as_list_opt::<i64>().is_some_and(|list| child_is(list.values(), item.data_type()))
        }
        DataType::Struct(fields) => array.as_struct_opt().is_some_and(|columns| {
            columns.columns().iter().zip(fields).all(|(column, field)| child_is(column, field.data_type()))
        }),
        _ => true,
    }
}

fn damaged(file: &str) -> TableError {
    failed(file, &"the file is damaged")
}

fn failed(file: &str, error: &dyn std::fmt::Display) -> TableError {
    TableError::Parquet { file: file.to_owned(), message: error.to_string() }
}
