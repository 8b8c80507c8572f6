//! Exchangeable attributes, which a proof need not distinguish.

use std::collections::BTreeMap;

use super::Costs;

/// A group of attributes of the same size, of which only the number matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Number of categories of each attribute.
    pub size: usize,
    /// The attributes, by number.
    pub members: Vec<usize>,
}

/// Largest number of attributes for which each forms its own kind.
const MAX_ALONE: usize = 10;

/// Largest number of types of patterns in a proof.
const MAX_TYPES: usize = 1 << MAX_ALONE;

/// Largest number of attributes of one kind in exact arithmetic.
const MAX_ALIKE: usize = 64;

/// Returns the kinds of attributes that a proof distinguishes, or `None` if there are too many.
///
/// Up to ten attributes each form their own kind; otherwise attributes of equal size do. Attributes in no table are
/// left out: averaging a channel over them gives a channel of the same epsilon with the same information about the
/// others.
pub fn kinds(costs: &Costs) -> Option<Vec<Kind>> {
    let mut held: Vec<usize> = costs.components.iter().flatten().copied().collect();
    held.sort_unstable();
    held.dedup();
    if held.len() <= MAX_ALONE {
        return Some(held.into_iter().map(|i| Kind { size: costs.sizes[i], members: vec![i] }).collect());
    }
    let mut kinds: Vec<Kind> = Vec::new();
    for i in held {
        match kinds.iter_mut().find(|kind| kind.size == costs.sizes[i]) {
            Some(kind) => kind.members.push(i),
            None => kinds.push(Kind { size: costs.sizes[i], members: vec![i] }),
        }
    }
    let types = kinds.iter().fold(1usize, |types, kind| types.saturating_mul(kind.members.len() + 1));
    let small = types <= MAX_TYPES && kinds.iter().all(|kind| kind.members.len() <= MAX_ALIKE);
    small.then_some(kinds)
}

/// Returns the attributes in the tables as kinds of equal size and equal costs, or `None` if there are too many types.
///
/// Exchanging two attributes of a kind changes no cost.
pub fn exchangeable(costs: &Costs) -> Option<Vec<Kind>> {
    let mut held: Vec<usize> = costs.components.iter().flatten().copied().collect();
    held.sort_unstable();
    held.dedup();
    let cost: BTreeMap<&Vec<usize>, f64> = costs.components.iter().zip(costs.costs.iter().copied()).collect();
    let exchanged = |component: &Vec<usize>, a: usize, b: usize| {
        let swap = |&i: &usize| {
            if i == a {
                b
            } else if i == b {
                a
            } else {
                i
            }
        };
        let mut swapped: Vec<usize> = component.iter().map(swap).collect();
        swapped.sort_unstable();
        swapped
    };
    let alike = |a: usize, b: usize| {
        let same = |(component, own): (&&Vec<usize>, &f64)| {
            cost.get(&exchanged(component, a, b)).is_some_and(|other| (own / other - 1.0).abs() < 1e-12)
        };
        costs.sizes[a] == costs.sizes[b] && cost.iter().all(same)
    };
    let mut kinds: Vec<Kind> = Vec::new();
    for i in held {
        match kinds.iter_mut().find(|kind| alike(kind.members[0], i)) {
            Some(kind) => kind.members.push(i),
            None => kinds.push(Kind { size: costs.sizes[i], members: vec![i] }),
        }
    }
    let types = kinds.iter().fold(1usize, |types, kind| types.saturating_mul(kind.members.len() + 1));
    (types <= MAX_TYPES && kinds.iter().all(|kind| kind.members.len() <= MAX_ALIKE)).then_some(kinds)
}

/// Returns the type of a set of attributes: its number of attributes of each kind, first kind fastest.
pub fn type_of(kinds: &[Kind], attributes: &[usize]) -> usize {
    kinds.iter().rev().fold(0, |number, kind| {
        let has = attributes.iter().filter(|i| kind.members.contains(i)).count();
        number * (kind.members.len() + 1) + has
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_pairs(sizes: Vec<usize>) -> Costs {
        let k = sizes.len();
        let components: Vec<Vec<usize>> = (0..k).flat_map(|i| (i + 1..k).map(move |j| vec![i, j])).collect();
        Costs { costs: vec![1.0; components.len()], components, sizes, fixed: 0.0 }
    }

    #[test]
    fn alone_alike_or_too_many() {
        assert_eq!(kinds(&of_pairs(vec![3; 10])).unwrap().len(), 10);
        let two = kinds(&of_pairs([vec![3; 8], vec![5; 4]].concat())).unwrap();
        assert_eq!(two.iter().map(|kind| (kind.size, kind.members.len())).collect::<Vec<_>>(), [(3, 8), (5, 4)]);
        assert_eq!(type_of(&two, &[0, 7, 9]), 2 + 9);
        assert_eq!(kinds(&of_pairs((2..13).collect())), None, "eleven sizes are 2,048 types");
        let mut unused = of_pairs(vec![2, 3, 4]);
        unused.components.retain(|component| component == &[0, 2]);
        unused.costs.truncate(1);
        assert_eq!(kinds(&unused).unwrap().iter().map(|kind| kind.members[0]).collect::<Vec<_>>(), [0, 2]);
    }
}
