//! From the values of a column to category codes.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_schema::DataType;
use candor::schema::Attribute;

use crate::TableError;
use crate::error::BadValue;
use crate::input::Batch;
use crate::types::{cast, is_categorical, text_dictionary};

/// Gives the code of every row; rows that do not fit are reported to `bad` and get code 0.
///
/// # Errors
/// If the column's type holds no categories.
pub fn codes(
    batch: &Batch,
    column: usize,
    attribute: &Attribute,
    mut bad: impl FnMut(BadValue),
) -> Result<Vec<u16>, TableError> {
    let array = batch.columns.column(column);
    let mut report = |row: usize, value: &str| {
        bad(BadValue {
            file: batch.file.clone(),
            row: batch.before + row as u64 + 1,
            column: attribute.name().to_owned(),
            value: value.to_owned(),
            hint: hint(attribute, value),
        });
    };
    let unsupported = || TableError::Type {
        file: batch.file.clone(),
        column: attribute.name().to_owned(),
        found: array.data_type().to_string(),
    };
    let missing = attribute.code_of_value("");
    let mut coded = Vec::with_capacity(array.len());
    if attribute.is_binned() && array.data_type().is_numeric() {
        let numbers = cast(array, &DataType::Float64).ok_or_else(unsupported)?;
        for (row, number) in numbers.as_primitive::<Float64Type>().iter().enumerate() {
            let code = number.map_or(missing, |number| attribute.code_of_number(number));
            coded.push(code.unwrap_or_else(|| {
                report(row, &number.map_or(String::new(), |number| number.to_string()));
                0
            }));
        }
        return Ok(coded);
    }
    if let Some(dictionary) = text_dictionary(array) {
        // One look-up per label.
        let labels = dictionary.values().as_string::<i32>();
        let known: Vec<Option<u16>> =
            labels.iter().map(|label| label.map_or(missing, |label| attribute.code_of_value(label))).collect();
        for (row, key) in dictionary.keys().iter().enumerate() {
            let code = key.map_or(missing, |key| known[key as usize]);
            coded.push(code.unwrap_or_else(|| {
                report(
                    row,
                    key.filter(|&key| labels.is_valid(key as usize)).map_or("", |key| labels.value(key as usize)),
                );
                0
            }));
        }
        return Ok(coded);
    }
    let text =
        is_categorical(array.data_type()).then(|| cast(array, &DataType::Utf8)).flatten().ok_or_else(unsupported)?;
    for (row, value) in text.as_string::<i32>().iter().enumerate() {
        let code = value.map_or(missing, |value| attribute.code_of_value(value));
        coded.push(code.unwrap_or_else(|| {
            report(row, value.unwrap_or(""));
            0
        }));
    }
    Ok(coded)
}

/// What would be right instead.
fn hint(attribute: &Attribute, value: &str) -> String {
    if value.is_empty() {
        return format!("list \"\" among the categories of \"{}\" in the schema to allow that", attribute.name());
    }
    let kind = if attribute.is_binned() { "is neither a number nor a category" } else { "is not a category" };
    match attribute.nearest_category(value).filter(|_| !attribute.is_binned()) {
        Some(nearest) => format!("{kind}; did you mean \"{nearest}\"?"),
        None => format!("{kind} of the schema's {}", attribute.categories().len()),
    }
}
