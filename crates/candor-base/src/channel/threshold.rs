//! Probabilities of threshold sets over many attributes, in floats with a proven error.
//!
//! Attributes miss independently. A threshold set contains the patterns whose missing attributes have weights that sum
//! to at most a limit. All results are sums and products of positive numbers, so their relative error is at most the
//! number of roundings times `2^-53`: see [`Measure::error`].

use std::ops::{AddAssign, Mul};

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::work::done;

/// Number of attributes up to which the sums of two halves of the attributes are listed, for weights of any size.
pub(crate) const MAX_HALVES: usize = 30;

/// Largest number of attributes times sums that are tabulated beyond [`MAX_HALVES`] attributes.
const MAX_TABLE: u128 = 1 << 26;

/// Probabilities below this are not distinguished from underflow.
pub(super) const SMALLEST: f64 = 1e-290;

/// Half a unit in the last place, relative.
const ROUNDING: f64 = f64::EPSILON / 2.0;

/// The probability of a threshold set.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Probability of the set.
    pub inside: f64,
    /// Probability that the pattern is in the set and attribute `i` misses.
    pub missing: Vec<f64>,
    /// Bound on the relative error of both.
    pub error: f64,
}

/// Computes the probability of the patterns with `sum of weights over the missing attributes <= limit`.
///
/// Attribute `i` hits with relative frequency `ways[i][0]` and misses with `ways[i][1]`. Returns `None` if the table of
/// sums would be too large or the set is too unlikely for floats. Cost: about `k 2^(k/2)` for up to 30 attributes,
/// beyond that `k` times the limit.
pub fn measure(weights: &[u64], limit: u64, ways: &[[f64; 2]]) -> Option<Measure> {
    assert_eq!(weights.len(), ways.len(), "one weight per attribute");
    let k = weights.len();
    let (inside, missing, roundings) = if k <= MAX_HALVES {
        let (inside, missing) = by_halves(weights, limit, ways);
        (inside, missing, 4 * k + (2 << k.div_ceil(2)))
    } else if (k as u128 + 1) * (u128::from(limit) + 1) <= MAX_TABLE {
        let (inside, missing) = by_sums(weights, limit as usize, ways);
        (inside, missing, 6 * k + 2 * (limit as usize + 1))
    } else {
        return None;
    };
    // The margin also covers the rounding of this bound.
    let error = (roundings + 64) as f64 * ROUNDING;
    (inside >= SMALLEST).then_some(Measure { inside, missing, error })
}

/// The numbers that measure patterns: probabilities, or numbers of answers.
pub(crate) trait Number:
    Clone + Zero + One + for<'a> Mul<&'a Self, Output = Self> + for<'a> AddAssign<&'a Self>
{
}

impl Number for f64 {}
impl Number for u128 {}
impl Number for BigUint {}

/// All patterns over one half of the attributes, sorted by their sums.
struct Half<T> {
    /// Sums and patterns, in increasing order of the sums, up to the limit.
    sorted: Vec<(u64, u32)>,
    /// The measure of each pattern, by number.
    measure: Vec<T>,
}

impl<T: Number> Half<T> {
    fn new(weights: &[u64], ways: &[[T; 2]], limit: u64) -> Half<T> {
        let mut sorted = vec![(0u64, 0u32)];
        for (i, &weight) in weights.iter().enumerate() {
            sorted = merged(&sorted, weight, 1 << i, limit);
        }
        Half { sorted, measure: products(ways) }
    }

    /// Returns the measure of each pattern of this half together with all of the other half that stay within the limit.
    fn joint(&self, other: &Half<T>, limit: u64) -> Vec<T> {
        let mut cumulated = Vec::with_capacity(other.sorted.len() + 1);
        let mut sum = T::zero();
        for &(_, pattern) in &other.sorted {
            cumulated.push(sum.clone());
            sum += &other.measure[pattern as usize];
        }
        cumulated.push(sum);
        let mut joint = vec![T::zero(); self.measure.len()];
        let mut within = other.sorted.len();
        for &(sum, pattern) in &self.sorted {
            while within > 0 && other.sorted[within - 1].0 > limit - sum {
                within -= 1;
            }
            joint[pattern as usize] = self.measure[pattern as usize].clone() * &cumulated[within];
        }
        joint
    }
}

/// Returns the product over all attributes, for every pattern by number.
///
/// `ways[i]` holds the factors of attribute `i` if it hits and if it misses.
pub(super) fn products<T: Number>(ways: &[[T; 2]]) -> Vec<T> {
    let mut products = vec![T::one()];
    for [hit, miss] in ways {
        let with: Vec<T> = products.iter().map(|p| p.clone() * miss).collect();
        products.iter_mut().for_each(|p| *p = p.clone() * hit);
        products.extend(with);
    }
    done(2 * products.len());
    products
}

/// Returns the sum over all patterns, and for each attribute the sum over the patterns in which it misses.
pub(super) fn margins<T: Number>(joint: &[T], attributes: usize) -> (T, Vec<T>) {
    done(joint.len() * (1 + attributes / 2));
    let sum = |some: &[T]| {
        some.iter().fold(T::zero(), |mut sum, more| {
            sum += more;
            sum
        })
    };
    let missing = |i: usize| {
        // Blocks of patterns, whose second half has the attribute missing.
        joint.chunks(2 << i).map(|block| sum(&block[1 << i..])).fold(T::zero(), |mut all, more| {
            all += &more;
            all
        })
    };
    (sum(joint), (0..attributes).map(missing).collect())
}

/// Merges the sorted sums with and without one more attribute, omitting sums beyond the limit.
fn merged(sorted: &[(u64, u32)], weight: u64, bit: u32, limit: u64) -> Vec<(u64, u32)> {
    let with = |&(sum, pattern): &(u64, u32)| {
        let sum = sum.checked_add(weight).filter(|&sum| sum <= limit)?;
        Some((sum, pattern | bit))
    };
    let mut with = sorted.iter().map_while(with).peekable();
    let mut all = Vec::with_capacity(2 * sorted.len());
    for &without in sorted {
        while let Some(next) = with.next_if(|next| next.0 < without.0) {
            all.push(next);
        }
        all.push(without);
    }
    all.extend(with);
    done(all.len());
    all
}

/// Measures the set, and the part of it in which each attribute misses, by about `k 2^(k/2)` sums and products.
pub(super) fn by_halves<T: Number>(weights: &[u64], limit: u64, ways: &[[T; 2]]) -> (T, Vec<T>) {
    let middle = weights.len() / 2;
    let low = Half::new(&weights[..middle], &ways[..middle], limit);
    let high = Half::new(&weights[middle..], &ways[middle..], limit);
    let (_, mut missing) = margins(&low.joint(&high, limit), middle);
    let (inside, more) = margins(&high.joint(&low, limit), weights.len() - middle);
    missing.extend(more);
    (inside, missing)
}

/// Adds one attribute to the measure of every sum: `next[s] = hit last[s] + miss last[s - weight]`.
fn one_more(last: &[f64], [hit, miss]: [f64; 2], weight: u64, next: &mut [f64]) {
    next.iter_mut().zip(last).for_each(|(next, last)| *next = hit * last);
    let missed = next.iter_mut().skip(usize::try_from(weight).unwrap_or(usize::MAX));
    missed.zip(last).for_each(|(next, last)| *next += miss * last);
}

/// Measures the set by one forward and one backward pass over the sums.
fn by_sums(weights: &[u64], limit: usize, ways: &[[f64; 2]]) -> (f64, Vec<f64>) {
    let width = limit + 1;
    done(4 * width * (weights.len() + 1));
    // `ahead[i * width + s]`: the probability that the first `i` attributes sum to `s`.
    let mut ahead = vec![0.0; width * (weights.len() + 1)];
    ahead[0] = 1.0;
    for (i, (&ways, &weight)) in ways.iter().zip(weights).enumerate() {
        let (before, after) = ahead.split_at_mut((i + 1) * width);
        one_more(&before[i * width..], ways, weight, &mut after[..width]);
    }
    let inside = ahead[weights.len() * width..].iter().sum();
    // `behind[t]`: the probability that the attributes after `i` stay within the limit, starting from `limit - t`.
    let (mut behind, mut spare, mut missing) = (vec![1.0; width], vec![0.0; width], vec![0.0; weights.len()]);
    for (i, &ways) in ways.iter().enumerate().rev() {
        let left = width.saturating_sub(usize::try_from(weights[i]).unwrap_or(width));
        missing[i] = ways[1] * folded(&ahead[i * width..][..left], &behind[..left]);
        one_more(&behind, ways, weights[i], &mut spare);
        std::mem::swap(&mut behind, &mut spare);
    }
    (inside, missing)
}

/// Returns the sum of products of the first with the last, the second with the second to last, and so on.
///
/// Eight independent sums run in parallel, because each addition has to wait for the previous one.
fn folded(these: &[f64], those: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for (these, those) in these.chunks(8).zip(those.rchunks(8)) {
        let products = these.iter().zip(those.iter().rev()).map(|(this, that)| this * that);
        sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Measures the set by listing all patterns.
    fn by_patterns(weights: &[u64], limit: u64, ways: &[[f64; 2]]) -> (f64, Vec<f64>) {
        let k = weights.len();
        let (mut inside, mut missing) = (0.0, vec![0.0; k]);
        for s in 0..1usize << k {
            let sum: u64 = (0..k).filter(|&i| s >> i & 1 == 1).map(|i| weights[i]).sum();
            let p: f64 = (0..k).map(|i| ways[i][s >> i & 1]).product();
            if sum <= limit {
                inside += p;
                (0..k).filter(|&i| s >> i & 1 == 1).for_each(|i| missing[i] += p);
            }
        }
        (inside, missing)
    }

    proptest! {
        #[test]
        fn both_ways_of_counting_follow_the_definition(
            attributes in prop::collection::vec((0u64..40, 2usize..6), 1..11),
            limit in 0u64..120,
        ) {
            let (weights, sizes): (Vec<u64>, Vec<usize>) = attributes.into_iter().unzip();
            let ways: Vec<[f64; 2]> = sizes.iter().map(|&a| [1.0 / a as f64, (a - 1) as f64 / a as f64]).collect();
            let expected = by_patterns(&weights, limit, &ways);
            for found in [by_halves(&weights, limit, &ways), by_sums(&weights, limit as usize, &ways)] {
                prop_assert!((found.0 - expected.0).abs() < 1e-13 * expected.0);
                for (found, expected) in found.1.iter().zip(&expected.1) {
                    prop_assert!((found - expected).abs() <= 1e-13 * expected);
                }
            }
        }
    }

    #[test]
    fn errors_hold_where_the_truth_is_known() {
        // Fair coins: at most j of k, as a ratio of integers.
        for (k, j) in [(25u64, 9), (30, 4), (60, 22), (120, 40)] {
            let found = measure(&vec![1; k as usize], j, &vec![[0.5, 0.5]; k as usize]).unwrap();
            let mut ways = 1.0f64;
            let mut count = 1.0;
            for i in 0..j {
                ways = ways * (k - i) as f64 / (i + 1) as f64;
                count += ways;
            }
            let truth = count / 2f64.powi(k as i32);
            assert!((found.inside - truth).abs() <= (found.error + 1e-14) * truth, "{k} {j}");
            assert!(found.error < 1e-10);
        }
    }

    #[test]
    fn what_floats_cannot_tell_is_refused() {
        assert!(measure(&[1; 100], 1 << 30, &[[0.5, 0.5]; 100]).is_none(), "too large a table");
        assert!(measure(&[1; 1100], 0, &[[0.5, 0.5]; 1100]).is_none(), "2^-1100");
        let huge = measure(&[u64::MAX, 1], u64::MAX, &[[0.5, 0.5]; 2]).unwrap();
        assert_eq!(huge.inside, 0.75);
    }
}
