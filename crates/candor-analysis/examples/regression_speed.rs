//! Measures a regression with 20 public predictors, and limits of predictions for 10 profiles.
//!
//! `cargo run --release -p candor-analysis --example regression_speed [respondents]` uses a randomized outcome
//! (epsilon 3), ten predictors with two categories, and ten numeric columns, so that all rows differ. There are
//! 100,000 respondents by default.

use std::time::Instant;

use candor_analysis::regress::{
    Batch, Fitting, Formula, Layout, Model, ModelOptions, ModelRows, Questions, SamplingColumns, regress_with_progress,
};
use candor_analysis::tally::answer_codes;
use candor_base::channel::{Axis, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use candor_bulk::Randomizer;
use candor_runtime::progress::ProgressSink;
use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Number of predictors of each kind.
const EACH: usize = 10;
const PROFILES: usize = 10;

/// Returns a plan with k-ary randomized response of two categories at epsilon 3.
fn plan() -> Plan {
    let labels = || vec!["0".to_owned(), "1".to_owned()];
    let mut attributes = vec![Attribute::new("y", labels()).expect("a name")];
    attributes.extend((0..EACH).map(|at| Attribute::new_public(format!("c{at}"), labels()).expect("a name")));
    let parts = vec![
        Part { set: PatternSet::no_miss(), weight: (1e6 * 3f64.exp_m1() / 2.0) as u64 },
        Part { set: PatternSet::All, weight: 1_000_000 },
    ];
    let channel = Pattern::new(vec![Axis::single(2)], parts).expect("a channel");
    Plan::new(Schema::new(attributes).expect("a schema"), vec![Block::new(vec![0], channel)]).expect("a plan")
}

fn main() {
    let people = std::env::args().nth(1).map_or(100_000, |text| text.parse().expect("a number of respondents"));
    let plan = plan();
    let mut rng = ChaCha20Rng::seed_from_u64(34);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (mut codes, mut numbers) = (vec![Vec::new(); EACH + 1], vec![Vec::new(); EACH]);
    for _ in 0..people {
        let mut eta = -1.5;
        for at in 0..EACH {
            let (code, number) = (u16::from(uniform() < 0.4), 4.0 * uniform() - 2.0);
            eta += 0.1 * (at as f64 - 4.0) * (f64::from(code) + 0.5 * number);
            codes[at + 1].push(code);
            numbers[at].push(number);
        }
        codes[0].push(u16::from(uniform() < 1.0 / (1.0 + (-eta).exp())));
    }
    let answers = Randomizer::new(&plan).batch(&codes, &mut Source::from_seed(34).stream(0)).expect("true codes");
    let columns = answer_codes(&plan, &answers);
    let names: Vec<String> = (0..EACH).flat_map(|at| [format!("c{at}"), format!("n{at}")]).collect();
    let formula: Formula = format!("y ~ {}", names.join(" + ")).parse().expect("a formula");
    let model = Model::new(&plan, &formula, &ModelOptions::default()).expect("a model");
    let value = |(at, name): (usize, &String), profile: usize| (name.clone(), ((at + profile) % 2).to_string());
    let profile = |profile: usize| names.iter().enumerate().map(|one| value(one, profile)).collect();
    for profiles in [0, PROFILES] {
        let started = Instant::now();
        let mut rows = ModelRows::new(Layout::new(&plan, &model).expect("an identifiable model"));
        let sample = SamplingColumns::default();
        rows.add(&Batch { columns: &columns, numbers: &numbers, weights: None, sample, rows: people });
        let questions = Questions::default().profiles((0..profiles).map(profile).collect());
        let fit =
            regress_with_progress(&rows, &model, &questions, &Fitting::default(), ProgressSink::none()).expect("a fit");
        println!(
            "{people} respondents, {} different rows, {} coefficients with limits, {profiles} profiles: {:.1} s",
            rows.distinct(),
            fit.coefficients.len(),
            started.elapsed().as_secs_f64()
        );
    }
}
