//! Views: what an adversary sees of one attribute, reduced to a small channel.
//!
//! The answer about one attribute of a pattern channel is again a pattern channel. It is a set of `q` of `a` categories
//! that contains the true category with probability `p`. All sets that contain it are equally likely, and so are all
//! that do not. For any number of sets, every sum over them takes only `a` steps.

use std::collections::BTreeMap;

use candor_base::channel::{Axis, Pattern, Strip};

use crate::figures::ROUNDING;

/// The dependence of an answer on the true category.
pub(crate) enum View {
    /// A set of `size` categories, which contains the true category with probability `hit`.
    Set { categories: usize, size: usize, hit: f64 },
    /// The transition matrix, as `columns[category][output]`.
    Table(Vec<Vec<f64>>),
    /// An unlisted channel of which only bounds are known: no likelihood is more than `e^epsilon` times another, and
    /// the guess accuracy for a uniform prior is at most `guess`.
    Bounded { epsilon: f64, guess: Option<f64> },
}

/// Returns the views of a strip for the attribute at a place of the block, with their probabilities.
///
/// With no prior knowledge of the other attributes, only the number of the answer's cells in each category counts. If
/// there are at most two such numbers (as with at most two attributes), the answer is a set: the categories with more
/// cells.
///
/// An adversary who *knows* the others sees the line of the answer through them. That is a random set of one of two
/// sizes, and sets that contain the true category are more likely. More knowledge reveals more, so this view bounds the
/// information for any prior on the others.
pub(crate) fn of_strip(strip: &Strip, place: usize, categories: usize, known: bool) -> Vec<(f64, View)> {
    let set = |size: usize, hit: f64| match size {
        0 => View::Set { categories, size: categories, hit: 1.0 },
        size => View::Set { categories, size, hit: if size == categories { 1.0 } else { hit } },
    };
    let Some(axis) = strip.axis_of(place) else { return vec![(1.0, set(0, 1.0))] };
    let (a, [with, without]) = (categories as f64, strip.relative_likelihoods());
    // Relative likelihood if this fraction of a set of cells is in the answer and one of the cells is the true one.
    let relative = |inside: f64| without + (with - without) * inside;
    if let Some((&most, &size)) =
        levels(strip.margin(&[axis])).last_key_value().filter(|_| !known && tells_set(strip, place))
    {
        let cells = strip.table().cells() as f64 / a;
        return vec![(1.0, set(size, size as f64 / a * relative(f64::from(most) / cells)))];
    }
    let of_size = |(size, count): (u32, usize)| {
        let inside = f64::from(size) / a;
        let chance = count as f64 * a / strip.table().cells() as f64 * relative(inside);
        (chance, set(size as usize, with * inside / relative(inside)))
    };
    levels(strip.fiber_sizes(axis)).into_iter().map(of_size).collect()
}

/// Returns whether the categories of the attribute have at most two different numbers of cells in an answer.
pub(crate) fn tells_set(strip: &Strip, place: usize) -> bool {
    strip.axis_of(place).is_none_or(|axis| levels(strip.margin(&[axis])).len() <= 2)
}

/// Returns the number of occurrences of each value.
fn levels(numbers: Vec<u32>) -> BTreeMap<u32, usize> {
    let mut levels = BTreeMap::new();
    numbers.into_iter().for_each(|number| *levels.entry(number).or_insert(0) += 1);
    levels
}

/// The categories that an answer favors: their number, and the likelihood of the others relative to theirs.
pub(crate) struct Favoured {
    pub(crate) count: usize,
    pub(crate) others: f64,
}

impl View {
    /// Returns the view of one attribute of a pattern channel.
    pub(crate) fn of_pattern(pattern: &Pattern, place: usize) -> View {
        let Axis { categories, answer } = pattern.axes()[place];
        View::Set { categories, size: answer, hit: pattern.keep_probability(place) }
    }

    /// Returns the categories that a set favors: its own, or those outside it if they are more likely.
    pub(crate) fn favoured(categories: usize, size: usize, hit: f64) -> Favoured {
        let (inside, outside) = (hit / size as f64, (1.0 - hit) / (categories - size) as f64);
        match () {
            () if size == categories => Favoured { count: categories, others: 1.0 },
            () if inside >= outside => Favoured { count: size, others: outside / inside },
            () => Favoured { count: categories - size, others: inside / outside },
        }
    }

    /// Returns the guess accuracy under this prior: the sum over all answers `z` of `max_j P(z | j) prior_j`.
    ///
    /// It is one minus eq. 8 of Huang and Du 2008. For sets, only the most probable category inside and the most
    /// probable one outside count. With categories in decreasing order of probability, either the first is inside and
    /// the best outside is the first one left out, or vice versa.
    pub(crate) fn guess(&self, prior: &[f64]) -> f64 {
        match self {
            View::Table(columns) => {
                let outputs = columns.first().map_or(0, Vec::len);
                let best = |z: usize| columns.iter().zip(prior).map(|(column, p)| column[z] * p).fold(0.0, f64::max);
                (0..outputs).map(best).sum()
            }
            View::Set { categories, size, hit } => guess_of_set(*categories, *size, *hit, prior),
            View::Bounded { guess, .. } => {
                let even = prior.iter().all(|p| (p * prior.len() as f64 - 1.0).abs() < ROUNDING);
                guess.filter(|_| even).unwrap_or(1.0).min(self.worst_posterior(prior))
            }
        }
    }

    /// Returns the largest posterior of any category given any answer that can occur (Huang and Du 2008, eq. 9).
    pub(crate) fn worst_posterior(&self, prior: &[f64]) -> f64 {
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
            View::Bounded { epsilon, .. } => {
                let most = prior.iter().copied().fold(0.0, f64::max);
                most / (most + (1.0 - most) * (-epsilon).exp())
            }
        }
    }

    /// Returns the largest distance `sum_z |P(z | x) - P(z | y)|` between two categories (Nayak and Zhai 2019, theorem
    /// 2.1).
    ///
    /// For sets it is `2 |a p - q|/(a - 1)` for any two categories.
    pub(crate) fn largest_distance(&self) -> f64 {
        match self {
            View::Set { categories, size, hit } => {
                let (a, q) = (*categories as f64, *size as f64);
                2.0 * (a * hit - q).abs() / (a - 1.0)
            }
            View::Bounded { epsilon, .. } => 2.0 * (epsilon / 2.0).tanh(),
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
    // The first category is inside; the m-th (from 0) is the first outside, and all before it are inside.
    let mut until = 1.0;
    for (m, &p) in sorted.iter().enumerate().take(size + 1).skip(1) {
        let (left, room) = (a - m as f64, q - m as f64);
        let here = until * (1.0 - room / left);
        total += here * (hit * sorted[0]).max((1.0 - hit) * q / (a - q) * p);
        until *= room / left;
    }
    // The first category is outside; the m-th is the first inside.
    let mut until = 1.0;
    for (m, &p) in sorted.iter().enumerate().take(categories - size + 1).skip(1) {
        let chance = q / (a - m as f64);
        let here = until * chance;
        total += here * ((1.0 - hit) * sorted[0]).max(hit * (a - q) / q * p);
        until *= 1.0 - chance;
    }
    total
}

/// For any category, the sum of the smallest `count - 1` probabilities of other categories.
pub(crate) struct LeastOthers {
    /// Rank of each category, from the smallest.
    ranks: Vec<usize>,
    count: usize,
    /// The sum of the smallest `count - 1`, and of the smallest `count`.
    sums: [f64; 2],
}

impl LeastOthers {
    pub(crate) fn new(prior: &[f64], count: usize) -> LeastOthers {
        let mut order: Vec<usize> = (0..prior.len()).collect();
        order.sort_by(|&i, &j| prior[i].total_cmp(&prior[j]));
        let mut ranks = vec![0; prior.len()];
        order.iter().enumerate().for_each(|(rank, &category)| ranks[category] = rank);
        let sum = |n: usize| order[..n].iter().map(|&category| prior[category]).sum::<f64>();
        LeastOthers { ranks, count, sums: [sum(count - 1), sum(count)] }
    }

    /// Returns the sum of the smallest others for category `j` with probability `p`.
    pub(crate) fn beside(&self, j: usize, p: f64) -> f64 {
        if self.contains_rank(j) { (self.sums[1] - p).max(0.0) } else { self.sums[0] }
    }

    fn contains_rank(&self, j: usize) -> bool {
        self.ranks[j] < self.count - 1
    }

    /// Returns the categories of the smallest others for category `j`.
    pub(crate) fn members(&self, j: usize) -> Vec<usize> {
        let until = if self.contains_rank(j) { self.count } else { self.count - 1 };
        (0..self.ranks.len()).filter(|&i| i != j && self.ranks[i] < until).collect()
    }
}
