//! Threshold sets priced by a dual vector: the cutting planes of the program.

use std::rc::Rc;

use candor_base::channel::threshold::{Measure, measure};

use super::levels::EpsilonTargets;
use super::orbits::Orbits;

/// A threshold set `D = { S : sum of weights over S <= limit }` and its probabilities under a
/// uniformly random answer.
#[derive(Clone, Debug)]
pub struct ThresholdSet {
    /// One weight for the attributes of each class.
    pub weights: Vec<u64>,
    /// The largest admitted sum.
    pub limit: u64,
    /// `P(D)`.
    pub inside: f64,
    /// `P(D and attribute i misses)`, for one attribute of each class.
    pub missing: Vec<f64>,
}

impl ThresholdSet {
    /// The same set with a weight for each attribute.
    pub fn by_attribute(&self, class_of: &[usize]) -> ThresholdSet {
        let weights = class_of.iter().map(|&class| self.weights[class]).collect();
        let missing = class_of.iter().map(|&class| self.missing[class]).collect();
        ThresholdSet { weights, missing, ..*self }
    }

    /// `c_i = P(D, i hits) - g_i P(D, i misses)`: what the set gains for attribute `i`.
    pub fn gain(&self, levels: &EpsilonTargets, i: usize) -> f64 {
        self.inside - levels.weight_of_price(i) * self.missing[i]
    }
}

/// Weights and limit of a threshold set.
pub type Threshold = (Vec<u64>, u64);

/// What a dual vector says.
#[derive(Clone, Debug)]
pub struct PricedSet {
    /// The prices asked about.
    pub asked: Vec<f64>,
    /// The same, in other units, as they are after rounding the weights to integers.
    pub prices: Vec<f64>,
    /// The set that gains most at these prices.
    pub cut: ThresholdSet,
    /// Its gain, `E[(Y - Z)^+]`: no set gains more.
    pub best_gain: f64,
}

impl PricedSet {
    /// `sum of b_i y_i / E[(Y - Z)^+]`, a lower bound on `exp(epsilon) - 1` of every channel that
    /// meets the levels.
    pub fn bound(&self, levels: &EpsilonTargets) -> f64 {
        levels.paid(&self.prices) / self.best_gain
    }
}

/// The number of attributes up to which a plan's weights may be of any size (see [`measure`]).
pub const MAX_FINE: usize = 30;

/// The sum of the prices in integer units, where weights may be of any size.
const FINE: f64 = (1u64 << 40) as f64;

/// Probabilities below this are not told from underflow.
const SMALLEST: f64 = 1e-290;

/// Computes sets and their probabilities for one list of classes.
#[derive(Clone)]
pub struct Pricer<'a> {
    levels: &'a EpsilonTargets,
    orbits: Option<Rc<Orbits>>,
    /// The sum of the prices in integer units.
    resolution: f64,
}

impl<'a> Pricer<'a> {
    /// With weights so fine that rounding does not matter; `None` if there are too many patterns to tell apart for
    /// that.
    pub fn fine(levels: &'a EpsilonTargets) -> Option<Pricer<'a>> {
        Orbits::new(levels).map(|orbits| Pricer { levels, orbits: Some(Rc::new(orbits)), resolution: FINE })
    }

    /// With the sum of the prices divided into `resolution` units.
    pub fn coarse(levels: &'a EpsilonTargets, resolution: u64) -> Pricer<'a> {
        Pricer { levels, orbits: Orbits::new(levels).map(Rc::new), resolution: resolution as f64 }
    }

    /// About how many sums it takes to price.
    pub fn steps(&self) -> u64 {
        let table = || self.levels.attributes() as u64 * self.resolution as u64;
        self.orbits.as_ref().map_or_else(table, |orbits| orbits.steps())
    }

    /// The best set at the prices `y` (not negative, not all zero), after rounding the weights
    /// `y_i (1 + g_i)` to integers; `nudge(i)` in `0..1` says where in a unit to round up.
    ///
    /// Cost: that of [`measure`].
    pub fn price(&self, y: &[f64], nudge: impl Fn(usize) -> f64) -> PricedSet {
        let counts = || (0..y.len()).map(|i| self.levels.count(i));
        let scale = self.resolution / y.iter().zip(counts()).map(|(y, count)| y * count).sum::<f64>();
        let (mut weights, mut prices) = (Vec::with_capacity(y.len()), Vec::with_capacity(y.len()));
        for (i, &y) in y.iter().enumerate() {
            let ideal = y * scale * self.levels.weight_of_price(i);
            if ideal > 2.0 * self.resolution {
                // Out of every set, whatever the exact weight: the price need not be rounded.
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
        // A weight that was cut back to the limit is in no set: it has nothing missing.
        let missed: f64 = (0..y.len()).map(|i| self.levels.count(i) * cut.weights[i] as f64 * cut.missing[i]).sum();
        let best_gain = total * cut.inside - missed;
        PricedSet { asked: y.to_vec(), prices, cut, best_gain }
    }

    /// A given set with its probabilities.
    pub fn measure(&self, (weights, limit): Threshold) -> ThresholdSet {
        let measured = match &self.orbits {
            Some(orbits) => Some(orbits.measure(&weights, limit)).filter(|(inside, _)| *inside >= SMALLEST),
            None => self.measure_by_sums(&weights, limit),
        };
        // Too unlikely for floats: no use to anybody.
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
