//! Designs for many attributes: running times of the optimum, the heuristic and workload plans.
//!
//! Run with `cargo bench -p candor-design --bench joint`; results are in benches/results/, next to those of the same
//! linear programs in HiGHS (benches/peers/optimum.py, which generates the same instances).

use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;
use candor_design::bound::{Bound, Costs};
use candor_design::joint::least_epsilon::alike_epsilon;
use candor_design::joint::least_epsilon::levels::EpsilonTargets;
use candor_design::joint::least_epsilon::search::{SearchLimits, search};
use candor_design::joint::least_error::{lottery, single};
use candor_design::joint::single_miss::heuristic_outcome;
use divan::{Bencher, black_box};

fn main() {
    gaps();
    divan::main();
}

/// Numbers of attributes, with the range of their epsilons.
const CASES: [(usize, f64, f64); 9] = [
    (10, 0.2, 2.0),
    (12, 0.2, 2.0),
    (12, 1.0, 10.0),
    (14, 0.2, 2.0),
    (16, 0.2, 2.0),
    (20, 0.2, 2.0),
    (30, 0.2, 1.2),
    (100, 0.1, 0.5),
    (1_000, 0.02, 0.2),
];

/// Returns random numbers of categories from 2 to 5 and epsilons, by xorshift, so that a script can make the same.
fn instance(k: usize, low: f64, high: f64) -> EpsilonTargets {
    let mut state = 12_345u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let sizes = (0..k).map(|_| 2 + (4.0 * uniform()) as usize).collect();
    let epsilons = (0..k).map(|_| low + (high - low) * uniform()).collect();
    EpsilonTargets::new(sizes, epsilons).expect("positive epsilons")
}

/// Returns the required gap: rounding for up to 20 attributes, 1e-4 beyond.
fn effort(k: usize) -> SearchLimits<'static> {
    SearchLimits::to(if k <= 20 { 1e-9 } else { 1e-4 })
}

/// Prints the optima themselves, so that timings are of correct results.
fn gaps() {
    println!("attributes  epsilons      optimum       gap");
    for (k, low, high) in CASES {
        let found = search(&instance(k, low, high), effort(k));
        println!("{k:>10}  {low:>4} .. {high:<4} {:>10.6}  {:.1e}", found.upper, found.upper - found.lower);
    }
}

#[divan::bench(args = CASES, sample_count = 10, sample_size = 1)]
fn optimum(bencher: Bencher, (k, low, high): (usize, f64, f64)) {
    let levels = instance(k, low, high);
    bencher.bench(|| search(black_box(&levels), effort(k)));
}

#[divan::bench]
fn a_million_alike() -> f64 {
    alike_epsilon(black_box(1_000_000), 5, 0.001).expect("a positive epsilon")
}

#[divan::bench]
fn heuristic_of_a_thousand(bencher: Bencher) {
    let levels = instance(1_000, 1.0, 10.0);
    let order: Vec<usize> = (0..1_000).collect();
    bencher.bench(|| heuristic_outcome(black_box(&levels), &order));
}

#[divan::bench(args = [1.0, 2.0, 4.0, 8.0], sample_count = 5, sample_size = 1)]
fn workload_of_adult(bencher: Bencher, epsilon: f64) {
    let schema = Schema::with_sizes(&[9, 16, 7, 15, 6, 5, 2, 2]).expect("sizes");
    let tables = TableList::parse("pairs", &schema).expect("pairs");
    bencher.bench(|| lottery(&schema, epsilon, &tables, &[1.0; 28], effort(8)));
}

#[divan::bench(args = [1.0, 2.0, 4.0, 8.0], sample_count = 5, sample_size = 1)]
fn one_channel_for_adult(bencher: Bencher, epsilon: f64) {
    let schema = Schema::with_sizes(&[9, 16, 7, 15, 6, 5, 2, 2]).expect("sizes");
    let tables = TableList::parse("pairs", &schema).expect("pairs");
    bencher.bench(|| single(&schema, epsilon, &tables, &[1.0; 28], effort(8)));
}

/// The proven lower bound for tables of two and three attributes, with its check.
#[divan::bench(
    args = [("pairs", 1.0), ("pairs", 4.0), ("pairs", 8.0), ("triples", 1.0), ("triples", 8.0)],
    sample_count = 5,
    sample_size = 1
)]
fn least_error_of_adult(bencher: Bencher, (tables, epsilon): (&str, f64)) {
    let schema = Schema::with_sizes(&[9, 16, 7, 15, 6, 5, 2, 2]).expect("sizes");
    bencher.bench(|| least_error(&schema, tables, epsilon));
}

/// The same for pairs of ten attributes of ten sizes.
#[divan::bench(args = [1.0, 4.0, 8.0, 12.0], sample_count = 5, sample_size = 1)]
fn least_error_of_ten(bencher: Bencher, epsilon: f64) {
    let schema = Schema::with_sizes(&(2..12).collect::<Vec<usize>>()).expect("sizes");
    bencher.bench(|| least_error(&schema, "pairs", epsilon));
}

fn least_error(schema: &Schema, tables: &str, epsilon: f64) -> f64 {
    let (tables, weights) = TableList::parse_weighted(tables, schema).expect("tables");
    let costs = Costs::of_tables(schema, &tables, &weights).expect("randomized attributes");
    Bound::new(black_box(costs), epsilon).at(epsilon)
}
