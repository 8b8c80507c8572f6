//! One attribute: its name, its categories, and which value is which.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::error::SchemaError;
use super::{MAX_CATEGORIES, RESERVED_PREFIX};
use crate::nearest::nearest;

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
    pub(super) text: AttributeText,
    codes: HashMap<String, u16>,
}

/// An attribute as files write it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttributeText {
    pub(super) name: String,
    #[serde(default)]
    pub(super) kind: Kind,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) public: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edges: Vec<Edge>,
    pub(super) categories: Vec<String>,
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

    pub(super) fn checked(text: AttributeText) -> Result<Attribute, SchemaError> {
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
