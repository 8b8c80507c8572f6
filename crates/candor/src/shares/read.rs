//! Reads expected shares from files.

use std::collections::BTreeMap;

use candor_base::schema::{Attribute, Schema, nearest};
use candor_tables::TableError;
use candor_tables::codes::{UncodableRow, codes};
use candor_tables::error::InvalidValue;
use candor_tables::input::{Batch, Input};
use candor_tables::margins::{KnownShare, MARGIN_COLUMNS, margin_rows, shares};
use candor_tables::model::numbers;
use candor_tables::stochastic_rounding::fixed;

use super::{Kind, Part, Shares};

/// Columns of a file with one row for each category.
///
/// In a file with one row for each combination, the last one contains the share of the row.
const ATTRIBUTE: &str = MARGIN_COLUMNS[0];
const CATEGORY: &str = MARGIN_COLUMNS[1];
const SHARE: &str = MARGIN_COLUMNS[2];

impl Shares {
    /// Reads a file of expected shares, in one of two forms.
    ///
    /// - One row for each category, with the columns `attribute`, `category` and `share`.
    /// - One row for each combination, with a column for each known attribute and number. A column `share`
    ///   weights the rows;
    ///   without it, all rows have equal weight. Of the other columns, `wanted` are read as numbers.
    ///
    /// # Errors
    /// Returns [`TableError`] if the file cannot be read, has no attribute of the schema, or contains an invalid
    /// share.
    pub fn read(schema: &Schema, input: Input, wanted: &[String]) -> Result<Shares, TableError> {
        let has = |name: &str| input.header().iter().any(|column| column == name);
        let by_category =
            [ATTRIBUTE, CATEGORY, SHARE].into_iter().all(|name| has(name) && schema.position(name).is_err());
        match by_category {
            true => read_categories(schema, input),
            false => read_kinds(schema, wanted, input),
        }
    }
}

impl Part {
    /// Normalizes the shares; `None` if there are none.
    fn whole(mut self) -> Option<Part> {
        let sum: f64 = self.kinds.iter().map(|kind| kind.2).sum();
        self.kinds.iter_mut().for_each(|kind| kind.2 /= sum);
        (sum > 0.0 && sum.is_finite()).then_some(self)
    }
}

fn bad(batch: &Batch, row: usize, column: &str, value: &str, hint: &str) -> TableError {
    let (file, row) = (batch.file.clone(), batch.before + row as u64 + 1);
    TableError::InvalidValue(InvalidValue {
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
        for (row, KnownShare { attribute: name, category: label, share }) in margin_rows(&batch)?.iter().enumerate() {
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
            return Err(TableError::InvalidValue(value));
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
