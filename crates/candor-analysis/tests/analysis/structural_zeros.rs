//! Tests of skip logic: impossible cells are zero, and estimates are unbiased with exact errors that do not grow.

use std::collections::BTreeMap;

use candor_analysis::conditional_shares::{Conditioning, shares_among};
use candor_analysis::estimate::{Interval, Method, Options, TableEstimator, Target, analyse};
use candor_analysis::structural_zeros::possible;
use candor_analysis::tally::{ChannelCounts, CountLayout, Rows, TableCounts, answer_codes};
use candor_base::channel::{Axis, Channel, Matrix, Pattern, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use rand_core::Rng;

/// Returns a schema with `smokes` (no, yes, former), `daily` (few, many) and `quit` (no, yes), and the public
/// `region` (n, s).
///
/// `daily` is asked of present and former smokers, and `quit` if daily is many.
fn schema() -> Schema {
    Schema::from_toml(
        "[[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"yes\", \"former\"]\n\
         [[attribute]]\nname = \"daily\"\nasked_if = \"smokes in (yes, former)\"\ncategories = [\"few\", \"many\"]\n\
         [[attribute]]\nname = \"region\"\npublic = true\ncategories = [\"n\", \"s\"]\n\
         [[attribute]]\nname = \"quit\"\nasked_if = \"daily = many\"\ncategories = [\"no\", \"yes\"]\n",
    )
    .unwrap()
}

fn unstructured() -> Schema {
    Schema::new(schema().attributes().iter().map(|attribute| attribute.clone().without_condition()).collect()).unwrap()
}

fn k_ary(sizes: &[usize], epsilon: f64) -> Channel {
    Pattern::k_ary(sizes.iter().map(|&a| Axis::single(a)).collect(), epsilon).unwrap().into()
}

fn matrix() -> Channel {
    let columns = [vec![0.6, 0.1, 0.1, 0.2], vec![0.2, 0.5, 0.1, 0.2], vec![0.1, 0.1, 0.6, 0.2]];
    Matrix::rounded(vec![3], (0..4).map(|i| i.to_string()).collect(), &columns).unwrap().into()
}

/// Probability of each answer to `smokes` and `daily` given the true cell, in the layout of the counts.
type Law = Box<dyn Fn(usize, usize) -> f64>;

fn kept(sizes: usize, epsilon: f64) -> impl Fn(usize, usize) -> f64 {
    move |answer, truth| (if answer == truth { epsilon.exp() } else { 1.0 }) / (epsilon.exp() + sizes as f64 - 1.0)
}

/// Returns plans with one channel per block, with the law of their answers as cells of `smokes` and `daily`.
fn plans(schema: &Schema, epsilon: f64) -> Vec<(&'static str, Plan, Law)> {
    let quit = || Block::new(vec![3], k_ary(&[3], 1.0));
    let plan = |blocks| Plan::new(schema.clone(), blocks).unwrap();
    let (one, joint) = (kept(3, epsilon), kept(9, epsilon));
    let other = kept(3, epsilon);
    let rows = [[0.6, 0.2, 0.1], [0.1, 0.5, 0.1], [0.1, 0.1, 0.6], [0.2, 0.2, 0.2]];
    vec![
        (
            "own",
            plan(vec![Block::new(vec![0], k_ary(&[3], epsilon)), Block::new(vec![1], k_ary(&[3], epsilon)), quit()]),
            Box::new(move |z: usize, x: usize| one(z / 3, x / 3) * one(z % 3, x % 3)) as Law,
        ),
        ("joint", plan(vec![Block::new(vec![0, 1], k_ary(&[3, 3], epsilon)), quit()]), Box::new(joint)),
        (
            "matrix",
            plan(vec![Block::new(vec![0], matrix()), Block::new(vec![1], k_ary(&[3], epsilon)), quit()]),
            // Outputs follow the attributes with answers of their own.
            Box::new(move |z: usize, x: usize| other(z / 4, x % 3) * rows[z % 4][x / 3]),
        ),
    ]
}

fn tally(plan: &Plan, counts: Vec<f64>) -> TableCounts {
    let total = counts.iter().sum();
    let group = ChannelCounts { total, squares: total, counts, square_counts: Vec::new() };
    TableCounts::from_groups(plan, CountLayout::new(plan, &[0, 1]), BTreeMap::from([(Vec::new(), group)]))
}

/// Returns distributions over the nine cells of `smokes` and `daily` that are zero in impossible cells.
fn truths() -> Vec<Vec<f64>> {
    vec![
        vec![0.0, 0.0, 0.2, 0.2, 0.2, 0.0, 0.2, 0.2, 0.0],
        vec![0.0, 0.0, 0.7, 0.1, 0.05, 0.0, 0.1, 0.05, 0.0],
        vec![0.0, 0.0, 0.05, 0.9, 0.0, 0.0, 0.0, 0.05, 0.0],
        vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
}

const IMPOSSIBLE: [usize; 4] = [0, 1, 5, 8];

/// By enumeration of single answers: the mean of their contributions is the true distribution, and their variance is
/// the stated one.
#[test]
fn estimates_are_unbiased_and_errors_exact() {
    let options = Options::default().interval(Interval::Wald);
    for epsilon in [0.5, 1.5, 4.0] {
        for (name, plan, law) in plans(&schema(), epsilon) {
            let estimator = TableEstimator::new(&plan, &[0, 1]).unwrap();
            let answers = if name == "matrix" { 12 } else { 9 };
            let unit = |cell: usize, of: usize| (0..of).map(|at| f64::from(u8::from(at == cell))).collect::<Vec<f64>>();
            let contribution = |answer: usize, cell: usize| {
                let alone = tally(&plan, unit(answer, answers));
                estimator.sum(&alone, &unit(cell, 9), &options).unwrap().estimate
            };
            let adds: Vec<Vec<f64>> =
                (0..answers).map(|z| (0..9).map(|cell| contribution(z, cell)).collect()).collect();
            for truth in truths() {
                let chance = |z: usize| (0..9).map(|x| truth[x] * law(z, x)).sum::<f64>();
                let n = 1e5;
                let expected = tally(&plan, (0..answers).map(|z| n * chance(z)).collect());
                let cells = analyse(&plan, &expected, &options).cells.unwrap();
                let own = TableEstimator::new(&plan, &[0, 1]).unwrap().estimate(&expected, Target::Population).unwrap();
                for cell in 0..9 {
                    let mean: f64 = (0..answers).map(|z| chance(z) * adds[z][cell]).sum();
                    let square: f64 = (0..answers).map(|z| chance(z) * adds[z][cell].powi(2)).sum();
                    assert!((mean - truth[cell]).abs() < 1e-7, "{name} {epsilon} {cell}: {mean} for {}", truth[cell]);
                    assert!((cells[cell].estimate - truth[cell]).abs() < 1e-7);
                    let exact = ((square - mean * mean) / n).max(0.0).sqrt();
                    let error = cells[cell].uncertainty.unwrap().standard_error;
                    assert!((error - exact).abs() < 1e-6 * own.standard_errors[cell], "{name} {cell}: {error} {exact}");
                    if IMPOSSIBLE.contains(&cell) {
                        assert_eq!((cells[cell].estimate, error), (0.0, 0.0));
                        assert_eq!(cells[cell].uncertainty.map(|u| (u.low, u.high)), Some((0.0, 0.0)));
                    }
                }
            }
        }
    }
}

/// A plan with structural zeros, the same plan without, and its expected counts.
struct Both<'a> {
    name: &'a str,
    epsilon: f64,
    plan: &'a Plan,
    before: &'a Plan,
    truth: &'a [f64],
    counts: &'a [f64],
}

/// Calls `check` for every epsilon, plan and true distribution.
fn with_and_without(check: impl Fn(Both<'_>)) {
    for epsilon in [0.5, 1.5, 4.0] {
        let both = plans(&schema(), epsilon).into_iter().zip(plans(&unstructured(), epsilon));
        for ((name, plan, law), (_, before, _)) in both {
            let answers = if name == "matrix" { 12 } else { 9 };
            for truth in truths() {
                let chance = |z: usize| (0..9).map(|x| truth[x] * law(z, x)).sum::<f64>();
                let counts: Vec<f64> = (0..answers).map(|z| 1e5 * chance(z)).collect();
                check(Both { name, epsilon, plan: &plan, before: &before, truth: &truth, counts: &counts });
            }
        }
    }
}

/// Compared with the same plan without structural zeros, the sum of squared errors of possible cells is smaller. At
/// small epsilons so is each of them, unless everybody is alike. At large epsilons, those of nearly empty cells can
/// grow, because the correction is optimal for a uniform population.
#[test]
fn errors_do_not_grow() {
    with_and_without(|Both { name, epsilon, plan, before, truth, counts }| {
        let errors = |plan: &Plan| -> Vec<f64> {
            let cells = analyse(plan, &tally(plan, counts.to_vec()), &Options::default()).cells.unwrap();
            cells.iter().map(|cell| cell.uncertainty.unwrap().standard_error).collect()
        };
        let (now, then) = (errors(plan), errors(before));
        for (cell, (now, then)) in now.iter().zip(&then).enumerate().filter(|_| epsilon < 2.0) {
            let most = if truth.contains(&1.0) { 1.1 } else { 1.001 };
            assert!(*now <= most * then, "{name} {epsilon} {truth:?} {cell}: {now} {then}");
        }
        let sum = |errors: &[f64]| errors.iter().map(|e| e * e).sum::<f64>();
        let possible: Vec<f64> = (0..9).filter(|cell| !IMPOSSIBLE.contains(cell)).map(|cell| then[cell]).collect();
        let gain = sum(&now) / sum(&possible);
        assert!(gain < if epsilon < 2.0 { 0.95 } else { 1.0 }, "{name} {epsilon}: {gain}");
    });
}

/// Returns people who follow the skip logic, with columns `smokes`, `daily`, `region` and `quit`.
fn people(n: usize, rng: &mut impl Rng) -> Vec<Vec<u16>> {
    let mut columns = vec![Vec::new(); 4];
    let mut below = |shares: &[f64]| {
        let mut left = rng.next_u64() as f64 / 2f64.powi(64);
        let at = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        at.unwrap_or(shares.len() - 1) as u16
    };
    for _ in 0..n {
        let region = below(&[0.6, 0.4]);
        let smokes = below(&[[0.6, 0.3, 0.1], [0.5, 0.2, 0.3]][usize::from(region)]);
        let daily = if smokes == 0 { 2 } else { below(&[0.6, 0.4]) };
        let quit = if daily == 1 { below(&[0.7, 0.3]) } else { 2 };
        [smokes, daily, region, quit].into_iter().zip(&mut columns).for_each(|(code, column)| column.push(code));
    }
    columns
}

fn lottery() -> Plan {
    let strip =
        |places: Vec<usize>, sizes: Vec<usize>| -> Channel { Strip::within(places, sizes, 2, 2.0).unwrap().into() };
    let tickets = vec![
        (3, strip(vec![0, 1], vec![3, 3])),
        (2, strip(vec![1, 2], vec![3, 3])),
        (2, strip(vec![0, 2], vec![3, 3])),
        (1, k_ary(&[3, 3, 3], 2.0)),
    ];
    Plan::new(schema(), vec![Block::lottery(vec![0, 1, 3], tickets)]).unwrap()
}

/// Simulated surveys with subset and pattern channels: means and variances are as stated, margins agree, and public
/// shares are unchanged.
#[test]
fn surveys_with_lotteries() {
    const SURVEYS: u64 = 300;
    let plan = lottery();
    let people = people(3000, &mut Source::from_seed(3).stream(0));
    for table in [vec![0, 1], vec![1, 0, 2], vec![0, 3], vec![3, 1]] {
        let possible = possible(plan.schema(), &table).unwrap();
        let shape = plan.schema().shape(&table);
        let mut truth = vec![0.0; possible.len()];
        let codes = |row: usize| table.iter().map(|&a| usize::from(people[a][row])).collect::<Vec<_>>();
        (0..3000).for_each(|row| truth[shape.cell(&codes(row))] += 1.0 / 3000.0);
        let (mut sums, mut squares, mut errors) = (truth.clone(), vec![0.0; truth.len()], vec![0.0; truth.len()]);
        sums.iter_mut().for_each(|sum| *sum = 0.0);
        for seed in 0..SURVEYS {
            let answers = Randomizer::new(&plan).batch(&people, &mut Source::from_seed(11).stream(seed)).unwrap();
            let codes = answer_codes(&plan, &answers);
            let mut tally = TableCounts::new(CountLayout::new(&plan, &table));
            tally.add(&plan, &codes, Rows::Single, |_| true);
            let options = Options::default().target(Target::Table).interval(Interval::Wald);
            let cells = analyse(&plan, &tally, &options).cells.unwrap();
            for (cell, found) in cells.iter().enumerate() {
                sums[cell] += found.estimate - truth[cell];
                squares[cell] += (found.estimate - truth[cell]).powi(2);
                errors[cell] += found.uncertainty.unwrap().standard_error.powi(2);
            }
            let total: f64 = cells.iter().map(|cell| cell.estimate).sum();
            assert!((total - 1.0).abs() < 1e-9, "{total}");
            if table.contains(&2) {
                let shares: Vec<f64> = cells.iter().map(|cell| cell.estimate).collect();
                let region = people[2].iter().filter(|&&code| code == 0).count() as f64 / 3000.0;
                assert!((shape.margin(&shares, 2)[0] - region).abs() < 1e-9);
            }
        }
        let n = SURVEYS as f64;
        for cell in 0..truth.len() {
            if !possible[cell] {
                assert_eq!((sums[cell], errors[cell]), (0.0, 0.0));
                continue;
            }
            // Five and a half standard deviations, also for the variance.
            assert!(sums[cell].abs() < 5.5 * squares[cell].sqrt(), "{table:?} {cell}: {}", sums[cell] / n);
            let ratio = squares[cell] / errors[cell];
            assert!((ratio - 1.0).abs() < 5.5 * (2.0 / n).sqrt(), "{table:?} {cell}: {ratio}");
        }
    }
}

/// Conditional shares among those who were asked, and sums, use structural zeros as well; other methods give zeros.
#[test]
fn everything_else_knows_it() {
    let people = people(4000, &mut Source::from_seed(5).stream(0));
    let (plan, before) = (lottery(), Plan::new(unstructured(), lottery().blocks().to_vec()).unwrap());
    let count = |plan: &Plan, seed: u64| {
        let answers = Randomizer::new(plan).batch(&people, &mut Source::from_seed(13).stream(seed)).unwrap();
        let codes = answer_codes(plan, &answers);
        let mut tally = TableCounts::new(CountLayout::new(plan, &[0, 1]));
        tally.add(plan, &codes, Rows::Single, |_| true);
        tally
    };
    let error = |plan: &Plan, tally: &TableCounts| {
        let among = Conditioning { given: 1, without_missing: false };
        let shares = shares_among(plan, tally, among, &Options::default()).cells.unwrap();
        // "many" among smokers.
        let share = shares.iter().find(|share| share.codes == [1, 1]).unwrap().share;
        let sum = TableEstimator::new(plan, &[0, 1]).unwrap();
        let some: Vec<f64> = (0..9).map(|cell| f64::from(u8::from(cell == 3 || cell == 4))).collect();
        let sum = sum.sum(tally, &some, &Options::default()).unwrap();
        [share, sum].map(|cell| {
            let told = cell.uncertainty.unwrap();
            assert!(told.low <= cell.estimate && cell.estimate <= told.high);
            (told.standard_error, told.high - told.low)
        })
    };
    // The error of a ratio varies between surveys, so it is averaged over twenty.
    let mut all = [[(0.0, 0.0); 2]; 2];
    for seed in 0..20 {
        for (plan, sums) in [&plan, &before].into_iter().zip(&mut all) {
            for (sum, (error, width)) in sums.iter_mut().zip(error(plan, &count(plan, seed))) {
                *sum = (sum.0 + error, sum.1 + width);
            }
        }
    }
    for (now, then) in all[0].into_iter().zip(all[1]) {
        assert!(now.0 < 0.97 * then.0 && now.1 < 0.97 * then.1, "{now:?} {then:?}");
    }
    let now = count(&plan, 0);
    for method in [Method::Projected, Method::Clipped, Method::Constrained] {
        let cells = analyse(&plan, &now, &Options::default().method(method)).cells.unwrap();
        let total: f64 = cells.iter().map(|cell| cell.estimate).sum();
        assert!(
            (total - 1.0).abs() < 1e-6 && IMPOSSIBLE.iter().all(|&cell| cells[cell].estimate.abs() < 1e-6),
            "{method:?}"
        );
    }
    let (_, own, _) = plans(&schema(), 1.0).remove(1);
    let tally = tally(&own, vec![400.0, 300.0, 900.0, 800.0, 700.0, 300.0, 500.0, 400.0, 300.0]);
    let cells = analyse(&own, &tally, &Options::default().method(Method::Iterative)).cells.unwrap();
    assert!(IMPOSSIBLE.iter().all(|&cell| cells[cell].estimate == 0.0), "{cells:?}");
    let intervals = analyse(&own, &tally, &Options::default().interval(Interval::Bootstrap)).cells.unwrap();
    for (cell, found) in intervals.iter().enumerate() {
        let told = found.uncertainty.unwrap();
        assert_eq!(told.high - told.low == 0.0, IMPOSSIBLE.contains(&cell), "{cell}");
    }
}

/// With weights from the responses, no error grows, even if everybody is alike; with many responses, there is no
/// bias.
#[test]
fn plug_in_errors_do_not_grow() {
    with_and_without(|Both { name, epsilon, plan, before, truth, counts }| {
        let cells = |plan: &Plan| {
            let options = Options::default().method(Method::PlugIn);
            analyse(plan, &tally(plan, counts.to_vec()), &options).cells.unwrap()
        };
        for (cell, (now, then)) in cells(plan).iter().zip(cells(before)).enumerate() {
            assert!((now.estimate - truth[cell]).abs() < 1e-7, "{name} {cell}: {}", now.estimate);
            let [now, then] = [now.uncertainty, then.uncertainty].map(|told| told.unwrap().standard_error);
            assert!(now <= 1.001 * then, "{name} {epsilon} {truth:?} {cell}: {now} {then}");
        }
    });
}
