//! Formats numbers, paragraphs and tables as text.

use std::collections::BTreeMap;

use candor_runtime::escape_control::visible;
use serde::{Serialize, Serializer};

/// Formats an integer with separators: 32,561.
///
/// ```
/// use candor::format::count;
///
/// assert_eq!(count(32_561), "32,561");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with its noun: "1 attribute", "2 attributes".
pub fn plural(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Returns the label of a category, or "(missing)" for the empty label of missing values.
pub fn label(category: &str) -> String {
    if category.is_empty() { "(missing)".to_owned() } else { category.to_owned() }
}

/// Maximum width of printed lines.
const MAX_WIDTH: usize = 100;

/// Formats a table with aligned columns: the first to the left, the others to the right.
///
/// If the table would be too wide, headings take two lines.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    // A line break in a label must not break the row.
    let cell = |cell: &str| visible(&cell.replace('\n', "\\n"));
    let header: Vec<String> = header.iter().map(|name| cell(name)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|text| cell(text)).collect()).collect();
    let length = |text: &str| text.chars().count();
    let widest = |column: usize| rows.iter().map(|row| length(&row[column])).max().unwrap_or(0);
    let cells: Vec<usize> = (0..header.len()).map(widest).collect();
    let total: usize = header.iter().zip(&cells).map(|(name, &cells)| cells.max(length(name)) + 2).sum();
    let split = |(name, &cells): (&String, &usize)| match name.rsplit_once(' ') {
        Some((first, last)) if total > MAX_WIDTH && length(name) > cells => [first.to_owned(), last.to_owned()],
        _ => [String::new(), name.clone()],
    };
    let (above, header): (Vec<String>, Vec<String>) =
        header.iter().zip(&cells).map(split).map(|[above, name]| (above, name)).unzip();
    let names = above.iter().zip(&header).map(|(above, name)| length(above).max(length(name)));
    let widths: Vec<usize> = names.zip(&cells).map(|(name, &cells)| name.max(cells)).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("  {}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut text = String::new();
    if above.iter().any(|name| !name.is_empty()) {
        text += &line(&mut above.iter().map(String::as_str));
    }
    text += &line(&mut header.iter().map(String::as_str));
    for row in &rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// Formats a probability; one above 0.9999 as `1 - x`, an unknown one as "-".
pub fn probability(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 1.0 && p > 0.9999 => format!("1 - {:.1e}", 1.0 - p),
        Some(p) if p > 0.0 && p < 0.001 => format!("{p:.2e}"),
        Some(p) => format!("{p:.4}"),
    }
}

/// Formats a p-value: four decimals, or two significant digits below 0.0001.
pub fn p_value(p: f64) -> String {
    match p {
        0.0 => "< 1e-300".to_owned(),
        p if p < 1e-4 => format!("{p:.1e}"),
        p => format!("{p:.4}"),
    }
}

/// Formats a p-value for reports: "< 0.001", or two digits.
pub fn p_rounded(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// Formats a p-value for sentences: "p = 0.0312", "p < 1e-300".
pub fn p_is(p: f64) -> String {
    let equals = if p == 0.0 { "" } else { "= " };
    format!("p {equals}{}", p_value(p))
}

/// Wraps a paragraph at 100 characters, indented by two.
pub fn paragraph(sentence: &str) -> String {
    let sentence = visible(sentence);
    let mut text = String::new();
    let mut line = String::from(" ");
    for word in sentence.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > MAX_WIDTH {
            text += line.trim_end();
            text.push('\n');
            line = String::from(" ");
        }
        line.push(' ');
        line += word;
    }
    text + line.trim_end() + "\n"
}

/// Capitalizes the first letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Converts the first letter to lower case.
pub fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// Serializes pairs of names and categories as a JSON object.
pub(crate) fn as_object<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    pairs.iter().cloned().collect::<BTreeMap<String, String>>().serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_and_nouns() {
        assert_eq!([7, 999, 1_000, 32_561, 1_000_000].map(count), ["7", "999", "1,000", "32,561", "1,000,000"]);
        assert_eq!([0, 1, 2].map(|n| plural(n, "sweep")), ["0 sweeps", "1 sweep", "2 sweeps"]);
    }

    #[test]
    fn tables_are_aligned() {
        let text = table(&["name", "n"], &[vec!["a".into(), "10".into()], vec!["long name".into(), "5".into()]]);
        assert_eq!(text, "  name        n\n  a          10\n  long name   5\n");
    }

    #[test]
    fn headings_of_wide_tables_take_two_lines() {
        let name = "n".repeat(80);
        let row = vec![name.clone(), "1.5".into(), "2".into()];
        let text = table(&["name", "standard error", "n"], &[row]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("  {:80}  standard", ""));
        assert_eq!(lines[1], format!("  {:80}     error  n", "name"));
        assert_eq!(lines[2], format!("  {name}       1.5  2"));
        let row = vec!["n".repeat(76), "1.5".into(), "2".into()];
        assert_eq!(table(&["name", "standard error", "n"], &[row]).lines().count(), 2, "97 characters fit");
    }

    #[test]
    fn probabilities_near_the_ends() {
        let shown = [None, Some(0.25), Some(1.0), Some(1.0 - 3e-9), Some(2e-7)].map(probability);
        assert_eq!(shown, ["-", "0.2500", "1.0000", "1 - 3.0e-9", "2.00e-7"]);
    }

    #[test]
    fn p_values_in_sentences() {
        assert_eq!([0.0, 7e-25, 0.03125].map(p_is), ["p < 1e-300", "p = 7.0e-25", "p = 0.0312"]);
    }

    #[test]
    fn paragraphs_wrap() {
        let text = paragraph(&"word ".repeat(40));
        assert!(text.lines().all(|line| line.starts_with("  word") && line.len() <= 100));
        assert_eq!(text.split_whitespace().count(), 40);
    }
}
