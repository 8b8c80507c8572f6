//! Renders the tables of a page as HTML.

use crate::html_escape::{attribute, escaped, name};
use crate::locale::Language;

/// Renders a row heading. The empty label stands for missing values.
pub(super) fn row_heading(label: &str, language: &Language) -> String {
    let shown = if label.is_empty() { escaped(&language.say("missing", &[])) } else { name(label) };
    format!("<th scope=\"row\">{shown}</th>")
}

/// A table that scrolls separately if it is too wide.
pub(super) struct Scrolling<'a> {
    /// CSS class; may be empty.
    pub class: &'a str,
    /// Caption.
    pub caption: &'a str,
    /// Column headings, each with a CSS class or an empty one.
    pub header: &'a [(&'a str, String)],
    /// An additional header cell as HTML, before this column.
    pub more: Option<(usize, String)>,
    /// Alternative captions for the script.
    pub others: &'a [String],
    /// Number of people, for the script.
    pub people: Option<f64>,
}

impl Scrolling<'_> {
    /// Renders the table with these rows of HTML.
    pub(super) fn html(&self, rows: &str) -> String {
        let class_of = |class: &str| if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let head = |(class, label): &(&str, String)| match label.is_empty() {
            true => "<td></td>".to_owned(),
            false => format!("<th scope=\"col\"{}>{}</th>", class_of(class), name(label)),
        };
        let mut heads: Vec<String> = self.header.iter().map(head).collect();
        if let Some((place, cell)) = &self.more {
            heads.insert((*place).min(heads.len()), cell.clone());
        }
        let data = self.people.map_or(String::new(), |people| format!(" data-people=\"{people:.0}\""));
        let (heads, class) = (heads.concat(), class_of(self.class));
        let others: String =
            self.others.iter().map(|caption| format!("<span hidden=\"\">{}</span>", escaped(caption))).collect();
        let caption = match self.others {
            [] => escaped(self.caption),
            _ => format!("<span>{}</span>{others}", escaped(self.caption)),
        };
        let label = attribute(self.caption);
        format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-label=\"{label}\">\n<table{class}{data}>\n<caption>{caption}</caption>\n\
             <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
        )
    }
}
