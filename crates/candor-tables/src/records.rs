//! Writing records that are not responses: weighted answers, and synthetic people.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, UInt64Array};
use arrow_schema::{DataType, Field};
use candor::plan::Fingerprint;
use candor::schema::Schema;
use candor_analysis::adjust::DistinctRecords;

use crate::marks::{ADJUSTED_KEY, COUNT, SYNTHETIC_KEY, WEIGHT};
use crate::output::Target;
use crate::responses::{Format, Layout, ResponseWriter};
use crate::{BATCH, TableError};

/// Writes distinct answer records with a column per attribute, [`COUNT`] and [`WEIGHT`], complete or not at all.
///
/// # Errors
/// If the file cannot be written.
pub fn write_weighted(
    target: &Target,
    format: Format,
    schema: &Schema,
    fingerprint: &Fingerprint,
    records: &DistinctRecords,
    weights: &[f64],
) -> Result<(), TableError> {
    let numbers = vec![Field::new(COUNT, DataType::UInt64, false), Field::new(WEIGHT, DataType::Float64, false)];
    let batches = (0..records.len()).step_by(BATCH).map(|start| {
        let range = start..records.len().min(start + BATCH);
        let mut columns = vec![Vec::with_capacity(range.len()); schema.attributes().len()];
        for number in range.clone() {
            columns.iter_mut().zip(records.record(number)).for_each(|(column, &code)| column.push(code));
        }
        let counts: ArrayRef = Arc::new(UInt64Array::from(records.counts()[range.clone()].to_vec()));
        let weights: ArrayRef = Arc::new(Float64Array::from(weights[range].to_vec()));
        (columns, vec![counts, weights])
    });
    write(target, Layout::of_records(schema, numbers, format), (ADJUSTED_KEY, fingerprint), batches)
}

/// Writes synthetic records, one column of codes per attribute, complete or not at all.
///
/// # Errors
/// If the file cannot be written.
pub fn write_synthetic(
    target: &Target,
    format: Format,
    schema: &Schema,
    fingerprint: &Fingerprint,
    columns: &[Vec<u16>],
) -> Result<(), TableError> {
    let records = columns.first().map_or(0, Vec::len);
    let batches = (0..records).step_by(BATCH).map(|start| {
        let range = start..records.min(start + BATCH);
        (columns.iter().map(|column| column[range.clone()].to_vec()).collect(), Vec::new())
    });
    write(target, Layout::of_records(schema, Vec::new(), format), (SYNTHETIC_KEY, fingerprint), batches)
}

/// Writes batches of columns of codes, and of numbers beside them.
fn write(
    target: &Target,
    layout: Layout,
    (key, fingerprint): (&str, &Fingerprint),
    batches: impl Iterator<Item = (Vec<Vec<u16>>, Vec<ArrayRef>)>,
) -> Result<(), TableError> {
    let mut writer = ResponseWriter::new(target, &layout, &[(key, fingerprint.to_string())])?;
    for (columns, numbers) in batches {
        let rows = columns.first().map_or(0, Vec::len);
        writer.write(&layout.encode(&[], &columns, &numbers, rows), target)?;
    }
    writer.finish(target, None)
}
