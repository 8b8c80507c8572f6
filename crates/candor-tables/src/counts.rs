//! Counts aggregated elsewhere: one row per combination of answers, with a column `count`.

use std::collections::{BTreeMap, HashSet};

use arrow_array::cast::AsArray;
use arrow_array::{Array, StringArray};
use arrow_schema::DataType;
use candor::plan::{Content, Plan, SET_SEPARATOR};
use candor::randomize::Sets;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, CountLayout, Rows, TableTally};

use crate::TableError;
use crate::error::{BadValue, MOST_COUNTED};
use crate::input::{Inputs, Table};
use crate::responses::{A_TAG, NOT_AN_ANSWER, tags_are};
use crate::types::cast;

/// The columns that a table of counts has beside those of the responses. Databases take names that differ only in upper and lower case for
/// the same, so these differ from all columns of the plan in more than that.
pub struct CountColumns {
    /// How many responses a row stands for: `count`, or `candor_count` if the plan has a column of that name.
    pub count: String,
    /// Which table a row is for, if a file holds the counts of several: `candor_table`.
    pub table: String,
}

impl CountColumns {
    /// The names for the counts of a plan; where one is taken, underscores follow until it is not.
    pub fn of(plan: &Plan) -> CountColumns {
        let taken: HashSet<String> = plan.columns().iter().map(|column| column.name.to_lowercase()).collect();
        let free = |first: &str, then: &str| {
            let more = (0..).map(|n| format!("{then}{}", "_".repeat(n)));
            [first.to_owned()].into_iter().chain(more).find(|name| !taken.contains(name)).unwrap_or_default()
        };
        CountColumns { count: free("count", "candor_count"), table: free("candor_table", "candor_table_") }
    }
}

/// A file of counts, in memory.
struct CountFile {
    name: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    counts: Vec<u64>,
}

/// Reads files of counts and adds them up for every table: each table from the rows that name it in
/// [`CountColumns::table`], or, where a file has no such column, from all rows of files that have all its columns.
///
/// # Errors
/// If a file cannot be read, a count is not a whole number, a value cannot be a response, a table
/// has no counts, or they sum to more than [`MOST_COUNTED`].
pub fn tally_counts(plan: &Plan, tables: &TableList, inputs: Inputs) -> Result<Vec<TableTally>, TableError> {
    let names = CountColumns::of(plan);
    let first = inputs.name();
    let read = |table| CountFile::read(table, &names.count);
    let files = inputs.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let columns = plan.columns();
    let mut tallies = Vec::new();
    for table in tables.lists() {
        let layout = CountLayout::new(plan, table);
        let needed = layout.columns(plan);
        let attributes: Vec<&str> = table.iter().map(|&a| plan.schema().name(a)).collect();
        let mut tally = TableTally::new(layout);
        let mut missing = None;
        let mut total = 0u128;
        for file in &files {
            let at: Vec<Option<usize>> = needed.iter().map(|&c| file.column(&columns[c].name)).collect();
            if let Some(lacking) = at.iter().position(Option::is_none) {
                missing = Some((file.name.clone(), columns[needed[lacking]].name.clone()));
                continue;
            }
            let wanted = file.rows_of(&names.table, &attributes);
            total += wanted.iter().map(|&row| u128::from(file.counts[row])).sum::<u128>();
            let places: Vec<usize> = at.into_iter().flatten().collect();
            file.add(plan, &mut tally, &needed, &places, &wanted)?;
        }
        if total > u128::from(MOST_COUNTED) {
            return Err(TableError::TooManyCounted { table: attributes.join(","), total });
        }
        if total == 0 {
            let (file, column) =
                missing.unwrap_or_else(|| (first.clone(), format!("{} = {}", names.table, attributes.join(","))));
            return Err(TableError::NoCounts { file, table: attributes.join(","), column });
        }
        tallies.push(tally);
    }
    Ok(tallies)
}

/// A count as it is written, `7` or `7.0`; or what is wrong with it.
fn parse_count(text: &str) -> Result<u64, String> {
    let float = || text.parse::<f64>().ok().filter(|n| *n >= 0.0 && n.fract() == 0.0);
    // What floats would round must not be read as one.
    let whole = text.parse::<u128>().ok().or_else(|| Some(float()? as u128));
    match whole {
        Some(n) if n <= u128::from(MOST_COUNTED) => Ok(n as u64),
        Some(_) => Err(format!("is too large; at most {MOST_COUNTED} (2^53) responses can be counted exactly")),
        None if text.is_empty() => Err("counts are whole numbers, 0 or more".to_owned()),
        None => Err("is not a count; counts are whole numbers, 0 or more".to_owned()),
    }
}

impl CountFile {
    fn read(table: Table, count_column: &str) -> Result<CountFile, TableError> {
        let input = table.open()?;
        let (name, header) = (input.name().to_owned(), input.header().to_vec());
        let count = input.position(count_column)?;
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
                    TableError::Value(BadValue { file, row, column, value, hint })
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
    fn rows_of(&self, table_column: &str, attributes: &[&str]) -> Vec<usize> {
        let Some(at) = self.column(table_column) else { return (0..self.rows.len()).collect() };
        // Names with commas come apart here, but the same way on both sides.
        let sorted = |joined: &str| {
            let mut names: Vec<String> = joined.split(',').map(|name| name.trim().to_owned()).collect();
            names.sort();
            names
        };
        let wanted = sorted(&attributes.join(","));
        (0..self.rows.len()).filter(|&row| sorted(&self.rows[row][at]) == wanted).collect()
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
                    let (file, column) = (self.name.clone(), columns[at].name.clone());
                    let (value, hint) = (label.to_owned(), NOT_AN_ANSWER.to_owned());
                    let bad = BadValue { file, row: row as u64 + 1, column, value, hint };
                    TableError::Value(match columns[at].content {
                        Content::Tag { .. } => bad.not(A_TAG, &tags_are(labels.len() as u64)),
                        _ => bad,
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
        let counts: Vec<f64> = rows.iter().map(|&row| self.counts[row] as f64).collect();
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
