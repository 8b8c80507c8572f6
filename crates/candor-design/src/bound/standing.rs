//! How a plan stands to the least possible error.

use candor_analysis::estimate::{EstimateError, TableEstimator, Target};
use candor_analysis::structure::all_possible;
use candor_analysis::table_list::TableList;
use candor_analysis::watch::{Clock, Watch};
use candor_base::plan::Plan;

use super::{Bound, Costs};

/// `n` times the squared standard errors of all cells of all tables, by the weights of the tables, if the truth is uniform.
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
pub struct Standing {
    /// Its [`squared_error`].
    pub error: f64,
    /// No method with unbiased estimates and an epsilon (delta 0) not above the plan's has a smaller one, for a uniform
    /// population or in its worst case.
    pub bound: f64,
}

impl Standing {
    /// How a plan stands; `None` if it has no epsilon, erases a table, no table is about a randomized attribute, some cells cannot
    /// be, or the weights are beyond the range of numbers.
    pub fn of(plan: &Plan, tables: &TableList, weights: &[f64]) -> Option<Standing> {
        Standing::within(plan, tables, weights, &Clock::starts(None, Watch::nobody()))
    }

    /// The same with a clock for the search for a bound: when it stops, the best bound found until then is taken.
    pub fn within(plan: &Plan, tables: &TableList, weights: &[f64], clock: &Clock<'_>) -> Option<Standing> {
        let epsilon = plan.guarantee().epsilon().value()?;
        // Of methods that know that some cells cannot be, nothing is proven.
        if !all_possible(plan.schema(), tables.lists()) {
            return None;
        }
        let error = squared_error(plan, tables, weights).ok()?;
        let costs = Costs::of_tables(plan.schema(), tables, weights).ok()?;
        let standing = Standing { error, bound: Bound::within(costs, epsilon, clock).at(epsilon) };
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
