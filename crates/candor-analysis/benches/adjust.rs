//! Measures raking in memory, on one core.
//!
//! It uses 32,561 records of eight attributes with the sizes of Adult's, kept with probability 0.7 and raked to the
//! true margins. benches/peers/adjust.py makes the same records.
//!
//! Run with `cargo bench -p candor-analysis --bench adjust`; results are kept in benches/results/.

use candor_analysis::adjust::{DistinctRecords, Margin, Options, rake};
use divan::Bencher;
use divan::counter::ItemsCount;

const RECORDS: usize = 32_561;
const ADULT: [usize; 8] = [9, 16, 7, 15, 6, 5, 2, 2];

fn main() {
    divan::main();
}

/// Returns answers by column, and the true margins.
fn records() -> (Vec<Vec<u16>>, Vec<Vec<f64>>) {
    let mut state = 1u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut answers = vec![Vec::with_capacity(RECORDS); ADULT.len()];
    let mut shares: Vec<Vec<f64>> = ADULT.iter().map(|&size| vec![0.0; size]).collect();
    for _ in 0..RECORDS {
        let common = next(1000);
        for (j, &size) in ADULT.iter().enumerate() {
            let truth = if next(4) == 0 { next(size) * next(size) / size } else { common * size / 1000 };
            shares[j][truth] += 1.0 / RECORDS as f64;
            answers[j].push((if next(10) < 7 { truth } else { next(size) }) as u16);
        }
    }
    (answers, shares)
}

fn distinct(answers: &[Vec<u16>]) -> DistinctRecords {
    let mut records = DistinctRecords::new(answers.len());
    records.add_rows(&answers.iter().map(Vec::as_slice).collect::<Vec<_>>());
    records
}

fn margins(columns: Vec<Vec<u16>>, shares: Vec<Vec<f64>>) -> Vec<Margin> {
    let cells = columns.into_iter().map(|column| column.into_iter().map(u32::from).collect());
    cells.zip(shares).map(|(cells, shares)| Margin { cells, shares }).collect()
}

fn measure(bencher: Bencher, counts: &[u64], margins: &[Margin]) {
    let raked = rake(counts, margins, &Options::default()).unwrap();
    println!("{} rows, {} sweeps, converged: {}", counts.len(), raked.iterations, raked.converged);
    bencher
        .counter(ItemsCount::new(RECORDS))
        .bench_local(|| rake(counts, divan::black_box(margins), &Options::default()).unwrap());
}

/// To 1e-6, over all records, like numpy.
#[divan::bench(sample_count = 200)]
fn rake_records(bencher: Bencher) {
    let (answers, shares) = records();
    measure(bencher, &[1; RECORDS], &margins(answers, shares));
}

/// To 1e-6, over distinct records.
#[divan::bench(sample_count = 200)]
fn rake_distinct(bencher: Bencher) {
    let (answers, shares) = records();
    let records = distinct(&answers);
    measure(bencher, records.counts(), &margins(records.columns(), shares));
}

/// Finds the distinct records.
#[divan::bench(sample_count = 50)]
fn count_distinct(bencher: Bencher) {
    let (answers, _) = records();
    bencher.counter(ItemsCount::new(RECORDS)).bench_local(|| distinct(divan::black_box(&answers)));
}
