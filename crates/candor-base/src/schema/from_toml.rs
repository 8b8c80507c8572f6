//! Schemas as people write them.

use serde::Deserialize;

use super::attribute::AttributeText;
use super::{Schema, SchemaError};

/// A schema as TOML contains it: one `[[attribute]]` each.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaToml {
    attribute: Vec<AttributeText>,
}

impl Schema {
    /// Reads a schema that a person wrote (with the feature `toml`, which is on by default).
    ///
    /// # Errors
    /// Returns [`SchemaError::Toml`] if the text is not TOML or has unknown fields, and the errors of [`Schema::new`]
    /// if the schema is invalid.
    pub fn from_toml(text: &str) -> Result<Schema, SchemaError> {
        let toml: SchemaToml = toml::from_str(text).map_err(|error| {
            // Do not quote the line itself: the file may be one of true records, given by mistake.
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            SchemaError::Toml(format!("{place}{}", error.message().lines().next().unwrap_or_default()))
        })?;
        Schema::from_texts(toml.attribute)
    }
}
