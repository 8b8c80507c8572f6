//! Pattern channels by their definition, written out without any of the library's shortcuts.

use candor::channel::{Axis, Pattern, PatternSet, Rational};
use num_bigint::BigUint;
use num_traits::Zero;

/// All combinations of one choice from each list.
pub fn product<T: Clone>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
    choices.iter().fold(vec![vec![]], |rows, column| {
        rows.iter().flat_map(|row| column.iter().map(|c| [row.clone(), vec![c.clone()]].concat())).collect()
    })
}

/// Membership straight from the words of the definition, on the list of missing attributes.
fn member(set: &PatternSet, missing: &[usize]) -> bool {
    match set {
        PatternSet::All => true,
        PatternSet::Only(only) => only == missing,
        PatternSet::Hits(hits) => !missing.iter().any(|i| hits.contains(i)),
        PatternSet::Threshold { weights, limit } => missing.iter().map(|&i| weights[i]).sum::<u64>() <= *limit,
        PatternSet::Bitmap(bitmap) => bitmap.contains(missing.iter().map(|&i| 1 << i).sum()),
    }
}

/// Every answer: for each attribute a list of categories in increasing order.
pub fn answers(axes: &[Axis]) -> Vec<Vec<Vec<usize>>> {
    fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
        if size == 0 {
            return vec![vec![]];
        }
        (size - 1..n)
            .flat_map(|last| subsets(last, size - 1).into_iter().map(move |s| [s, vec![last]].concat()))
            .collect()
    }
    product(&axes.iter().map(|axis| subsets(axis.categories, axis.answer)).collect::<Vec<_>>())
}

/// The law after attribute `i`'s answer was replaced, with probability `weight / 2^64`, by one of all
/// its answers.
fn resampled(answers: &[Vec<Vec<usize>>], law: &[Rational], i: usize, weight: u64) -> Vec<Rational> {
    let replaced = Rational::new(weight.into(), BigUint::from(1u128 << 64));
    let kept = Rational::from(BigUint::from(1u32)) - &replaced;
    let alike = |z: usize, y: usize| (0..answers[z].len()).all(|j| j == i || answers[z][j] == answers[y][j]);
    let after = |z: usize| {
        let siblings: Vec<usize> = (0..answers.len()).filter(|&y| alike(z, y)).collect();
        let together: Rational = siblings.iter().map(|&y| &law[y]).sum();
        &law[z] * &kept + together * &replaced / BigUint::from(siblings.len())
    };
    (0..answers.len()).map(after).collect()
}

/// The probability of each answer, given the truth.
pub fn law(pattern: &Pattern, answers: &[Vec<Vec<usize>>], truth: &[usize]) -> Vec<Rational> {
    let missing = |answer: &Vec<Vec<usize>>| -> Vec<usize> {
        (0..truth.len()).filter(|&i| !answer[i].contains(&truth[i])).collect()
    };
    let missing: Vec<Vec<usize>> = answers.iter().map(missing).collect();
    let total: u128 = pattern.parts().iter().map(|part| u128::from(part.weight)).sum();
    let mut law = vec![Rational::zero(); answers.len()];
    for part in pattern.parts() {
        let members: Vec<usize> = (0..answers.len()).filter(|&z| member(&part.set, &missing[z])).collect();
        for &z in &members {
            law[z] += Rational::new(part.weight.into(), BigUint::from(total) * members.len());
        }
    }
    for (i, &weight) in pattern.resampling().iter().enumerate().filter(|(_, weight)| **weight > 0) {
        law = resampled(answers, &law, i, weight);
    }
    law
}
