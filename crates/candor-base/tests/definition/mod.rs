//! Pattern channels by their definition, without any of the library's shortcuts.
#![allow(dead_code, reason = "no test needs all of it")]

use std::collections::HashMap;

use candor_base::channel::{Axis, Pattern, PatternSet, Rational};
use num_bigint::BigUint;
use num_traits::Zero;

/// Returns all combinations of one choice from each list.
pub fn product<T: Clone>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
    choices.iter().fold(vec![vec![]], |rows, column| {
        rows.iter().flat_map(|row| column.iter().map(|c| [row.clone(), vec![c.clone()]].concat())).collect()
    })
}

/// Decides membership by the definition, from the list of missing attributes.
fn member(set: &PatternSet, missing: &[usize]) -> bool {
    match set {
        PatternSet::All => true,
        PatternSet::Only(only) => only == missing,
        PatternSet::Hits(hits) => !missing.iter().any(|i| hits.contains(i)),
        PatternSet::Threshold { weights, limit } => missing.iter().map(|&i| weights[i]).sum::<u64>() <= *limit,
        PatternSet::Bitmap(bitmap) => bitmap.contains(missing.iter().map(|&i| 1 << i).sum()),
    }
}

/// Returns every answer: for each attribute, a list of categories in increasing order.
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

/// Likelihoods over one unreduced denominator: exact, and quick to add and to compare.
#[derive(Clone, Debug)]
pub struct Law {
    pub numerators: Vec<BigUint>,
    pub denominator: BigUint,
}

impl Law {
    /// Replaces attribute `i`'s answer, with probability `weight / 2^64`, by a uniformly random one.
    fn resampled(self, answers: &[Vec<Vec<usize>>], i: usize, weight: u64) -> Law {
        let whole = 1u128 << 64;
        let others = |z: usize| [&answers[z][..i], &answers[z][i + 1..]].concat();
        let mut siblings: HashMap<Vec<Vec<usize>>, Vec<usize>> = HashMap::new();
        (0..answers.len()).for_each(|z| siblings.entry(others(z)).or_default().push(z));
        // An attribute has the same number of answers for any answers of the others.
        let ways = answers.len() / siblings.len();
        let mut numerators = vec![BigUint::zero(); answers.len()];
        for alike in siblings.values() {
            assert_eq!(alike.len(), ways);
            let together: BigUint = alike.iter().map(|&z| &self.numerators[z]).sum();
            for &z in alike {
                numerators[z] = &self.numerators[z] * (whole - u128::from(weight)) * ways + &together * weight;
            }
        }
        Law { numerators, denominator: self.denominator * whole * ways }
    }
}

/// Returns the probability of each answer given the true record, over one denominator.
pub fn whole_law(pattern: &Pattern, answers: &[Vec<Vec<usize>>], truth: &[usize]) -> Law {
    let missing = |answer: &Vec<Vec<usize>>| -> Vec<usize> {
        (0..truth.len()).filter(|&i| !answer[i].contains(&truth[i])).collect()
    };
    let missing: Vec<Vec<usize>> = answers.iter().map(missing).collect();
    let total: u128 = pattern.parts().iter().map(|part| u128::from(part.weight)).sum();
    let members = |set: &PatternSet| (0..answers.len()).filter(|&z| member(set, &missing[z])).collect();
    let parts: Vec<(u64, Vec<usize>)> = pattern.parts().iter().map(|part| (part.weight, members(&part.set))).collect();
    let common = parts.iter().fold(BigUint::from(1u32), |common, (_, members)| common * members.len());
    let mut numerators = vec![BigUint::zero(); answers.len()];
    for (weight, members) in &parts {
        let each = &common / members.len() * *weight;
        members.iter().for_each(|&z| numerators[z] += &each);
    }
    let law = Law { numerators, denominator: common * total };
    let resampling = pattern.resampling().iter().enumerate().filter(|(_, weight)| **weight > 0);
    resampling.fold(law, |law, (i, &weight)| law.resampled(answers, i, weight))
}

/// Returns the probability of each answer given the true record.
pub fn law(pattern: &Pattern, answers: &[Vec<Vec<usize>>], truth: &[usize]) -> Vec<Rational> {
    let Law { numerators, denominator } = whole_law(pattern, answers, truth);
    numerators.into_iter().map(|numerator| Rational::new(numerator, denominator.clone())).collect()
}
