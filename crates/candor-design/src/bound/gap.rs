//! How a plan stands to the least possible error.

use candor_analysis::estimate::{EstimateError, TableEstimator, Target};
use candor_analysis::structural_zeros::all_possible;
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_runtime::progress::{Deadline, ProgressSink};

use super::{Bound, Costs};

/// `n` times the squared standard errors of all cells of all tables, by the weights of the tables, if the truth is
/// uniform.
///
/// # Errors
/// If the plan erases what a table asks for.
pub fn squared_error(plan: &Plan, tables: &TableList, weights: &[f64]) -> Result<f64, EstimateError> {
    let mut sum = 0.0;
    for (table, weight) in tables.lists().iter().zip(weights) {
        let predicted = TableEstimator::new(plan, table)?.predict(1.0, Target::Population)?;
        sum += weight * predicted.standard_errors.iter().map(|error| error * error).sum::<f64>();
    }
    Ok(sum)
}

/// The error of a plan for tables, and the least that there can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimalityGap {
    /// Its [`squared_error`].
    pub error: f64,
    /// No method with unbiased estimates and an epsilon (delta 0) not above the plan's has a smaller one, for a uniform
    /// population or in its worst case.
    pub bound: f64,
}

impl OptimalityGap {
    /// How a plan stands; `None` if it has no epsilon, erases a table, no table is about a randomized attribute, some
    /// cells cannot be, or the weights are beyond the range of numbers.
    pub fn new(plan: &Plan, tables: &TableList, weights: &[f64]) -> Option<OptimalityGap> {
        OptimalityGap::within(plan, tables, weights, &Deadline::start(None, ProgressSink::none()))
    }

    /// The same with a deadline for the search for a bound: when it stops, the best bound found until then is taken.
    pub fn within(plan: &Plan, tables: &TableList, weights: &[f64], deadline: &Deadline<'_>) -> Option<OptimalityGap> {
        let epsilon = plan.guarantee().epsilon().finite()?;
        // Of methods that know that some cells cannot be, nothing is proven.
        if !all_possible(plan.schema(), tables.lists()) {
            return None;
        }
        let error = squared_error(plan, tables, weights).ok()?;
        let costs = Costs::of_tables(plan.schema(), tables, weights).ok()?;
        let standing = OptimalityGap { error, bound: Bound::within(costs, epsilon, deadline).at(epsilon) };
        (standing.error.is_finite() && standing.bound > 0.0).then_some(standing)
    }

    /// The error over the bound: 1 is proven optimal.
    pub fn times(&self) -> f64 {
        self.error / self.bound
    }

    /// By how many percent of it a squared error could be smaller at most, rounded up to hundredths.
    pub fn percent(&self) -> f64 {
        let gap = 100.0 * (1.0 - self.bound / self.error);
        (gap.max(0.0) * 100.0 + 1e-9).ceil() / 100.0
    }
}
