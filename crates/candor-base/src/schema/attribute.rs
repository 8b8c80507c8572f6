//! One attribute: its name, its categories, and which value is which.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::asked_if::{AskedIf, NOT_ASKED};
use super::error::SchemaError;
use super::{MAX_CATEGORIES, RESERVED_PREFIX};

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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttributeText {
    pub(super) name: String,
    #[serde(default)]
    pub(super) kind: Kind,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) public: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edges: Vec<Edge>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    grid: Vec<Edge>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) asked_if: Option<AskedIf>,
    pub(super) categories: Vec<String>,
}

impl AttributeText {
    fn nominal(name: String, public: bool, categories: Vec<String>) -> AttributeText {
        AttributeText { name, public, categories, ..AttributeText::default() }
    }

    /// What is wrong with its numbers, if anything.
    fn numbers_wrong(&self) -> Option<String> {
        let listed = || self.edges.iter().chain(&self.grid).map(|number| number.0);
        let increasing = |numbers: &[Edge]| numbers.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let (bins, points, categories) = (self.edges.len() + 1, self.grid.len(), self.categories.len());
        if !listed().all(f64::is_finite) || !increasing(&self.edges) || !increasing(&self.grid) {
            return Some("needs finite numbers in increasing order for its edges or grid".to_owned());
        }
        if bins > 1 && points > 0 || points == 1 {
            return Some("takes numbers by edges or by a grid of two or more points, not by both".to_owned());
        }
        let made = if bins > 1 { format!("edges make {bins} bins") } else { format!("grid has {points} points") };
        let few = categories < points || bins > 1 && categories < bins;
        few.then(|| format!("has {categories} categories, but its {made}, each a category"))
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A bin edge or a point of a grid: a number in TOML, its shortest decimals in JSON (plans hold no floats).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "String")]
struct Edge(f64);

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Text(String),
}

impl From<Edge> for String {
    fn from(edge: Edge) -> String {
        edge.0.to_string()
    }
}

impl TryFrom<Written> for Edge {
    type Error = String;

    fn try_from(written: Written) -> Result<Edge, String> {
        match written {
            Written::Number(number) => Ok(Edge(number)),
            Written::Text(text) => text.parse().map(Edge).map_err(|_| format!("\"{text}\" is not a number")),
        }
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
        Attribute::checked(AttributeText::nominal(name.into(), false, categories))
    }

    /// A nominal attribute that is published as it is; one category is enough.
    ///
    /// # Errors
    /// As [`Attribute::new`].
    pub fn new_public(name: impl Into<String>, categories: Vec<String>) -> Result<Attribute, SchemaError> {
        Attribute::checked(AttributeText::nominal(name.into(), true, categories))
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
        let text = AttributeText::nominal(name.into(), false, categories);
        let edges = edges.iter().copied().map(Edge).collect();
        Attribute::checked(AttributeText { kind: Kind::Ordinal, edges, ..text })
    }

    pub(super) fn checked(mut text: AttributeText) -> Result<Attribute, SchemaError> {
        if text.asked_if.is_some() {
            text.categories.retain(|label| label != NOT_ASKED);
            text.categories.push(NOT_ASKED.to_owned());
        }
        let mut codes = HashMap::with_capacity(text.categories.len());
        let mut again = None;
        for (code, category) in text.categories.iter().enumerate() {
            again = again.or(codes.insert(category.clone(), code as u16).map(|_| category));
        }
        let (least, found) = (if text.public { 1 } else { 2 }, text.categories.len());
        if !(least..=MAX_CATEGORIES).contains(&found) {
            return Err(SchemaError::categories(&text.name, found, least));
        }
        let wrong = match again {
            _ if text.name.is_empty() => Some("has an empty name".to_owned()),
            _ if text.name.chars().any(char::is_control) => Some("has control characters in its name".to_owned()),
            _ if text.name.starts_with(RESERVED_PREFIX) => {
                Some(format!("cannot have that name: those that begin with \"{RESERVED_PREFIX}\" are reserved"))
            }
            Some(category) => Some(format!("lists the category \"{category}\" twice")),
            None => text.numbers_wrong(),
        };
        match wrong {
            Some(problem) => Err(SchemaError::of(&text.name, problem)),
            None => Ok(Attribute { text, codes }),
        }
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

    /// Iterates over the edges of the bins; none if the attribute is not binned.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.text.edges.iter().map(|edge| edge.0)
    }

    /// Iterates over the grid points of stochastic rounding; none if numbers are not rounded.
    pub fn grid(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.text.grid.iter().map(|point| point.0)
    }

    /// Returns how many categories stand for numbers: the bins or grid points, which come first; 0 if values are
    /// labels.
    pub fn numeric_len(&self) -> usize {
        if self.text.edges.is_empty() { self.text.grid.len() } else { self.text.edges.len() + 1 }
    }

    /// The code of a value as it stands in a table: the bin of a number if the attribute has edges, else the category
    /// of that label. The empty text stands for a missing value. Of a number between two points of a grid, the lower
    /// one: see [`Attribute::place_of_value`].
    pub fn code_of_value(&self, value: &str) -> Option<u16> {
        self.place_of_value(value).map(|(code, _)| code)
    }

    /// The code of a value, and with what probability its code is the next one instead: 0 but for numbers between two
    /// points of a grid, which are rounded at random so that their expectation is the number. That comes before any
    /// channel, and no guarantee depends on it.
    pub fn place_of_value(&self, value: &str) -> Option<(u16, f64)> {
        let number = (self.numeric_len() > 0).then(|| value.trim().parse().ok()).flatten();
        // The label of a bin, or of a point, is not a value. Nothing is said of a question that was not asked.
        let own = || self.code_of_label(value).filter(|code| usize::from(*code) >= self.numeric_len());
        let label = || own().or_else(|| self.not_asked().filter(|_| value.is_empty()));
        number.and_then(|number| self.place_of_number(number)).or_else(|| label().map(|code| (code, 0.0)))
    }

    /// The same of a number; `None` if it is not finite, outside the grid, or values are labels.
    pub fn place_of_number(&self, number: f64) -> Option<(u16, f64)> {
        let at = |numbers: &[Edge]| numbers.partition_point(|edge| edge.0 <= number);
        let (edges, grid) = (&self.text.edges, &self.text.grid);
        match at(grid) {
            _ if !number.is_finite() => None,
            _ if !edges.is_empty() => Some((at(edges) as u16, 0.0)),
            0 => None,
            above if above < grid.len() => {
                // Halves do not overflow.
                let (low, high) = (grid[above - 1].0 / 2.0, grid[above].0 / 2.0);
                Some((above as u16 - 1, (number / 2.0 - low) / (high - low)))
            }
            last => (grid[last - 1].0 == number).then_some((last as u16 - 1, 0.0)),
        }
    }

    /// The code of the category with that label, as it stands in responses.
    pub fn code_of_label(&self, label: &str) -> Option<u16> {
        self.codes.get(label).copied()
    }

    /// Whom it is asked; `None` if everybody.
    pub fn asked_if(&self) -> Option<&AskedIf> {
        self.text.asked_if.as_ref()
    }

    /// The code of the category of those who are not asked, if there are any.
    pub fn not_asked(&self) -> Option<u16> {
        self.asked_if().map(|_| self.categories().len() as u16 - 1)
    }

    /// Whether a category is an answer: neither the missing one, `""`, nor that of those who are not asked.
    pub fn is_answer(&self, code: usize) -> bool {
        !self.categories()[code].is_empty() && self.not_asked().map(usize::from) != Some(code)
    }

    /// The same attribute with the same categories, whoever is asked: for a schema that lacks the attribute its
    /// condition is about.
    #[must_use]
    pub fn without_condition(mut self) -> Attribute {
        self.text.asked_if = None;
        self
    }
}
