//! Errors of schemas, with suggestions.

use std::fmt;

use super::MAX_CATEGORIES;

/// The problem of an invalid schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is not TOML, or not in the form of a schema.
    #[error("not a schema: {0}")]
    Toml(String),
    /// The schema has no attribute.
    #[error("a schema needs at least one attribute")]
    Empty,
    /// Two attributes have the same name.
    #[error("two attributes have the name \"{0}\"")]
    DuplicateAttribute(String),
    /// A public attribute shares a source column with a randomized one.
    #[error(
        "\"{public}\" cannot be public while \"{randomized}\" is randomized: names between \"*\" are columns, and the \
         true values of one would be published; randomize both, or rename one"
    )]
    PublicTruth {
        /// The public attribute.
        public: String,
        /// The randomized attribute.
        randomized: String,
    },
    /// An attribute is invalid.
    #[error("attribute \"{attribute}\" {problem}")]
    Attribute {
        /// The attribute.
        attribute: String,
        /// The problem, and the fix.
        problem: String,
    },
    /// No attribute has this name; the second field is a similar name, if any.
    #[error("there is no attribute \"{0}\"{suggested}", suggested = suggestion(.1.as_deref()))]
    UnknownAttribute(String, Option<String>),
}

impl SchemaError {
    pub(super) fn categories(attribute: &str, found: usize, least: usize) -> SchemaError {
        let noun = if found == 1 { "category" } else { "categories" };
        SchemaError::of(attribute, format!("has {found} {noun}; it takes from {least} to {MAX_CATEGORIES}"))
    }

    pub(super) fn of(attribute: &str, problem: String) -> SchemaError {
        SchemaError::Attribute { attribute: attribute.escape_debug().to_string(), problem }
    }
}

/// Formats "; did you mean ...?", or nothing.
pub(super) fn suggestion(nearest: Option<&str>) -> impl fmt::Display {
    nearest.map_or(String::new(), |nearest| format!("; did you mean \"{nearest}\"?"))
}
