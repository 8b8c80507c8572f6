//! Reads precomputed counts: one row per combination of answers or of their contents, with a column `count`.

mod codes;

use std::collections::{BTreeMap, HashSet};

use arrow_array::cast::AsArray;
use arrow_array::{Array, StringArray};
use arrow_schema::DataType;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, CountLayout, OTHER_CHANNEL, Rows, TableCounts};
use candor_base::plan::{Content, Plan};
use candor_runtime::names;
use codes::CountRows;

use crate::TableError;
use crate::error::{InvalidValue, MAX_COUNTED};
use crate::input::{Inputs, Table};
use crate::metadata_keys::{FINGERPRINT_FIELD, FINGERPRINT_KEY};
use crate::types::cast;

/// Names of the columns of a counts file in addition to those of responses.
///
/// Databases may ignore case in names, so these differ from all columns of the plan in more than case.
pub struct CountColumns {
    /// Number of responses: `count`, or `candor_count` if the plan has a column with that name.
    pub count: String,
    /// Table of a row, if a file contains the counts of several: `candor_table`.
    pub table: String,
    /// Meaning of a row where answers are sets: `candor_holds`.
    ///
    /// It is [`CountColumns::RESPONSES`] or [`CountColumns::CELLS`], and empty for responses with the same answers.
    pub holds: String,
    /// Fingerprint of the plan: `candor_fingerprint`.
    pub fingerprint: String,
}

impl CountColumns {
    /// Value for rows that count the responses with these channel IDs.
    pub const RESPONSES: &str = "responses";
    /// Value for rows that count the answers that contain a cell: at most one label of each set.
    pub const CELLS: &str = "cells";

    /// Returns the column names for a plan, with underscores appended to names that are taken.
    pub fn new(plan: &Plan) -> CountColumns {
        let taken: HashSet<String> = plan.columns().iter().map(|column| column.name.to_lowercase()).collect();
        let free = |first: &str, then: &str| {
            let more = (0..).map(|n| format!("{then}{}", "_".repeat(n)));
            [first.to_owned()].into_iter().chain(more).find(|name| !taken.contains(name)).unwrap_or_default()
        };
        CountColumns {
            count: free("count", "candor_count"),
            table: free("candor_table", "candor_table_"),
            holds: free("candor_holds", "candor_holds_"),
            fingerprint: free(FINGERPRINT_FIELD, "candor_fingerprint_"),
        }
    }
}

/// What a row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// Responses with the same answers.
    Answers,
    /// Responses with the same channel IDs.
    Responses,
    /// Answers that contain the same cell.
    Cells,
}

/// A counts file in memory.
struct CountFile {
    name: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    counts: Vec<u64>,
    /// Fingerprint in the metadata of the file.
    fingerprint: Option<String>,
}

/// Reads counts files and adds them up for every table.
///
/// A table is counted from the rows that name it in [`CountColumns::table`]. If a file has no such column, all its
/// rows count if it has all columns of the table.
///
/// # Errors
/// Returns [`TableError::Unmarked`] if a file does not name its plan and the user does not vouch for it.
/// Returns another [`TableError`] if
/// - a file cannot be read or belongs to another plan,
/// - a count is not an integer, or a value is not a valid response,
/// - a table has no or inconsistent counts,
/// - counts sum to more than [`MAX_COUNTED`].
pub fn tally_counts(plan: &Plan, inputs: Inputs, tables: &TableList) -> Result<Vec<TableCounts>, TableError> {
    let names = CountColumns::new(plan);
    let first = inputs.name();
    let read = |table: Table| {
        let vouched = table.is_vouched();
        CountFile::read(table, &names.count)?.checked(plan, &names.fingerprint, vouched)
    };
    let files = inputs.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let columns = plan.columns();
    let mut tallies = Vec::new();
    for table in tables.lists() {
        let layout = CountLayout::new(plan, table);
        let needed = layout.columns(plan);
        let attributes: Vec<&str> = table.iter().map(|&a| plan.schema().name(a)).collect();
        let mut tally = TableCounts::new(layout);
        let mut missing = None;
        let mut total = 0u128;
        for file in &files {
            let at = |&column: &usize| Some((column, file.column(&columns[column].name)?));
            let places: BTreeMap<usize, usize> = needed.iter().filter_map(at).collect();
            if let Some(lacking) = needed.iter().find(|column| !places.contains_key(column)) {
                missing = Some((file.name.clone(), columns[*lacking].name.clone()));
                continue;
            }
            total += file.add(plan, &names, &mut tally, &places)?;
        }
        let table = attributes.join(",");
        if total > u128::from(MAX_COUNTED) {
            return Err(TableError::TooManyCounted { table, total });
        }
        check_fit(plan, &tally, &table)?;
        if total == 0 {
            let (file, column) = missing.unwrap_or_else(|| (first.clone(), format!("{} = {table}", names.table)));
            return Err(TableError::NoCounts { file, table, column });
        }
        tallies.push(tally);
    }
    Ok(tallies)
}

/// Checks that the numbers of responses and of cells are consistent.
fn check_fit(plan: &Plan, tally: &TableCounts, table: &str) -> Result<(), TableError> {
    let Some((key, misfit)) = tally.inconsistency(plan) else { return Ok(()) };
    let tag = |(block, tag): (&usize, &u16)| {
        let column = plan.columns().iter().find(|column| column.content == Content::Tag { block: *block })?;
        (*tag != OTHER_CHANNEL).then(|| format!(" ({} = {tag})", column.name))
    };
    let tags = tally.layout().tagged.iter().zip(key).filter_map(tag).collect();
    Err(TableError::CountsMisfit { table: table.to_owned(), tags, misfit })
}

/// Parses a count such as `7` or `7.0`; returns a description of the problem if it is invalid.
fn parse_count(text: &str) -> Result<u64, String> {
    let float = || text.parse::<f64>().ok().filter(|n| *n >= 0.0 && n.fract() == 0.0);
    // Large integers must not be parsed as floats, which would round them.
    let whole = text.parse::<u128>().ok().or_else(|| Some(float()? as u128));
    match whole {
        Some(n) if n <= u128::from(MAX_COUNTED) => Ok(n as u64),
        Some(_) => Err(format!("is too large; at most {MAX_COUNTED} (2^53) responses can be counted exactly")),
        None if text.is_empty() => Err("counts must be integers, 0 or more".to_owned()),
        None => Err("is not a count; counts must be integers, 0 or more".to_owned()),
    }
}

impl CountFile {
    fn read(table: Table, count_column: &str) -> Result<CountFile, TableError> {
        let input = table.open()?;
        let (name, header) = (input.name().to_owned(), input.header().to_vec());
        let count = input.position(count_column)?;
        let fingerprint = input.metadata(FINGERPRINT_KEY).map(str::to_owned);
        let (mut rows, mut counts) = (Vec::new(), Vec::new());
        for batch in input.batches(&header)? {
            let batch = batch?;
            let mut texts = Vec::with_capacity(header.len());
            for (column, title) in batch.columns.columns().iter().zip(&header) {
                texts.push(cast(column, &DataType::Utf8).ok_or_else(|| TableError::Type {
                    file: name.clone(),
                    column: title.clone(),
                    found: column.data_type().to_string(),
                })?);
            }
            let texts: Vec<&StringArray> = texts.iter().map(|column| column.as_string::<i32>()).collect();
            for row in 0..batch.columns.num_rows() {
                let text = |column: usize| if texts[column].is_null(row) { "" } else { texts[column].value(row) };
                let value = text(count);
                counts.push(parse_count(value).map_err(|hint| {
                    let (file, column, value) = (name.clone(), count_column.to_owned(), value.to_owned());
                    let row = batch.before + row as u64 + 1;
                    TableError::InvalidValue(InvalidValue { file, row, column, value, hint })
                })?);
                rows.push((0..header.len()).map(|column| text(column).to_owned()).collect());
            }
        }
        Ok(CountFile { name, header, rows, counts, fingerprint })
    }

    /// Checks that all rows were counted under the plan, by the metadata or the fingerprint column.
    fn checked(self, plan: &Plan, column: &str, vouched: bool) -> Result<CountFile, TableError> {
        let expected = plan.fingerprint().as_str();
        let told = self.column(column).map(|at| self.rows.iter().map(move |row| row[at].as_str()));
        let told: Vec<&str> = told.into_iter().flatten().chain(self.fingerprint.as_deref()).collect();
        if (told.is_empty() || told.contains(&"")) && !vouched {
            return Err(TableError::Unmarked(self.name.clone()));
        }
        match told.into_iter().find(|found| !found.is_empty() && *found != expected) {
            Some(found) => {
                let (file, found) = (self.name.clone(), found.to_owned());
                Err(TableError::Fingerprint { file, found, expected: expected.to_owned() })
            }
            None => Ok(self),
        }
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }

    /// Returns the rows for the table of these attributes, in any order.
    fn rows_of(&self, table_column: &str, attributes: &[&str]) -> Vec<usize> {
        let Some(at) = self.column(table_column) else { return (0..self.rows.len()).collect() };
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        // Names are quoted as in table lists. An older version separated them by commas only, which is still
        // accepted.
        let apart = |joined: &str| sorted(joined.split(',').map(|name| name.trim().to_owned()).collect());
        let wanted = sorted(attributes.iter().map(|&name| name.to_owned()).collect());
        let before = apart(&attributes.join(","));
        let is_wanted =
            |joined: &str| names::list(joined).is_ok_and(|names| sorted(names) == wanted) || apart(joined) == before;
        (0..self.rows.len()).filter(|&row| is_wanted(&self.rows[row][at])).collect()
    }

    /// Returns what a row counts.
    fn holds(&self, column: &str, row: usize) -> Result<Holds, TableError> {
        match self.column(column).map_or("", |at| &self.rows[row][at]) {
            "" => Ok(Holds::Answers),
            CountColumns::RESPONSES => Ok(Holds::Responses),
            CountColumns::CELLS => Ok(Holds::Cells),
            value => {
                let (file, column, value) = (self.name.clone(), column.to_owned(), value.to_owned());
                let hint = format!(
                    "is not what a row can count; \"{}\", \"{}\", or nothing for responses with the same answers",
                    CountColumns::RESPONSES,
                    CountColumns::CELLS
                );
                Err(TableError::InvalidValue(InvalidValue { file, row: row as u64 + 1, column, value, hint }))
            }
        }
    }

    /// Adds the rows of the table, and returns their number of responses.
    fn add(
        &self,
        plan: &Plan,
        names: &CountColumns,
        tally: &mut TableCounts,
        places: &BTreeMap<usize, usize>,
    ) -> Result<u128, TableError> {
        let attributes: Vec<&str> = tally.layout().attributes.iter().map(|&a| plan.schema().name(a)).collect();
        let mut kinds = [Holds::Answers, Holds::Responses, Holds::Cells].map(|holds| (holds, Vec::new()));
        for row in self.rows_of(&names.table, &attributes) {
            let found = self.holds(&names.holds, row)?;
            kinds.iter_mut().filter(|(holds, _)| *holds == found).for_each(|(_, rows)| rows.push(row));
        }
        let mut total = 0;
        for (holds, rows) in &kinds {
            let rows = CountRows { plan, layout: tally.layout(), file: self, places, holds: *holds, rows };
            let columns = rows.columns()?;
            let codes: Vec<Codes<'_>> = columns.iter().map(Codes::from).collect();
            let counts: Vec<f64> = rows.rows.iter().map(|&row| self.counts[row] as f64).collect();
            let rows_are = match holds {
                Holds::Answers => Rows::Counted(&counts),
                Holds::Responses => Rows::Tagged(&counts),
                Holds::Cells => Rows::Inclusions(&counts),
            };
            if *holds != Holds::Cells {
                total += rows.rows.iter().map(|&row| u128::from(self.counts[row])).sum::<u128>();
            }
            tally.add(plan, &codes, rows_are, |_| true);
        }
        Ok(total)
    }
}
