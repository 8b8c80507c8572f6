//! Rust source as text: what is code in it, and its functions.

/// The code alone, on the same lines: no comments, no text in quotes, nothing under `#[cfg(test)]`.
pub fn code(source: &str) -> String {
    without_tests(&without_text(source))
}

/// Comments and what stands in quotes become spaces; lines stay.
fn without_text(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let inside_word = kept.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => quoted(rest, '"'),
            'b' if !inside_word && rest.starts_with("b\"") => 1 + quoted(&rest[1..], '"'),
            'r' | 'b' if !inside_word && raw_quotes(rest).is_some() => raw_quotes(rest).expect("just found"),
            '\'' if is_character(rest) => quoted(rest, '\''),
            _ => {
                kept.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        let (text, after) = rest.split_at(length);
        kept.extend(text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = after;
    }
    kept
}

/// The length of a block comment, with those inside it.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        let rest = &text[at..];
        match (rest.starts_with("/*"), rest.starts_with("*/")) {
            (true, _) => (depth, at) = (depth + 1, at + 2),
            (_, true) => (depth, at) = (depth - 1, at + 2),
            _ => at += rest.chars().next().map_or(0, char::len_utf8),
        }
        if depth == 0 || at >= text.len() {
            return at;
        }
    }
}

/// The length of text in quotes, with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of `r"..."`, `r#"..."#`, `br#"..."#` and so on, if the text begins with one.
fn raw_quotes(text: &str) -> Option<usize> {
    let body = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let hashes = body.chars().take_while(|c| *c == '#').count();
    let inside = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = text.len() - inside.len();
    Some(inside.find(&end).map_or(text.len(), |at| start + at + end.len()))
}

/// Whether a quote opens a character, not a lifetime.
fn is_character(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    match chars.next() {
        Some('\\') => true,
        Some(_) => chars.next() == Some('\''),
        None => false,
    }
}

/// What stands under `#[cfg(test)]` becomes empty lines.
fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        let item = &rest[at..];
        let end = match (item.find('{'), item.find(';')) {
            (Some(open), semicolon) if semicolon.is_none_or(|s| open < s) => open + braces(&item[open..]),
            (_, semicolon) => semicolon.map_or(item.len(), |s| s + 1),
        };
        kept.extend(item[..end].chars().filter(|c| *c == '\n'));
        rest = &item[end..];
    }
    kept.push_str(rest);
    kept
}

/// The length of a block in braces.
fn braces(code: &str) -> usize {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// How many lines hold code.
pub fn lines_of_code(source: &str) -> usize {
    code(source).lines().filter(|line| !line.trim().is_empty()).count()
}

/// The functions with a body, and how many lines each takes from `fn` to its last brace.
pub fn functions(source: &str) -> Vec<(String, usize)> {
    let code = code(source);
    let starts = code.match_indices("fn ").map(|(at, _)| at);
    let is_word = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let function = |at: usize| {
        let name: String = code[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // The body begins at the first brace outside all brackets, unless the declaration ends before.
        let mut depth = 0;
        let body = code[at..].char_indices().find(|(_, c)| {
            depth += i32::from("([".contains(*c)) - i32::from(")]".contains(*c));
            depth == 0 && "{;".contains(*c)
        });
        let (open, _) = body.filter(|(_, c)| *c == '{' && !name.is_empty())?;
        let end = at + open + braces(&code[at + open..]);
        Some((name, code[at..end].matches('\n').count() + 1))
    };
    starts.filter(|&at| is_word(at)).filter_map(function).collect()
}

#[test]
fn code_is_what_is_left_without_comments_text_and_tests() {
    let source = concat!(
        "/// use crate::never;\n",
        "fn one<'a>(x: &'a str) -> char { /* a /* nested */ brace { */ '{' }\n\n",
        "const TEXT: &str = \"} \\\" crate::never\";\n",
        "const RAW: &str = r#\"fn \"no\" { crate::never\"#;\n",
        "#[cfg(test)]\nmod tests {\n    use crate::never;\n    fn two() {}\n}\n",
        "fn three(\n    a: [u8; 2],\n) {\n    four();\n}\n",
    );
    let left = code(source);
    assert!(!left.contains("never") && !left.contains("two"), "{left}");
    assert_eq!(left.lines().count(), source.lines().count());
    assert_eq!(lines_of_code(source), 3 + 5);
    assert_eq!(functions(source), [("one".to_owned(), 1), ("three".to_owned(), 5)]);
}
