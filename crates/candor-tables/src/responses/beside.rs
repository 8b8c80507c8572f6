//! Columns that are read in addition to responses.

/// Additional columns, by name and by pattern.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Columns<'a> {
    /// Columns by name.
    pub(crate) named: &'a [String],
    /// Pattern of the names of all replicate weight columns ([`matches`]).
    pub(crate) matching: Option<&'a str>,
}

/// Returns whether a name matches a pattern, in which `*` matches any text.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, expected) in [
            ("rep_*", "rep_1", true),
            ("rep_*", "rep_", true),
            ("rep_*", "prep_1", false),
            ("*", "", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxcyyb", false),
            ("a*ba", "aba", true),
            ("ab*ba", "aba", false),
            ("w", "w", true),
            ("w", "ww", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
