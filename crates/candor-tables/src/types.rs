//! The types of columns that hold categories.

use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray};
use arrow_schema::DataType;

/// Whether a column of this type can hold categories or numbers.
pub(crate) fn is_categorical(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean | DataType::Null => true,
        DataType::Dictionary(_, values) => is_categorical(values),
        other => other.is_numeric(),
    }
}

pub(crate) fn text_dictionary(array: &ArrayRef) -> Option<&DictionaryArray<Int32Type>> {
    let dictionary = array.as_any().downcast_ref::<DictionaryArray<Int32Type>>()?;
    (dictionary.values().data_type() == &DataType::Utf8).then_some(dictionary)
}

/// The type that [`text_dictionary`] looks for.
pub(crate) fn text_dictionary_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

pub(crate) fn cast(array: &ArrayRef, to: &DataType) -> Option<ArrayRef> {
    arrow_cast::cast(array, to).ok()
}
