//! Enumerates everything that may be sent under a small plan: the oracle for statements to respondents.

use std::collections::BTreeSet;

use candor_base::channel::{Channel, Matrix, Pattern, Strip};
use candor_base::plan::{Block, Plan};
use candor_base::shape::Shape;

/// What a block may send, including its channel ID, with its likelihood under each combination of true categories.
pub struct Sent {
    pub likelihoods: Vec<f64>,
}

/// Maximum number of answers times records; more take too long.
const MAX: f64 = 2e6;

/// Returns everything that a block may send; `None` if there is too much.
pub fn all_sent(plan: &Plan, block: &Block) -> Option<Vec<Sent>> {
    let shape = Shape::new(block.attributes().iter().map(|&a| plan.schema().size(a)).collect());
    let answers: f64 = block.channels().iter().map(|(_, channel)| answers(channel)).sum();
    if answers * shape.cells() as f64 > MAX {
        return None;
    }
    let of_way = |(share, channel): (f64, &Channel)| -> Vec<Sent> {
        let columns = match channel {
            Channel::Pattern(pattern) => of_pattern(pattern, &shape),
            Channel::Matrix(matrix) => of_matrix(matrix),
            Channel::Strip(strip) => of_strip(strip, &shape),
        };
        let with_share = |column: Vec<f64>| column.into_iter().map(|p| share * p).collect();
        columns.into_iter().map(|column| Sent { likelihoods: with_share(column) }).collect()
    };
    Some(block.shares().flat_map(of_way).collect())
}

fn factorial(n: usize) -> f64 {
    (1..=n).map(|i| i as f64).product()
}

fn choose(n: usize, k: usize) -> f64 {
    factorial(n) / factorial(k) / factorial(n - k)
}

fn answers(channel: &Channel) -> f64 {
    match channel {
        Channel::Pattern(pattern) => pattern.axes().iter().map(|axis| choose(axis.categories, axis.answer)).product(),
        Channel::Matrix(matrix) => matrix.labels().len() as f64,
        Channel::Strip(strip) => strip.table().sizes().iter().map(|&size| factorial(size)).product(),
    }
}

/// Returns all sets of `size` categories, as bits.
fn subsets(categories: usize, size: usize) -> Vec<u64> {
    (0..1u64 << categories).filter(|set| set.count_ones() as usize == size).collect()
}

fn of_pattern(pattern: &Pattern, shape: &Shape) -> Vec<Vec<f64>> {
    let relative = pattern.relative_likelihoods().expect("few attributes");
    let mut lists: Vec<Vec<u64>> = vec![Vec::new()];
    for axis in pattern.axes() {
        let sets = subsets(axis.categories, axis.answer);
        lists = lists.iter().flat_map(|list| sets.iter().map(move |&set| [&list[..], &[set]].concat())).collect();
    }
    let share = 1.0 / lists.len() as f64;
    let likelihood = |list: &[u64], record: usize| {
        let misses = |(i, set): (usize, &u64)| usize::from(set >> shape.code(record, i) & 1 == 0) << i;
        share * relative[list.iter().enumerate().map(misses).sum::<usize>()]
    };
    lists.iter().map(|list| (0..shape.cells()).map(|record| likelihood(list, record)).collect()).collect()
}

fn of_matrix(matrix: &Matrix) -> Vec<Vec<f64>> {
    let row = |output| (0..matrix.columns().len()).map(|input| matrix.probability(output, input)).collect();
    (0..matrix.labels().len()).map(row).collect()
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    match n {
        0 => vec![Vec::new()],
        n => permutations(n - 1)
            .iter()
            .flat_map(|shorter| (0..n).map(move |at| [&shorter[..at], &[n - 1], &shorter[at..]].concat()))
            .collect(),
    }
}

fn of_strip(strip: &Strip, shape: &Shape) -> Vec<Vec<f64>> {
    let table = strip.table();
    let mut sets: BTreeSet<BTreeSet<usize>> = [strip.members().iter().map(|&cell| cell.into()).collect()].into();
    for (axis, &size) in table.sizes().iter().enumerate() {
        let relabelled = |set: &BTreeSet<usize>, to: &[usize]| -> BTreeSet<usize> {
            let moved = |&cell: &usize| {
                let mut codes = table.codes(cell);
                codes[axis] = to[codes[axis]];
                table.cell(&codes)
            };
            set.iter().map(moved).collect()
        };
        let ways = permutations(size);
        sets = sets.iter().flat_map(|set| ways.iter().map(|to| relabelled(set, to))).collect();
    }
    let share = 1.0 / sets.len() as f64;
    let whole = 1.0 + strip.excess_ratio() * strip.subset_fraction();
    let cell = |record: usize| {
        table.cell(&strip.places().iter().map(|&place| shape.code(record, place)).collect::<Vec<usize>>())
    };
    let likelihood = |set: &BTreeSet<usize>, record: usize| {
        let held = if set.contains(&cell(record)) { 1.0 } else { 0.0 };
        share * (1.0 + strip.excess_ratio() * held) / whole
    };
    sets.iter().map(|set| (0..shape.cells()).map(|record| likelihood(set, record)).collect()).collect()
}

/// Returns the probability of something sent, and the posterior of each category of an attribute for a uniform
/// prior.
pub fn posterior(plan: &Plan, block: &Block, place: usize, sent: &Sent) -> (f64, Vec<f64>) {
    let shape = Shape::new(block.attributes().iter().map(|&a| plan.schema().size(a)).collect());
    let mut sums = vec![0.0; shape.sizes()[place]];
    for (record, likelihood) in sent.likelihoods.iter().enumerate() {
        sums[shape.code(record, place)] += likelihood / shape.cells() as f64;
    }
    let chance: f64 = sums.iter().sum();
    (chance, sums.iter().map(|sum| if chance > 0.0 { sum / chance } else { 0.0 }).collect())
}
