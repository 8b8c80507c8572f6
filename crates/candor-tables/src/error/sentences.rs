//! Parts of error messages that depend on their context.

use crate::invalid_value::shown;

pub(super) fn by_hand(content: &Option<String>) -> String {
    match content {
        Some(content) => format!("do not randomize again, but write this into it: {content}"),
        None => "remove it, because it describes the previous file".to_owned(),
    }
}

pub(super) fn given_twice(file: &str, again: &str) -> String {
    match file == again {
        true => format!("{file} is given twice"),
        false => format!("{again} is the same file as {file}"),
    }
}

pub(super) fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |nearest| format!("; did you mean \"{}\"?", shown(nearest)))
}

/// Returns a hint about the delimiter, because a wrong one usually leads to a single column.
pub(super) fn single_column_hint(expected: u64) -> &'static str {
    if expected == 1 { "; if the fields are not separated by commas, specify `delimiter`" } else { "" }
}

/// Formats a row number; row 0 is the header.
pub(super) fn header_or_row(row: u64) -> String {
    if row == 0 { "header".to_owned() } else { format!("row {row}") }
}

pub(super) fn stratum_or_sample(stratum: &str) -> String {
    if stratum.is_empty() { "the sample".to_owned() } else { format!("the stratum \"{stratum}\"") }
}
