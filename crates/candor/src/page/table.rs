//! Tables of a page as HTML.

use crate::html_escape::{attribute, escaped, name};
use crate::texts::Language;

/// A cell that names its row. A label of nothing stands for what is missing.
pub(super) fn row_heading(label: &str, language: &Language) -> String {
    let shown = if label.is_empty() { escaped(&language.say("missing", &[])) } else { name(label) };
    format!("<th scope=\"row\">{shown}</th>")
}

/// A table that scrolls on its own where it is too wide.
pub(super) struct Scrolling<'a> {
    /// Its kind, for the style; may be none.
    pub class: &'a str,
    /// What is shown.
    pub caption: &'a str,
    /// Headings of columns, each with a class, or none.
    pub header: &'a [(&'a str, String)],
    /// One more cell of the header, as HTML, before so many others.
    pub more: Option<(usize, String)>,
    /// Captions that a script may show instead.
    pub others: &'a [String],
    /// How many people stand behind its shares, if a script may tell them.
    pub people: Option<f64>,
}

impl Scrolling<'_> {
    /// With these rows, which are HTML.
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
