//! Speed of randomization in memory on one core, compared with the speed of the random generator.
//!
//! Run with `cargo bench -p candor-bulk --bench randomize`; results are in benches/results/.

use candor_base::channel::{Axis, Bitmap, Channel, Part, Pattern, PatternSet, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use rand_core::Rng;

const VALUES: usize = 1 << 20;
/// Number of records per batch, the same as for data files.
const RECORDS: usize = 1 << 16;
const ADULT: [usize; 8] = [9, 16, 7, 15, 6, 5, 2, 2];

fn main() {
    divan::main();
}

fn fill(bencher: Bencher, mut rng: impl Rng) {
    let mut buffer = vec![0u8; 4096];
    bencher.counter(BytesCount::new(VALUES)).bench_local(|| {
        for _ in 0..VALUES / buffer.len() {
            rng.fill_bytes(divan::black_box(&mut buffer));
        }
    });
}

/// Fills 4096 bytes at a time with the generator of keys.
#[divan::bench]
fn generator(bencher: Bencher) {
    fill(bencher, Source::from_seed(1).stream(0));
}

/// k-ary randomized response on a column of codes.
#[divan::bench(args = [(2, 1.0), (16, 1.0), (16, 4.0), (16, 8.0), (100, 4.0)])]
fn k_ary_column(bencher: Bencher, (categories, epsilon): (usize, f64)) {
    let channel = Pattern::k_ary(vec![Axis::single(categories)], epsilon).unwrap();
    let plan = Plan::new(Schema::with_sizes(&[categories]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
    let randomizer = Randomizer::new(&plan);
    let truths = [(0..RECORDS).map(|i| (i * 7919 % categories) as u16).collect::<Vec<u16>>()];
    let mut rng = Source::from_seed(1).stream(0);
    bencher.counter(ItemsCount::new(VALUES)).bench_local(|| {
        for _ in 0..VALUES / RECORDS {
            divan::black_box(randomizer.batch(divan::black_box(&truths), &mut rng).unwrap());
        }
    });
}

fn records(bencher: Bencher, plan: Plan) {
    let randomizer = Randomizer::new(&plan);
    let sizes = plan.schema().attributes().iter().map(|attribute| attribute.categories().len());
    let truths: Vec<Vec<u16>> = sizes.map(|size| (0..RECORDS).map(|i| (i * 7919 % size) as u16).collect()).collect();
    let mut rng = Source::from_seed(1).stream(0);
    bencher
        .counter(ItemsCount::new(RECORDS))
        .bench_local(|| randomizer.batch(divan::black_box(&truths), &mut rng).unwrap());
}

/// Eight attributes, each randomized independently.
#[divan::bench]
fn records_independent(bencher: Bencher) {
    let block = |i: usize| Block::new(vec![i], Pattern::k_ary(vec![Axis::single(ADULT[i])], 0.5).unwrap());
    records(bencher, Plan::new(Schema::with_sizes(&ADULT).unwrap(), (0..8).map(block).collect()).unwrap());
}

fn one_block(channel: Pattern) -> Plan {
    let blocks = vec![Block::new((0..channel.axes().len()).collect(), channel)];
    Plan::new(Schema::with_sizes(&ADULT).unwrap(), blocks).unwrap()
}

/// Eight attributes under one joint randomized response.
#[divan::bench]
fn records_joint(bencher: Bencher) {
    records(bencher, one_block(Pattern::k_ary(ADULT.map(Axis::single).to_vec(), 4.0).unwrap()));
}

/// Eight attributes: a general set of patterns with probability 0.9, otherwise uniform.
#[divan::bench]
fn records_bitmap(bencher: Bencher) {
    let set = PatternSet::Bitmap(Bitmap::new(8, |p| p.count_ones() <= 4 && p % 3 != 2));
    let parts = vec![Part { set, weight: 9 }, Part { set: PatternSet::All, weight: 1 }];
    records(bencher, one_block(Pattern::new(ADULT.map(Axis::single).to_vec(), parts).unwrap()));
}

/// Many attributes under a threshold and a uniform answer.
///
/// The limit is this many standard deviations below the mean weight of uniform answers.
fn thresholds(bencher: Bencher, attributes: usize, weight: impl Fn(u64) -> u64, deviations: f64) {
    let sizes: Vec<usize> = (0..attributes).map(|i| 2 + i % 4).collect();
    let axes: Vec<Axis> = sizes.iter().map(|&size| Axis::single(size)).collect();
    let weights: Vec<u64> = sizes.iter().map(|&size| weight(size as u64)).collect();
    let deviation = |(&size, &w): (&usize, &u64)| (w * w) as f64 * (size - 1) as f64 / (size * size) as f64;
    let mean: f64 = sizes.iter().zip(&weights).map(|(&size, &w)| w as f64 * (1.0 - 1.0 / size as f64)).sum();
    let spread = sizes.iter().zip(&weights).map(deviation).sum::<f64>().sqrt();
    let set = PatternSet::Threshold { weights, limit: (mean - deviations * spread) as u64 };
    let parts = vec![Part { set, weight: 3 }, Part { set: PatternSet::All, weight: 2 }];
    let blocks = vec![Block::new((0..attributes).collect(), Pattern::new(axes, parts).unwrap())];
    records(bencher, Plan::new(Schema::with_sizes(&sizes).unwrap(), blocks).unwrap());
}

/// About one answer in fourteen is in the set, as in optimal plans for small epsilons.
#[divan::bench(args = [16, 100])]
fn records_thresholds(bencher: Bencher, attributes: usize) {
    thresholds(bencher, attributes, |size| 300 + 17 * size, 1.5);
}

/// About one answer in 30,000 is in the set, as in optimal plans for large epsilons.
#[divan::bench(args = [16, 100])]
fn records_rare_thresholds(bencher: Bencher, attributes: usize) {
    thresholds(bencher, attributes, |size| 10 + size, 4.0);
}

/// One attribute answered with sets: local l-diversity, 10 of 100; subset selection, 10 of 100 at epsilon 2; and 500 of
/// 10,000.
#[divan::bench(args = [("l-diversity", 100, 10), ("minimax", 100, 10), ("l-diversity", 10_000, 500)])]
fn records_subsets(bencher: Bencher, (method, categories, size): (&str, usize, usize)) {
    let axes = vec![Axis::set(categories, size)];
    let channel = match method {
        "minimax" => Pattern::k_ary(axes, 2.0).unwrap(),
        _ => Pattern::new(axes, vec![Part { set: PatternSet::no_miss(), weight: 1 }]).unwrap(),
    };
    records(
        bencher,
        Plan::new(Schema::with_sizes(&[categories]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap(),
    );
}

/// Records of eight attributes under a lottery of strips, one for each pair, of nearly the best sizes.
#[divan::bench(args = [1.0, 2.0, 4.0])]
fn strips_of_pairs(bencher: Bencher, epsilon: f64) {
    let pairs = (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b)));
    let strip = |(a, b): (usize, usize)| {
        let cells = ((ADULT[a] * ADULT[b]) as f64 / (1.0 + epsilon.exp())).round().max(1.0) as usize;
        (1, Channel::from(Strip::within(vec![a, b], vec![ADULT[a], ADULT[b]], cells, epsilon).unwrap()))
    };
    let block = Block::lottery((0..8).collect(), pairs.map(strip).collect());
    let plan = Plan::new(Schema::with_sizes(&ADULT).unwrap(), vec![block]).unwrap();
    let randomizer = Randomizer::new(&plan);
    let truths: Vec<Vec<u16>> =
        ADULT.iter().map(|&size| (0..RECORDS).map(|i| (i * 7919 % size) as u16).collect()).collect();
    let mut rng = Source::from_seed(1).stream(0);
    bencher
        .counter(ItemsCount::new(RECORDS))
        .bench_local(|| randomizer.batch(divan::black_box(&truths), &mut rng).unwrap());
}
