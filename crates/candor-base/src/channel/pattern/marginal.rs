//! Marginals of pattern channels over a few attributes: marginal epsilons, and pattern probabilities for estimation.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::super::epsilon::{Epsilon, Rational, nearest_quotient};
use super::super::threshold::{Measure, SMALLEST, measure};
use super::super::work::done;
use super::bounds::Bounds;
use super::likelihood::keeping;
use super::rates::Rates;
use super::{Axis, FULL_WEIGHT, MAX_ENUMERATED, Pattern, PatternSet, Size};

/// Cached results.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    /// The probability of every pattern before resampling.
    all: OnceLock<Arc<Vec<f64>>>,
    /// For each part and attribute: the probability of its set with that attribute and one other missing, by the other.
    both: OnceLock<Arc<Vec<OnceLock<Vec<f64>>>>>,
}

impl PartialEq for Remembered {
    /// Ignores caches: they follow from the other fields.
    fn eq(&self, _: &Remembered) -> bool {
        true
    }
}

/// Returns the fraction of a measured set's answers in which the attribute misses.
fn missing_share(set: &Measure, attribute: usize) -> Bounds {
    match set.missing[attribute] {
        missing if missing >= SMALLEST => Bounds::around(missing / set.inside, 2.5 * set.error),
        // Too small for a relative error to hold: the value is between 0 and this.
        _ => Bounds { low: Rational::zero(), ..Bounds::around(SMALLEST / set.inside, 2.5 * set.error) },
    }
}

impl Pattern {
    /// Returns the certified marginal epsilon of one attribute, for an adversary who sees that answer alone.
    ///
    /// It is `|ln( Pr[hit] C(a-1, q) / (Pr[miss] C(a-1, q-1)) )|`. With answers of one category it is
    /// `|ln( Pr[kept] (a - 1) / Pr[changed] )|`, which the papers call "privacy level of attribute i".
    pub fn marginal_epsilon(&self, attribute: usize) -> Epsilon {
        self.marginal_of(attribute, &self.hit_weight(attribute, &self.counted_rates()))
    }

    fn marginal_of(&self, attribute: usize, hit: &Bounds) -> Epsilon {
        if self.cannot_miss(attribute) {
            return Epsilon::ZERO;
        }
        let (odds, total) = (self.axes[attribute].odds(), self.total_weight());
        let at = |hit: &Rational| {
            let whole = hit.denom() * total;
            let miss = if *hit.numer() < whole { whole - hit.numer() } else { BigUint::ZERO };
            let (hit, miss) = (hit.numer() * &odds.miss, miss * &odds.hit);
            Epsilon::of_integers((&hit).max(&miss), (&hit).min(&miss))
        };
        at(&hit.low).max(at(&hit.high))
    }

    /// Returns the retention probability: that the attribute's answer contains the true category.
    pub fn keep_probability(&self, attribute: usize) -> f64 {
        self.keep_of(&self.hit_weight(attribute, &self.counted_rates()))
    }

    fn keep_of(&self, Bounds { low, high }: &Bounds) -> f64 {
        let sum = low.numer() * high.denom() + high.numer() * low.denom();
        nearest_quotient(&sum, &(low.denom() * high.denom() * self.total_weight() * 2u32))
    }

    /// Returns [`Pattern::marginal_epsilon`] and [`Pattern::keep_probability`] of every attribute, at little more than
    /// the cost of one.
    pub(crate) fn marginals(&self) -> Vec<(Epsilon, f64)> {
        let rates = self.counted_rates();
        let of = |attribute: usize| {
            let hit = self.hit_weight(attribute, &rates);
            (self.marginal_of(attribute, &hit), self.keep_of(&hit))
        };
        (0..self.axes.len()).map(of).collect()
    }

    /// Returns the distribution of the pattern over the given attributes alone.
    ///
    /// By symmetry, the marginal of a pattern channel is again a pattern channel, with this distribution.
    ///
    /// Cost: `2^t` per part for `t` given attributes. With thresholds or bitmaps:
    /// - for up to [`MAX_ENUMERATED`] attributes of the channel, `2^k`, and `2^k` per part the first time,
    /// - beyond, one measure of each threshold for the first attribute of any pair, or `2^t` measures if `t > 2`.
    ///
    /// # Panics
    /// Panics if an attribute is out of range or repeated, or if more than [`MAX_ENUMERATED`] are given.
    pub fn marginal(&self, attributes: &[usize]) -> Masses {
        assert!(attributes.len() <= MAX_ENUMERATED, "at most {MAX_ENUMERATED} attributes at once");
        let distinct: HashSet<_> = attributes.iter().collect();
        assert!(distinct.len() == attributes.len(), "attributes must not repeat");
        let axes: Vec<Axis> = attributes.iter().map(|&i| self.axes[i]).collect();
        let mut masses = if self.axes.len() <= MAX_ENUMERATED && self.parts.iter().any(|part| part.set.is_listed()) {
            let mut masses = vec![0.0; 1 << attributes.len()];
            for (pattern, mass) in self.all_masses().iter().enumerate() {
                masses[attributes.iter().enumerate().map(|(at, &i)| (pattern >> i & 1) << at).sum::<usize>()] += mass;
            }
            masses
        } else {
            self.add_masses(attributes)
        };
        for (at, &attribute) in attributes.iter().enumerate().filter(|&(_, &i)| self.resampling[i] > 0) {
            soften(&mut masses, at, self.axes[attribute], self.resampling[attribute]);
        }
        Masses { axes, masses }
    }

    /// Returns the rates of the parts whose sets are counted pattern by pattern.
    ///
    /// For all other sets, the probability that an attribute hits follows from the shape of the set.
    fn counted_rates(&self) -> Rates {
        self.exact_rates(PatternSet::is_listed)
    }

    /// Returns `Pr[hit]` times the total weight, as unreduced fractions.
    fn hit_weight(&self, attribute: usize, rates: &Rates) -> Bounds {
        let axis = self.axes[attribute];
        done(self.parts.len() * (1 + rates.denominator.bits() as usize / 64));
        // Weights of the parts in which the attribute certainly hits, and of those in which it hits by chance; then
        // sums from counts and from measured probabilities.
        let (mut sure, mut by_chance, mut counted) = (0u128, 0u128, BigUint::ZERO);
        let mut shared = Bounds::exactly(Rational::zero());
        for ((part, size), rate) in self.parts.iter().zip(&self.sizes).zip(&rates.numerators) {
            match (&part.set, size) {
                (PatternSet::Only(list), _) if list.binary_search(&attribute).is_ok() => {}
                (PatternSet::Hits(list), _) if list.binary_search(&attribute).is_err() => {
                    by_chance += u128::from(part.weight)
                }
                (PatternSet::Only(_) | PatternSet::Hits(_), _) => sure += u128::from(part.weight),
                (PatternSet::All, _) => by_chance += u128::from(part.weight),
                (_, Size::Exact(count)) => {
                    let rate = rate.as_ref().expect("rates of all that were counted");
                    counted += rate * (&count.inside - &count.missing[attribute]);
                }
                (_, Size::Share(share)) => {
                    let missing = missing_share(share, attribute);
                    let rest = |part: Rational| Rational::one() - part.min(Rational::one());
                    shared.low += rest(missing.high) * BigUint::from(part.weight);
                    shared.high += rest(missing.low) * BigUint::from(part.weight);
                }
            }
        }
        let whole =
            (BigUint::from(sure) * axis.categories + BigUint::from(by_chance) * axis.answer) * &rates.denominator;
        let sum = (whole + counted * axis.categories, &rates.denominator * axis.categories);
        let with = |shared: Rational| {
            let numerator = &sum.0 * shared.denom() + &sum.1 * shared.numer();
            self.resampled_hit(attribute, numerator, &sum.1 * shared.denom())
        };
        Bounds { low: with(shared.low), high: with(shared.high) }
    }

    /// Returns a hit weight after resampling.
    fn resampled_hit(&self, attribute: usize, numerator: BigUint, denominator: BigUint) -> Rational {
        let (axis, resampled) = (self.axes[attribute], self.resampling[attribute]);
        if resampled == 0 {
            return Rational::new_raw(numerator, denominator);
        }
        let random = &denominator * axis.answer * self.total_weight() * resampled;
        let kept = numerator * (FULL_WEIGHT - u128::from(resampled)) * axis.categories;
        Rational::new_raw(kept + random, denominator * axis.categories * FULL_WEIGHT)
    }

    /// Returns the probability of every pattern before resampling, for few attributes.
    fn all_masses(&self) -> &[f64] {
        self.masses.all.get_or_init(|| {
            let mut shares = vec![1.0];
            for [hit, miss] in self.axes.iter().map(|axis| axis.shares()) {
                shares = [hit, miss].iter().flat_map(|way| shares.iter().map(move |share| share * way)).collect();
            }
            // Patterns that cannot occur have probability 0.
            let all: Vec<usize> = (0..self.axes.len()).collect();
            Arc::new(self.relative_floats(&all).iter().zip(shares).map(|(relative, share)| relative * share).collect())
        })
    }

    /// Sums the probabilities part by part, each from the structure of its set.
    fn add_masses(&self, attributes: &[usize]) -> Vec<f64> {
        let total = self.total_weight() as f64;
        let mut masses = vec![0.0; 1 << attributes.len()];
        for (number, (part, size)) in self.parts.iter().zip(&self.sizes).enumerate() {
            let weight = part.weight as f64 / total;
            for (pattern, mass) in masses.iter_mut().enumerate() {
                let misses = |at: usize| pattern >> at & 1;
                let product = |way: &dyn Fn(usize) -> [f64; 2]| -> f64 {
                    attributes.iter().enumerate().map(|(at, &i)| way(i)[misses(at)]).product()
                };
                let surely = |hit: bool| if hit { [1.0, 0.0] } else { [0.0, 1.0] };
                *mass += weight
                    * match (&part.set, size) {
                        (PatternSet::All, _) => product(&|i| self.axes[i].shares()),
                        (PatternSet::Only(missing), _) => product(&|i| surely(missing.binary_search(&i).is_err())),
                        (PatternSet::Hits(hits), _) => product(&|i| {
                            if hits.binary_search(&i).is_ok() { surely(true) } else { self.axes[i].shares() }
                        }),
                        (PatternSet::Threshold { .. }, Size::Share(share)) if attributes.len() <= 2 => {
                            let [a, b] = [0, 1].map(|at| attributes.get(at).map_or(0.0, |&i| share.missing[i]));
                            let both = attributes.get(1).map_or(0.0, |&i| self.both_missing(number, attributes[0], i));
                            [share.inside - a - b + both, a - both, b - both, both][pattern].max(0.0) / share.inside
                        }
                        (PatternSet::Threshold { weights, limit }, Size::Share(share)) => {
                            let mut ways: Vec<[f64; 2]> = self.axes.iter().map(|axis| axis.shares()).collect();
                            for (at, &i) in attributes.iter().enumerate() {
                                ways[i][1 - misses(at)] = 0.0;
                            }
                            measure(weights, *limit, &ways).map_or(0.0, |measured| measured.inside) / share.inside
                        }
                        (PatternSet::Threshold { .. } | PatternSet::Bitmap(_), _) => {
                            unreachable!("thresholds over many attributes have shares, bitmaps are for few")
                        }
                    };
            }
        }
        masses
    }

    /// Returns the probability that the threshold of a part holds and both attributes miss.
    ///
    /// The result is cached for the attribute of the smaller number, with all others.
    fn both_missing(&self, part: usize, one: usize, other: usize) -> f64 {
        let (k, first) = (self.axes.len(), one.min(other));
        let rows = self.masses.both.get_or_init(|| Arc::new(vec![OnceLock::new(); self.parts.len() * k]));
        let others = rows[part * k + first].get_or_init(|| {
            let PatternSet::Threshold { weights, limit } = &self.parts[part].set else { return vec![0.0; k] };
            let mut ways: Vec<[f64; 2]> = self.axes.iter().map(|axis| axis.shares()).collect();
            ways[first][0] = 0.0;
            measure(weights, *limit, &ways).map_or_else(|| vec![0.0; k], |measured| measured.missing)
        });
        others[one.max(other)]
    }
}

/// Resamples the attribute of bit `at`.
fn soften(masses: &mut [f64], at: usize, axis: Axis, resampling: u64) {
    let ((kept, random), [hit, miss]) = (keeping(resampling), axis.shares());
    for pattern in (0..masses.len()).filter(|pattern| pattern >> at & 1 == 0) {
        let both = masses[pattern] + masses[pattern | 1 << at];
        masses[pattern] = kept * masses[pattern] + random * hit * both;
        masses[pattern | 1 << at] = kept * masses[pattern | 1 << at] + random * miss * both;
    }
}

/// The distribution of the pattern over a few attributes: `2^t` probabilities, by pattern number.
///
/// Estimating a table over those attributes needs nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Masses {
    axes: Vec<Axis>,
    masses: Vec<f64>,
}

impl Masses {
    /// Returns the attributes, in the order of the bits of a pattern's number.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the probability of each pattern; they sum to 1 up to rounding.
    pub fn probabilities(&self) -> &[f64] {
        &self.masses
    }

    /// Returns the eigenvalues of the channel, by the number of the set `U` of attributes.
    ///
    /// The channel maps the true record to the expected inclusion of each cell. On functions of exactly `U` that sum to
    /// zero along each of its attributes, this map multiplies by
    ///
    /// ```text
    /// lambda(U) = sum over S of mass(S) * product over i in U of ( i in S ? -q/(a-1) : (a-q)/(a-1) )
    /// ```
    ///
    /// where the factors are `-1/(a-1)` and `1` for `q = 1`. Cost: `t 2^t`.
    pub fn eigenvalues(&self) -> Vec<f64> {
        let mut values = self.masses.clone();
        for (i, axis) in self.axes.iter().enumerate() {
            let (a, q) = (axis.categories as f64, axis.answer as f64);
            let bit = 1 << i;
            for without in (0..values.len()).filter(|u| u & bit == 0) {
                let (hit, miss) = (values[without], values[without | bit]);
                values[without] = hit + miss;
                values[without | bit] = (hit * (a - q) - miss * q) / (a - 1.0);
            }
        }
        values
    }
}
