//! All possible answers about a model's randomized attributes.

use candor_base::shape::Shape;

use super::answers::{Answers, BlockAnswers, Law};
use super::relabeled::relabelled;

/// An encoded answer, and the factor from its likelihood to its probability.
pub(super) type PossibleAnswer = (Vec<u16>, f64);

impl Answers {
    /// Returns all possible records of a respondent; `None` if there are more than `most`.
    pub(super) fn possible(&self, most: usize) -> Option<Vec<PossibleAnswer>> {
        let mut all: Vec<PossibleAnswer> = vec![(Vec::new(), 1.0)];
        for block in &self.blocks {
            let own = block.possible(most)?;
            if all.len().saturating_mul(own.len()) > most {
                return None;
            }
            let joined = |(before, p): &PossibleAnswer| -> Vec<PossibleAnswer> {
                own.iter().map(|(answer, q)| ([&before[..], answer].concat(), p * q)).collect()
            };
            all = all.iter().flat_map(joined).collect();
        }
        Some(all)
    }
}

impl BlockAnswers {
    /// Returns all answers of the block, for every channel; `None` if a channel has more than `most`.
    pub(super) fn possible(&self, most: usize) -> Option<Vec<PossibleAnswer>> {
        let mut all = Vec::new();
        for (tag, (share, law)) in self.laws.iter().enumerate() {
            let answers = law.possible(&self.shape, most)?;
            // A matrix gives the probability of an answer; other channels compare it with that of a random one.
            let factor = match law {
                Law::Matrix { .. } | Law::Known => *share,
                Law::Pattern { .. } | Law::Strip { .. } => share / answers.len() as f64,
            };
            let start = usize::from(self.laws.len() > 1);
            all.extend(answers.into_iter().map(|answer| {
                let mut record = vec![0; self.width];
                record[..start].fill(tag as u16);
                record[start..start + answer.len()].copy_from_slice(&answer);
                (record, factor)
            }));
        }
        Some(all)
    }
}

impl Law {
    fn possible(&self, shape: &Shape, most: usize) -> Option<Vec<Vec<u16>>> {
        let up_to = |count: usize| (count <= most).then(|| (0..count as u16).map(|code| vec![code]).collect());
        match self {
            Law::Matrix { rows, .. } => up_to(rows.len()),
            Law::Known => up_to(shape.cells()),
            Law::Strip { asked, own, .. } => relabelled(asked, own, most),
            Law::Pattern { sizes, .. } => {
                let mut all = vec![Vec::new()];
                for (&categories, &size) in shape.sizes().iter().zip(sizes) {
                    let sets = subsets(categories, size, most / all.len())?;
                    let joined = |before: &Vec<u16>| -> Vec<Vec<u16>> {
                        sets.iter().map(|set| [&before[..], set].concat()).collect()
                    };
                    all = all.iter().flat_map(joined).collect();
                }
                Some(all)
            }
        }
    }
}

/// Returns all sets of `size` categories in increasing order; `None` if there are more than `most`.
fn subsets(categories: usize, size: usize, most: usize) -> Option<Vec<Vec<u16>>> {
    let mut set: Vec<u16> = (0..size as u16).collect();
    let mut found = Vec::new();
    loop {
        if found.len() == most {
            return None;
        }
        found.push(set.clone());
        // The next set in lexicographic order.
        let Some(at) = (0..size).rev().find(|&at| usize::from(set[at]) < categories - size + at) else {
            return Some(found);
        };
        let first = set[at] + 1;
        set[at..].iter_mut().zip(first..).for_each(|(entry, code)| *entry = code);
    }
}
