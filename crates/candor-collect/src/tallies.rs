//! Counts of the responses for the tables of the dashboard: they cost the same with a thousand responses and ten million.

use std::collections::BTreeMap;

use candor::plan::Plan;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{CountLayout, Group, TableTally};
use candor_analysis::watch::Watch;
use candor_study::counts::Counts;
use candor_tables::TableError;
use candor_tables::input::{Input, Inputs};
use candor_tables::tally::{Job, tally};

/// A pair of attributes is counted if their table has no more cells than this.
const MOST_CELLS: usize = 400;

/// How many tables are counted at most, so that they are kept in a moment.
const MOST_TABLES: usize = 300;

/// The tables of a plan that are counted: every attribute, then pairs of attributes as long as they are few and small.
pub fn tables(plan: &Plan) -> TableList {
    let schema = plan.schema();
    let attributes = 0..schema.attributes().len();
    let mut lists: Vec<Vec<usize>> = attributes.clone().map(|attribute| vec![attribute]).collect();
    let pairs = attributes.flat_map(|a| (0..a).map(move |b| vec![b, a]));
    let small = |pair: &Vec<usize>| schema.size(pair[0]) * schema.size(pair[1]) <= MOST_CELLS;
    lists.extend(pairs.filter(small).take(MOST_TABLES.saturating_sub(schema.attributes().len())));
    TableList::of(lists, schema).unwrap_or_else(|_| TableList::marginals(schema))
}

/// The counts of all responses up to now.
#[derive(Clone, Debug)]
pub struct Tallies {
    tables: TableList,
    tallies: Vec<TableTally>,
    responses: u64,
}

impl Tallies {
    /// No responses yet.
    pub fn new(plan: &Plan) -> Tallies {
        let tables = tables(plan);
        let tallies = tables.lists().iter().map(|table| TableTally::new(CountLayout::new(plan, table))).collect();
        Tallies { tables, tallies, responses: 0 }
    }

    /// How many responses are counted.
    pub fn responses(&self) -> u64 {
        self.responses
    }

    /// Counts further responses, as they are stored.
    ///
    /// # Errors
    /// If one of them is no response under the plan.
    pub fn add(&mut self, plan: &Plan, lines: &[String]) -> Result<(), TableError> {
        if lines.is_empty() {
            return Ok(());
        }
        let job = Job { plan, tables: &self.tables, by: &[], weights: None };
        let input = Input::from_bytes("the stored responses", lines.join("\n"), None)?;
        let counted = tally(&job, Inputs::from(input), Watch::nobody())?;
        self.responses += counted.responses;
        for tallies in counted.groups.into_values() {
            self.tallies.iter_mut().zip(tallies).for_each(|(held, more)| held.merge(more));
        }
        Ok(())
    }

    /// The counts for the functions of a study.
    pub fn counts(&self, plan: &Plan) -> Option<Counts> {
        let groups = BTreeMap::from([(Vec::new(), self.tallies.clone())]);
        Counts::new(plan, &[], groups, self.responses).ok()
    }

    /// The rows to be kept: number of the table, tags, total and counts.
    pub fn rows(&self) -> Vec<(usize, String, u64, String)> {
        let mut rows = Vec::new();
        for (number, tally) in self.tallies.iter().enumerate() {
            for (tags, group) in tally.groups() {
                rows.push((number, written(tags), group.total as u64, written(&group.counts)));
            }
        }
        rows
    }

    /// Counts that were kept for so many responses; `None` if they are not those of this plan, or were not finished.
    pub fn from_rows(plan: &Plan, responses: u64, rows: &[(usize, String, u64, String)]) -> Option<Tallies> {
        let Tallies { tables, tallies, .. } = Tallies::new(plan);
        let mut groups: Vec<BTreeMap<Vec<u16>, Group>> = vec![BTreeMap::new(); tallies.len()];
        for (number, tags, total, counts) in rows {
            let (tags, counts): (Vec<u16>, Vec<f64>) = (read(tags)?, read(counts)?);
            let layout = tallies.get(*number)?.layout();
            if layout.cells(plan, &tags) != Some(counts.len()) {
                return None;
            }
            let total = *total as f64;
            groups[*number].insert(tags, Group { total, squares: total, counts, square_counts: Vec::new() });
        }
        let made = |(tally, groups): (&TableTally, _)| TableTally::from_groups(plan, tally.layout().clone(), groups);
        let tallies: Vec<TableTally> = tallies.iter().zip(groups).map(made).collect();
        tallies.iter().all(|tally| tally.total() == responses as f64).then_some(Tallies { tables, tallies, responses })
    }
}

fn written<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<String>>().join(",")
}

fn read<T: std::str::FromStr>(text: &str) -> Option<Vec<T>> {
    text.split(',').filter(|number| !number.is_empty()).map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor::randomize::Client;
    use candor::randomness::Source;
    use candor_study::estimate::{EstimateOptions, estimate};

    #[test]
    fn counts_are_kept_and_come_back() {
        for name in ["lotteries", "public", "sets", "crossed-matrix"] {
            let path = format!("{}/../candor/tests/plans/good/{name}.json", env!("CARGO_MANIFEST_DIR"));
            let plan = Plan::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
            let lines = crate::simulate::responses(&plan, &Client::new(&plan), &mut Source::from_seed(7).stream(0), 60);
            let mut all = Tallies::new(&plan);
            all.add(&plan, &lines).unwrap();
            let mut parts = Tallies::new(&plan);
            lines.chunks(7).for_each(|lines| parts.add(&plan, lines).unwrap());
            let back = Tallies::from_rows(&plan, 60, &parts.rows()).unwrap();
            let shown = |tallies: &Tallies| {
                let estimates = estimate(&plan, &tallies.counts(&plan).unwrap(), &EstimateOptions::default());
                serde_json::to_string(&estimates.unwrap()).unwrap()
            };
            assert_eq!(shown(&all), shown(&back), "{name}");
            assert!(Tallies::from_rows(&plan, 59, &parts.rows()).is_none(), "not finished");
            assert!(Tallies::from_rows(&plan, 60, &parts.rows()[1..]).is_none(), "a table is missing");
        }
    }
}
