//! Computes the number of people that one invented response can stand for.

use candor_analysis::estimate::TableEstimator;
use candor_base::plan::Plan;

use crate::format::count;

/// Number of people above which the influence of one invented response is reported.
const MIN_PEOPLE: f64 = 10.0;

/// Returns the largest number of people that one response can add to one of these tables; `None` below ten.
pub fn people_per_response(plan: &Plan, tables: &[Vec<usize>]) -> Option<f64> {
    let of_table = |table: &Vec<usize>| TableEstimator::new(plan, table).ok()?.largest_weight().ok()?;
    let most = tables.iter().filter_map(of_table).fold(0.0, f64::max);
    (most >= MIN_PEOPLE).then_some(most)
}

/// Describes the number of people in words, without a full stop.
pub fn people_in_words(people: f64) -> String {
    format!("one invented response can count for up to {} people in one of these tables", count(people.ceil() as u64))
}
