//! Tests of estimates by definition: exact identities for every kind of channel, then simulation.

use std::collections::BTreeMap;

use candor_analysis::estimate::{EstimateError, TableEstimator, Target};
use candor_analysis::tally::{ChannelCounts, Codes, Rows, TableCounts, answer_codes};
use candor_base::channel::{Axis, Bitmap, Channel, Matrix, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::Randomizer;
use num_traits::ToPrimitive;
use proptest::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

#[path = "../../../candor-base/tests/definition/mod.rs"]
mod definition;
mod every_plan;
mod papers;

use every_plan::*;

/// Unbiased: the exact law of the responses to one true record gives exactly this record.
#[test]
fn the_expected_estimate_is_the_truth() {
    for (name, plan, tables) in plans() {
        for truth in truths(&plan) {
            let responses = possible(&plan, &truth);
            for table in &tables {
                let estimator = TableEstimator::new(&plan, table).unwrap();
                let weighted: Vec<(&Possible, f64)> =
                    responses.iter().map(|r| (r, r.probability * tag_probability(&plan, &r.tags))).collect();
                let estimate = estimator.estimate(&tally(&plan, &estimator, &weighted), Target::Population).unwrap();
                for (found, share) in estimate.shares.iter().enumerate() {
                    let expected = f64::from(found == cell(&plan, table, &truth));
                    assert!((share - expected).abs() < 1e-10, "{name} {table:?} {truth:?}: {share} in cell {found}");
                }
            }
        }
    }
}

/// Standard errors for both targets, compared with the variance of single contributions.
#[test]
fn standard_errors_are_those_of_the_contributions() {
    for (name, plan, tables) in plans() {
        let truths = truths(&plan);
        // A population that is neither uniform nor independent.
        let raw: Vec<f64> = (0..truths.len()).map(|i| 1.0 + (i * 7 % 5) as f64).collect();
        let population: Vec<f64> = raw.iter().map(|w| w / raw.iter().sum::<f64>()).collect();
        let respondents = 1000.0;
        let by_truth: Vec<Vec<Possible>> = truths.iter().map(|truth| possible(&plan, truth)).collect();
        for table in &tables {
            let estimator = TableEstimator::new(&plan, table).unwrap();
            let mut everybody: Vec<(&Possible, f64)> = Vec::new();
            for (responses, share) in by_truth.iter().zip(&population) {
                let weight = |r: &Possible| respondents * share * r.probability * tag_probability(&plan, &r.tags);
                everybody.extend(responses.iter().map(|r| (r, weight(r))));
            }
            let counted = tally(&plan, &estimator, &everybody);
            for target in [Target::Population, Target::Table] {
                let estimate = estimator.estimate(&counted, target).unwrap();
                let cells = estimate.shares.len();
                let unit = |at: usize| (0..cells).map(|cell| f64::from(cell == at)).collect::<Vec<f64>>();
                // Every cell, their sum, and two linear combinations.
                let mut sums: Vec<Vec<f64>> = (0..cells).map(unit).collect();
                sums.push(vec![1.0; cells]);
                sums.push((0..cells).map(|cell| f64::from(cell % 3 == 0)).collect());
                sums.push((0..cells).map(|cell| (cell * 5 % 7) as f64 - 2.5).collect());
                let variances = brute_variances(&plan, &estimator, &counted, &by_truth, &population, &sums, target);
                let same = |se: f64, variance: f64| {
                    let (found, expected) = (se * se * respondents, variance * respondents);
                    assert!(
                        (found - expected).abs() < 1e-8 * (1.0 + expected),
                        "{name} {table:?} {target:?}: {found} {expected}"
                    );
                };
                estimate.standard_errors.iter().zip(&variances).for_each(|(&se, &variance)| same(se, variance));
                for (sum, variance) in sums.iter().zip(variances) {
                    let found = estimator.linear(&counted, sum, target).unwrap();
                    let value: f64 = sum.iter().zip(&estimate.shares).map(|(g, share)| g * share).sum();
                    assert!((found.value - value).abs() < 1e-12);
                    match found.standard_error {
                        Some(se) => same(se, variance),
                        None => assert!(table.len() > 1 && name.contains("set"), "{name}"),
                    }
                }
            }
        }
    }
}

/// Returns the sum over groups of the variance of one response's contribution to each combination, divided by the
/// group size.
fn brute_variances(
    plan: &Plan,
    estimator: &TableEstimator<'_>,
    counted: &TableCounts,
    by_truth: &[Vec<Possible>],
    population: &[f64],
    sums: &[Vec<f64>],
    target: Target,
) -> Vec<f64> {
    let apply = |sum: &Vec<f64>, shares: &[f64]| sum.iter().zip(shares).map(|(g, share)| g * share).sum::<f64>();
    let tagged = &estimator.layout().tagged;
    let key = |r: &Possible| tagged.iter().map(|&block| r.tags[block] as u16).collect::<Vec<u16>>();
    let mut variances = vec![0.0; sums.len()];
    for (tags, group) in counted.groups() {
        // The contribution of a response: its entire group gives it, and the other groups nothing.
        let contribution = |r: &Possible| {
            let mut groups = counted.groups().clone();
            groups.values_mut().for_each(|other| other.counts.iter_mut().for_each(|count| *count = 0.0));
            let alone = tally(plan, estimator, &[(r, group.total)]);
            groups.insert(tags.clone(), alone.groups()[tags].clone());
            let tally = TableCounts::from_groups(plan, estimator.layout().clone(), groups);
            estimator.estimate(&tally, Target::Population).unwrap().shares
        };
        let (mut mean, mut square) = (vec![0.0; sums.len()], vec![0.0; sums.len()]);
        for (responses, share) in by_truth.iter().zip(population) {
            let members: Vec<&Possible> = responses.iter().filter(|r| key(r) == *tags).collect();
            // Channel IDs of other blocks, or of matrices, are part of the response.
            let probability = |r: &Possible| {
                let drawn: f64 = tag_probability(plan, &r.tags);
                let fixed: f64 = members.iter().map(|m| m.probability * tag_probability(plan, &m.tags)).sum();
                r.probability * drawn / fixed
            };
            for r in &members {
                let p = probability(r);
                let contribution = contribution(r);
                for (at, sum) in sums.iter().enumerate() {
                    let f = apply(sum, &contribution);
                    mean[at] += share * p * f;
                    square[at] += share * p * f * f;
                }
            }
        }
        for at in 0..sums.len() {
            variances[at] += (square[at] - mean[at] * mean[at]) / group.total;
        }
    }
    if target == Target::Table {
        // With fixed records and assigned channels, the variance is that of a completely randomized design.
        let shares = estimator.estimate(counted, target).unwrap().shares;
        for (variance, sum) in variances.iter_mut().zip(sums) {
            let squares: Vec<f64> = sum.iter().map(|g| g * g).collect();
            *variance -= (apply(&squares, &shares) - apply(sum, &shares).powi(2)) / counted.total();
        }
    }
    variances
}

/// The iterative method returns the true distribution from its exact law, for every plan that it supports, and an
/// error for others.
#[test]
fn iterations_return_the_truth() {
    let mut done = 0;
    for (name, plan, tables) in plans() {
        let truths = truths(&plan);
        let raw: Vec<f64> = (0..truths.len()).map(|i| 1.0 + (i * 7 % 5) as f64).collect();
        let sum: f64 = raw.iter().sum();
        let by_truth: Vec<Vec<Possible>> = truths.iter().map(|truth| possible(&plan, truth)).collect();
        let responses = by_truth.iter().zip(&raw);
        let everybody: Vec<(&Possible, f64)> = responses
            .flat_map(|(rs, w)| rs.iter().map(move |r| (r, w * r.probability)))
            .map(|(r, w)| (r, w * tag_probability(&plan, &r.tags)))
            .collect();
        for table in &tables {
            let estimator = TableEstimator::new(&plan, table).unwrap();
            match estimator.iterate(&tally(&plan, &estimator, &everybody), 1e-13, 200_000) {
                Ok(found) => {
                    let mut expected = vec![0.0; found.shares.len()];
                    truths.iter().zip(&raw).for_each(|(t, w)| expected[cell(&plan, table, t)] += w / sum);
                    for (a, b) in found.shares.iter().zip(&expected) {
                        assert!((a - b).abs() < 1e-6, "{name} {table:?}: {a} {b} after {}", found.updates);
                    }
                    done += 1;
                }
                Err(error) => assert!(error.to_string().contains("does not apply"), "{error}"),
            }
        }
    }
    assert!(done > 30, "{done}");
}

prop_compose! {
    /// Generates a random pattern channel with single answers over two to four attributes, and counts.
    fn channels()(
        sizes in prop::collection::vec(2usize..5, 1..4),
        weights in prop::collection::vec(1u64..1000, 3),
        seed in any::<u32>(),
        counts in prop::collection::vec(0u32..1000, 64),
    ) -> (Pattern, Vec<f64>) {
        let k = sizes.len();
        let some = |mask: u32| (0..k).filter(|i| mask >> i & 1 == 1).collect::<Vec<usize>>();
        let sets = [
            PatternSet::no_miss(),
            PatternSet::Hits(some(seed)),
            PatternSet::Threshold { weights: (0..k).map(|i| u64::from(seed >> i & 3)).collect(), limit: 2 },
            PatternSet::Bitmap(Bitmap::new(k, |p| p == 0 || seed >> (p % 31) & 1 == 1)),
        ];
        let chosen = &sets[(seed >> 8) as usize % 4];
        let parts = [(sets[0].clone(), weights[0]), (chosen.clone(), weights[1]), (PatternSet::All, weights[2])];
        let parts = parts.into_iter().map(|(set, weight)| Part { set, weight }).collect();
        let axes: Vec<Axis> = sizes.iter().copied().map(Axis::single).collect();
        let cells: usize = sizes.iter().product();
        (Pattern::new(axes, parts).unwrap(), counts[..cells].iter().map(|&c| f64::from(c) + 1.0).collect())
    }
}

proptest! {
    /// The estimate and its standard errors equal those by the inverse of the complete matrix.
    #[test]
    fn estimates_are_those_of_the_inverse_matrix((channel, counts) in channels()) {
        let sizes: Vec<usize> = channel.axes().iter().map(|axis| axis.categories).collect();
        let answers = definition::answers(channel.axes());
        let float = |p: &candor_base::channel::Rational| p.numer().to_f64().unwrap() / p.denom().to_f64().unwrap();
        let cells = counts.len();
        let truths = definition::product(&sizes.iter().map(|&n| (0..n).collect()).collect::<Vec<Vec<usize>>>());
        let laws: Vec<Vec<f64>> =
            truths.iter().map(|t| definition::law(&channel, &answers, t).iter().map(float).collect()).collect();
        let whole = nalgebra::DMatrix::from_fn(cells, cells, |answer, truth| laws[truth][answer]);
        let plan = Plan::new(Schema::with_sizes(&sizes).unwrap(), vec![Block::new((0..sizes.len()).collect(),
            channel)]).unwrap();
        let estimator = TableEstimator::new(&plan, &(0..sizes.len()).collect::<Vec<usize>>()).unwrap();
        let total: f64 = counts.iter().sum();
        let group = ChannelCounts { total, squares: total, counts: counts.clone(), square_counts: vec![] };
        let tally = TableCounts::from_groups(&plan, estimator.layout().clone(), BTreeMap::from([(vec![], group)]));
        // By elimination: `try_inverse` has a closed form for small matrices, which loses digits here.
        let inverse = whole.clone().lu().try_inverse().filter(|inverse| inverse.norm() < 1e4);
        prop_assume!(inverse.is_some());
        let inverse = inverse.unwrap();
        let estimate = estimator.estimate(&tally, Target::Population).unwrap();
        let q = nalgebra::DVector::from_iterator(cells, counts.iter().map(|count| count / total));
        let expected = &inverse * &q;
        let scale = inverse.norm();
        for cell in 0..cells {
            prop_assert!((estimate.shares[cell] - expected[cell]).abs() < 1e-10 * scale);
            let square: f64 = (0..cells).map(|z| inverse[(cell, z)].powi(2) * q[z]).sum();
            let variance = (square - expected[cell].powi(2)) / total;
            let found = estimate.standard_errors[cell].powi(2);
            let exact = estimate.shares.iter().all(|share| *share >= 0.0);
            prop_assert!(found >= variance - 1e-10 * scale * scale);
            prop_assert!(!exact || (found - variance).abs() < 1e-10 * scale * scale);
        }
    }
}

/// Weights from the responses give nearly the same estimate, and smaller errors in skewed populations.
#[test]
fn plug_in_weights() {
    let wide = [vec![0.6, 0.05, 0.05, 0.3], vec![0.05, 0.6, 0.05, 0.3], vec![0.05, 0.05, 0.6, 0.3]];
    let plan = Plan::new(Schema::with_sizes(&[3]).unwrap(), vec![Block::new(vec![0], matrix(&[3], &wide))]).unwrap();
    let by_truth: Vec<Vec<Possible>> = truths(&plan).iter().map(|truth| possible(&plan, truth)).collect();
    let population = [0.95, 0.04, 0.01];
    let responses = by_truth.iter().zip(population);
    let everybody: Vec<(&Possible, f64)> =
        responses.flat_map(|(rs, share)| rs.iter().map(move |r| (r, 1000.0 * share * r.probability))).collect();
    let fixed = TableEstimator::new(&plan, &[0]).unwrap();
    let counted = tally(&plan, &fixed, &everybody);
    let plugged = TableEstimator::new(&plan, &[0]).unwrap().with_plug_in_weights(&counted).unwrap();
    let (fixed, plugged) = (
        fixed.estimate(&counted, Target::Population).unwrap(),
        plugged.estimate(&counted, Target::Population).unwrap(),
    );
    for (share, truth) in plugged.shares.iter().zip(population) {
        assert!((share - truth).abs() < 1e-9);
    }
    assert!(plugged.root_mean_square_error() < fixed.root_mean_square_error());
}

/// Large binomials keep their precision: the error of half of ten thousand categories, by its formula.
#[test]
fn half_of_ten_thousand_categories() {
    let (k, l) = (10_000, 5_000);
    let half = Pattern::new(vec![Axis::set(k, l)], vec![Part { set: PatternSet::no_miss(), weight: 1 }]).unwrap();
    let plan = Plan::new(Schema::with_sizes(&[k]).unwrap(), vec![Block::new(vec![0], half)]).unwrap();
    let predicted = TableEstimator::new(&plan, &[0]).unwrap().predict(1.0, Target::Population).unwrap();
    let variance: f64 = predicted.standard_errors.iter().map(|se| se * se).sum();
    let expected = (k - 1) as f64 * (l - 1) as f64 / (k - l) as f64 + 1.0 - 1.0 / k as f64;
    assert!((variance / expected - 1.0).abs() < 1e-6, "{variance} {expected}");
}

/// A channel that was not assigned, listed with a count of zero, changes nothing.
#[test]
fn rows_that_stand_for_nobody_change_nothing() {
    let axes = [Axis::single(2)];
    let lottery = vec![(1, k_ary(&axes, 1.0)), (1, k_ary(&axes, 2.0))];
    let plan = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![Block::lottery(vec![0], lottery)]).unwrap();
    let estimator = TableEstimator::new(&plan, &[0]).unwrap();
    let estimate = |answers: &[u16], tags: &[u16], counts: &[f64]| {
        let mut tally = TableCounts::new(estimator.layout().clone());
        tally.add(&plan, &[Codes::One(answers), Codes::One(tags)], Rows::Counted(counts), |_| true);
        estimator.estimate(&tally, Target::Population).unwrap()
    };
    let without = estimate(&[0, 1], &[0, 0], &[70.0, 30.0]);
    let with = estimate(&[0, 1, 0], &[0, 0, 1], &[70.0, 30.0, 0.0]);
    assert_eq!(with, without);
    assert!(with.shares.iter().all(|share| share.is_finite()));
}

/// An answer that is impossible for every true category has no likelihood; one that is possible for some excludes
/// the others.
#[test]
fn impossible_answers_have_no_likelihood() {
    let labels = ["0", "1", "2"].map(String::from).to_vec();
    let channel: Channel = Matrix::new(vec![2], labels, 1, vec![vec![2, 0, 0], vec![1, 1, 0]]).unwrap().into();
    let plan = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
    let estimator = TableEstimator::new(&plan, &[0]).unwrap();
    let iterate = |answers: &[u16]| {
        let mut tally = TableCounts::new(estimator.layout().clone());
        tally.add(&plan, &[Codes::One(answers)], Rows::Single, |_| true);
        estimator.iterate(&tally, 1e-12, 100_000)
    };
    assert!(matches!(iterate(&[0, 2]), Err(EstimateError::NoLikelihood(_))));
    let found = iterate(&[1, 1]).unwrap();
    assert!(found.converged && (found.shares[1] - 1.0).abs() < 1e-9, "{found:?}");
}

/// Three people with the same answer by chance are no certainty.
#[test]
fn few_responses_are_not_certain() {
    let by_matrix = matrix(&[2], &[vec![0.6, 0.4], vec![0.4, 0.6]]);
    for channel in [k_ary(&[Axis::single(2)], 0.5), by_matrix] {
        let plan = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
        let estimator = TableEstimator::new(&plan, &[0]).unwrap();
        for people in [1.0, 3.0] {
            let group =
                ChannelCounts { total: people, squares: people, counts: vec![people, 0.0], square_counts: vec![] };
            let tally = TableCounts::from_groups(&plan, estimator.layout().clone(), BTreeMap::from([(vec![], group)]));
            let estimate = estimator.estimate(&tally, Target::Population).unwrap();
            assert!(estimate.shares[0] > 1.0 && estimate.standard_errors[0] > 1.0, "{estimate:?}");
            let analysis =
                candor_analysis::estimate::analyse(&plan, &tally, &candor_analysis::estimate::Options::default());
            assert!(!analysis.implausible && analysis.cells.is_err(), "{analysis:?}");
        }
    }
}

#[test]
fn what_the_plan_erases_is_not_estimated() {
    let schema = || Schema::with_sizes(&[2, 3]).unwrap();
    let one = |epsilon| Block::new(vec![0], k_ary(&[Axis::single(2)], epsilon));
    let two = Block::new(vec![1], k_ary(&[Axis::single(3)], 1.0));
    let plan = Plan::new(schema(), vec![one(0.0), two]).unwrap();
    let erased =
        |table: &[usize]| TableEstimator::new(&plan, table).unwrap().predict(100.0, Target::Population).map(|_| ());
    assert_eq!(erased(&[0]), Err(EstimateError::NotIdentifiable(vec!["a1".to_owned()])));
    assert_eq!(erased(&[1]), Ok(()));
    assert_eq!(erased(&[1, 0]), Err(EstimateError::NotIdentifiable(vec!["a1".to_owned()])));
    // Both margins are identified, and their association is not, because both are never reported together.
    let hits = |hit: usize| pattern(&[Axis::single(2), Axis::single(3)], &[(PatternSet::Hits(vec![hit]), 1)]);
    let lottery = Block::lottery(vec![0, 1], vec![(1, hits(0)), (1, hits(1))]);
    let plan = Plan::new(schema(), vec![lottery]).unwrap();
    let error = TableEstimator::new(&plan, &[0, 1]).unwrap().predict(100.0, Target::Population).unwrap_err();
    assert!(error.to_string().contains("how \"a1\", \"a2\" depend on each other"), "{error}");
    assert!(TableEstimator::new(&plan, &[0]).unwrap().predict(100.0, Target::Population).is_ok());
    // A matrix without an inverse.
    let flat = Block::new(vec![0], matrix(&[2], &[vec![0.5, 0.5], vec![0.5, 0.5]]));
    let plan = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![flat]).unwrap();
    assert!(matches!(TableEstimator::new(&plan, &[0]), Err(EstimateError::NotIdentifiable(_))));
    let none = TableEstimator::new(&plan, &[]).err();
    assert_eq!(none, None, "the empty table is the total");
}

/// Repeated surveys with the actual sampler: the mean of the estimates is the true table, and their spread is the
/// standard error, for both targets, at alpha 1e-6.
#[test]
fn simulated_surveys() {
    for (name, plan, tables) in plans() {
        let all = truths(&plan);
        let (surveys, people) = (400, 300);
        let estimators: Vec<TableEstimator<'_>> =
            tables.iter().map(|table| TableEstimator::new(&plan, table).unwrap()).collect();
        let randomizer = Randomizer::new(&plan);
        // The same people each time: the target is their table.
        let records: Vec<&Vec<u16>> = (0..people).map(|i| &all[i * i % all.len()]).collect();
        let columns: Vec<Vec<u16>> =
            (0..plan.schema().attributes().len()).map(|a| records.iter().map(|r| r[a]).collect()).collect();
        let source = Source::from_seed(7);
        let mut sums: Vec<Vec<[f64; 3]>> = vec![Vec::new(); tables.len()];
        for survey in 0..surveys {
            let answers = randomizer.batch(&columns, &mut source.stream(survey)).unwrap();
            let codes = answer_codes(&plan, &answers);
            for (estimator, sums) in estimators.iter().zip(&mut sums) {
                let mut tally = TableCounts::new(estimator.layout().clone());
                tally.add(&plan, &codes, Rows::Single, |_| true);
                let estimate = estimator.estimate(&tally, Target::Table).unwrap();
                sums.resize(estimate.shares.len(), [0.0; 3]);
                for ((sum, share), se) in sums.iter_mut().zip(&estimate.shares).zip(&estimate.standard_errors) {
                    sum[0] += share;
                    sum[1] += share * share;
                    sum[2] += se * se;
                }
            }
        }
        let n = surveys as f64;
        let cells: usize = sums.iter().map(Vec::len).sum();
        let z = Normal::standard().inverse_cdf(1.0 - 1e-6 / 4.0 / cells as f64);
        for (table, sums) in tables.iter().zip(&sums) {
            let mut truth = vec![0.0; sums.len()];
            records.iter().for_each(|record| truth[cell(&plan, table, record)] += 1.0 / people as f64);
            for (found, (sum, truth)) in sums.iter().zip(&truth).enumerate() {
                let (mean, variance) = (sum[0] / n, sum[1] / n - (sum[0] / n).powi(2));
                let predicted = sum[2] / n;
                assert!(
                    (mean - truth).abs() <= z * (predicted / n).sqrt() + 1e-12,
                    "{name} {table:?} {found}: {mean} {truth}"
                );
                // The variance of a sample variance, for nearly normal estimates, with room for a kurtosis of up to
                // 5 (few people and surveys).
                let room = z * predicted * (4.0 / n).sqrt();
                assert!(
                    (variance - predicted).abs() <= room + 1e-12,
                    "{name} {table:?} {found}: {variance} {predicted}"
                );
            }
        }
    }
}
