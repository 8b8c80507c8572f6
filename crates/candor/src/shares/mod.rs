//! Shares that a study anticipates: from a pilot, a register or a guess.
//!
//! Attributes that a file does not name are taken for uniform, numbers for standard normal, and both for independent of
//! everything else (docs/reference/formats.md, "Anticipated shares").

use std::collections::BTreeMap;

use candor_analysis::regress::normal_points;
use candor_base::schema::Schema;

use crate::error::StudyError;

#[cfg(feature = "tables")]
mod read;

/// Points that stand for a number of which nothing is known.
const POINTS: usize = 20;

/// At most so many kinds of people are told apart.
const MAX_KINDS: usize = 1 << 20;

/// What is anticipated of people: the shares of attributes, alone or together, and of numbers beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// Independent of each other.
    parts: Vec<Part>,
}

/// A kind of people: the categories and numbers that were asked for, and how many are of this kind.
pub type Kind = (Vec<u16>, Vec<f64>, f64);

/// Attributes and numbers that occur together.
#[derive(Clone, Debug, Default, PartialEq)]
struct Part {
    attributes: Vec<usize>,
    numbers: Vec<String>,
    kinds: Vec<Kind>,
}

impl Shares {
    /// Nothing is known.
    pub fn uniform() -> Shares {
        Shares::default()
    }

    /// Whether something is known of an attribute.
    pub fn knows(&self, attribute: usize) -> bool {
        self.parts.iter().any(|part| part.attributes.contains(&attribute))
    }

    /// Whether something is known of a number.
    pub fn knows_number(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part.numbers.iter().any(|own| own == name))
    }

    /// The share of each category of an attribute.
    pub fn of(&self, schema: &Schema, attribute: usize) -> Vec<f64> {
        let mut shares = vec![0.0; schema.size(attribute)];
        let of = |part: &Part| part.attributes.iter().position(|own| *own == attribute);
        match self.parts.iter().find_map(|part| Some((part, of(part)?))) {
            None => shares.fill(1.0 / schema.size(attribute) as f64),
            Some((part, at)) => part.kinds.iter().for_each(|kind| shares[usize::from(kind.0[at])] += kind.2),
        }
        shares
    }

    /// The share of each cell of a table, first attribute slowest.
    ///
    /// # Errors
    /// If there are too many kinds of people to tell apart.
    pub fn table(&self, schema: &Schema, attributes: &[usize]) -> Result<Vec<f64>, StudyError> {
        let shape = schema.shape(attributes);
        let mut shares = vec![0.0; shape.cells()];
        for (codes, _, share) in self.kinds(schema, attributes, &[])? {
            shares[shape.cell(&codes)] += share;
        }
        Ok(shares)
    }

    /// All kinds of people who differ in these attributes and numbers.
    ///
    /// # Errors
    /// If they are too many.
    pub fn kinds(&self, schema: &Schema, attributes: &[usize], names: &[String]) -> Result<Vec<Kind>, StudyError> {
        let unknown = attributes.iter().filter(|&&attribute| !self.knows(attribute)).map(|&attribute| {
            let size = schema.size(attribute);
            let kind = |code: usize| (vec![code as u16], Vec::new(), 1.0 / size as f64);
            Part { attributes: vec![attribute], numbers: Vec::new(), kinds: (0..size).map(kind).collect() }
        });
        let normal = names.iter().filter(|name| !self.knows_number(name)).map(|name| {
            let kind = |(number, share)| (Vec::new(), vec![number], share);
            Part {
                attributes: Vec::new(),
                numbers: vec![name.clone()],
                kinds: normal_points(POINTS).into_iter().map(kind).collect(),
            }
        });
        let mut all = Part { kinds: vec![(Vec::new(), Vec::new(), 1.0)], ..Part::default() };
        for part in self.parts.iter().cloned().chain(unknown).chain(normal) {
            all = all.beside(&part.of(attributes, names))?;
        }
        Ok(all.of(attributes, names).kinds)
    }
}

impl Part {
    fn new(attributes: Vec<usize>, numbers: Vec<String>, kinds: impl Iterator<Item = Kind>) -> Part {
        let mut found: BTreeMap<(Vec<u16>, Vec<u64>), f64> = BTreeMap::new();
        for (codes, values, share) in kinds.filter(|kind| kind.2 > 0.0) {
            let bits = values.iter().map(|value| (value + 0.0).to_bits()).collect();
            *found.entry((codes, bits)).or_default() += share;
        }
        let kind = |((codes, bits), share): ((Vec<u16>, Vec<u64>), f64)| {
            (codes, bits.into_iter().map(f64::from_bits).collect(), share)
        };
        Part { attributes, numbers, kinds: found.into_iter().map(kind).collect() }
    }

    /// Those of the attributes and numbers that it has, in this order.
    fn of(&self, attributes: &[usize], names: &[String]) -> Part {
        let places: Vec<usize> =
            attributes.iter().filter_map(|at| self.attributes.iter().position(|own| own == at)).collect();
        let columns: Vec<usize> =
            names.iter().filter_map(|name| self.numbers.iter().position(|own| own == name)).collect();
        let kind = |(codes, values, share): &Kind| {
            let codes = places.iter().map(|&at| codes[at]).collect();
            (codes, columns.iter().map(|&at| values[at]).collect(), *share)
        };
        Part::new(
            places.iter().map(|&at| self.attributes[at]).collect(),
            columns.iter().map(|&at| self.numbers[at].clone()).collect(),
            self.kinds.iter().map(kind),
        )
    }

    /// The two together, independent of each other.
    fn beside(&self, other: &Part) -> Result<Part, StudyError> {
        if self.kinds.len().saturating_mul(other.kinds.len()) > MAX_KINDS {
            return Err(StudyError::Refused(format!(
                "there are more than {MAX_KINDS} kinds of people to tell apart; leave variables out, or say in \
                 `expected_shares` which occur together"
            )));
        }
        let both = |(codes, values, share): &Kind| -> Vec<Kind> {
            let joined =
                |(more, others, own): &Kind| ([&codes[..], more].concat(), [&values[..], others].concat(), share * own);
            other.kinds.iter().map(joined).collect()
        };
        Ok(Part {
            attributes: [&self.attributes[..], &other.attributes].concat(),
            numbers: [&self.numbers[..], &other.numbers].concat(),
            kinds: self.kinds.iter().flat_map(both).collect(),
        })
    }
}
