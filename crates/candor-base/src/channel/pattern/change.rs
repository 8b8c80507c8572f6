//! What an answer reveals between two records that differ in several attributes at once.

use std::collections::HashSet;

use num_traits::One;

use super::super::change::Change;
use super::super::epsilon::{Epsilon, Rational};
use super::super::work::done;
use super::Pattern;
use super::bounds::Bounds;
use super::likelihood::View;

/// More pairs of patterns than this are not listed one by one.
const MAX_PAIRS: usize = 1 << 14;

impl Pattern {
    /// See [`Channel::change`](crate::channel::Channel::change); one change for each attribute.
    ///
    /// Between two records that differ in an attribute, an answer may hit one and miss the other; miss both if two
    /// categories are outside it; or hit both if it names two. Where records agree it hits both or misses both.
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
                // `max` passes over NaN: 0/0.
                let worst = pairs.into_iter().map(|(x, y)| most[x] / least[y]).fold(1.0, f64::max);
                if !worst.is_finite() {
                    return Epsilon::UNBOUNDED;
                }
                Epsilon::of_ratio(&Bounds::around(worst, 3.0 * floats.error).high, &Rational::one())
            }
            View::Structure => unreachable!("returned above"),
        }
    }

    /// An upper bound: the attributes change one after the other, and no more than the whole answer reveals.
    fn change_one_by_one(&self, view: &View, changes: &[Change<'_>]) -> Epsilon {
        let conditionals = self.conditionals_of(view).into_iter().zip(changes).filter(|(_, change)| !change.is_none());
        let sum = conditionals.fold(Epsilon::ZERO, |sum, (epsilon, _)| sum + epsilon);
        sum.min(Epsilon::of_parity(self.parity_of(view).as_ref()))
    }

    /// Whether it makes a difference that the categories of an attribute differ for certain: not where too many do to
    /// look at each combination, where both may be treated as able to.
    fn must_change(&self, seen: &[usize], changes: &[Change<'_>], i: usize) -> bool {
        changes[i].is_certain() && seen.iter().filter(|&&i| changes[i].is_certain()).count() <= 5
    }

    /// The patterns of one answer against two records that differ as stated, attributes that change freely left out;
    /// `None` if they are too many.
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

/// The largest and the smallest value of each pattern over everything that the free attributes may do.
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
