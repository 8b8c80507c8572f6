//! Shuffled responses: certified bounds against exact sums, brute force and golden numbers.
//!
//! `golden/shuffled_*.json` were computed by an independent prototype: all data sets of tiny cases in rational
//! arithmetic, exact sums for 100 and 1,000 respondents, and the same bound on 4,096 points.

use candor_base::channel::{Axis, Matrix, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::schema::Schema;
use candor_privacy::shuffle_model::{Blanket, pairs_of_plan, shuffled, shuffled_plan, worst};
use serde_json::Value;

fn golden(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

fn number(row: &Value, name: &str) -> f64 {
    match &row[name] {
        Value::String(fraction) => {
            let (a, b) = fraction.split_once('/').unwrap_or((fraction, "1"));
            a.parse::<f64>().unwrap() / b.parse::<f64>().unwrap()
        }
        other => other.as_f64().unwrap(),
    }
}

fn k_ary(k: f64, epsilon: f64) -> Blanket {
    let rho = epsilon.exp();
    let gamma = k / (rho + k - 1.0);
    Blanket::new(rho, gamma, 1.0 - gamma)
}

/// The bound is never below the worst data set, and exceeds the three-number bound by at most its grid error.
#[test]
fn tiny_cases_in_rationals() {
    let rows = golden(include_str!("golden/shuffled_brute.json"));
    assert_eq!(rows.len(), 302);
    for row in rows {
        let blanket = Blanket::new(number(&row, "rho"), number(&row, "gamma"), number(&row, "beta"));
        let n = row["n"].as_u64().unwrap();
        let bound = blanket.delta(n, number(&row, "e_eps").ln(), 1e-6).unwrap();
        let (exact, three) = (number(&row, "exact_fraction"), number(&row, "rho_gamma_beta_fraction"));
        assert!(bound >= exact * (1.0 - 1e-12), "{row}: {bound} < {exact}");
        assert!(bound >= three * (1.0 - 1e-9), "{row}: {bound} < {three}");
        assert!(bound <= three * 1.01 + 1e-4, "{row}: {bound} > {three}");
        assert!(blanket.delta_at_most(n, number(&row, "e_eps").ln()) >= exact, "{row}");
    }
}

#[test]
fn exact_sums_are_bounded_closely() {
    for row in golden(include_str!("golden/shuffled_delta.json")) {
        let (blanket, n) = (k_ary(number(&row, "k"), number(&row, "eps0")), row["n"].as_u64().unwrap());
        let (bound, exact) = (blanket.delta(n, number(&row, "eps"), 1e-6).unwrap(), number(&row, "delta_exact"));
        assert!(bound >= exact && bound <= 1.1 * exact, "{row}: {bound}");
        assert!(blanket.delta_at_most(n, number(&row, "eps")) >= exact, "{row}");
    }
}

#[test]
fn epsilons_are_those_of_the_golden_table() {
    for row in golden(include_str!("golden/shuffled_k_ary.json")) {
        // The largest cases take long.
        let n = row["n"].as_u64().unwrap();
        if n > 10_000 || number(&row, "k") == 16.0 {
            continue;
        }
        let found = shuffled(&k_ary(number(&row, "k"), number(&row, "eps0")), n, number(&row, "delta")).epsilon;
        let expected = row["blanket_4096"].as_f64().map_or(number(&row, "eps0"), |e| e.min(number(&row, "eps0")));
        assert!(found >= expected * 0.998 && found <= expected * 1.01, "{row}: {found}");
    }
}

/// The three numbers of plans, against their definition on full matrices.
#[test]
fn blankets_follow_their_definition() {
    let labels = |n: usize| (0..n).map(|z| format!("z{z}")).collect::<Vec<String>>();
    let columns = vec![vec![8, 4, 2, 2], vec![2, 8, 4, 2], vec![4, 4, 4, 4]];
    let matrix = Matrix::new(vec![3], labels(4), 4, columns.clone()).unwrap();
    let plan = Plan::new(Schema::with_sizes(&[3]).unwrap(), vec![Block::new(vec![0], matrix)]).unwrap();
    let found = Blanket::of_plan(&plan).unwrap();
    let near = |a: f64, b: f64| (a - b).abs() < 1e-8 * b;
    let gamma: f64 = (0..4).map(|z| columns.iter().map(|c| c[z]).min().unwrap() as f64 / 16.0).sum();
    assert!(near(found.rho, 4.0) && near(found.gamma, gamma), "{found:?}");
    assert!(near(found.beta, 6.0 / 16.0), "{found:?}");

    let pattern = |epsilon| Pattern::k_ary(vec![Axis::set(5, 2)], epsilon).unwrap();
    let subset = |epsilon: f64| {
        let (rho, a, q) = (epsilon.exp(), 5.0, 2.0);
        (rho, a / (a + q * (rho - 1.0)), (rho - 1.0) * q * (a - q) / ((a - 1.0) * (a + q * (rho - 1.0))))
    };
    let blocks = vec![
        Block::new(vec![0], pattern(1.0)),
        Block::lottery(vec![1], vec![(1, pattern(0.5).into()), (3, pattern(2.0).into())]),
    ];
    let plan = Plan::new(Schema::with_sizes(&[5, 5]).unwrap(), blocks).unwrap();
    let found = Blanket::of_plan(&plan).unwrap();
    let loose = |a: f64, b: f64| (a - b).abs() < 1e-5 * b;
    let gamma = subset(1.0).1 * (subset(0.5).1 / 4.0 + 3.0 * subset(2.0).1 / 4.0);
    assert!(loose(found.rho, 3f64.exp()) && loose(found.gamma, gamma), "{found:?} {gamma}");
    let one = Plan::new(Schema::with_sizes(&[5]).unwrap(), vec![Block::new(vec![0], pattern(1.0))]).unwrap();
    assert!(loose(Blanket::of_plan(&one).unwrap().beta, subset(1.0).2));
}

#[test]
fn more_people_hide_better_and_colluders_do_not() {
    let blanket = k_ary(4.0, 2.0);
    let epsilon = |n| shuffled(&blanket, n, 1e-6);
    assert!(epsilon(100_000).epsilon < epsilon(10_000).epsilon && epsilon(10_000).epsilon < epsilon(5_000).epsilon);
    let alone = epsilon(1);
    assert!(!alone.amplified && alone.epsilon <= 2.0 + 1e-9, "{alone:?}");
    let unbounded = Matrix::new(vec![2], vec!["a".into(), "b".into()], 2, vec![vec![4, 0], vec![1, 3]]).unwrap();
    let plan = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![Block::new(vec![0], unbounded)]).unwrap();
    assert!(Blanket::of_plan(&plan).is_none());
}

fn k_ary_plan(blocks: &[&[usize]], epsilon: f64) -> Plan {
    let sizes: Vec<usize> = blocks.concat();
    let mut first = 0;
    let block = |sizes: &&[usize]| {
        let axes = sizes.iter().map(|&size| Axis::single(size)).collect();
        let attributes = (first..first + sizes.len()).collect();
        first += sizes.len();
        Block::new(attributes, Pattern::k_ary(axes, epsilon).unwrap())
    };
    let blocks = blocks.iter().map(block).collect();
    Plan::new(Schema::with_sizes(&sizes).unwrap(), blocks).unwrap()
}

/// Golden numbers of an independent prototype: sizes 2, 3, 4, 5 at total epsilon 4, answered jointly, one by one, and
/// two by two.
#[test]
fn all_pairs_are_those_of_the_prototype() {
    let cases: [(&[&[usize]], f64, f64, f64); 2] =
        [(&[&[2, 3, 4, 5]], 4.0, 0.2188, 0.0185), (&[&[2], &[3], &[4], &[5]], 1.0, 0.1730, 0.0145)];
    for (blocks, epsilon, ten_thousand, million) in cases {
        let plan = k_ary_plan(blocks, epsilon);
        for (n, expected) in [(10_000, ten_thousand), (1_000_000, million)] {
            let found = shuffled_plan(&plan, n, 1e-6).unwrap();
            assert!(found.by_pairs && (found.epsilon / expected - 1.0).abs() < 0.01, "{n}: {found:?}");
            let three = shuffled(&Blanket::of_plan(&plan).unwrap(), n, 1e-6).epsilon;
            assert!(found.epsilon <= three * 1.001, "{n}: {found:?} {three}");
        }
    }
}

/// The worst of all data sets by brute force: two records against two others, for three respondents under a product of
/// two binary questions.
#[test]
fn no_data_set_of_a_product_is_worse() {
    let plan = k_ary_plan(&[&[2], &[3]], 1.0);
    let keep = |k: usize| 1f64.exp() / (1f64.exp() + k as f64 - 1.0);
    let one = |k: usize, x: usize, y: usize| if x == y { keep(k) } else { (1.0 - keep(k)) / (k as f64 - 1.0) };
    let column = |x: usize| (0..6).map(move |y| one(2, x / 3, y / 3) * one(3, x % 3, y % 3)).collect::<Vec<f64>>();
    // The distribution of the multiset of three answers, by sorted answers.
    let multiset = |records: [usize; 3]| {
        let columns = records.map(column);
        let mut masses = std::collections::BTreeMap::new();
        for y in 0..216 {
            let mut answers = [y / 36, y / 6 % 6, y % 6];
            let mass: f64 = (0..3).map(|i| columns[i][answers[i]]).product();
            answers.sort_unstable();
            *masses.entry(answers).or_insert(0.0) += mass;
        }
        masses
    };
    let pairs = pairs_of_plan(&plan).unwrap();
    for epsilon in [0.1, 0.5, 1.0, 1.5] {
        let bound = pairs.iter().map(|pair| pair.delta(3, epsilon, 1e-6).unwrap()).fold(0.0, f64::max);
        let mut largest = 0.0f64;
        for (x, z) in (0..36).map(|i| (i / 6, i % 6)) {
            for (a, b) in (0..36).map(|i| (i / 6, i % 6)).filter(|(a, b)| a <= b) {
                let (p, q) = (multiset([x, a, b]), multiset([z, a, b]));
                let delta: f64 = p.iter().map(|(y, p)| (p - f64::exp(epsilon) * q[y]).max(0.0)).sum();
                largest = largest.max(delta);
            }
        }
        assert!(bound >= largest && bound <= 3.0 * largest + 1e-4, "{epsilon}: {bound} {largest}");
    }
}

/// Matrices, evaluated pair by pair, agree with patterns, evaluated by sets of attributes.
#[test]
fn matrices_and_patterns_agree() {
    let pattern = k_ary_plan(&[&[4]], 2.0);
    let hit = 2f64.exp();
    let column = |x: usize| (0..4).map(|y| if x == y { hit } else { 1.0 } / (hit + 3.0)).collect::<Vec<f64>>();
    let labels = (0..4).map(|z| format!("z{z}")).collect();
    let matrix = Matrix::rounded(vec![4], labels, &(0..4).map(column).collect::<Vec<_>>()).unwrap();
    let plan = Plan::new(Schema::with_sizes(&[4]).unwrap(), vec![Block::new(vec![0], matrix)]).unwrap();
    let [a, b] = [&pattern, &plan].map(|plan| worst(&pairs_of_plan(plan).unwrap(), 2.0, 5_000, 1e-6).epsilon);
    assert!((a / b - 1.0).abs() < 1e-3, "{a} {b}");
}
