//! Counts of responses for the tables of the dashboard, whose cost does not depend on the number of responses.

use std::collections::BTreeMap;

use candor::counts::Counts;
use candor_analysis::table_list::TableList;
use candor_analysis::tally::{ChannelCounts, Codes, CountLayout, Rows, TableCounts, count_tables};
use candor_base::plan::Plan;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::input::{Input, Inputs};
use candor_tables::responses::ResponseBatch;
use candor_tables::tally::{TallyJob, tally};

/// Maximum number of cells of a pair of attributes that is counted.
const MAX_CELLS: usize = 600;

/// Maximum number of counted tables, so that storing them is quick.
const MAX_TABLES: usize = 300;

/// Maximum number of groups of public attributes that are counted.
const MAX_GROUPS: usize = 10_000;

/// Counts as they are stored: number of the table, tags, total and counts.
pub type KeptRow = (usize, String, u64, String);

/// Returns the counted tables of a plan: every attribute, the groups of public attributes, then small pairs of
/// attributes up to the limit, those of randomized attributes first.
pub fn tables(plan: &Plan) -> TableList {
    let schema = plan.schema();
    let attributes = 0..schema.attributes().len();
    let mut lists: Vec<Vec<usize>> = attributes.clone().map(|attribute| vec![attribute]).collect();
    let public = public(plan);
    let groups = public.iter().map(|&attribute| schema.size(attribute)).try_fold(1usize, usize::checked_mul);
    if public.len() > 1 && groups.is_some_and(|groups| groups <= MAX_GROUPS) {
        lists.push(public.clone());
    }
    let mut pairs: Vec<Vec<usize>> = attributes.flat_map(|a| (0..a).map(move |b| vec![b, a])).collect();
    pairs.retain(|pair| schema.size(pair[0]) * schema.size(pair[1]) <= MAX_CELLS && *pair != public);
    pairs.sort_by_key(|pair| pair.iter().any(|attribute| public.contains(attribute)));
    lists.extend(pairs.into_iter().take(MAX_TABLES.saturating_sub(schema.attributes().len())));
    TableList::new(lists, schema).unwrap_or_else(|_| TableList::marginals(schema))
}

/// Returns the positions of the public attributes.
fn public(plan: &Plan) -> Vec<usize> {
    let attributes = plan.schema().attributes();
    (0..attributes.len()).filter(|&attribute| attributes[attribute].is_public()).collect()
}

/// The counts of all responses so far.
#[derive(Clone, Debug)]
pub struct Tallies {
    tables: TableList,
    tallies: Vec<TableCounts>,
    responses: u64,
}

impl Tallies {
    /// Returns empty counts.
    pub fn new(plan: &Plan) -> Tallies {
        let tables = tables(plan);
        let tallies = tables.lists().iter().map(|table| TableCounts::new(CountLayout::new(plan, table))).collect();
        Tallies { tables, tallies, responses: 0 }
    }

    /// Returns the number of counted responses.
    pub fn responses(&self) -> u64 {
        self.responses
    }

    /// Returns the number of responses of each category of a public attribute.
    pub fn categories(&self, attribute: usize) -> Vec<u64> {
        self.of_public(&[attribute])
    }

    /// Returns the number of responses of each group of the public attributes; their total if there are no such
    /// attributes.
    pub fn groups(&self, plan: &Plan) -> Vec<u64> {
        match &public(plan)[..] {
            [] => vec![self.responses],
            public => self.of_public(public),
        }
    }

    /// Returns the cells of a table of public attributes; none before the first response.
    fn of_public(&self, table: &[usize]) -> Vec<u64> {
        let place = self.tables.lists().iter().position(|list| list == table);
        let group = place.and_then(|place| self.tallies[place].groups().values().next());
        group.map_or(Vec::new(), |group| group.counts.iter().map(|&count| count as u64).collect())
    }

    /// Counts further responses under the plan.
    pub fn add(&mut self, plan: &Plan, responses: &ResponseBatch) {
        if responses.rows == 0 {
            return;
        }
        let layouts: Vec<CountLayout> = self.tallies.iter().map(|tally| tally.layout().clone()).collect();
        let codes: Vec<Codes<'_>> = responses.columns.iter().map(Codes::from).collect();
        let counted = count_tables(plan, &codes, Rows::Single, &layouts);
        self.responses += responses.rows as u64;
        self.tallies.iter_mut().zip(counted).for_each(|(held, more)| held.merge(more));
    }

    /// Counts further responses as they are stored.
    ///
    /// # Errors
    /// Returns an error if one of them is not a response under the plan.
    pub fn read(&mut self, plan: &Plan, lines: &[String]) -> Result<(), TableError> {
        if lines.is_empty() {
            return Ok(());
        }
        let job = TallyJob { plan, tables: &self.tables, by: &[], weights: None };
        let input = Input::from_bytes("the stored responses", lines.join("\n"), None)?;
        let counted = tally(&job, Inputs::from(input).unmarked(true), ProgressSink::none())?;
        self.responses += counted.responses;
        for tallies in counted.groups.into_values() {
            self.tallies.iter_mut().zip(tallies).for_each(|(held, more)| held.merge(more));
        }
        Ok(())
    }

    /// Returns the counts for functions of the facade.
    pub fn counts(&self, plan: &Plan) -> Option<Counts> {
        let groups = BTreeMap::from([(Vec::new(), self.tallies.clone())]);
        Counts::new(plan, &[], groups, self.responses).ok()
    }

    /// Returns the rows to store.
    pub fn rows(&self) -> Vec<KeptRow> {
        let mut rows = Vec::new();
        for (number, tally) in self.tallies.iter().enumerate() {
            for (tags, group) in tally.groups() {
                rows.push((number, written(tags), group.total as u64, written(&group.counts)));
            }
        }
        rows
    }

    /// Returns stored counts of this many responses; `None` if they do not belong to this plan, or are incomplete.
    pub fn from_rows(plan: &Plan, responses: u64, rows: &[KeptRow]) -> Option<Tallies> {
        let Tallies { tables, tallies, .. } = Tallies::new(plan);
        let mut groups: Vec<BTreeMap<Vec<u16>, ChannelCounts>> = vec![BTreeMap::new(); tallies.len()];
        for (number, tags, total, counts) in rows {
            let (tags, counts): (Vec<u16>, Vec<f64>) = (read(tags)?, read(counts)?);
            let layout = tallies.get(*number)?.layout();
            if layout.cells(plan, &tags) != Some(counts.len()) {
                return None;
            }
            let total = *total as f64;
            groups[*number].insert(tags, ChannelCounts { total, squares: total, counts, square_counts: Vec::new() });
        }
        let made = |(tally, groups): (&TableCounts, _)| TableCounts::from_groups(plan, tally.layout().clone(), groups);
        let tallies: Vec<TableCounts> = tallies.iter().zip(groups).map(made).collect();
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
    use candor::estimate::{EstimateOptions, estimate};
    use candor_base::randomize::Client;
    use candor_base::randomness::Source;
    use candor_tables::responses::ResponseReader;

    #[test]
    fn counts_are_kept_and_come_back() {
        for name in ["lotteries", "public", "sets", "crossed-matrix"] {
            let path = format!("{}/../candor-base/tests/plans/good/{name}.json", env!("CARGO_MANIFEST_DIR"));
            let plan = Plan::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
            let lines = crate::simulate::responses(&plan, &Client::new(&plan), &mut Source::from_seed(7).stream(0), 60);
            let mut all = Tallies::new(&plan);
            all.read(&plan, &lines).unwrap();
            // As they arrive: parsed one by one, counted seven at a time.
            let reader = ResponseReader::new(&plan);
            let mut parts = Tallies::new(&plan);
            for lines in lines.chunks(7) {
                let mut batch = ResponseBatch::none(&plan);
                lines.iter().for_each(|line| batch.append(&reader.read(serde_json::from_str(line).unwrap()).unwrap()));
                parts.add(&plan, &batch);
            }
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
