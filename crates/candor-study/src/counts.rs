//! Responses, counted for some tables, in groups of public attributes.

use std::collections::{BTreeMap, BTreeSet};

use candor::plan::{Content, Plan};
use candor::schema::Schema;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{Codes, CountLayout, Rows, TableTally};

use crate::error::StudyError;

/// The counts of some tables, in groups: for each combination of categories of the `by` attributes the same tables, in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    by: Vec<usize>,
    groups: BTreeMap<Vec<u16>, Vec<TableTally>>,
    responses: u64,
}

/// The positions of attributes by which responses may be grouped: those that are public.
///
/// # Errors
/// If there is no such attribute, or it is randomized: then nobody knows its groups.
pub fn public_attributes(schema: &Schema, names: &[impl AsRef<str>]) -> Result<Vec<usize>, StudyError> {
    let one = |name: &str| match schema.protects(name) {
        None => schema.position(name).map_err(StudyError::NoAttribute),
        Some(attribute) => Err(StudyError::NotPublic { name: name.to_owned(), attribute: attribute.name().to_owned() }),
    };
    names.iter().map(|name| one(name.as_ref())).collect()
}

impl Counts {
    /// Counts made elsewhere: by categories of the attributes at these positions, all public.
    ///
    /// # Errors
    /// If one of the attributes is randomized, a group is none of them, or groups hold different tables.
    pub fn new(
        plan: &Plan,
        by: &[usize],
        groups: BTreeMap<Vec<u16>, Vec<TableTally>>,
        responses: u64,
    ) -> Result<Counts, StudyError> {
        check_public(plan.schema(), by)?;
        let is_group = |key: &Vec<u16>| {
            key.len() == by.len() && key.iter().zip(by).all(|(&code, &a)| usize::from(code) < plan.schema().size(a))
        };
        if !groups.keys().all(is_group) {
            return Err(StudyError::Counts("a group is not one category for each attribute"));
        }
        let is_of_plan = |tally: &TableTally| {
            let attributes = &tally.layout().attributes;
            attributes.iter().all(|&a| a < plan.schema().attributes().len())
                && *tally.layout() == CountLayout::new(plan, attributes)
        };
        if !groups.values().flatten().all(is_of_plan) {
            return Err(StudyError::Counts("a table is counted for another plan"));
        }
        let tables = |tallies: &[TableTally]| -> Vec<Vec<usize>> {
            tallies.iter().map(|tally| tally.layout().attributes.clone()).collect()
        };
        let mut lists = groups.values().map(|tallies| tables(tallies));
        let first = lists.next();
        if !lists.all(|list| Some(&list) == first.as_ref()) {
            return Err(StudyError::Counts("groups hold different tables"));
        }
        Ok(Counts { by: by.to_vec(), groups, responses })
    }

    /// Counts responses in memory, one column per column of the plan, such as
    /// [`answer_codes`](candor_analysis::tally::answer_codes) lends; in groups of the attributes at these positions.
    ///
    /// # Errors
    /// If one of the attributes is randomized, or the columns are not those of the plan.
    pub fn of(plan: &Plan, columns: &[Codes<'_>], tables: &TableList, by: &[usize]) -> Result<Counts, StudyError> {
        check_public(plan.schema(), by)?;
        let length = |codes: &Codes<'_>| match codes {
            Codes::One(codes) => codes.len(),
            Codes::Set(sets) => sets.len(),
        };
        let responses = columns.first().map_or(0, length);
        if columns.len() != plan.columns().len() || columns.iter().any(|column| length(column) != responses) {
            return Err(StudyError::Counts("the columns are not those of the responses"));
        }
        if !plan.columns().iter().zip(columns).all(|(column, codes)| are_codes(plan, &column.content, codes)) {
            return Err(StudyError::Counts("a code stands for no answer"));
        }
        let public: Vec<&[u16]> = by.iter().map(|&attribute| public_codes(plan, columns, attribute)).collect();
        let key = |row: usize| -> Vec<u16> { public.iter().map(|codes| codes[row]).collect() };
        let keys: Vec<Vec<u16>> = (0..responses).map(key).collect();
        let mut found: BTreeSet<Vec<u16>> = keys.iter().cloned().collect();
        if by.is_empty() {
            found.insert(Vec::new());
        }
        let counted = |group: &Vec<u16>, table: &Vec<usize>| {
            let mut tally = TableTally::new(CountLayout::new(plan, table)).keeping_sets(plan);
            tally.add(plan, columns, Rows::Single, |row| keys[row] == *group);
            tally
        };
        let group = |key: Vec<u16>| {
            let tallies = tables.lists().iter().map(|table| counted(&key, table)).collect();
            (key, tallies)
        };
        Counts::new(plan, by, found.into_iter().map(group).collect(), responses as u64)
    }

    /// How many responses were counted.
    pub fn responses(&self) -> u64 {
        self.responses
    }

    /// The positions of the attributes that make the groups.
    pub fn by(&self) -> &[usize] {
        &self.by
    }

    /// For each combination of categories that occurs, the tables in order.
    pub fn groups(&self) -> &BTreeMap<Vec<u16>, Vec<TableTally>> {
        &self.groups
    }

    /// The table of these attributes in this order, of everybody; `None` if it was not counted, or in groups only.
    pub fn table(&self, attributes: &[usize]) -> Option<&TableTally> {
        self.groups.get(&Vec::new())?.iter().find(|tally| tally.layout().attributes == attributes)
    }
}

/// Whether a column holds what it can: codes below the number of categories, tags or outputs, sets where answers are sets.
fn are_codes(plan: &Plan, content: &Content, codes: &Codes<'_>) -> bool {
    let (size, is_set) = match content {
        Content::Public { attribute } => (plan.schema().size(*attribute), false),
        Content::Tag { block } => (plan.blocks()[*block].channels().len(), false),
        Content::Answer { labels, set, .. } => (labels.len(), *set),
    };
    let below = |codes: &[u16]| codes.iter().all(|&code| usize::from(code) < size);
    match codes {
        Codes::One(codes) => !is_set && below(codes),
        Codes::Set(sets) => is_set && (0..sets.len()).all(|row| !sets.get(row).is_empty() && below(sets.get(row))),
    }
}

/// The codes of a public attribute; it has a column of its own.
fn public_codes<'a>(plan: &Plan, columns: &[Codes<'a>], attribute: usize) -> &'a [u16] {
    let own = |content: &Content| matches!(content, Content::Public { attribute: a } if *a == attribute);
    let place = plan.columns().iter().position(|column| own(&column.content));
    match place.map(|at| columns[at]) {
        Some(Codes::One(codes)) => codes,
        _ => &[],
    }
}

fn check_public(schema: &Schema, by: &[usize]) -> Result<(), StudyError> {
    for &position in by {
        match schema.attributes().get(position) {
            Some(attribute) if attribute.is_public() => {}
            Some(attribute) => {
                let name = attribute.name().to_owned();
                return Err(StudyError::NotPublic { attribute: name.clone(), name });
            }
            None => return Err(StudyError::Counts("there is no attribute at a position of `by`")),
        }
    }
    Ok(())
}
