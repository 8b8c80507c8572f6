//! Sets of patterns: the combinations of attributes that may miss together.
//!
//! Every kind of set is a small automaton that reads, attribute by attribute, whether the answer misses. Counting,
//! membership and drawing are each implemented once, for automata.

use std::collections::HashMap;
use std::ops::Range;

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::work::done;

/// Maximum number of attributes whose patterns may be enumerated or listed as a bitmap.
pub const MAX_ENUMERATED: usize = 20;

/// Maximum number of states of a threshold's automaton, over all attributes; larger ones are rejected.
pub(crate) const MAX_STATES: usize = 1 << 18;

/// A set of patterns over the attributes of one channel.
///
/// A *pattern* is the set of attributes whose answer misses the true category. Attributes are numbered from 0 within
/// the channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternSet {
    /// Every pattern: the answer is uniformly random and independent of the true record.
    All,
    /// The one pattern in which exactly these attributes miss; `Only(vec![])` is "no miss".
    Only(Vec<usize>),
    /// All patterns in which none of these attributes misses.
    Hits(Vec<usize>),
    /// All patterns whose missing attributes have weights that sum to at most `limit`.
    Threshold {
        /// One weight per attribute.
        weights: Vec<u64>,
        /// The largest sum of weights in the set.
        limit: u64,
    },
    /// The patterns of a list, for at most [`MAX_ENUMERATED`] attributes.
    Bitmap(Bitmap),
}

/// One bit per pattern; bit `i` of a pattern's number is set if attribute `i` misses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    attributes: usize,
    words: Vec<u64>,
}

impl Bitmap {
    /// Creates the set of the patterns for which `contains` returns true.
    ///
    /// # Panics
    /// Panics if there are more than [`MAX_ENUMERATED`] attributes.
    pub fn new(attributes: usize, contains: impl Fn(u32) -> bool) -> Bitmap {
        assert!(attributes <= MAX_ENUMERATED, "a bitmap lists at most 2^{MAX_ENUMERATED} patterns");
        let patterns = 1u32 << attributes;
        let mut words = vec![0u64; (patterns as usize).div_ceil(64)];
        for pattern in (0..patterns).filter(|&p| contains(p)) {
            words[pattern as usize / 64] |= 1 << (pattern % 64);
        }
        Bitmap { attributes, words }
    }

    /// Returns whether the pattern is listed.
    pub fn contains(&self, pattern: u32) -> bool {
        self.words[pattern as usize / 64] >> (pattern % 64) & 1 == 1
    }

    /// Returns the number of attributes of the patterns.
    pub fn attributes(&self) -> usize {
        self.attributes
    }

    /// Returns the bits as bytes of two hexadecimal digits each, with the lowest pattern in the lowest bit of the
    /// first.
    pub fn to_hex(&self) -> String {
        let bytes = (1usize << self.attributes).div_ceil(8);
        (0..bytes).map(|b| format!("{:02x}", (self.words[b / 8] >> (8 * (b % 8))) as u8)).collect()
    }

    /// Parses the form of [`Bitmap::to_hex`].
    ///
    /// Returns `None` if the text has the wrong length, has other characters, or sets a bit beyond the last pattern.
    pub fn from_hex(attributes: usize, hex: &str) -> Option<Bitmap> {
        if attributes > MAX_ENUMERATED || !hex.is_ascii() {
            return None;
        }
        let patterns = 1usize << attributes;
        if hex.len() != 2 * patterns.div_ceil(8) {
            return None;
        }
        let mut words = vec![0u64; patterns.div_ceil(64)];
        for b in 0..hex.len() / 2 {
            let digits = &hex[2 * b..2 * b + 2];
            if digits.bytes().any(|d| !matches!(d, b'0'..=b'9' | b'a'..=b'f')) {
                return None;
            }
            let byte = u8::from_str_radix(digits, 16).ok()?;
            words[b / 8] |= u64::from(byte) << (8 * (b % 8));
        }
        (patterns >= 8 || words[0] >> patterns == 0).then_some(Bitmap { attributes, words })
    }
}

/// The number of ways to answer one attribute with a hit, and with a miss.
#[derive(Clone, Debug)]
pub struct Choices {
    /// Number of answers that contain the true category.
    pub hit: BigUint,
    /// Number of answers that do not.
    pub miss: BigUint,
}

/// The automaton of a set, with the number of ways to complete an answer from every state.
pub struct Completions {
    /// The reachable states.
    pub states: Vec<State>,
    /// The numbers of the states before each attribute, and at the end. The only state before the first attribute is 0.
    pub levels: Vec<Range<usize>>,
}

/// A reachable state of the automaton.
pub struct State {
    /// The number of ways to answer the remaining attributes so that the pattern is in the set.
    pub ways: BigUint,
    /// The number of the next state after a hit, and after a miss; `None` if the set excludes it.
    pub next: [Option<u32>; 2],
}

/// The sums that the remaining attributes of a threshold can add, from each attribute on.
///
/// States that no such sum distinguishes are merged. This leaves about `2^(k/2)` of `2^k` states for any weights.
struct RemainingSums {
    /// By attribute, in increasing order; `None` if there are too many to list.
    lists: Vec<Option<Vec<u64>>>,
    limit: u64,
}

impl RemainingSums {
    /// Maximum number of sums listed for one attribute.
    const MAX: usize = 1 << 16;

    fn new(set: &PatternSet, attributes: usize) -> RemainingSums {
        let PatternSet::Threshold { weights, limit } = set else {
            return RemainingSums { lists: vec![None; attributes + 1], limit: 0 };
        };
        // With more remaining sums than reachable states, merging does not pay.
        let most = RemainingSums::MAX.min(2 << (attributes / 2).min(16));
        let mut lists = vec![Some(vec![0])];
        for i in (0..attributes).rev() {
            let longer = |sums: &Vec<u64>| {
                let with = sums.iter().filter_map(|sum| sum.checked_add(weights[i])).filter(|sum| sum <= limit);
                let mut all: Vec<u64> = sums.iter().copied().chain(with).collect();
                all.sort_unstable();
                all.dedup();
                (all.len() <= most).then_some(all)
            };
            lists.push(lists.last().and_then(|sums| sums.as_ref().and_then(longer)));
        }
        lists.reverse();
        RemainingSums { lists, limit: *limit }
    }

    /// Returns the representative of all states from which the same patterns complete the set.
    fn merged(&self, attribute: usize, state: u64) -> u64 {
        let Some(sums) = &self.lists[attribute] else { return state };
        let fitting = sums.partition_point(|&sum| sum <= self.limit - state);
        self.limit - sums[fitting - 1]
    }
}

impl PatternSet {
    /// Returns the set of the pattern without misses.
    pub fn no_miss() -> PatternSet {
        PatternSet::Only(Vec::new())
    }

    /// Returns whether counting it requires enumeration: it is a threshold or a bitmap.
    ///
    /// For other sets the frequency of misses follows from their shape.
    pub fn is_listed(&self) -> bool {
        matches!(self, PatternSet::Threshold { .. } | PatternSet::Bitmap(_))
    }

    /// Advances the automaton from `state`, which is 0 before the first attribute, by one attribute that hits or
    /// misses.
    ///
    /// Returns `None` if no pattern of the set begins like this.
    pub(crate) fn step(&self, attribute: usize, state: u64, misses: bool) -> Option<u64> {
        match self {
            PatternSet::All => Some(0),
            PatternSet::Only(missing) => (missing.contains(&attribute) == misses).then_some(0),
            PatternSet::Hits(hits) => (!misses || !hits.contains(&attribute)).then_some(0),
            PatternSet::Threshold { weights, limit } => {
                let added = if misses { weights[attribute] } else { 0 };
                state.checked_add(added).filter(|sum| sum <= limit)
            }
            PatternSet::Bitmap(bitmap) => {
                let state = state | u64::from(misses) << attribute;
                let last = attribute + 1 == bitmap.attributes;
                (!last || bitmap.contains(state as u32)).then_some(state)
            }
        }
    }

    /// Returns whether removing misses from a pattern of the set always leaves a pattern of the set.
    ///
    /// Bitmaps are not checked; they return false.
    pub fn is_down_closed(&self) -> bool {
        match self {
            PatternSet::All | PatternSet::Hits(_) | PatternSet::Threshold { .. } => true,
            PatternSet::Only(missing) => missing.is_empty(),
            PatternSet::Bitmap(_) => false,
        }
    }

    /// Returns whether membership can depend on the attribute.
    pub fn looks_at(&self, attribute: usize) -> bool {
        match self {
            PatternSet::All => false,
            PatternSet::Only(_) | PatternSet::Bitmap(_) => true,
            PatternSet::Hits(hits) => hits.contains(&attribute),
            PatternSet::Threshold { weights, .. } => weights[attribute] > 0,
        }
    }

    /// Returns whether the set contains the pattern of exactly these misses, given in increasing order.
    pub(crate) fn holds(&self, missing: &[usize]) -> bool {
        match self {
            PatternSet::All => true,
            PatternSet::Only(only) => only == missing,
            PatternSet::Hits(hits) => !hits.iter().any(|i| missing.binary_search(i).is_ok()),
            PatternSet::Threshold { weights, limit } => {
                let sum = missing.iter().try_fold(0u64, |sum, &i| sum.checked_add(weights[i]));
                sum.is_some_and(|sum| sum <= *limit)
            }
            PatternSet::Bitmap(bitmap) => bitmap.contains(missing.iter().fold(0, |mask, i| mask | 1 << i)),
        }
    }

    /// Returns the membership of all `2^attributes` patterns, by number, for at most [`MAX_ENUMERATED`] attributes.
    pub fn members(&self, attributes: usize) -> Vec<bool> {
        self.members_over(&(0..attributes).collect::<Vec<usize>>())
    }

    /// Returns the membership of all patterns over these attributes, in the order of their bits, where no other misses.
    pub(crate) fn members_over(&self, attributes: &[usize]) -> Vec<bool> {
        let sums_of = |add: &dyn Fn(usize) -> u128| {
            let mut sums = vec![0u128];
            for &i in attributes {
                sums.extend(sums.clone().into_iter().map(|sum| sum + add(i)));
            }
            sums
        };
        if let PatternSet::Threshold { weights, limit } = self {
            let sums = sums_of(&|i| weights[i].into());
            return sums.into_iter().map(|sum| sum <= u128::from(*limit)).collect();
        }
        let contains = self.by_number();
        sums_of(&|i| 1 << i).into_iter().map(|pattern| contains(pattern as u32)).collect()
    }

    /// Returns the membership test for pattern numbers, for at most [`MAX_ENUMERATED`] attributes.
    pub(crate) fn by_number(&self) -> Box<dyn Fn(u32) -> bool + '_> {
        let mask = |list: &[usize]| list.iter().fold(0u32, |mask, i| mask | 1 << i);
        match self {
            PatternSet::All => Box::new(|_| true),
            PatternSet::Only(missing) => {
                let only = mask(missing);
                Box::new(move |pattern| pattern == only)
            }
            PatternSet::Hits(hits) => {
                let hits = mask(hits);
                Box::new(move |pattern| pattern & hits == 0)
            }
            PatternSet::Threshold { weights, limit } => Box::new(move |pattern| {
                let missing = (0..weights.len()).filter(|i| pattern >> i & 1 == 1);
                missing.map(|i| u128::from(weights[i])).sum::<u128>() <= u128::from(*limit)
            }),
            PatternSet::Bitmap(bitmap) => Box::new(|pattern| bitmap.contains(pattern)),
        }
    }

    /// Returns the reachable states, or `None` if there are too many. Only the last level has its ways counted.
    pub(crate) fn reachable(&self, attributes: usize) -> Option<Completions> {
        let sums = RemainingSums::new(self, attributes);
        let (mut states, mut levels, mut level) = (Vec::new(), Vec::new(), vec![sums.merged(0, 0)]);
        for i in 0..attributes {
            let (start, end) = (states.len(), states.len() + level.len());
            let (mut numbers, mut next) = (HashMap::new(), Vec::new());
            let mut onward = |state: u64, misses: bool| {
                let to = sums.merged(i + 1, self.step(i, state, misses)?);
                let number = (end + next.len()) as u32;
                let known = *numbers.entry(to).or_insert(number);
                next.extend((known == number).then_some(to));
                Some(known)
            };
            states.extend(
                level.iter().map(|&state| State {
                    ways: BigUint::ZERO,
                    next: [false, true].map(|misses| onward(state, misses)),
                }),
            );
            levels.push(start..end);
            done(next.len());
            // A bitmap has at most 2^21 states, and its file lists all of its bits.
            if end + next.len() > MAX_STATES && matches!(self, PatternSet::Threshold { .. }) {
                return None;
            }
            level = next;
        }
        levels.push(states.len()..states.len() + level.len());
        states.extend(level.iter().map(|_| State { ways: BigUint::one(), next: [None; 2] }));
        Some(Completions { states, levels })
    }

    /// Counts the ways to answer from every reachable state; `None` if the automaton is too large.
    pub fn completions(&self, choices: &[Choices]) -> Option<Completions> {
        let mut counted = self.reachable(choices.len())?;
        for (choice, level) in choices.iter().zip(counted.levels.clone()).rev() {
            for number in level {
                let misses = counted.onward(number, true, &choice.miss);
                counted.states[number].ways = counted.hits(number, choice) + misses;
            }
        }
        Some(counted)
    }
}

impl Completions {
    /// Returns the number of answers with a pattern in the set.
    pub fn total(&self) -> &BigUint {
        &self.states[0].ways
    }

    /// Returns the number of ways from a state in which the next attribute, with these choices, hits.
    pub fn hits(&self, state: usize, choice: &Choices) -> BigUint {
        self.onward(state, false, &choice.hit)
    }

    fn onward(&self, state: usize, misses: bool, ways: &BigUint) -> BigUint {
        let to = self.states[state].next[usize::from(misses)];
        to.map_or(BigUint::ZERO, |to| ways * &self.states[to as usize].ways)
    }

    /// Returns the pattern of the answer at position `rank < total()`.
    ///
    /// Answers are listed with hits before misses, first attribute slowest. Each pattern occurs once for each of its
    /// answers.
    pub(crate) fn pattern_at(&self, choices: &[Choices], rank: BigUint) -> Vec<bool> {
        let (mut rank, mut state) = (rank, 0);
        let mut misses = Vec::with_capacity(choices.len());
        for choice in choices {
            let hits = self.hits(state, choice);
            let miss = rank >= hits;
            if miss {
                rank -= hits;
            }
            let ways = if miss { &choice.miss } else { &choice.hit };
            if !ways.is_one() && !ways.is_zero() {
                rank /= ways;
            }
            state = self.states[state].next[usize::from(miss)].unwrap_or_default() as usize;
            misses.push(miss);
        }
        misses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(sizes: &[usize]) -> Vec<Choices> {
        sizes.iter().map(|&a| Choices { hit: 1u32.into(), miss: (a - 1).into() }).collect()
    }

    fn sets() -> Vec<PatternSet> {
        vec![
            PatternSet::All,
            PatternSet::no_miss(),
            PatternSet::Only(vec![1]),
            PatternSet::Hits(vec![0, 2]),
            PatternSet::Threshold { weights: vec![3, 1, 2], limit: 3 },
            PatternSet::Bitmap(Bitmap::new(3, |p| p % 3 == 1)),
        ]
    }

    #[test]
    fn membership_and_counts_follow_the_definitions() {
        let sizes = [4, 2, 3];
        let defined: [fn(u32) -> bool; 6] = [
            |_| true,
            |p| p == 0,
            |p| p == 0b010,
            |p| p & 0b101 == 0,
            |p| (p & 1) * 3 + (p >> 1 & 1) + (p >> 2) * 2 <= 3,
            |p| p % 3 == 1,
        ];
        for (set, defined) in sets().iter().zip(defined) {
            let members = set.members(3);
            let mut answers = 0;
            for p in 0..8u32 {
                assert_eq!(members[p as usize], defined(p), "{set:?} {p}");
                let missing: Vec<usize> = (0..3).filter(|i| p >> i & 1 == 1).collect();
                assert_eq!(set.holds(&missing), defined(p));
                let ways: usize = (0..3).map(|i| if p >> i & 1 == 1 { sizes[i] - 1 } else { 1 }).product();
                answers += if defined(p) { ways } else { 0 };
            }
            let table = set.completions(&choices(&sizes)).unwrap();
            assert_eq!(table.total(), &BigUint::from(answers), "{set:?}");
            assert_eq!(set.count(&choices(&sizes)).inside, BigUint::from(answers), "{set:?}");
        }
    }

    #[test]
    fn every_rank_gives_a_member_and_each_pattern_as_often_as_it_has_answers() {
        let sizes = [4, 2, 3];
        let choices = choices(&sizes);
        for set in sets() {
            let table = set.completions(&choices).unwrap();
            let mut seen = [0usize; 8];
            let mut rank = BigUint::ZERO;
            while &rank < table.total() {
                let misses = table.pattern_at(&choices, rank.clone());
                seen[(0..3).map(|i| usize::from(misses[i]) << i).sum::<usize>()] += 1;
                rank += 1u32;
            }
            for (p, member) in set.members(3).into_iter().enumerate() {
                let ways: usize = (0..3).map(|i| if p >> i & 1 == 1 { sizes[i] - 1 } else { 1 }).product();
                assert_eq!(seen[p], if member { ways } else { 0 }, "{set:?} {p}");
            }
        }
    }

    #[test]
    fn hexadecimal_bitmaps() {
        for k in 0..8 {
            let bitmap = Bitmap::new(k, |p| p % 5 == 1 || p % 7 == 0);
            assert_eq!(Bitmap::from_hex(k, &bitmap.to_hex()), Some(bitmap));
        }
        assert_eq!(Bitmap::new(3, |p| p == 0 || p == 7).to_hex(), "81");
        for bad in ["", "8", "811", "8g", "+1", "8A", "ß"] {
            assert_eq!(Bitmap::from_hex(3, bad), None, "{bad}");
        }
        assert_eq!(Bitmap::from_hex(2, "10"), None, "a bit beyond the last pattern");
    }

    /// Returns a number of 50 bits without any structure.
    fn unrelated(i: u64) -> u64 {
        let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 14
    }

    #[test]
    fn states_that_make_no_difference_are_one() {
        // Weights without structure: all 2^20 sums differ, but few of them matter.
        let mut weights: Vec<u64> = (0..20).map(unrelated).collect();
        let limit = weights.iter().sum::<u64>() / 3;
        let set = PatternSet::Threshold { weights: weights.clone(), limit };
        let table = set.completions(&choices(&[3; 20])).unwrap();
        assert!(table.states.len() < 8_000);
        let listed = set.members(20).into_iter().zip(0u32..).filter(|(member, _)| *member);
        let counted: u64 = listed.map(|(_, pattern)| 1 << pattern.count_ones()).sum();
        assert_eq!(table.total(), &BigUint::from(counted));
        weights[3] = u64::MAX;
        let set = PatternSet::Threshold { weights, limit };
        assert!(set.completions(&choices(&[3; 20])).is_some(), "sums do not overflow");
    }

    #[test]
    fn automata_beyond_reason_are_refused() {
        let weights: Vec<u64> = (0..60).map(unrelated).collect();
        let limit = weights.iter().sum::<u64>() / 2;
        let set = PatternSet::Threshold { weights, limit };
        assert!(set.completions(&choices(&[2; 60])).is_none());
    }

    #[test]
    fn down_closed_sets_are() {
        for set in sets() {
            let members = set.members(3);
            let closed = (0..8).all(|p| !members[p] || (0..8).all(|s| s & p != s || members[s]));
            assert!(closed || !set.is_down_closed());
        }
    }
}
