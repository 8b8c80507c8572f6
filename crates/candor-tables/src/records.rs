//! Writes records that are not responses: weighted answers, and synthetic records.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field};
use candor_analysis::adjust::DistinctRecords;
use candor_base::plan::Fingerprint;
use candor_base::schema::Schema;
use candor_bulk::Responses;

use crate::existing::check_records;
use crate::metadata_keys::{ADJUSTED_KEY, COUNT, SYNTHETIC_KEY, WEIGHT};
use crate::output::{Existing, Target};
use crate::responses::{Encoded, Format, Layout, ResponseWriter};
use crate::{BATCH_ROWS, TableError};

/// Columns of codes, and additional columns of numbers.
type Part = (Vec<Vec<u16>>, Vec<ArrayRef>);

/// Writes distinct answer records atomically, with a column per attribute, [`COUNT`] and [`WEIGHT`].
///
/// # Errors
/// Returns [`TableError::Occupied`] if the file exists and must not be replaced.
/// Returns another [`TableError`] if it cannot be written.
pub fn write_weighted(
    (target, format, existing): (&Target, Format, Existing),
    schema: &Schema,
    fingerprint: &Fingerprint,
    records: &DistinctRecords,
    weights: &[f64],
) -> Result<(), TableError> {
    let layout = Layout::of_records(schema, weight_fields(), format);
    write((target, existing), layout, (ADJUSTED_KEY, fingerprint), weighted(schema, records, weights))
}

/// Returns distinct answer records as record batches.
///
/// # Errors
/// Currently returns no error: any labels can be encoded.
pub fn weighted_batches(
    schema: &Schema,
    fingerprint: &Fingerprint,
    records: &DistinctRecords,
    weights: &[f64],
) -> Result<Vec<RecordBatch>, TableError> {
    let layout = Layout::of_records(schema, weight_fields(), Format::Parquet);
    batches(&layout, (ADJUSTED_KEY, fingerprint), weighted(schema, records, weights))
}

/// Writes synthetic records atomically, with one column of codes per attribute.
///
/// # Errors
/// Returns [`TableError::Occupied`] if the file exists and must not be replaced.
/// Returns another [`TableError`] if it cannot be written.
pub fn write_synthetic(
    (target, format, existing): (&Target, Format, Existing),
    schema: &Schema,
    fingerprint: &Fingerprint,
    columns: &[Vec<u16>],
) -> Result<(), TableError> {
    let layout = Layout::of_records(schema, Vec::new(), format);
    write((target, existing), layout, (SYNTHETIC_KEY, fingerprint), synthetic(columns))
}

/// Returns synthetic records as record batches.
///
/// # Errors
/// Currently returns no error: any labels can be encoded.
pub fn synthetic_batches(
    schema: &Schema,
    fingerprint: &Fingerprint,
    columns: &[Vec<u16>],
) -> Result<Vec<RecordBatch>, TableError> {
    let layout = Layout::of_records(schema, Vec::new(), Format::Parquet);
    batches(&layout, (SYNTHETIC_KEY, fingerprint), synthetic(columns))
}

fn weight_fields() -> Vec<Field> {
    vec![Field::new(COUNT, DataType::UInt64, false), Field::new(WEIGHT, DataType::Float64, false)]
}

fn weighted<'a>(
    schema: &'a Schema,
    records: &'a DistinctRecords,
    weights: &'a [f64],
) -> impl Iterator<Item = Part> + 'a {
    (0..records.len()).step_by(BATCH_ROWS).map(move |start| {
        let range = start..records.len().min(start + BATCH_ROWS);
        let mut columns = vec![Vec::with_capacity(range.len()); schema.attributes().len()];
        for number in range.clone() {
            columns.iter_mut().zip(records.record(number)).for_each(|(column, &code)| column.push(code));
        }
        let counts: ArrayRef = Arc::new(UInt64Array::from(records.counts()[range.clone()].to_vec()));
        let weights: ArrayRef = Arc::new(Float64Array::from(weights[range].to_vec()));
        (columns, vec![counts, weights])
    })
}

fn synthetic(columns: &[Vec<u16>]) -> impl Iterator<Item = Part> + '_ {
    let records = columns.first().map_or(0, Vec::len);
    (0..records).step_by(BATCH_ROWS).map(move |start| {
        let range = start..records.min(start + BATCH_ROWS);
        (columns.iter().map(|column| column[range.clone()].to_vec()).collect(), Vec::new())
    })
}

/// Returns record batches whose schema identifies their content.
fn batches(
    layout: &Layout,
    (key, fingerprint): (&str, &Fingerprint),
    parts: impl Iterator<Item = Part>,
) -> Result<Vec<RecordBatch>, TableError> {
    let schema = Arc::new(layout.schema().with_metadata([(key.to_owned(), fingerprint.to_string())].into()));
    let batch = |(columns, numbers): Part| {
        let rows = columns.first().map_or(0, Vec::len);
        let encoded = layout.encode(&Responses { blocks: Vec::new(), public: columns }, &numbers, rows);
        let Encoded::Batch(batch) = encoded.map_err(|unwritable| unwritable.after("the records", 0))? else {
            unreachable!("the layout is one of batches")
        };
        Ok(batch.with_schema(schema.clone()).expect("the same columns"))
    };
    parts.map(batch).collect()
}

/// Writes batches of columns of codes and numbers.
fn write(
    (target, existing): (&Target, Existing),
    layout: Layout,
    (key, fingerprint): (&str, &Fingerprint),
    parts: impl Iterator<Item = Part>,
) -> Result<(), TableError> {
    check_records(target, existing)?;
    let mut writer = ResponseWriter::new(target, &layout, &[(key, fingerprint.to_string())], false)?;
    for (columns, numbers) in parts {
        let rows = columns.first().map_or(0, Vec::len);
        let encoded = layout.encode(&Responses { blocks: Vec::new(), public: columns }, &numbers, rows);
        writer.write(&encoded.map_err(|unwritable| unwritable.after(&target.name(), 0))?, target)?;
    }
    writer.finish(target, None, existing)
}
