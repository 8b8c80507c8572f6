//! How likely an answer is under one truth and under another: record and conditional epsilons.
//!
//! Three ways to look at the likelihoods of all patterns, by what the number of attributes allows: exact numbers, floats with a proven
//! error, or the shape of the sets alone. Every way gives upper bounds of the losses; the first is exact.

use std::collections::HashSet;

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::super::epsilon::{Epsilon, Rational, nearest, parity};
use super::bounds::Bounds;
use super::{FULL_WEIGHT, MAX_ENUMERATED, Part, Pattern, PatternSet, Size};

impl Pattern {
    /// The largest ratio of likelihoods of the whole answer, `max X / min X` over the possible
    /// patterns; `None` if infinite. Its logarithm is the record epsilon.
    ///
    /// Exact for up to 12 attributes, unless answers are resampled; for up to [`MAX_ENUMERATED`], and with resampling,
    /// up to a relative 1e-12 upward. Beyond, an upper bound: tight to 1e-9 in a mixture of thresholds with `all`, and
    /// without regard to resampling. Cost: `2^k` per part, or `parts^2` beyond.
    pub fn parity(&self) -> Option<Rational> {
        let (largest, smallest) = match self.view() {
            View::Exact(likelihoods) => likelihoods.extremes(),
            // Without resampling the extremes of sets that are closed under taking away misses are known.
            View::Floats(_) if !self.is_resampled() && self.parts.iter().all(|part| part.set.is_down_closed()) => {
                self.extremes_by_structure(&self.rates())
            }
            View::Floats(floats) => floats.extremes(),
            View::Structure => self.extremes_by_structure(&self.rates()),
        };
        parity(&largest, &smallest)
    }

    /// Certified epsilon of the whole record: the logarithm of [`Pattern::parity`].
    pub fn record_epsilon(&self) -> Epsilon {
        Epsilon::of_parity(self.parity().as_ref())
    }

    /// Certified epsilon of each attribute for a reader of the whole answer who knows all other
    /// attributes: `max over S of |ln X(S) / X(S + i)|`.
    ///
    /// As exact as [`Pattern::parity`] for up to [`MAX_ENUMERATED`] attributes, upper bounds beyond.
    /// These, not the marginal ones, are what respondents should be told. Cost: `2^k` for each part
    /// and attribute, or one sum over the parts for each attribute beyond.
    pub fn conditional_epsilons(&self) -> Vec<Epsilon> {
        let attributes = 0..self.axes.len();
        match self.view() {
            View::Exact(likelihoods) => attributes.map(|attribute| likelihoods.conditional(attribute)).collect(),
            View::Floats(floats) => attributes.map(|attribute| floats.conditional(attribute)).collect(),
            View::Structure => self.conditional_by_structure(),
        }
    }

    /// How the likelihoods of all patterns are looked at.
    fn view(&self) -> View {
        match self.likelihoods() {
            Some(likelihoods) => View::Exact(likelihoods),
            None if self.axes.len() <= MAX_ENUMERATED => View::Floats(self.floats()),
            None => View::Structure,
        }
    }

    /// How much likelier an answer of each pattern is than under a uniformly random answer; 0 for patterns that cannot
    /// occur. `None` with more than [`MAX_ENUMERATED`] attributes.
    pub(crate) fn relative(&self) -> Option<Vec<f64>> {
        let values = (self.axes.len() <= MAX_ENUMERATED).then(|| self.floats().values)?;
        Some(values.into_iter().map(|value| if value.is_nan() { 0.0 } else { value }).collect())
    }

    /// `X(S)` of every pattern, or `None` with too many attributes for exact numbers, or with resampling.
    pub(crate) fn likelihoods(&self) -> Option<Likelihoods> {
        let k = self.axes.len();
        if k > MAX_EXACT || self.is_resampled() {
            return None;
        }
        let fixed = (0..k).filter(|&i| self.cannot_miss(i)).fold(0, |mask, i| mask | 1usize << i);
        let mut class: Vec<Option<u32>> = (0..1usize << k).map(|p| (p & fixed == 0).then_some(0)).collect();
        let mut values = vec![Rational::zero()];
        for (part, size) in self.parts.iter().zip(&self.sizes) {
            let Size::Exact(count) = size else { unreachable!("shares are for more attributes") };
            let rate = Rational::new(part.weight.into(), count.clone());
            let mut renumbered = vec![[None; 2]; values.len()];
            let mut refined = Vec::new();
            for (class, member) in class.iter_mut().zip(part.set.members(k)) {
                let Some(class) = class else { continue };
                *class = *renumbered[*class as usize][usize::from(member)].get_or_insert_with(|| {
                    let value = &values[*class as usize];
                    refined.push(if member { value + &rate } else { value.clone() });
                    refined.len() as u32 - 1
                });
            }
            values = refined;
        }
        Some(Likelihoods { class, values })
    }

    /// How much likelier an answer of each pattern is than under a uniformly random answer, before resampling: sums of one
    /// rounded rate per part. Floats of ordinary size, whatever the number of answers.
    pub(super) fn relative_floats(&self) -> Vec<f64> {
        let k = self.axes.len();
        let scale = self.uniform_scale();
        let mut values = vec![0.0; 1 << k];
        for (part, size) in self.parts.iter().zip(&self.sizes) {
            let Size::Exact(count) = size else { unreachable!("shares are for more attributes") };
            let rate = nearest(&(Rational::new(part.weight.into(), count.clone()) * &scale));
            for (value, member) in values.iter_mut().zip(part.set.members(k)) {
                *value += if member { rate } else { 0.0 };
            }
        }
        values
    }

    /// The number of all answers over the total weight.
    fn uniform_scale(&self) -> Rational {
        let answers = self.choices().iter().fold(BigUint::one(), |n, choices| n * (&choices.hit + &choices.miss));
        Rational::new(answers, self.total_weight().into())
    }

    /// `X(S)` of every pattern after resampling; NaN for impossible ones.
    fn floats(&self) -> Floats {
        let mut values = self.relative_floats();
        let fixed = (0..self.axes.len()).filter(|&i| self.cannot_miss(i)).fold(0, |mask, i| mask | 1usize << i);
        values
            .iter_mut()
            .enumerate()
            .filter(|(pattern, _)| pattern & fixed != 0)
            .for_each(|(_, value)| *value = f64::NAN);
        for (i, axis) in self.axes.iter().enumerate().filter(|&(i, _)| self.resampling[i] > 0 && !self.cannot_miss(i)) {
            let (kept, random) = keeping(self.resampling[i]);
            let [hit, miss] = axis.shares();
            for pattern in (0..values.len()).filter(|pattern| pattern >> i & 1 == 0) {
                let (without, with) = (values[pattern], values[pattern | 1 << i]);
                let mean = hit * without + miss * with;
                values[pattern] = kept * without + random * mean;
                values[pattern | 1 << i] = kept * with + random * mean;
            }
        }
        let error = (self.parts.len() + 8 * self.axes.len() + 16) as f64 * f64::EPSILON;
        Floats { values, error }
    }

    /// `X` of one answer in each part's set, `W / N(D)`, as multiples of a common unit.
    fn rates(&self) -> Vec<Rate> {
        let all: BigUint = self.choices().iter().map(|choice| &choice.hit + &choice.miss).product();
        // The smallest rate is at least 1 / N(all): rounding to this unit changes none by more than 2^-96.
        let unit = all.bits() + 96;
        let rate = |(part, size): (&Part, &Size)| {
            let up = |value: Rational| (value * (BigUint::one() << unit)).ceil().to_integer();
            let down = |value: Rational| (value * (BigUint::one() << unit)).to_integer();
            let weight = BigUint::from(part.weight);
            match size {
                Size::Exact(count) => {
                    let value = Rational::new_raw(weight, count.clone());
                    Rate { low: down(value.clone()), high: up(value) }
                }
                Size::Share(share) => {
                    let share = Bounds::around(share.inside, share.error);
                    let value = |share: Rational| Rational::new_raw(weight.clone(), all.clone()) / share;
                    Rate { low: down(value(share.high)), high: up(value(share.low)) }
                }
            }
        };
        self.parts.iter().zip(&self.sizes).map(rate).collect()
    }

    /// Bounds on the largest and the smallest `X` from the shape of the sets: all but `Only` are
    /// closed under taking away misses, so without `Only` parts `X` falls from the empty to the full
    /// pattern.
    fn extremes_by_structure(&self, rates: &[Rate]) -> (Rational, Rational) {
        let value = |missing: &[usize]| -> BigUint {
            let inside = self.parts.iter().zip(rates).filter(|(part, _)| part.set.holds(missing));
            inside.map(|(_, rate)| &rate.high).sum()
        };
        let single = |part: &Part| match &part.set {
            PatternSet::Only(missing) => Some(value(missing)),
            _ => None,
        };
        let largest = self.parts.iter().filter_map(single).fold(value(&[]), BigUint::max);
        let full: Vec<usize> = (0..self.axes.len()).filter(|&i| !self.cannot_miss(i)).collect();
        let everywhere =
            self.parts.iter().zip(rates).filter(|(part, _)| part.set.is_down_closed() && part.set.holds(&full));
        let smallest: BigUint = everywhere.map(|(_, rate)| &rate.low).sum();
        (Rational::from(largest), Rational::from(smallest))
    }

    fn conditional_by_structure(&self) -> Vec<Epsilon> {
        let rates = self.rates();
        let (largest, smallest) = self.extremes_by_structure(&rates);
        let record = Epsilon::of_ratio(&largest, &smallest);
        let bound = |attribute: usize| {
            if self.cannot_miss(attribute) {
                return Epsilon::ZERO;
            }
            // X(S) exceeds X(S + i) by at most the parts that look at i.
            let looking = self.parts.iter().zip(&rates).filter(|(part, _)| part.set.looks_at(attribute));
            let excess: BigUint = looking.map(|(_, rate)| &rate.high).sum();
            Epsilon::of_ratio(&(&smallest + Rational::from(excess)), &smallest).min(record)
        };
        (0..self.axes.len()).map(bound).collect()
    }
}

/// Bounds on `W / N(D)`.
struct Rate {
    low: BigUint,
    high: BigUint,
}

/// The probabilities that an answer is kept and that it is resampled.
pub(super) fn keeping(resampling: u64) -> (f64, f64) {
    let whole = FULL_WEIGHT as f64;
    ((FULL_WEIGHT - u128::from(resampling)) as f64 / whole, resampling as f64 / whole)
}

/// `X(S)` of every possible pattern, in classes of equal value.
pub(crate) struct Likelihoods {
    /// By pattern number; `None` where an attribute that cannot miss would.
    pub(crate) class: Vec<Option<u32>>,
    pub(crate) values: Vec<Rational>,
}

/// The largest number of attributes for which every likelihood is held as an exact number.
pub(super) const MAX_EXACT: usize = 12;

/// What is known of the likelihoods of all patterns.
enum View {
    /// Exact numbers, of few attributes without resampling.
    Exact(Likelihoods),
    /// Floats with a proven error, of up to [`MAX_ENUMERATED`] attributes.
    Floats(Floats),
    /// The shape of the sets alone.
    Structure,
}

/// `X(S)` of every possible pattern as floats with a relative error; NaN for impossible patterns.
struct Floats {
    values: Vec<f64>,
    error: f64,
}

impl Floats {
    fn extremes(&self) -> (Rational, Rational) {
        // `min` and `max` pass over NaN.
        let (low, high) = self.values.iter().fold((f64::INFINITY, 0.0f64), |(l, h), &x| (l.min(x), h.max(x)));
        (Bounds::around(high, self.error).high, Bounds::around(low, self.error).low)
    }

    fn conditional(&self, attribute: usize) -> Epsilon {
        let bit = 1usize << attribute;
        let pairs = (0..self.values.len()).filter(|pattern| pattern & bit == 0);
        let ratio = |pattern: usize| (self.values[pattern], self.values[pattern | bit]);
        let worst = pairs.map(ratio).map(|(a, b)| (a / b).max(b / a)).fold(1.0, f64::max);
        match worst.is_finite() {
            true if worst > 1.0 => {
                let parity = Bounds::around(worst, 3.0 * self.error).high;
                Epsilon::of_ratio(&parity, &Rational::one())
            }
            true => Epsilon::ZERO,
            false => Epsilon::UNBOUNDED,
        }
    }
}

impl Likelihoods {
    fn extremes(&self) -> (Rational, Rational) {
        let largest = self.values.iter().max().expect("the pattern without misses is always possible");
        let smallest = self.values.iter().min().expect("the pattern without misses is always possible");
        (largest.clone(), smallest.clone())
    }

    fn conditional(&self, attribute: usize) -> Epsilon {
        let bit = 1usize << attribute;
        let mut pairs: HashSet<(u32, u32)> = HashSet::new();
        let mut last = None;
        for pattern in (0..self.class.len()).filter(|pattern| pattern & bit == 0) {
            let pair = self.class[pattern].zip(self.class[pattern | bit]);
            // Neighbours are mostly alike, and hashing a million pairs takes long.
            if pair != last {
                pairs.extend(pair);
                last = pair;
            }
        }
        let loss = |(hit, miss): (u32, u32)| Epsilon::between(&self.values[hit as usize], &self.values[miss as usize]);
        pairs.into_iter().map(loss).fold(Epsilon::ZERO, Epsilon::max)
    }
}
