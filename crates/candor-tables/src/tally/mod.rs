//! Counts responses for all tables in one pass, on all cores.

mod sample;

pub use sample::{SampleColumns, tally_sample};

use std::collections::{BTreeMap, HashMap};

use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, CountLayout, Rows, TableCounts, count_tables};
use candor_base::plan::{Content, Plan};
use candor_bulk::AnswerColumn;
use candor_runtime::progress::ProgressSink;

use crate::TableError;
use crate::input::Inputs;
use crate::responses::{ReadSummary, ResponseBatch, read_batches};

/// A counting job.
pub struct TallyJob<'a> {
    /// Plan of the responses.
    pub plan: &'a Plan,
    /// Tables to count.
    pub tables: &'a TableList,
    /// Positions of the public attributes to group by.
    pub by: &'a [usize],
    /// Column of sampling weights, which the plan must not [protect](candor_base::schema::Schema::protects).
    pub weights: Option<&'a str>,
}

/// Counts of all tables, by the categories of the grouping attributes.
pub struct Tallied {
    /// For each combination of categories that occurs, the tables in order.
    pub groups: BTreeMap<Vec<u16>, Vec<TableCounts>>,
    /// Number of responses.
    pub responses: u64,
    /// Number of responses with each combination.
    pub rows: BTreeMap<Vec<u16>, u64>,
    /// Origin of the responses.
    pub read: ReadSummary,
}

/// Reads responses once and counts them for every table.
///
/// # Errors
/// Returns [`TableError`] if
/// - a file was made with another plan or cannot be read,
/// - a value is not a valid response,
/// - groups or weights are not public,
/// - `progress` cancels.
pub fn tally(job: &TallyJob<'_>, inputs: Inputs, progress: ProgressSink<'_>) -> Result<Tallied, TableError> {
    tally_with(job, Keep::Counts, inputs, progress)
}

/// Counts responses, and keeps the distinct sets of set-valued answers, which maximum likelihood requires.
///
/// # Errors
/// Returns the errors of [`tally`].
pub fn tally_keeping_sets(
    job: &TallyJob<'_>,
    inputs: Inputs,
    progress: ProgressSink<'_>,
) -> Result<Tallied, TableError> {
    tally_with(job, Keep::Sets, inputs, progress)
}

/// What is kept in addition to counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Counts,
    Sets,
}

fn tally_with(
    job: &TallyJob<'_>,
    keep: Keep,
    inputs: Inputs,
    progress: ProgressSink<'_>,
) -> Result<Tallied, TableError> {
    check_groups(job)?;
    let layouts: Vec<CountLayout> = job.tables.lists().iter().map(|table| CountLayout::new(job.plan, table)).collect();
    let (mut groups, mut rows) = (Groups::new(), BTreeMap::new());
    let read = read_batches(
        job.plan,
        inputs,
        job.weights,
        progress,
        |batch| count(job, keep, &layouts, &Keyed::new(job, &batch), batch.weights.as_deref()),
        |(counted, keys)| {
            merge(&mut groups, counted);
            keys.into_iter().for_each(|(key, number)| *rows.entry(key).or_insert(0) += number);
        },
    )?;
    Ok(Tallied { groups, responses: read.responses, rows, read })
}

/// Checks that the grouping attributes are public, so that the groups are known.
fn check_groups(job: &TallyJob<'_>) -> Result<(), TableError> {
    let attributes = job.plan.schema().attributes();
    for &position in job.by {
        match attributes.get(position) {
            Some(attribute) if attribute.is_public() => {}
            Some(attribute) => return Err(TableError::NoGroups(attribute.name().to_owned())),
            None => return Err(TableError::NoGroups(format!("attribute number {position}"))),
        }
    }
    Ok(())
}

type Groups = BTreeMap<Vec<u16>, Vec<TableCounts>>;

fn merge(groups: &mut Groups, more: Groups) {
    for (key, tallies) in more {
        match groups.get_mut(&key) {
            Some(held) => held.iter_mut().zip(tallies).for_each(|(held, more)| held.merge(more)),
            None => {
                groups.insert(key, tallies);
            }
        }
    }
}

/// Some responses, partitioned into groups.
struct Keyed<'b> {
    codes: Vec<Codes<'b>>,
    /// Categories of each group.
    groups: Vec<Vec<u16>>,
    /// Rows of each group, in order.
    rows_of: Vec<Vec<u32>>,
    rows: usize,
}

impl<'b> Keyed<'b> {
    fn new(job: &TallyJob<'_>, batch: &'b ResponseBatch) -> Keyed<'b> {
        let (codes, rows) = (batch.columns.iter().map(Codes::from).collect(), batch.rows);
        if job.by.is_empty() {
            return Keyed { codes, groups: vec![Vec::new()], rows_of: vec![(0..rows as u32).collect()], rows };
        }
        let described = job.plan.columns();
        let public = |&attribute: &usize| {
            let at = described.iter().position(|column| column.content == Content::Public { attribute })?;
            match &batch.columns[at] {
                AnswerColumn::One(codes) => Some(codes),
                AnswerColumn::Set(_) => None,
            }
        };
        let by: Vec<&Vec<u16>> = job.by.iter().filter_map(public).collect();
        let (groups, rows_of) = partition(&by, rows);
        Keyed { codes, groups, rows_of, rows }
    }

    /// Returns the number of rows in each group.
    fn rows(&self) -> Vec<(Vec<u16>, u64)> {
        self.groups.iter().cloned().zip(self.rows_of.iter().map(|rows| rows.len() as u64)).collect()
    }
}

/// Returns the combinations of codes that occur in these columns, and the rows of each in order.
fn partition(columns: &[&Vec<u16>], rows: usize) -> (Vec<Vec<u16>>, Vec<Vec<u32>>) {
    let (mut groups, mut rows_of): (Vec<Vec<u16>>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
    let mut numbers: HashMap<Vec<u16>, usize> = HashMap::new();
    let mut key = Vec::with_capacity(columns.len());
    for row in 0..rows {
        key.clear();
        key.extend(columns.iter().map(|codes| codes[row]));
        let number = numbers.get(key.as_slice()).copied().unwrap_or_else(|| {
            numbers.insert(key.clone(), groups.len());
            groups.push(key.clone());
            rows_of.push(Vec::new());
            groups.len() - 1
        });
        rows_of[number].push(row as u32);
    }
    (groups, rows_of)
}

/// Returns the counts of every group, and its number of rows.
fn count(
    job: &TallyJob<'_>,
    keep: Keep,
    layouts: &[CountLayout],
    batch: &Keyed<'_>,
    weights: Option<&[f64]>,
) -> (Groups, Vec<(Vec<u16>, u64)>) {
    let rows_are = weights.map_or(Rows::Single, Rows::Weighted);
    if job.by.is_empty() && keep == Keep::Counts {
        let tallies = count_tables(job.plan, &batch.codes, rows_are, layouts);
        return (Groups::from([(Vec::new(), tallies)]), batch.rows());
    }
    let mut groups = Groups::new();
    for (key, rows) in batch.groups.iter().zip(&batch.rows_of) {
        let tally = |layout: &CountLayout| {
            let mut tally = TableCounts::new(layout.clone());
            if keep == Keep::Sets {
                tally = tally.keeping_sets(job.plan);
            }
            tally.add_rows(job.plan, &batch.codes, rows_are, rows);
            tally
        };
        groups.insert(key.clone(), layouts.iter().map(tally).collect());
    }
    (groups, batch.rows())
}
