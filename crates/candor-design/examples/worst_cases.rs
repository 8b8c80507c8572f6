//! The longest running times over random schemas, by every method, as users may experience them.
//!
//! Schemas have 2 to 100 attributes of 2 to 30 categories, equal and unequal levels, and epsilons from 0.1 to 20.
//!
//! Run with `cargo run --release -p candor-design --example worst_cases`, with the number of schemas if not 200, or
//! with `only` and the number of one case. Results are in benches/results/. Times are those of the processor if the
//! system provides them, so that a busy machine does not matter.

use std::collections::BTreeMap;
use std::time::Instant;

use candor_analysis::estimate::{Options, analyse};
use candor_analysis::tally::{CountLayout, Rows, answer_codes, count_tables};
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use candor_design::joint::least_error::asked_tables;
use candor_design::{DesignOutcome, Request, design};
use candor_runtime::parallel;
use serde_json::json;

/// Number of records that are randomized under each plan.
const RECORDS: usize = 2_000;

/// Time limit of each search in seconds by the clock, the default.
const LIMIT: f64 = 30.0;

/// Numbers of attributes up to which cases are grouped.
const UP_TO: [usize; 6] = [10, 17, 30, 40, 60, 100];

/// Uniform random numbers, the same on every run.
struct Numbers(u64);

impl Numbers {
    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// The attributes to randomize, and the epsilons.
struct Case {
    sizes: Vec<usize>,
    ratio: Vec<f64>,
    epsilon: f64,
}

impl Case {
    fn drawn(numbers: &mut Numbers) -> Case {
        let attributes = numbers.within(2.0, 101.0) as usize;
        let largest = numbers.within(3.0, 31.0);
        let sizes: Vec<usize> = (0..attributes).map(|_| numbers.within(2.0, largest) as usize).collect();
        // One third each: equal, nearly equal, within a factor of ten.
        let spread = [1.0, 1.01, 10.0][numbers.within(0.0, 3.0) as usize];
        let ratio: Vec<f64> = (0..attributes).map(|_| numbers.within(1.0, spread)).collect();
        Case { sizes, ratio, epsilon: 0.1 * 200f64.powf(numbers.within(0.0, 1.0)) }
    }

    /// Returns the requests, with the names to display.
    fn requests(&self) -> Vec<(&'static str, serde_json::Value)> {
        let Case { sizes, ratio, epsilon } = self;
        // About 0.3 each at a total of 4.
        let mean = ratio.iter().sum::<f64>() / ratio.len() as f64;
        let each: Vec<f64> = ratio.iter().map(|ratio| epsilon / 13.0 * ratio / mean).collect();
        let names = |cluster: &[usize]| cluster.iter().map(|i| format!("a{}", i + 1)).collect::<Vec<_>>();
        let positions: Vec<usize> = (0..sizes.len()).collect();
        let fours: Vec<Vec<String>> = positions.chunks(4).map(names).collect();
        vec![
            ("optimal, total", json!({"method": "optimal", "epsilon": epsilon, "ratio": ratio, "time_limit": LIMIT})),
            ("optimal, attributes", json!({"method": "optimal", "attribute_epsilon": each, "time_limit": LIMIT})),
            (
                "workload, marginals",
                json!({"method": "workload", "epsilon": epsilon, "tables": "marginals", "time_limit": LIMIT}),
            ),
            (
                "workload, pairs",
                json!({"method": "workload", "epsilon": epsilon, "tables": "pairs", "time_limit": LIMIT}),
            ),
            (
                "clusters of 4, workload inside",
                json!({"method": "clusters", "clusters": fours, "inside": "workload", "epsilon": epsilon,
                    "ratio": ratio, "time_limit": LIMIT}),
            ),
            ("heuristic", json!({"method": "heuristic", "attribute_epsilon": each, "allow_weaker": true})),
            ("reduced", json!({"method": "reduced", "attribute_epsilon": each})),
            ("sampling, pairs", json!({"method": "sampling", "epsilon": epsilon, "tables": "pairs"})),
            ("joint", json!({"method": "joint", "epsilon": epsilon})),
            ("minimax", json!({"method": "minimax", "attribute_epsilon": each})),
            ("independent", json!({"method": "independent", "epsilon": epsilon, "ratio": ratio})),
        ]
    }
}

/// The measurements of each plan.
const COLUMNS: [&str; 5] =
    ["design, s", "read and certify, s", "randomize 2,000, s", "count and estimate a pair, s", "gap, %"];

/// The largest value of each column, with the number of its case; `None` if nothing could be measured.
#[derive(Default)]
struct Worst {
    cases: usize,
    refused: usize,
    cut: usize,
    columns: [Option<(f64, usize)>; COLUMNS.len()],
}

impl Worst {
    fn take(&mut self, number: usize, outcome: Outcome) {
        self.cases += 1;
        let Ok((was_cut, found)) = outcome else {
            self.refused += 1;
            return;
        };
        self.cut += usize::from(was_cut);
        for (worst, found) in self.columns.iter_mut().zip(found) {
            if let Some(found) = found.filter(|found| worst.is_none_or(|(most, _)| *found > most)) {
                *worst = Some((found, number));
            }
        }
    }
}

/// Whether a search was stopped early, and all measurements.
type Measured = (bool, [Option<f64>; COLUMNS.len()]);

/// The result of one method in one case, or the reason why it was rejected.
type Outcome = Result<Measured, String>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only: Option<usize> = arguments.get(1).and_then(|number| number.parse().ok());
    let schemas = only.map_or_else(|| arguments.first().and_then(|n| n.parse().ok()).unwrap_or(200), |only| only + 1);
    let mut numbers = Numbers(2_026);
    let cases: Vec<Case> = (0..schemas).map(|_| Case::drawn(&mut numbers)).collect();
    let first = only.unwrap_or(0);
    let found = parallel::map(schemas - first, 2 * parallel::threads(), |at| outcomes(first + at, &cases[first + at]));
    let mut worst: BTreeMap<(usize, usize), (&str, Worst)> = BTreeMap::new();
    for (number, outcomes) in (first..).zip(found) {
        let attributes = cases[number].sizes.len();
        let class = UP_TO.iter().position(|&most| attributes <= most).expect("at most 100 attributes");
        for (method, (name, outcome)) in outcomes.into_iter().enumerate() {
            let (_, worst) = worst.entry((method, class)).or_insert_with(|| (name, Worst::default()));
            worst.take(number, outcome);
        }
    }
    tell(&worst);
}

/// Returns the results of every method in one case.
fn outcomes(number: usize, case: &Case) -> Vec<(&'static str, Outcome)> {
    let (attributes, epsilon) = (case.sizes.len(), case.epsilon);
    let outcome = |(name, request)| {
        let outcome = measure(case, request).map_err(|error| error.to_string());
        eprintln!("#{number}: {attributes} attributes, epsilon {epsilon:.2}, {name}: {outcome:?}");
        (name, outcome)
    };
    case.requests().into_iter().map(outcome).collect()
}

fn tell(worst: &BTreeMap<(usize, usize), (&str, Worst)>) {
    println!("| method | attributes up to | schemas | refused | cut | {} |", COLUMNS.join(" | "));
    println!("|---|---|---|---|---|{}", "---|".repeat(COLUMNS.len()));
    for ((_, class), (name, Worst { cases, refused, cut, columns })) in worst {
        let cell = |worst: &Option<(f64, usize)>| {
            worst.map_or("-".to_owned(), |(worst, number)| format!("{worst:.3} (#{number})"))
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        println!("| {name} | {} | {cases} | {refused} | {cut} | {} |", UP_TO[*class], cells.join(" | "));
    }
}

/// Returns whether the search was stopped early, and all measurements.
fn measure(case: &Case, request: serde_json::Value) -> Result<Measured, Box<dyn std::error::Error>> {
    let schema = Schema::with_sizes(&case.sizes)?;
    let request: Request = serde_json::from_value(request)?;
    let (designed, design) = timed(|| judged(&schema, &request));
    let designed = designed?;
    let json = designed.plan.to_json();
    let (plan, read) = timed(|| Plan::from_json(&json));
    let plan = plan?;
    let truth = |&size: &usize| (0..RECORDS).map(|i| (i % size) as u16).collect::<Vec<u16>>();
    let truths: Vec<Vec<u16>> = case.sizes.iter().map(truth).collect();
    let (answers, randomize) = timed(|| Randomizer::new(&plan).batch(&truths, &mut Source::from_seed(1).stream(0)));
    let answers = answers?;
    let (_, estimate) = timed(|| {
        let layout = CountLayout::new(&plan, &[0, 1]);
        let counted = count_tables(&plan, &answer_codes(&plan, &answers), Rows::Single, &[layout]);
        analyse(&plan, &counted[0], &Options::default()).cells.map(|cells| cells.len())
    });
    let found = [Some(design), Some(read), Some(randomize), Some(estimate), gap(&designed)];
    Ok((designed.stopped.is_some(), found))
}

/// Returns the plan, and for a workload its optimality gap, as users see it.
fn judged(schema: &Schema, request: &Request) -> Result<DesignOutcome, Box<dyn std::error::Error>> {
    let mut designed = design(schema, request)?;
    if let Request::Workload(asked) = request {
        let (tables, weights) = asked_tables(schema, asked.tables.as_deref())?;
        designed.judge(&tables, &weights);
    }
    Ok(designed)
}

/// Returns the largest possible distance of the plan from the best one, in percent of its epsilon or squared error.
fn gap(designed: &DesignOutcome) -> Option<f64> {
    let certified = designed.plan.guarantee().epsilon().as_f64();
    let of_epsilon = designed.lower_bound.map(|bound| 100.0 * (certified - bound) / certified);
    of_epsilon.or(designed.standing.map(|standing| standing.percent()))
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let before = processor_seconds(start);
    let done = work();
    (done, processor_seconds(start) - before)
}

/// Returns the processor seconds of this thread, or the clock's if the system does not provide them.
fn processor_seconds(start: Instant) -> f64 {
    let spent = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
    };
    spent().unwrap_or_else(|| start.elapsed().as_secs_f64())
}
