//! The longest times of optimal designs over random schemas: 2 to 100 attributes of 2 to 30 categories, equal and unequal levels,
//! epsilon 0.1 to 20. What a user may meet, not what suits a bench.
//!
//! Run with `cargo run --release -p candor-design --example worst_cases`, with a number of schemas if not 200; results are kept in
//! benches/results/.

use std::time::Instant;

use candor::plan::Plan;
use candor::randomize::Randomizer;
use candor::randomness::Source;
use candor::schema::Schema;
use candor_analysis::watch::Watch;
use candor_design::joint::optimal::optimal_within;
use candor_design::joint::optimal::search::{Effort, SECONDS};

/// How many records are randomized under each plan.
const RECORDS: usize = 2_000;

/// Numbers of attributes up to which cases are put together.
const UP_TO: [usize; 5] = [10, 20, 30, 60, 100];

/// Uniform numbers, the same on every run.
struct Numbers(u64);

impl Numbers {
    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// What one design took, in seconds but for the gap.
#[derive(Clone, Copy, Default)]
struct Case {
    design: f64,
    read: f64,
    randomize: f64,
    /// How far the plan may be from the best one, relative to its epsilon.
    gap: f64,
}

impl Case {
    fn worst(self, other: Case) -> Case {
        Case {
            design: self.design.max(other.design),
            read: self.read.max(other.read),
            randomize: self.randomize.max(other.randomize),
            gap: self.gap.max(other.gap),
        }
    }
}

fn main() {
    let schemas = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(200);
    let mut numbers = Numbers(2_026);
    let mut worst = [(0, 0, Case::default()); UP_TO.len()];
    for _ in 0..schemas {
        let attributes = numbers.within(2.0, 101.0) as usize;
        let largest = numbers.within(3.0, 31.0);
        let sizes: Vec<usize> = (0..attributes).map(|_| numbers.within(2.0, largest) as usize).collect();
        // A third each: equal, nearly equal, within a factor of ten.
        let spread = [1.0, 1.01, 10.0][numbers.within(0.0, 3.0) as usize];
        let ratio: Vec<f64> = (0..attributes).map(|_| numbers.within(1.0, spread)).collect();
        let epsilon = 0.1 * 200f64.powf(numbers.within(0.0, 1.0));
        let place = UP_TO.iter().position(|&most| attributes <= most).expect("at most 100 attributes");
        let (cases, refused, found) = &mut worst[place];
        *cases += 1;
        match measure(&sizes, epsilon, &ratio) {
            Ok(case) => *found = found.worst(case),
            Err(error) => {
                *refused += 1;
                eprintln!("{attributes} attributes, epsilon {epsilon:.2}: {error}");
            }
        }
    }
    println!(
        "| attributes up to | schemas | refused | design, s | read and certify, s | randomize {RECORDS}, s | gap |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (most, (cases, refused, case)) in UP_TO.iter().zip(worst) {
        let Case { design, read, randomize, gap } = case;
        println!("| {most} | {cases} | {refused} | {design:.2} | {read:.2} | {randomize:.2} | {:.4} % |", 100.0 * gap);
    }
}

fn measure(sizes: &[usize], epsilon: f64, ratio: &[f64]) -> Result<Case, Box<dyn std::error::Error>> {
    let schema = Schema::of_sizes(sizes)?;
    let start = Instant::now();
    let found = optimal_within(&schema, epsilon, ratio, Effort::within(sizes.len(), Some(SECONDS), Watch::nobody()))?;
    let design = start.elapsed().as_secs_f64();
    let (json, start) = (found.plan.to_json(), Instant::now());
    let plan = Plan::from_json(&json)?;
    let read = start.elapsed().as_secs_f64();
    let truths: Vec<Vec<u16>> = sizes.iter().map(|&size| (0..RECORDS).map(|i| (i % size) as u16).collect()).collect();
    let start = Instant::now();
    Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0))?;
    let randomize = start.elapsed().as_secs_f64();
    let certified = plan.guarantee().epsilon().get();
    Ok(Case { design, read, randomize, gap: (certified - found.lower_bound) / certified })
}
