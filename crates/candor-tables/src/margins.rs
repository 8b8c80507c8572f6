//! Known margins of a population: a table with one row for each category of each attribute.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, StringArray};
use arrow_schema::DataType;

use crate::TableError;
use crate::input::{Batch, Inputs};
use crate::model::column;
use crate::responses::{bad_value, unsupported, written};
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
const COLUMNS: [&str; 3] = ["attribute", "category", "share"];

/// Reads margins from the columns `attribute`, `category` and `share`.
///
/// # Errors
/// If a table cannot be read, a column is missing, or a share is none.
pub fn read_margins(inputs: Inputs) -> Result<Vec<MarginRow>, TableError> {
    let mut rows = Vec::new();
    for table in inputs {
        for batch in table.open()?.batches(&COLUMNS.map(str::to_owned))? {
            rows.extend(rows_of(&batch?)?);
        }
    }
    Ok(rows)
}

fn rows_of(batch: &Batch) -> Result<Vec<MarginRow>, TableError> {
    let [attributes, categories, shares] = COLUMNS.map(|name| column(batch, name));
    let text = |array, name| cast(array, &DataType::Utf8).ok_or_else(|| unsupported(batch, name, array));
    let (attributes, categories) = (text(attributes, COLUMNS[0])?, text(categories, COLUMNS[1])?);
    let numbers = text(shares, COLUMNS[2])?;
    let numbers = cast(&numbers, &DataType::Float64).ok_or_else(|| unsupported(batch, COLUMNS[2], shares))?;
    let numbers = numbers.as_primitive::<Float64Type>();
    let (attributes, categories) = (attributes.as_string::<i32>(), categories.as_string::<i32>());
    let named = |texts: &StringArray, row: usize| if texts.is_null(row) { "" } else { texts.value(row) }.to_owned();
    let one = |(row, share): (usize, Option<f64>)| {
        let share = share.filter(|share| (0.0..=1e15).contains(share)).ok_or_else(|| {
            let bad = bad_value(batch, row, COLUMNS[2], &written(shares, row));
            TableError::Value(bad.not("a share", "it is a share of the population, or a number of people: 0 or more"))
        })?;
        Ok(MarginRow { attribute: named(attributes, row), category: named(categories, row), share })
    };
    numbers.iter().enumerate().map(one).collect()
}
