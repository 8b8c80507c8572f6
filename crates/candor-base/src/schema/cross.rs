//! Cross-classifications: attributes made of several columns, and the protection of those columns.
//!
//! An attribute `a*b` contains the columns `a` and `b` of a data file, whether or not the file also has a column of
//! that name. So a schema protects every part of a randomized attribute's name, not only the full name. Public
//! attributes, kept columns, weights and groups may share none of these parts.

use std::collections::HashMap;

use super::{Attribute, Schema, SchemaError};

/// Separates the names, and the labels, in a cross-classification.
pub const CROSS: char = '*';

/// Returns the source columns in an attribute's name, which are separated by `*`.
///
/// They matter if a data file has no column of the full name. A name with an empty part is the name of one column.
pub fn parts(name: &str) -> Vec<&str> {
    let parts: Vec<&str> = name.split(CROSS).collect();
    if parts.contains(&"") { vec![name] } else { parts }
}

impl Schema {
    /// Returns the randomized attribute whose true values a column of this name would reveal, if any.
    ///
    /// It is the attribute of that name, or one that shares a part between `*` with it, in any crossing: `x*a*b`
    /// protects `a`, `a*b` and `b*c`.
    ///
    /// This is the only rule for kept columns, public attributes, weights and groups. Names are compared exactly. A
    /// copy of a column under another name is not detected.
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

/// Returns all names and parts of names of randomized attributes, each with its attribute.
fn protected(attributes: &[Attribute]) -> HashMap<&str, &Attribute> {
    let randomized = attributes.iter().filter(|attribute| !attribute.is_public());
    randomized.flat_map(|attribute| names_in(attribute.name()).map(move |name| (name, attribute))).collect()
}

/// Iterates over a name and its parts. Longer runs of parts need not be listed: names that share one share its parts.
fn names_in(name: &str) -> impl Iterator<Item = &str> {
    std::iter::once(name).chain(name.split(CROSS).filter(|part| !part.is_empty()))
}

/// Checks that no public attribute shares a part with a randomized one.
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

    /// Columns, some with `*` in their names, and the way they are crossed.
    fn crossings() -> impl Strategy<Value = Vec<Vec<String>>> {
        prop::collection::vec(prop::collection::vec("[a-d]{1,2}(\\*[a-d]{1,2})?", 1..4), 1..4)
    }

    proptest! {
        /// In any crossing, even of crossings, no column that an answer contains can be public, nor any crossing with
        /// it.
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
                    // Any run of columns, and any crossing with another column, may itself be a column.
                    for last in i..columns.len() {
                        let run = columns[i..=last].join("*");
                        prop_assert!(schema.protects(&run).is_some() && refused(&run), "{run}");
                    }
                    for made in [format!("{first}*{beside}"), format!("{beside}*{first}")] {
                        prop_assert!(schema.protects(&made).is_some() && refused(&made), "{made}");
                    }
                }
            }
            // Names that share no column are accepted.
            let parts = |name: &str| name.split('*').filter(|part| !part.is_empty()).map(str::to_owned)
                .collect::<Vec<_>>();
            let columns: Vec<String> = crossings.iter().flatten().flat_map(|column| parts(column)).collect();
            let free = parts(&beside).iter().all(|part| !columns.contains(part));
            prop_assert_eq!(schema.protects(&beside).is_none(), free);
        }
    }
}
