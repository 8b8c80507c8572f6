//! Shares that a study anticipates: from a pilot, a register or a guess.
//!
//! Attributes that a file does not name are taken for uniform, numbers for standard normal, and both for independent of
//! everything else (docs/reference/formats.md, "Anticipated shares").

use std::collections::BTreeMap;

use candor_analysis::regress::normal_points;
use candor_base::schema::{Attribute, Schema, nearest};
use candor_tables::TableError;
use candor_tables::codes::{UncodableRow, codes};
use candor_tables::error::InvalidValue;
use candor_tables::input::{Batch, Input};
use candor_tables::margins::{MARGIN_COLUMNS, MarginRow, margin_rows, shares};
use candor_tables::model::numbers;
use candor_tables::stochastic_rounding::fixed;

use crate::error::StudyError;

/// The columns of a file with one row for each category of an attribute; the last also says how often a row of a file
/// of people occurs.
const ATTRIBUTE: &str = MARGIN_COLUMNS[0];
const CATEGORY: &str = MARGIN_COLUMNS[1];
const SHARE: &str = MARGIN_COLUMNS[2];

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

    /// Reads a table: either one row for each category, with the columns `attribute`, `category` and `share`; or one
    /// row for each kind of people, with a column for each attribute and number that is known and, unless each row
    /// counts alike, `share`. Of other columns, `wanted` are read as numbers.
    ///
    /// # Errors
    /// If the table cannot be read, has no attribute of the schema, or a share is none.
    pub fn read(schema: &Schema, wanted: &[String], input: Input) -> Result<Shares, TableError> {
        let has = |name: &str| input.header().iter().any(|column| column == name);
        let by_category =
            [ATTRIBUTE, CATEGORY, SHARE].into_iter().all(|name| has(name) && schema.position(name).is_err());
        match by_category {
            true => read_categories(schema, input),
            false => read_kinds(schema, wanted, input),
        }
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

    /// The same with shares that sum to one; `None` if there are none.
    fn whole(mut self) -> Option<Part> {
        let sum: f64 = self.kinds.iter().map(|kind| kind.2).sum();
        self.kinds.iter_mut().for_each(|kind| kind.2 /= sum);
        (sum > 0.0 && sum.is_finite()).then_some(self)
    }
}

fn bad(batch: &Batch, row: usize, column: &str, value: &str, hint: &str) -> TableError {
    let (file, row) = (batch.file.clone(), batch.before + row as u64 + 1);
    TableError::Value(InvalidValue {
        file,
        row,
        column: column.to_owned(),
        value: value.to_owned(),
        hint: hint.to_owned(),
    })
}

fn read_categories(schema: &Schema, input: Input) -> Result<Shares, TableError> {
    let file = input.name().to_owned();
    let mut found: BTreeMap<usize, Vec<Kind>> = BTreeMap::new();
    for batch in input.batches(&MARGIN_COLUMNS.map(str::to_owned))? {
        let batch = batch?;
        for (row, MarginRow { attribute: name, category: label, share }) in margin_rows(&batch)?.iter().enumerate() {
            let attribute =
                schema.position(name).map_err(|error| bad(&batch, row, ATTRIBUTE, name, &error.to_string()))?;
            let code = code(&schema.attributes()[attribute], label)
                .map_err(|hint| bad(&batch, row, CATEGORY, label, &hint))?;
            found.entry(attribute).or_default().push((vec![code], Vec::new(), *share));
        }
    }
    let part = |(attribute, kinds): (usize, Vec<Kind>)| {
        let part = Part::new(vec![attribute], Vec::new(), kinds.into_iter()).whole();
        let message = format!("the shares of \"{}\" sum to nothing", schema.name(attribute));
        part.ok_or(TableError::Shares { file: file.clone(), message })
    };
    Ok(Shares { parts: found.into_iter().map(part).collect::<Result<_, _>>()? })
}

fn code(attribute: &Attribute, label: &str) -> Result<u16, String> {
    let categories = attribute.categories();
    categories.iter().position(|own| own == label).map(|code| code as u16).ok_or_else(|| {
        let near = nearest(label, categories.iter().map(String::as_str));
        let near = near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
        format!("is no category of \"{}\"{near}", attribute.name())
    })
}

fn read_kinds(schema: &Schema, wanted: &[String], input: Input) -> Result<Shares, TableError> {
    let has = |name: &str| input.header().iter().any(|column| column == name);
    let attributes: Vec<usize> = (0..schema.attributes().len()).filter(|&at| has(schema.name(at))).collect();
    let names: Vec<String> = wanted.iter().filter(|name| has(name)).cloned().collect();
    let weighted = has(SHARE) && schema.position(SHARE).is_err();
    let file = input.name().to_owned();
    let wrong = |message: &str| TableError::Shares { file: file.clone(), message: message.to_owned() };
    if attributes.is_empty() && names.is_empty() {
        return Err(wrong(
            "no column is an attribute of the plan; shares have the columns attribute, category and share, or one for \
             each attribute",
        ));
    }
    let mut columns: Vec<String> = attributes.iter().map(|&at| schema.name(at).to_owned()).collect();
    columns.extend(names.iter().cloned().chain(weighted.then(|| SHARE.to_owned())));
    let mut all = Part { attributes, numbers: names, kinds: Vec::new() };
    for batch in input.batches(&columns)? {
        let batch = batch?;
        let mut unfit = None;
        let coded = all.attributes.iter().enumerate().map(|(column, &at)| {
            let report = |bad: UncodableRow<'_>| unfit = unfit.take().or_else(|| Some(bad.told()));
            codes(&batch, column, &schema.attributes()[at], &mut fixed(column as u64), report)
        });
        let coded = coded.collect::<Result<Vec<_>, _>>()?;
        if let Some(value) = unfit {
            return Err(TableError::Value(value));
        }
        let rule = "it is a number in the model";
        let values = all.numbers.iter().map(|name| numbers(&batch, name, rule)).collect::<Result<Vec<_>, _>>()?;
        let rows = batch.columns.num_rows();
        let counts = if weighted { shares(&batch)? } else { vec![1.0; rows] };
        let row = |row: usize| {
            let codes = coded.iter().map(|column| column[row]).collect();
            (codes, values.iter().map(|column| column[row]).collect(), counts[row])
        };
        let kinds = std::mem::take(&mut all.kinds).into_iter().chain((0..rows).map(row));
        all = Part::new(all.attributes, all.numbers, kinds);
    }
    let all = all.whole().ok_or_else(|| wrong("there are no rows with a share above 0"))?;
    Ok(Shares { parts: vec![all] })
}
