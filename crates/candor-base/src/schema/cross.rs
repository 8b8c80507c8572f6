//! Cross-classifications: attributes made of several columns, and what that means for the columns nobody may see.
//!
//! An attribute `a*b` tells about the columns `a` and `b` of a table, whether or not the table also has a column of
//! that name. So what a schema protects are not its randomized attributes' names but every part of them, and what is
//! published, kept, a weight or a group may share none.

use std::collections::HashMap;

use super::{Attribute, Schema, SchemaError};

/// Joins the names and labels of a cross-classification.
pub const CROSS: char = '*';

/// The columns that an attribute of this name is made of where a table has none of that name: what stands between `*`.
/// A name with nothing before, between or after them is the name of one column.
pub fn parts(name: &str) -> Vec<&str> {
    let parts: Vec<&str> = name.split(CROSS).collect();
    if parts.contains(&"") { vec![name] } else { parts }
}

impl Schema {
    /// The randomized attribute that a column of this name would tell the truth about, if there is one: the attribute
    /// of that name, or one that shares a part between `*` with it, however the two are crossed (`a`, `a*b` and `b*c`
    /// with `x*a*b`).
    ///
    /// This is the one rule for what can be kept beside responses, be public, a weight or a group. Names are compared
    /// exactly, as those of columns are; a copy of a column under another name is not noticed.
    ///
    /// ```
    /// use candor_base::schema::{Attribute, Schema};
    ///
    /// let categories = ["m*no", "m*yes", "f*no", "f*yes"].map(str::to_owned).to_vec();
    /// let schema = Schema::new(vec![Attribute::new("Sex*HIV", categories)?])?;
    /// assert_eq!(schema.protects("HIV").map(Attribute::name), Some("Sex*HIV"));
    /// assert_eq!(schema.protects("Region"), None);
    /// # Ok::<(), candor_base::schema::SchemaError>(())
    /// ```
    pub fn protects(&self, column: &str) -> Option<&Attribute> {
        let protected = protected(&self.attributes);
        names_in(column).find_map(|name| protected.get(name)).copied()
    }
}

/// All names that randomized attributes go by, with an attribute for each.
fn protected(attributes: &[Attribute]) -> HashMap<&str, &Attribute> {
    let randomized = attributes.iter().filter(|attribute| !attribute.is_public());
    randomized.flat_map(|attribute| names_in(attribute.name()).map(move |name| (name, attribute))).collect()
}

/// A name, and its parts. A longer run of parts is not listed: whoever has it in common has its parts in common.
fn names_in(name: &str) -> impl Iterator<Item = &str> {
    std::iter::once(name).chain(name.split(CROSS).filter(|part| !part.is_empty()))
}

/// What is public is not part of what is randomized, nor made of it.
pub(super) fn check_public(attributes: &[Attribute]) -> Result<(), SchemaError> {
    let protected = protected(attributes);
    for public in attributes.iter().filter(|attribute| attribute.is_public()) {
        if let Some(randomized) = names_in(public.name()).find_map(|name| protected.get(name)) {
            let (public, randomized) = (public.name().to_owned(), randomized.name().to_owned());
            return Err(SchemaError::PublicTruth { public, randomized });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn attribute(name: &str) -> Attribute {
        Attribute::new(name, vec!["0".to_owned(), "1".to_owned()]).unwrap()
    }

    #[test]
    fn parts_and_what_shares_them() {
        assert_eq!(parts("a*b*c"), ["a", "b", "c"]);
        for whole in ["a", "a*", "*", "a**b", ""] {
            assert_eq!(parts(whole), [whole]);
        }
        let schema = Schema::new(vec![attribute("x*a*b"), attribute("income*"), attribute("*")]).unwrap();
        let found = |column: &str| schema.protects(column).map(Attribute::name);
        for column in ["x", "a", "b", "x*a", "a*b", "x*a*b", "b*c", "c*x", "a*"] {
            assert_eq!(found(column), Some("x*a*b"), "{column}");
        }
        assert_eq!((found("income"), found("income*"), found("*")), (Some("income*"), Some("income*"), Some("*")));
        for column in ["", "c", "A", "sex*", "ab", "x a", "**", " a"] {
            assert_eq!(found(column), None, "{column}");
        }
    }

    /// Columns, some with `*` in their names, and which of them are crossed.
    fn crossings() -> impl Strategy<Value = Vec<Vec<String>>> {
        prop::collection::vec(prop::collection::vec("[a-d]{1,2}(\\*[a-d]{1,2})?", 1..4), 1..4)
    }

    proptest! {
        /// However columns are crossed, and crossings crossed again: neither a column that an answer is made of nor any
        /// combination with one can be public.
        #[test]
        fn no_source_of_a_randomized_answer_is_public(
            crossings in crossings(), beside in "[a-f]{1,2}(\\*[a-f]{0,2})*",
        ) {
            let mut randomized = Vec::new();
            for columns in &crossings {
                let name = columns.join("*");
                if randomized.iter().all(|other: &Attribute| other.name() != name) {
                    randomized.push(attribute(&name));
                }
            }
            let schema = Schema::new(randomized.clone()).unwrap();
            let refused = |name: &str| {
                let mut all = randomized.clone();
                all.push(attribute(name).public());
                matches!(Schema::new(all), Err(SchemaError::PublicTruth { .. } | SchemaError::DuplicateAttribute(_)))
            };
            for columns in &crossings {
                for (i, first) in columns.iter().enumerate() {
                    // Any run of columns may itself be a column; and so may a crossing with another.
                    for last in i..columns.len() {
                        let run = columns[i..=last].join("*");
                        prop_assert!(schema.protects(&run).is_some() && refused(&run), "{run}");
                    }
                    for made in [format!("{first}*{beside}"), format!("{beside}*{first}")] {
                        prop_assert!(schema.protects(&made).is_some() && refused(&made), "{made}");
                    }
                }
            }
            // What shares no column is not refused.
            let parts = |name: &str| name.split('*').filter(|part| !part.is_empty()).map(str::to_owned)
                .collect::<Vec<_>>();
            let columns: Vec<String> = crossings.iter().flatten().flat_map(|column| parts(column)).collect();
            let free = parts(&beside).iter().all(|part| !columns.contains(part));
            prop_assert_eq!(schema.protects(&beside).is_none(), free);
        }
    }
}
