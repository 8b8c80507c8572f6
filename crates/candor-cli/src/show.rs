//! Printing for people: aligned tables, numbers with separators, wrapped sentences.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

pub use candor::format::{capital, count, label, paragraph, plural, table};
use candor_runtime::escape_control::visible;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
pub use crate::json::json_text;

/// Whether everything is shown.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Shows everything from now on.
pub fn show_everything() {
    VERBOSE.store(true, Ordering::Relaxed);
}

/// Returns whether everything is shown.
pub fn verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Wraps a verdict or heading, followed by an empty line.
pub fn lead(text: &str) -> String {
    let wrapped = paragraph(text);
    wrapped.lines().map(|line| format!("{}\n", line.trim_start())).chain(["\n".to_owned()]).collect()
}

/// Number of rows of a table that fit on a screen with the text around it.
const ROWS: usize = 8;

/// Formats a table for one screen: without uninformative columns, and with the first rows only unless everything is
/// shown.
pub fn short_table(header: &[&str], rows: &[Vec<String>]) -> String {
    let says =
        |column: &usize| rows.is_empty() || rows.iter().any(|row| row.get(*column).is_some_and(|cell| cell != "-"));
    let columns: Vec<usize> = (0..header.len()).filter(says).collect();
    let shown = if verbose() || rows.len() <= ROWS + 2 { rows.len() } else { ROWS };
    let header: Vec<&str> = columns.iter().map(|&column| header[column]).collect();
    let row = |row: &Vec<String>| columns.iter().filter_map(|&column| row.get(column).cloned()).collect();
    let mut kept: Vec<Vec<String>> = rows[..shown].iter().map(row).collect();
    if !verbose() {
        shorten(&header, &mut kept);
    }
    let more = match rows.len() - shown {
        0 => String::new(),
        more => format!("  and {}: --verbose\n", plural_rows(more)),
    };
    table(&header, &kept) + &more
}

/// Cuts the names of rows where a table would be wider than a screen, but not below [`MIN_NAME_WIDTH`].
fn shorten(header: &[&str], rows: &mut [Vec<String>]) {
    let width = |text: String| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let longest = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0);
    let room = (longest + SCREEN).saturating_sub(width(table(header, rows))).max(MIN_NAME_WIDTH);
    for row in rows.iter_mut().filter(|row| row[0].chars().count() > room) {
        row[0] = row[0].chars().take(room - 1).chain(['…']).collect();
    }
}

/// Columns of a screen.
const SCREEN: usize = 100;

/// Names are not cut below this many characters.
const MIN_NAME_WIDTH: usize = 20;

fn plural_rows(more: usize) -> String {
    format!("{} more", plural(more, "row")).replace("rows more", "more rows").replace("row more", "more row")
}

/// Writes text to standard output.
pub fn emit(text: &str) -> Result<(), Failure> {
    emit_data(&visible(text))
}

/// Writes JSON to standard output.
pub fn emit_json(json: &impl Serialize) -> Result<(), Failure> {
    emit_data(&json_text(json))
}

/// Returns a result as a JSON value.
pub fn json_value(result: &impl Serialize) -> Value {
    serde_json::to_value(result).expect("results have text for keys")
}

/// Writes data for programs to standard output unchanged; a closed pipe is not an error.
pub fn emit_data(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::NobodyReads),
        Err(error) => Err(Failure::Input(format!("cannot write to standard output: {error}"))),
    }
}

/// Writes a remark to standard error, where it does not disturb the output.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", visible(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_to_fit_the_screen() {
        let names = ["n".repeat(90), "short".to_owned(), "m".repeat(70)];
        let rows: Vec<Vec<String>> =
            names.iter().map(|name| vec![name.clone(), "1".repeat(20), "2.50".to_owned()]).collect();
        let text = short_table(&["name", "count", "mean"], &rows);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains(&format!("  {}…  1", "n".repeat(69))) && text.contains("  short  "), "{text}");
        assert!(text.contains(&format!("  {}  1", "m".repeat(70))), "what fits stays: {text}");
    }
}
