//! How often intervals hold the truth: prints the table of docs/estimation.md.
//!
//! `cargo run --release -p candor-analysis --example coverage`

use candor::channel::{Axis, Channel, Matrix, Part, Pattern, PatternSet};
use candor::plan::{Block, Plan};
use candor::randomize::{BlockAnswers, Randomizer};
use candor::randomness::Source;
use candor::schema::Schema;
use candor_analysis::estimate::{Interval, Options, TableEstimator, Target, analyse};
use candor_analysis::tally::{Rows, TableTally, answer_codes};
use rand_core::Rng;

const SURVEYS: u64 = 2000;

/// People drawn from the population `1, 1/2, 1/3, ...` (scaled) over all cells.
fn population(cells: usize) -> Vec<f64> {
    let raw: Vec<f64> = (0..cells).map(|cell| 1.0 / (1.0 + cell as f64)).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|weight| weight / sum).collect()
}

fn draw(shares: &[f64], sizes: &[usize], people: usize, rng: &mut impl Rng) -> Vec<Vec<u16>> {
    let mut columns = vec![Vec::with_capacity(people); sizes.len()];
    for _ in 0..people {
        let u = rng.next_u64() as f64 / 2f64.powi(64);
        let mut below = 0.0;
        let cell = shares.iter().position(|share| {
            below += share;
            u < below
        });
        let mut rest = cell.unwrap_or(shares.len() - 1);
        for (column, size) in columns.iter_mut().zip(sizes).rev() {
            column.push((rest % size) as u16);
            rest /= size;
        }
    }
    columns
}

fn count(plan: &Plan, table: &[usize], answers: &[BlockAnswers]) -> TableTally {
    let codes = answer_codes(plan, answers, &[]);
    let layout = TableEstimator::new(plan, table).expect("an invertible plan").layout().clone();
    let mut tally = TableTally::new(layout);
    tally.add(plan, &codes, Rows::Single, |_| true);
    tally
}

fn plans() -> Vec<(&'static str, Plan)> {
    let k_ary = |axes: &[Axis], epsilon| -> Channel { Pattern::k_ary(axes.to_vec(), epsilon).expect("valid").into() };
    let plan = |sizes: &[usize], blocks| Plan::new(Schema::of_sizes(sizes).expect("valid"), blocks).expect("valid");
    let two = [Axis::single(3), Axis::single(4)];
    let hits = |list: Vec<usize>| -> Channel {
        let part = |set, weight| Part { set, weight };
        let parts = vec![part(PatternSet::Hits(list), 2), part(PatternSet::no_miss(), 1), part(PatternSet::All, 2)];
        Pattern::new(two.to_vec(), parts).expect("valid").into()
    };
    let lottery = vec![(1, hits(vec![0, 1])), (1, hits(vec![0])), (1, hits(vec![1]))];
    let labels = ["says 0", "says 1", "says 2", "silent"].map(String::from).to_vec();
    let columns = [vec![0.5, 0.1, 0.1, 0.3], vec![0.1, 0.5, 0.1, 0.3], vec![0.1, 0.1, 0.5, 0.3]];
    let matrix: Channel = Matrix::rounded(vec![3], labels, &columns).expect("valid").into();
    vec![
        ("k-ary, 5 categories, epsilon 1", plan(&[5], vec![Block::new(vec![0], k_ary(&[Axis::single(5)], 1.0))])),
        ("subsets of 2 of 6, epsilon 1", plan(&[6], vec![Block::new(vec![0], k_ary(&[Axis::set(6, 2)], 1.0))])),
        ("matrix with 3 inputs, 4 outputs", plan(&[3], vec![Block::new(vec![0], matrix)])),
        (
            "independent 3 x 4, epsilon 4",
            plan(&[3, 4], vec![Block::new(vec![0], k_ary(&two[..1], 2.0)), Block::new(vec![1], k_ary(&two[1..], 2.0))]),
        ),
        ("joint 3 x 4, epsilon 3", plan(&[3, 4], vec![Block::new(vec![0, 1], k_ary(&two, 3.0))])),
        ("lottery of three channels, 3 x 4", plan(&[3, 4], vec![Block::lottery(vec![0, 1], lottery)])),
    ]
}

/// The share of intervals that hold the truth, and of surveys in which all of a table do.
fn coverage(plan: &Plan, people: usize, interval: Interval, target: Target) -> Option<(f64, f64)> {
    let sizes = plan.schema().sizes();
    let table: Vec<usize> = (0..sizes.len()).collect();
    let shares = population(sizes.iter().product());
    let randomizer = Randomizer::new(plan);
    let options = Options { interval, target, ..Options::default() };
    let (mut held, mut all_held, mut cells_seen, mut surveys) = (0, 0, 0, 0);
    for survey in 0..SURVEYS {
        let columns = draw(&shares, &sizes, people, &mut Source::from_seed(1).stream(survey));
        let answers = randomizer.batch(&columns, &mut Source::from_seed(2).stream(survey)).ok()?;
        let analysis = analyse(plan, &count(plan, &table, &answers), &options);
        // A table that says that it is uninformative has no intervals to hold anything.
        let Ok(cells) = analysis.cells else { continue };
        let truth: Vec<f64> = match target {
            Target::Population => shares.clone(),
            Target::Table => {
                let mut counts = vec![0.0; shares.len()];
                for row in 0..people {
                    let cell = columns.iter().zip(&sizes).fold(0, |cell, (c, size)| cell * size + usize::from(c[row]));
                    counts[cell] += 1.0 / people as f64;
                }
                counts
            }
        };
        let holds = |(cell, truth): (&candor_analysis::estimate::Cell, &f64)| {
            cell.uncertainty.is_some_and(|u| u.low <= *truth && *truth <= u.high)
        };
        let here = cells.iter().zip(&truth).filter(|pair| holds(*pair)).count();
        held += here;
        all_held += usize::from(here == cells.len());
        cells_seen += cells.len();
        surveys += 1;
    }
    (surveys > 0).then(|| (held as f64 / cells_seen as f64, all_held as f64 / surveys as f64))
}

fn main() {
    println!(
        "| plan | respondents | wald, population | wald, this table | bootstrap | simultaneous: all cells at once |"
    );
    println!("|---|---|---|---|---|---|");
    for (name, plan) in plans() {
        for people in [100, 1000, 10_000] {
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let each =
                |interval, target| coverage(&plan, people, interval, target).map_or("-".to_owned(), |c| percent(c.0));
            let at_once = coverage(&plan, people, Interval::Simultaneous, Target::Population);
            println!(
                "| {name} | {people} | {} | {} | {} | {} |",
                each(Interval::Wald, Target::Population),
                each(Interval::Wald, Target::Table),
                each(Interval::Bootstrap, Target::Population),
                at_once.map_or("-".to_owned(), |c| percent(c.1))
            );
        }
    }
}
