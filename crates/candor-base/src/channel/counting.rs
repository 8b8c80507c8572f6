//! Exact counts of the answers whose pattern is in a set.

use num_bigint::BigUint;
use num_traits::ToPrimitive;

use super::epsilon::product;
use super::pattern_set::{Choices, PatternSet};
use super::threshold::{Number, by_halves, margins, products};

/// A number of answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Count {
    /// The number of answers whose pattern is in the set.
    pub(crate) inside: BigUint,
    /// For each attribute, the number of these answers in which it misses. Empty unless the set is a threshold or a
    /// bitmap; for other sets these numbers follow from the shape of the set.
    pub(crate) missing: Vec<BigUint>,
}

impl PatternSet {
    /// Counts the answers whose pattern is in the set.
    ///
    /// Thresholds and bitmaps must have at most [`super::MAX_ENUMERATED`] attributes. With `k` attributes, a threshold
    /// takes about `k 2^(k/2)` sums and products, a bitmap `k 2^k`, any other set `k`.
    pub(crate) fn count(&self, choices: &[Choices]) -> Count {
        let shape = |free: &dyn Fn(usize) -> [bool; 2]| {
            let factor = |(i, choice): (usize, &Choices)| match free(i) {
                [true, true] => &choice.hit + &choice.miss,
                [false, true] => choice.miss.clone(),
                _ => choice.hit.clone(),
            };
            let factors: Vec<BigUint> = choices.iter().enumerate().map(factor).collect();
            Count { inside: product(&factors), missing: Vec::new() }
        };
        match self {
            PatternSet::All => shape(&|_| [true, true]),
            PatternSet::Only(missing) => shape(&|i| match missing.binary_search(&i) {
                Ok(_) => [false, true],
                Err(_) => [true, false],
            }),
            PatternSet::Hits(hits) => shape(&|i| [true, hits.binary_search(&i).is_err()]),
            PatternSet::Threshold { .. } | PatternSet::Bitmap(_) => self.sum(choices),
        }
    }

    /// Counts by summing over patterns, in machine integers if the number of all answers fits.
    fn sum(&self, choices: &[Choices]) -> Count {
        let bits: u64 = choices.iter().map(|choice| (&choice.hit + &choice.miss).bits()).sum();
        if bits >= u64::from(u128::BITS) {
            let ways: Vec<[BigUint; 2]> = choices.iter().map(|c| [c.hit.clone(), c.miss.clone()]).collect();
            let (inside, missing) = self.sum_of(&ways);
            return Count { inside, missing };
        }
        let small = |n: &BigUint| n.to_u128().expect("no more than all answers");
        let ways: Vec<[u128; 2]> = choices.iter().map(|c| [small(&c.hit), small(&c.miss)]).collect();
        let (inside, missing) = self.sum_of(&ways);
        Count { inside: inside.into(), missing: missing.into_iter().map(BigUint::from).collect() }
    }

    fn sum_of<T: Number>(&self, ways: &[[T; 2]]) -> (T, Vec<T>) {
        if let PatternSet::Threshold { weights, limit } = self {
            return by_halves(weights, *limit, ways);
        }
        let members = self.members(ways.len());
        let inside = |(answers, member): (T, bool)| if member { answers } else { T::zero() };
        margins(&products(ways).into_iter().zip(members).map(inside).collect::<Vec<T>>(), ways.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bitmap;
    use super::*;
    use proptest::prelude::*;

    fn any_set(k: usize) -> impl Strategy<Value = PatternSet> {
        prop_oneof![
            Just(PatternSet::All),
            prop::collection::btree_set(0..k, 0..=k).prop_map(|set| PatternSet::Only(set.into_iter().collect())),
            prop::collection::btree_set(0..k, 0..=k).prop_map(|set| PatternSet::Hits(set.into_iter().collect())),
            (prop::collection::vec(0u64..9, k), 0u64..20)
                .prop_map(|(weights, limit)| PatternSet::Threshold { weights, limit }),
            prop::collection::vec(any::<bool>(), 1 << k)
                .prop_map(move |bits| PatternSet::Bitmap(Bitmap::new(k, |p| bits[p as usize]))),
        ]
    }

    proptest! {
        /// Small factors are counted in machine integers; the same factors times `2^200` in big integers.
        #[test]
        fn counts_follow_the_definition(
            (set, ways) in (1usize..7).prop_flat_map(|k| (any_set(k), prop::collection::vec((1u32..5, 0u32..5), k))),
        ) {
            let k = ways.len();
            for shift in [0usize, 200] {
                let long = |n: u32| BigUint::from(n) << shift;
                let choices: Vec<Choices> =
                    ways.iter().map(|&(hit, miss)| Choices { hit: long(hit), miss: long(miss) }).collect();
                let answers = |p: usize| -> BigUint {
                    (0..k).map(|i| if p >> i & 1 == 1 { &choices[i].miss } else { &choices[i].hit }).product()
                };
                let members: Vec<usize> = (0..1 << k).filter(|&p| set.members(k)[p]).collect();
                let found = set.count(&choices);
                prop_assert_eq!(&found.inside, &members.iter().map(|&p| answers(p)).sum::<BigUint>());
                for (i, missing) in found.missing.iter().enumerate() {
                    let defined: BigUint = members.iter().filter(|&p| p >> i & 1 == 1).map(|&p| answers(p)).sum();
                    prop_assert_eq!(missing, &defined);
                }
            }
        }
    }
}
