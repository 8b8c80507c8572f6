//! Lists of names, with one rule for quotation marks everywhere.
//!
//! A name that contains a separator (`,` `;` `:` `|`) is put in quotation marks, `"` or `'`, which are doubled inside:
//! `"a,b";c` names `a,b` and `c`. Quotation marks count only at the beginning of a name. Elsewhere they are part of it,
//! as in `O'Hara`.

/// Error of a quotation mark that is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the quote {0} is not closed; double a quote inside a name")]
pub struct OpenQuote(pub char);

/// Splits a text at separators outside quotation marks.
///
/// Surrounding spaces are removed; quotation marks are kept.
///
/// # Errors
/// Returns [`OpenQuote`] if a quotation mark is not closed.
///
/// ```
/// use candor_runtime::names::{split, unquoted};
///
/// assert_eq!(split("\"a,b\", c", ',')?, ["\"a,b\"", "c"]);
/// assert_eq!(unquoted("\"a,b\""), "a,b");
/// # Ok::<(), candor_runtime::names::OpenQuote>(())
/// ```
pub fn split(text: &str, separator: char) -> Result<Vec<&str>, OpenQuote> {
    let (mut parts, mut start) = (Vec::new(), 0);
    // A name begins at the start, or after a separator.
    let (mut quote, mut fresh) = (None, true);
    for (at, sign) in text.char_indices() {
        match quote {
            // A doubled quotation mark closes and opens again.
            Some(open) if sign == open => (quote, fresh) = (None, true),
            Some(_) => {}
            None if fresh && (sign == '"' || sign == '\'') => quote = Some(sign),
            None if sign == separator => {
                parts.push(text[start..at].trim());
                (start, fresh) = (at + sign.len_utf8(), true);
            }
            None => fresh = sign.is_whitespace() && fresh || SIGNS.contains(sign),
        }
    }
    match quote {
        Some(open) => Err(OpenQuote(open)),
        None => {
            parts.push(text[start..].trim());
            Ok(parts)
        }
    }
}

/// The separators of lists, after which a name begins.
const SIGNS: &str = ",;:|";

/// Returns a name without its quotation marks, if it has any.
pub fn unquoted(name: &str) -> String {
    let name = name.trim();
    let inside = |quote: char| name.strip_prefix(quote)?.strip_suffix(quote).filter(|_| name.len() > 1);
    match ['"', '\''].into_iter().find_map(|quote| Some((quote, inside(quote)?))) {
        Some((quote, inside)) => inside.replace(&format!("{quote}{quote}"), &quote.to_string()),
        None => name.to_owned(),
    }
}

/// Returns a name as lists contain it: in quotation marks if necessary.
pub fn quoted(name: &str) -> String {
    let plain = !name.is_empty()
        && name.trim() == name
        && !name.starts_with(['"', '\''])
        && !name.contains([',', ';', ':', '|']);
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Parses a list of names separated by commas.
///
/// # Errors
/// Returns [`OpenQuote`] if a quotation mark is not closed.
pub fn list(text: &str) -> Result<Vec<String>, OpenQuote> {
    Ok(split(text, ',')?.into_iter().map(unquoted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_and_signs() {
        assert_eq!(split("a, b ;c", ';').unwrap(), ["a, b", "c"]);
        assert_eq!(split("O'Hara,x", ',').unwrap(), ["O'Hara", "x"]);
        assert_eq!(split("", ',').unwrap(), [""]);
        assert_eq!(list("\"a \"\"b\"\", c\",'it''s', d").unwrap(), ["a \"b\", c", "it's", "d"]);
        assert_eq!(split("\"a|b\" | c", '|').unwrap(), ["\"a|b\"", "c"]);
        assert_eq!(split("a,\"b", ','), Err(OpenQuote('"')));
        assert_eq!(unquoted("\""), "\"");
    }

    proptest! {
        /// Any list of names reads back as it was written.
        #[test]
        fn lists_read_back(names in proptest::collection::vec("[a ,;:|'\"=*()é]{1,6}", 1..4)) {
            let written = names.iter().map(|name| quoted(name)).collect::<Vec<_>>();
            prop_assert_eq!(&list(&written.join(", ")).unwrap(), &names);
            let joined = written.join(";");
            prop_assert_eq!(split(&joined, ';').unwrap(), written);
        }
    }
}
