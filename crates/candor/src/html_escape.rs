//! Text that is not ours, so that no name can break out of its place or turn the text around it.

use candor_runtime::escape_control::{is_direction_mark, is_hidden, turns_direction, visible, written_out};

/// Around text that is not ours within a sentence: Unicode's characters for an isolate, `<bdi>` in HTML, nothing in
/// plain text.
const ISOLATE: char = '\u{2068}';
const END_OF_ISOLATE: char = '\u{2069}';

/// A name or a label within a sentence of a page: whatever its direction, the words around it keep theirs.
pub fn isolated(text: &str) -> String {
    let shown: String =
        text.chars().flat_map(|c| if turns_direction(c) { written_out(c).collect() } else { vec![c] }).collect();
    format!("{ISOLATE}{shown}{END_OF_ISOLATE}")
}

/// A sentence without the marks of [`isolated`].
pub(crate) fn unmarked(text: &str) -> String {
    text.replace([ISOLATE, END_OF_ISOLATE], "")
}

/// Text that is not ours, alone in its place.
pub(crate) fn name(text: &str) -> String {
    format!("<bdi>{}</bdi>", marked_up(text, true))
}

/// Text where HTML takes no elements: in attributes and titles.
pub(crate) fn attribute(text: &str) -> String {
    escaped(&visible(&unmarked(text)))
}

/// Text that HTML takes for text.
pub(crate) fn escaped(text: &str) -> String {
    marked_up(text, false)
}

/// Text as HTML, what is isolated in elements that are always closed. Hidden characters are written out, but for marks
/// of direction in what is isolated, itself or as a whole: there they belong to the script.
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
