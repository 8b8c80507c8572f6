//! Kept columns, which are copied into responses unchanged, and must not reveal what the plan randomizes.

use std::sync::Arc;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
    downcast_primitive_array,
};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use candor_base::plan::Plan;

use crate::TableError;
use crate::types::cast;

/// Rejects columns that would reveal true values, and those with the name of an answer column.
///
/// # Errors
/// Returns [`TableError`] with the first such column.
pub(crate) fn check_names(plan: &Plan, keep: &[String]) -> Result<(), TableError> {
    let columns = plan.columns();
    for (i, name) in keep.iter().enumerate() {
        check_protected(plan, name, name)?;
        if columns.iter().any(|column| column.name == *name) || keep[..i].contains(name) {
            return Err(TableError::KeptTwice(name.clone()));
        }
    }
    Ok(())
}

/// Returns the fields of kept columns in responses: names and types, without metadata.
///
/// # Errors
/// Returns [`TableError::KeptTruth`] if a nested field would reveal true values.
pub(crate) fn fields(plan: &Plan, columns: &[FieldRef]) -> Result<Vec<Field>, TableError> {
    for column in columns {
        check_inside(plan, column.name(), column.data_type())?;
    }
    // Another file or batch may have missing values even if the first has none.
    Ok(columns.iter().map(|column| bare_field(column).with_nullable(true)).collect())
}

/// Converts the values of a kept column to its type by [`fields`]; `None` if it has another type.
pub(crate) fn bare(column: &ArrayRef, field: &Field) -> Option<ArrayRef> {
    match bare_type(column.data_type()) == *field.data_type() {
        true => cast(column, field.data_type()),
        false => None,
    }
}

/// Returns the field of a kept column that is passed on in memory, [copied](copied).
///
/// # Errors
/// Returns [`TableError::KeptUnwritable`] if its values cannot be copied individually.
pub(crate) fn copied_field(field: Field, file: &str) -> Result<Field, TableError> {
    match copied_type(field.data_type()) {
        Some(data_type) => Ok(field.with_data_type(data_type)),
        None => Err(TableError::KeptUnwritable {
            file: file.to_owned(),
            column: field.name().clone(),
            found: field.data_type().to_string(),
            reason: "which cannot be passed on in memory; turn it into text or numbers first, or do not keep the \
                     column",
        }),
    }
}

/// Copies the values of a kept column to its type by [`copied_field`]; `None` if it has another type.
///
/// An array may contain more than its rows show: values outside of a slice, behind a null, or without a
/// dictionary key.
/// Copies contain the rows only.
pub(crate) fn copied(column: &ArrayRef, field: &Field) -> Option<ArrayRef> {
    fn numbers<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> ArrayRef {
        let builder = PrimitiveBuilder::<T>::with_capacity(array.len());
        let mut builder = builder.with_data_type(array.data_type().clone());
        array.iter().for_each(|number| builder.append_option(number));
        Arc::new(builder.finish())
    }
    let plain = copied_type(column.data_type()).filter(|plain| plain == field.data_type())?;
    let plain = cast(column, &plain)?;
    let array = plain.as_ref();
    Some(downcast_primitive_array!(
        array => numbers(array),
        DataType::Boolean => Arc::new(array.as_boolean().iter().collect::<BooleanArray>()),
        DataType::Utf8 => Arc::new(array.as_string::<i32>().iter().collect::<StringArray>()),
        DataType::LargeUtf8 => Arc::new(array.as_string::<i64>().iter().collect::<LargeStringArray>()),
        DataType::Utf8View => Arc::new(array.as_string_view().iter().collect::<StringViewArray>()),
        _ => return None
    ))
}

/// Returns the type of a copy, for text, numbers, times and booleans; for a dictionary, that of its values.
fn copied_type(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Dictionary(_, values) => copied_type(values),
        DataType::Boolean | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(data_type.clone()),
        other => other.is_primitive().then(|| other.clone()),
    }
}

fn check_protected(plan: &Plan, kept: &str, name: &str) -> Result<(), TableError> {
    match plan.schema().protects(name) {
        Some(attribute) => {
            Err(TableError::KeptTruth { column: kept.to_owned(), attribute: attribute.name().to_owned() })
        }
        None => Ok(()),
    }
}

/// Checks the fields of nested records, which have names, too.
fn check_inside(plan: &Plan, kept: &str, data_type: &DataType) -> Result<(), TableError> {
    if let DataType::Struct(fields) = data_type {
        fields.iter().try_for_each(|field| check_protected(plan, kept, field.name()))?;
    }
    inner(data_type).iter().try_for_each(|field| check_inside(plan, kept, field.data_type()))
}

/// Returns the fields of a nested type.
fn inner(data_type: &DataType) -> Vec<&FieldRef> {
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => vec![item],
        DataType::Struct(fields) => fields.iter().collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field).collect(),
        DataType::RunEndEncoded(ends, values) => vec![ends, values],
        _ => Vec::new(),
    }
}

/// Returns a field without its metadata, which may contain any text.
fn bare_field(field: &Field) -> Field {
    Field::new(field.name(), bare_type(field.data_type()), field.is_nullable())
}

fn bare_type(data_type: &DataType) -> DataType {
    let bare = |field: &FieldRef| Arc::new(bare_field(field));
    match data_type {
        DataType::List(item) => DataType::List(bare(item)),
        DataType::LargeList(item) => DataType::LargeList(bare(item)),
        DataType::ListView(item) => DataType::ListView(bare(item)),
        DataType::LargeListView(item) => DataType::LargeListView(bare(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(bare(item), *length),
        DataType::Map(entries, sorted) => DataType::Map(bare(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(bare).collect::<Fields>()),
        DataType::Union(fields, mode) => {
            DataType::Union(fields.iter().map(|(id, field)| (id, bare(field))).collect(), *mode)
        }
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(bare(ends), bare(values)),
        other => other.clone(),
    }
}
