//! Strip channels by their definition: all relabelings of the set, and the two likelihoods of an answer.

use candor_base::channel::{Rational, Strip};
use num_bigint::BigUint;

/// Returns all orders of the numbers below `n`.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    (0..n).fold(vec![vec![]], |orders, next| {
        let grown = |order: &Vec<usize>, at: usize| [&order[..at], &[next], &order[at..]].concat();
        orders.iter().flat_map(|order| (0..=order.len()).map(move |at| grown(order, at))).collect()
    })
}

/// Returns every answer once: the cells that some relabeling of the categories maps into the strip, increasing.
pub fn answers(strip: &Strip) -> Vec<Vec<usize>> {
    let (shape, members) = (strip.table(), strip.members());
    let relabellings = shape.sizes().iter().fold(vec![vec![]], |rows: Vec<Vec<Vec<usize>>>, &size| {
        let orders = permutations(size);
        rows.iter().flat_map(|row| orders.iter().map(|order| [row.clone(), vec![order.clone()]].concat())).collect()
    });
    let answer = |labels: &Vec<Vec<usize>>| -> Vec<usize> {
        let labelled = |cell: usize| shape.codes(cell).iter().zip(labels).map(|(&x, labels)| labels[x]).collect();
        let inside = |labelled: Vec<usize>| members.contains(&(shape.cell(&labelled) as u16));
        (0..shape.cells()).filter(|&cell| inside(labelled(cell))).collect()
    };
    let mut answers: Vec<Vec<usize>> = relabellings.iter().map(answer).collect();
    answers.sort_unstable();
    answers.dedup();
    answers
}

/// Returns the probability of each answer given a record of the block.
///
/// It is `(1/G) (1 + F [x in A]) / (1 + F m/K)`, where `F m/K` is `hit/all`.
pub fn law(strip: &Strip, answers: &[Vec<usize>], record: &[usize]) -> Vec<Rational> {
    let truth = strip.places().iter().fold(0, |cell, &place| {
        let size = strip.table().sizes()[strip.places().binary_search(&place).unwrap()];
        cell * size + record[place]
    });
    let [hit, all] = strip.weights().map(BigUint::from);
    let (m, k) = (strip.members().len(), strip.table().cells());
    let whole = (&hit + &all) * m * answers.len();
    let likelihood = |inside: bool| &all * m + if inside { &hit * k } else { BigUint::ZERO };
    answers.iter().map(|answer| Rational::new(likelihood(answer.contains(&truth)), whole.clone())).collect()
}
