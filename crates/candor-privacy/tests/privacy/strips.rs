//! The criteria for plans with strips, against all responses: exact without prior knowledge of the other attributes,
//! otherwise upper bounds.

use candor_base::channel::{Axis, Cells, Channel, Strip};
use candor_base::plan::{Block, Plan};
use candor_privacy::{AuditRequest, audit};
use proptest::prelude::*;

use super::full::{detail, find, full, guess, information, marginal, uniform, value, worst};
use super::{patterns, plan};
use candor_base::channel::PatternSet;

fn strip(places: &[usize], sizes: &[usize], cells: impl Into<Cells>, weights: [u64; 2]) -> Channel {
    Strip::new(places.to_vec(), sizes.to_vec(), cells, weights).unwrap().into()
}

/// Plans of strips only, whose responses consist of cells.
fn strips_only() -> Vec<Plan> {
    let mut plans = vec![
        plan(&[5], vec![Block::new(vec![0], strip(&[0], &[5], 2, [2, 3]))]),
        plan(&[2, 3, 2], vec![Block::new(vec![0, 1, 2], strip(&[0, 1, 2], &[2, 3, 2], 5, [1, 1]))]),
        plan(
            &[3, 2, 3],
            vec![Block::new(vec![0, 1, 2], strip(&[0, 1, 2], &[3, 2, 3], Cells::Box(vec![2, 1, 1]), [1, 1]))],
        ),
        plan(&[3, 4], vec![Block::new(vec![0, 1], strip(&[0, 1], &[3, 4], Cells::Box(vec![1, 3]), [3, 5]))]),
        // An attribute that no strip asks about.
        plan(&[3, 2, 2], vec![Block::new(vec![0, 1, 2], strip(&[0, 2], &[3, 2], 3, [1, 1]))]),
        plan(
            &[3, 4],
            vec![Block::lottery(
                vec![0, 1],
                vec![
                    (2, strip(&[0, 1], &[3, 4], 5, [3, 2])),
                    (1, strip(&[1], &[4], 2, [1, 2])),
                    (3, strip(&[0, 1], &[3, 4], 1, [1, 4])),
                ],
            )],
        ),
    ];
    plans.extend((1..12).map(|m| plan(&[3, 4], vec![Block::new(vec![0, 1], strip(&[0, 1], &[3, 4], m, [3, 5]))])));
    plans
}

/// Strips next to patterns, and several blocks.
fn mixed() -> Vec<Plan> {
    let axes = [2, 3, 2].map(Axis::single);
    let hits = |hits: &[usize]| patterns(&axes, &[(PatternSet::Hits(hits.to_vec()), 2), (PatternSet::All, 3)]);
    vec![
        plan(
            &[2, 3, 2],
            vec![Block::lottery(
                vec![0, 1, 2],
                vec![
                    (2, hits(&[0, 1])),
                    (1, strip(&[0, 1], &[2, 3], 2, [1, 2])),
                    (1, strip(&[1, 2], &[3, 2], 3, [1, 2])),
                    (2, strip(&[0, 1], &[2, 3], Cells::Box(vec![1, 2]), [1, 2])),
                ],
            )],
        ),
        plan(
            &[2, 3, 4],
            vec![
                Block::new(vec![0, 1], strip(&[0, 1], &[2, 3], 2, [1, 2])),
                Block::new(vec![2], patterns(&[Axis::set(4, 2)], &[(PatternSet::no_miss(), 1), (PatternSet::All, 1)])),
            ],
        ),
    ]
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-9, "{what}: {found}, by definition {expected}");
}

/// Checks ratios, complete records, distances, and views of an adversary who knows all other attributes.
fn assert_record(plan: &Plan) {
    let (columns, findings) = (full(plan), audit(&AuditRequest::new(plan)));
    let (n, what) = (columns.len(), format!("{:?}", plan.blocks()));
    let extremes = |z: usize| columns.iter().fold((0f64, f64::INFINITY), |(m, l), c| (m.max(c[z]), l.min(c[z])));
    let eta = (0..columns[0].len()).map(extremes).map(|(most, least)| most / least).fold(1.0, f64::max);
    close(value(&findings, "ldp"), eta.ln(), &what);
    for criterion in ["parity", "beta-factor"] {
        close(value(&findings, criterion) / eta, 1.0, &what);
    }
    close(value(&findings, "rho"), 0.1 * eta / (0.9 + 0.1 * eta), &what);
    let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum::<f64>();
    let l1 = columns.iter().flat_map(|x| columns.iter().map(move |y| distance(x, y))).fold(0.0, f64::max);
    let phi = value(&findings, "average-security");
    let exact = !find(&findings, "average-security").sentence.contains("an upper bound");
    assert_eq!(exact, plan.blocks().len() == 1, "{what}");
    assert!(phi >= 1.0 + l1 / 2.0 - 1e-9 && (!exact || phi <= 1.0 + l1 / 2.0 + 1e-9), "{what}: {phi} {l1}");
    close(detail(&findings, "guessing", "the whole record").unwrap(), guess(&columns, &uniform(n)), &what);
    let bits = detail(&findings, "mutual-information", "the whole record, uniform prior").unwrap();
    close(bits, information(&columns, &uniform(n)), &what);
    let sizes = plan.schema().sizes();
    let (mut diversity, mut guessing) = (usize::MAX, 0.0f64);
    for (attribute, &size) in sizes.iter().enumerate() {
        let stride: usize = sizes[attribute + 1..].iter().product();
        for base in (0..n).filter(|record| (record / stride).is_multiple_of(size)) {
            let alike: Vec<Vec<f64>> = (0..size).map(|code| columns[base + code * stride].clone()).collect();
            guessing = guessing.max(guess(&alike, &uniform(size)));
            for z in 0..columns[0].len() {
                let most = alike.iter().fold(0f64, |most, column| most.max(column[z]));
                diversity = diversity.min(alike.iter().filter(|column| column[z] > most * (1.0 - 1e-9)).count());
            }
        }
    }
    assert_eq!(value(&findings, "l-diversity"), diversity as f64, "{what}");
    close(value(&findings, "guessing"), guessing, &what);
}

#[test]
fn criteria_about_the_record() {
    strips_only().iter().chain(&mixed()).for_each(assert_record);
}

/// Checks an adversary with this prior on the attribute and a uniform one on the others.
fn assert_attribute(plan: &Plan, attribute: usize, prior: &[f64]) {
    let (columns, about) = (full(plan), format!("a{}", attribute + 1));
    let seen = marginal(plan, &columns, attribute);
    let findings = audit(&AuditRequest::new(plan).with_prior(&about, prior).unwrap());
    let what = format!("{about} {prior:?} {:?}", plan.blocks());
    let found = |criterion: &str| detail(&findings, criterion, &about).unwrap();
    close(found("map-privacy"), 1.0 - guess(&seen, prior), &what);
    close(found("worst-posterior"), worst(&seen, prior), &what);
    close(found("mutual-information"), information(&seen, prior), &what);
    let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum::<f64>();
    let l1 = seen.iter().flat_map(|x| seen.iter().map(move |y| distance(x, y))).fold(0.0, f64::max);
    close(found("average-security"), 1.0 + l1 / 2.0, &what);
    close(detail(&findings, "guessing", &about).unwrap(), guess(&seen, &uniform(prior.len())), &what);
}

#[test]
fn nothing_believed_about_the_others() {
    for plan in strips_only() {
        for (attribute, &size) in plan.schema().sizes().iter().enumerate() {
            assert_attribute(&plan, attribute, &uniform(size));
            let sum = (size * (size + 1) / 2) as f64;
            let skewed: Vec<f64> = (1..=size).map(|i| i as f64 / sum).collect();
            assert_attribute(&plan, attribute, &skewed);
        }
    }
}

/// Returns the columns of one attribute, averaged over the others by their priors.
fn seen_with(plan: &Plan, columns: &[Vec<f64>], attribute: usize, priors: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let sizes = plan.schema().sizes();
    let mut sums = vec![vec![0.0; columns[0].len()]; sizes[attribute]];
    for (record, column) in columns.iter().enumerate() {
        let code = |i: usize| record / sizes[i + 1..].iter().product::<usize>() % sizes[i];
        let others = (0..sizes.len()).filter(|&i| i != attribute);
        let weight: f64 = others.map(|i| priors[i][code(i)]).product();
        sums[code(attribute)].iter_mut().zip(column).for_each(|(sum, p)| *sum += weight * p);
    }
    sums
}

/// Checks that the results bound the disclosure for any prior, and state whether they are exact.
fn assert_bounds(plan: &Plan, priors: &[Vec<f64>]) {
    let columns = full(plan);
    let question = priors.iter().enumerate().fold(AuditRequest::new(plan), |question, (attribute, prior)| {
        question.with_prior(&format!("a{}", attribute + 1), prior).unwrap()
    });
    let findings = audit(&question);
    let says = |criterion: &str, words: &str| find(&findings, criterion).sentence.contains(words);
    let bounded = says("map-privacy", "probability at least");
    assert_eq!(says("worst-posterior", "one category at most"), bounded);
    assert_eq!(says("mutual-information", " at most "), bounded);
    for (attribute, prior) in priors.iter().enumerate() {
        let (seen, about) = (seen_with(plan, &columns, attribute, priors), format!("a{}", attribute + 1));
        let found = |criterion: &str| detail(&findings, criterion, &about).unwrap();
        let what = format!("{about} {priors:?} {:?}", plan.blocks());
        assert!(found("map-privacy") <= 1.0 - guess(&seen, prior) + 1e-9, "{what}");
        assert!(found("worst-posterior") >= worst(&seen, prior) - 1e-9, "{what}");
        assert!(found("mutual-information") >= information(&seen, prior) - 1e-9, "{what}");
        let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum::<f64>();
        let l1 = seen.iter().flat_map(|x| seen.iter().map(move |y| distance(x, y))).fold(0.0, f64::max);
        assert!(found("average-security") >= 1.0 + l1 / 2.0 - 1e-9, "{what}");
        if !bounded {
            close(found("map-privacy"), 1.0 - guess(&seen, prior), &what);
            close(found("worst-posterior"), worst(&seen, prior), &what);
            close(found("mutual-information"), information(&seen, prior), &what);
        }
        // And they stay below the limit set by epsilon.
        let eta = plan.guarantee().epsilon().as_f64().exp();
        let most = prior.iter().fold(0f64, |most, &p| most.max(p));
        assert!(found("worst-posterior") <= eta * most / (1.0 - most + eta * most) + 1e-9, "{what}");
    }
}

fn shares(weights: &[u32]) -> Vec<f64> {
    let sum: u32 = weights.iter().sum();
    weights.iter().map(|&weight| f64::from(weight) / f64::from(sum)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]
    #[test]
    fn anything_believed_about_the_others(
        (sizes, weights) in prop::collection::vec(2usize..4, 2..4).prop_flat_map(|sizes| {
            let weights: Vec<_> = sizes.iter().map(|&size| prop::collection::vec(1u32..20, size)).collect();
            (Just(sizes), weights)
        }),
        share in 0.0f64..1.0,
        hit in 1u64..9,
        all in 1u64..9,
        uniform_beliefs in any::<bool>(),
    ) {
        let table: usize = sizes.iter().product();
        let m = 1 + (share * (table - 2) as f64) as usize;
        let places: Vec<usize> = (0..sizes.len()).collect();
        let plan = plan(&sizes, vec![Block::new(places.clone(), strip(&places, &sizes, m, [hit, all]))]);
        let mut priors: Vec<Vec<f64>> = weights.iter().map(|weights| shares(weights)).collect();
        if uniform_beliefs {
            priors.iter_mut().skip(1).for_each(|prior| *prior = uniform(prior.len()));
        }
        assert_bounds(&plan, &priors);
        assert_record(&plan);
    }
}

/// With three attributes, an answer may have three different numbers of cells in the categories of one.
#[test]
fn uneven_planes() {
    let plan = plan(&[3, 2, 2], vec![Block::new(vec![0, 1, 2], strip(&[0, 1, 2], &[3, 2, 2], 3, [4, 1]))]);
    assert_bounds(&plan, &[vec![0.5, 0.3, 0.2], uniform(2), uniform(2)]);
    assert_bounds(&plan, &[uniform(3), uniform(2), uniform(2)]);
}
