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

use std::collections::{HashMap, HashSet};

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::ChannelError;
use super::epsilon::{Epsilon, Rational, choose, nearest, parity};
use super::pattern_set::{Choices, Completions, MAX_ENUMERATED, PatternSet};

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    axes: Vec<Axis>,
    parts: Vec<Part>,
    /// `N(D)` of each part.
    answers: Vec<BigUint>,
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
        let mut answers = Vec::with_capacity(parts.len());
        for (part, Part { set, weight }) in parts.iter().enumerate() {
            if *weight == 0 {
                return Err(ChannelError::ZeroWeight { part });
            }
            check_fits(set, part, axes.len())?;
            let completions = set.completions(&choices).ok_or(ChannelError::TooLarge { part })?;
            if completions.total().is_zero() {
                return Err(ChannelError::EmptySet { part });
            }
            answers.push(completions.total().clone());
        }
        let total: u128 = parts.iter().map(|part| u128::from(part.weight)).sum();
        if total > FULL_WEIGHT {
            return Err(ChannelError::TotalWeight);
        }
        Ok(Pattern { axes, parts, answers })
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
        if !(epsilon.is_finite() && epsilon >= 0.0) {
            return Err(ChannelError::Epsilon(epsilon));
        }
        let all = Pattern::new(axes, vec![Part { set: PatternSet::All, weight: 1 }])?;
        let none = Pattern::new(all.axes.clone(), vec![Part { set: PatternSet::no_miss(), weight: 1 }])?;
        let certified = |weight: u64| {
            let uniform = Rational::new((FULL_WEIGHT - u128::from(weight)).into(), all.answers[0].clone());
            let truth = Rational::new(weight.into(), none.answers[0].clone());
            Epsilon::of_ratio(&(&uniform + truth), &uniform)
        };
        // Kept back so that the certified epsilon of several blocks, rounded upward once more, does
        // not exceed the sum of what was asked of each either.
        let target = epsilon * (1.0 - 2f64.powi(-48));
        let fits = |weight| certified(weight).get() <= target;
        let (mut fitting, mut beyond) = (0u64, u64::MAX);
        if fits(beyond) {
            fitting = beyond;
        }
        while beyond - fitting > 1 {
            let middle = fitting + (beyond - fitting) / 2;
            *(if fits(middle) { &mut fitting } else { &mut beyond }) = middle;
        }
        Pattern::with_weight(all.axes, PatternSet::no_miss(), fitting)
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
    /// Exact for up to [`MAX_ENUMERATED`] attributes. Beyond, exact too unless a part draws the
    /// pattern in which everything misses, and then an upper bound. Cost: `2^k` per part, or
    /// `parts^2` beyond.
    pub fn parity(&self) -> Option<Rational> {
        let (largest, smallest) = match self.likelihoods() {
            Some(likelihoods) => likelihoods.extremes(),
            None => self.extremes_by_structure(),
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
    /// Exact for up to [`MAX_ENUMERATED`] attributes, upper bounds beyond. These, not the marginal
    /// ones, are what respondents should be told. Cost: `2^k` for each part and attribute, or one
    /// sum over the parts for each attribute beyond.
    pub fn conditional_epsilons(&self) -> Vec<Epsilon> {
        let attributes = 0..self.axes.len();
        if let Some(likelihoods) = self.likelihoods() {
            return attributes.map(|attribute| likelihoods.conditional(attribute)).collect();
        }
        let (largest, smallest) = self.extremes_by_structure();
        let record = Epsilon::of_ratio(&largest, &smallest);
        let bound = |attribute: usize| {
            if self.cannot_miss(attribute) {
                return Epsilon::ZERO;
            }
            // X(S) exceeds X(S + i) by at most the parts that look at i.
            let looking = |(part, _): &(&Part, Rational)| part.set.looks_at(attribute);
            let excess: Rational = self.rates().filter(looking).map(|(_, rate)| rate).sum();
            Epsilon::of_ratio(&(excess + &smallest), &smallest).min(record)
        };
        attributes.map(bound).collect()
    }

    /// Certified epsilon of one attribute for a reader of that attribute's answer alone:
    /// `|ln( Pr[hit] C(a-1, q) / (Pr[miss] C(a-1, q-1)) )|`; for ordinary answers
    /// `|ln( Pr[kept] (a - 1) / Pr[changed] )|`, the papers' "privacy level of attribute i".
    pub fn marginal_epsilon(&self, attribute: usize) -> Epsilon {
        if self.cannot_miss(attribute) {
            return Epsilon::ZERO;
        }
        let choices = self.axes[attribute].choices();
        let hit = self.hit_weight(attribute);
        let miss = Rational::from(BigUint::from(self.total_weight())) - &hit;
        Epsilon::between(&(hit / choices.hit), &(miss / choices.miss))
    }

    /// The probability that the attribute's answer contains the truth.
    pub fn keep_probability(&self, attribute: usize) -> f64 {
        nearest(&(self.hit_weight(attribute) / BigUint::from(self.total_weight())))
    }

    /// The law of the pattern over the given attributes alone. By symmetry a marginal of a
    /// pattern channel is a pattern channel again: this is it.
    ///
    /// Cost: `2^k` for up to [`MAX_ENUMERATED`] attributes; beyond, `2^t` automaton counts for `t`
    /// given attributes.
    ///
    /// # Panics
    /// If an attribute is out of range or repeated, or more than [`MAX_ENUMERATED`] are given.
    pub fn marginal(&self, attributes: &[usize]) -> Masses {
        assert!(attributes.len() <= MAX_ENUMERATED, "at most {MAX_ENUMERATED} attributes at once");
        let distinct: HashSet<_> = attributes.iter().collect();
        assert!(distinct.len() == attributes.len(), "attributes must not repeat");
        let axes = attributes.iter().map(|&i| self.axes[i]).collect();
        let masses = match self.likelihoods() {
            Some(likelihoods) => self.fold_masses(&likelihoods, attributes),
            None => self.count_masses(attributes),
        };
        Masses { axes, masses }
    }

    /// `(part, W / N(D))` for each part.
    fn rates(&self) -> impl Iterator<Item = (&Part, Rational)> {
        self.parts.iter().zip(&self.answers).map(|(part, n)| (part, Rational::new(part.weight.into(), n.clone())))
    }

    fn cannot_miss(&self, attribute: usize) -> bool {
        self.axes[attribute].answer == self.axes[attribute].categories
    }

    pub(crate) fn choices(&self) -> Vec<Choices> {
        self.axes.iter().map(|axis| axis.choices()).collect()
    }

    /// The completion table of each part, for drawing patterns.
    pub(crate) fn completions(&self) -> Vec<Completions> {
        let choices = self.choices();
        let table = |part: &Part| part.set.completions(&choices).expect("checked when the channel was made");
        self.parts.iter().map(table).collect()
    }

    /// `Pr[hit]` times the total weight.
    fn hit_weight(&self, attribute: usize) -> Rational {
        let mut choices = self.choices();
        choices[attribute].miss = BigUint::ZERO;
        self.rates().map(|(part, rate)| rate * count(&part.set, &choices)).sum()
    }

    /// `X(S)` of every pattern, or `None` with too many attributes to enumerate.
    pub(crate) fn likelihoods(&self) -> Option<Likelihoods> {
        let k = self.axes.len();
        if k > MAX_ENUMERATED {
            return None;
        }
        let fixed = (0..k).filter(|&i| self.cannot_miss(i)).fold(0, |mask, i| mask | 1usize << i);
        let mut class: Vec<Option<u32>> = (0..1usize << k).map(|p| (p & fixed == 0).then_some(0)).collect();
        let mut values = vec![Rational::zero()];
        for (part, rate) in self.rates() {
            let mut renumbered = HashMap::new();
            let mut refined = Vec::new();
            for (class, member) in class.iter_mut().zip(part.set.members(k)) {
                let Some(class) = class else { continue };
                *class = *renumbered.entry((*class, member)).or_insert_with(|| {
                    let value = &values[*class as usize];
                    refined.push(if member { value + &rate } else { value.clone() });
                    refined.len() as u32 - 1
                });
            }
            values = refined;
        }
        Some(Likelihoods { class, values })
    }

    /// Largest and smallest `X` from the shape of the sets: all but `Only` are closed under taking
    /// away misses, so without `Only` parts `X` falls from the empty to the full pattern.
    fn extremes_by_structure(&self) -> (Rational, Rational) {
        let k = self.axes.len();
        let value = |missing: &[usize]| -> Rational {
            let inside = |(part, _): &(&Part, Rational)| part.set.contains(k, |i| missing.contains(&i));
            self.rates().filter(inside).map(|(_, rate)| rate).sum()
        };
        let single = |part: &Part| match &part.set {
            PatternSet::Only(missing) => Some(value(missing)),
            _ => None,
        };
        let largest = self.parts.iter().filter_map(single).fold(value(&[]), Rational::max);
        let full: Vec<usize> = (0..k).filter(|&i| !self.cannot_miss(i)).collect();
        let everywhere = |(part, _): &(&Part, Rational)| {
            part.set.is_down_closed() && part.set.contains(k, |i| full.binary_search(&i).is_ok())
        };
        let smallest = self.rates().filter(everywhere).map(|(_, rate)| rate).sum();
        (largest, smallest)
    }

    /// `X(S)` times the number of all answers, over the total weight: how much likelier an answer of that pattern is
    /// than under a uniformly random answer. By class of likelihoods; floats of ordinary size, whatever the
    /// number of answers.
    pub(crate) fn relative(&self, likelihoods: &Likelihoods) -> Vec<f64> {
        let answers = self.choices().iter().fold(BigUint::one(), |n, choices| n * (&choices.hit + &choices.miss));
        let scale = Rational::new(answers, self.total_weight().into());
        likelihoods.values.iter().map(|x| nearest(&(x * &scale))).collect()
    }

    fn fold_masses(&self, likelihoods: &Likelihoods, attributes: &[usize]) -> Vec<f64> {
        let relative = self.relative(likelihoods);
        let shares: Vec<[f64; 2]> = self.axes.iter().map(|axis| axis.shares()).collect();
        let mut masses = vec![0.0; 1 << attributes.len()];
        for (pattern, class) in likelihoods.class.iter().enumerate() {
            let Some(class) = class else { continue };
            let share: f64 = shares.iter().enumerate().map(|(i, shares)| shares[pattern >> i & 1]).product();
            let kept = attributes.iter().enumerate().map(|(at, &i)| (pattern >> i & 1) << at).sum::<usize>();
            masses[kept] += share * relative[*class as usize];
        }
        masses
    }

    fn count_masses(&self, attributes: &[usize]) -> Vec<f64> {
        let total = BigUint::from(self.total_weight());
        let mass = |pattern: usize| {
            let mut choices = self.choices();
            for (at, &i) in attributes.iter().enumerate() {
                let excluded = if pattern >> at & 1 == 1 { &mut choices[i].hit } else { &mut choices[i].miss };
                *excluded = BigUint::ZERO;
            }
            let weight: Rational = self.rates().map(|(part, rate)| rate * count(&part.set, &choices)).sum();
            nearest(&(weight / &total))
        };
        (0..1 << attributes.len()).map(mass).collect()
    }
}

fn count(set: &PatternSet, choices: &[Choices]) -> BigUint {
    set.completions(choices).expect("no larger than when the channel was made").total().clone()
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
