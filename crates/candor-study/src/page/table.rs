//! Tables of a page as HTML.

use super::marked::{attribute, escaped, name};

/// A cell that names its row. A label of nothing stands for what is missing.
pub(super) fn row_heading(label: &str) -> String {
    format!("<th scope=\"row\">{}</th>", if label.is_empty() { "(missing)".to_owned() } else { name(label) })
}

/// A table that scrolls on its own where it is too wide. Headings have a class, or none; `rows` are HTML.
pub(super) fn html_table(class: &str, caption: &str, header: &[(&str, String)], rows: &str) -> String {
    html_table_with(class, caption, header, None, rows)
}

/// The same with one more cell of the header, as HTML, before so many others.
pub(super) fn html_table_with(
    class: &str,
    caption: &str,
    header: &[(&str, String)],
    more: Option<(usize, String)>,
    rows: &str,
) -> String {
    let class_of = |class: &str| if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let head = |(class, label): &(&str, String)| match label.is_empty() {
        true => "<td></td>".to_owned(),
        false => format!("<th scope=\"col\"{}>{}</th>", class_of(class), name(label)),
    };
    let mut heads: Vec<String> = header.iter().map(head).collect();
    if let Some((place, cell)) = more {
        heads.insert(place.min(heads.len()), cell);
    }
    let (heads, class) = (heads.concat(), class_of(class));
    let (label, caption) = (attribute(caption), escaped(caption));
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n<table{class}>\n<caption>{caption}</caption>\n\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )
}
