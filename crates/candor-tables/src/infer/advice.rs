//! What to say next time.

use crate::missing::{DEFAULT_MISSING, Missing};

/// What several problems suggest first, in one line to be copied; `None` if one suggests nothing.
pub(super) fn together(problems: &[String]) -> Option<String> {
    let first = |problem: &String| {
        let advice = problem.split('`').nth(1)?;
        (advice.starts_with("bins ") || advice.starts_with("drop ")).then(|| format!("`{advice}`"))
    };
    let all: Vec<String> = problems.iter().map(first).collect::<Option<_>>()?;
    (all.len() > 1).then(|| format!("  all at once: {}", all.join(" ")))
}

/// What who reads the same table must say again: words that are not the usual ones.
pub(super) fn named_again(words: &Missing) -> Option<String> {
    let Missing::Named(words) = words else { return None };
    let unusual = words.iter().any(|word| !DEFAULT_MISSING.contains(&word.as_str()));
    unusual.then(|| {
        let words = words.join(",");
        format!(
            "the schema does not hold the words for what is missing: say `missing {words}` again wherever this \
                 table is read"
        )
    })
}
