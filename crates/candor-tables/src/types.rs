//! Arrow types of columns with categories.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, ListArray};
use arrow_schema::DataType;

use crate::guard::guarded;

/// Returns whether a column of this type can contain categories or numbers.
pub(crate) fn is_categorical(data_type: &DataType) -> bool {
    match data_type {
        DataType::Boolean | DataType::Null => true,
        DataType::Dictionary(_, values) => is_categorical(values),
        other => other.is_numeric() || is_text(other),
    }
}

/// Returns whether this is a type of text, plain or as a dictionary.
fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Converts a column to a dictionary of text, for any types of keys and text; `None` for other columns.
pub(crate) fn text_dictionary(array: &ArrayRef) -> Option<DictionaryArray<Int32Type>> {
    let (DataType::Dictionary(..), true) = (array.data_type(), is_text(array.data_type())) else { return None };
    let wanted = text_dictionary_type();
    let dictionary = if *array.data_type() == wanted { array.clone() } else { cast(array, &wanted)? };
    let is_of_text = |dictionary: &&DictionaryArray<Int32Type>| *dictionary.values().data_type() == DataType::Utf8;
    dictionary.as_dictionary_opt().filter(is_of_text).cloned()
}

/// Returns the type of the result of [`text_dictionary`].
pub(crate) fn text_dictionary_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Converts a column to lists; `None` for other columns.
pub(crate) fn lists(array: &ArrayRef) -> Option<ListArray> {
    let list = match array.data_type() {
        DataType::LargeList(items) => cast(array, &DataType::List(items.clone()))?,
        _ => array.clone(),
    };
    list.as_list_opt().cloned()
}

/// Calls `see` with the text of every row in order, or `None` if it is missing.
///
/// Text is not copied. Returns `None` if the type has no text form.
pub(crate) fn for_each_text(array: &ArrayRef, see: impl FnMut(usize, Option<&str>)) -> Option<()> {
    fn each<'a>(texts: impl Iterator<Item = Option<&'a str>>, mut see: impl FnMut(usize, Option<&str>)) {
        texts.enumerate().for_each(|(row, text)| see(row, text));
    }
    match array.data_type() {
        DataType::Utf8 => each(array.as_string::<i32>().iter(), see),
        DataType::LargeUtf8 => each(array.as_string::<i64>().iter(), see),
        DataType::Utf8View => each(array.as_string_view().iter(), see),
        _ => each(cast(array, &DataType::Utf8)?.as_string::<i32>().iter(), see),
    }
    Some(())
}

/// Converts a column to another type; `None` if that is impossible.
pub(crate) fn cast(array: &ArrayRef, to: &DataType) -> Option<ArrayRef> {
    guarded(|| arrow_cast::cast(array, to).ok())?
}
