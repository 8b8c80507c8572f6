//! Secure sum in one process on one core: makes, hashes, checks and adds up all shares.
//!
//! Run with `cargo bench -p candor-secure-sum --bench secure_sum`; results are in benches/results/.

use candor_base::randomness::Source;
use candor_secure_sum::{Session, Traffic, run};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};

fn main() {
    divan::main();
}

/// Runs a round in which each party is in one cell out of ten.
fn whole_round(bencher: Bencher, parties: u32, collectors: u32, counts: usize) {
    let session = Session::new([7; 16], parties, collectors, counts, 1).unwrap();
    let traffic = Traffic::new(&session);
    println!("{parties} parties, {collectors} collectors, {counts} counts: {traffic:?} bytes");
    let values =
        |party: usize| (0..counts).map(|count| u64::from((party + count).is_multiple_of(10))).collect::<Vec<u64>>();
    bencher
        .counter(ItemsCount::new(parties as usize * collectors as usize * counts))
        .counter(BytesCount::new(traffic.shares + traffic.published))
        .bench_local(|| run(session.clone(), (0..parties as usize).map(values), &Source::from_seed(1)).unwrap());
}

/// The paper's protocol, in which every party is a collector; items are shares.
#[divan::bench(sample_count = 3)]
fn thousand_parties_all_collect(bencher: Bencher) {
    whole_round(bencher, 1000, 1000, 1000);
}

/// All pairs of eight attributes of Adult with three collectors; items are shares.
#[divan::bench(sample_count = 3)]
fn adult_pairs_three_collect(bencher: Bencher) {
    whole_round(bencher, 32_561, 3, 1582);
}
