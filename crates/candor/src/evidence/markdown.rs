//! Renders a page as Markdown.

use crate::html_escape::unmarked;
use crate::page::{Page, Part};

/// Renders a page as Markdown. Parts without a Markdown form, such as pictures, are left out.
pub fn markdown(page: &Page) -> String {
    let mut text = format!("# {}\n", escaped(&page.title));
    for part in &page.parts {
        let part = of(part);
        if !part.is_empty() {
            text += &format!("\n{part}");
        }
    }
    text
}

fn of(part: &Part) -> String {
    match part {
        Part::Heading(heading) => format!("## {}\n", escaped(heading)),
        Part::Subheading(heading) => format!("### {}\n", escaped(heading)),
        Part::Paragraph(sentence) => format!("{}\n", escaped(sentence)),
        Part::List(items) | Part::Warnings(items) => {
            items.iter().map(|item| format!("- {}\n", escaped(item))).collect()
        }
        Part::Terms(terms) | Part::Facts(terms) => {
            terms.iter().map(|(term, text)| format!("- **{}**: {}\n", escaped(term), escaped(text))).collect()
        }
        Part::Commands(lines) => format!("```sh\n{}\n```\n", lines.join("\n")),
        Part::Table { caption, header, rows } => {
            let line = |cells: &[String]| {
                let cells: Vec<String> = cells.iter().map(|cell| escaped(cell).replace('|', "\\|")).collect();
                format!("| {} |\n", cells.join(" | "))
            };
            let rows: String = rows.iter().map(|row| line(row)).collect();
            format!("{}\n\n{}|{}\n{rows}", escaped(caption), line(header), " --- |".repeat(header.len()))
        }
        Part::Folded { summary, parts } => {
            let parts: Vec<String> = parts.iter().map(of).filter(|part| !part.is_empty()).collect();
            format!("**{}**\n\n{}", escaped(summary), parts.join("\n"))
        }
        Part::Download { .. }
        | Part::Estimates(_)
        | Part::Matrix(_)
        | Part::Cross(_)
        | Part::Trend(_)
        | Part::Picture(_) => String::new(),
    }
}

/// Escapes text for Markdown, on a single line.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in unmarked(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '&' => escaped.extend(['\\', c]),
            '\n' | '\r' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locale::Language;

    #[test]
    fn names_cannot_be_read_as_markdown() {
        let rows = vec![vec!["a|b".to_owned(), "<x>\ny".to_owned()]];
        let table = Part::Table { caption: "c".into(), header: vec!["h".into(), "i".into()], rows };
        let page = Page::new("*t*", vec![Part::List(vec!["[a](b)".into()]), table], Language::default());
        assert_eq!(
            markdown(&page),
            "# \\*t\\*\n\n- \\[a\\](b)\n\nc\n\n| h | i |\n| --- | --- |\n| a\\|b | \\<x\\> y |\n"
        );
    }
}
