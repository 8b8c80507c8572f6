//! Shares of categories, known of a population or anticipated: a table with one row for each category of each
//! attribute.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_schema::DataType;

use crate::TableError;
use crate::input::{Batch, Inputs};
use crate::model::{column, texts};
use crate::responses::{invalid_value, unsupported, written};
use crate::types::cast;

/// How many of a population have a category, or which share of it.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginRow {
    /// The attribute's name.
    pub attribute: String,
    /// The category's label.
    pub category: String,
    /// A number of people, or a share; 0 or more.
    pub share: f64,
}

/// The columns of such a table.
pub const MARGIN_COLUMNS: [&str; 3] = ["attribute", "category", "share"];

/// Reads margins from the columns `attribute`, `category` and `share`.
///
/// # Errors
/// If a table cannot be read, a column is missing, or a share is none.
pub fn read_margins(inputs: Inputs) -> Result<Vec<MarginRow>, TableError> {
    let mut rows = Vec::new();
    for table in inputs {
        for batch in table.open()?.batches(&MARGIN_COLUMNS.map(str::to_owned))? {
            rows.extend(margin_rows(&batch?)?);
        }
    }
    Ok(rows)
}

/// The same from a batch with these columns, row by row.
///
/// # Errors
/// If a share is none, or a column is of another type.
pub fn margin_rows(batch: &Batch) -> Result<Vec<MarginRow>, TableError> {
    let [attributes, categories, _] = MARGIN_COLUMNS;
    let named = texts(batch, attributes)?.into_iter().zip(texts(batch, categories)?);
    let row = |((attribute, category), share)| MarginRow { attribute, category, share };
    Ok(named.zip(shares(batch)?).map(row).collect())
}

/// The column `share` of a batch that has it: numbers, 0 or more.
///
/// # Errors
/// If one is none, or the column is of another type.
pub fn shares(batch: &Batch) -> Result<Vec<f64>, TableError> {
    let [_, _, name] = MARGIN_COLUMNS;
    let array = column(batch, name);
    let numbers = cast(array, &DataType::Utf8).and_then(|text| cast(&text, &DataType::Float64));
    let numbers = numbers.ok_or_else(|| unsupported(batch, name, array))?;
    let one = |(row, share): (usize, Option<f64>)| {
        share.filter(|share| (0.0..=1e15).contains(share)).ok_or_else(|| {
            let bad = invalid_value(batch, row, name, &written(array, row));
            TableError::Value(bad.not("a share", "it is a share of the people, or how many they are: 0 or more"))
        })
    };
    numbers.as_primitive::<Float64Type>().iter().enumerate().map(one).collect()
}
