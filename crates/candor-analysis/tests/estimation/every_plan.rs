//! Plans of every kind, and all possible responses to them with their probabilities, by definition.

use candor_analysis::estimate::TableEstimator;
use candor_analysis::tally::{Codes, Rows, TableCounts};
use candor_base::channel::{Axis, Bitmap, Channel, Matrix, Part, Pattern, PatternSet};
use candor_base::plan::{Block, Content, Plan};
use candor_base::schema::{Attribute, Schema};
use candor_bulk::Sets;
use num_traits::ToPrimitive;

use super::definition;

/// A possible response to a plan: codes for each column, and its probability given channel IDs and true record.
pub struct Possible {
    pub columns: Vec<Vec<u16>>,
    pub tags: Vec<usize>,
    pub probability: f64,
}

/// A channel ID, the answers, and their probability given the channel.
type BlockResponse = (usize, Vec<Vec<u16>>, f64);

/// Returns all responses to a record, by definition.
pub fn possible(plan: &Plan, truth: &[u16]) -> Vec<Possible> {
    // For each block: channel ID, answers, and probability given the channel.
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
                    Channel::Strip(_) => unreachable!("tests/analysis/subset_channels.rs has these"),
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

/// Returns the probability of the channel IDs of a response.
pub fn tag_probability(plan: &Plan, tags: &[usize]) -> f64 {
    let one = |(block, &tag): (&Block, &usize)| {
        let total: f64 = block.channels().iter().map(|&(weight, _)| weight as f64).sum();
        block.channels()[tag].0 as f64 / total
    };
    plan.blocks().iter().zip(tags).map(one).product()
}

/// Counts weighted responses, each of which stands for this number of people.
pub fn tally(plan: &Plan, estimator: &TableEstimator<'_>, responses: &[(&Possible, f64)]) -> TableCounts {
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
    let mut counted = TableCounts::new(estimator.layout().clone()).keeping_sets(plan);
    counted.add(plan, &codes, Rows::Counted(&weights), |_| true);
    counted
}

pub fn k_ary(axes: &[Axis], epsilon: f64) -> Channel {
    Pattern::k_ary(axes.to_vec(), epsilon).unwrap().into()
}

pub fn pattern(axes: &[Axis], parts: &[(PatternSet, u64)]) -> Channel {
    let parts = parts.iter().map(|(set, weight)| Part { set: set.clone(), weight: *weight }).collect();
    Pattern::new(axes.to_vec(), parts).unwrap().into()
}

pub fn matrix(sizes: &[usize], columns: &[Vec<f64>]) -> Channel {
    let labels = (0..columns[0].len()).map(|output| format!("o{output}")).collect();
    Matrix::rounded(sizes.to_vec(), labels, columns).unwrap().into()
}

/// Returns plans of every kind, each with tables to estimate.
pub fn plans() -> Vec<(&'static str, Plan, Vec<Vec<usize>>)> {
    let single = |sizes: &[usize]| sizes.iter().copied().map(Axis::single).collect::<Vec<Axis>>();
    let plan = |sizes: &[usize], blocks: Vec<Block>| Plan::new(Schema::with_sizes(sizes).unwrap(), blocks).unwrap();
    let block = |attributes: &[usize], channel: Channel| Block::new(attributes.to_vec(), channel);
    let threshold = PatternSet::Threshold { weights: vec![3, 1, 2], limit: 3 };
    let bitmap = PatternSet::Bitmap(Bitmap::new(3, |p| p == 0 || p == 3 || p == 6));
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

pub fn truths(plan: &Plan) -> Vec<Vec<u16>> {
    let sizes = plan.schema().attributes().iter().map(|a| (0..a.categories().len() as u16).collect());
    definition::product(&sizes.collect::<Vec<Vec<u16>>>())
}

pub fn cell(plan: &Plan, table: &[usize], truth: &[u16]) -> usize {
    table.iter().fold(0, |cell, &a| cell * plan.schema().size(a) + usize::from(truth[a]))
}
