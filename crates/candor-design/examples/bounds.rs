//! Squared errors of `workload` for all pairs, with the lower bounds of theorems 3 and 4.
//!
//! Theorem 4 is also compared with the results of other programs (`tests/golden/three_records.json`). The output is the
//! table of docs/mathematics/lower-bound.md.
//!
//! `cargo run --release -p candor-design --example bounds [SECONDS [FIRST]]`: the time for each bound, and the first
//! row.

use std::time::Instant;

use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;
use candor_design::bound::{Bound, Costs};
use candor_design::joint::least_epsilon::search::SearchLimits;
use candor_design::joint::least_error::lottery;
use candor_runtime::progress::{Deadline, ProgressSink};

/// Sizes of attributes, and epsilons.
const ROWS: [(&[usize], &[f64]); 19] = [
    (&[2, 2], &[1.0, 2.0]),
    (&[2, 3], &[1.0, 2.0]),
    (&[3, 3], &[1.0, 2.0]),
    (&[2, 4], &[0.5, 2.0]),
    (&[2, 2, 2], &[1.0, 2.0]),
    (&[2; 5], &[2.0, 2.5, 3.0]),
    (&[2; 6], &[2.0, 2.5, 3.5, 4.0]),
    (&[2; 7], &[2.0, 3.0, 4.0, 5.0]),
    (&[2; 8], &[2.0, 2.5, 3.0, 4.0, 5.0]),
    (&[2; 10], &[3.0, 4.0]),
    (&[3, 3, 3], &[2.0]),
    (&[3, 3, 3, 3], &[1.5, 3.0]),
    (&[2, 2, 3, 3], &[1.0, 3.0]),
    (&[4, 4, 4, 4], &[2.5]),
    (&[2, 3, 4, 5], &[2.0, 3.0]),
    (&[3, 4, 5, 6], &[2.5, 3.0]),
    (&[8, 5, 3, 2, 2], &[3.0]),
    (&[12, 12, 5, 5, 2, 2], &[4.0]),
    (&[12, 12, 12, 12, 5, 5, 2, 2], &[4.0]),
];

/// Returns the result of other programs for these sizes at this epsilon, if there is one.
fn golden(sizes: &[usize], epsilon: f64) -> Option<f64> {
    let cases: serde_json::Value = serde_json::from_str(include_str!("../tests/golden/three_records.json")).ok()?;
    let is_it =
        |case: &&serde_json::Value| case["epsilon"] == epsilon && case["categories"] == serde_json::json!(sizes);
    cases.as_array()?.iter().find(is_it)?["three_records"].as_f64()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<f64> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let first = arguments.get(1).map_or(0, |first| *first as usize);
    println!(
        "| attributes | epsilon | plan | theorem 3 | theorem 4 | plan/theorem 3 | plan/theorem 4 | theorem 4/golden | \
         seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (sizes, epsilons) in ROWS.into_iter().skip(first) {
        let schema = Schema::with_sizes(sizes)?;
        let (tables, weights) = TableList::parse_weighted("pairs", &schema)?;
        let costs = Costs::of_tables(&schema, &tables, &weights)?;
        for &epsilon in epsilons {
            let plan = lottery(&schema, epsilon, &tables, &weights, SearchLimits::to(1e-10))?.error;
            let three = Bound::by_pairs(costs.clone(), epsilon).at(epsilon);
            let began = Instant::now();
            let deadline = Deadline::start(Some(arguments.first().copied().unwrap_or(30.0)), ProgressSink::none());
            let four = Bound::within(costs.clone(), epsilon, &deadline).at(epsilon);
            let seconds = began.elapsed().as_secs_f64();
            let (was, is) = (plan / three, plan / four);
            let names: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            let golden = golden(sizes, epsilon).map_or("-".to_owned(), |golden| format!("{:.6}", four / golden));
            println!(
                "| {} | {epsilon} | {plan:.6} | {three:.6} | {four:.6} | {was:.4} | {is:.4} | {golden} | {seconds:.2} \
                 |",
                names.join(", ")
            );
        }
    }
    Ok(())
}
