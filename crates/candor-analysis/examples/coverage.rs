//! Measures the coverage of intervals, for benches/results/*-coverage.md and docs/explanation/estimation.md.
//!
//! `cargo run --release -p candor-analysis --example coverage [small | ratios | constrained]`

use candor_analysis::conditional_shares::{Conditioning, shares_among};
use candor_analysis::difference::difference;
use candor_analysis::estimate::{Cell, Interval, Method, Options, TableEstimator, Target, Uncertainty};
use candor_analysis::estimate::{analyse, analyse_all};
use candor_analysis::moments::{Values, group_moments};
use candor_analysis::tally::{Codes, CountLayout, Rows, TableCounts, answer_codes, count_tables};
use candor_base::channel::{Axis, Cells, Channel, Matrix, Part, Pattern, PatternSet, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::{Randomizer, Responses};
use rand_core::Rng;

const SURVEYS: u64 = 2000;

/// Returns the shares of the population `1, 1/2, 1/3, ...` (scaled) over all cells.
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

fn count(plan: &Plan, table: &[usize], answers: &Responses) -> TableCounts {
    let codes = answer_codes(plan, answers);
    let layout = TableEstimator::new(plan, table).expect("an invertible plan").layout().clone();
    let mut tally = TableCounts::new(layout);
    tally.add(plan, &codes, Rows::Single, |_| true);
    tally
}

fn plans() -> Vec<(&'static str, Plan)> {
    let k_ary = |axes: &[Axis], epsilon| -> Channel { Pattern::k_ary(axes.to_vec(), epsilon).expect("valid").into() };
    let plan = |sizes: &[usize], blocks| Plan::new(Schema::with_sizes(sizes).expect("valid"), blocks).expect("valid");
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

/// Returns the share of intervals that cover, and of surveys in which all intervals of a table do.
fn coverage(plan: &Plan, people: usize, interval: Interval, target: Target) -> Option<(f64, f64)> {
    let sizes = plan.schema().sizes();
    let table: Vec<usize> = (0..sizes.len()).collect();
    let shares = population(sizes.iter().product());
    let randomizer = Randomizer::new(plan);
    let options = Options::default().interval(interval).target(target);
    let (mut held, mut all_held, mut cells_seen, mut surveys) = (0, 0, 0, 0);
    for survey in 0..SURVEYS {
        let columns = draw(&shares, &sizes, people, &mut Source::from_seed(1).stream(survey));
        let answers = randomizer.batch(&columns, &mut Source::from_seed(2).stream(survey)).ok()?;
        let analysis = analyse(plan, &count(plan, &table, &answers), &options);
        // A table that is too imprecise has no intervals.
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

/// Prints the table of intervals of entire tables.
fn tables() {
    println!(
        "| plan | respondents | binomial, population | wald, population | wald, this table | bootstrap | simultaneous: \
         all cells at once |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, plan) in plans() {
        for people in [100, 1000, 10_000] {
            let each =
                |interval, target| coverage(&plan, people, interval, target).map_or("-".to_owned(), |c| percent(c.0));
            let at_once = coverage(&plan, people, Interval::Simultaneous, Target::Population);
            println!(
                "| {name} | {people} | {} | {} | {} | {} | {} |",
                each(Interval::Binomial, Target::Population),
                each(Interval::Wald, Target::Population),
                each(Interval::Wald, Target::Table),
                each(Interval::Bootstrap, Target::Population),
                at_once.map_or("-".to_owned(), |c| percent(c.1))
            );
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// Prints the minimum coverage in a small group, over shares from 0 to 0.5, by exact sums.
fn small_groups() {
    println!("| respondents in the group | epsilon 0.5 | 1 | 2 | 4 | 8 |");
    println!("|---|---|---|---|---|---|");
    for people in [1, 2, 5, 10, 20, 50, 100, 200, 500] {
        let cell = |epsilon: f64| {
            let least = |interval| {
                let seen: Vec<(f64, f64)> =
                    (0..=people).map(|seen| interval_of(epsilon, seen, people, interval)).collect();
                (0..=100).map(|step| chance(epsilon, &seen, f64::from(step) / 200.0)).fold(1.0, f64::min)
            };
            format!("{} ({})", percent(least(Interval::Binomial)), percent(least(Interval::Wald)))
        };
        println!("| {people} | {} |", [0.5, 1.0, 2.0, 4.0, 8.0].map(cell).join(" | "));
    }
}

/// Returns the interval of the first of two categories, if `seen` of `people` reported it.
fn interval_of(epsilon: f64, seen: u32, people: u32, interval: Interval) -> (f64, f64) {
    let channel = Pattern::k_ary(vec![Axis::single(2)], epsilon).expect("valid");
    let plan = Plan::new(Schema::with_sizes(&[2]).expect("valid"), vec![Block::new(vec![0], channel)]).expect("valid");
    let answers: Vec<u16> = (0..people).map(|row| u16::from(row >= seen)).collect();
    let mut tally = TableCounts::new(CountLayout::new(&plan, &[0]));
    tally.add(&plan, &[Codes::One(&answers)], Rows::Single, |_| true);
    let options = Options::default().interval(interval);
    match analyse(&plan, &tally, &options).cells {
        Ok(cells) => cells[0].uncertainty.map_or((0.0, 1.0), |u| (u.low, u.high)),
        Err(_) => (0.0, 1.0),
    }
}

/// Returns the coverage at a share, given the interval for each number of answers.
fn chance(epsilon: f64, intervals: &[(f64, f64)], share: f64) -> f64 {
    let people = intervals.len() - 1;
    let other = 1.0 / (1.0 + epsilon.exp());
    let p = other + (1.0 - 2.0 * other) * share;
    let mut log = people as f64 * (1.0 - p).ln();
    let mut holds = 0.0;
    for (seen, (low, high)) in intervals.iter().enumerate() {
        if *low <= share && share <= *high {
            holds += log.exp();
        }
        log += ((people - seen) as f64 / (seen + 1) as f64 * p / (1.0 - p)).ln();
    }
    holds
}

/// Prints the minimum and mean coverage over the cells, for conditional shares, their differences, and means.
fn ratios() {
    println!("| plan | respondents | shares among: least, mean | differences: least | mean of the number |");
    println!("|---|---|---|---|---|");
    for (name, plan) in plans().into_iter().filter(|(_, plan)| plan.schema().sizes().len() == 2) {
        for people in [50, 100, 300, 1000, 10_000] {
            let [shares, differences, means] = ratios_held(&plan, people);
            let least = |held: &[f64]| percent(held.iter().copied().fold(1.0, f64::min));
            let mean = percent(shares.iter().sum::<f64>() / shares.len() as f64);
            println!(
                "| {name} | {people} | {}, {mean} | {} | {} |",
                least(&shares),
                least(&differences),
                least(&means)
            );
        }
    }
}

fn ratios_held(plan: &Plan, people: usize) -> [Vec<f64>; 3] {
    let sizes = plan.schema().sizes();
    let (rows, columns) = (sizes[0], sizes[1]);
    let shares = population(rows * columns);
    let of = |column: usize| (0..rows).map(|row| shares[row * columns + column]).sum::<f64>();
    let among = |column: usize, row: usize| shares[row * columns + column] / of(column);
    let truth: f64 =
        (0..rows).map(|row| row as f64 * (0..columns).map(|c| shares[row * columns + c]).sum::<f64>()).sum();
    let values = Values::new(&plan.schema().attributes()[0]).expect("labels are numbers");
    let options = Options::default();
    let randomizer = Randomizer::new(plan);
    let mut held = [vec![0.0; rows * columns], vec![0.0; rows * (columns - 1)], vec![0.0]];
    let part = 1.0 / SURVEYS as f64;
    for survey in 0..SURVEYS {
        let drawn = draw(&shares, &sizes, people, &mut Source::from_seed(1).stream(survey));
        let answers = randomizer.batch(&drawn, &mut Source::from_seed(2).stream(survey)).expect("records of the plan");
        let found = shares_among(
            plan,
            &count(plan, &[1, 0], &answers),
            Conditioning { given: 1, without_missing: false },
            &options,
        );
        let cells = found.cells.as_ref().expect("an invertible plan");
        let holds = |u: Option<Uncertainty>, truth: f64| u.is_none_or(|u| u.low <= truth && truth <= u.high);
        for (at, cell) in cells.iter().enumerate() {
            let (column, row) = (at / rows, at % rows);
            held[0][at] += part * f64::from(holds(cell.share.uncertainty, among(column, row)));
            if column > 0 {
                let correlation = found.correlation(plan, &cells[row], cell).expect("a small table");
                let between = difference(&cells[row].share, &cell.share, correlation).and_then(|d| d.uncertainty);
                held[1][at - rows] += part * f64::from(holds(between, among(column, row) - among(0, row)));
            }
        }
        let mean = group_moments(plan, &count(plan, &[0], &answers), &values, &[], &options)
            .expect("an invertible plan")
            .remove(0);
        held[2][0] += part * f64::from(holds(mean.mean.uncertainty, truth));
    }
    held
}

/// Number of surveys for constrained estimates, each of which simulates surveys of its own.
const CONSTRAINED_SURVEYS: u64 = 100;

/// Returns plans for constrained estimates, with their tables.
///
/// The tables are one attribute, two together, and all pairs of four with several channels.
fn constrained_plans(epsilon: f64) -> Vec<(&'static str, Plan, Vec<Vec<usize>>)> {
    let plan = |sizes: &[usize], blocks| Plan::new(Schema::with_sizes(sizes).expect("valid"), blocks).expect("valid");
    let k_ary = |sizes: &[usize]| {
        let axes = sizes.iter().map(|&size| Axis::single(size)).collect();
        plan(sizes, vec![Block::new((0..sizes.len()).collect(), Pattern::k_ary(axes, epsilon).expect("valid"))])
    };
    let sizes = [2, 3, 4, 5];
    let pairs: Vec<Vec<usize>> = (0..4).flat_map(|i| (i + 1..4).map(move |j| vec![i, j])).collect();
    let strip = |pair: &Vec<usize>| -> (u64, Channel) {
        let sizes: Vec<usize> = pair.iter().map(|&attribute| sizes[attribute]).collect();
        let cells = (sizes.iter().product::<usize>() as f64 / (1.0 + epsilon.exp())).round().max(1.0) as usize;
        (2, Strip::within(pair.clone(), sizes, Cells::from(cells), epsilon).expect("valid").into())
    };
    let mut channels: Vec<(u64, Channel)> = pairs.iter().map(strip).collect();
    let axes = sizes.map(Axis::single).to_vec();
    channels.push((1, Pattern::two_level(axes, PatternSet::Hits(vec![0, 1, 2, 3]), epsilon).expect("valid").into()));
    vec![
        ("one of 10", k_ary(&[10]), vec![vec![0]]),
        ("4 x 6", k_ary(&[4, 6]), vec![vec![0, 1]]),
        ("pairs of 2, 3, 4, 5", plan(&sizes, vec![Block::lottery(vec![0, 1, 2, 3], channels)]), pairs),
    ]
}

/// Prints the properties of constrained estimates, by plan, population and sample size.
fn constrained() {
    println!(
        "| tables | population | epsilon | respondents | coverage | least of a cell | extended | error | largest of a \
         cell | stated |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (number, name) in constrained_plans(1.0).into_iter().map(|(name, ..)| name).enumerate() {
        for skewed in [false, true] {
            for epsilon in [0.5, 1.0, 2.0, 4.0] {
                let (_, plan, tables) = constrained_plans(epsilon).remove(number);
                for people in [500, 5_000, 50_000] {
                    let found = constrained_held(&plan, &tables, skewed, people);
                    let population = if skewed { "skewed" } else { "uniform" };
                    println!("| {name} | {population} | {epsilon} | {people} | {found} |");
                }
            }
        }
    }
}

/// Sums over the surveys for one cell.
#[derive(Clone, Copy, Default)]
struct Sum {
    surveys: f64,
    held: f64,
    extended: f64,
    square: f64,
    unbiased_square: f64,
    stated: f64,
}

/// Returns coverage and errors of the cells of all tables, relative to unbiased estimates from the same responses.
fn constrained_held(plan: &Plan, tables: &[Vec<usize>], skewed: bool, people: usize) -> String {
    let sizes = plan.schema().sizes();
    let cells: usize = sizes.iter().product();
    let shares = if skewed { steep(cells) } else { vec![1.0 / cells as f64; cells] };
    let shape = plan.schema().shape(&(0..sizes.len()).collect::<Vec<_>>());
    let truths: Vec<Vec<f64>> = tables
        .iter()
        .map(|table| {
            let mut truth = vec![0.0; shape.project(table).cells()];
            shape.project_all(table).zip(&shares).for_each(|(cell, share)| truth[cell] += share);
            truth
        })
        .collect();
    let layouts: Vec<CountLayout> = tables.iter().map(|table| CountLayout::new(plan, table)).collect();
    let randomizer = Randomizer::new(plan);
    let mut sums: Vec<Vec<Sum>> = truths.iter().map(|truth| vec![Sum::default(); truth.len()]).collect();
    for survey in 0..CONSTRAINED_SURVEYS {
        let columns = draw(&shares, &sizes, people, &mut Source::from_seed(1).stream(survey));
        let answers = randomizer.batch(&columns, &mut Source::from_seed(2).stream(survey)).expect("records");
        let tallies = count_tables(plan, &answer_codes(plan, &answers), Rows::Single, &layouts);
        let of = |method| analyse_all(plan, &tallies, &Options::default().method(method));
        for (number, (own, unbiased)) in of(Method::Constrained).into_iter().zip(of(Method::Unbiased)).enumerate() {
            let (Ok(own), Ok(unbiased)) = (own.cells, unbiased.cells) else { continue };
            for (at, (own, unbiased)) in own.iter().zip(&unbiased).enumerate() {
                add(&mut sums[number][at], own, unbiased, truths[number][at]);
            }
        }
    }
    let all: Vec<Sum> = sums.into_iter().flatten().filter(|sum| sum.surveys > 0.0).collect();
    let total = |of: fn(&Sum) -> f64| all.iter().map(of).sum::<f64>();
    let least = all.iter().map(|sum| sum.held / sum.surveys).fold(1.0, f64::min);
    let error = |sum: &Sum| (sum.square / sum.unbiased_square).sqrt();
    let stated = (total(|sum| sum.stated) / total(|sum| sum.square)).sqrt();
    format!(
        "{} | {} | {} | {:.2} | {:.2} | {stated:.2}",
        percent(total(|sum| sum.held) / total(|sum| sum.surveys)),
        percent(least),
        percent(total(|sum| sum.extended) / total(|sum| sum.surveys)),
        (total(|sum| sum.square) / total(|sum| sum.unbiased_square)).sqrt(),
        all.iter().map(error).fold(0.0, f64::max),
    )
}

fn add(sum: &mut Sum, own: &Cell, unbiased: &Cell, truth: f64) {
    let (Some(own_range), Some(unbiased_range)) = (own.uncertainty, unbiased.uncertainty) else { return };
    assert!(own_range.low <= own.estimate && own.estimate <= own_range.high, "{own:?}");
    sum.surveys += 1.0;
    sum.held += f64::from(u8::from(own_range.low <= truth && truth <= own_range.high));
    sum.extended +=
        f64::from(u8::from(own_range != Uncertainty { standard_error: own_range.standard_error, ..unbiased_range }));
    sum.square += (own.estimate - truth).powi(2);
    sum.unbiased_square += (unbiased.estimate - truth).powi(2);
    sum.stated += own_range.standard_error.powi(2);
}

/// Returns shares that decrease by a third from cell to cell, in an order in which neighbors differ.
fn steep(cells: usize) -> Vec<f64> {
    let step = (1..cells)
        .rev()
        .find(|step| (2..=*step).all(|d| !cells.is_multiple_of(d) || !step.is_multiple_of(d)))
        .unwrap_or(1);
    let mut shares = vec![0.0; cells];
    (0..cells).for_each(|rank| shares[rank * step % cells] = (2.0f64 / 3.0).powi(rank as i32));
    let sum: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / sum).collect()
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("constrained") => constrained(),
        Some("small") => small_groups(),
        Some("ratios") => ratios(),
        _ => tables(),
    }
}
