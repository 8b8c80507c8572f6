//! What a reader of one attribute's own answer sees: its channel, made small by its structure.
//!
//! The answer about one attribute of a pattern channel is again a pattern channel: a set of `q` of `a`
//! categories that holds the truth with probability `p`, all sets with it equally likely and all sets without
//! it. However many sets there are, every sum over them below takes `a` steps.

use crate::channel::{Channel, Matrix};
use crate::plan::{Block, Plan};

/// How an answer depends on the truth.
pub(super) enum View {
    /// A set of `size` of the categories, with the truth in it with probability `hit`.
    Set { categories: usize, size: usize, hit: f64 },
    /// `columns[truth][output]`.
    Table(Vec<Vec<f64>>),
}

/// The answers about one variable: what the public lottery may draw, with its probability.
pub(super) struct Variable {
    /// The attribute's name, or those of a cross-classification.
    pub(super) name: String,
    /// What is believed before the answer is seen.
    pub(super) prior: Vec<f64>,
    pub(super) views: Vec<(f64, View)>,
}

/// Each randomized attribute with its prior, in the order of the blocks, and each cross-classification that a matrix is
/// over. `priors` are by position in the schema.
pub(super) fn variables(plan: &Plan, priors: &[Vec<f64>]) -> Vec<Variable> {
    plan.blocks().iter().flat_map(|block| of_block(plan, block, priors)).collect()
}

fn of_block(plan: &Plan, block: &Block, priors: &[Vec<f64>]) -> Vec<Variable> {
    let total: f64 = block.channels().iter().map(|&(weight, _)| weight as f64).sum();
    let views = |view: &dyn Fn(&Channel) -> View| {
        block.channels().iter().map(|(weight, channel)| (*weight as f64 / total, view(channel))).collect()
    };
    let name = |place: usize| plan.schema().name(block.attributes()[place]);
    let prior = |place: usize| &priors[block.attributes()[place]];
    let places = 0..block.attributes().len();
    let mut variables: Vec<Variable> = places
        .clone()
        .map(|place| Variable {
            name: name(place).to_owned(),
            prior: prior(place).clone(),
            views: views(&|channel| match channel {
                Channel::Pattern(pattern) => {
                    let axis = pattern.axes()[place];
                    View::Set { categories: axis.categories, size: axis.answer, hit: pattern.keep_probability(place) }
                }
                Channel::Matrix(matrix) => View::Table(seen_of_one(matrix, place, &prior)),
            }),
        })
        .collect();
    if let (Channel::Matrix(_), true) = (&block.channels()[0].1, block.attributes().len() > 1) {
        let joint = places.clone().fold(vec![1.0], |joint: Vec<f64>, place| {
            joint.iter().flat_map(|p| prior(place).iter().map(move |q| p * q)).collect()
        });
        variables.push(Variable {
            name: places.map(name).collect::<Vec<_>>().join(&crate::schema::CROSS.to_string()),
            prior: joint,
            views: views(&|channel| match channel {
                Channel::Matrix(matrix) => View::Table(probabilities(matrix)),
                Channel::Pattern(_) => unreachable!("a lottery is all matrices or all patterns"),
            }),
        });
    }
    variables
}

fn probabilities(matrix: &Matrix) -> Vec<Vec<f64>> {
    let column = |input: usize| (0..matrix.labels().len()).map(|output| matrix.probability(output, input)).collect();
    (0..matrix.columns().len()).map(column).collect()
}

/// The columns of one attribute of a cross-classification, the others being as their priors say.
fn seen_of_one<'a>(matrix: &Matrix, place: usize, prior: &dyn Fn(usize) -> &'a Vec<f64>) -> Vec<Vec<f64>> {
    let shape = matrix.shape();
    let mut columns = vec![vec![0.0; matrix.labels().len()]; shape.sizes()[place]];
    for input in 0..matrix.columns().len() {
        let others = (0..shape.sizes().len()).rev().filter(|&at| at != place);
        let weight: f64 = others.map(|at| prior(at)[shape.code(input, at)]).product();
        for (output, sum) in columns[shape.code(input, place)].iter_mut().enumerate() {
            *sum += weight * matrix.probability(output, input);
        }
    }
    columns
}

/// The larger likelihood, of the categories that an answer speaks for, is `1`; how many they are and the
/// likelihood of the others beside it.
pub(super) struct Favoured {
    pub(super) count: usize,
    pub(super) others: f64,
}

impl View {
    /// Of an answer with a set: the categories in it, or those outside if these are likelier.
    pub(super) fn favoured(categories: usize, size: usize, hit: f64) -> Favoured {
        let (inside, outside) = (hit / size as f64, (1.0 - hit) / (categories - size) as f64);
        match () {
            () if size == categories => Favoured { count: categories, others: 1.0 },
            () if inside >= outside => Favoured { count: size, others: outside / inside },
            () => Favoured { count: categories - size, others: inside / outside },
        }
    }

    /// The probability of guessing the truth from the answer, for somebody with this prior: the sum over all
    /// answers `z` of `max_j P(z | j) prior_j` (Huang and Du 2008, eq. 8, is one less this).
    ///
    /// Of sets, what counts is the most probable category inside and the most probable outside. With
    /// categories from the most probable on: either the first is inside, and the best outside is the first that is
    /// left out, or the other way round.
    pub(super) fn guess(&self, prior: &[f64]) -> f64 {
        match self {
            View::Table(columns) => {
                let outputs = columns.first().map_or(0, Vec::len);
                let best = |z: usize| columns.iter().zip(prior).map(|(column, p)| column[z] * p).fold(0.0, f64::max);
                (0..outputs).map(best).sum()
            }
            View::Set { categories, size, hit } => guess_of_set(*categories, *size, *hit, prior),
        }
    }

    /// The largest posterior of any category under any answer that can occur (Huang and Du 2008, eq. 9).
    pub(super) fn worst_posterior(&self, prior: &[f64]) -> f64 {
        match self {
            View::Table(columns) => {
                let outputs = columns.first().map_or(0, Vec::len);
                let worst = |z: usize| {
                    let joint = || columns.iter().zip(prior).map(|(column, p)| column[z] * p);
                    let (sum, most) = (joint().sum::<f64>(), joint().fold(0.0, f64::max));
                    if sum > 0.0 { most / sum } else { 0.0 }
                };
                (0..outputs).map(worst).fold(0.0, f64::max)
            }
            View::Set { categories, size, hit } => {
                let Favoured { count, others } = View::favoured(*categories, *size, *hit);
                let least = LeastOthers::new(prior, count);
                let posterior = |(j, &p): (usize, &f64)| {
                    let beside = least.beside(j, p);
                    let sum = p + beside + others * (1.0 - p - beside).max(0.0);
                    if p > 0.0 { (p / sum).min(1.0) } else { 0.0 }
                };
                prior.iter().enumerate().map(posterior).fold(0.0, f64::max)
            }
        }
    }

    /// The largest distance `sum_z |P(z | x) - P(z | y)|` between two truths; Nayak and Zhai 2019, theorem 2.1. Of sets it is
    /// `2 |a p - q|/(a - 1)` for any two.
    pub(super) fn largest_distance(&self) -> f64 {
        match self {
            View::Set { categories, size, hit } => {
                let (a, q) = (*categories as f64, *size as f64);
                2.0 * (a * hit - q).abs() / (a - 1.0)
            }
            View::Table(columns) => {
                let distance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum::<f64>();
                let from =
                    |(i, x): (usize, &Vec<f64>)| columns[i + 1..].iter().map(|y| distance(x, y)).fold(0.0, f64::max);
                columns.iter().enumerate().map(from).fold(0.0, f64::max)
            }
        }
    }
}

fn guess_of_set(categories: usize, size: usize, hit: f64, prior: &[f64]) -> f64 {
    let (a, q) = (categories as f64, size as f64);
    let mut sorted = prior.to_vec();
    sorted.sort_by(|x, y| y.total_cmp(x));
    if size == categories {
        return sorted[0];
    }
    let mut total = 0.0;
    // The first inside; the m-th (from 0) the first outside, with what is inside until then.
    let mut until = 1.0;
    for (m, &p) in sorted.iter().enumerate().take(size + 1).skip(1) {
        let (left, room) = (a - m as f64, q - m as f64);
        let here = until * (1.0 - room / left);
        total += here * (hit * sorted[0]).max((1.0 - hit) * q / (a - q) * p);
        until *= room / left;
    }
    // The first outside; the m-th the first inside.
    let mut until = 1.0;
    for (m, &p) in sorted.iter().enumerate().take(categories - size + 1).skip(1) {
        let chance = q / (a - m as f64);
        let here = until * chance;
        total += here * ((1.0 - hit) * sorted[0]).max(hit * (a - q) / q * p);
        until *= 1.0 - chance;
    }
    total
}

/// For any category, the sum of the smallest `count - 1` others.
pub(super) struct LeastOthers {
    /// Rank of each category, from the smallest.
    ranks: Vec<usize>,
    count: usize,
    /// The sum of the smallest `count - 1`, and of the smallest `count`.
    sums: [f64; 2],
}

impl LeastOthers {
    pub(super) fn new(prior: &[f64], count: usize) -> LeastOthers {
        let mut order: Vec<usize> = (0..prior.len()).collect();
        order.sort_by(|&i, &j| prior[i].total_cmp(&prior[j]));
        let mut ranks = vec![0; prior.len()];
        order.iter().enumerate().for_each(|(rank, &category)| ranks[category] = rank);
        let sum = |n: usize| order[..n].iter().map(|&category| prior[category]).sum::<f64>();
        LeastOthers { ranks, count, sums: [sum(count - 1), sum(count)] }
    }

    /// The sum beside category `j` of probability `p`.
    pub(super) fn beside(&self, j: usize, p: f64) -> f64 {
        if self.contains_rank(j) { (self.sums[1] - p).max(0.0) } else { self.sums[0] }
    }

    fn contains_rank(&self, j: usize) -> bool {
        self.ranks[j] < self.count - 1
    }

    /// The categories beside `j`.
    pub(super) fn members(&self, j: usize) -> Vec<usize> {
        let until = if self.contains_rank(j) { self.count } else { self.count - 1 };
        (0..self.ranks.len()).filter(|&i| i != j && self.ranks[i] < until).collect()
    }
}
