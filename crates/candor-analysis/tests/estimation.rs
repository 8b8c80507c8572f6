//! Estimates against the definition: exact identities over every kind of channel, then simulation.

use std::collections::BTreeMap;

use candor::channel::{Axis, Bitmap, Channel, Matrix, Part, Pattern, PatternSet};
use candor::plan::{Block, Content, Plan};
use candor::randomize::{AnswerColumn, Randomizer, Sets};
use candor::randomness::Source;
use candor::schema::{Attribute, Schema};
use candor_analysis::estimate::{EstimateError, TableEstimator, Target};
use candor_analysis::tally::{Codes, Group, Rows, TableTally, answer_codes};
use num_traits::ToPrimitive;
use proptest::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

#[path = "../../candor/tests/definition/mod.rs"]
mod definition;

/// One possible response to a whole plan: for each of its columns the codes, and its probability
/// given the tags drawn and the truth.
struct Possible {
    columns: Vec<Vec<u16>>,
    tags: Vec<usize>,
    probability: f64,
}

/// A tag, the answers, and their probability given the tag.
type BlockResponse = (usize, Vec<Vec<u16>>, f64);

/// All responses to a record, by definition.
fn possible(plan: &Plan, truth: &[u16]) -> Vec<Possible> {
    // For each block: tag, answers, probability given the tag.
    let per_block: Vec<Vec<BlockResponse>> = plan
        .blocks()
        .iter()
        .map(|block| {
            let truth: Vec<usize> = block.attributes().iter().map(|&a| truth[a].into()).collect();
            let mut responses = Vec::new();
            for (tag, (_, channel)) in block.channels().iter().enumerate() {
                match channel {
                    Channel::Pattern(pattern) => {
                        let answers = definition::answers(pattern.axes());
                        let law = definition::law(pattern, &answers, &truth);
                        for (answer, p) in answers.into_iter().zip(law) {
                            let p = p.numer().to_f64().unwrap() / p.denom().to_f64().unwrap();
                            let codes =
                                answer.into_iter().map(|set| set.into_iter().map(|c| c as u16).collect()).collect();
                            responses.push((tag, codes, p));
                        }
                    }
                    Channel::Strip(_) => unreachable!("tests/analysis/strips.rs has these"),
                    Channel::Matrix(matrix) => {
                        let input = truth.iter().zip(matrix.sizes()).fold(0, |cell, (&c, &n)| cell * n + c);
                        for output in 0..matrix.labels().len() {
                            responses.push((tag, vec![vec![output as u16]], matrix.probability(output, input)));
                        }
                    }
                }
            }
            responses
        })
        .collect();
    definition::product(&per_block)
        .into_iter()
        .map(|blocks| Possible {
            columns: plan
                .columns()
                .iter()
                .map(|column| match &column.content {
                    Content::Public { attribute } => vec![truth[*attribute]],
                    Content::Tag { block } => vec![blocks[*block].0 as u16],
                    Content::Cells { .. } => unreachable!("no strips here"),
                    Content::Answer { block, place, .. } => blocks[*block].1[*place].clone(),
                })
                .collect(),
            tags: blocks.iter().map(|(tag, ..)| *tag).collect(),
            probability: blocks.iter().map(|(.., p)| p).product(),
        })
        .collect()
}

/// The probability of the tags a response carries.
fn tag_probability(plan: &Plan, tags: &[usize]) -> f64 {
    let one = |(block, &tag): (&Block, &usize)| {
        let total: f64 = block.channels().iter().map(|&(weight, _)| weight as f64).sum();
        block.channels()[tag].0 as f64 / total
    };
    plan.blocks().iter().zip(tags).map(one).product()
}

/// Counts of weighted responses as if each stood for so many people.
fn tally(plan: &Plan, estimator: &TableEstimator<'_>, responses: &[(&Possible, f64)]) -> TableTally {
    let columns = plan.columns();
    let weights: Vec<f64> = responses.iter().map(|(_, weight)| *weight).collect();
    let sets: Vec<Sets> =
        (0..columns.len()).map(|at| responses.iter().map(|(response, _)| &response.columns[at]).collect()).collect();
    let ones: Vec<Vec<u16>> = sets.iter().map(|column| column.iter().map(|set| set[0]).collect()).collect();
    let codes: Vec<Codes<'_>> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| match column.content {
            Content::Answer { set: true, .. } => Codes::Set(&sets[at]),
            _ => Codes::One(&ones[at]),
        })
        .collect();
    let mut counted = TableTally::new(estimator.layout().clone()).keeping_sets(plan);
    counted.add(plan, &codes, Rows::Counted(&weights), |_| true);
    counted
}

fn k_ary(axes: &[Axis], epsilon: f64) -> Channel {
    Pattern::k_ary(axes.to_vec(), epsilon).unwrap().into()
}

fn pattern(axes: &[Axis], parts: &[(PatternSet, u64)]) -> Channel {
    let parts = parts.iter().map(|(set, weight)| Part { set: set.clone(), weight: *weight }).collect();
    Pattern::new(axes.to_vec(), parts).unwrap().into()
}

fn matrix(sizes: &[usize], columns: &[Vec<f64>]) -> Channel {
    let labels = (0..columns[0].len()).map(|output| format!("o{output}")).collect();
    Matrix::rounded(sizes.to_vec(), labels, columns).unwrap().into()
}

/// Plans of every kind, each with tables to estimate.
fn plans() -> Vec<(&'static str, Plan, Vec<Vec<usize>>)> {
    let single = |sizes: &[usize]| sizes.iter().copied().map(Axis::single).collect::<Vec<Axis>>();
    let plan = |sizes: &[usize], blocks: Vec<Block>| Plan::new(Schema::of_sizes(sizes).unwrap(), blocks).unwrap();
    let block = |attributes: &[usize], channel: Channel| Block::new(attributes.to_vec(), channel);
    let threshold = PatternSet::Threshold { weights: vec![3, 1, 2], limit: 3 };
    let bitmap = PatternSet::Bitmap(Bitmap::of(3, |p| p == 0 || p == 3 || p == 6));
    let square = [vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
    let wide = [vec![0.5, 0.1, 0.2, 0.2], vec![0.1, 0.5, 0.3, 0.1]];
    let crossed: Vec<Vec<f64>> = (0..6).map(|x| (0..7).map(|z| if x == z { 0.4 } else { 0.1 }).collect()).collect();
    let hits = |list: &[usize], weight| {
        pattern(&single(&[2, 3, 4]), &[(PatternSet::Hits(list.to_vec()), weight), (PatternSet::All, 3)])
    };
    let sets = [Axis::set(4, 2), Axis::single(3), Axis::set(5, 3)];
    let public = Schema::new(vec![
        Attribute::new("p", ["x", "y"].map(String::from).to_vec()).unwrap().public(),
        Attribute::new("a", ["0", "1", "2"].map(String::from).to_vec()).unwrap(),
    ])
    .unwrap();
    let all3 = vec![vec![0], vec![1], vec![2], vec![0, 1], vec![2, 0], vec![1, 2], vec![0, 1, 2], vec![2, 0, 1]];
    vec![
        ("one attribute", plan(&[4], vec![block(&[0], k_ary(&single(&[4]), 1.0))]), vec![vec![0]]),
        (
            "independent",
            plan(&[2, 3, 4], (0..3).map(|i| block(&[i], k_ary(&single(&[2 + i]), 0.7 + i as f64))).collect()),
            all3.clone(),
        ),
        ("joint", plan(&[2, 3, 4], vec![block(&[2, 0, 1], k_ary(&single(&[4, 2, 3]), 2.0))]), all3.clone()),
        (
            "general patterns",
            plan(
                &[2, 3, 4],
                vec![block(
                    &[0, 1, 2],
                    pattern(&single(&[2, 3, 4]), &[(threshold, 5), (bitmap, 3), (PatternSet::All, 2)]),
                )],
            ),
            all3.clone(),
        ),
        (
            "lottery",
            plan(
                &[2, 3, 4],
                vec![Block::lottery(
                    vec![0, 1, 2],
                    vec![(2, hits(&[0, 1, 2], 1)), (3, hits(&[0, 1], 2)), (1, hits(&[2], 3))],
                )],
            ),
            all3.clone(),
        ),
        (
            "two lotteries",
            plan(
                &[2, 3],
                vec![
                    Block::lottery(vec![0], vec![(1, k_ary(&single(&[2]), 1.0)), (2, k_ary(&single(&[2]), 2.0))]),
                    Block::lottery(vec![1], vec![(1, k_ary(&single(&[3]), 0.5)), (1, k_ary(&single(&[3]), 3.0))]),
                ],
            ),
            vec![vec![0], vec![1], vec![0, 1], vec![1, 0]],
        ),
        (
            "sets",
            plan(
                &[4, 3, 5],
                vec![block(
                    &[0, 1, 2],
                    pattern(&sets, &[(PatternSet::no_miss(), 2), (PatternSet::Hits(vec![0]), 1), (PatternSet::All, 1)]),
                )],
            ),
            all3.clone(),
        ),
        (
            "l-diversity",
            plan(&[5], vec![block(&[0], pattern(&[Axis::set(5, 2)], &[(PatternSet::no_miss(), 1)]))]),
            vec![vec![0]],
        ),
        (
            "sizes by lottery",
            plan(
                &[5],
                vec![Block::lottery(
                    vec![0],
                    vec![(1, k_ary(&[Axis::set(5, 2)], 1.0)), (1, k_ary(&single(&[5]), 2.0))],
                )],
            ),
            vec![vec![0]],
        ),
        ("square matrix", plan(&[3], vec![block(&[0], matrix(&[3], &square))]), vec![vec![0]]),
        (
            "matrices and patterns",
            plan(
                &[2, 3, 4],
                vec![
                    block(&[0], matrix(&[2], &wide)),
                    block(&[1], matrix(&[3], &square)),
                    block(&[2], k_ary(&single(&[4]), 1.0)),
                ],
            ),
            all3.clone(),
        ),
        (
            "crossed matrix",
            plan(&[2, 3], vec![block(&[0, 1], matrix(&[2, 3], &crossed))]),
            vec![vec![0], vec![1], vec![0, 1], vec![1, 0]],
        ),
        (
            "lottery of matrices",
            plan(
                &[3],
                vec![Block::lottery(
                    vec![0],
                    vec![
                        (3, matrix(&[3], &square)),
                        (1, matrix(&[3], &[vec![0.5, 0.3, 0.2], vec![0.2, 0.5, 0.3], vec![0.3, 0.2, 0.5]])),
                    ],
                )],
            ),
            vec![vec![0]],
        ),
        (
            "public",
            Plan::new(public, vec![Block::new(vec![1], k_ary(&single(&[3]), 1.0))]).unwrap(),
            vec![vec![0], vec![1], vec![0, 1], vec![1, 0]],
        ),
    ]
}

fn truths(plan: &Plan) -> Vec<Vec<u16>> {
    let sizes = plan.schema().attributes().iter().map(|a| (0..a.categories().len() as u16).collect());
    definition::product(&sizes.collect::<Vec<Vec<u16>>>())
}

fn cell(plan: &Plan, table: &[usize], truth: &[u16]) -> usize {
    table.iter().fold(0, |cell, &a| cell * plan.schema().size(a) + usize::from(truth[a]))
}

/// Unbiased: the exact law of the responses to one truth gives exactly that truth.
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

/// Standard errors, for both targets: against the variance of contributions, each response fed in
/// by itself.
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
                // Every cell, everything, and two sums of cells with coefficients.
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

/// Sum over groups of the variance of one response's contribution to each sum of shares, over the size of the group.
fn brute_variances(
    plan: &Plan,
    estimator: &TableEstimator<'_>,
    counted: &TableTally,
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
        // The contribution of a response: all of its group give it, the others nothing.
        let contribution = |r: &Possible| {
            let mut groups = counted.groups().clone();
            groups.values_mut().for_each(|other| other.counts.iter_mut().for_each(|count| *count = 0.0));
            let alone = tally(plan, estimator, &[(r, group.total)]);
            groups.insert(tags.clone(), alone.groups()[tags].clone());
            let tally = TableTally::from_groups(plan, estimator.layout().clone(), groups);
            estimator.estimate(&tally, Target::Population).unwrap().shares
        };
        let (mut mean, mut square) = (vec![0.0; sums.len()], vec![0.0; sums.len()]);
        for (responses, share) in by_truth.iter().zip(population) {
            let members: Vec<&Possible> = responses.iter().filter(|r| key(r) == *tags).collect();
            // Tags of blocks that the table does not touch, or of matrices, are part of the response.
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
        // Records fixed, tags drawn: the variance of a completely randomized design.
        let shares = estimator.estimate(counted, target).unwrap().shares;
        for (variance, sum) in variances.iter_mut().zip(sums) {
            let squares: Vec<f64> = sum.iter().map(|g| g * g).collect();
            *variance -= (apply(&squares, &shares) - apply(sum, &shares).powi(2)) / counted.total();
        }
    }
    variances
}

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
            Plan::new(Schema::of_sizes(&[population.len()]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
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

/// Golden A of Huang and Du 2008 for the iterative method: limits inside and outside the simplex.
#[test]
fn iterations_of_paper_001() {
    let golden = [vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
    let block = Block::new(vec![0], matrix(&[3], &golden));
    let plan = Plan::new(Schema::of_sizes(&[3]).unwrap(), vec![block]).unwrap();
    let estimator = TableEstimator::new(&plan, &[0]).unwrap();
    let from = |observed: [f64; 3]| {
        let counts = observed.map(|share| share * 1000.0).to_vec();
        let group = Group { total: 1000.0, squares: 1000.0, counts, square_counts: vec![] };
        let tally = TableTally::from_groups(&plan, estimator.layout().clone(), BTreeMap::from([(vec![], group)]));
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

/// Eqs. 4.2 to 4.4 of Nayak and Zhai 2019 and the covariance with the errata's `1/n`, by enumeration of all sets: the covariance is that
/// of one answer's contribution, for any truth; and its trace is the added variance and the sampling variance.
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
        let plan = Plan::new(Schema::of_sizes(&[k]).unwrap(), vec![block]).unwrap();
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
        // What one response adds to the estimate of all: the estimate is linear in the responses given the numbers of tags.
        let scale: f64 = counted.total();
        let mut brute = vec![vec![0.0; k]; k];
        let mut by_tag: std::collections::BTreeMap<Vec<usize>, (f64, Vec<f64>)> = Default::default();
        let contribution = |r: &Possible| -> Vec<f64> {
            let z = |i: usize| f64::from(u8::from(r.columns[0].contains(&(i as u16))));
            // Weights n lambda / sum n lambda^2 of the tags, from the response's own channel.
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

/// Skewed truths under l-diversity (k = 7, l = 3): the moment estimator has the variance of eq. 4.4, the likelihood
/// a smaller one, about as much as the notes say.
#[test]
fn the_likelihood_of_sets_is_better_for_skewed_truths() {
    let (k, l, people, surveys) = (7usize, 3, 1000, 300);
    let shares = [0.55, 0.2, 0.1, 0.06, 0.04, 0.03, 0.02];
    let channel = pattern(&[Axis::set(k, l)], &[(PatternSet::no_miss(), 1)]);
    let plan = Plan::new(Schema::of_sizes(&[k]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
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
        let AnswerColumn::Set(sets) = &answers[0].columns[0] else { unreachable!() };
        let mut tally = TableTally::new(estimator.layout().clone()).keeping_sets(&plan);
        tally.add(&plan, &[Codes::Set(sets)], Rows::Single, |_| true);
        let error =
            |found: &[f64]| found.iter().zip(&shares).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() * people as f64;
        moment += error(&estimator.estimate(&tally, Target::Population).unwrap().shares) / surveys as f64;
        iterated += error(&estimator.iterate(&tally, 1e-9, 100_000).unwrap().shares) / surveys as f64;
    }
    let sampling: f64 = shares.iter().map(|p| p * (1.0 - p)).sum();
    let expected = 6.0 * 2.0 / 4.0 + sampling;
    // The sum of seven squares has a relative spread of about 0.7 in one survey: 0.04 in the mean of 300, six times that is room.
    assert!((moment / expected - 1.0).abs() < 0.25, "{moment} {expected}");
    assert!(iterated < 0.8 * moment, "{iterated} against {moment}");
}

/// The iterative method returns the truth from its exact law, for every plan it applies to, and says
/// why for the others.
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
    /// A random pattern channel with ordinary answers over two to four attributes, and counts.
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
            PatternSet::Bitmap(Bitmap::of(k, |p| p == 0 || seed >> (p % 31) & 1 == 1)),
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
    /// The estimate and its standard errors are those of the inverse of the whole matrix.
    #[test]
    fn estimates_are_those_of_the_inverse_matrix((channel, counts) in channels()) {
        let sizes: Vec<usize> = channel.axes().iter().map(|axis| axis.categories).collect();
        let answers = definition::answers(channel.axes());
        let float = |p: &candor::channel::Rational| p.numer().to_f64().unwrap() / p.denom().to_f64().unwrap();
        let cells = counts.len();
        let truths = definition::product(&sizes.iter().map(|&n| (0..n).collect()).collect::<Vec<Vec<usize>>>());
        let laws: Vec<Vec<f64>> =
            truths.iter().map(|t| definition::law(&channel, &answers, t).iter().map(float).collect()).collect();
        let whole = nalgebra::DMatrix::from_fn(cells, cells, |answer, truth| laws[truth][answer]);
        let plan = Plan::new(Schema::of_sizes(&sizes).unwrap(), vec![Block::new((0..sizes.len()).collect(), channel)]).unwrap();
        let estimator = TableEstimator::new(&plan, &(0..sizes.len()).collect::<Vec<usize>>()).unwrap();
        let total: f64 = counts.iter().sum();
        let group = Group { total, squares: total, counts: counts.clone(), square_counts: vec![] };
        let tally = TableTally::from_groups(&plan, estimator.layout().clone(), BTreeMap::from([(vec![], group)]));
        // By elimination: for small matrices `try_inverse` of the whole has a closed form, which loses digits here.
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

/// Weights from the responses: nearly the same estimate, smaller errors where the truth is skewed.
#[test]
fn plug_in_weights() {
    let wide = [vec![0.6, 0.05, 0.05, 0.3], vec![0.05, 0.6, 0.05, 0.3], vec![0.05, 0.05, 0.6, 0.3]];
    let plan = Plan::new(Schema::of_sizes(&[3]).unwrap(), vec![Block::new(vec![0], matrix(&[3], &wide))]).unwrap();
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

/// No number is lost to the size of the binomials: the error of half of ten thousand categories, by its formula.
#[test]
fn half_of_ten_thousand_categories() {
    let (k, l) = (10_000, 5_000);
    let half = Pattern::new(vec![Axis::set(k, l)], vec![Part { set: PatternSet::no_miss(), weight: 1 }]).unwrap();
    let plan = Plan::new(Schema::of_sizes(&[k]).unwrap(), vec![Block::new(vec![0], half)]).unwrap();
    let predicted = TableEstimator::new(&plan, &[0]).unwrap().predict(1.0, Target::Population).unwrap();
    let variance: f64 = predicted.standard_errors.iter().map(|se| se * se).sum();
    let expected = (k - 1) as f64 * (l - 1) as f64 / (k - l) as f64 + 1.0 - 1.0 / k as f64;
    assert!((variance / expected - 1.0).abs() < 1e-6, "{variance} {expected}");
}

/// Three people who happen to give the same answer do not make a certainty.
/// A tag that nobody drew is listed with a count of zero: it changes nothing.
#[test]
fn rows_that_stand_for_nobody_change_nothing() {
    let axes = [Axis::single(2)];
    let lottery = vec![(1, k_ary(&axes, 1.0)), (1, k_ary(&axes, 2.0))];
    let plan = Plan::new(Schema::of_sizes(&[2]).unwrap(), vec![Block::lottery(vec![0], lottery)]).unwrap();
    let estimator = TableEstimator::new(&plan, &[0]).unwrap();
    let estimate = |answers: &[u16], tags: &[u16], counts: &[f64]| {
        let mut tally = TableTally::new(estimator.layout().clone());
        tally.add(&plan, &[Codes::One(answers), Codes::One(tags)], Rows::Counted(counts), |_| true);
        estimator.estimate(&tally, Target::Population).unwrap()
    };
    let without = estimate(&[0, 1], &[0, 0], &[70.0, 30.0]);
    let with = estimate(&[0, 1, 0], &[0, 0, 1], &[70.0, 30.0, 0.0]);
    assert_eq!(with, without);
    assert!(with.shares.iter().all(|share| share.is_finite()));
}

/// An answer that no truth gives has no likelihood; one that only some truths give rules the others out.
#[test]
fn impossible_answers_have_no_likelihood() {
    let labels = ["0", "1", "2"].map(String::from).to_vec();
    let channel: Channel = Matrix::new(vec![2], labels, 1, vec![vec![2, 0, 0], vec![1, 1, 0]]).unwrap().into();
    let plan = Plan::new(Schema::of_sizes(&[2]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
    let estimator = TableEstimator::new(&plan, &[0]).unwrap();
    let iterate = |answers: &[u16]| {
        let mut tally = TableTally::new(estimator.layout().clone());
        tally.add(&plan, &[Codes::One(answers)], Rows::Single, |_| true);
        estimator.iterate(&tally, 1e-12, 100_000)
    };
    assert!(matches!(iterate(&[0, 2]), Err(EstimateError::NoLikelihood(_))));
    let found = iterate(&[1, 1]).unwrap();
    assert!(found.converged && (found.shares[1] - 1.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn few_responses_are_not_certain() {
    let by_matrix = matrix(&[2], &[vec![0.6, 0.4], vec![0.4, 0.6]]);
    for channel in [k_ary(&[Axis::single(2)], 0.5), by_matrix] {
        let plan = Plan::new(Schema::of_sizes(&[2]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
        let estimator = TableEstimator::new(&plan, &[0]).unwrap();
        for people in [1.0, 3.0] {
            let group = Group { total: people, squares: people, counts: vec![people, 0.0], square_counts: vec![] };
            let tally = TableTally::from_groups(&plan, estimator.layout().clone(), BTreeMap::from([(vec![], group)]));
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
    let schema = || Schema::of_sizes(&[2, 3]).unwrap();
    let one = |epsilon| Block::new(vec![0], k_ary(&[Axis::single(2)], epsilon));
    let two = Block::new(vec![1], k_ary(&[Axis::single(3)], 1.0));
    let plan = Plan::new(schema(), vec![one(0.0), two]).unwrap();
    let erased =
        |table: &[usize]| TableEstimator::new(&plan, table).unwrap().predict(100.0, Target::Population).map(|_| ());
    assert_eq!(erased(&[0]), Err(EstimateError::NotIdentifiable(vec!["a1".to_owned()])));
    assert_eq!(erased(&[1]), Ok(()));
    assert_eq!(erased(&[1, 0]), Err(EstimateError::NotIdentifiable(vec!["a1".to_owned()])));
    // Both margins are known, how they depend on each other is not: never both answered at once.
    let hits = |hit: usize| pattern(&[Axis::single(2), Axis::single(3)], &[(PatternSet::Hits(vec![hit]), 1)]);
    let lottery = Block::lottery(vec![0, 1], vec![(1, hits(0)), (1, hits(1))]);
    let plan = Plan::new(schema(), vec![lottery]).unwrap();
    let error = TableEstimator::new(&plan, &[0, 1]).unwrap().predict(100.0, Target::Population).unwrap_err();
    assert!(error.to_string().contains("how \"a1\", \"a2\" depend on each other"), "{error}");
    assert!(TableEstimator::new(&plan, &[0]).unwrap().predict(100.0, Target::Population).is_ok());
    // A matrix without an inverse.
    let flat = Block::new(vec![0], matrix(&[2], &[vec![0.5, 0.5], vec![0.5, 0.5]]));
    let plan = Plan::new(Schema::of_sizes(&[2]).unwrap(), vec![flat]).unwrap();
    assert!(matches!(TableEstimator::new(&plan, &[0]), Err(EstimateError::NotIdentifiable(_))));
    let none = TableEstimator::new(&plan, &[]).err();
    assert_eq!(none, None, "the empty table is the total");
}

/// Repeated surveys with the real sampler: the mean of the estimates is the truth, their spread is
/// the standard error, for both targets, at alpha 1e-6.
#[test]
fn simulated_surveys() {
    for (name, plan, tables) in plans() {
        let all = truths(&plan);
        let (surveys, people) = (400, 300);
        let estimators: Vec<TableEstimator<'_>> =
            tables.iter().map(|table| TableEstimator::new(&plan, table).unwrap()).collect();
        let randomizer = Randomizer::new(&plan);
        // The same people every time: the target is their table.
        let records: Vec<&Vec<u16>> = (0..people).map(|i| &all[i * i % all.len()]).collect();
        let columns: Vec<Vec<u16>> =
            (0..plan.schema().attributes().len()).map(|a| records.iter().map(|r| r[a]).collect()).collect();
        let source = Source::from_seed(7);
        let mut sums: Vec<Vec<[f64; 3]>> = vec![Vec::new(); tables.len()];
        for survey in 0..surveys {
            let answers = randomizer.batch(&columns, &mut source.stream(survey)).unwrap();
            let codes = answer_codes(&plan, &answers, &columns);
            for (estimator, sums) in estimators.iter().zip(&mut sums) {
                let mut tally = TableTally::new(estimator.layout().clone());
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
                // The variance of a sample variance, for nearly normal estimates, with room for a
                // kurtosis of up to 5 (few people, few surveys).
                let room = z * predicted * (4.0 / n).sqrt();
                assert!(
                    (variance - predicted).abs() <= room + 1e-12,
                    "{name} {table:?} {found}: {variance} {predicted}"
                );
            }
        }
    }
}
