//! Compares the best plan with two lower bounds, theorems 3 and 4 of docs/mathematics/lower-bound.md.
//!
//! `cargo run --release -p candor --example both_bounds > docs/images/both-bounds.svg`

use candor::plot::{Plot, Scale, Series};
use candor::prelude::*;
use candor_analysis::table_list::TableList;
use candor_design::bound::{Bound, Costs};
use candor_design::joint::least_epsilon::search::SearchLimits;
use candor_design::joint::least_error::lottery;
use candor_runtime::progress::Deadline;

/// Epsilons of the plans.
const EPSILONS: [f64; 11] = [0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];

/// Attributes of equal size, for which both bounds can be computed.
const BINARY: [usize; 8] = [2; 8];

/// Time limit for a bound, in seconds.
const LIMIT: f64 = 60.0;

/// Plots the best plan and both bounds.
pub fn picture(categories: &[usize], epsilons: &[f64]) -> Result<Plot, Box<dyn std::error::Error>> {
    let schema = Schema::with_sizes(categories)?;
    let (tables, weights) = TableList::parse_weighted("pairs", &schema)?;
    let costs = Costs::of_tables(&schema, &tables, &weights)?;
    let (mut pairs, mut triples) = (Vec::new(), Vec::new());
    for &epsilon in epsilons {
        let plan = lottery(&schema, epsilon, &tables, &weights, SearchLimits::to(1e-10))?.error;
        let deadline = Deadline::start(Some(LIMIT), ProgressSink::none());
        pairs.push((epsilon, plan / Bound::by_pairs(costs.clone(), epsilon).at(epsilon)));
        triples.push((epsilon, plan / Bound::within(costs.clone(), epsilon, &deadline).at(epsilon)));
    }
    let of = |name: &str, points| Series { name: name.to_owned(), joined: true, points };
    Ok(Plot {
        name: "both-bounds".to_owned(),
        title: format!(
            "Squared error of all pairs of {} attributes under workload, over lower bounds",
            categories.len()
        ),
        x: Scale::linear("epsilon of the record"),
        y: Scale::linear("times the lower bound"),
        series: vec![of("theorem 3 (two records)", pairs), of("theorem 4 (three records)", triples)],
    })
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", picture(&BINARY, &EPSILONS)?.svg());
    Ok(())
}
