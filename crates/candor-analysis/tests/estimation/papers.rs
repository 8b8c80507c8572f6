//! Tests of numbers and formulas of the papers: Huang and Du 2008, Nayak and Zhai 2019.

use std::collections::BTreeMap;

use candor_analysis::estimate::{TableEstimator, Target};
use candor_analysis::tally::{ChannelCounts, Codes, Rows, TableCounts};
use candor_base::channel::{Axis, Channel, Pattern, PatternSet};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_bulk::{AnswerColumn, Randomizer};

use super::every_plan::*;

/// Golden numbers A and B of Huang and Du 2008: the mean squared errors of the inverse estimator.
#[test]
fn mean_squared_errors_of_paper_001() {
    let golden_a = [vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
    let warner: Vec<Vec<f64>> =
        (0..4).map(|x| (0..4).map(|z| if x == z { 0.6 } else { 0.4 / 3.0 }).collect()).collect();
    let by_pattern = Pattern::k_ary(vec![Axis::single(4)], (0.6f64 / (0.4 / 3.0)).ln()).unwrap();
    let cases: [(Channel, &[f64], &[f64]); 3] = [
        (
            matrix(&[3], &golden_a),
            &[0.5, 0.3, 0.2],
            &[9.162_049_861_495_85e-4, 1.819_695_290_858_726_7e-3, 1.020_387_811_634_349e-3],
        ),
        (matrix(&[4], &warner), &[0.1, 0.2, 0.3, 0.4], &[6.777_551e-4, 8.048_98e-4, 9.120_408e-4, 9.991_837e-4]),
        (by_pattern.into(), &[0.1, 0.2, 0.3, 0.4], &[6.777_551e-4, 8.048_98e-4, 9.120_408e-4, 9.991_837e-4]),
    ];
    for (channel, population, expected) in cases {
        let plan =
            Plan::new(Schema::with_sizes(&[population.len()]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
        let estimator = TableEstimator::new(&plan, &[0]).unwrap();
        let by_truth: Vec<Vec<Possible>> = truths(&plan).iter().map(|truth| possible(&plan, truth)).collect();
        let everybody: Vec<(&Possible, f64)> = by_truth
            .iter()
            .zip(population)
            .flat_map(|(responses, share)| responses.iter().map(move |r| (r, 1000.0 * share * r.probability)))
            .collect();
        let estimate = estimator.estimate(&tally(&plan, &estimator, &everybody), Target::Population).unwrap();
        for ((se, share), (mse, truth)) in
            estimate.standard_errors.iter().zip(&estimate.shares).zip(expected.iter().zip(population))
        {
            assert!((share - truth).abs() < 1e-9);
            assert!((se * se - mse).abs() < 1e-9 * 1.0_f64.max(mse * 1e3), "{} against {mse}", se * se);
        }
    }
}

/// Golden A of Huang and Du 2008 for the iterative method, with limits inside and outside of the simplex.
#[test]
fn iterations_of_paper_001() {
    let golden = [vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
    let block = Block::new(vec![0], matrix(&[3], &golden));
    let plan = Plan::new(Schema::with_sizes(&[3]).unwrap(), vec![block]).unwrap();
    let estimator = TableEstimator::new(&plan, &[0]).unwrap();
    let from = |observed: [f64; 3]| {
        let counts = observed.map(|share| share * 1000.0).to_vec();
        let group = ChannelCounts { total: 1000.0, squares: 1000.0, counts, square_counts: vec![] };
        let tally = TableCounts::from_groups(&plan, estimator.layout().clone(), BTreeMap::from([(vec![], group)]));
        estimator.iterate(&tally, 1e-12, 100_000).unwrap()
    };
    let close = |found: &[f64], expected: &[f64], tolerance: f64| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < tolerance), "{found:?} {expected:?}");
    };
    let inside = from([0.47, 0.38, 0.15]);
    assert!(inside.converged);
    close(&inside.shares, &[0.542_105_263, 0.447_368_421, 0.010_526_316], 1e-8);
    let outside = from([0.75, 0.2, 0.05]);
    close(&outside.shares, &[1.0, 0.0, 0.0], 1e-6);
}

/// Eqs. 4.2 to 4.4 of Nayak and Zhai 2019 and the covariance with the `1/n` of docs/project/errata.md, by
/// enumeration of all sets. The covariance is that of one answer's contribution, for any true category. Its trace is
/// the sum of the added variance and the sampling variance.
#[test]
fn covariance_of_paper_002_by_enumeration() {
    let diverse = |k: usize, l: usize| pattern(&[Axis::set(k, l)], &[(PatternSet::no_miss(), 1)]);
    let lottery = vec![(2, diverse(5, 2)), (1, k_ary(&[Axis::set(5, 3)], 1.0))];
    for (name, k, l, block) in [
        ("l-diversity", 7, Some(3), Block::new(vec![0], diverse(7, 3))),
        ("two of three", 3, Some(2), Block::new(vec![0], diverse(3, 2))),
        ("minimax", 6, None, Block::new(vec![0], k_ary(&[Axis::set(6, 2)], 1.5))),
        ("k-ary", 4, None, Block::new(vec![0], k_ary(&[Axis::single(4)], 1.0))),
        ("two categories", 2, None, Block::new(vec![0], k_ary(&[Axis::single(2)], 1.0))),
        ("lottery", 5, None, Block::lottery(vec![0], lottery)),
    ] {
        let plan = Plan::new(Schema::with_sizes(&[k]).unwrap(), vec![block]).unwrap();
        let raw: Vec<f64> = (0..k).map(|i| 1.0 + (i * 7 % 5) as f64).collect();
        let sum: f64 = raw.iter().sum();
        let shares: Vec<f64> = raw.iter().map(|w| w / sum).collect();
        let estimator = TableEstimator::new(&plan, &[0]).unwrap();
        let by_truth: Vec<Vec<Possible>> = (0..k).map(|truth| possible(&plan, &[truth as u16])).collect();
        let responses = by_truth.iter().zip(&shares);
        let everybody: Vec<(&Possible, f64)> = responses
            .flat_map(|(rs, share)| rs.iter().map(move |r| (r, share * r.probability)))
            .map(|(r, p)| (r, p * tag_probability(&plan, &r.tags)))
            .collect();
        let counted = tally(&plan, &estimator, &everybody);
        // The contribution of one response to the estimate, which is linear in the responses given the numbers
        // of channel IDs.
        let scale: f64 = counted.total();
        let mut brute = vec![vec![0.0; k]; k];
        let mut by_tag: std::collections::BTreeMap<Vec<usize>, (f64, Vec<f64>)> = Default::default();
        let contribution = |r: &Possible| -> Vec<f64> {
            let z = |i: usize| f64::from(u8::from(r.columns[0].contains(&(i as u16))));
            // Weights n lambda / sum n lambda^2 of the channels, with lambda of the response's own channel.
            let lambda = |tag: usize| {
                let Channel::Pattern(pattern) = &plan.blocks()[0].channels()[tag].1 else { unreachable!() };
                pattern.marginal(&[0]).eigenvalues()[1]
            };
            let tags: Vec<usize> = (0..plan.blocks()[0].channels().len()).collect();
            let p = |tag: usize| tag_probability(&plan, &if tags.len() > 1 { vec![tag] } else { vec![] });
            let total: f64 = tags.iter().map(|&tag| p(tag) * lambda(tag).powi(2)).sum();
            let tag = r.tags.first().copied().unwrap_or(0);
            (0..k).map(|i| lambda(tag) * z(i) / total).collect()
        };
        for (r, p) in &everybody {
            let (mass, mean) = by_tag.entry(r.tags.clone()).or_insert((0.0, vec![0.0; k]));
            *mass += p;
            mean.iter_mut().zip(contribution(r)).for_each(|(m, c)| *m += p * c);
        }
        by_tag.values_mut().for_each(|(mass, mean)| mean.iter_mut().for_each(|m| *m /= *mass));
        for (r, p) in &everybody {
            let (c, mean) = (contribution(r), &by_tag[&r.tags].1);
            for i in 0..k {
                for j in 0..k {
                    brute[i][j] += p * (c[i] - mean[i]) * (c[j] - mean[j]) / scale;
                }
            }
        }
        let found = estimator.one_way_covariance(&counted, &shares).unwrap();
        for (i, (a, b)) in found.iter().flatten().zip(brute.iter().flatten()).enumerate() {
            assert!((a - b).abs() < 1e-9, "{name} {i}: {a} {b}");
        }
        let estimate = estimator.estimate(&counted, Target::Population).unwrap();
        for (i, se) in estimate.standard_errors.iter().enumerate() {
            assert!((found[i][i].sqrt() - se).abs() < 1e-9, "{name}: {} {se}", found[i][i].sqrt());
        }
        if let Some(l) = l {
            // Eq. 4.4, for one respondent.
            let trace: f64 = (0..k).map(|i| found[i][i] * counted.total()).sum();
            let sampling: f64 = shares.iter().map(|p| p * (1.0 - p)).sum();
            let added = (k as f64 - 1.0) * (l as f64 - 1.0) / (k - l) as f64;
            assert!((trace - added - sampling).abs() < 1e-9, "{name}: {trace}");
        }
    }
}

/// Skewed populations under l-diversity (k = 7, l = 3): the moment estimator has the variance of eq. 4.4, and
/// maximum likelihood a smaller one, by about as much as the notes say.
#[test]
fn the_likelihood_of_sets_is_better_for_skewed_truths() {
    let (k, l, people, surveys) = (7usize, 3, 1000, 300);
    let shares = [0.55, 0.2, 0.1, 0.06, 0.04, 0.03, 0.02];
    let channel = pattern(&[Axis::set(k, l)], &[(PatternSet::no_miss(), 1)]);
    let plan = Plan::new(Schema::with_sizes(&[k]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
    let estimator = TableEstimator::new(&plan, &[0]).unwrap();
    let randomizer = Randomizer::new(&plan);
    let source = Source::from_seed(11);
    let mut state = 5u64;
    let (mut moment, mut iterated) = (0.0, 0.0);
    for survey in 0..surveys {
        let truths: Vec<u16> = (0..people)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let mut u = (state >> 11) as f64 / (1u64 << 53) as f64;
                shares
                    .iter()
                    .position(|p| {
                        u -= p;
                        u < 0.0
                    })
                    .unwrap_or(k - 1) as u16
            })
            .collect();
        let answers = randomizer.batch(&[truths], &mut source.stream(survey)).unwrap();
        let AnswerColumn::Set(sets) = &answers.blocks[0].columns[0] else { unreachable!() };
        let mut tally = TableCounts::new(estimator.layout().clone()).keeping_sets(&plan);
        tally.add(&plan, &[Codes::Set(sets)], Rows::Single, |_| true);
        let error =
            |found: &[f64]| found.iter().zip(&shares).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() * people as f64;
        moment += error(&estimator.estimate(&tally, Target::Population).unwrap().shares) / surveys as f64;
        iterated += error(&estimator.iterate(&tally, 1e-9, 100_000).unwrap().shares) / surveys as f64;
    }
    let sampling: f64 = shares.iter().map(|p| p * (1.0 - p)).sum();
    let expected = 6.0 * 2.0 / 4.0 + sampling;
    // The sum of seven squares has a relative spread of about 0.7 in one survey, or 0.04 in the mean of 300; the
    // room is six times that.
    assert!((moment / expected - 1.0).abs() < 0.25, "{moment} {expected}");
    assert!(iterated < 0.8 * moment, "{iterated} against {moment}");
}
