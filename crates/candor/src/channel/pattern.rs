//! Pattern channels: one family for k-ary randomized response, joint randomized response, subset
//! selection, l-diversity, and every optimised design over several attributes.
//!
//! The answer names for each attribute a set of categories; the *pattern* of an answer is the set
//! of attributes whose answer misses the truth. A channel is a hidden mixture of *parts*: with
//! probability proportional to its weight `W`, a part answers uniformly among all answers whose
//! pattern lies in its set `D`. With `N(D)` the number of such answers, one particular answer of
//! pattern `S` has probability
//!
//! ```text
//! X(S) = sum over parts with S in D of  W / N(D)      (up to the total weight)
//! ```
//!
//! an exact rational number at any domain size. Everything below follows from these numbers.
//!
//! Afterwards an attribute's answer may be *resampled*: replaced, with a probability of its own, by a
//! uniformly random one. That is how optimised designs bring a single attribute down to exactly the
//! epsilon asked for.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::ChannelError;
use super::epsilon::{Epsilon, Rational, choose, exact, nearest, parity};
use super::pattern_set::{Choices, Completions, MAX_ENUMERATED, PatternSet};
use super::threshold::{Measure, inside, measure};

/// How one attribute enters a pattern channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The number of categories, `a`.
    pub categories: usize,
    /// How many of them the answer names, `q`; 1 is an ordinary answer, `a` says nothing.
    pub answer: usize,
}

impl Axis {
    /// An attribute answered with one category.
    pub fn single(categories: usize) -> Axis {
        Axis { categories, answer: 1 }
    }

    /// An attribute answered with a set of `answer` categories.
    pub fn set(categories: usize, answer: usize) -> Axis {
        Axis { categories, answer }
    }

    /// The probability that a uniformly random answer hits, `q/a`, and that it misses.
    pub(crate) fn shares(self) -> [f64; 2] {
        let (a, q) = (self.categories as f64, self.answer as f64);
        [q / a, (a - q) / a]
    }

    fn choices(self) -> Choices {
        Choices { hit: choose(self.categories - 1, self.answer - 1), miss: choose(self.categories - 1, self.answer) }
    }
}

/// One component of the hidden mixture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The patterns among whose answers this part draws.
    pub set: PatternSet,
    /// Its integer weight.
    pub weight: u64,
}

/// A pattern channel with integer weights: what it says of itself is exactly what is sampled.
///
/// ```
/// use candor::channel::{Axis, Pattern};
///
/// // 4-ary randomized response at epsilon 1.
/// let channel = Pattern::k_ary(vec![Axis::single(4)], 1.0)?;
/// let certified = channel.record_epsilon().value().unwrap();
/// assert!(certified <= 1.0 && certified > 1.0 - 1e-9);
/// assert!((channel.keep_probability(0) - 1f64.exp() / (1f64.exp() + 3.0)).abs() < 1e-9);
/// # Ok::<(), candor::channel::ChannelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    axes: Vec<Axis>,
    parts: Vec<Part>,
    /// `N(D)` of each part.
    sizes: Vec<Size>,
    /// For each attribute, out of 2^64: how often its answer is replaced by a uniformly random one.
    resampling: Vec<u64>,
    masses: Remembered,
}

/// The probability of every pattern before resampling, once somebody asked for it.
#[derive(Clone, Debug, Default)]
struct Remembered(OnceLock<Arc<Vec<f64>>>);

impl PartialEq for Remembered {
    /// What follows from the rest makes no difference.
    fn eq(&self, _: &Remembered) -> bool {
        true
    }
}

/// The number of answers a part draws among.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Size {
    /// As an integer.
    Exact(BigUint),
    /// As a share of all answers, in floats with a proven error: a threshold over more than
    /// [`MAX_ENUMERATED`] attributes.
    Share(Measure),
}

/// A number known from below and from above.
#[derive(Clone, Debug)]
struct Bounds {
    low: Rational,
    high: Rational,
}

impl Bounds {
    fn exactly(value: Rational) -> Bounds {
        Bounds { low: value.clone(), high: value }
    }

    /// A float with a relative error.
    fn around(value: f64, error: f64) -> Bounds {
        let end = |value: f64| exact(value.max(0.0)).expect("finite and not negative");
        Bounds { low: end((value * (1.0 - error)).next_down()), high: end((value * (1.0 + error)).next_up()) }
    }
}

/// The largest number of parts.
pub const MAX_PARTS: usize = 4096;

/// `2^64`, the total weight that constructors share out.
pub(crate) const FULL_WEIGHT: u128 = 1 << 64;

impl Pattern {
    /// A channel from its parts.
    ///
    /// # Errors
    /// If there is no attribute or part, an attribute has fewer than two categories or an
    /// impossible answer size, a set does not fit the attributes or is empty, a weight is zero, or
    /// the weights exceed 2^64 together.
    pub fn new(axes: Vec<Axis>, parts: Vec<Part>) -> Result<Pattern, ChannelError> {
        if axes.is_empty() {
            return Err(ChannelError::NoAttribute);
        }
        for (attribute, axis) in axes.iter().enumerate() {
            if axis.categories < 2 || axis.categories > super::MAX_CATEGORIES {
                return Err(ChannelError::Categories { attribute, categories: axis.categories });
            }
            if axis.answer < 1 || axis.answer > axis.categories {
                return Err(ChannelError::AnswerSize { attribute, size: axis.answer, categories: axis.categories });
            }
        }
        if parts.is_empty() {
            return Err(ChannelError::NoPart);
        }
        if parts.len() > MAX_PARTS {
            return Err(ChannelError::TooManyParts(parts.len()));
        }
        let choices: Vec<Choices> = axes.iter().map(|axis| axis.choices()).collect();
        let ways: Vec<[f64; 2]> = axes.iter().map(|axis| axis.shares()).collect();
        let mut sizes = Vec::with_capacity(parts.len());
        for (part, Part { set, weight }) in parts.iter().enumerate() {
            if *weight == 0 {
                return Err(ChannelError::ZeroWeight { part });
            }
            check_fits(set, part, axes.len())?;
            sizes.push(match set {
                PatternSet::Threshold { weights, limit } if axes.len() > MAX_ENUMERATED => {
                    let share = measure(weights, *limit, &ways).ok_or(ChannelError::TooLarge { part })?;
                    let drawable = is_common(&share).unwrap_or(false) || set.completions(&choices).is_some();
                    if !drawable || is_common(&share).is_none() {
                        return Err(ChannelError::TooLarge { part });
                    }
                    Size::Share(share)
                }
                set => Size::Exact(set.count(&choices).ok_or(ChannelError::TooLarge { part })?),
            });
            if matches!(sizes.last(), Some(Size::Exact(count)) if count.is_zero()) {
                return Err(ChannelError::EmptySet { part });
            }
        }
        let total: u128 = parts.iter().map(|part| u128::from(part.weight)).sum();
        if total > FULL_WEIGHT {
            return Err(ChannelError::TotalWeight);
        }
        let resampling = vec![0; axes.len()];
        Ok(Pattern { axes, parts, sizes, resampling, masses: Remembered::default() })
    }

    /// The same channel with attribute `i`'s answer replaced by a uniformly random one with
    /// probability `weights[i] / 2^64`, whatever else happens.
    ///
    /// No epsilon rises: what is done to an answer without looking at the truth cannot tell more
    /// about it. The marginal epsilon of a resampled attribute falls.
    ///
    /// # Panics
    /// If there is not one weight for each attribute.
    #[must_use]
    pub fn resampled(self, weights: Vec<u64>) -> Pattern {
        assert_eq!(weights.len(), self.axes.len(), "one weight per attribute");
        Pattern { resampling: weights, ..self }
    }

    /// For each attribute, out of 2^64: how often its answer is replaced by a uniformly random one.
    pub fn resampling(&self) -> &[u64] {
        &self.resampling
    }

    /// `{no miss} + all`: the truth with some probability, else a uniformly random answer, at the
    /// largest certified epsilon that does not exceed the one asked for.
    ///
    /// With one attribute and answer size 1 this is k-ary randomized response (Warner; UP and
    /// FRAPP of paper 001, Theorem 2); with several attributes RR-Joint of paper 004; with answer
    /// size `q` subset selection of paper 002. The ratio of likelihoods is
    /// `1 + (W / W_all) N(all) / N(no miss)`; the integer `W` is found by bisection on the
    /// certificate itself. Several such channels together do not exceed the sum of what was asked.
    ///
    /// # Errors
    /// If epsilon is negative, infinite or not a number, or as [`Pattern::new`].
    pub fn k_ary(axes: Vec<Axis>, epsilon: f64) -> Result<Pattern, ChannelError> {
        Pattern::two_level(axes, PatternSet::no_miss(), epsilon)
    }

    /// `set + all`: an answer whose pattern is in the set, uniformly, with some probability, else a
    /// uniformly random answer, at the largest certified epsilon that does not exceed the one asked
    /// for. Answers in the set are `exp(epsilon)` times as likely as the others; these channels are the
    /// extreme points among all of their epsilon.
    ///
    /// # Errors
    /// As [`Pattern::k_ary`]; also if the set cannot be counted exactly.
    pub fn two_level(axes: Vec<Axis>, set: PatternSet, epsilon: f64) -> Result<Pattern, ChannelError> {
        if !(epsilon.is_finite() && epsilon >= 0.0) {
            return Err(ChannelError::Epsilon(epsilon));
        }
        let all = Pattern::new(axes, vec![Part { set: set.clone(), weight: 1 }])?;
        let choices = all.choices();
        let all_answers: BigUint = choices.iter().map(|choice| &choice.hit + &choice.miss).product();
        let Size::Exact(true_answers) = &all.sizes[0] else { return Err(ChannelError::TooLarge { part: 0 }) };
        if *true_answers == all_answers {
            return Pattern::with_weight(all.axes, set, 0);
        }
        let certified = |weight: u64| {
            let uniform = Rational::new((FULL_WEIGHT - u128::from(weight)).into(), all_answers.clone());
            let truth = Rational::new(weight.into(), true_answers.clone());
            Epsilon::of_ratio(&(&uniform + truth), &uniform)
        };
        // Kept back so that the certified epsilon of several blocks, rounded upward once more, does
        // not exceed the sum of what was asked of each either.
        // With many attributes likelihoods are certified as floats, rounded upward further.
        let margin = if all.axes.len() > MAX_EXACT { 2f64.powi(-40) } else { 0.0 };
        let target = epsilon * (1.0 - 2f64.powi(-48)) - margin;
        let fits = |weight| certified(weight).get() <= target;
        let (mut fitting, mut beyond) = (0u64, u64::MAX);
        if fits(beyond) {
            fitting = beyond;
        }
        while beyond - fitting > 1 {
            let middle = fitting + (beyond - fitting) / 2;
            *(if fits(middle) { &mut fitting } else { &mut beyond }) = middle;
        }
        Pattern::with_weight(all.axes, set, fitting)
    }

    /// `set` with the given probability, else a uniformly random answer; the probability is
    /// rounded down to a multiple of 2^-64.
    ///
    /// # Errors
    /// If the fraction is 1 or more (nothing would hide the pattern), or as [`Pattern::new`].
    pub fn mixture(axes: Vec<Axis>, set: PatternSet, fraction: &Rational) -> Result<Pattern, ChannelError> {
        let scaled = (fraction * BigUint::from(FULL_WEIGHT)).to_integer();
        let weight = u64::try_from(scaled).map_err(|_| ChannelError::NothingHidden)?;
        Pattern::with_weight(axes, set, weight)
    }

    fn with_weight(axes: Vec<Axis>, set: PatternSet, weight: u64) -> Result<Pattern, ChannelError> {
        let all = |weight| Part { set: PatternSet::All, weight };
        let parts = match u64::try_from(FULL_WEIGHT - u128::from(weight)) {
            Ok(rest) => vec![Part { set, weight }, all(rest)],
            Err(_) => vec![all(1)],
        };
        Pattern::new(axes, parts)
    }

    /// The attributes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The hidden mixture.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The sum of the weights.
    pub fn total_weight(&self) -> u128 {
        self.parts.iter().map(|part| u128::from(part.weight)).sum()
    }

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

    pub(crate) fn is_resampled(&self) -> bool {
        self.resampling.iter().any(|&weight| weight > 0)
    }

    fn cannot_miss(&self, attribute: usize) -> bool {
        self.axes[attribute].answer == self.axes[attribute].categories
    }

    pub(crate) fn choices(&self) -> Vec<Choices> {
        self.axes.iter().map(|axis| axis.choices()).collect()
    }

    /// How a part draws a pattern.
    pub(crate) fn drawing(&self, part: usize) -> Drawing {
        match &self.sizes[part] {
            Size::Share(share) if is_common(share) == Some(true) => Drawing::Rejection,
            _ => {
                let completions = self.parts[part].set.completions(&self.choices());
                Drawing::Rank(completions.expect("checked when the channel was made"))
            }
        }
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
    fn relative_floats(&self) -> Vec<f64> {
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

/// How a part draws its pattern (docs/sampling.md).
pub(crate) enum Drawing {
    /// By the rank of an answer among all answers of the part.
    Rank(Completions),
    /// By drawing patterns of uniformly random answers until one is in the set.
    Rejection,
}

/// Whether a threshold over many attributes is so common that it is drawn by rejection; `None` if
/// that cannot be decided.
fn is_common(share: &Measure) -> Option<bool> {
    let common = 1.0 / 4096.0;
    if share.inside * (1.0 - share.error) >= common {
        return Some(true);
    }
    (share.inside * (1.0 + share.error) < common).then_some(false)
}

/// Bounds on `W / N(D)`.
struct Rate {
    low: BigUint,
    high: BigUint,
}

/// The probabilities that an answer is kept and that it is resampled.
fn keeping(resampling: u64) -> (f64, f64) {
    let whole = FULL_WEIGHT as f64;
    ((FULL_WEIGHT - u128::from(resampling)) as f64 / whole, resampling as f64 / whole)
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

fn check_fits(set: &PatternSet, part: usize, attributes: usize) -> Result<(), ChannelError> {
    let fits = match set {
        PatternSet::All => true,
        PatternSet::Only(list) | PatternSet::Hits(list) => {
            list.windows(2).all(|pair| pair[0] < pair[1]) && list.last().is_none_or(|&i| i < attributes)
        }
        PatternSet::Threshold { weights, .. } => weights.len() == attributes,
        PatternSet::Bitmap(bitmap) => bitmap.attributes() == attributes,
    };
    if fits { Ok(()) } else { Err(ChannelError::SetShape { part, attributes }) }
}

/// `X(S)` of every possible pattern, in classes of equal value.
pub(crate) struct Likelihoods {
    /// By pattern number; `None` where an attribute that cannot miss would.
    pub(crate) class: Vec<Option<u32>>,
    pub(crate) values: Vec<Rational>,
}

/// The largest number of attributes for which every likelihood is held as an exact number.
const MAX_EXACT: usize = 12;

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
    /// (theory: channels.md, fact 4, with its `q = 1` form `-1/(a-1)` and `1`). Cost: `t 2^t`.
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
