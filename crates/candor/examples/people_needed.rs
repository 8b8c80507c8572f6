//! Plots the sample size of each method for the same tables at the same epsilon.
//!
//! `cargo run --release -p candor --example people_needed > docs/images/people-needed.svg`

use candor::format::count;
use candor::plot::{Quantity, Ranked, Ranking};
use candor::prelude::*;

/// Numbers of categories of eight attributes of the Adult census data.
const ADULT: [usize; 8] = [9, 16, 7, 15, 6, 5, 2, 2];

/// Epsilon of every method.
const EPSILON: f64 = 2.0;

/// Target margin of error, as a share.
const MARGIN: f64 = 0.03;

/// Plotted methods, with a description of each.
const DRAWN: [(&str, &str); 5] = [
    ("independent", "Change every answer on its own"),
    ("minimax", "Send a list of answers to every question"),
    ("optimal", "One draw for all answers together"),
    ("sampling pairs", "Ask each person about one pair only"),
    ("workload", "Made by candor for these tables"),
];

/// Population of the Earth, beyond which sample sizes are not plotted.
const EARTH: f64 = 8e9;

/// Rounds to three digits, which suffice for comparison.
fn rounded(people: f64) -> f64 {
    let unit = 10f64.powf((people.log10().floor() - 2.0).max(0.0));
    (people / unit - 1e-9).ceil() * unit
}

/// Plots the sample sizes for all pairs of attributes with these numbers of categories.
pub fn picture(categories: &[usize]) -> Result<Ranking, Box<dyn std::error::Error>> {
    let schema = Schema::with_sizes(categories)?;
    let compared = compare(&schema, EPSILON, &CompareOptions::default(), ProgressSink::none())?;
    let people = |error: f64| compared.respondents * (1.96 * error / MARGIN).powi(2);
    let best = compared.best().ok_or("no method can estimate all pairs")?;
    let fewest = people(best.error.ok_or("no error")?);
    let bound = rounded(fewest / best.times_the_bound.ok_or("no bound")?);
    let row = |&(method, name): &(&str, &str)| {
        let found = compared.methods.iter().find(|one| one.method == method && one.error.is_some())?;
        let (needed, is_best) = (people(found.error?), found.method == best.method);
        let times = needed / fewest;
        let times = if times < 10.0 { format!("{times:.1}") } else { count(times.round() as u64) };
        (needed < EARTH).then(|| Ranked {
            name: name.to_owned(),
            numbers: vec![Some(needed)],
            value: count(rounded(needed) as u64),
            remark: if is_best { String::new() } else { format!("{times} times") },
            best: is_best,
        })
    };
    let rows: Vec<Ranked> = DRAWN.iter().filter_map(row).collect();
    let most = compared.methods.iter().find(|one| one.method == "independent").and_then(|one| one.error);
    let times = most.map_or(1.0, |error| people(error) / fewest);
    let left_out = compared.methods.iter().filter(|one| one.error.is_some_and(|error| people(error) >= EARTH));
    let left_out: Vec<&str> = left_out.map(|one| one.method).collect();
    let (questions, pairs) = (categories.len(), categories.len() * (categories.len() - 1) / 2);
    Ok(Ranking {
        title: format!("Same privacy, same tables: {} times fewer people to ask", count(times.round() as u64)),
        subtitle: format!(
            "People you must ask to know all {pairs} two-question tables of {questions} questions to ±3 percentage \
             points, when every method gives each person the same certified protection"
        ),
        quantity: Quantity::People,
        kinds: vec!["people".to_owned()],
        rows,
        limit: Some((
            format!(
                "{}: no method of this epsilon with unbiased estimates can do with fewer (proven)",
                count(bound as u64)
            ),
            bound,
        )),
        notes: format!(
            "Each line of the grid is ten times as many people. Epsilon {EPSILON}, typical cell of a table as a \
             percentage of everybody, 95% confidence, uniform population.{}",
            match &left_out[..] {
                [] => String::new(),
                several =>
                    format!(" Not drawn, because they need more people than live on Earth: {}.", several.join(", ")),
            }
        ),
    })
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", picture(&ADULT)?.svg());
    Ok(())
}
