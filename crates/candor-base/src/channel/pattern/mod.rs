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

mod bounds;
mod rates;
mod likelihood;
mod change;
mod marginal;

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::Zero;

use super::ChannelError;
use super::counting::Count;
use super::epsilon::{FULL_WEIGHT, Rational, choose, nearest_quotient, weight_within};
use super::pattern_set::{Choices, Completions, MAX_ENUMERATED, PatternSet};
use super::threshold::{Measure, measure};
use crate::schema::MAX_CATEGORIES;
pub use likelihood::Likelihoods;
pub(crate) use likelihood::MAX_EXACT;
pub use marginal::Masses;
use marginal::Remembered;

/// How one attribute enters a pattern channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// The probabilities that a uniformly random answer hits, `q/a`, and that it misses.
    pub fn shares(self) -> [f64; 2] {
        let (a, q) = (self.categories as f64, self.answer as f64);
        [q / a, (a - q) / a]
    }

    /// Hits and misses as [`Axis::choices`] up to a factor that both share, so that `C(a-1, q-1) : C(a-1, q)` are the
    /// small numbers `q : a - q`. The factor cancels in every ratio of likelihoods: certificates need no long
    /// binomials, drawing does.
    fn odds(self) -> Choices {
        let (hit, miss) = (self.answer, self.categories - self.answer);
        let shared = hit.gcd(&miss);
        Choices { hit: (hit / shared).into(), miss: (miss / shared).into() }
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
/// use candor_base::channel::{Axis, Pattern};
///
/// // 4-ary randomized response at epsilon 1.
/// let channel = Pattern::k_ary(vec![Axis::single(4)], 1.0)?;
/// let certified = channel.record_epsilon().finite().unwrap();
/// assert!(certified <= 1.0 && certified > 1.0 - 1e-9);
/// assert!((channel.keep_probability(0) - 1f64.exp() / (1f64.exp() + 3.0)).abs() < 1e-9);
/// # Ok::<(), candor_base::channel::ChannelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    axes: Vec<Axis>,
    parts: Vec<Part>,
    /// `N(D)` of each part, up to a factor that all of them share: counted in odds.
    sizes: Vec<Size>,
    /// For each attribute, out of 2^64: how often its answer is replaced by a uniformly random one.
    resampling: Vec<u64>,
    masses: Remembered,
}

/// The number of answers a part draws among.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Size {
    /// As an integer.
    Exact(Count),
    /// As a share of all answers, in floats with a proven error: a threshold over more than
    /// [`MAX_ENUMERATED`] attributes.
    Share(Measure),
}

/// The largest number of parts.
pub const MAX_PARTS: usize = 4096;

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
            if axis.categories < 2 || axis.categories > MAX_CATEGORIES {
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
        let odds: Vec<Choices> = axes.iter().map(|axis| axis.odds()).collect();
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
                    let drawable = is_common(&share).unwrap_or(false) || set.reachable(axes.len()).is_some();
                    if !drawable || is_common(&share).is_none() {
                        return Err(ChannelError::TooLarge { part });
                    }
                    Size::Share(share)
                }
                set => Size::Exact(set.count(&odds)),
            });
            if matches!(sizes.last(), Some(Size::Exact(count)) if count.inside.is_zero()) {
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
    /// FRAPP of Huang and Du 2008, Theorem 2); with several attributes RR-Joint of Domingo-Ferrer and Soria-Comas 2020;
    /// with answer size `q` subset selection of Nayak and Zhai 2019. The ratio of likelihoods is `1 + (W / W_all)
    /// N(all) / N(no miss)`; the integer `W` is found by bisection on the certificate itself. Several such channels
    /// together do not exceed the sum of what was asked.
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
        let all_answers = all.all_answers();
        let Size::Exact(Count { inside: true_answers, .. }) = &all.sizes[0] else {
            return Err(ChannelError::TooLarge { part: 0 });
        };
        if *true_answers == all_answers {
            return Pattern::with_weight(all.axes, set, 0);
        }
        // With many attributes likelihoods are certified as floats, rounded upward further.
        let margin = if all.axes.len() > MAX_EXACT { 2f64.powi(-40) } else { 0.0 };
        let fitting = weight_within(true_answers, &all_answers, epsilon, margin);
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

    /// Whether some attribute is answered anew, whatever the truth, in a share of the records.
    pub fn is_resampled(&self) -> bool {
        self.resampling.iter().any(|&weight| weight > 0)
    }

    fn cannot_miss(&self, attribute: usize) -> bool {
        self.axes[attribute].answer == self.axes[attribute].categories
    }

    /// In how many ways each attribute can be answered so that it hits, and so that it misses.
    pub fn choices(&self) -> Vec<Choices> {
        self.axes.iter().map(|axis| axis.choices()).collect()
    }

    /// [`Pattern::choices`] up to a factor of each attribute: small numbers, however large sets are.
    pub fn odds(&self) -> Vec<Choices> {
        self.axes.iter().map(|axis| axis.odds()).collect()
    }

    /// The number of all answers, counted in odds.
    pub fn all_answers(&self) -> BigUint {
        self.odds().iter().map(|odds| &odds.hit + &odds.miss).product()
    }

    /// The attributes that can miss and that some part looks at: whether any other misses makes no difference.
    fn seen(&self) -> Vec<usize> {
        let seen = |&i: &usize| !self.cannot_miss(i) && self.parts.iter().any(|part| part.set.looks_at(i));
        (0..self.axes.len()).filter(seen).collect()
    }

    /// About which share of all answers a part draws among.
    pub fn share(&self, part: usize) -> f64 {
        match &self.sizes[part] {
            Size::Exact(count) => nearest_quotient(&count.inside, &self.all_answers()),
            Size::Share(share) => share.inside,
        }
    }

    /// How a part draws a pattern, given the ways to answer each attribute.
    pub(crate) fn drawing(&self, part: usize, choices: &[Choices]) -> Drawing {
        match &self.sizes[part] {
            Size::Share(share) if is_common(share) == Some(true) => Drawing::Rejection,
            _ => {
                let completions = self.parts[part].set.completions(choices);
                Drawing::Rank(completions.expect("checked when the channel was made"))
            }
        }
    }
}

/// How a part draws its pattern (docs/reference/sampling-algorithm.md).
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
