//! Printing for people: aligned tables, numbers with separators, wrapped sentences.

use std::io::{self, Write};

pub use candor_study::words::{count, plural};
use candor_tables::visible::{is_hidden, visible};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

/// Writes text for people to standard output.
pub fn emit(text: &str) -> Result<(), Failure> {
    emit_data(&visible(text))
}

/// Writes JSON to standard output.
pub fn emit_json(json: &impl Serialize) -> Result<(), Failure> {
    emit_data(&json_text(json))
}

/// JSON on one line. What could not be seen is escaped: to a program it is the same.
pub fn json_text(json: &impl Serialize) -> String {
    let json = json_value(json);
    let escape = |c: char| if is_hidden(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.to_string().chars().map(escape).chain(["\n".to_owned()]).collect()
}

/// A result as JSON, fields in the order of their names; numbers that are none are null.
pub fn json_value(result: &impl Serialize) -> Value {
    serde_json::to_value(result).expect("results have text for keys")
}

/// Writes to standard output what a program reads, as it is; a reader that has gone is not an error.
pub fn emit_data(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::NobodyReads),
        Err(error) => Err(Failure::Input(format!("cannot write to standard output: {error}"))),
    }
}

/// Writes a remark to standard error, where it does not disturb output.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", visible(text));
}

/// An aligned table; the first column to the left, the others to the right.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    // A cell is one line, whatever the label in it.
    let cell = |cell: &str| visible(&cell.replace('\n', "\\n"));
    let header: Vec<String> = header.iter().map(|name| cell(name)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|text| cell(text)).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("  {}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut text = line(&mut header.iter().map(String::as_str));
    for row in &rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// A probability, with what is missing to 1 where four decimals would hide it; "-" if there is none.
pub fn probability(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 1.0 && p > 0.9999 => format!("1 - {:.1e}", 1.0 - p),
        Some(p) if p > 0.0 && p < 0.001 => format!("{p:.2e}"),
        Some(p) => format!("{p:.4}"),
    }
}

/// A paragraph wrapped at 100 characters, every line indented by two.
pub fn paragraph(sentence: &str) -> String {
    let sentence = visible(sentence);
    let mut text = String::new();
    let mut line = String::from(" ");
    for word in sentence.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > 100 {
            text += line.trim_end();
            text.push('\n');
            line = String::from(" ");
        }
        line.push(' ');
        line += word;
    }
    text + line.trim_end() + "\n"
}

/// The same with a capital at the beginning.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The same with a small letter at the beginning.
pub fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned() {
        let text = table(&["name", "n"], &[vec!["a".into(), "10".into()], vec!["long name".into(), "5".into()]]);
        assert_eq!(text, "  name        n\n  a          10\n  long name   5\n");
    }

    #[test]
    fn probabilities_near_the_ends() {
        let shown = [None, Some(0.25), Some(1.0), Some(1.0 - 3e-9), Some(2e-7)].map(probability);
        assert_eq!(shown, ["-", "0.2500", "1.0000", "1 - 3.0e-9", "2.00e-7"]);
    }

    #[test]
    fn paragraphs_wrap() {
        let text = paragraph(&"word ".repeat(40));
        assert!(text.lines().all(|line| line.starts_with("  word") && line.len() <= 100));
        assert_eq!(text.split_whitespace().count(), 40);
    }
}
