//! Writes estimated tables as CSV or Parquet, with one row per number.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};

use crate::TableError;
use crate::output::Target;
use crate::parquet_output::ParquetOutput;
use crate::spreadsheet::safe_cell;

/// A number of an estimated table or of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimateRow {
    /// The table, as in the query.
    pub table: String,
    /// The quantity: `share`, `difference`, `ratio`, `mean` or `variance`.
    pub quantity: &'static str,
    /// Names and categories of the grouping attributes; empty for everybody.
    pub group: Vec<(String, String)>,
    /// Names and categories of the cell.
    pub cell: Vec<(String, String)>,
    /// Estimate; NaN if unknown.
    pub estimate: f64,
    /// Standard error, lower and upper confidence limit; NaN if undefined.
    pub uncertainty: [f64; 3],
    /// Share for publication; NaN if it must not be published.
    pub shown: f64,
    /// Publication status of a share; empty for other quantities.
    pub reliability: &'static str,
}

impl EstimateRow {
    /// Returns the numbers in the order of their columns.
    fn numbers(&self) -> [f64; 5] {
        let [standard_error, low, high] = self.uncertainty;
        [self.estimate, standard_error, low, high, self.shown]
    }
}

/// Layout of the columns that identify a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout<'a> {
    /// One column for each attribute, in this order; empty if a table does not contain the attribute.
    Columns(&'a [String]),
    /// One column for the categories, and another for the group.
    Joined,
}

/// Names of the columns with numbers.
const NUMBERS: [&str; 5] = ["estimate", "standard_error", "low", "high", "shown_estimate"];

/// Name of the last column, the publication status.
const RELIABILITY: &str = "reliability";

/// Text columns, with `None` for attributes that are not in the table.
type Texts<'r> = Vec<(String, Vec<Option<&'r str>>)>;

/// Returns the name of a column, changed if an attribute has the same name.
fn own(name: &str, attributes: &[String]) -> String {
    let taken = attributes.iter().any(|attribute| attribute.eq_ignore_ascii_case(name));
    if taken { format!("candor_{name}") } else { name.to_owned() }
}

fn by_attribute<'r>(rows: &'r [EstimateRow], attributes: &[String]) -> Texts<'r> {
    let of = |row: &'r EstimateRow, name: &str| {
        row.cell.iter().chain(&row.group).find(|(known, _)| known == name).map(|(_, category)| category.as_str())
    };
    let used = attributes.iter().filter(|name| rows.iter().any(|row| of(row, name).is_some()));
    let mut texts: Texts<'r> = vec![
        (own("table", attributes), rows.iter().map(|row| Some(&row.table[..])).collect()),
        (own("quantity", attributes), rows.iter().map(|row| Some(row.quantity)).collect()),
    ];
    texts.extend(used.map(|name| (name.clone(), rows.iter().map(|row| of(row, name)).collect())));
    texts
}

/// A column of text or numbers, with missing values.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum EstimateColumn<'r> {
    /// Names, categories and publication status.
    Text(Vec<Option<&'r str>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
}

impl EstimateColumn<'_> {
    fn array(self) -> ArrayRef {
        match self {
            EstimateColumn::Text(labels) => Arc::new(StringArray::from(labels)),
            EstimateColumn::Number(numbers) => Arc::new(Float64Array::from(numbers)),
        }
    }
}

/// Returns the columns of rows, by name.
///
/// There is one for each of these attributes that occurs, after the columns for the quantity and before those for
/// numbers.
pub fn estimate_columns<'r>(rows: &'r [EstimateRow], attributes: &[String]) -> Vec<(String, EstimateColumn<'r>)> {
    let texts = by_attribute(rows, attributes).into_iter();
    texts.map(|(name, labels)| (name, EstimateColumn::Text(labels))).chain(last(rows, attributes)).collect()
}

/// Returns the columns of numbers and of the publication status.
fn last<'r>(rows: &'r [EstimateRow], attributes: &[String]) -> Vec<(String, EstimateColumn<'r>)> {
    let number = |(at, name): (usize, &str)| {
        let numbers = rows.iter().map(|row| Some(row.numbers()[at]).filter(|value| value.is_finite()));
        (own(name, attributes), EstimateColumn::Number(numbers.collect()))
    };
    let grades = rows.iter().map(|row| Some(row.reliability).filter(|grade| !grade.is_empty()));
    let grades = (own(RELIABILITY, attributes), EstimateColumn::Text(grades.collect()));
    NUMBERS.into_iter().enumerate().map(number).chain([grades]).collect()
}

fn joined_group(row: &EstimateRow) -> String {
    row.group.iter().map(|(name, category)| format!("{name}={category}")).collect::<Vec<_>>().join(",")
}

fn categories(row: &EstimateRow) -> Vec<&str> {
    row.cell.iter().map(|(_, category)| category.as_str()).collect()
}

/// Formats rows as CSV. With `safe_cells`, cells that could be formulas are escaped.
pub fn estimates_csv(rows: &[EstimateRow], layout: Layout<'_>, safe_cells: bool) -> String {
    let quoted = |text: &str| {
        let text = if safe_cells { safe_cell(text) } else { text.into() };
        match text.contains([',', '"', '\n', '\r']) || text.is_empty() {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.into_owned(),
        }
    };
    let number = |value: f64| if value.is_finite() { value.to_string() } else { String::new() };
    let numbers = |row: &EstimateRow| {
        let numbers = row.numbers().map(number);
        format!("{},{}", numbers.join(","), row.reliability)
    };
    let mut text = String::new();
    match layout {
        Layout::Joined => {
            text += "table,group,cell,estimate,standard_error,low,high,shown_estimate,reliability\n";
            for row in rows {
                let cell = quoted(&categories(row).join("*"));
                let _ = writeln!(text, "{},{},{cell},{}", quoted(&row.table), quoted(&joined_group(row)), numbers(row));
            }
        }
        Layout::Columns(attributes) => {
            let texts = by_attribute(rows, attributes);
            let last = NUMBERS.into_iter().chain([RELIABILITY]).map(|name| own(name, attributes));
            let names = texts.iter().map(|(name, _)| quoted(name)).chain(last);
            text += &names.collect::<Vec<_>>().join(",");
            text.push('\n');
            for (at, row) in rows.iter().enumerate() {
                // An empty category is quoted, and an attribute that is not in the table is empty.
                let labels = texts.iter().map(|(_, labels)| labels[at].map_or(String::new(), quoted));
                let _ = writeln!(text, "{},{}", labels.collect::<Vec<_>>().join(","), numbers(row));
            }
        }
    }
    text
}

/// Writes rows as Parquet, atomically. With [`Layout::Joined`], the categories are a list.
///
/// # Errors
/// Returns [`TableError`] if the file cannot be written.
pub fn write_estimates(target: &Target, rows: &[EstimateRow], layout: Layout<'_>) -> Result<(), TableError> {
    let failed = |message: String| target.failed(std::io::Error::other(message));
    let columns: Vec<(String, ArrayRef)> = match layout {
        Layout::Joined => {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for row in rows {
                categories(row).iter().for_each(|category| lists.values().append_value(category));
                lists.append(true);
            }
            let tables = StringArray::from_iter_values(rows.iter().map(|row| &row.table));
            let groups = StringArray::from_iter_values(rows.iter().map(joined_group));
            let texts: [(&str, ArrayRef); 3] =
                [("table", Arc::new(tables)), ("group", Arc::new(groups)), ("categories", Arc::new(lists.finish()))];
            let texts = texts.into_iter().map(|(name, column)| (name.to_owned(), column));
            texts.chain(last(rows, &[]).into_iter().map(|(name, column)| (name, column.array()))).collect()
        }
        Layout::Columns(attributes) => {
            estimate_columns(rows, attributes).into_iter().map(|(name, column)| (name, column.array())).collect()
        }
    };
    let nullable = columns.into_iter().map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(nullable).map_err(|error| failed(error.to_string()))?;
    let mut writer = ParquetOutput::new(target, batch.schema())?;
    writer.write(&batch, target)?;
    writer.end(target)?.finish()
}
