//! Counting responses: all tables in one pass, on all cores.

use std::collections::BTreeMap;

use candor::plan::{Content, Plan};
use candor::randomize::AnswerColumn;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, CountLayout, Rows, TableTally, count_tables};
use candor_analysis::watch::Watch;

use crate::TableError;
use crate::input::Inputs;
use crate::responses::{ResponseBatch, read_batches};

/// What to count.
pub struct Job<'a> {
    /// The plan the responses were made under.
    pub plan: &'a Plan,
    /// The tables to count for.
    pub tables: &'a TableList,
    /// Positions of public attributes by whose categories to count separately.
    pub by: &'a [usize],
    /// A column of survey weights, none that the plan [protects](candor::schema::Schema::protects).
    pub weights: Option<&'a str>,
}

/// The counts of all tables, by categories of the `by` attributes.
pub struct Tallied {
    /// For each combination of categories that occurs, the tables in order.
    pub groups: BTreeMap<Vec<u16>, Vec<TableTally>>,
    /// The number of responses.
    pub responses: u64,
    /// The seed, if any of the responses are a simulation.
    pub simulation: Option<u64>,
    /// The inputs that do not tell the plan they were made under.
    pub unmarked: Vec<String>,
}

/// Reads responses once and counts them for every table.
///
/// # Errors
/// If a table was made under another plan or cannot be read, a value cannot be a response, groups or weights are not public, or whoever watches ends it.
pub fn tally(job: &Job<'_>, inputs: Inputs, watch: Watch<'_>) -> Result<Tallied, TableError> {
    tally_with(job, Keep::Counts, inputs, watch)
}

/// The same, keeping the different sets of attributes that are answered with sets: the likelihood method needs them.
///
/// # Errors
/// As [`tally`].
pub fn tally_keeping_sets(job: &Job<'_>, inputs: Inputs, watch: Watch<'_>) -> Result<Tallied, TableError> {
    tally_with(job, Keep::Sets, inputs, watch)
}

/// What is kept of the responses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Counts,
    Sets,
}

fn tally_with(job: &Job<'_>, keep: Keep, inputs: Inputs, watch: Watch<'_>) -> Result<Tallied, TableError> {
    check_groups(job)?;
    let layouts: Vec<CountLayout> = job.tables.lists().iter().map(|table| CountLayout::new(job.plan, table)).collect();
    let mut groups = Groups::new();
    let read = read_batches(
        job.plan,
        inputs,
        job.weights,
        watch,
        |batch| count(job, keep, &layouts, batch),
        |counted| merge(&mut groups, counted),
    )?;
    Ok(Tallied { groups, responses: read.responses, simulation: read.simulation, unmarked: read.unmarked })
}

/// Groups are known where attributes are public.
fn check_groups(job: &Job<'_>) -> Result<(), TableError> {
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

type Groups = BTreeMap<Vec<u16>, Vec<TableTally>>;

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

fn count(job: &Job<'_>, keep: Keep, layouts: &[CountLayout], batch: ResponseBatch) -> Groups {
    let ResponseBatch { columns, weights, rows } = batch;
    let codes: Vec<Codes<'_>> = columns.iter().map(Codes::from).collect();
    let rows_are = weights.as_deref().map_or(Rows::Single, Rows::Weighted);
    if job.by.is_empty() && keep == Keep::Counts {
        let tallies = count_tables(job.plan, layouts, &codes, rows_are);
        return Groups::from([(Vec::new(), tallies)]);
    }
    let mut groups = Groups::new();
    let mut add = |key: Vec<u16>, take: &dyn Fn(usize) -> bool| {
        let tallies = layouts.iter().map(|layout| {
            let mut tally = TableTally::new(layout.clone());
            if keep == Keep::Sets {
                tally = tally.keeping_sets(job.plan);
            }
            tally.add(job.plan, &codes, rows_are, take);
            tally
        });
        groups.insert(key, tallies.collect());
    };
    let described = job.plan.columns();
    let by: Vec<&Vec<u16>> = job
        .by
        .iter()
        .filter_map(|&attribute| {
            let at = described.iter().position(|column| column.content == Content::Public { attribute })?;
            match &columns[at] {
                AnswerColumn::One(codes) => Some(codes),
                AnswerColumn::Set(_) => None,
            }
        })
        .collect();
    let key = |row: usize| by.iter().map(|codes| codes[row]).collect::<Vec<u16>>();
    let keys: Vec<Vec<u16>> = (0..rows).map(key).collect();
    let mut distinct = keys.clone();
    distinct.sort();
    distinct.dedup();
    for wanted in distinct {
        add(wanted.clone(), &|row| keys[row] == wanted);
    }
    groups
}
