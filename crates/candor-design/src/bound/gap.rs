//! The optimality gap of a plan.

use candor_analysis::estimate::{EstimateError, TableEstimator, Target};
use candor_analysis::structural_zeros::all_possible;
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_runtime::progress::{Deadline, ProgressSink};

use super::{Bound, Costs};

/// Returns `n` times the squared standard errors of all cells of all tables, for a uniform population.
///
/// The errors of each table are multiplied by its weight.
///
/// # Errors
/// Returns an [`EstimateError`] if a table is not identifiable.
pub fn squared_error(plan: &Plan, tables: &TableList, weights: &[f64]) -> Result<f64, EstimateError> {
    let mut sum = 0.0;
    for (table, weight) in tables.lists().iter().zip(weights) {
        let predicted = TableEstimator::new(plan, table)?.predict(1.0, Target::Population)?;
        sum += weight * predicted.standard_errors.iter().map(|error| error * error).sum::<f64>();
    }
    Ok(sum)
}

/// The error of a plan for tables, and a lower bound on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimalityGap {
    /// The plan's [`squared_error`].
    pub error: f64,
    /// Lower bound on the error of all methods with unbiased estimates and an epsilon (delta 0) of at most the plan's.
    ///
    /// It is for a uniform population, or for the worst case.
    pub bound: f64,
}

impl OptimalityGap {
    /// Computes the optimality gap of a plan.
    ///
    /// Returns `None` if the plan is unbounded or a table is not identifiable, if no table has a randomized attribute,
    /// if there are structural zeros, or if the weights are beyond the range of floats.
    pub fn new(plan: &Plan, tables: &TableList, weights: &[f64]) -> Option<OptimalityGap> {
        OptimalityGap::within(plan, tables, weights, &Deadline::start(None, ProgressSink::none()))
    }

    /// Computes the optimality gap with a deadline, at which the search for a bound returns the best found so far.
    pub fn within(plan: &Plan, tables: &TableList, weights: &[f64], deadline: &Deadline<'_>) -> Option<OptimalityGap> {
        let epsilon = plan.guarantee().epsilon().finite()?;
        // There is no proof for methods that use structural zeros.
        if !all_possible(plan.schema(), tables.lists()) {
            return None;
        }
        let error = squared_error(plan, tables, weights).ok()?;
        let costs = Costs::of_tables(plan.schema(), tables, weights).ok()?;
        let standing = OptimalityGap { error, bound: Bound::within(costs, epsilon, deadline).at(epsilon) };
        (standing.error.is_finite() && standing.bound > 0.0).then_some(standing)
    }

    /// Returns the error divided by the bound; 1 is proven optimal.
    pub fn times(&self) -> f64 {
        self.error / self.bound
    }

    /// Returns an upper bound on the percentage by which the squared error could be smaller, rounded up to hundredths.
    pub fn percent(&self) -> f64 {
        let gap = 100.0 * (1.0 - self.bound / self.error);
        (gap.max(0.0) * 100.0 + 1e-9).ceil() / 100.0
    }
}
