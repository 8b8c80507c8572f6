//! A page of plain parts, as text and as self-contained HTML.

use crate::show::{paragraph, table};

/// A page.
pub struct Page {
    pub title: String,
    pub parts: Vec<Part>,
}

/// What a page is made of.
pub enum Part {
    Heading(String),
    Paragraph(String),
    List(Vec<String>),
    /// A caption, one heading per column, rows whose first cell names them.
    Table {
        caption: String,
        header: Vec<String>,
        rows: Vec<Vec<String>>,
    },
}

/// Readable on a phone, in print, without colour and by a screen reader; follows the reader's light or dark mode.
const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 1.125rem/1.6 system-ui, sans-serif; max-width: 38rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.25; }
h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
p, ul { margin: .5rem 0; }
li { margin: .4rem 0; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
caption { text-align: left; margin-bottom: .5rem; }
th, td { border-bottom: 1px solid; padding: .35rem .5rem; text-align: right; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
@media print { body { font-size: 11pt; max-width: none; padding: 0; } }";

impl Page {
    /// For a terminal or a plain text file.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n", self.title, "=".repeat(self.title.chars().count()));
        for part in &self.parts {
            text.push('\n');
            match part {
                Part::Heading(heading) => text += &format!("{heading}\n"),
                Part::Paragraph(sentence) => text += &paragraph(sentence),
                Part::List(items) => items.iter().for_each(|item| text += &bullet(item)),
                Part::Table { caption, header, rows } => {
                    let header: Vec<&str> = header.iter().map(String::as_str).collect();
                    text += &(paragraph(caption) + &table(&header, rows));
                }
            }
        }
        text
    }

    /// One file that needs nothing else.
    pub fn html(&self) -> String {
        let mut body = format!("<h1>{}</h1>\n", escaped(&self.title));
        for part in &self.parts {
            body += &match part {
                Part::Heading(heading) => format!("<h2>{}</h2>\n", escaped(heading)),
                Part::Paragraph(sentence) => format!("<p>{}</p>\n", escaped(sentence)),
                Part::List(items) => {
                    let items: String = items.iter().map(|item| format!("<li>{}</li>\n", escaped(item))).collect();
                    format!("<ul>\n{items}</ul>\n")
                }
                Part::Table { caption, header, rows } => {
                    let heads: String =
                        header.iter().map(|h| format!("<th scope=\"col\">{}</th>", escaped(h))).collect();
                    let row = |row: &Vec<String>| {
                        let cell = |(i, cell): (usize, &String)| match i {
                            0 => format!("<th scope=\"row\">{}</th>", escaped(cell)),
                            _ => format!("<td>{}</td>", escaped(cell)),
                        };
                        format!("<tr>{}</tr>\n", row.iter().enumerate().map(cell).collect::<String>())
                    };
                    let rows: String = rows.iter().map(row).collect();
                    let caption = escaped(caption);
                    format!(
                        "<table>\n<caption>{caption}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
                    )
                }
            };
        }
        let title = escaped(&self.title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n\
             <body>\n<main>\n{body}</main>\n</body>\n</html>\n"
        )
    }
}

/// A paragraph with a dash in front.
fn bullet(item: &str) -> String {
    let text = paragraph(item);
    let mut lines = text.lines();
    let first = lines.next().map_or(String::new(), |line| format!("  - {}\n", line.trim_start()));
    first + &lines.map(|line| format!("    {}\n", line.trim_start())).collect::<String>()
}

/// Text that HTML takes for text.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            c if c.is_control() && c != '\n' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_page_twice() {
        let page = Page {
            title: "A <b> & \"c\"".to_owned(),
            parts: vec![
                Part::Heading("First".to_owned()),
                Part::Paragraph("Some words.".to_owned()),
                Part::List(vec!["one".to_owned(), "two ".repeat(40)]),
                Part::Table {
                    caption: "Numbers".to_owned(),
                    header: vec!["what".to_owned(), "n".to_owned()],
                    rows: vec![vec!["<x>".to_owned(), "1".to_owned()]],
                },
            ],
        };
        let html = page.html();
        assert!(
            html.contains("<h1>A &lt;b&gt; &amp; &quot;c&quot;</h1>")
                && html.contains("<th scope=\"row\">&lt;x&gt;</th>")
        );
        assert!(!html.contains("<b>") && html.contains("lang=\"en\"") && html.contains("viewport"));
        let text = page.text();
        assert!(text.contains("  - one\n") && text.contains("Some words.") && text.contains("<x>"));
        assert!(text.lines().all(|line| line.chars().count() <= 102));
    }
}
