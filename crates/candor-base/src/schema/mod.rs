//! Schemas: the attributes of a record and their categories.
//!
//! Every [`Schema`] is valid: names and categories are unique, and bins fit their edges. People write schemas as TOML;
//! plans contain them as JSON with the same fields.

mod error;
mod asked_if;
mod attribute;
mod cross;
mod conditions;
mod possible;
#[cfg(feature = "toml")]
mod from_toml;

pub use asked_if::{AskedIf, NOT_ASKED};
pub use attribute::{Attribute, Kind, whole_number};
pub use cross::{CROSS, parts};
pub use error::SchemaError;
pub use possible::Component;

use serde::{Deserialize, Serialize};

pub use crate::nearest::nearest;
use crate::shape::Shape;
use attribute::AttributeText;

/// Maximum number of categories of an attribute, and of inputs or outputs of a matrix.
pub const MAX_CATEGORIES: usize = 65_535;

/// Prefix of names that are reserved for candor's own columns.
pub const RESERVED_PREFIX: &str = "candor_";

/// The attributes of a record, in order.
///
/// ```
/// use candor_base::schema::Schema;
///
/// let schema = Schema::from_toml(r#"
///     [[attribute]]
///     name = "Smokes"
///     categories = ["no", "yes"]
///
///     [[attribute]]
///     name = "Age"
///     kind = "ordinal"
///     edges = [30, 60]
///     categories = ["young", "middle", "old", ""]
/// "#)?;
/// assert_eq!(schema.attributes()[1].code_of_value("45"), Some(1));
/// assert_eq!(schema.attributes()[1].code_of_value(""), Some(3));
/// assert_eq!(schema.attributes()[0].code_of_value("maybe"), None);
/// # Ok::<(), candor_base::schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    attributes: Vec<Attribute>,
}

/// A schema as JSON contains it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SchemaJson {
    attributes: Vec<AttributeText>,
}

impl Schema {
    /// Creates a schema of these attributes.
    ///
    /// # Errors
    /// Returns a [`SchemaError`] if there is no attribute, two have the same name, a public one would reveal a
    /// randomized one (see [`Schema::protects`]), or a condition is invalid.
    pub fn new(attributes: Vec<Attribute>) -> Result<Schema, SchemaError> {
        if attributes.is_empty() {
            return Err(SchemaError::Empty);
        }
        let mut names: Vec<&str> = attributes.iter().map(Attribute::name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SchemaError::DuplicateAttribute(pair[0].to_owned()));
        }
        cross::check_public(&attributes)?;
        let schema = Schema { attributes };
        conditions::check(&schema)?;
        Ok(schema)
    }

    /// Creates attributes `a1, a2, ...` of these sizes with categories `0, 1, ...`, as `--categories 9,16,7` does.
    ///
    /// # Errors
    /// Returns a [`SchemaError`] if there is no size or one is out of range.
    pub fn with_sizes(sizes: &[usize]) -> Result<Schema, SchemaError> {
        let attribute = |(i, &size): (usize, &usize)| {
            let name = format!("a{}", i + 1);
            if !(2..=MAX_CATEGORIES).contains(&size) {
                return Err(SchemaError::categories(&name, size, 2));
            }
            Attribute::new(name, (0..size).map(|c| c.to_string()))
        };
        Schema::new(sizes.iter().enumerate().map(attribute).collect::<Result<_, _>>()?)
    }

    pub(crate) fn to_json(&self) -> SchemaJson {
        SchemaJson { attributes: self.attributes.iter().map(|attribute| attribute.text.clone()).collect() }
    }

    pub(crate) fn from_json(json: SchemaJson) -> Result<Schema, SchemaError> {
        Schema::from_texts(json.attributes)
    }

    fn from_texts(texts: Vec<AttributeText>) -> Result<Schema, SchemaError> {
        Schema::new(texts.into_iter().map(Attribute::checked).collect::<Result<_, _>>()?)
    }

    /// Returns all attributes, including public ones.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Returns the name of the attribute at this position.
    ///
    /// # Panics
    /// Panics if the position is out of range.
    pub fn name(&self, attribute: usize) -> &str {
        self.attributes[attribute].name()
    }

    /// Returns the number of categories of the attribute at this position.
    ///
    /// # Panics
    /// Panics if the position is out of range.
    #[inline]
    pub fn size(&self, attribute: usize) -> usize {
        self.attributes[attribute].categories().len()
    }

    /// Returns the number of categories of every attribute.
    pub fn sizes(&self) -> Vec<usize> {
        (0..self.attributes.len()).map(|attribute| self.size(attribute)).collect()
    }

    /// Returns the shape of the table over the attributes at these positions.
    ///
    /// # Panics
    /// Panics if a position is out of range.
    pub fn shape(&self, attributes: &[usize]) -> Shape {
        Shape::new(attributes.iter().map(|&attribute| self.size(attribute)).collect())
    }

    /// Returns the positions of the randomized attributes.
    pub fn randomized(&self) -> Vec<usize> {
        (0..self.attributes.len()).filter(|&i| !self.attributes[i].is_public()).collect()
    }

    /// Returns the position of the attribute of this name.
    ///
    /// # Errors
    /// Returns [`SchemaError::UnknownAttribute`], with the most similar name, if there is none.
    pub fn position(&self, name: &str) -> Result<usize, SchemaError> {
        self.attributes.iter().position(|attribute| attribute.name() == name).ok_or_else(|| {
            let names = self.attributes.iter().map(Attribute::name);
            SchemaError::UnknownAttribute(name.to_owned(), nearest(name, names).map(str::to_owned))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn categories(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|&label| label.to_owned()).collect()
    }

    #[test]
    fn bins_are_closed_below() {
        let age = Attribute::binned("age", &[18.0, 65.0], categories(&["", "unknown"])).unwrap();
        assert_eq!(age.categories(), ["below 18", "18 to below 65", "65 or more", "", "unknown"]);
        for (value, code) in
            [("17.99", 0), ("18", 1), (" 64 ", 1), ("65", 2), ("1e9", 2), ("-3", 0), ("", 3), ("unknown", 4)]
        {
            assert_eq!(age.code_of_value(value), Some(code), "{value}");
        }
        for value in ["NaN", "inf", "below 18", "eighteen"] {
            assert_eq!(age.code_of_value(value), None, "{value}");
        }
        let odd = Attribute::binned("x", &[1.0], categories(&["NaN", "-inf"])).unwrap();
        assert_eq!(
            (odd.code_of_value("NaN"), odd.code_of_value("-inf"), odd.code_of_value("inf")),
            (Some(2), Some(3), None)
        );
        assert_eq!(age.code_of_label("below 18"), Some(0));
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_point() {
        let whole = ["2.0", "-13.000", "0.0", "2", "2.", ".0", "2.5", "v1.0", "1e2.0", "", "-.0"].map(whole_number);
        assert_eq!(&whole[..3], [Some("2"), Some("-13"), Some("0")]);
        assert!(whole[3..].iter().all(Option::is_none), "{whole:?}");
        let scale = Attribute::new("x", categories(&["1", "2", "2.5", "3.0", ""])).unwrap();
        let codes = ["1", "1.0", "2.00", "2.5", "3.0", "", "3", "4.0", "1.5"].map(|value| scale.code_of_value(value));
        assert_eq!(codes, [Some(0), Some(0), Some(1), Some(2), Some(3), Some(4), None, None, None]);
        // Responses have the labels themselves.
        assert_eq!(scale.code_of_label("1.0"), None);
    }

    #[test]
    fn numbers_stand_between_points_of_a_grid() {
        let text = "[[attribute]]\nname = \"x\"\nkind = \"ordinal\"\ngrid = [0, 25, 50.5]\ncategories = \
                    [\"0\", \"25\", \"50.5\", \"\"]\n";
        let schema = Schema::from_toml(text).unwrap();
        let x = &schema.attributes()[0];
        assert_eq!((x.numeric_len(), x.grid().collect::<Vec<_>>()), (3, vec![0.0, 25.0, 50.5]));
        for (value, place) in
            [("0", (0, 0.0)), ("5", (0, 0.2)), (" 25.0 ", (1, 0.0)), ("50.5", (2, 0.0)), ("", (3, 0.0))]
        {
            assert_eq!(x.place_of_value(value), Some(place), "{value}");
            assert_eq!(x.code_of_value(value), Some(place.0), "{value}");
        }
        let wide = "[[attribute]]\nname = \"x\"\ngrid = [-1.5e308, 1.5e308]\ncategories = [\"a\", \"b\"]\n";
        assert_eq!(Schema::from_toml(wide).unwrap().attributes()[0].place_of_value("0"), Some((0, 0.5)));
        for value in ["-0.001", "50.51", "NaN", "inf", "few"] {
            assert_eq!(x.place_of_value(value), None, "{value}");
        }
    }

    #[test]
    fn each_mistake_has_its_own_message() {
        let parse = |text: &str| Schema::from_toml(text).unwrap_err().to_string();
        let one = |fields: &str| parse(&format!("[[attribute]]\n{fields}"));
        assert!(parse("attribute = 3").contains("not a schema"));
        assert!(parse("attribute = []").contains("at least one attribute"));
        assert!(one("name = \"\"\ncategories = [\"a\", \"b\"]").contains("empty name"));
        assert!(one("name = \"a\\nb\"\ncategories = [\"a\", \"b\"]").contains("control characters"));
        assert!(!parse("secret,value\n").contains("secret"), "a table given for a schema is not quoted");
        assert!(one("name = \"candor_tag\"\ncategories = [\"a\", \"b\"]").contains("reserved"));
        assert!(one("name = \"a\"\ncategories = [\"x\"]").contains("has 1 category; it takes from 2"));
        assert!(one("name = \"a\"\ncategories = [\"x\", \"x\"]").contains("\"x\" twice"));
        assert!(one("name = \"a\"\ncategories = [\"x\", \"y\"]\ncolour = 1").contains("colour"));
        assert!(one("name = \"a\"\nedges = [3, 2]\ncategories = [\"x\", \"y\", \"z\"]").contains("increasing"));
        assert!(one("name = \"a\"\nedges = [1, 2]\ncategories = [\"x\", \"y\"]").contains("make 3 bins"));
        assert!(one("name = \"a\"\nedges = [\"q\"]\ncategories = [\"x\", \"y\"]").contains("not a number"));
        assert!(one("name = \"a\"\ngrid = [2, 1]\ncategories = [\"x\", \"y\"]").contains("increasing"));
        assert!(one("name = \"a\"\ngrid = [1]\ncategories = [\"x\", \"y\"]").contains("two or more points"));
        assert!(one("name = \"a\"\nedges = [1]\ngrid = [1, 2]\ncategories = [\"x\", \"y\"]").contains("not by both"));
        assert!(one("name = \"a\"\ngrid = [1, 2, 3]\ncategories = [\"x\", \"y\"]").contains("3 points"));
        let twice = "[[attribute]]\nname = \"a\"\ncategories = [\"x\", \"y\"]\n".repeat(2);
        assert!(parse(&twice).contains("two attributes have the name \"a\""));
        let schema = Schema::with_sizes(&[2, 3]).unwrap();
        assert!(schema.position("A1").unwrap_err().to_string().contains("did you mean \"a1\"?"));
        assert!(Schema::with_sizes(&[1]).is_err() && Schema::with_sizes(&[]).is_err());
    }
}
