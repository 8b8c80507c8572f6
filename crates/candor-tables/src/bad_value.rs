//! A value that does not fit, and how much of it may be shown.

use std::fmt;

use crate::escape_control::visible;

/// A value that does not fit the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// The file's name.
    pub file: String,
    /// Which row.
    pub row: u64,
    /// Which column.
    pub column: String,
    /// The value; empty if missing.
    pub value: String,
    /// What would be right.
    pub hint: String,
}

impl BadValue {
    /// The same, of a value that is not `what` it should be by a rule; if it is missing, the rule is all there is to
    /// say.
    pub(crate) fn not(mut self, what: &str, rule: &str) -> BadValue {
        self.hint = if self.value.is_empty() { rule.to_owned() } else { format!("is not {what}; {rule}") };
        self
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadValue { row, column, value, hint, .. } = self;
        match value.as_str() {
            "" => write!(f, "row {row}, column \"{column}\": the value is missing; {hint}"),
            value => write!(f, "row {row}, column \"{column}\": \"{}\" {hint}", shown(value)),
        }
    }
}

/// A value as it may be shown: short, on one line, and nothing hidden in it. Whatever a table of true records says is
/// shown like this, also names and types of its columns: it may lack its header, and types hold whatever their fields
/// are called.
pub fn shown(value: &str) -> String {
    const MAX: usize = 60;
    let short: String = value.chars().take(MAX).collect();
    let text = visible(&short).replace('\n', "\\n");
    if value.chars().nth(MAX).is_some() { text + "..." } else { text }
}
