//! Converts column values to category codes.

use ahash::AHashMap;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, ArrayRef, DictionaryArray};
use arrow_schema::DataType;
use candor_base::schema::{Attribute, CROSS};
use rand_core::CryptoRng;

use crate::TableError;
use crate::error::InvalidValue;
use crate::input::Batch;
use crate::invalid_value::{Diagnosis, diagnose, list_missing};
use crate::missing::Missing;
use crate::stochastic_rounding::dithered;
use crate::types::{cast, for_each_text, is_categorical, text_dictionary};

/// A row that does not fit. The reason is computed only on request, because that takes a while.
pub struct UncodableRow<'a> {
    batch: &'a Batch,
    column: usize,
    attribute: &'a Attribute,
    index: usize,
    value: &'a str,
}

impl UncodableRow<'_> {
    /// Row number in its file, from 1.
    pub fn row(&self) -> u64 {
        self.batch.before + self.index as u64 + 1
    }

    /// Returns the reason, with a suggestion.
    pub fn told(&self) -> InvalidValue {
        self.described(true)
    }

    /// Returns the reason for a list of many, without a suggestion.
    pub fn listed(&self) -> InvalidValue {
        self.described(false)
    }

    fn described(&self, suggest: bool) -> InvalidValue {
        let parts = self.batch.parts(self.column, self.index);
        let Diagnosis { column, value, mut hint } =
            diagnose(self.attribute, parts.as_deref().unwrap_or(&[self.value]), suggest);
        if self.batch.missing.is(value) {
            hint = format!("stands for a missing value; {}", list_missing(column));
        }
        let (column, value) = (column.to_owned(), value.to_owned());
        InvalidValue { file: self.batch.file.clone(), row: self.row(), column, value, hint }
    }
}

/// Returns the code of every row; invalid rows are reported to `bad` and get code 0.
///
/// Numbers between two grid points are rounded stochastically ([`dithered`]). [Codes of missing
/// values](crate::missing::Missing) become the missing category.
///
/// # Errors
/// Returns [`TableError::Type`] if the column has an unsupported type.
pub fn codes(
    batch: &Batch,
    column: usize,
    attribute: &Attribute,
    rng: &mut impl CryptoRng,
    mut bad: impl FnMut(UncodableRow<'_>),
) -> Result<Vec<u16>, TableError> {
    let array = batch.columns.column(column);
    let otherwise = |row: usize, value: &str| {
        missing_place(batch, column, row, attribute, value).map_or_else(
            || {
                bad(UncodableRow { batch, column, attribute, index: row, value });
                0
            },
            |(code, _)| code,
        )
    };
    let coded = if attribute.numeric_len() > 0 && array.data_type().is_numeric() {
        of_numbers(array, attribute, &batch.missing, rng, otherwise)
    } else if let Some(dictionary) = text_dictionary(array) {
        Some(of_dictionary(&dictionary, attribute, &batch.missing, rng, otherwise))
    } else if is_categorical(array.data_type()) {
        of_texts(array, attribute, &batch.missing, rng, otherwise)
    } else {
        None
    };
    coded.ok_or_else(|| TableError::Type {
        file: batch.file.clone(),
        column: attribute.name().to_owned(),
        found: array.data_type().to_string(),
    })
}

/// Returns the position of the missing category for a code of a missing value, including codes in parts of a value.
fn missing_place(batch: &Batch, column: usize, row: usize, attribute: &Attribute, value: &str) -> Option<(u16, f64)> {
    match batch.parts(column, row) {
        Some(parts) => attribute.place_of_value(&batch.missing.emptied(&parts).join(&CROSS.to_string())),
        None => batch.missing.is(value).then(|| attribute.place_of_value("")).flatten(),
    }
}

/// Encodes a column; `otherwise` returns the code of a value that is not a category.
fn of_numbers(
    array: &ArrayRef,
    attribute: &Attribute,
    words: &Missing,
    rng: &mut impl CryptoRng,
    mut otherwise: impl FnMut(usize, &str) -> u16,
) -> Option<Vec<u16>> {
    let numbers = cast(array, &DataType::Float64)?;
    let missing = attribute.place_of_value("");
    let words = words.numbers();
    let mut coded = Vec::with_capacity(array.len());
    for (row, number) in numbers.as_primitive::<Float64Type>().iter().enumerate() {
        let place = match number {
            Some(word) if words.contains(&word) => None,
            Some(number) => attribute.place_of_number(number),
            None => missing,
        };
        coded.push(match place {
            Some(place) => dithered(place, rng),
            None => otherwise(row, &number.map_or(String::new(), |number| number.to_string())),
        });
    }
    Some(coded)
}

/// Looks up each label once.
fn of_dictionary(
    dictionary: &DictionaryArray<Int32Type>,
    attribute: &Attribute,
    words: &Missing,
    rng: &mut impl CryptoRng,
    mut otherwise: impl FnMut(usize, &str) -> u16,
) -> Vec<u16> {
    let missing = attribute.place_of_value("");
    let labels = dictionary.values().as_string::<i32>();
    let place = |label: &str| if words.hides(attribute, label) { None } else { attribute.place_of_value(label) };
    let known: Vec<Option<(u16, f64)>> = labels.iter().map(|label| label.map_or(missing, place)).collect();
    let code = |(row, key): (usize, Option<i32>)| match key.map_or(missing, |key| known[key as usize]) {
        Some(place) => dithered(place, rng),
        None => {
            let label = key.map(|key| key as usize).filter(|&key| labels.is_valid(key));
            otherwise(row, label.map_or("", |key| labels.value(key)))
        }
    };
    match dictionary.keys() {
        // Without missing rows, the number of rows is known in advance.
        keys if keys.null_count() == 0 => keys.values().iter().copied().map(Some).enumerate().map(code).collect(),
        keys => keys.iter().enumerate().map(code).collect(),
    }
}

fn of_texts(
    array: &ArrayRef,
    attribute: &Attribute,
    words: &Missing,
    rng: &mut impl CryptoRng,
    mut otherwise: impl FnMut(usize, &str) -> u16,
) -> Option<Vec<u16>> {
    let missing = attribute.place_of_value("");
    // The schema's own map resists constructed collisions, which is slower; labels of a schema are trusted.
    let labels = attribute.categories().iter().map(String::as_str).zip((0..).map(|code| (code, 0.0)));
    let labels: AHashMap<&str, (u16, f64)> = labels.filter(|_| attribute.numeric_len() == 0).collect();
    let place = |value: &str| match attribute.numeric_len() {
        0 => match labels.get(value) {
            Some(&place) => Some(place),
            None if value.is_empty() => missing,
            None => attribute.place_of_value(value),
        },
        _ if words.hides(attribute, value) => None,
        _ => attribute.place_of_value(value),
    };
    let mut coded = Vec::with_capacity(array.len());
    for_each_text(array, |row, value| {
        coded.push(match value.map_or(missing, place) {
            Some(place) => dithered(place, rng),
            None => otherwise(row, value.unwrap_or("")),
        });
    })?;
    Some(coded)
}
