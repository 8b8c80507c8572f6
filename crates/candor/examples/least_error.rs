//! How far each method is from the lower bound for unbiased estimates: the picture of the README, and with `both` how far the best plan
//! is from two lower bounds, theorems 3 and 4 of docs/mathematics/lower-bound.md.
//!
//! `cargo run --release -p candor --example least_error > docs/images/least-error.svg`
//! `cargo run --release -p candor --example least_error both > docs/images/both-bounds.svg`

use candor::plot::{Plot, Scale, Series};
use candor::prelude::*;
use candor_analysis::table_list::TableList;
use candor_design::bound::{Bound, Costs};
use candor_design::joint::optimal::search::SearchLimits;
use candor_design::joint::workload::lottery;
use candor_runtime::progress::Deadline;

/// The numbers of categories of eight attributes of the Adult census table.
const ADULT: [usize; 8] = [9, 16, 7, 15, 6, 5, 2, 2];

/// The epsilons at which plans are made.
const EPSILONS: [f64; 11] = [0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];

/// The picture, at the given epsilons, for all pairs of attributes with these numbers of categories.
pub fn picture(categories: &[usize], epsilons: &[f64]) -> Result<Plot, Box<dyn std::error::Error>> {
    let schema = Schema::with_sizes(categories)?;
    let mut series: Vec<Series> = Vec::new();
    for &epsilon in epsilons {
        let compared = compare(&schema, epsilon, &CompareOptions::default(), ProgressSink::none())?;
        for method in compared.methods.iter() {
            let Some(times) = method.times_the_bound.filter(|times| *times < 1e5) else { continue };
            match series.iter_mut().find(|series| series.name == method.method) {
                Some(series) => series.points.push((epsilon, times)),
                None => {
                    let (name, points) = (method.method.to_owned(), vec![(epsilon, times)]);
                    series.push(Series { name, joined: true, points });
                }
            }
        }
    }
    // Beyond the picture for most epsilons.
    series.retain(|series| 2 * series.points.len() > epsilons.len());
    Ok(Plot {
        name: "least-error".to_owned(),
        title: "Squared error of all pairs, over the lower bound for unbiased estimates".to_owned(),
        x: Scale::linear("epsilon of the record"),
        y: Scale::logarithmic("times the lower bound"),
        series,
    })
}

/// Attributes of equal size, for which both bounds are computed.
const BINARY: [usize; 8] = [2; 8];

/// How long a bound may take, in seconds.
const LIMIT: f64 = 60.0;

/// The picture of the best plan and both bounds.
pub fn both_bounds(categories: &[usize], epsilons: &[f64]) -> Result<Plot, Box<dyn std::error::Error>> {
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
    let plot = match std::env::args().nth(1).as_deref() {
        Some("both") => both_bounds(&BINARY, &EPSILONS)?,
        _ => picture(&ADULT, &EPSILONS)?,
    };
    println!("{}", plot.svg());
    Ok(())
}
