//! Privacy loss of a pattern channel between two records that differ in several attributes at once.

use std::collections::HashSet;

use num_traits::One;

use super::super::change::Change;
use super::super::epsilon::{Epsilon, Rational};
use super::super::work::done;
use super::Pattern;
use super::bounds::Bounds;
use super::likelihood::View;

/// Largest number of pairs of patterns that are enumerated.
const MAX_PAIRS: usize = 1 << 14;

impl Pattern {
    /// Implements [`Channel::change`](crate::channel::Channel::change), with one change for each attribute.
    ///
    /// Where two records differ in an attribute, an answer may hit one record and miss the other. It may also miss
    /// both, if two categories lie outside it, or hit both, if it names two. Where the records agree, it hits both or
    /// misses both.
    pub(crate) fn change(&self, changes: &[Change<'_>]) -> Epsilon {
        let view = self.view();
        let (seen, patterns) = match &view {
            View::Exact(likelihoods) => (likelihoods.seen(), likelihoods.classes().len()),
            View::Floats(floats) => (&floats.seen[..], floats.values.len()),
            View::Structure => return self.change_one_by_one(&view, changes),
        };
        done(4 * patterns);
        let Some(pairs) = self.pairs_of_patterns(seen, changes) else { return self.change_one_by_one(&view, changes) };
        let free = mask(seen, |i| !changes[i].is_none() && !self.must_change(seen, changes, i));
        match &view {
            View::Exact(likelihoods) => {
                let ranks = likelihoods.ranks();
                let (most, least) = extremes(likelihoods.classes().iter().map(|&class| ranks[class as usize]), free);
                let found: HashSet<(usize, usize)> = pairs.into_iter().map(|(x, y)| (most[x], least[y])).collect();
                let ordered = likelihoods.ordered();
                let falling = found.into_iter().filter(|(most, least)| most > least);
                Epsilon::of_worst(falling.map(|(most, least)| (ordered[most], ordered[least])))
            }
            View::Floats(floats) => {
                let (most, least) = extremes(floats.values.iter().copied(), free);
                // `max` ignores NaN, which stands for 0/0.
                let worst = pairs.into_iter().map(|(x, y)| most[x] / least[y]).fold(1.0, f64::max);
                if !worst.is_finite() {
                    return Epsilon::UNBOUNDED;
                }
                Epsilon::of_ratio(&Bounds::around(worst, 3.0 * floats.error).high, &Rational::one())
            }
            View::Structure => unreachable!("returned above"),
        }
    }

    /// Returns an upper bound: the smaller of the whole answer's loss and the sum over attributes that change in turn.
    fn change_one_by_one(&self, view: &View, changes: &[Change<'_>]) -> Epsilon {
        let conditionals = self.conditionals_of(view).into_iter().zip(changes).filter(|(_, change)| !change.is_none());
        let sum = conditionals.fold(Epsilon::ZERO, |sum, (epsilon, _)| sum + epsilon);
        sum.min(Epsilon::of_parity(self.parity_of(view).as_ref()))
    }

    /// Returns whether to distinguish categories that must differ from categories that may differ.
    ///
    /// With more than five attributes that must differ, the combinations would be too many. All of them then count as
    /// free to differ, which gives an upper bound.
    fn must_change(&self, seen: &[usize], changes: &[Change<'_>], i: usize) -> bool {
        changes[i].is_certain() && seen.iter().filter(|&&i| changes[i].is_certain()).count() <= 5
    }

    /// Returns the pairs of patterns that one answer may have against two records that differ as stated.
    ///
    /// Attributes that change freely are left out. Returns `None` if there are too many pairs.
    fn pairs_of_patterns(&self, seen: &[usize], changes: &[Change<'_>]) -> Option<Vec<(usize, usize)>> {
        let mut pairs = vec![(0, 0)];
        for (at, &i) in seen.iter().enumerate() {
            let (bit, axis) = (1usize << at, self.axes[i]);
            let kinds: Vec<(usize, usize)> = match () {
                () if changes[i].is_none() => vec![(0, 0), (bit, bit)],
                () if self.must_change(seen, changes, i) => {
                    let both_miss = (axis.categories - axis.answer >= 2).then_some((bit, bit));
                    let both_hit = (axis.answer >= 2).then_some((0, 0));
                    [(0, bit), (bit, 0)].into_iter().chain(both_miss).chain(both_hit).collect()
                }
                () => continue,
            };
            let with = |(x, y): (usize, usize)| kinds.iter().map(move |(a, b)| (x | a, y | b)).collect::<Vec<_>>();
            pairs = pairs.into_iter().flat_map(with).collect();
            if pairs.len() > MAX_PAIRS.max(1 << seen.len()) {
                return None;
            }
        }
        Some(pairs)
    }
}

fn mask(seen: &[usize], holds: impl Fn(usize) -> bool) -> usize {
    seen.iter().enumerate().fold(0, |mask, (at, &i)| mask | usize::from(holds(i)) << at)
}

/// Returns the largest and the smallest value of each pattern over all choices for the free attributes.
fn extremes<T: Copy + PartialOrd>(values: impl Iterator<Item = T>, free: usize) -> (Vec<T>, Vec<T>) {
    let mut most: Vec<T> = values.collect();
    let mut least = most.clone();
    for bit in (0..usize::BITS).map(|at| 1usize << at).filter(|bit| free & bit != 0) {
        for hit in (0..most.len()).filter(|pattern| pattern & bit == 0) {
            let larger = if most[hit | bit] > most[hit] { most[hit | bit] } else { most[hit] };
            let smaller = if least[hit | bit] < least[hit] { least[hit | bit] } else { least[hit] };
            (most[hit], least[hit]) = (larger, smaller);
        }
    }
    (most, least)
}
