//! One attribute: its name, its categories, and the code of each value.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::asked_if::{AskedIf, NOT_ASKED};
use super::error::SchemaError;
use super::{MAX_CATEGORIES, RESERVED_PREFIX};

/// Whether the categories of an attribute are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Categories without an order.
    #[default]
    Nominal,
    /// Categories in increasing order.
    Ordinal,
}

/// One question: a name and the categories of its answer.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub(super) text: AttributeText,
    codes: HashMap<String, u16>,
}

/// An attribute as files contain it.
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
    fn nominal(name: String, public: bool, categories: impl IntoIterator<Item = impl Into<String>>) -> AttributeText {
        let categories = categories.into_iter().map(Into::into).collect();
        AttributeText { name, public, categories, ..AttributeText::default() }
    }

    /// Returns the problem with its edges or grid, if any.
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

/// A bin edge or grid point: a number in TOML, its shortest decimals in JSON, because plans hold no floats.
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

/// Returns `2` for `2.0`, as programs write a column of whole numbers with missing values; `None` for any other
/// text.
pub fn whole_number(value: &str) -> Option<&str> {
    let (whole, fraction) = value.split_once('.')?;
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let has_only_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (has_only_digits && !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0')).then_some(whole)
}

impl Attribute {
    /// Creates a nominal attribute.
    ///
    /// ```
    /// use candor_base::schema::{Attribute, Schema};
    ///
    /// let smokes = Attribute::new("smokes", ["no", "yes"])?;
    /// let school = Attribute::new("school", ["none", "some", "much"])?.ordinal();
    /// let region = Attribute::new_public("region", ["north", "south"])?;
    /// assert_eq!(Schema::new(vec![smokes, school, region])?.randomized(), [0, 1]);
    /// # Ok::<(), candor_base::schema::SchemaError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`SchemaError::Attribute`] if the name is empty, reserved or has control characters, or if the
    /// categories are too few, too many or not unique.
    pub fn new(
        name: impl Into<String>,
        categories: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Attribute, SchemaError> {
        Attribute::checked(AttributeText::nominal(name.into(), false, categories))
    }

    /// Creates a nominal attribute that is published unchanged, for which one category is enough.
    ///
    /// # Errors
    /// Returns the errors of [`Attribute::new`].
    pub fn new_public(
        name: impl Into<String>,
        categories: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Attribute, SchemaError> {
        Attribute::checked(AttributeText::nominal(name.into(), true, categories))
    }

    /// Returns the attribute with its categories marked as ordered.
    #[must_use]
    pub fn ordinal(mut self) -> Attribute {
        self.text.kind = Kind::Ordinal;
        self
    }

    /// Returns the attribute as a public one, which is never randomized.
    #[must_use]
    pub fn public(mut self) -> Attribute {
        self.text.public = true;
        self
    }

    /// Creates an ordinal attribute whose values are numbers in bins.
    ///
    /// The bins are: below the first edge, from one edge up to but not including the next, and from the last edge on.
    /// The categories in `extra` come after the bins. They are for values that are not numbers, such as the empty one.
    ///
    /// # Errors
    /// Returns [`SchemaError::Attribute`] if the edges are not finite and increasing, and the errors of
    /// [`Attribute::new`].
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

    /// Returns the name, which is also the name of its column.
    pub fn name(&self) -> &str {
        &self.text.name
    }

    /// Returns whether the categories are nominal or ordinal.
    pub fn kind(&self) -> Kind {
        self.text.kind
    }

    /// Returns whether the attribute is published unchanged.
    pub fn is_public(&self) -> bool {
        self.text.public
    }

    /// Returns the labels of the categories; a category's code is its position here.
    pub fn categories(&self) -> &[String] {
        &self.text.categories
    }

    /// Iterates over the edges of the bins; empty if the attribute is not binned.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.text.edges.iter().map(|edge| edge.0)
    }

    /// Iterates over the grid points of stochastic rounding; empty if numbers are not rounded.
    pub fn grid(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.text.grid.iter().map(|point| point.0)
    }

    /// Returns the number of categories that stand for numbers, or 0 if values are labels.
    ///
    /// These are the bins or grid points, which come first.
    pub fn numeric_len(&self) -> usize {
        if self.text.edges.is_empty() { self.text.grid.len() } else { self.text.edges.len() + 1 }
    }

    /// Returns the code of a value in a data file, or `None` if it has none.
    ///
    /// A number has the code of its bin if the attribute has edges. Between two points of a grid it has the code of the
    /// lower point: see [`Attribute::place_of_value`]. Other values have the code of their label, or of
    /// [`whole_number`]: `2.0` is in the category `2`. The empty text is a missing value.
    pub fn code_of_value(&self, value: &str) -> Option<u16> {
        self.place_of_value(value).map(|(code, _)| code)
    }

    /// Returns the code of a value, and the probability that rounding gives the next code instead.
    ///
    /// The probability is 0 except for numbers between two points of a grid, which stochastic rounding keeps right in
    /// expectation. Rounding comes before any channel, and no guarantee depends on it.
    pub fn place_of_value(&self, value: &str) -> Option<(u16, f64)> {
        let number = (self.numeric_len() > 0).then(|| value.trim().parse().ok()).flatten();
        // The label of a bin or grid point is not a value. An empty value means that the question was not asked.
        let listed = || self.code_of_label(value).or_else(|| self.code_of_label(whole_number(value)?));
        let own = || listed().filter(|code| usize::from(*code) >= self.numeric_len());
        let label = || own().or_else(|| self.not_asked().filter(|_| value.is_empty()));
        number.and_then(|number| self.place_of_number(number)).or_else(|| label().map(|code| (code, 0.0)))
    }

    /// Returns [`Attribute::place_of_value`] of a number.
    ///
    /// Returns `None` if the number is not finite or outside the grid, or if values are labels.
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

    /// Returns the code of the category with this label, as responses contain it.
    pub fn code_of_label(&self, label: &str) -> Option<u16> {
        self.codes.get(label).copied()
    }

    /// Returns the condition under which the question is asked, or `None` if everybody is asked.
    pub fn asked_if(&self) -> Option<&AskedIf> {
        self.text.asked_if.as_ref()
    }

    /// Returns the code of the category of respondents who are not asked, if there is one.
    pub fn not_asked(&self) -> Option<u16> {
        self.asked_if().map(|_| self.categories().len() as u16 - 1)
    }

    /// Returns whether a category is an answer: neither the missing value `""` nor "not asked".
    pub fn is_answer(&self, code: usize) -> bool {
        !self.categories()[code].is_empty() && self.not_asked().map(usize::from) != Some(code)
    }

    /// Returns the attribute with the same categories but without its condition.
    ///
    /// Use it for a schema that lacks the attribute on which the condition depends.
    #[must_use]
    pub fn without_condition(mut self) -> Attribute {
        self.text.asked_if = None;
        self
    }
}
