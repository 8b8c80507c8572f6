//! Two-way tables of all pairs as one vector of counts, which parties add up.
//!
//! The counts are exact, or those of randomized records (Domingo-Ferrer and Soria-Comas 2020, sections 4.2 and
//! 4.3).

use std::collections::BTreeMap;

use candor_base::channel::{Axis, ChannelError, Pattern};
use candor_base::plan::{Block, Plan, PlanError};
use candor_base::randomize::RandomizeError;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use candor_secure_sum::Fault;

use super::{Association, Measure, estimated};
use crate::estimate::{EstimateError, MAX_DENSE, TableEstimator, Target};
use crate::tally::{ChannelCounts, Codes, CountLayout, TableCounts, answer_codes};

/// First random stream for pairs; the streams of a secure sum are numbered by party and come before.
const FIRST_STREAM: u64 = 1 << 32;

/// Reason why a protocol failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The secure sum failed.
    #[error(transparent)]
    SecureSum(#[from] Fault),
    /// The parameters give no valid channel.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The parameters give no valid plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A record does not match the schema.
    #[error(transparent)]
    Record(#[from] RandomizeError),
    /// A table cannot be estimated.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
}

/// Two-way tables of some pairs of attributes, in one vector of counts.
#[derive(Clone, Debug)]
pub struct PairTables<'a> {
    schema: &'a Schema,
    measured: Vec<([usize; 2], Measure)>,
    /// One plan for each pair; empty if the counts are exact.
    plans: Vec<Plan>,
    epsilon: Option<f64>,
}

/// A pair with its totals.
type Totals<'t> = ([usize; 2], &'t [u64]);

/// Two tables that cannot be of the same records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// Pair of the first table, by position in the schema.
    pub first: [usize; 2],
    /// Pair of the second table.
    pub second: [usize; 2],
    /// Attribute and category whose numbers of records differ; `None` if the totals differ.
    pub category: Option<(usize, usize)>,
    /// Numbers of records in the two tables.
    pub records: [u128; 2],
}

impl<'a> PairTables<'a> {
    /// Creates tables of exact counts, which have no epsilon.
    pub fn exact(schema: &'a Schema, measured: &[([usize; 2], Measure)]) -> PairTables<'a> {
        PairTables { schema, measured: measured.to_vec(), plans: Vec::new(), epsilon: None }
    }

    /// Creates tables of randomized records: each record randomizes each of its pairs by k-ary randomized response.
    ///
    /// `epsilon` is divided equally among the pairs, because all depend on the same record, so their epsilons add
    /// up. The paper omits this, because the sum makes a party's answers unlinkable. But differential privacy limits
    /// what the published tables reveal about a record, whether linked or not.
    ///
    /// # Errors
    /// Returns [`ProtocolError`] if epsilon is 0 or invalid, or a pair has more than 4,096 combinations.
    pub fn randomized(
        schema: &'a Schema,
        measured: &[([usize; 2], Measure)],
        epsilon: f64,
    ) -> Result<PairTables<'a>, ProtocolError> {
        let (mut plans, mut spent) = (Vec::new(), 0.0);
        for &([a, b], _) in measured {
            let attributes = [a, b].map(|attribute| schema.attributes()[attribute].clone().without_condition());
            let axes = [a, b].map(|attribute| Axis::single(schema.size(attribute))).to_vec();
            let channel = Pattern::k_ary(axes, epsilon / measured.len() as f64)?;
            let of_pair = Schema::new(attributes.to_vec()).map_err(PlanError::from)?;
            let plan = Plan::new(of_pair, vec![Block::new(vec![0, 1], channel)])?;
            // Checked before anything is drawn for tables that could not be used.
            TableEstimator::new(&plan, &[0, 1])?.predict(1.0, Target::Population)?;
            if schema.size(a) * schema.size(b) > MAX_DENSE {
                return Err(
                    EstimateError::NoLikelihood("a pair has more than 4,096 combinations; merge categories").into()
                );
            }
            // Rounded up, as all epsilons are.
            spent = f64::next_up(spent + plan.guarantee().epsilon().as_f64());
            plans.push(plan);
        }
        Ok(PairTables { schema, measured: measured.to_vec(), plans, epsilon: Some(spent) })
    }

    /// Returns the epsilon of a record by sequential composition; `None` if the counts are exact.
    pub fn epsilon(&self) -> Option<f64> {
        self.epsilon
    }

    /// Returns the total number of counts.
    pub fn cells(&self) -> usize {
        self.measured.iter().map(|&(pair, _)| self.schema.shape(&pair).cells()).sum()
    }

    /// Returns what records report for each pair: the true values, or randomized ones drawn here.
    ///
    /// # Errors
    /// Returns [`ProtocolError`] if a record does not match the schema.
    pub(super) fn reports(&self, columns: &[Vec<u16>], source: &Source) -> Result<Vec<[Vec<u16>; 2]>, ProtocolError> {
        let truths = |pair: [usize; 2]| pair.map(|attribute| columns[attribute].clone());
        if self.plans.is_empty() {
            return Ok(self.measured.iter().map(|&(pair, _)| truths(pair)).collect());
        }
        let drawn = |(number, (plan, &(pair, _))): (u64, (&Plan, &([usize; 2], Measure)))| {
            let answers = Randomizer::new(plan).batch(&truths(pair), &mut source.stream(number))?;
            let codes = answer_codes(plan, &answers);
            Ok([0, 1].map(|at| match codes[at] {
                Codes::One(codes) => codes.to_vec(),
                Codes::Set(_) => unreachable!("single answers"),
            }))
        };
        (FIRST_STREAM..).zip(self.plans.iter().zip(&self.measured)).map(drawn).collect()
    }

    /// Returns the counts of some records for all tables, each with its first attribute varying slowest.
    ///
    /// # Errors
    /// Returns [`ProtocolError`] if a record does not match the schema.
    pub fn counts(&self, columns: &[Vec<u16>], source: &Source) -> Result<Vec<u64>, ProtocolError> {
        let mut counts = Vec::with_capacity(self.cells());
        for ([first, second], &([a, b], _)) in self.reports(columns, source)?.iter().zip(&self.measured) {
            let width = self.schema.size(b);
            let begin = counts.len();
            counts.resize(begin + self.schema.size(a) * width, 0);
            let cells = first.iter().zip(second).map(|(&x, &y)| usize::from(x) * width + usize::from(y));
            cells.for_each(|cell| counts[begin + cell] += 1);
        }
        Ok(counts)
    }

    /// Splits the totals into tables, in order.
    ///
    /// # Panics
    /// Panics if there are too few or too many totals.
    pub fn tables<'t>(&self, totals: &'t [u64]) -> Vec<Totals<'t>> {
        let mut rest = totals;
        let next = |&(pair, _): &([usize; 2], Measure)| {
            let (table, after) = rest.split_at(self.schema.shape(&pair).cells());
            rest = after;
            (pair, table)
        };
        let tables = self.measured.iter().map(next).collect();
        assert!(rest.is_empty(), "totals of these tables");
        tables
    }

    /// Finds two tables that cannot be of the same records; honest rounds have none.
    ///
    /// Each record is in one cell of each table. If the counts are exact, it is in the same category of an attribute
    /// in all of them.
    ///
    /// # Panics
    /// Panics as [`PairTables::tables`] does.
    pub fn contradiction(&self, totals: &[u64]) -> Option<Contradiction> {
        let tables = self.tables(totals);
        let sum = |table: &[u64]| table.iter().map(|&total| u128::from(total)).sum::<u128>();
        let (&(first, table), others) = tables.split_first()?;
        let records = sum(table);
        let differing = others.iter().map(|&(second, other)| (second, sum(other))).find(|&(_, sum)| sum != records);
        if let Some((second, found)) = differing {
            return Some(Contradiction { first, second, category: None, records: [records, found] });
        }
        if self.epsilon.is_some() {
            return None;
        }
        let mut known: BTreeMap<usize, ([usize; 2], Vec<u128>)> = BTreeMap::new();
        for (pair, table) in tables {
            for (attribute, margin) in pair.into_iter().zip(self.margins(pair, table)) {
                let (first, other) = known.entry(attribute).or_insert_with(|| (pair, margin.clone()));
                if let Some(category) = (0..margin.len()).find(|&category| margin[category] != other[category]) {
                    return Some(Contradiction {
                        first: *first,
                        second: pair,
                        category: Some((attribute, category)),
                        records: [other[category], margin[category]],
                    });
                }
            }
        }
        None
    }

    /// Returns the margins of a table by its two attributes.
    fn margins(&self, [a, b]: [usize; 2], table: &[u64]) -> [Vec<u128>; 2] {
        let (rows, columns) = (self.schema.size(a), self.schema.size(b));
        let cell = |i: usize, j: usize| u128::from(table[i * columns + j]);
        let row = |i: usize| (0..columns).map(|j| cell(i, j)).sum();
        let column = |j: usize| (0..rows).map(|i| cell(i, j)).sum();
        [(0..rows).map(row).collect(), (0..columns).map(column).collect()]
    }

    /// Returns the associations in exact tables, or in tables estimated from randomized records.
    ///
    /// # Errors
    /// Returns [`ProtocolError`] if a table cannot be estimated.
    ///
    /// # Panics
    /// Panics as [`PairTables::tables`] does.
    pub fn dependences(&self, totals: &[u64]) -> Result<Vec<Association>, ProtocolError> {
        let tables = self.tables(totals);
        if self.plans.is_empty() {
            let exact = |(&(attributes, table), &(_, measure)): (&Totals<'_>, &([usize; 2], Measure))| {
                let [rows, columns] = attributes.map(|attribute| self.schema.size(attribute));
                let value = measure.of_table(rows, columns, &floats(table));
                Association { attributes, measure, value, standard_error: None }
            };
            return Ok(tables.iter().zip(&self.measured).map(exact).collect());
        }
        let mut dependences = Vec::with_capacity(tables.len());
        for (plan, ((attributes, table), &(_, measure))) in
            self.plans.iter().zip(tables.into_iter().zip(&self.measured))
        {
            let tally = |cells: Vec<f64>, of: &[usize]| {
                let total = cells.iter().sum();
                let group = ChannelCounts { total, squares: total, counts: cells, square_counts: Vec::new() };
                TableCounts::from_groups(plan, CountLayout::new(plan, of), BTreeMap::from([(Vec::new(), group)]))
            };
            let [rows, columns] =
                self.margins(attributes, table).map(|margin| margin.into_iter().map(|n| n as f64).collect());
            let one_way = [tally(rows, &[0]), tally(columns, &[1])];
            let found = estimated(plan, [&one_way[0], &one_way[1]], &tally(floats(table), &[0, 1]), measure)?;
            dependences.push(Association { attributes, ..found });
        }
        Ok(dependences)
    }
}

fn floats(counts: &[u64]) -> Vec<f64> {
    counts.iter().map(|&count| count as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [([usize; 2], Measure); 3] =
        [([0, 1], Measure::CramersV), ([0, 2], Measure::CramersV), ([1, 2], Measure::CramersV)];

    fn columns(people: u16) -> Vec<Vec<u16>> {
        vec![
            (0..people).map(|i| i % 3).collect(),
            (0..people).map(|i| (i + u16::from(i % 5 == 0)) % 3).collect(),
            (0..people).map(|i| i / 7 % 2).collect(),
        ]
    }

    #[test]
    fn counts_of_parts_add_up_to_those_of_the_whole() {
        let schema = Schema::with_sizes(&[3, 3, 2]).unwrap();
        let source = Source::from_seed(1);
        let whole = columns(90);
        let part = |from: usize, to: usize| whole.iter().map(|c| c[from..to].to_vec()).collect::<Vec<_>>();
        let tables = PairTables::exact(&schema, &PAIRS);
        let count = |columns: &[Vec<u16>]| tables.counts(columns, &source).unwrap();
        let sums: Vec<u64> = count(&part(0, 31)).iter().zip(count(&part(31, 90))).map(|(a, b)| a + b).collect();
        assert_eq!(sums, count(&whole));
        assert_eq!((sums.len(), tables.contradiction(&sums)), (tables.cells(), None));
        let randomized = PairTables::randomized(&schema, &PAIRS, 6.0).unwrap();
        let drawn = randomized.counts(&whole, &source).unwrap();
        assert!(drawn.iter().sum::<u64>() == 270 && drawn != sums);
        assert_eq!(randomized.contradiction(&drawn), None);
    }

    /// Every change of a single total is detected; a change that keeps all margins of all tables is not.
    #[test]
    fn contradictions_are_found() {
        let schema = Schema::with_sizes(&[3, 3, 2]).unwrap();
        let tables = PairTables::exact(&schema, &PAIRS);
        let totals = tables.counts(&columns(90), &Source::from_seed(1)).unwrap();
        for cell in 0..totals.len() {
            for other in (0..totals.len()).filter(|&other| other != cell) {
                let mut lied = totals.clone();
                lied[cell] += 1;
                assert!(tables.contradiction(&lied).is_some(), "{cell}");
                lied[other] = lied[other].wrapping_sub(1);
                assert!(tables.contradiction(&lied).is_some(), "{cell} {other}");
            }
        }
        let mut lied = totals.clone();
        (lied[0], lied[1], lied[3], lied[4]) = (lied[0] - 1, lied[1] + 1, lied[3] + 1, lied[4] - 1);
        assert_eq!(tables.contradiction(&lied), None);
    }
}
