//! What is wrong with a schema, and what would be right.

use std::fmt;

use super::{MAX_CATEGORIES, RESERVED_PREFIX};

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
    /// An attribute without a name.
    #[error("an attribute has an empty name")]
    EmptyName,
    /// A name that would disturb whatever prints it.
    #[error("attribute \"{0}\": a name cannot hold control characters")]
    ControlCharacter(String),
    /// A name that candor's own columns use.
    #[error("attribute \"{0}\": names that begin with \"{RESERVED_PREFIX}\" are reserved")]
    ReservedName(String),
    /// Two attributes of one name.
    #[error("two attributes are named \"{0}\"")]
    DuplicateAttribute(String),
    /// A public attribute that is part of a randomized one, or the other way round.
    #[error(
        "the attribute \"{public}\" cannot be public beside \"{randomized}\", which is randomized: what stands between \"*\" is a \
         column of its own, and true values of one would be published; randomize both, or rename one"
    )]
    PublicTruth {
        /// The public attribute.
        public: String,
        /// The randomized one.
        randomized: String,
    },
    /// Too few or too many categories.
    #[error(
        "attribute \"{attribute}\" has {categories} {}; it takes from {least} to {MAX_CATEGORIES}",
        plural(*categories, "category", "categories")
    )]
    Categories {
        /// Which attribute.
        attribute: String,
        /// How many it has.
        categories: usize,
        /// How many it needs.
        least: usize,
    },
    /// A category listed twice.
    #[error("attribute \"{attribute}\" lists the category \"{category}\" twice")]
    DuplicateCategory {
        /// Which attribute.
        attribute: String,
        /// Which category.
        category: String,
    },
    /// Edges or a grid that cannot be.
    #[error("attribute \"{attribute}\": {problem}")]
    Numbers {
        /// Which attribute.
        attribute: String,
        /// What is wrong.
        problem: String,
    },
    /// No attribute of that name.
    #[error("there is no attribute \"{name}\"{}", suggestion(nearest.as_deref()))]
    UnknownAttribute {
        /// The name looked for.
        name: String,
        /// The name that is most like it.
        nearest: Option<String>,
    },
}

/// "; did you mean ...?" or nothing.
pub(crate) fn suggestion(nearest: Option<&str>) -> impl fmt::Display {
    nearest.map_or(String::new(), |nearest| format!("; did you mean \"{nearest}\"?"))
}

fn plural<'a>(n: usize, one: &'a str, many: &'a str) -> &'a str {
    if n == 1 { one } else { many }
}
