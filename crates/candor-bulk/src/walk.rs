//! Patterns of thresholds and bitmaps over many attributes, drawn attribute by attribute.

use num_bigint::BigUint;
use num_traits::{CheckedDiv, ToPrimitive};

use crate::bytes::Bytes;
use candor_base::channel::{Choices, PatternSet, State};
use candor_base::randomness::below;

/// Approximate number of sums times attributes of a threshold that is walked with rounded weights.
const MAX_ROUNDED: u128 = 1 << 16;

/// A set that is prepared for drawing patterns, each with probability proportional to its number of answers.
///
/// From every state of the set's automaton, the next attribute hits in some fraction of the ways to continue. That
/// fraction is known to 64 bits, of which 16 nearly always decide. If a random number agrees with all 64, the remainder
/// of the fraction is computed exactly.
///
/// A threshold may be walked with rounded weights, so that its automaton is small. Patterns whose exact weights exceed
/// the limit are then drawn again.
pub(crate) struct Walk {
    /// The set that is walked, which contains all patterns of the given set.
    walked: PatternSet,
    /// The exact weight of each attribute if it misses, and the exact limit.
    within: (Vec<u64>, u64),
    choices: Vec<Choices>,
    /// By state.
    steps: Vec<Step>,
}

#[derive(Clone, Copy)]
struct Step {
    /// The fraction of hits in units of `2^-64`, rounded down.
    hits: u64,
    /// The states after a hit and after a miss.
    next: [u32; 2],
}

impl Walk {
    /// Prepares a set, with exact weights if the automaton is small enough, otherwise with rounded ones.
    pub(crate) fn new(set: &PatternSet, choices: Vec<Choices>, is_rounded: bool) -> Walk {
        let (weights, limit) = match set {
            PatternSet::Threshold { weights, limit } => (weights.clone(), *limit),
            _ => (vec![0; choices.len()], 0),
        };
        // Rounding errors of a sum grow with the number of attributes, so few attributes need few distinct sums.
        let k = choices.len() as u128;
        let smallest = if is_rounded { 1 + u128::from(limit) * k / MAX_ROUNDED.min(k * k * k) } else { 1 };
        let counted = |unit: u128| {
            let walked = rounded(set, unit);
            walked.completions(&choices).map(|completions| (walked, completions))
        };
        let counted = (0..).find_map(|doublings| counted(smallest << doublings));
        let (walked, completions) = counted.expect("all sums are one in the end");
        let step = |(number, choice): (usize, &Choices)| {
            let State { ways, next } = &completions.states[number];
            // Zero if there is no way to continue; such states are never reached. The maximum if nothing can miss; then
            // a number that agrees is settled exactly, and hits, too.
            let hits = (completions.hits(number, choice) << 64u32).checked_div(ways).unwrap_or_default();
            Step { hits: hits.to_u64().unwrap_or(u64::MAX), next: next.map(Option::unwrap_or_default) }
        };
        let levels = completions.levels.iter().zip(&choices);
        let steps = levels.flat_map(|(level, choice)| level.clone().map(move |number| (number, choice))).map(step);
        Walk { steps: steps.collect(), walked, within: (weights, limit), choices }
    }

    /// Reports for each attribute, in order, whether it misses; returns whether the pattern is in the set.
    ///
    /// If it is not, the caller must discard the pattern and draw again.
    #[inline]
    pub(crate) fn draw(&self, bytes: &mut Bytes, mut say: impl FnMut(usize, bool)) -> bool {
        let (weights, limit) = &self.within;
        let (mut state, mut sum) = (0, 0u64);
        for (attribute, weight) in weights.iter().enumerate() {
            let step = self.steps[state];
            let (lead, hits) = (u16::from_le_bytes(bytes.array()), (step.hits >> 48) as u16);
            let misses = if lead == hits { self.settle(state, attribute, lead, bytes) } else { lead > hits };
            say(attribute, misses);
            sum = sum.saturating_add(weight * u64::from(misses));
            state = step.next[usize::from(misses)] as usize;
        }
        sum <= *limit
    }

    /// Returns whether the attribute misses if 16 bits do not decide.
    #[cold]
    fn settle(&self, state: usize, attribute: usize, lead: u16, bytes: &mut Bytes) -> bool {
        let number = u64::from(lead) << 48 | u64::from_le_bytes(bytes.array()) >> 16;
        self.misses(state, attribute, number, |all| below(all, bytes).unwrap_or_else(|never| match never {}))
    }

    /// Returns whether the attribute misses for this random number; `below` draws a uniform integer below another.
    fn misses(&self, state: usize, attribute: usize, number: u64, below: impl FnOnce(&BigUint) -> BigUint) -> bool {
        let hits = self.steps[state].hits;
        if number != hits {
            return number > hits;
        }
        // This happens once in 2^64 times, so the ways are counted again instead of stored.
        let completions = self.walked.completions(&self.choices).expect("counted before");
        let all = &completions.states[state].ways;
        below(all) >= (completions.hits(state, &self.choices[attribute]) << 64u32) - all * hits
    }
}

/// Returns a threshold with weights rounded to multiples of the unit, and a limit that excludes none of its patterns.
///
/// The limit grows by the sum of what rounding adds to each weight. Other sets are returned unchanged.
fn rounded(set: &PatternSet, unit: u128) -> PatternSet {
    let PatternSet::Threshold { weights, limit } = set else { return set.clone() };
    let round = |&weight: &u64| (u128::from(weight) + unit / 2) / unit;
    let added = |weight: &u64| (round(weight) * unit).saturating_sub(u128::from(*weight));
    let limit = (u128::from(*limit) + weights.iter().map(added).sum::<u128>()) / unit;
    PatternSet::Threshold { weights: weights.iter().map(|weight| round(weight) as u64).collect(), limit: limit as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::Bitmap;
    use candor_base::randomness::Source;

    /// For every reachable state, the numbers below the fraction, and part of the one that agrees with it, are exactly
    /// the ways in which the attribute hits.
    #[test]
    fn shares_are_exact() {
        let bitmap = Bitmap::new(4, |p| p % 3 == 1);
        let threshold = PatternSet::Threshold { weights: vec![3, 1, 2, 2], limit: 3 };
        for set in [threshold, PatternSet::Bitmap(bitmap), PatternSet::no_miss(), PatternSet::All] {
            let choices = |&a: &u32| Choices { hit: 1u32.into(), miss: (a - 1).into() };
            let choices: Vec<Choices> = [4, 2, 3, 5].iter().map(choices).collect();
            let walk = Walk::new(&set, choices.clone(), false);
            let counted = set.completions(&choices).unwrap();
            for (attribute, (level, choice)) in counted.levels.iter().zip(&choices).enumerate() {
                for state in level.clone() {
                    let (all, hits) = (&counted.states[state].ways, walk.steps[state].hits);
                    let mut agreeing = 0u32;
                    let mut rank = BigUint::ZERO;
                    while &rank < all {
                        agreeing += u32::from(!walk.misses(state, attribute, hits, |_| rank.clone()));
                        rank += 1u32;
                    }
                    let exact = counted.hits(state, choice) << 64u32;
                    assert_eq!(all * hits + agreeing, exact, "{set:?} {attribute} {state}");
                    assert!(hits == 0 || !walk.misses(state, attribute, hits - 1, |_| unreachable!()));
                    assert!(hits == u64::MAX || walk.misses(state, attribute, hits + 1, |_| unreachable!()));
                }
            }
        }
    }

    /// For any unit, all patterns of a threshold are walked; for small units, few others.
    #[test]
    fn rounding_leaves_no_pattern_out() {
        let weights: Vec<u64> = (0..10).map(|i| 1_000 + 137 * i * i % 900).collect();
        for limit in [0, 999, 3_000, 4_321, 9_000] {
            let members = |set: &PatternSet| set.members(weights.len());
            let set = PatternSet::Threshold { weights: weights.clone(), limit };
            let exact = members(&set);
            for unit in [1, 2, 7, 10, 100, 999, 5_000] {
                let walked = members(&rounded(&set, unit));
                assert!(
                    exact.iter().zip(&walked).all(|(exact, walked)| !exact || *walked),
                    "{limit} in units of {unit}"
                );
                assert!(unit > 1 || exact == walked);
                let count = |members: &[bool]| members.iter().filter(|member| **member).count();
                assert!(
                    unit > 10 || count(&walked) <= count(&exact) + 2 + count(&exact) / 5,
                    "{limit} in units of {unit}"
                );
            }
        }
    }

    /// With coarse rounding, other patterns are walked, too. They are recognized, and every pattern of the set occurs.
    #[test]
    fn what_rounding_lets_in_is_told() {
        let weights = vec![1_400, 2_700, 1_900, 3_300];
        let set = PatternSet::Threshold { weights: weights.clone(), limit: 4_650 };
        let choices = vec![Choices { hit: 1u32.into(), miss: 1u32.into() }; 4];
        let walk = Walk::new(&set, choices, true);
        let (members, walked) = (set.members(4), walk.walked.members(4));
        assert_ne!(members, walked);
        let mut met = [false; 16];
        let mut bytes = Bytes::new(&mut Source::from_seed(3).stream(0));
        for _ in 0..1_000 {
            let mut pattern = 0;
            let is_member = walk.draw(&mut bytes, |i, misses| pattern |= usize::from(misses) << i);
            assert_eq!(is_member, members[pattern], "{pattern}");
            met[pattern] = true;
        }
        assert_eq!(met.as_slice(), walked);
    }
}
