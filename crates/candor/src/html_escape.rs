//! Escapes foreign text, such as names and labels, so that it cannot break HTML or change the text direction.

use candor_runtime::escape_control::{is_direction_mark, is_hidden, turns_direction, visible, written_out};

/// Marks the start of foreign text: a Unicode isolate; `<bdi>` in HTML, nothing in plain text.
const ISOLATE: char = '\u{2068}';
const END_OF_ISOLATE: char = '\u{2069}';

/// Isolates a name or label, so that its direction does not affect the text around it.
pub fn isolated(text: &str) -> String {
    let shown: String =
        text.chars().flat_map(|c| if turns_direction(c) { written_out(c).collect() } else { vec![c] }).collect();
    format!("{ISOLATE}{shown}{END_OF_ISOLATE}")
}

/// Removes the marks of [`isolated`].
pub(crate) fn unmarked(text: &str) -> String {
    text.replace([ISOLATE, END_OF_ISOLATE], "")
}

/// Escapes foreign text that stands alone.
pub(crate) fn name(text: &str) -> String {
    format!("<bdi>{}</bdi>", marked_up(text, true))
}

/// Escapes text for HTML attributes and titles.
pub(crate) fn attribute(text: &str) -> String {
    escaped(&visible(&unmarked(text)))
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    marked_up(text, false)
}

/// Converts text to HTML, with isolated parts as `<bdi>` elements.
///
/// Hidden characters are spelled out. Direction marks within isolated text stay, because they belong to the script.
fn marked_up(text: &str, isolated: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        match c {
            ISOLATE if !inside => {
                safe += "<bdi>";
                inside = true;
            }
            END_OF_ISOLATE if inside => {
                safe += "</bdi>";
                inside = false;
            }
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            '\n' => safe.push(c),
            c if is_direction_mark(c) && (isolated || inside) => safe.push(c),
            c if is_hidden(c) => safe.extend(written_out(c)),
            c => safe.push(c),
        }
    }
    if inside { safe + "</bdi>" } else { safe }
}
