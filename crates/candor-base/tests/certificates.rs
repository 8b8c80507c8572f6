//! Certified epsilons are never below the true ones, by exact likelihoods and logarithms in integer arithmetic.

use candor_base::channel::{Axis, Bitmap, Channel, Matrix, Part, Pattern, PatternSet, Rational, exact};
use candor_base::plan::{Block, Plan};
use candor_base::schema::Schema;
use num_bigint::BigUint;
use num_traits::{One, Zero};
use proptest::prelude::*;

/// Logarithms are integers in units of `2^-UNIT`.
const UNIT: u64 = 400;

/// Returns `ln(larger / smaller)` in units, rounded down by some hundred of them. `None` if infinite; 0/0 is 1.
///
/// `ln r = m ln 2 + ln s` with `s` from 1 to 2, and `ln s = 2 (t + t^3/3 + t^5/5 + ..)` with `t = (s-1)/(s+1)`.
fn ln(larger: &BigUint, smaller: &BigUint) -> Option<BigUint> {
    fn series(above: &BigUint, below: &BigUint) -> BigUint {
        let t = ((above - below) << UNIT) / (above + below);
        let square = (&t * &t) >> UNIT;
        let (mut power, mut sum, mut odd) = (t, BigUint::zero(), 1u32);
        while !power.is_zero() {
            sum += &power / odd;
            power = (power * &square) >> UNIT;
            odd += 2;
        }
        sum * 2u32
    }
    if larger == smaller {
        return Some(BigUint::zero());
    }
    if smaller.is_zero() {
        return None;
    }
    let mut doublings = (larger / smaller).bits() - 1;
    if smaller << doublings > *larger {
        doublings -= 1;
    }
    let two = series(&BigUint::from(2u32), &BigUint::one());
    Some(two * doublings + series(larger, &(smaller << doublings)))
}

fn between(a: &BigUint, b: &BigUint) -> Option<BigUint> {
    ln(a.max(b), a.min(b))
}

/// Returns the largest of several logarithms.
fn worst(logarithms: impl IntoIterator<Item = Option<BigUint>>) -> Option<BigUint> {
    logarithms.into_iter().try_fold(BigUint::zero(), |worst, ln| Some(worst.max(ln?)))
}

/// The true losses of a channel: of the record, and of each attribute, conditional and marginal.
#[derive(Debug)]
struct Truth {
    record: Option<BigUint>,
    conditional: Vec<Option<BigUint>>,
    marginal: Vec<Option<BigUint>>,
}

fn choose(n: usize, k: usize) -> BigUint {
    (0..k).fold(BigUint::one(), |ways, j| ways * (n - j) / (j + 1))
}

/// Returns the number of ways in which the answer about an attribute hits, and misses.
fn ways(axis: &Axis) -> [BigUint; 2] {
    let (a, q) = (axis.categories, axis.answer);
    [choose(a - 1, q - 1), if q == a { BigUint::zero() } else { choose(a - 1, q) }]
}

fn holds(set: &PatternSet, pattern: usize, k: usize) -> bool {
    let misses = |i: &usize| pattern >> i & 1 == 1;
    match set {
        PatternSet::All => true,
        PatternSet::Only(missing) => (0..k).all(|i| misses(&i) == missing.contains(&i)),
        PatternSet::Hits(hits) => !hits.iter().any(misses),
        PatternSet::Threshold { weights, limit } => (0..k).filter(misses).map(|i| weights[i]).sum::<u64>() <= *limit,
        PatternSet::Bitmap(bitmap) => bitmap.contains(pattern as u32),
    }
}

/// Returns `X(S)` of every pattern in integers of a common unit, by the definition, including resampling.
fn likelihoods(pattern: &Pattern) -> Vec<BigUint> {
    let (k, parts) = (pattern.axes().len(), pattern.parts());
    let ways: Vec<[BigUint; 2]> = pattern.axes().iter().map(ways).collect();
    let answers = |s: usize| (0..k).map(|i| &ways[i][s >> i & 1]).product::<BigUint>();
    let answers: Vec<BigUint> = (0..1 << k).map(answers).collect();
    let inside = |part: &Part| (0..1usize << k).filter(|&s| holds(&part.set, s, k)).collect::<Vec<usize>>();
    let inside: Vec<Vec<usize>> = parts.iter().map(inside).collect();
    let sizes: Vec<BigUint> = inside.iter().map(|set| set.iter().map(|&s| &answers[s]).sum()).collect();
    let common: BigUint = sizes.iter().product();
    let mut values = vec![BigUint::zero(); 1 << k];
    for ((part, set), size) in parts.iter().zip(&inside).zip(&sizes) {
        let rate = &common / size * part.weight;
        set.iter().for_each(|&s| values[s] += &rate);
    }
    let whole = BigUint::one() << 64u32;
    for (i, &resampled) in pattern.resampling().iter().enumerate().filter(|(_, weight)| **weight > 0) {
        let [hit, miss] = &ways[i];
        let (all, kept) = (hit + miss, &whole - resampled);
        for s in (0..values.len()).filter(|s| s >> i & 1 == 0) {
            let random = (hit * &values[s] + miss * &values[s | 1 << i]) * resampled;
            for s in [s, s | 1 << i] {
                values[s] = &values[s] * &kept * &all + &random;
            }
        }
    }
    values
}

fn truth_of_pattern(pattern: &Pattern) -> Truth {
    let (k, values) = (pattern.axes().len(), likelihoods(pattern));
    let ways: Vec<[BigUint; 2]> = pattern.axes().iter().map(ways).collect();
    let possible = |s: usize| (0..k).all(|i| s >> i & 1 == 0 || !ways[i][1].is_zero());
    let occurring: Vec<usize> = (0..values.len()).filter(|&s| possible(s)).collect();
    let extreme = |of: fn(&BigUint, &BigUint) -> bool| {
        let better = |a: usize, b: usize| if of(&values[a], &values[b]) { a } else { b };
        &values[occurring.iter().copied().reduce(better).unwrap()]
    };
    let pairs =
        |i: usize| occurring.iter().copied().filter(move |s| s >> i & 1 == 0).filter(move |s| possible(s | 1 << i));
    let marginal = |i: usize| {
        // The answer about one attribute: one particular hit, and one particular miss.
        let others = |s: usize| (0..k).filter(|&j| j != i).map(|j| &ways[j][s >> j & 1]).product::<BigUint>();
        let sum = |misses: usize| -> BigUint {
            occurring.iter().filter(|&s| s >> i & 1 == misses).map(|&s| &values[s] * others(s)).sum()
        };
        if ways[i][1].is_zero() { Some(BigUint::zero()) } else { between(&sum(0), &sum(1)) }
    };
    Truth {
        record: ln(extreme(|a, b| a > b), extreme(|a, b| a < b)),
        conditional: (0..k).map(|i| worst(pairs(i).map(|s| between(&values[s], &values[s | 1 << i])))).collect(),
        marginal: (0..k).map(marginal).collect(),
    }
}

fn truth_of_matrix(matrix: &Matrix) -> Truth {
    let entry = |input: usize, output: usize| BigUint::from(matrix.columns()[input][output]);
    let (inputs, outputs) = (matrix.columns().len(), matrix.labels().len());
    let pairs = (0..inputs).flat_map(|x| (0..x).map(move |y| (x, y)));
    let all = worst(pairs.flat_map(|(x, y)| (0..outputs).map(move |z| between(&entry(x, z), &entry(y, z)))));
    Truth { record: all.clone(), conditional: vec![all.clone()], marginal: vec![all] }
}

/// Returns the losses if parts only count how many of `k` equal attributes miss.
fn truth_by_count(k: usize, categories: usize, parts: &[(usize, u64)]) -> Truth {
    let miss = BigUint::from(categories - 1);
    let answers: Vec<BigUint> = (0..=k).map(|j| choose(k, j) * miss.pow(j as u32)).collect();
    let sizes: Vec<BigUint> = parts.iter().map(|&(limit, _)| answers[..=limit].iter().sum()).collect();
    let common: BigUint = sizes.iter().product();
    let value = |j: usize| -> BigUint {
        let holding = parts.iter().zip(&sizes).filter(|((limit, _), _)| j <= *limit);
        holding.map(|((_, weight), size)| &common / size * *weight).sum()
    };
    let values: Vec<BigUint> = (0..=k).map(value).collect();
    let one = worst((0..k).map(|j| between(&values[j], &values[j + 1])));
    // Given that one attribute hits or misses, the others are free.
    let others: Vec<BigUint> = (0..k).map(|j| choose(k - 1, j) * miss.pow(j as u32)).collect();
    let side = |misses: usize| -> BigUint { (0..k).map(|j| &others[j] * &values[j + misses]).sum() };
    Truth {
        record: ln(&values[0], &values[k]),
        conditional: vec![one; k],
        marginal: vec![between(&side(0), &side(1)); k],
    }
}

/// Checks the certificate of one loss, as a number and as the decimals of a plan file.
fn check(certified: Option<f64>, decimal: Option<&str>, truth: &Option<BigUint>, what: &str) {
    let Some(truth) = truth else {
        assert!(certified.is_none() && decimal.is_none(), "{what}: {certified:?}, but there is no bound");
        return;
    };
    let at_least = |value: &Rational| value * (BigUint::one() << UNIT) >= Rational::from(truth.clone());
    if let Some(certified) = certified {
        assert!(at_least(&exact(certified).unwrap()), "{what}: {certified:e} is below {truth} units");
    }
    if let Some(decimal) = decimal {
        let (whole, decimals) = decimal.split_once('.').unwrap_or((decimal, ""));
        let digits: BigUint = format!("{whole}{decimals}").parse().unwrap();
        let value = Rational::new(digits, BigUint::from(10u32).pow(decimals.len() as u32));
        assert!(at_least(&value), "{what}: stated {decimal}, below {truth} units");
        assert!(!value.is_zero() || truth.is_zero(), "{what}: stated as nothing");
    }
}

/// Checks a lottery, of which the worst channel counts; the plan file must not understate the losses either.
fn certified(sizes: &[usize], lottery: Vec<(u64, Channel)>, truths: &[Truth]) {
    let attributes = (0..sizes.len()).collect();
    let plan = Plan::new(Schema::with_sizes(sizes).unwrap(), vec![Block::lottery(attributes, lottery)]).unwrap();
    let file: serde_json::Value = serde_json::from_str(&plan.to_json()).unwrap();
    let guarantee = &file["guarantee"];
    let record = worst(truths.iter().map(|truth| truth.record.clone()));
    check(plan.guarantee().epsilon().finite(), guarantee["epsilon"].as_str(), &record, "record");
    for (i, found) in plan.guarantee().attributes().iter().enumerate() {
        let stated = &guarantee["attributes"][i];
        let conditional = worst(truths.iter().map(|truth| truth.conditional[i].clone()));
        check(found.conditional.finite(), stated["conditional_epsilon"].as_str(), &conditional, "conditional");
        let marginal = worst(truths.iter().map(|truth| truth.marginal[i].clone()));
        let value = found.marginal.and_then(|epsilon| epsilon.finite());
        check(value, stated["marginal_epsilon"].as_str(), &marginal, "marginal");
    }
    assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
}

/// A set of any kind over `k` attributes.
fn set(k: usize) -> BoxedStrategy<PatternSet> {
    let list = move |mask: u32| (0..k).filter(|i| mask >> i & 1 == 1).collect::<Vec<usize>>();
    let any_mask = 0u32..1 << k;
    prop_oneof![
        2 => any_mask.clone().prop_map(move |mask| PatternSet::Only(list(mask))),
        2 => any_mask.prop_map(move |mask| PatternSet::Hits(list(mask))),
        2 => (prop::collection::vec(0u64..4, k), 0u64..8).prop_map(|(weights, limit)| PatternSet::Threshold { weights,
            limit }),
        1 => (1u32..u32::MAX).prop_map(move |salt| PatternSet::Bitmap(Bitmap::new(k, |p| {
            p == 0 || p.wrapping_mul(salt).wrapping_add(salt >> 7).count_ones() % 3 == 1
        }))),
    ]
    .boxed()
}

/// Weights from almost none to nearly all of the total.
fn weight() -> impl Strategy<Value = u64> {
    prop_oneof![1u64..400, (0u32..60).prop_map(|bits| 1 << bits), Just(1 << 62)]
}

/// A channel; most are close to one that reveals nothing.
fn channel(axes: Vec<Axis>) -> impl Strategy<Value = Pattern> {
    let k = axes.len();
    let parts = prop::collection::vec((set(k), weight()), 1..4);
    let resampling = prop_oneof![
        2 => Just(vec![0; k]),
        1 => prop::collection::vec(prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()], k),
    ];
    (parts, any::<bool>(), resampling).prop_filter_map("sets hold answers", move |(parts, all, resampling)| {
        let mut parts: Vec<Part> = parts.into_iter().map(|(set, weight)| Part { set, weight }).collect();
        if all {
            parts.push(Part { set: PatternSet::All, weight: 1 << 63 });
        }
        parts.iter_mut().for_each(|part| part.weight = part.weight.min(1 << 63) / 2 + 1);
        Some(Pattern::new(axes.clone(), parts).ok()?.resampled(resampling))
    })
}

fn axes(k: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Axis>> {
    prop::collection::vec((2usize..5).prop_flat_map(|a| (Just(a), 1..=a)).prop_map(|(a, q)| Axis::set(a, q)), k)
}

fn lottery(k: std::ops::Range<usize>, channels: usize) -> impl Strategy<Value = (Vec<Axis>, Vec<Pattern>)> {
    axes(k).prop_flat_map(move |axes| {
        let drawn = prop::collection::vec(channel(axes.clone()), 1..=channels);
        (Just(axes), drawn)
    })
}

fn check_lottery(axes: &[Axis], drawn: Vec<Pattern>) {
    let truths: Vec<Truth> = drawn.iter().map(truth_of_pattern).collect();
    let sizes: Vec<usize> = axes.iter().map(|axis| axis.categories).collect();
    certified(&sizes, drawn.into_iter().map(|pattern| (1, pattern.into())).collect(), &truths);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn lotteries_of_few_attributes((axes, drawn) in lottery(1..5, 3)) {
        check_lottery(&axes, drawn);
    }

    #[test]
    fn matrices(
        n in 2usize..5, columns in prop::collection::vec(prop::collection::vec(weight(), 5), 5), even in any::<bool>(),
    ) {
        // Nearly uniform columns, or any: the last entry takes the rest of 2^63.
        let column = |column: &Vec<u64>| {
            let mut column: Vec<u64> =
                column[..n - 1].iter().map(|&w| if even { (1 << 63) / n as u64 + w % 9 } else { w % (1 << 58) })
                    .collect();
            column.push((1 << 63) - column.iter().sum::<u64>());
            column
        };
        let columns: Vec<Vec<u64>> = columns[..n].iter().map(column).collect();
        let matrix = Matrix::new(vec![n], (0..n).map(|z| z.to_string()).collect(), 63, columns).unwrap();
        let truth = truth_of_matrix(&matrix);
        certified(&[n], vec![(1, matrix.into())], &[truth]);
    }

    #[test]
    fn more_than_twenty_attributes(
        k in 21usize..40,
        categories in 2usize..5,
        drawn in prop::collection::vec(prop::collection::vec((0.0f64..1.0, weight()), 1..4), 1..3),
        all in weight(),
    ) {
        let parts = |drawn: &Vec<(f64, u64)>| {
            let mut parts: Vec<(usize, u64)> = drawn.iter().map(|(at, w)| ((at * k as f64) as usize, *w / 8 + 1))
                .collect();
            parts.push((k, all));
            parts
        };
        let lists: Vec<Vec<(usize, u64)>> = drawn.iter().map(parts).collect();
        let channel = |parts: &Vec<(usize, u64)>| {
            let set = |limit: usize| match limit {
                0 => PatternSet::no_miss(),
                _ if limit == k => PatternSet::All,
                _ => PatternSet::Threshold { weights: vec![1; k], limit: limit as u64 },
            };
            let parts = parts.iter().map(|&(limit, weight)| Part { set: set(limit), weight }).collect();
            Pattern::new(vec![Axis::single(categories); k], parts)
        };
        // Some thresholds are too rare to be drawn.
        let drawn = lists.iter().map(channel).collect::<Result<Vec<Pattern>, _>>();
        prop_assume!(drawn.is_ok());
        let truths: Vec<Truth> = lists.iter().map(|parts| truth_by_count(k, categories, parts)).collect();
        certified(&vec![categories; k], drawn.unwrap().into_iter().map(|p| (1, p.into())).collect(), &truths);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn more_than_twelve_attributes((axes, drawn) in lottery(13..14, 2)) {
        check_lottery(&axes, drawn);
    }
}

/// Parts whose weights are too small to change a float.
#[test]
fn losses_below_the_last_digit_of_floats_are_not_stated_as_none() {
    let part = |set: PatternSet, weight: u64| Part { set, weight };
    for k in [3, 13] {
        let axes = vec![Axis::single(2); k];
        let mut resampling = vec![0; k];
        resampling[k - 1] = 1 << 40;
        let faint = vec![part(PatternSet::Hits(vec![0]), 300), part(PatternSet::All, u64::MAX - 400)];
        let drawn = Pattern::new(axes.clone(), faint).unwrap().resampled(resampling);
        // No part depends on attribute 1, so its epsilon is exactly 0.
        assert_eq!(drawn.conditional_epsilons()[1].as_f64(), 0.0);
        let exact =
            Pattern::new(axes.clone(), vec![part(PatternSet::Hits(vec![0]), 50), part(PatternSet::All, 1 << 63)]);
        check_lottery(&axes, vec![drawn, exact.unwrap()]);
    }
}

/// Resampling is so rare that some answers are as unlikely as the smallest floats, which have few digits. Nothing
/// finite may be certified from those.
#[test]
fn likelihoods_at_the_end_of_the_floats() {
    let k = 17;
    let no_miss = |k: usize| {
        Pattern::new(vec![Axis::single(2); k], vec![Part { set: PatternSet::no_miss(), weight: 1 }]).unwrap()
    };
    for (resampled, told) in [(1, false), (5, false), (1 << 20, true), (1 << 63, true)] {
        let drawn = no_miss(k).resampled(vec![resampled; k]);
        // Attributes are independent, so the record's ratio is one attribute's exact ratio to the power of k.
        let one = truth_of_pattern(&no_miss(1).resampled(vec![resampled])).record.unwrap();
        check(drawn.record_epsilon().finite(), None, &Some(&one * k), "record");
        assert_eq!(drawn.record_epsilon().finite().is_some(), told, "{resampled}");
        for found in drawn.conditional_epsilons() {
            check(found.finite(), None, &Some(one.clone()), "conditional");
            assert_eq!(found.finite().is_some(), told, "{resampled}");
        }
    }
}

#[test]
fn logarithms_by_integers() {
    let close = |n: u64, d: u64, expected: f64| {
        let found = ln(&n.into(), &d.into()).unwrap();
        let found: f64 = (found >> (UNIT - 100)).to_string().parse::<f64>().unwrap() / 2f64.powi(100);
        assert!((found - expected).abs() < 1e-15 * expected, "{found} {expected}");
    };
    close(3, 1, 3f64.ln());
    close(2, 1, std::f64::consts::LN_2);
    close(5, 4, 1.25f64.ln());
    close(1 << 60, 3, 2f64.powi(60).ln() - 3f64.ln());
    close((1 << 50) + 1, 1 << 50, 2f64.powi(-50));
    assert_eq!(ln(&BigUint::one(), &BigUint::zero()), None);
}
