//! Expected shares of a study, from a pilot, a register or an assumption.
//!
//! Attributes that a file does not contain are assumed uniform, and numbers standard normal. Both are assumed
//! independent of everything else (docs/reference/counts.md).

use std::collections::BTreeMap;

use candor_analysis::regress::normal_points;
use candor_base::schema::Schema;

use crate::error::StudyError;

#[cfg(feature = "tables")]
mod read;

/// Number of quadrature nodes for a number with unknown distribution.
const POINTS: usize = 20;

/// Maximum number of combinations that are distinguished.
const MAX_KINDS: usize = 1 << 20;

/// Expected shares of the categories of attributes, alone or jointly, and the distribution of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// Parts with independent distributions.
    parts: Vec<Part>,
}

/// A combination of categories and numbers, with its share.
pub type Kind = (Vec<u16>, Vec<f64>, f64);

/// Attributes and numbers with a joint distribution.
#[derive(Clone, Debug, Default, PartialEq)]
struct Part {
    attributes: Vec<usize>,
    numbers: Vec<String>,
    kinds: Vec<Kind>,
}

impl Shares {
    /// Creates expected shares without information: every attribute is uniform.
    pub fn uniform() -> Shares {
        Shares::default()
    }

    /// Returns whether the file contains an attribute.
    pub fn knows(&self, attribute: usize) -> bool {
        self.parts.iter().any(|part| part.attributes.contains(&attribute))
    }

    /// Returns whether the file contains a number.
    pub fn knows_number(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part.numbers.iter().any(|own| own == name))
    }

    /// Returns the expected share of each category of an attribute.
    pub fn of(&self, schema: &Schema, attribute: usize) -> Vec<f64> {
        let mut shares = vec![0.0; schema.size(attribute)];
        let of = |part: &Part| part.attributes.iter().position(|own| *own == attribute);
        match self.parts.iter().find_map(|part| Some((part, of(part)?))) {
            None => shares.fill(1.0 / schema.size(attribute) as f64),
            Some((part, at)) => part.kinds.iter().for_each(|kind| shares[usize::from(kind.0[at])] += kind.2),
        }
        shares
    }

    /// Returns the expected share of each cell of a table, with the first attribute varying slowest.
    ///
    /// # Errors
    /// Returns [`StudyError::Refused`] if too many combinations must be distinguished.
    pub fn table(&self, schema: &Schema, attributes: &[usize]) -> Result<Vec<f64>, StudyError> {
        let shape = schema.shape(attributes);
        let mut shares = vec![0.0; shape.cells()];
        for (codes, _, share) in self.kinds(schema, attributes, &[])? {
            shares[shape.cell(&codes)] += share;
        }
        Ok(shares)
    }

    /// Returns all combinations of these attributes and numbers, with their shares.
    ///
    /// # Errors
    /// Returns [`StudyError::Refused`] if there are too many.
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

    /// Restricts the part to these attributes and numbers, in this order.
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

    /// Combines two independent parts.
    fn beside(&self, other: &Part) -> Result<Part, StudyError> {
        if self.kinds.len().saturating_mul(other.kinds.len()) > MAX_KINDS {
            return Err(StudyError::Refused(format!(
                "more than {MAX_KINDS} combinations of values must be distinguished; remove variables, or list in \
                 `expected_shares` which combinations occur"
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
