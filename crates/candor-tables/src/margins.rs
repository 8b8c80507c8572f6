//! Shares of categories, known or expected: a file with one row for each category of each attribute.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_schema::DataType;
pub use candor_analysis::adjust::KnownShare;

use crate::TableError;
use crate::input::{Batch, Inputs};
use crate::model::{column, texts};
use crate::responses::{invalid_value, unsupported, written};
use crate::types::cast;

/// Names of the columns.
pub const MARGIN_COLUMNS: [&str; 3] = ["attribute", "category", "share"];

/// Reads shares from the columns `attribute`, `category` and `share`.
///
/// # Errors
/// Returns [`TableError`] if a file cannot be read, a column is missing, or a share is invalid.
pub fn read_margins(inputs: Inputs) -> Result<Vec<KnownShare>, TableError> {
    let mut rows = Vec::new();
    for table in inputs {
        for batch in table.open()?.batches(&MARGIN_COLUMNS.map(str::to_owned))? {
            rows.extend(margin_rows(&batch?)?);
        }
    }
    Ok(rows)
}

/// Reads shares from a batch with these columns.
///
/// # Errors
/// Returns [`TableError`] if a share is invalid, or a column has an unsupported type.
pub fn margin_rows(batch: &Batch) -> Result<Vec<KnownShare>, TableError> {
    let [attributes, categories, _] = MARGIN_COLUMNS;
    let named = texts(batch, attributes)?.into_iter().zip(texts(batch, categories)?);
    let row = |((attribute, category), share)| KnownShare { attribute, category, share };
    Ok(named.zip(shares(batch)?).map(row).collect())
}

/// Returns the column `share` of a batch: numbers of at least 0.
///
/// # Errors
/// Returns [`TableError`] if a share is invalid, or the column has an unsupported type.
pub fn shares(batch: &Batch) -> Result<Vec<f64>, TableError> {
    let [_, _, name] = MARGIN_COLUMNS;
    let array = column(batch, name);
    let numbers = cast(array, &DataType::Utf8).and_then(|text| cast(&text, &DataType::Float64));
    let numbers = numbers.ok_or_else(|| unsupported(batch, name, array))?;
    let one = |(row, share): (usize, Option<f64>)| {
        share.filter(|share| (0.0..=1e15).contains(share)).ok_or_else(|| {
            let bad = invalid_value(batch, row, name, &written(array, row));
            TableError::InvalidValue(bad.not("a share", "it is a share of the people, or how many they are: 0 or more"))
        })
    };
    numbers.as_primitive::<Float64Type>().iter().enumerate().map(one).collect()
}
