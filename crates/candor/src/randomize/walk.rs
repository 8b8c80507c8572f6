//! Patterns of sets that are too rare to be met by chance: one attribute after the other.

use num_bigint::BigUint;
use num_traits::{CheckedDiv, ToPrimitive};

use super::bytes::Bytes;
use crate::channel::sampling::below;
use crate::channel::{Choices, PatternSet, State};

/// A set made ready to draw its patterns, each as often as it has answers.
///
/// From every state of the set's automaton, the next attribute hits in a share of the ways to go on. That share is known to 64 bits,
/// of which 16 nearly always decide; where a random number agrees with all 64, the rest of the share is weighed exactly.
pub(super) struct Walk<'a> {
    set: &'a PatternSet,
    choices: Vec<Choices>,
    /// By state.
    steps: Vec<Step>,
}

#[derive(Clone, Copy)]
struct Step {
    /// The share of hits, of `2^64`, rounded down.
    hits: u64,
    /// The states that a hit and a miss lead to.
    next: [u32; 2],
}

impl<'a> Walk<'a> {
    /// `None` if the set's automaton is too large.
    pub(super) fn new(set: &'a PatternSet, choices: Vec<Choices>) -> Option<Walk<'a>> {
        let completions = set.completions(&choices)?;
        let step = |(number, choice): (usize, &Choices)| {
            let State { ways, next } = &completions.states[number];
            // None where there is no way on, which is never met. All of them if nothing can miss: then a number that agrees is
            // weighed, and hits, too.
            let hits = (completions.hits(number, choice) << 64u32).checked_div(ways).unwrap_or_default();
            Step { hits: hits.to_u64().unwrap_or(u64::MAX), next: next.map(Option::unwrap_or_default) }
        };
        let levels = completions.levels.iter().zip(&choices);
        let steps = levels.flat_map(|(level, choice)| level.clone().map(move |number| (number, choice))).map(step);
        Some(Walk { set, steps: steps.collect(), choices })
    }

    /// Says of each attribute, in order, whether it misses.
    #[inline]
    pub(super) fn draw(&self, bytes: &mut Bytes, mut say: impl FnMut(usize, bool)) {
        let mut state = 0;
        for attribute in 0..self.choices.len() {
            let step = self.steps[state];
            let (lead, hits) = (u16::from_le_bytes(bytes.array()), (step.hits >> 48) as u16);
            let misses = if lead == hits { self.settle(state, attribute, lead, bytes) } else { lead > hits };
            say(attribute, misses);
            state = step.next[usize::from(misses)] as usize;
        }
    }

    /// Whether the attribute misses, where 16 bits do not decide.
    #[cold]
    fn settle(&self, state: usize, attribute: usize, lead: u16, bytes: &mut Bytes) -> bool {
        let number = u64::from(lead) << 48 | u64::from_le_bytes(bytes.array()) >> 16;
        self.misses(state, attribute, number, |all| below(all, bytes).unwrap_or_else(|never| match never {}))
    }

    /// Whether the attribute misses if the random number is this one; `below` gives a uniform integer below another.
    fn misses(&self, state: usize, attribute: usize, number: u64, below: impl FnOnce(&BigUint) -> BigUint) -> bool {
        let hits = self.steps[state].hits;
        if number != hits {
            return number > hits;
        }
        // Met once in 2^64 times: counted again, not kept.
        let completions = self.set.completions(&self.choices).expect("counted before");
        let all = &completions.states[state].ways;
        below(all) >= (completions.hits(state, &self.choices[attribute]) << 64u32) - all * hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Bitmap;

    /// Of every state that is reached: the numbers below the share, and the part of the one that agrees with it, are just the ways
    /// in which the attribute hits.
    #[test]
    fn shares_are_exact() {
        let bitmap = Bitmap::of(4, |p| p % 3 == 1);
        let threshold = PatternSet::Threshold { weights: vec![3, 1, 2, 2], limit: 3 };
        for set in [threshold, PatternSet::Bitmap(bitmap), PatternSet::no_miss(), PatternSet::All] {
            let choices = |&a: &u32| Choices { hit: 1u32.into(), miss: (a - 1).into() };
            let choices: Vec<Choices> = [4, 2, 3, 5].iter().map(choices).collect();
            let walk = Walk::new(&set, choices.clone()).unwrap();
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
}
