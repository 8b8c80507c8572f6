//! From the values of a column to category codes.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_schema::DataType;
use candor::schema::Attribute;

use crate::TableError;
use crate::error::BadValue;
use crate::input::Batch;
use crate::misfit::{Misfit, misfit};
use crate::types::{cast, for_each_text, is_categorical, text_dictionary};

/// A row that does not fit. What is wrong with it is only found out if somebody wants to tell: that takes a while.
pub struct Unfit<'a> {
    batch: &'a Batch,
    column: usize,
    attribute: &'a Attribute,
    index: usize,
    value: &'a str,
}

impl Unfit<'_> {
    /// Its number in its table, from 1.
    pub fn row(&self) -> u64 {
        self.batch.before + self.index as u64 + 1
    }

    /// What is wrong, and what may have been meant.
    pub fn told(&self) -> BadValue {
        self.described(true)
    }

    /// What is wrong, for a list of many.
    pub fn listed(&self) -> BadValue {
        self.described(false)
    }

    fn described(&self, suggest: bool) -> BadValue {
        let parts = self.batch.parts(self.column, self.index);
        let Misfit { column, value, hint } = misfit(self.attribute, parts.as_deref().unwrap_or(&[self.value]), suggest);
        let (column, value) = (column.to_owned(), value.to_owned());
        BadValue { file: self.batch.file.clone(), row: self.row(), column, value, hint }
    }
}

/// Gives the code of every row; rows that do not fit are reported to `bad` and get code 0.
///
/// # Errors
/// If the column's type holds no categories.
pub fn codes(
    batch: &Batch,
    column: usize,
    attribute: &Attribute,
    mut bad: impl FnMut(Unfit<'_>),
) -> Result<Vec<u16>, TableError> {
    let array = batch.columns.column(column);
    let mut report = |row: usize, value: &str| {
        bad(Unfit { batch, column, attribute, index: row, value });
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
    let mut see = |row: usize, value: Option<&str>| {
        let code = value.map_or(missing, |value| attribute.code_of_value(value));
        coded.push(code.unwrap_or_else(|| {
            report(row, value.unwrap_or(""));
            0
        }));
    };
    is_categorical(array.data_type()).then(|| for_each_text(array, &mut see)).flatten().ok_or_else(unsupported)?;
    Ok(coded)
}
