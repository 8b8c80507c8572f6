//! Errors about text that is not UTF-8.

use super::TableError;

impl TableError {
    /// Creates the error about text at a location in a file.
    pub(crate) fn utf8(file: &str, place: String, text: &[u8]) -> TableError {
        let valid = std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
        let found = text.get(valid).copied().unwrap_or_default();
        TableError::Utf8 { file: file.to_owned(), place, byte: valid + 1, found }
    }
}
