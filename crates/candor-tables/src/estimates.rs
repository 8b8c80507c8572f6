//! Writing estimated tables as Parquet: one row per cell.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;

use crate::TableError;
use crate::output::{Pending, Target};

/// One cell of an estimated table.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimateRow {
    /// The attributes of the table, joined by commas.
    pub table: String,
    /// The group it is for, as `name=category`, joined by commas; empty for everybody.
    pub group: String,
    /// The categories of the cell.
    pub categories: Vec<String>,
    /// The estimated share.
    pub estimate: f64,
    /// Standard error, lower and upper end of the interval.
    pub uncertainty: Option<[f64; 3]>,
}

/// Writes rows, complete or not at all: columns `table`, `group`, `categories` (a list), `estimate`,
/// `standard_error`, `low`, `high`.
///
/// # Errors
/// If the file cannot be written.
pub fn write_estimates(target: &Target, rows: &[EstimateRow]) -> Result<(), TableError> {
    let failed = |message: String| target.failed(std::io::Error::other(message));
    let text =
        |of: fn(&EstimateRow) -> &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(rows.iter().map(of))) };
    let number = |at: usize| -> ArrayRef {
        Arc::new(rows.iter().map(|row| row.uncertainty.map(|u| u[at])).collect::<Float64Array>())
    };
    let mut categories = ListBuilder::new(StringBuilder::new());
    for row in rows {
        row.categories.iter().for_each(|category| categories.values().append_value(category));
        categories.append(true);
    }
    let columns: [(&str, ArrayRef); 7] = [
        ("table", text(|row| &row.table)),
        ("group", text(|row| &row.group)),
        ("categories", Arc::new(categories.finish())),
        ("estimate", Arc::new(rows.iter().map(|row| row.estimate).collect::<Float64Array>())),
        ("standard_error", number(0)),
        ("low", number(1)),
        ("high", number(2)),
    ];
    let batch = RecordBatch::try_from_iter(columns).map_err(|error| failed(error.to_string()))?;
    let mut writer =
        ArrowWriter::try_new(Pending::new(target)?, batch.schema(), None).map_err(|error| failed(error.to_string()))?;
    writer.write(&batch).map_err(|error| failed(error.to_string()))?;
    writer.into_inner().map_err(|error| failed(error.to_string()))?.finish()
}
