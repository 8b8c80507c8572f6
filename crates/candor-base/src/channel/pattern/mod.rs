//! Pattern channels: one family for every symmetric design over several attributes.
//!
//! It covers k-ary randomized response, joint randomized response, subset selection, l-diversity and all optimized
//! designs over several attributes.
//!
//! For each attribute, the answer names a set of categories. It *hits* if the set contains the true category and
//! *misses* otherwise. The *pattern* of an answer is the set of attributes that miss.
//!
//! A channel is a hidden mixture of *parts*. Each part is drawn with probability proportional to its integer weight
//! `W`, and answers uniformly among all answers whose pattern lies in its set `D`. Let `N(D)` be the number of such
//! answers. Then one particular answer of pattern `S` has probability
//!
//! ```text
//! X(S) = sum over parts with S in D of  W / N(D)      (up to the total weight)
//! ```
//!
//! This is an exact rational number for any number of attributes and categories. All certificates follow from it: the
//! record-level epsilon is `ln(max X / min X)` over the possible patterns, the conditional epsilon of attribute `i` is
//! `max over S of |ln(X(S) / X(S + i))|`, and the marginal epsilon follows from `Pr[hit]`.
//!
//! An attribute's answer may then be *resampled*: replaced, with its own probability, by a uniformly random answer.
//! Optimized designs use this to reduce the epsilon of a single attribute to exactly the requested value. Resampling
//! raises no epsilon, because it does not depend on the true record (post-processing).

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

/// The size of one attribute's answers in a pattern channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// Number of categories, `a`.
    pub categories: usize,
    /// Number of categories that the answer names, `q`: 1 for an ordinary answer; `a` reveals nothing.
    pub answer: usize,
}

impl Axis {
    /// Creates an attribute that is answered with one category.
    pub fn single(categories: usize) -> Axis {
        Axis { categories, answer: 1 }
    }

    /// Creates an attribute that is answered with a set of `answer` categories.
    pub fn set(categories: usize, answer: usize) -> Axis {
        Axis { categories, answer }
    }

    /// Returns the probabilities that a uniformly random answer hits, `q/a`, and that it misses.
    pub fn shares(self) -> [f64; 2] {
        let (a, q) = (self.categories as f64, self.answer as f64);
        [q / a, (a - q) / a]
    }

    /// Returns the small numbers `q : a - q`, which have the ratio `C(a-1, q-1) : C(a-1, q)` of [`Axis::choices`].
    ///
    /// The factor left out cancels in every likelihood ratio. So certificates need no long binomials, only drawing
    /// does.
    fn odds(self) -> Choices {
        let (hit, miss) = (self.answer, self.categories - self.answer);
        let shared = hit.gcd(&miss);
        Choices { hit: (hit / shared).into(), miss: (miss / shared).into() }
    }

    fn choices(self) -> Choices {
        Choices { hit: choose(self.categories - 1, self.answer - 1), miss: choose(self.categories - 1, self.answer) }
    }
}

/// One part of the hidden mixture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The patterns whose answers this part draws from.
    pub set: PatternSet,
    /// The integer weight with which the part is drawn.
    pub weight: u64,
}

/// A pattern channel with integer weights: sampler and certificates use the same integers.
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
    /// `N(D)` of each part, up to a factor that all parts share: counted in odds.
    sizes: Vec<Size>,
    /// For each attribute, the probability that its answer is resampled, in units of `2^-64`.
    resampling: Vec<u64>,
    masses: Remembered,
}

/// The number of answers that a part draws from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Size {
    /// As an integer.
    Exact(Count),
    /// As a fraction of all answers, in floats with a proven error: for a threshold over more than [`MAX_ENUMERATED`]
    /// attributes.
    Share(Measure),
}

/// Maximum number of parts.
pub const MAX_PARTS: usize = 4096;

impl Pattern {
    /// Creates a channel from its parts.
    ///
    /// # Errors
    /// Returns a [`ChannelError`]:
    /// - `NoAttribute` or `NoPart` if there is no attribute or no part, and `TooManyParts` for more than [`MAX_PARTS`],
    /// - `Categories` or `AnswerSize` if a number of categories or an answer size is out of range,
    /// - `SetShape` if a set does not fit the attributes, `EmptySet` if no answer is in it, and `TooLarge` if it can be
    ///   neither counted nor drawn,
    /// - `ZeroWeight` if a weight is zero, and `TotalWeight` if the weights sum to more than 2^64.
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

    /// Returns the channel with the answer of attribute `i` resampled with probability `weights[i] / 2^64`.
    ///
    /// A resampled answer is replaced by a uniformly random one. No epsilon rises, because the replacement does not
    /// depend on the true record (post-processing). The marginal epsilon of a resampled attribute falls.
    ///
    /// # Panics
    /// Panics unless there is one weight for each attribute.
    #[must_use]
    pub fn resampled(self, weights: Vec<u64>) -> Pattern {
        assert_eq!(weights.len(), self.axes.len(), "one weight per attribute");
        Pattern { resampling: weights, ..self }
    }

    /// Returns, for each attribute, the probability that its answer is resampled, in units of `2^-64`.
    pub fn resampling(&self) -> &[u64] {
        &self.resampling
    }

    /// Creates `{no miss} + all` at the largest certified epsilon that does not exceed `epsilon`.
    ///
    /// This channel gives an answer without misses with some probability, otherwise a uniformly random answer. The
    /// special cases are:
    /// - one attribute with answer size 1: k-ary randomized response (Warner; UP and FRAPP of Huang and Du 2008,
    ///   Theorem 2),
    /// - several attributes: RR-Joint of Domingo-Ferrer and Soria-Comas 2020,
    /// - answer size `q`: subset selection of Nayak and Zhai 2019.
    ///
    /// The likelihood ratio is `1 + (W / W_all) N(all) / N(no miss)`. The integer `W` is found by bisection on the
    /// certificate itself. The certified epsilon of several such channels together does not exceed the sum of the
    /// requested epsilons.
    ///
    /// # Errors
    /// Returns [`ChannelError::Epsilon`] if epsilon is negative, infinite or not a number, and the errors of
    /// [`Pattern::new`].
    pub fn k_ary(axes: Vec<Axis>, epsilon: f64) -> Result<Pattern, ChannelError> {
        Pattern::two_level(axes, PatternSet::no_miss(), epsilon)
    }

    /// Creates `set + all` at the largest certified epsilon that does not exceed `epsilon`.
    ///
    /// With some probability the answer is drawn uniformly from those with a pattern in the set, otherwise from all
    /// answers. Answers in the set are `exp(epsilon)` times as likely as the others. These channels are the extreme
    /// points of all pattern channels with this epsilon.
    ///
    /// # Errors
    /// Returns [`ChannelError::TooLarge`] if the set cannot be counted exactly, and the errors of [`Pattern::k_ary`].
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
        // With many attributes, likelihoods are certified in floats with a further upward rounding.
        let margin = if all.axes.len() > MAX_EXACT { 2f64.powi(-40) } else { 0.0 };
        let fitting = weight_within(true_answers, &all_answers, epsilon, margin);
        Pattern::with_weight(all.axes, set, fitting)
    }

    /// Creates `set + all`, where `set` has the given probability, rounded down to a multiple of 2^-64.
    ///
    /// # Errors
    /// Returns [`ChannelError::NothingHidden`] if the fraction is 1 or more, because nothing would hide the pattern,
    /// and the errors of [`Pattern::new`].
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

    /// Returns the attributes, with their answer sizes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the parts of the hidden mixture.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the sum of the weights of all parts.
    pub fn total_weight(&self) -> u128 {
        self.parts.iter().map(|part| u128::from(part.weight)).sum()
    }

    /// Returns whether the answer to some attribute is resampled with positive probability.
    pub fn is_resampled(&self) -> bool {
        self.resampling.iter().any(|&weight| weight > 0)
    }

    fn cannot_miss(&self, attribute: usize) -> bool {
        self.axes[attribute].answer == self.axes[attribute].categories
    }

    /// Returns, for each attribute, the number of ways to answer it with a hit and with a miss.
    pub fn choices(&self) -> Vec<Choices> {
        self.axes.iter().map(|axis| axis.choices()).collect()
    }

    /// Returns [`Pattern::choices`] up to a factor for each attribute: small numbers, even for large sets.
    pub fn odds(&self) -> Vec<Choices> {
        self.axes.iter().map(|axis| axis.odds()).collect()
    }

    /// Returns the number of all answers, counted in odds.
    pub fn all_answers(&self) -> BigUint {
        self.odds().iter().map(|odds| &odds.hit + &odds.miss).product()
    }

    /// Returns the attributes that matter: those that can miss and that some part's set depends on.
    fn seen(&self) -> Vec<usize> {
        let seen = |&i: &usize| !self.cannot_miss(i) && self.parts.iter().any(|part| part.set.looks_at(i));
        (0..self.axes.len()).filter(seen).collect()
    }

    /// Returns the approximate fraction of all answers that a part draws from.
    pub fn share(&self, part: usize) -> f64 {
        match &self.sizes[part] {
            Size::Exact(count) => nearest_quotient(&count.inside, &self.all_answers()),
            Size::Share(share) => share.inside,
        }
    }

    /// Returns how a part draws a pattern, given the ways to answer each attribute.
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

/// Returns whether a threshold over many attributes is so common that it is drawn by rejection.
///
/// Returns `None` if the error of its probability leaves this open.
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
