//! Measures counting and estimating in memory, on one core.
//!
//! Run with `cargo bench -p candor --bench estimate`; results are kept in benches/results/.

use std::collections::BTreeMap;

use candor_analysis::association::{Measure, estimated};
use candor_analysis::estimate::{TableEstimator, Target};
use candor_analysis::tally::{
    ChannelCounts, Codes, CountLayout, Rows, TableCounts, answer_codes, count_categories, count_tables,
};
use candor_base::channel::{Axis, Channel, Part, Pattern, PatternSet, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::{AnswerColumn, Randomizer};
use divan::Bencher;
use divan::counter::ItemsCount;

const RECORDS: usize = 10_000_000;
const ADULT: [usize; 8] = [9, 16, 7, 15, 6, 5, 2, 2];

fn main() {
    divan::main();
}

fn columns() -> Vec<Vec<u16>> {
    let mut state = 1u64;
    let mut code = |size: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize % size) as u16
    };
    ADULT.iter().map(|&size| (0..RECORDS).map(|_| code(size)).collect()).collect()
}

fn count(bencher: Bencher, tables: Vec<Vec<usize>>) {
    let columns = columns();
    let columns: Vec<&[u16]> = columns.iter().map(Vec::as_slice).collect();
    bencher
        .counter(ItemsCount::new(RECORDS * tables.len()))
        .bench_local(|| count_categories(&ADULT, divan::black_box(&columns), &tables));
}

/// All one-way tables of eight attributes; items are values.
#[divan::bench(sample_count = 10)]
fn count_marginals(bencher: Bencher) {
    count(bencher, (0..8).map(|a| vec![a]).collect());
}

/// All twenty-eight pairs; items are pairs of values.
#[divan::bench(sample_count = 10)]
fn count_pairs(bencher: Bencher) {
    count(bencher, (0..8).flat_map(|a| (a + 1..8).map(move |b| vec![a, b])).collect());
}

fn plan(sizes: &[usize], epsilon: f64) -> Plan {
    let block = |i: usize| Block::new(vec![i], Pattern::k_ary(vec![Axis::single(sizes[i])], epsilon).unwrap());
    Plan::new(Schema::with_sizes(sizes).unwrap(), (0..sizes.len()).map(block).collect()).unwrap()
}

fn tally(plan: &Plan, estimator: &TableEstimator<'_>, cells: usize, respondents: f64) -> TableCounts {
    let weights: Vec<f64> = (0..cells).map(|cell| (cell * 7919 % 101) as f64 + 1.0).collect();
    let sum: f64 = weights.iter().sum();
    let counts = weights.iter().map(|w| (w / sum * respondents).round()).collect::<Vec<f64>>();
    let total = counts.iter().sum();
    let group = ChannelCounts { total, squares: total, counts, square_counts: Vec::new() };
    TableCounts::from_groups(plan, estimator.layout().clone(), BTreeMap::from([(Vec::new(), group)]))
}

/// The joint table of all eight attributes, 1.8 million cells, with standard errors.
#[divan::bench(sample_count = 10)]
fn estimate_joint(bencher: Bencher) {
    let plan = plan(&ADULT, 3.0);
    let estimator = TableEstimator::new(&plan, &[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    let cells: usize = ADULT.iter().product();
    let tally = tally(&plan, &estimator, cells, 1e8);
    bencher.counter(ItemsCount::new(cells)).bench_local(|| estimator.estimate(&tally, Target::Population).unwrap());
}

/// The iterative method on 1,000 categories, to 1e-12.
#[divan::bench(sample_count = 5)]
fn iterate_thousand(bencher: Bencher) {
    let plan = plan(&[1000], 2.0);
    let estimator = TableEstimator::new(&plan, &[0]).unwrap();
    let tally = tally(&plan, &estimator, 1000, 1e6);
    let found = estimator.iterate(&tally, 1e-12, 1_000_000).unwrap();
    println!("{} updates, converged: {}", found.updates, found.converged);
    bencher.bench_local(|| estimator.iterate(&tally, 1e-12, 1_000_000).unwrap());
}

/// A million responses of local l-diversity, 10 of 100 categories: counts and estimates with standard errors.
#[divan::bench(sample_count = 20)]
fn estimate_subsets(bencher: Bencher) {
    const RESPONSES: usize = 1_000_000;
    let part = Part { set: PatternSet::no_miss(), weight: 1 };
    let channel = Pattern::new(vec![Axis::set(100, 10)], vec![part]).unwrap();
    let plan = Plan::new(Schema::with_sizes(&[100]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
    let truths = vec![(0..RESPONSES).map(|i| (i * 7919 % 100) as u16).collect()];
    let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0)).unwrap();
    let AnswerColumn::Set(sets) = &answers.blocks[0].columns[0] else { unreachable!("answers are sets") };
    let estimator = TableEstimator::new(&plan, &[0]).unwrap();
    bencher.counter(ItemsCount::new(RESPONSES)).bench_local(|| {
        let layouts = [estimator.layout().clone()];
        let tally = count_tables(&plan, &[Codes::Set(divan::black_box(sets))], Rows::Single, &layouts);
        estimator.estimate(&tally[0], Target::Population).unwrap()
    });
}

/// All 28 associations from ten million independently randomized responses: counts, estimates and measures.
#[divan::bench(sample_count = 10)]
fn dependences(bencher: Bencher) {
    let block = |(attribute, &size): (usize, &usize)| {
        Block::new(vec![attribute], Pattern::k_ary(vec![Axis::single(size)], 3.0).unwrap())
    };
    let blocks = ADULT.iter().enumerate().map(block).collect();
    let plan = Plan::new(Schema::with_sizes(&ADULT).unwrap(), blocks).unwrap();
    let columns = columns();
    let codes: Vec<Codes<'_>> = columns.iter().map(|column| Codes::One(column)).collect();
    let pairs = (0..8).flat_map(|b| (0..b).map(move |a| vec![a, b]));
    let tables: Vec<Vec<usize>> = (0..8).map(|a| vec![a]).chain(pairs).collect();
    let layouts: Vec<CountLayout> = tables.iter().map(|table| CountLayout::new(&plan, table)).collect();
    bencher.counter(ItemsCount::new(RECORDS)).bench_local(|| {
        let tallies = count_tables(&plan, divan::black_box(&codes), Rows::Single, &layouts);
        let (one_way, two_way) = tallies.split_at(8);
        let measured = two_way.iter().map(|pair| {
            let [a, b] = [0, 1].map(|at| &one_way[pair.layout().attributes[at]]);
            estimated(&plan, [a, b], pair, Measure::CramersV).unwrap()
        });
        measured.collect::<Vec<_>>()
    });
}

/// All twenty-eight pairs from subset channels for pairs, in batches of 65,536; items are responses.
#[divan::bench(args = [1.0, 2.0, 4.0])]
fn count_strips(bencher: Bencher, epsilon: f64) {
    const BATCH_ROWS: usize = 1 << 16;
    let pairs: Vec<Vec<usize>> = (0..8).flat_map(|a| (a + 1..8).map(move |b| vec![a, b])).collect();
    let strip = |pair: &Vec<usize>| {
        let sizes: Vec<usize> = pair.iter().map(|&a| ADULT[a]).collect();
        let cells = (sizes.iter().product::<usize>() as f64 / (1.0 + epsilon.exp())).round().max(1.0) as usize;
        (1, Channel::from(Strip::within(pair.clone(), sizes, cells, epsilon).unwrap()))
    };
    let block = Block::lottery((0..8).collect(), pairs.iter().map(strip).collect());
    let plan = Plan::new(Schema::with_sizes(&ADULT).unwrap(), vec![block]).unwrap();
    let truths: Vec<Vec<u16>> =
        ADULT.iter().map(|&size| (0..BATCH_ROWS).map(|i| (i * 7919 % size) as u16).collect()).collect();
    let answers = Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0)).unwrap();
    let codes = answer_codes(&plan, &answers);
    let layouts: Vec<CountLayout> = pairs.iter().map(|pair| CountLayout::new(&plan, pair)).collect();
    bencher
        .counter(ItemsCount::new(BATCH_ROWS))
        .bench_local(|| count_tables(&plan, divan::black_box(&codes), Rows::Single, &layouts));
}
