//! Counts aggregated elsewhere: one row per combination of answers, with a column `count`.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, StringArray};
use arrow_schema::DataType;
use candor::plan::{Content, Plan, SET_SEPARATOR};
use candor::randomize::Sets;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, CountLayout, Rows, TableTally};

use crate::TableError;
use crate::error::BadValue;
use crate::input::{Input, Location};
use crate::types::cast;

/// The column that holds how many responses a row stands for.
pub const COUNT: &str = "count";

/// The column that says which table a row is for, if a file holds the counts of several.
pub const TABLE: &str = "candor_table";

/// A file of counts, in memory.
struct CountFile {
    name: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    counts: Vec<f64>,
}

/// Reads files of counts and adds them up for every table: each table from the rows that name it in
/// [`TABLE`], or, where a file has no such column, from all rows of files that have all its columns.
///
/// # Errors
/// If a file cannot be read, a count is not a whole number, a value cannot be a response, or a table
/// has no counts.
pub fn tally_counts(
    plan: &Plan,
    tables: &TableList,
    inputs: &[Location],
    delimiter: Option<u8>,
) -> Result<Vec<TableTally>, TableError> {
    let files = inputs.iter().map(|location| CountFile::read(location, delimiter)).collect::<Result<Vec<_>, _>>()?;
    let columns = plan.columns();
    let mut tallies = Vec::new();
    for table in tables.lists() {
        let layout = CountLayout::new(plan, table);
        let needed = layout.columns(plan);
        let attributes: Vec<&str> = table.iter().map(|&a| plan.schema().attributes()[a].name()).collect();
        let mut tally = TableTally::new(layout);
        let mut missing = None;
        for file in &files {
            let at: Vec<Option<usize>> = needed.iter().map(|&c| file.column(&columns[c].name)).collect();
            if let Some(lacking) = at.iter().position(Option::is_none) {
                missing = Some((file.name.clone(), columns[needed[lacking]].name.clone()));
                continue;
            }
            let wanted = file.rows_of(&attributes);
            let places: Vec<usize> = at.into_iter().flatten().collect();
            file.add(plan, &mut tally, &needed, &places, &wanted)?;
        }
        if tally.total() <= 0.0 {
            let (file, column) = missing.unwrap_or_else(|| {
                (inputs.first().map_or(String::new(), Location::name), format!("{TABLE} = {}", attributes.join(",")))
            });
            return Err(TableError::NoCounts { file, table: attributes.join(","), column });
        }
        tallies.push(tally);
    }
    Ok(tallies)
}

impl CountFile {
    fn read(location: &Location, delimiter: Option<u8>) -> Result<CountFile, TableError> {
        let input = Input::open(location, delimiter)?;
        let (name, header) = (input.name().to_owned(), input.header().to_vec());
        let count = input.position(COUNT)?;
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
                let number = value.parse::<f64>().ok().filter(|n| *n >= 0.0 && n.fract() == 0.0 && *n <= 2f64.powi(53));
                counts.push(number.ok_or_else(|| {
                    TableError::Value(BadValue {
                        file: name.clone(),
                        row: batch.before + row as u64 + 1,
                        column: COUNT.to_owned(),
                        value: value.to_owned(),
                        hint: "is not a count; counts are whole numbers, 0 or more".to_owned(),
                    })
                })?);
                rows.push((0..header.len()).map(|column| text(column).to_owned()).collect());
            }
        }
        Ok(CountFile { name, header, rows, counts })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }

    /// The rows that are for the table of these attributes, in any order.
    fn rows_of(&self, attributes: &[&str]) -> Vec<usize> {
        let Some(at) = self.column(TABLE) else { return (0..self.rows.len()).collect() };
        let sorted = |names: &mut Vec<String>| {
            names.sort();
            names.clone()
        };
        let wanted = sorted(&mut attributes.iter().map(|&name| name.to_owned()).collect());
        let names = |row: &usize| self.rows[*row][at].split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>();
        (0..self.rows.len()).filter(|row| sorted(&mut names(row)) == wanted).collect()
    }

    fn add(
        &self,
        plan: &Plan,
        tally: &mut TableTally,
        needed: &[usize],
        places: &[usize],
        rows: &[usize],
    ) -> Result<(), TableError> {
        let columns = plan.columns();
        let mut ones: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
        let mut sets: BTreeMap<usize, Sets> = BTreeMap::new();
        for (&at, &place) in needed.iter().zip(places) {
            let (labels, set): (Vec<String>, bool) = match &columns[at].content {
                Content::Answer { labels, set, .. } => (labels.clone(), *set),
                Content::Public { attribute } => (plan.schema().attributes()[*attribute].categories().to_vec(), false),
                Content::Tag { block } => {
                    ((0..plan.blocks()[*block].channels().len()).map(|t| t.to_string()).collect(), false)
                }
            };
            let code = |row: usize, label: &str| {
                labels.iter().position(|known| known == label).map(|code| code as u16).ok_or_else(|| {
                    TableError::Value(BadValue {
                        file: self.name.clone(),
                        row: row as u64 + 1,
                        column: columns[at].name.clone(),
                        value: label.to_owned(),
                        hint: "cannot be answered under this plan".to_owned(),
                    })
                })
            };
            if set {
                let one = |&row: &usize| {
                    self.rows[row][place]
                        .split(SET_SEPARATOR)
                        .map(|label| code(row, label))
                        .collect::<Result<Vec<_>, _>>()
                };
                sets.insert(at, rows.iter().map(one).collect::<Result<_, _>>()?);
            } else {
                let one = |&row: &usize| code(row, &self.rows[row][place]);
                ones.insert(at, rows.iter().map(one).collect::<Result<_, _>>()?);
            }
        }
        let counts: Vec<f64> = rows.iter().map(|&row| self.counts[row]).collect();
        let codes: Vec<Codes<'_>> = (0..columns.len())
            .map(|at| match (ones.get(&at), sets.get(&at)) {
                (_, Some(sets)) => Codes::Set(sets),
                (Some(codes), None) => Codes::One(codes),
                (None, None) => Codes::One(&[]),
            })
            .collect();
        tally.add(plan, &codes, Rows::Counted(&counts), |_| true);
        Ok(())
    }
}
