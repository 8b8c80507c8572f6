//! How far each method is from the lower bound for unbiased estimates: the picture of the README.
//!
//! `cargo run --release -p candor --example least_error > docs/images/least-error.svg`

use candor::plot::{Plot, Scale, Series};
use candor::prelude::*;

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

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", picture(&ADULT, &EPSILONS)?.svg());
    Ok(())
}
