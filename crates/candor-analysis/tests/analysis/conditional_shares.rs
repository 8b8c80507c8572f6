//! Tests of conditional shares, small groups, differences and moments.
//!
//! They are compared with single contributions, exact sums and simulations.

use std::collections::BTreeMap;

use candor_analysis::conditional_shares::{ConditionalShare, Conditioning, shares_among};
use candor_analysis::difference::difference;
use candor_analysis::estimate::{Options, TableEstimator, Target, analyse};
use candor_analysis::moments::{Values, group_moments};
use candor_analysis::tally::{ChannelCounts, CountLayout, Rows, TableCounts, answer_codes};
use candor_base::channel::{Axis, Channel, Matrix, Pattern, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use candor_bulk::Randomizer;
use rand_core::Rng;

fn labels(n: usize) -> Vec<String> {
    (0..n).map(|i| i.to_string()).collect()
}

fn k_ary(sizes: &[(usize, usize)], epsilon: f64) -> Channel {
    Pattern::k_ary(sizes.iter().map(|&(a, q)| Axis::set(a, q)).collect(), epsilon).unwrap().into()
}

/// Returns a schema with `y` (3), `x` (2) and the public attribute `g` (3).
fn schema() -> Schema {
    let attributes = vec![
        Attribute::new("y", labels(3)).unwrap(),
        Attribute::new("x", labels(2)).unwrap(),
        Attribute::new_public("g", labels(3)).unwrap(),
    ];
    Schema::new(attributes).unwrap()
}

fn plans() -> Vec<(&'static str, Plan)> {
    let plan = |blocks| Plan::new(schema(), blocks).unwrap();
    let columns = [vec![0.6, 0.1, 0.1, 0.2], vec![0.2, 0.5, 0.1, 0.2], vec![0.1, 0.1, 0.6, 0.2]];
    let matrix: Channel = Matrix::rounded(vec![3], labels(4), &columns).unwrap().into();
    let joint = || k_ary(&[(3, 1), (2, 1)], 2.5);
    let strip = |places: Vec<usize>, sizes: Vec<usize>, cells: usize| -> Channel {
        Strip::within(places, sizes, cells, 2.0).unwrap().into()
    };
    vec![
        ("joint", plan(vec![Block::new(vec![0, 1], joint())])),
        ("own", plan(vec![Block::new(vec![0], k_ary(&[(3, 1)], 2.0)), Block::new(vec![1], k_ary(&[(2, 1)], 2.0))])),
        ("matrix", plan(vec![Block::new(vec![0], matrix), Block::new(vec![1], k_ary(&[(2, 1)], 2.0))])),
        ("sets", plan(vec![Block::new(vec![0], k_ary(&[(3, 2)], 3.0)), Block::new(vec![1], k_ary(&[(2, 1)], 2.0))])),
        ("lottery", plan(vec![Block::lottery(vec![0, 1], vec![(1, joint()), (2, k_ary(&[(3, 2), (2, 1)], 2.0))])])),
        (
            "strips",
            plan(vec![Block::lottery(
                vec![0, 1],
                vec![(1, strip(vec![0, 1], vec![3, 2], 1)), (1, strip(vec![0], vec![3], 1))],
            )]),
        ),
    ]
}

/// Returns a population with skewed `g`, `x` that depends on it, and `y` that depends on both, in the order `y`,
/// `x`, `g`.
fn population() -> Vec<f64> {
    let cell = |cell: usize| {
        let (y, x, g) = (cell / 6, cell / 3 % 2, cell % 3);
        [0.6, 0.3, 0.1][g] * if x == 0 { 0.7 } else { 0.3 } * [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]][x][y]
    };
    (0..18).map(cell).collect()
}

fn people(n: usize, rng: &mut impl Rng) -> Vec<Vec<u16>> {
    let shares = population();
    let mut columns = vec![Vec::new(); 3];
    for _ in 0..n {
        let mut left = rng.next_u64() as f64 / 2f64.powi(64);
        let cell = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        let cell = cell.unwrap_or(17);
        [cell / 6, cell / 3 % 2, cell % 3]
            .iter()
            .zip(&mut columns)
            .for_each(|(&code, column)| column.push(code as u16));
    }
    columns
}

/// Counts a table from these people's answers, for rows with `take`.
fn survey(plan: &Plan, people: &[Vec<u16>], seed: u64, table: &[usize], take: impl Fn(usize) -> bool) -> TableCounts {
    let answers = Randomizer::new(plan).batch(people, &mut Source::from_seed(7).stream(seed)).unwrap();
    let codes = answer_codes(plan, &answers);
    let mut tally = TableCounts::new(CountLayout::new(plan, table));
    tally.add(plan, &codes, Rows::Single, take);
    tally
}

/// The counts of a public group equal those of its members only, for any channels.
#[test]
fn slices_are_the_counts_of_their_members() {
    let people = people(400, &mut Source::from_seed(1).stream(0));
    for (name, plan) in plans() {
        for table in [vec![2, 0, 1], vec![0, 2], vec![1, 2, 0]] {
            let whole = survey(&plan, &people, 3, &table, |_| true);
            let others: Vec<usize> = table.iter().copied().filter(|&a| a != 2).collect();
            for code in 0..3 {
                let found = whole.among(&plan, 2, code);
                let expected = survey(&plan, &people, 3, &others, |row| people[2][row] == code);
                assert_eq!(found, expected, "{name} {table:?} {code}");
            }
        }
    }
}

/// Returns the contribution of each response to the cells of a table, computed from its answers only.
fn contributions(plan: &Plan, people: &[Vec<u16>], table: &[usize]) -> Vec<Vec<f64>> {
    let estimator = TableEstimator::new(plan, table).unwrap();
    let one = |row: usize| {
        let alone = survey(plan, people, 3, table, |other| other == row);
        estimator.estimate(&alone, Target::Population).unwrap().shares
    };
    (0..people[0].len()).map(one).collect()
}

/// Ratios and their standard errors follow from single contributions: `sum N / sum D`, and the scatter of `(N - r
/// D) / D`.
#[test]
fn errors_of_ratios_are_those_of_contributions() {
    let people = people(300, &mut Source::from_seed(2).stream(0));
    for (name, plan) in plans() {
        if matches!(name, "lottery" | "strips") {
            // A single response does not show other channels.
            continue;
        }
        let table = [1, 0];
        let tally = survey(&plan, &people, 3, &table, |_| true);
        let among = Conditioning { given: 1, without_missing: false };
        let found = shares_among(&plan, &tally, among, &Options::default()).cells.unwrap();
        let each = contributions(&plan, &people, &table);
        for ConditionalShare { codes, share, .. } in found {
            let (x, y) = (usize::from(codes[0]), usize::from(codes[1]));
            let over = |f: &Vec<f64>| f[3 * x + y];
            let under = |f: &Vec<f64>| f[3 * x..3 * x + 3].iter().sum::<f64>();
            let (up, down): (f64, f64) = (each.iter().map(over).sum(), each.iter().map(under).sum());
            let ratio = up / down;
            let scatter: f64 = each.iter().map(|f| (over(f) - ratio * under(f)).powi(2)).sum::<f64>().sqrt() / down;
            let error = share.uncertainty.unwrap().standard_error;
            assert!((share.estimate - ratio).abs() < 1e-9, "{name} {codes:?}: {} {ratio}", share.estimate);
            // For sets, only the law of the answers is used. If a cell is negative, errors are at least those of
            // the closest distribution.
            let negative = (0..6).any(|cell| each.iter().map(|f| f[cell]).sum::<f64>() < 0.0);
            let (least, most) = match (name, negative) {
                ("sets", _) => (0.85, 1.15),
                (_, true) => (1.0 - 1e-6, 1.15),
                (_, false) => (1.0 - 1e-6, 1.0 + 1e-6),
            };
            assert!((least..most).contains(&(error / scatter)), "{name} {codes:?}: {error} {scatter}");
        }
    }
}

/// With only public conditions, or none, estimates are those of the smaller survey.
#[test]
fn public_groups_are_small_surveys() {
    let people = people(200, &mut Source::from_seed(4).stream(0));
    for (name, plan) in plans() {
        let tally = survey(&plan, &people, 3, &[2, 0], |_| true);
        let among = Conditioning { given: 1, without_missing: false };
        let found = shares_among(&plan, &tally, among, &Options::default()).cells.unwrap();
        assert_eq!(found.len(), 9);
        for code in 0..3 {
            let alone = survey(&plan, &people, 3, &[0], |row| people[2][row] == code);
            let Ok(expected) = analyse(&plan, &alone, &Options::default()).cells else { continue };
            let shares: Vec<_> = found.iter().filter(|share| share.codes[0] == code).map(|share| share.share).collect();
            assert_eq!(shares, expected, "{name} {code}");
        }
    }
}

/// In an empty group nothing is known, and nothing fails.
#[test]
fn groups_without_anybody() {
    let people = vec![vec![0, 1, 2, 0], vec![0, 1, 0, 0], vec![0, 0, 0, 1]];
    for (name, plan) in plans() {
        for table in [vec![2, 0], vec![2, 1, 0]] {
            let among = Conditioning { given: table.len() - 1, without_missing: false };
            let tally = survey(&plan, &people, 3, &table, |_| true);
            let found = shares_among(&plan, &tally, among, &Options::default()).cells.unwrap();
            for share in found.iter().filter(|share| share.codes[0] == 2) {
                let u = share.share.uncertainty.unwrap();
                assert!(share.share.estimate.is_nan() && (u.low, u.high) == (0.0, 1.0), "{name}");
            }
            assert!(found.iter().all(|share| {
                let u = share.share.uncertainty.unwrap();
                0.0 <= u.low && u.low <= u.high && u.high <= 1.0
            }));
        }
    }
}

/// Intervals of one attribute cover at least at the stated rate, for any sample size, share and epsilon, by exact
/// sums over all counts. Wald intervals do not.
#[test]
fn intervals_of_small_groups_hold() {
    for epsilon in [0.5, 1.0, 3.0, 8.0] {
        let plan =
            Plan::new(Schema::with_sizes(&[3]).unwrap(), vec![Block::new(vec![0], k_ary(&[(3, 1)], epsilon))]).unwrap();
        let keep = epsilon.exp() / (epsilon.exp() + 2.0);
        let other = (1.0 - keep) / 2.0;
        for n in [1usize, 2, 5, 10, 30, 100, 500] {
            let intervals: Vec<(f64, f64)> = (0..=n)
                .map(|seen| {
                    let counts = vec![seen as f64, (n - seen) as f64, 0.0];
                    let group = ChannelCounts { total: n as f64, squares: n as f64, counts, square_counts: Vec::new() };
                    let groups = BTreeMap::from([(Vec::new(), group)]);
                    let tally = TableCounts::from_groups(&plan, CountLayout::new(&plan, &[0]), groups);
                    match analyse(&plan, &tally, &Options::default()).cells {
                        Ok(cells) => cells[0].uncertainty.map(|u| (u.low, u.high)).unwrap(),
                        Err(_) => (0.0, 1.0),
                    }
                })
                .collect();
            for share in [0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5] {
                let p: f64 = other + (keep - other) * share;
                let mut chance = (n as f64 * (1.0 - p).ln()).exp();
                let mut holds = 0.0;
                for (seen, (low, high)) in intervals.iter().enumerate() {
                    if *low <= share && share <= *high {
                        holds += chance;
                    }
                    chance *= (n - seen) as f64 / (seen + 1) as f64 * p / (1.0 - p);
                }
                assert!(holds > 0.949, "epsilon {epsilon}, {n} responses, share {share}: {holds}");
            }
        }
    }
}

/// The same for the target `Table`: of `n` with the category in `t` of them, two binomial counts add up. Nothing is
/// drawn from a population, and light randomization gives short intervals, which cover at the stated rate.
#[test]
fn intervals_of_this_table_hold() {
    let law = |n: usize, p: f64| {
        let mut logarithm = n as f64 * (1.0 - p).ln();
        let mut chances = vec![logarithm.exp()];
        for k in 0..n {
            logarithm += ((n - k) as f64 / (k + 1) as f64 * p / (1.0 - p)).ln();
            chances.push(logarithm.exp());
        }
        chances
    };
    for epsilon in [0.5, 2.0, 4.0, 8.0] {
        let plan =
            Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![Block::new(vec![0], k_ary(&[(2, 1)], epsilon))]).unwrap();
        let keep = epsilon.exp() / (epsilon.exp() + 1.0);
        for n in [5usize, 20, 100, 200] {
            let interval = |seen: usize| {
                let counts = vec![seen as f64, (n - seen) as f64];
                let group = ChannelCounts { total: n as f64, squares: n as f64, counts, square_counts: Vec::new() };
                let groups = BTreeMap::from([(Vec::new(), group)]);
                let tally = TableCounts::from_groups(&plan, CountLayout::new(&plan, &[0]), groups);
                let options = Options::default().target(Target::Table);
                match analyse(&plan, &tally, &options).cells {
                    Ok(cells) => cells[0].uncertainty.map(|u| (u.low, u.high)).unwrap(),
                    Err(_) => (0.0, 1.0),
                }
            };
            let intervals: Vec<(f64, f64)> = (0..=n).map(interval).collect();
            for t in (0..=n / 2).step_by(1 + n / 40) {
                let share = t as f64 / n as f64;
                let (true_ones, others) = (law(t, keep), law(n - t, 1.0 - keep));
                let mut holds = 0.0;
                for (i, p) in true_ones.iter().enumerate() {
                    for (j, q) in others.iter().enumerate() {
                        let (low, high) = intervals[i + j];
                        holds += p * q * f64::from(low - 1e-9 <= share && share <= high + 1e-9);
                    }
                }
                assert!(holds > 0.949, "epsilon {epsilon}, {t} of {n}: {holds}");
            }
        }
    }
}

/// Returns in how many surveys the intervals of conditional shares of `y` given `x` cover, by cell, and of
/// differences.
fn held(plan: &Plan, n: usize, surveys: u64) -> (Vec<u64>, Vec<u64>) {
    let truth = [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]];
    let (mut shares, mut differences) = (vec![0; 6], vec![0; 3]);
    for seed in 0..surveys {
        let people = people(n, &mut Source::from_seed(11).stream(seed));
        let tally = survey(plan, &people, seed, &[1, 0], |_| true);
        let found = shares_among(plan, &tally, Conditioning { given: 1, without_missing: false }, &Options::default());
        let cells = found.cells.as_ref().unwrap();
        let holds =
            |u: candor_analysis::estimate::Uncertainty, truth: f64| u64::from(u.low <= truth && truth <= u.high);
        for (at, cell) in cells.iter().enumerate() {
            shares[at] += holds(cell.share.uncertainty.unwrap(), truth[at / 3][at % 3]);
        }
        for y in 0..3 {
            let (a, b) = (&cells[y], &cells[3 + y]);
            let correlation = found.correlation(plan, a, b).unwrap();
            let found = difference(&a.share, &b.share, correlation);
            differences[y] += found.map_or(1, |cell| holds(cell.uncertainty.unwrap(), truth[1][y] - truth[0][y]));
        }
    }
    (shares, differences)
}

/// Intervals of conditional shares in randomized groups and of their differences cover, in 1,000 surveys each. At
/// 95%, chance goes below 0.915 less than once in a million times.
#[test]
fn intervals_of_ratios_hold() {
    for (name, plan) in plans() {
        for n in [60, 600] {
            let (shares, differences) = held(&plan, n, 1000);
            for held in shares.iter().chain(&differences) {
                assert!(*held >= 915, "{name}, {n} responses: {shares:?} {differences:?}");
            }
        }
    }
}

/// Means are sums over categories and their intervals cover; quantiles agree with the distribution function.
#[test]
fn means_and_quantiles_hold() {
    let values = Values::new(&schema().attributes()[0]).unwrap();
    let (mean, spread) = (0.3 + 0.32 * 2.0, 0.3 + 0.32 * 4.0 - (0.3f64 + 0.64).powi(2));
    for (name, plan) in plans() {
        let (mut means, mut variances, mut medians) = (0, 0, 0);
        for seed in 0..1000 {
            let people = people(300, &mut Source::from_seed(12).stream(seed));
            let tally = survey(&plan, &people, seed, &[0], |_| true);
            let found = group_moments(&plan, &tally, &values, &[0.5], &Options::default()).unwrap().remove(0);
            let inside = |cell: candor_analysis::estimate::Cell, truth: f64| {
                let u = cell.uncertainty.unwrap();
                u64::from(u.low <= truth && truth <= u.high)
            };
            means += inside(found.mean, mean);
            variances += inside(found.variance, spread);
            medians += u64::from(found.quantiles[0].low <= 1 && 1 <= found.quantiles[0].high);
            if seed == 0 {
                let shares =
                    TableEstimator::new(&plan, &[0]).unwrap().estimate(&tally, Target::Population).unwrap().shares;
                assert!((found.mean.estimate - shares[1] - 2.0 * shares[2]).abs() < 1e-9);
            }
        }
        assert!(means >= 915 && variances >= 915 && medians >= 915, "{name}: {means} {variances} {medians}");
    }
}

/// Categories without scores are reported.
#[test]
fn values_are_numbers() {
    let words = Attribute::new("w", vec!["low".to_owned(), "high".to_owned(), String::new()]).unwrap();
    assert!(Values::new(&words).unwrap_err().to_string().contains("\"low\" of \"w\" has no numeric score"));
    assert!(Values::said(&words, &[1.0, 2.0]).is_ok());
    assert!(Values::said(&words, &[1.0]).unwrap_err().to_string().contains("expected 2 finite numbers"));
    assert!(Values::said(&words, &[1.0, 1.0]).unwrap_err().to_string().contains("the same score"));
    let bins = Attribute::binned("age", &[18.0, 65.0], vec![String::new()]).unwrap();
    assert!(Values::new(&bins).unwrap_err().to_string().contains("each of the 3 bins"));
    assert!(Values::said(&bins, &[9.0, 40.0, f64::NAN]).is_err());
    assert!(Values::said(&bins, &[9.0, 40.0, 75.0]).is_ok());
}

/// Tables with too many cells for ratios are rejected immediately.
#[test]
fn large_tables_of_ratios_are_refused() {
    let schema = Schema::with_sizes(&[100, 50]).unwrap();
    let blocks = vec![Block::new(vec![0], k_ary(&[(100, 1)], 4.0)), Block::new(vec![1], k_ary(&[(50, 1)], 4.0))];
    let plan = Plan::new(schema, blocks).unwrap();
    let people = vec![vec![0, 1, 2], vec![0, 1, 2]];
    let tally = survey(&plan, &people, 1, &[1, 0], |_| true);
    let found = shares_among(&plan, &tally, Conditioning { given: 1, without_missing: false }, &Options::default());
    assert!(found.cells.unwrap_err().to_string().contains("4,096 cells"));
}
