//! Schemas: the attributes of a record and their categories.
//!
//! A schema that exists is valid: names are unique, categories are unique, bins fit their edges.
//! People write schemas as TOML; plans carry them as JSON with the same fields.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The largest number of categories of an attribute, and of inputs or outputs of a matrix.
pub const MAX_CATEGORIES: usize = 65_535;

/// Names that begin like this are kept for columns that candor writes itself.
pub const RESERVED_PREFIX: &str = "candor_";

/// Whether the order of the categories means something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Categories without an order.
    #[default]
    Nominal,
    /// Categories from least to most.
    Ordinal,
}

/// One question: a name and the categories of its answer.
#[derive(Clone, Debug)]
pub struct Attribute {
    text: AttributeText,
    codes: HashMap<String, u16>,
}

/// An attribute as files write it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttributeText {
    name: String,
    #[serde(default)]
    kind: Kind,
    #[serde(default, skip_serializing_if = "is_false")]
    public: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edges: Vec<Edge>,
    categories: Vec<String>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A bin edge: a number in TOML, its shortest decimals in JSON (plans hold no floats).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Edge(f64);

impl Serialize for Edge {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_string())
    }
}

impl<'de> Deserialize<'de> for Edge {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Edge, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Integer(i64),
            Float(f64),
            Text(String),
        }
        Ok(Edge(match Written::deserialize(deserializer)? {
            Written::Integer(n) => n as f64,
            Written::Float(x) => x,
            Written::Text(text) => {
                text.parse().map_err(|_| serde::de::Error::custom(format!("the edge \"{text}\" is not a number")))?
            }
        }))
    }
}

impl PartialEq for Attribute {
    fn eq(&self, other: &Attribute) -> bool {
        self.text == other.text
    }
}

impl Attribute {
    /// A nominal attribute.
    ///
    /// # Errors
    /// If the name is empty or reserved, or the categories are too few, too many or not unique.
    pub fn new(name: impl Into<String>, categories: Vec<String>) -> Result<Attribute, SchemaError> {
        let (name, kind) = (name.into(), Kind::Nominal);
        Attribute::checked(AttributeText { name, kind, public: false, edges: Vec::new(), categories })
    }

    /// A nominal attribute that is published as it is; one category is enough.
    ///
    /// # Errors
    /// As [`Attribute::new`].
    pub fn new_public(name: impl Into<String>, categories: Vec<String>) -> Result<Attribute, SchemaError> {
        let (name, kind) = (name.into(), Kind::Nominal);
        Attribute::checked(AttributeText { name, kind, public: true, edges: Vec::new(), categories })
    }

    /// The same attribute with ordered categories.
    #[must_use]
    pub fn ordinal(mut self) -> Attribute {
        self.text.kind = Kind::Ordinal;
        self
    }

    /// The same attribute, never randomized.
    #[must_use]
    pub fn public(mut self) -> Attribute {
        self.text.public = true;
        self
    }

    /// An ordinal attribute whose values are numbers, put into bins: below the first edge, from
    /// one edge up to but not including the next, and from the last edge on. Categories beyond the
    /// bins (`extra`) are for values that are not numbers, such as the empty one.
    ///
    /// # Errors
    /// If there is no edge, they are not finite and increasing, or as [`Attribute::new`].
    pub fn binned(name: impl Into<String>, edges: &[f64], extra: Vec<String>) -> Result<Attribute, SchemaError> {
        let label = |bin: usize| match bin {
            0 => edges.first().map_or(String::new(), |edge| format!("below {edge}")),
            bin if bin == edges.len() => format!("{} or more", edges[bin - 1]),
            bin => format!("{} to below {}", edges[bin - 1], edges[bin]),
        };
        let mut categories: Vec<String> = (0..=edges.len()).map(label).collect();
        categories.extend(extra);
        let edges = edges.iter().copied().map(Edge).collect();
        Attribute::checked(AttributeText { name: name.into(), kind: Kind::Ordinal, public: false, edges, categories })
    }

    fn checked(text: AttributeText) -> Result<Attribute, SchemaError> {
        let name = || text.name.clone();
        if text.name.is_empty() {
            return Err(SchemaError::EmptyName);
        }
        if text.name.chars().any(char::is_control) {
            return Err(SchemaError::ControlCharacter(text.name.escape_debug().to_string()));
        }
        if text.name.starts_with(RESERVED_PREFIX) {
            return Err(SchemaError::ReservedName(name()));
        }
        let least = if text.public { 1 } else { 2 };
        if !(least..=MAX_CATEGORIES).contains(&text.categories.len()) {
            return Err(SchemaError::Categories { attribute: name(), categories: text.categories.len(), least });
        }
        let mut codes = HashMap::with_capacity(text.categories.len());
        for (code, category) in text.categories.iter().enumerate() {
            if codes.insert(category.clone(), code as u16).is_some() {
                return Err(SchemaError::DuplicateCategory { attribute: name(), category: category.clone() });
            }
        }
        let increasing = text.edges.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !increasing || text.edges.iter().any(|edge| !edge.0.is_finite()) {
            return Err(SchemaError::Edges(name()));
        }
        if !text.edges.is_empty() && text.categories.len() <= text.edges.len() {
            return Err(SchemaError::Bins {
                attribute: name(),
                categories: text.categories.len(),
                bins: text.edges.len() + 1,
            });
        }
        Ok(Attribute { text, codes })
    }

    /// The name, which is also the name of its column.
    pub fn name(&self) -> &str {
        &self.text.name
    }

    /// Nominal or ordinal.
    pub fn kind(&self) -> Kind {
        self.text.kind
    }

    /// Whether the attribute is published as it is.
    pub fn is_public(&self) -> bool {
        self.text.public
    }

    /// The labels of the categories; a category's code is its position here.
    pub fn categories(&self) -> &[String] {
        &self.text.categories
    }

    /// The edges of its bins; empty for an attribute that is not binned.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.text.edges.iter().map(|edge| edge.0)
    }

    /// Whether its values are numbers to be put into bins.
    pub fn is_binned(&self) -> bool {
        !self.text.edges.is_empty()
    }

    /// The code of a value as it stands in a table: the bin of a number if the attribute is
    /// binned, else the category of that label. The empty text stands for a missing value.
    pub fn code_of_value(&self, value: &str) -> Option<u16> {
        if self.is_binned()
            && let Some(code) = value.trim().parse().ok().and_then(|number| self.code_of_number(number))
        {
            return Some(code);
        }
        let code = self.code_of_label(value)?;
        // The label of a bin is not a value.
        (usize::from(code) > self.text.edges.len() || !self.is_binned()).then_some(code)
    }

    /// The bin of a number; `None` if it is not finite or the attribute is not binned.
    pub fn code_of_number(&self, number: f64) -> Option<u16> {
        (self.is_binned() && number.is_finite())
            .then(|| self.text.edges.partition_point(|edge| edge.0 <= number) as u16)
    }

    /// The code of the category with that label, as it stands in responses.
    pub fn code_of_label(&self, label: &str) -> Option<u16> {
        self.codes.get(label).copied()
    }

    /// The category whose label is most like the value, if any is like it.
    pub fn nearest_category(&self, value: &str) -> Option<&str> {
        nearest(value, self.text.categories.iter().map(String::as_str))
    }
}

/// The candidate most like a word that was not found, for error messages; `None` if none is.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.trim().to_lowercase();
    let score = |candidate: &str| strsim::normalized_damerau_levenshtein(&folded, &candidate.trim().to_lowercase());
    candidates
        .map(|candidate| (score(candidate), candidate))
        .filter(|(score, _)| *score >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The attributes of a record, in order.
///
/// ```
/// use candor::schema::Schema;
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
/// # Ok::<(), candor::schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    attributes: Vec<Attribute>,
}

/// A schema as JSON writes it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SchemaJson {
    attributes: Vec<AttributeText>,
}

/// A schema as TOML writes it: one `[[attribute]]` each.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaToml {
    attribute: Vec<AttributeText>,
}

impl Schema {
    /// A schema of the given attributes.
    ///
    /// # Errors
    /// If there is none or two have the same name.
    pub fn new(attributes: Vec<Attribute>) -> Result<Schema, SchemaError> {
        if attributes.is_empty() {
            return Err(SchemaError::Empty);
        }
        let mut names: Vec<&str> = attributes.iter().map(Attribute::name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SchemaError::DuplicateAttribute(pair[0].to_owned()));
        }
        Ok(Schema { attributes })
    }

    /// Attributes `a1, a2, ...` of the given sizes with categories `0, 1, ...`: what
    /// `--categories 9,16,7` stands for.
    ///
    /// # Errors
    /// If a size is out of range or there is none.
    pub fn of_sizes(sizes: &[usize]) -> Result<Schema, SchemaError> {
        let attribute = |(i, &size): (usize, &usize)| {
            let name = format!("a{}", i + 1);
            if !(2..=MAX_CATEGORIES).contains(&size) {
                return Err(SchemaError::Categories { attribute: name, categories: size, least: 2 });
            }
            Attribute::new(name, (0..size).map(|c| c.to_string()).collect())
        };
        Schema::new(sizes.iter().enumerate().map(attribute).collect::<Result<_, _>>()?)
    }

    /// Reads a schema that a person wrote.
    ///
    /// # Errors
    /// If the text is not TOML, has unknown fields, or describes no valid schema.
    pub fn from_toml(text: &str) -> Result<Schema, SchemaError> {
        let toml: SchemaToml = toml::from_str(text).map_err(|error| {
            // Not the line itself: it may be that of a table of true records, given by mistake.
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            SchemaError::Toml(format!("{place}{}", error.message().lines().next().unwrap_or_default()))
        })?;
        Schema::from_texts(toml.attribute)
    }

    /// The schema as a person would write it.
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let mut toml = String::new();
        for (i, attribute) in self.attributes.iter().enumerate() {
            let text = &attribute.text;
            if i > 0 {
                toml += "\n";
            }
            toml += &format!("[[attribute]]\nname = {}\n", quoted(&text.name));
            if text.kind == Kind::Ordinal {
                toml += "kind = \"ordinal\"\n";
            }
            if text.public {
                toml += "public = true\n";
            }
            if attribute.is_binned() {
                let edges: Vec<String> = attribute.edges().map(|edge| toml::Value::from(edge).to_string()).collect();
                toml += &format!("edges = [{}]\n", edges.join(", "));
            }
            let categories: Vec<String> = text.categories.iter().map(|label| quoted(label)).collect();
            let line = categories.join(", ");
            if line.len() <= 100 {
                toml += &format!("categories = [{line}]\n");
            } else {
                toml += &format!("categories = [\n    {},\n]\n", categories.join(",\n    "));
            }
        }
        toml
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

    /// All attributes, public ones too.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The positions of the attributes that are randomized.
    pub fn private(&self) -> Vec<usize> {
        (0..self.attributes.len()).filter(|&i| !self.attributes[i].is_public()).collect()
    }

    /// The position of the attribute of that name.
    ///
    /// # Errors
    /// If there is none; names the nearest.
    pub fn position(&self, name: &str) -> Result<usize, SchemaError> {
        self.attributes.iter().position(|attribute| attribute.name() == name).ok_or_else(|| {
            let names = self.attributes.iter().map(Attribute::name);
            SchemaError::UnknownAttribute { name: name.to_owned(), nearest: nearest(name, names).map(str::to_owned) }
        })
    }
}

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
    /// Bin edges out of order.
    #[error("the edges of attribute \"{0}\" must be finite numbers in increasing order")]
    Edges(String),
    /// Fewer categories than bins.
    #[error("attribute \"{attribute}\" has {categories} categories, but its edges make {bins} bins, each a category")]
    Bins {
        /// Which attribute.
        attribute: String,
        /// How many categories it lists.
        categories: usize,
        /// How many bins the edges make.
        bins: usize,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn categories(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|&label| label.to_owned()).collect()
    }

    #[test]
    fn toml_round_trip_with_awkward_labels() {
        let schema = Schema::new(vec![
            Attribute::new("a \"b\"", categories(&["", "x\ny", "ü;", "'"])).unwrap().ordinal(),
            Attribute::binned("age", &[18.0, 65.5], categories(&["?"])).unwrap(),
            Attribute::new("region", categories(&["north", "south"])).unwrap().public(),
            Attribute::new("long", (0..60).map(|i| format!("category {i}")).collect()).unwrap(),
        ])
        .unwrap();
        assert_eq!(Schema::from_toml(&schema.to_toml()), Ok(schema));
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
        let twice = "[[attribute]]\nname = \"a\"\ncategories = [\"x\", \"y\"]\n".repeat(2);
        assert!(parse(&twice).contains("two attributes are named \"a\""));
        let schema = Schema::of_sizes(&[2, 3]).unwrap();
        assert!(schema.position("A1").unwrap_err().to_string().contains("did you mean \"a1\"?"));
        assert!(Schema::of_sizes(&[1]).is_err() && Schema::of_sizes(&[]).is_err());
    }

    #[test]
    fn the_nearest_category_is_named_only_if_it_is_near() {
        let attribute = Attribute::new("e", categories(&["Bachelors", "Masters", "HS-grad"])).unwrap();
        assert_eq!(attribute.nearest_category(" bachelor"), Some("Bachelors"));
        assert_eq!(attribute.nearest_category("1234"), None);
    }
}
