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
    law
}
