//! Threshold sets priced by a dual vector: the cutting planes of the program.

use std::rc::Rc;

use candor_base::channel::threshold::{Measure, measure};

use super::levels::EpsilonTargets;
use super::orbits::Orbits;

/// A threshold set `D = { S : sum of weights over S <= limit }` with its probabilities.
///
/// Probabilities are those under a uniformly random answer.
#[derive(Clone, Debug)]
pub struct ThresholdSet {
    /// One weight for the attributes of each class.
    pub weights: Vec<u64>,
    /// The largest sum in the set.
    pub limit: u64,
    /// `P(D)`.
    pub inside: f64,
    /// `P(D and attribute i misses)`, for one attribute of each class.
    pub missing: Vec<f64>,
}

impl ThresholdSet {
    /// Returns the set with a weight for each attribute instead of each class.
    pub fn by_attribute(&self, class_of: &[usize]) -> ThresholdSet {
        let weights = class_of.iter().map(|&class| self.weights[class]).collect();
        let missing = class_of.iter().map(|&class| self.missing[class]).collect();
        ThresholdSet { weights, missing, ..*self }
    }

    /// Returns `c_i = P(D, i hits) - g_i P(D, i misses)`, the gain of the set for attribute `i`.
    pub fn gain(&self, levels: &EpsilonTargets, i: usize) -> f64 {
        self.inside - levels.weight_of_price(i) * self.missing[i]
    }
}

/// Weights and limit of a threshold set.
pub type Threshold = (Vec<u64>, u64);

/// The set that gains most at given prices, and the bound that follows.
#[derive(Clone, Debug)]
pub struct PricedSet {
    /// The prices as requested.
    pub asked: Vec<f64>,
    /// The prices in other units, after rounding the weights to integers.
    pub prices: Vec<f64>,
    /// The set that gains most at these prices.
    pub cut: ThresholdSet,
    /// Its gain, `E[(Y - Z)^+]`; no set gains more.
    pub best_gain: f64,
}

impl PricedSet {
    /// Returns `sum of b_i y_i / E[(Y - Z)^+]`.
    ///
    /// This is a lower bound on `exp(epsilon) - 1` of every channel that meets the levels.
    pub fn bound(&self, levels: &EpsilonTargets) -> f64 {
        levels.paid(&self.prices) / self.best_gain
    }
}

/// Largest number of attributes for which a plan's weights may be of any size (see [`measure`]).
pub const MAX_FINE: usize = 30;

/// Sum of the prices in integer units if weights may be of any size.
const FINE: f64 = (1u64 << 40) as f64;

/// Probabilities below this are not distinguished from underflow.
const SMALLEST: f64 = 1e-290;

/// Computes sets and their probabilities for one list of classes.
#[derive(Clone)]
pub struct Pricer<'a> {
    levels: &'a EpsilonTargets,
    orbits: Option<Rc<Orbits>>,
    /// Sum of the prices in integer units.
    resolution: f64,
}

impl<'a> Pricer<'a> {
    /// Creates a pricer with weights so fine that rounding does not matter.
    ///
    /// Returns `None` if there are too many patterns to distinguish.
    pub fn fine(levels: &'a EpsilonTargets) -> Option<Pricer<'a>> {
        Orbits::new(levels).map(|orbits| Pricer { levels, orbits: Some(Rc::new(orbits)), resolution: FINE })
    }

    /// Creates a pricer that divides the sum of the prices into `resolution` units.
    pub fn coarse(levels: &'a EpsilonTargets, resolution: u64) -> Pricer<'a> {
        Pricer { levels, orbits: Orbits::new(levels).map(Rc::new), resolution: resolution as f64 }
    }

    /// Returns the approximate number of sums that pricing takes.
    pub fn steps(&self) -> u64 {
        let table = || self.levels.attributes() as u64 * self.resolution as u64;
        self.orbits.as_ref().map_or_else(table, |orbits| orbits.steps())
    }

    /// Returns the best set at the prices `y`, which must not be negative or all zero.
    ///
    /// The weights `y_i (1 + g_i)` are rounded to integers; `nudge(i)` in `0..1` is the fraction of a unit from which
    /// to round up. Cost: that of [`measure`].
    pub fn price(&self, y: &[f64], nudge: impl Fn(usize) -> f64) -> PricedSet {
        let counts = || (0..y.len()).map(|i| self.levels.count(i));
        let scale = self.resolution / y.iter().zip(counts()).map(|(y, count)| y * count).sum::<f64>();
        let (mut weights, mut prices) = (Vec::with_capacity(y.len()), Vec::with_capacity(y.len()));
        for (i, &y) in y.iter().enumerate() {
            let ideal = y * scale * self.levels.weight_of_price(i);
            if ideal > 2.0 * self.resolution {
                // Out of every set at any exact weight, so the price need not be rounded.
                weights.push(2 * self.resolution as u64 + 2);
                prices.push(y * scale);
            } else {
                let weight = (ideal + nudge(i)).floor();
                weights.push(weight as u64);
                prices.push(weight / self.levels.weight_of_price(i));
            }
        }
        let total: f64 = prices.iter().zip(counts()).map(|(price, count)| price * count).sum();
        let limit = total.floor() as u64;
        for weight in &mut weights {
            *weight = (*weight).min(limit + 1);
        }
        let cut = self.measure((weights, limit));
        // Weights that were reduced to just above the limit are in no set, so nothing is missing for them.
        let missed: f64 = (0..y.len()).map(|i| self.levels.count(i) * cut.weights[i] as f64 * cut.missing[i]).sum();
        let best_gain = total * cut.inside - missed;
        PricedSet { asked: y.to_vec(), prices, cut, best_gain }
    }

    /// Returns a given set with its probabilities.
    pub fn measure(&self, (weights, limit): Threshold) -> ThresholdSet {
        let measured = match &self.orbits {
            Some(orbits) => Some(orbits.measure(&weights, limit)).filter(|(inside, _)| *inside >= SMALLEST),
            None => self.measure_by_sums(&weights, limit),
        };
        // Too unlikely for floats, and useless for any plan.
        let (inside, missing) = measured.unwrap_or_else(|| (0.0, vec![0.0; weights.len()]));
        ThresholdSet { weights, limit, inside, missing }
    }

    fn measure_by_sums(&self, weights: &[u64], limit: u64) -> Option<(f64, Vec<f64>)> {
        let (mut all, mut ways, mut first) = (Vec::new(), Vec::new(), Vec::new());
        for (class, &weight) in weights.iter().enumerate() {
            first.push(all.len());
            let count = self.levels.count(class) as usize;
            all.extend(std::iter::repeat_n(weight, count));
            ways.extend(std::iter::repeat_n([1.0 / self.levels.size(class), self.levels.miss(class)], count));
        }
        let Measure { inside, missing, .. } = measure(&all, limit, &ways)?;
        Some((inside, first.into_iter().map(|i| missing[i]).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_set_gains_more_than_the_priced_one(
            attributes in prop::collection::vec((2usize..6, 0.05f64..4.0, 0.0f64..1.0), 2..7),
            other in any::<u64>(),
        ) {
            let sizes: Vec<usize> = attributes.iter().map(|a| a.0).collect();
            let levels = EpsilonTargets::new(sizes, attributes.iter().map(|a| a.1).collect()).unwrap();
            let y: Vec<f64> = attributes.iter().map(|a| a.2 + 1e-3).collect();
            let priced = Pricer::fine(&levels).unwrap().price(&y, |_| 0.5);
            let value = |gain: &dyn Fn(usize) -> f64| (0..levels.len()).map(|i| priced.prices[i] * gain(i))
                .sum::<f64>();
            let best = value(&|i| priced.cut.gain(&levels, i));
            prop_assert!((best - priced.best_gain).abs() < 1e-9 * priced.best_gain.abs().max(1.0));
            // Any set of patterns, not only thresholds: here the bits of a number decide.
            let k = levels.len();
            let gain = |i: usize| {
                let member = |s: usize| other.rotate_left(s as u32 * 7) & 1 == 1;
                (0..1usize << k).filter(|&s| member(s)).map(|s| {
                    let p: f64 = (0..k).map(|j| if s >> j & 1 == 1 { levels.miss(j) } else { 1.0 - levels.miss(j) })
                        .product();
                    if s >> i & 1 == 1 { p - levels.weight_of_price(i) * p } else { p }
                }).sum::<f64>()
            };
            prop_assert!(value(&gain) <= priced.best_gain * (1.0 + 1e-12));
        }
    }
}
