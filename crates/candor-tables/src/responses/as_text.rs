//! Kept columns in an output: supported types, and conversion to text.

use std::sync::Arc;

use arrow_array::timezone::Tz;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field};

use super::Format;
use crate::TableError;
use crate::input::Batch;
use crate::types::cast;

const UTC: &str = "+00:00";

/// Text that Arrow displays for an invalid duration.
const INVALID: &str = "<invalid>";

/// Checks that a format supports a column of this type.
///
/// # Errors
/// Returns [`TableError::KeptUnwritable`] with a remedy if it does not.
pub(crate) fn check(field: &Field, format: Format, file: &str) -> Result<(), TableError> {
    let reason = match format {
        _ if has_intervals(field.data_type()) => {
            "whose parts Parquet does not describe completely; do not keep the column, or turn it into text or a \
             number first"
        }
        Format::Csv { .. } if !has_text(field.data_type()) => {
            "which CSV cannot hold; write Parquet, or do not keep the column"
        }
        _ => return Ok(()),
    };
    let (column, found) = (field.name().clone(), field.data_type().to_string());
    Err(TableError::KeptUnwritable { file: file.to_owned(), column, found, reason })
}

/// Returns whether a type contains calendar intervals, which are read back without their months.
fn has_intervals(data_type: &DataType) -> bool {
    use DataType::{
        Dictionary, FixedSizeList, Interval, LargeList, LargeListView, List, ListView, Map, RunEndEncoded, Struct,
        Union,
    };
    match data_type {
        Interval(_) => true,
        Dictionary(_, values) => has_intervals(values),
        List(item)
        | LargeList(item)
        | ListView(item)
        | LargeListView(item)
        | FixedSizeList(item, _)
        | Map(item, _)
        | RunEndEncoded(_, item) => has_intervals(item.data_type()),
        Struct(fields) => fields.iter().any(|field| has_intervals(field.data_type())),
        Union(fields, _) => fields.iter().any(|(_, field)| has_intervals(field.data_type())),
        _ => false,
    }
}

/// Returns whether a value of this type fits in one cell.
fn has_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => has_text(values),
        other => !other.is_nested(),
    }
}

/// Converts a column for display. A time in a named zone is displayed in UTC, which needs no time zone database.
pub(crate) fn as_shown(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Dictionary(_, values) if matches!(**values, DataType::Timestamp(_, Some(_))) => {
            cast(array, values).map_or_else(|| array.clone(), |plain| as_shown(&plain))
        }
        DataType::Timestamp(unit, Some(zone)) if zone.parse::<Tz>().is_err() => {
            let utc = DataType::Timestamp(*unit, Some(Arc::from(UTC)));
            array.to_data().into_builder().data_type(utc).build().map_or_else(|_| array.clone(), make_array)
        }
        _ => array.clone(),
    }
}

/// A kept column as text.
pub(crate) struct KeptText<'a> {
    formatter: ArrayFormatter<'a>,
    field: &'a Field,
    is_duration: bool,
}

impl<'a> KeptText<'a> {
    /// # Errors
    /// Returns [`Unwritable`] if the column cannot be displayed.
    pub(crate) fn new(array: &'a ArrayRef, field: &'a Field) -> Result<KeptText<'a>, Unwritable> {
        let options = FormatOptions::new().with_display_error(false);
        let formatter = ArrayFormatter::try_new(array, &options).map_err(|_| Unwritable::new(field, 0))?;
        let is_duration = match field.data_type() {
            DataType::Dictionary(_, values) => matches!(**values, DataType::Duration(_)),
            other => matches!(other, DataType::Duration(_)),
        };
        Ok(KeptText { formatter, field, is_duration })
    }

    /// # Errors
    /// Returns [`Unwritable`] if the value is a time without text form.
    pub(crate) fn value(&self, row: usize) -> Result<String, Unwritable> {
        let text = self.formatter.value(row).try_to_string();
        let text = text.ok().filter(|text| !self.is_duration || text != INVALID);
        text.ok_or_else(|| Unwritable::new(self.field, row))
    }
}

/// A value that cannot be written as text.
#[derive(Debug)]
pub(crate) struct Unwritable {
    row: usize,
    column: String,
    found: String,
}

impl Unwritable {
    fn new(field: &Field, row: usize) -> Unwritable {
        Unwritable { row, column: field.name().clone(), found: field.data_type().to_string() }
    }

    /// Converts to an error about a row of this batch.
    pub(crate) fn within(self, batch: &Batch) -> TableError {
        self.after(&batch.file, batch.before)
    }

    /// Converts to an error about a row of a file, after `before` rows.
    pub(crate) fn after(self, file: &str, before: u64) -> TableError {
        let Unwritable { row, column, found } = self;
        TableError::KeptValue { file: file.to_owned(), row: before + row as u64 + 1, column, found }
    }
}
