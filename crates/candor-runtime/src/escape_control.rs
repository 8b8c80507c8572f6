//! Safe display of names and values from files.
//!
//! No displayed text may move the cursor, change the direction of other text, or hide the text that follows.

/// Returns the text with control and direction characters escaped, such as `\u{202e}`; line ends stay.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push(c),
            c if is_hidden(c) => shown.extend(written_out(c)),
            c => shown.push(c),
        }
    }
    shown
}

/// Returns whether a character is invisible but affects how others are displayed.
///
/// These are control characters, and characters that control the direction of text.
pub fn is_hidden(c: char) -> bool {
    c.is_control() || turns_direction(c) || is_direction_mark(c)
}

/// Returns whether a character starts or ends an embedding, override or isolate of text direction.
pub fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a character is an invisible direction mark, which acts like a letter of its direction.
pub fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// Returns the escape sequence of a hidden character.
pub fn written_out(c: char) -> impl Iterator<Item = char> {
    let text = if c.is_control() { c.escape_debug().to_string() } else { c.escape_unicode().to_string() };
    text.chars().collect::<Vec<char>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(visible("a\u{1b}[2Jb\r\nc\td\u{7f}\u{9b}"), "a\\u{1b}[2Jb\\r\nc\\td\\u{7f}\\u{9b}");
        let turned = "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200e}\u{200f}\u{61c}";
        let shown = visible(turned);
        assert!(shown.is_ascii() && shown.starts_with("\\u{202a}\\u{202b}") && shown.ends_with("\\u{200f}\\u{61c}"));
        assert_eq!(shown.matches("\\u{").count(), 12);
        assert_eq!(visible("häß \u{5d0}\u{5d1} \u{4e2d}"), "häß \u{5d0}\u{5d1} \u{4e2d}", "letters stay");
    }
}
