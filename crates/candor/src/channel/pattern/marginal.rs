//! The answers about a few attributes alone: marginal epsilons, and the law of the pattern that estimation needs.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::super::epsilon::{Epsilon, Rational, nearest};
use super::super::threshold::inside;
use super::bounds::Bounds;
use super::likelihood::keeping;
use super::{Axis, FULL_WEIGHT, MAX_ENUMERATED, Pattern, PatternSet, Size};

/// The probability of every pattern before resampling, once somebody asked for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered(OnceLock<Arc<Vec<f64>>>);

impl PartialEq for Remembered {
    /// What follows from the rest makes no difference.
    fn eq(&self, _: &Remembered) -> bool {
        true
    }
}

impl Pattern {
    /// Certified epsilon of one attribute for a reader of that attribute's answer alone:
    /// `|ln( Pr[hit] C(a-1, q) / (Pr[miss] C(a-1, q-1)) )|`; for ordinary answers
    /// `|ln( Pr[kept] (a - 1) / Pr[changed] )|`, the papers' "privacy level of attribute i".
    pub fn marginal_epsilon(&self, attribute: usize) -> Epsilon {
        if self.cannot_miss(attribute) {
            return Epsilon::ZERO;
        }
        let choices = self.axes[attribute].choices();
        let total = Rational::from(BigUint::from(self.total_weight()));
        let at = |hit: Rational| {
            let miss = if hit < total { &total - &hit } else { Rational::zero() };
            Epsilon::between(&(hit / &choices.hit), &(miss / &choices.miss))
        };
        let Bounds { low, high } = self.hit_weight(attribute);
        at(low).max(at(high))
    }

    /// The probability that the attribute's answer contains the truth.
    pub fn keep_probability(&self, attribute: usize) -> f64 {
        let Bounds { low, high } = self.hit_weight(attribute);
        nearest(&((low + high) / (BigUint::from(self.total_weight()) * 2u32)))
    }

    /// The law of the pattern over the given attributes alone. By symmetry a marginal of a
    /// pattern channel is a pattern channel again: this is it.
    ///
    /// Cost: `2^k` for up to [`MAX_ENUMERATED`] attributes (and `2^k` per part the first time); beyond, for each
    /// threshold `2^t` times its measure for `t > 1` given attributes.
    ///
    /// # Panics
    /// If an attribute is out of range or repeated, or more than [`MAX_ENUMERATED`] are given.
    pub fn marginal(&self, attributes: &[usize]) -> Masses {
        assert!(attributes.len() <= MAX_ENUMERATED, "at most {MAX_ENUMERATED} attributes at once");
        let distinct: HashSet<_> = attributes.iter().collect();
        assert!(distinct.len() == attributes.len(), "attributes must not repeat");
        let axes: Vec<Axis> = attributes.iter().map(|&i| self.axes[i]).collect();
        let mut masses = if self.axes.len() <= MAX_ENUMERATED {
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

    /// `Pr[hit]` times the total weight.
    fn hit_weight(&self, attribute: usize) -> Bounds {
        let mut hit = Bounds::exactly(Rational::zero());
        for (part, size) in self.parts.iter().zip(&self.sizes) {
            let share = self.hit_share(&part.set, size, attribute);
            hit.low += share.low * BigUint::from(part.weight);
            hit.high += share.high * BigUint::from(part.weight);
        }
        let resampled = Rational::new(self.resampling[attribute].into(), FULL_WEIGHT.into());
        if !resampled.is_zero() {
            let axis = self.axes[attribute];
            let by_chance = Rational::new(axis.answer.into(), axis.categories.into());
            let random = by_chance * BigUint::from(self.total_weight()) * &resampled;
            let kept = Rational::one() - resampled;
            hit = Bounds { low: hit.low * &kept + &random, high: hit.high * kept + random };
        }
        hit
    }

    /// The share of a set's answers in which the attribute hits.
    fn hit_share(&self, set: &PatternSet, size: &Size, attribute: usize) -> Bounds {
        let axis = self.axes[attribute];
        let by_chance = || Rational::new(axis.answer.into(), axis.categories.into());
        Bounds::exactly(match (set, size) {
            (PatternSet::All, _) => by_chance(),
            (PatternSet::Only(missing), _) if missing.binary_search(&attribute).is_ok() => Rational::zero(),
            (PatternSet::Only(_), _) => Rational::one(),
            (PatternSet::Hits(hits), _) if hits.binary_search(&attribute).is_ok() => Rational::one(),
            (PatternSet::Hits(_), _) => by_chance(),
            (_, Size::Share(share)) => {
                let missing = Bounds::around(share.missing[attribute] / share.inside, 2.5 * share.error);
                let rest = |part: Rational| Rational::one() - part.min(Rational::one());
                return Bounds { low: rest(missing.high), high: rest(missing.low) };
            }
            (set, Size::Exact(count)) => {
                let mut choices = self.choices();
                choices[attribute].miss = BigUint::ZERO;
                let hits = set.count(&choices).expect("no larger than when the channel was made");
                Rational::new(hits, count.clone())
            }
        })
    }

    /// The probability of every pattern before resampling, for few attributes.
    fn all_masses(&self) -> &[f64] {
        self.masses.0.get_or_init(|| {
            let mut shares = vec![1.0];
            for [hit, miss] in self.axes.iter().map(|axis| axis.shares()) {
                shares = [hit, miss].iter().flat_map(|way| shares.iter().map(move |share| share * way)).collect();
            }
            // Patterns that cannot occur have no share.
            Arc::new(self.relative_floats().iter().zip(shares).map(|(relative, share)| relative * share).collect())
        })
    }

    /// The masses part by part, each by its structure.
    fn add_masses(&self, attributes: &[usize]) -> Vec<f64> {
        let total = self.total_weight() as f64;
        let ways: Vec<[f64; 2]> = self.axes.iter().map(|axis| axis.shares()).collect();
        let mut masses = vec![0.0; 1 << attributes.len()];
        for (part, size) in self.parts.iter().zip(&self.sizes) {
            let weight = part.weight as f64 / total;
            for (pattern, mass) in masses.iter_mut().enumerate() {
                let misses = |at: usize| pattern >> at & 1;
                let product = |way: &dyn Fn(usize) -> [f64; 2]| -> f64 {
                    attributes.iter().enumerate().map(|(at, &i)| way(i)[misses(at)]).product()
                };
                let surely = |hit: bool| if hit { [1.0, 0.0] } else { [0.0, 1.0] };
                *mass += weight
                    * match (&part.set, size) {
                        (PatternSet::All, _) => product(&|i| ways[i]),
                        (PatternSet::Only(missing), _) => product(&|i| surely(missing.binary_search(&i).is_err())),
                        (PatternSet::Hits(hits), _) => {
                            product(&|i| if hits.binary_search(&i).is_ok() { surely(true) } else { ways[i] })
                        }
                        (PatternSet::Threshold { .. }, Size::Share(share)) if attributes.len() == 1 => {
                            let missing = share.missing[attributes[0]] / share.inside;
                            if misses(0) == 1 { missing } else { 1.0 - missing }
                        }
                        (PatternSet::Threshold { weights, limit }, Size::Share(share)) => {
                            let mut ways = ways.clone();
                            for (at, &i) in attributes.iter().enumerate() {
                                ways[i][1 - misses(at)] = 0.0;
                            }
                            inside(weights, *limit, &ways) / share.inside
                        }
                        (PatternSet::Threshold { .. } | PatternSet::Bitmap(_), _) => {
                            unreachable!("thresholds over many attributes have shares, bitmaps are for few")
                        }
                    };
            }
        }
        masses
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

/// The law of the pattern over a few attributes: `2^t` probabilities, by pattern number.
///
/// This is all that estimating a table over those attributes needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Masses {
    axes: Vec<Axis>,
    masses: Vec<f64>,
}

impl Masses {
    /// The attributes, in the order of the bits of a pattern's number.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The probability of each pattern; they sum to 1 up to rounding.
    pub fn probabilities(&self) -> &[f64] {
        &self.masses
    }

    /// The eigenvalues of the channel, by number of the set `U` of attributes: on functions of
    /// exactly `U` that sum to zero along each of its attributes, the map from the truth to the
    /// expected inclusion of each cell multiplies by
    ///
    /// ```text
    /// lambda(U) = sum over S of mass(S) * product over i in U of ( i in S ? -q/(a-1) : (a-q)/(a-1) )
    /// ```
    ///
    /// (for `q = 1` the factors are `-1/(a-1)` and `1`). Cost: `t 2^t`.
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
