//! Tables that agree with each other and have no negative cells, as close as possible to the unbiased estimates.
//!
//! Unbiased estimates of several tables agree, because every component has one estimate in all of them, but they
//! have negative cells. [Projections](super::simplex::project) of single tables have none, but disagree and ignore
//! precision: they move a one-way share as easily as a cell. Here all tables are moved together, and precise
//! components least:
//!
//! ```text
//! minimize  sum over components V of  A_V D_V |x_V - estimate_V|^2
//! such that no cell of any table of the x_V is negative
//! ```
//!
//! `A_V D_V` is the inverse variance of each dimension of a component in a uniform population (`D_V` is its
//! information). So this is the projection in the metric of the covariance. The result is biased, as is every
//! estimate that cannot be negative.

use std::collections::BTreeMap;

use candor_base::plan::Plan;
use candor_base::shape::Shape;

use super::components::{join, split};
use super::{Estimate, EstimateError, TableEstimator, Target};
use crate::structural_zeros::possible;
use crate::tally::TableCounts;

/// Tolerance: the iteration ends when no cell moves by more, or is negative by more.
const SETTLED: f64 = 1e-8;

/// Maximum number of rounds; fewer for tables with many cells.
///
/// A count instead of a time limit makes results reproducible on every machine.
const MAX_ROUNDS: usize = 20_000;

/// Maximum number of steps of all rounds together.
const MAX_STEPS: usize = 1 << 34;

/// Number of rounds after which the weight of agreement is adjusted.
const LOOKED_AT: usize = 40;

/// Estimates tables that have no negative cells and agree with each other, in the given order.
///
/// `tallies` must count the same responses. Two tables have the same shares of their common attributes. Standard
/// errors are empty: [`analyse_all`](super::analyse_all) returns errors and intervals.
///
/// The algorithm is the alternating direction method of multipliers, between components that agree and cells that
/// are not negative. It takes a few hundred passes over all cells.
///
/// # Errors
/// Returns the errors of [`TableEstimator::estimate`].
/// Returns another [`EstimateError`] if an attribute has a matrix channel, or the iteration does not converge.
pub fn constrained(plan: &Plan, tallies: &[&TableCounts]) -> Result<Vec<Estimate>, EstimateError> {
    made_to_agree(plan, tallies).map(|(estimates, _)| estimates)
}

/// Returns the estimates and the problem that was solved.
pub(super) fn made_to_agree(plan: &Plan, tallies: &[&TableCounts]) -> Result<(Vec<Estimate>, Problem), EstimateError> {
    let mut problem = Problem::default();
    let mut estimates = Vec::with_capacity(tallies.len());
    for tally in tallies {
        let estimator = TableEstimator::new(plan, &tally.layout().attributes)?;
        let mut estimate = estimator.estimate(tally, Target::Population)?;
        problem.add(&estimator, &estimate.shares, &estimator.information(tally))?;
        estimate.standard_errors.clear();
        estimates.push(estimate);
    }
    let open = problem.tables.iter().all(|table| table.possible.is_none());
    if open && estimates.iter().all(|estimate| estimate.shares.iter().all(|share| *share >= 0.0)) {
        return Ok((estimates, problem));
    }
    let (tables, settled) = problem.solve(&problem.values, SETTLED, MAX_ROUNDS);
    if !settled {
        return Err(EstimateError::NotConverged(problem.rounds(MAX_ROUNDS)));
    }
    estimates.iter_mut().zip(tables).for_each(|(estimate, shares)| estimate.shares = shares);
    Ok((estimates, problem))
}

/// All components of all tables, with their positions in each table.
#[derive(Default)]
pub(super) struct Problem {
    /// For each component, the position of its first value, which is also that of its information.
    components: BTreeMap<Vec<usize>, usize>,
    /// The estimates as sums over the other attributes, without the first category of each attribute.
    values: Vec<f64>,
    /// Information about each value.
    information: Vec<f64>,
    tables: Vec<Table>,
}

struct Table {
    dims: Vec<usize>,
    /// For each slot of the [split](split) table, the index of its value and its factor `A_V / A_T`.
    slots: Vec<(usize, f64)>,
    /// Whether each cell is possible; `None` if all are.
    possible: Option<Vec<bool>>,
}

impl Problem {
    /// Adds a table, with its unbiased shares and the information about its components.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if one of its attributes has a matrix channel.
    pub(super) fn add(
        &mut self,
        estimator: &TableEstimator<'_>,
        shares: &[f64],
        information: &[f64],
    ) -> Result<(), EstimateError> {
        if !estimator.matrices.is_empty() {
            return Err(EstimateError::NoLikelihood(
                "an attribute of it is answered by a matrix, whose errors are not alike in all directions; use \
                 projected",
            ));
        }
        let (attributes, schema) = (&estimator.layout.attributes, estimator.plan.schema());
        let held = estimator.held();
        self.add_table((attributes, schema.shape(attributes)), shares, (&held, information));
        if let Some(table) = self.tables.last_mut() {
            table.possible = possible(schema, attributes);
        }
        Ok(())
    }

    /// Adds a table without structural zeros. Bits of a component number the attributes in the internal order.
    fn add_table(
        &mut self,
        (attributes, shape): (&[usize], Shape),
        shares: &[f64],
        (held, information): (&[usize], &[f64]),
    ) {
        let dims = shape.sizes().to_vec();
        let (axes, cells) = (dims.len(), shares.len());
        let mut table = shares.to_vec();
        split(&mut table, &dims, axes);
        let bit = |axis: usize| {
            held.iter().position(|attribute| *attribute == attributes[axis]).expect("an attribute of the table")
        };
        let mut slots = Vec::with_capacity(cells);
        for (slot, mean) in table.into_iter().enumerate() {
            let codes = shape.codes(slot);
            let inside: Vec<usize> = (0..axes).filter(|&axis| codes[axis] > 0).collect();
            // In the order of the schema, so that tables with another order of the same attributes agree.
            let mut order = inside.clone();
            order.sort_unstable_by_key(|&axis| attributes[axis]);
            let key: Vec<usize> = order.iter().map(|&axis| attributes[axis]).collect();
            let size = |&axis: &usize| dims[axis];
            let share = inside.iter().map(size).product::<usize>() as f64 / cells as f64;
            let values: usize = order.iter().map(|axis| dims[*axis] - 1).product();
            let known = information[inside.iter().map(|&axis| 1 << bit(axis)).sum::<usize>()];
            let start = *self.components.entry(key).or_insert_with(|| {
                self.values.resize(self.values.len() + values, 0.0);
                self.information.resize(self.values.len(), known);
                self.values.len() - values
            });
            let at = start + order.iter().fold(0, |at, &axis| at * (dims[axis] - 1) + codes[axis] - 1);
            self.values[at] = mean / share;
            slots.push((at, share));
        }
        self.tables.push(Table { dims, slots, possible: None });
    }

    /// Returns the values of tables with these shares, or of differences of shares.
    pub(super) fn values_of(&self, tables: &[Vec<f64>]) -> Vec<f64> {
        let mut values = vec![0.0; self.values.len()];
        for (table, shares) in self.tables.iter().zip(tables) {
            let mut means = shares.clone();
            split(&mut means, &table.dims, table.dims.len());
            means.iter().zip(&table.slots).for_each(|(mean, &(at, share))| values[at] = mean / share);
        }
        values
    }

    /// Returns the tables with these values.
    pub(super) fn tables_of(&self, values: &[f64]) -> Vec<Vec<f64>> {
        self.tables.iter().map(|table| table.of(values)).collect()
    }

    /// Returns the number of steps in a round.
    pub(super) fn steps(&self) -> usize {
        self.tables.iter().map(|table| table.slots.len() * (table.dims.len() + 2)).sum::<usize>().max(1)
    }

    /// Limits the number of rounds by the number of steps.
    fn rounds(&self, most: usize) -> usize {
        (MAX_STEPS / self.steps()).max(200).min(most)
    }

    /// Returns the distributions closest to unbiased estimates with these values, and whether the iteration
    /// converged.
    pub(super) fn solve(&self, wanted: &[f64], settled: f64, most: usize) -> (Vec<Vec<f64>>, bool) {
        let (tables, has_settled) = self.closest(wanted, settled, self.rounds(most));
        let proper = |(shares, table): (Vec<f64>, &Table)| {
            let kept = |(cell, share): (usize, f64)| if table.can_be(cell) { share.max(0.0) } else { 0.0 };
            let shares: Vec<f64> = shares.into_iter().enumerate().map(kept).collect();
            let whole: f64 = shares.iter().sum();
            shares.into_iter().map(|share| share / whole).collect()
        };
        (tables.into_iter().zip(&self.tables).map(proper).collect(), has_settled)
    }

    /// Returns the tables that agree, up to the tolerance, and whether the iteration converged.
    fn closest(&self, estimates: &[f64], settled: f64, rounds: usize) -> (Vec<Vec<f64>>, bool) {
        // Weight of all tables together on each value, for a unit weight.
        let mut pull = vec![0.0; self.values.len()];
        for table in &self.tables {
            table.slots.iter().for_each(|&(at, _)| pull[at] += 1.0 / table.slots.len() as f64);
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let mut weight = mean(&self.information) / mean(&pull);
        let mut values = estimates.to_vec();
        let mut now = self.tables_of(&values);
        let mut wanted: Vec<Vec<f64>> =
            now.iter().map(|table| table.iter().map(|share| share.max(0.0)).collect()).collect();
        let mut off: Vec<Vec<f64>> = now.iter().map(|table| vec![0.0; table.len()]).collect();
        for round in 1..=rounds {
            self.fit((estimates, &mut values), &pull, &wanted, &off, weight);
            let (mut apart, mut moved) = (Largest::default(), Largest::default());
            for ((table, now), (wanted, off)) in
                self.tables.iter().zip(&mut now).zip(wanted.iter_mut().zip(off.iter_mut()))
            {
                *now = table.of(&values);
                for (cell, ((now, wanted), off)) in now.iter().zip(wanted.iter_mut()).zip(off.iter_mut()).enumerate() {
                    let next = if table.can_be(cell) { (now + *off).max(0.0) } else { 0.0 };
                    apart.add(now - next);
                    moved.add(next - *wanted);
                    *off += now - next;
                    *wanted = next;
                }
            }
            if apart.largest <= settled && moved.largest <= settled {
                return (now, true);
            }
            if round % LOOKED_AT == 0 {
                // The multipliers are in units of one over the weight.
                let change = (apart.square / moved.square.max(f64::MIN_POSITIVE)).sqrt().clamp(0.2, 5.0);
                if !(0.5..=2.0).contains(&change) {
                    weight *= change;
                    off.iter_mut().flatten().for_each(|off| *off /= change);
                }
            }
        }
        (now, false)
    }

    /// Returns the values closest to the estimates and to the tables, given the weight of the latter.
    fn fit(
        &self,
        (estimates, values): (&[f64], &mut [f64]),
        pull: &[f64],
        wanted: &[Vec<f64>],
        off: &[Vec<f64>],
        weight: f64,
    ) {
        let mut sums = vec![0.0; values.len()];
        for ((table, wanted), off) in self.tables.iter().zip(wanted).zip(off) {
            let mut aim: Vec<f64> = wanted.iter().zip(off).map(|(wanted, off)| wanted - off).collect();
            split(&mut aim, &table.dims, table.dims.len());
            let cells = table.slots.len() as f64;
            aim.iter().zip(&table.slots).for_each(|(slot, &(at, share))| sums[at] += slot / (share * cells));
        }
        for (at, value) in values.iter_mut().enumerate() {
            let known = self.information[at];
            *value = (known * estimates[at] + weight * sums[at]) / (known + weight * pull[at]);
        }
        // The shares sum to one, regardless of the tables.
        if let Some(&whole) = self.components.get(&Vec::new()) {
            values[whole] = estimates[whole];
        }
    }
}

impl Table {
    fn can_be(&self, cell: usize) -> bool {
        self.possible.as_ref().is_none_or(|possible| possible[cell])
    }

    /// Returns the table with these components.
    fn of(&self, values: &[f64]) -> Vec<f64> {
        let mut table: Vec<f64> = self.slots.iter().map(|&(at, share)| values[at] * share).collect();
        join(&mut table, &self.dims, self.dims.len());
        table
    }
}

/// The largest of some numbers, and the sum of their squares.
#[derive(Default)]
struct Largest {
    largest: f64,
    square: f64,
}

impl Largest {
    fn add(&mut self, number: f64) {
        self.largest = self.largest.max(number.abs());
        self.square += number * number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Optimality: at the closest tables, no step toward any other distribution is a descent direction.
    #[test]
    fn no_distribution_is_closer() {
        let dims = [2usize, 3, 4];
        let lists = [vec![0usize, 1], vec![1, 2], vec![0, 2]];
        let noise = |seed: usize| (seed as f64 * 0.618_033_988_749_895).fract() - 0.5;
        let mut problem = Problem::default();
        for (number, list) in lists.iter().enumerate() {
            let sizes: Vec<usize> = list.iter().map(|&axis| dims[axis]).collect();
            let cells: usize = sizes.iter().product();
            let mut shares: Vec<f64> =
                (0..cells).map(|cell| 1.0 / cells as f64 + noise(17 * number + cell) / 2.0).collect();
            let whole: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share += (1.0 - whole) / cells as f64);
            problem.add_table((list, Shape::new(sizes)), &shares, (list, &[1e4, 300.0, 200.0, 50.0]));
        }
        let (solved, settled) = problem.closest(&problem.values, SETTLED, MAX_ROUNDS);
        assert!(settled);
        let values = |tables: &[Vec<f64>]| problem.values_of(tables);
        let found = values(&solved);
        // The sum over an entire component, including omitted categories: products over all cells of each
        // table's own components.
        let inner = |a: &[f64], b: &[f64]| -> f64 {
            let mut sum = 0.0;
            for (key, &start) in &problem.components {
                let sizes: Vec<usize> = key.iter().map(|&attribute| dims[attribute]).collect();
                let full = |values: &[f64]| {
                    let shape = Shape::new(sizes.clone());
                    let mut table = vec![0.0; shape.cells()];
                    for (slot, value) in table.iter_mut().enumerate() {
                        let codes = shape.codes(slot);
                        if codes.iter().all(|code| *code > 0) {
                            let at = codes.iter().zip(&sizes).fold(0, |at, (code, size)| at * (size - 1) + code - 1);
                            *value = values[start + at];
                        }
                    }
                    join(&mut table, &sizes, sizes.len());
                    table
                };
                let cells: usize = sizes.iter().product();
                let products: f64 = full(a).iter().zip(full(b)).map(|(x, y)| x * y).sum();
                sum += cells as f64 * problem.information[start] * products;
            }
            sum
        };
        let step: Vec<f64> = found.iter().zip(&problem.values).map(|(x, e)| x - e).collect();
        assert!(inner(&step, &step) > 0.01, "{}: the estimates were no distributions", inner(&step, &step));
        let shape = Shape::new(dims.to_vec());
        for corner in 0..shape.cells() {
            // All respondents alike: a vertex of the simplex of distributions.
            let tables: Vec<Vec<f64>> = lists
                .iter()
                .map(|list| {
                    let own = shape.project(list);
                    (0..own.cells()).map(|cell| f64::from(u8::from(cell == shape.project_cell(corner, list)))).collect()
                })
                .collect();
            let towards: Vec<f64> = values(&tables).iter().zip(&found).map(|(p, x)| p - x).collect();
            let slope = inner(&step, &towards);
            assert!(slope > -1e-3, "corner {corner}: {slope}");
        }
    }
}
