//! What is wrong with a schema, and what would be right.

use std::fmt;

use super::MAX_CATEGORIES;

/// What is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Not TOML, or not of a schema's form.
    #[error("not a schema: {0}")]
    Toml(String),
    /// No attribute at all.
    #[error("a schema needs at least one attribute")]
    Empty,
    /// Two attributes of one name.
    #[error("two attributes have the name \"{0}\"")]
    DuplicateAttribute(String),
    /// A public attribute that is part of a randomized one, or the other way round.
    #[error(
        "\"{public}\" cannot be public while \"{randomized}\" is randomized: names between \"*\" are columns, and the \
         true values of one would be published; randomize both, or rename one"
    )]
    PublicTruth {
        /// The public attribute.
        public: String,
        /// The randomized one.
        randomized: String,
    },
    /// An attribute that cannot be as it is described.
    #[error("attribute \"{attribute}\" {problem}")]
    Attribute {
        /// Which attribute.
        attribute: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// No attribute of that name, and perhaps one that is like it.
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

/// "; did you mean ...?" or nothing.
pub(super) fn suggestion(nearest: Option<&str>) -> impl fmt::Display {
    nearest.map_or(String::new(), |nearest| format!("; did you mean \"{nearest}\"?"))
}
