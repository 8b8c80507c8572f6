//! Rates of parts: what each part adds to the likelihood of an answer in its set, `W / N(D)`.
//!
//! They are computed as integers over a common denominator, and as floats that are summed for all patterns at once.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::One;

use super::super::epsilon::nearest_quotient;
use super::super::work::done;
use super::{Part, Pattern, PatternSet, Size};

/// The rates `W / N(D)` of some parts over a common denominator; only the denominator is ever reduced.
pub(super) struct Rates {
    /// By part; `None` for parts that were left out.
    pub(super) numerators: Vec<Option<BigUint>>,
    pub(super) denominator: BigUint,
}

/// Number of parts that are summed at a time, so that their data stay in the cache.
const RUN: usize = 32;

/// Number of attributes whose patterns form one row.
const ROW: usize = 10;

impl Pattern {
    /// Returns the rates of the parts that are counted exactly and whose set is `wanted`.
    pub(super) fn exact_rates(&self, wanted: impl Fn(&PatternSet) -> bool) -> Rates {
        let count = |(part, size): (&Part, &'_ Size)| match size {
            Size::Exact(count) if wanted(&part.set) => Some(count.inside.clone()),
            _ => None,
        };
        let counts: Vec<Option<BigUint>> = self.parts.iter().zip(&self.sizes).map(count).collect();
        let mut denominator = BigUint::one();
        for count in counts.iter().flatten() {
            // Take the remainder first: the common divisor of numbers of unequal length would take long.
            let shared = count.gcd(&(&denominator % count));
            denominator *= count / shared;
        }
        let rate = |(part, count): (&Part, Option<BigUint>)| Some(&denominator / count? * part.weight);
        Rates { numerators: self.parts.iter().zip(counts).map(rate).collect(), denominator }
    }

    /// Returns the likelihood of an answer of each pattern, relative to a uniformly random answer, before resampling.
    ///
    /// Patterns are over these attributes; no other attribute misses. Each likelihood is a sum of one rounded rate per
    /// part, a float of ordinary size for any number of answers.
    ///
    /// Cost: one comparison and one sum for each part and pattern.
    pub(super) fn relative_floats(&self, attributes: &[usize]) -> Vec<f64> {
        let (answers, total) = (self.all_answers(), self.total_weight());
        let rate = |(part, size): (&Part, &Size)| {
            let Size::Exact(count) = size else { unreachable!("shares are for more attributes") };
            nearest_quotient(&(&answers * part.weight), &(&count.inside * total))
        };
        let rates: Vec<f64> = self.parts.iter().zip(&self.sizes).map(rate).collect();
        let mut values = vec![0.0; 1 << attributes.len()];
        for (parts, rates) in self.parts.chunks(RUN).zip(rates.chunks(RUN)) {
            let sets: Vec<Rows<'_>> = parts.iter().map(|part| Rows::new(&part.set, attributes)).collect();
            for (row, values) in values.chunks_mut(1 << ROW).enumerate() {
                sets.iter().zip(rates).for_each(|(set, &rate)| set.add(row, rate, values));
            }
        }
        values
    }
}

/// The patterns of a set in rows: the first attributes give the place in a row, the others the row's number.
enum Rows<'a> {
    Threshold {
        /// The sums of a row's patterns, in increasing order.
        sums: Vec<u128>,
        /// The rank of each pattern of a row in that order, as floats for fast comparison.
        ranks: Vec<f64>,
        /// The part of the limit that each row leaves.
        left: Vec<Option<u128>>,
    },
    Other {
        contains: Box<dyn Fn(u32) -> bool + 'a>,
        /// The contributions of each place in a row, and of each row, to a pattern's number.
        numbers: [Vec<u128>; 2],
    },
}

impl<'a> Rows<'a> {
    fn new(set: &'a PatternSet, attributes: &'a [usize]) -> Rows<'a> {
        let (low, high) = attributes.split_at(attributes.len().min(ROW));
        let (weight, limit): (Box<dyn Fn(usize) -> u64>, u64) = match set {
            PatternSet::All => (Box::new(|_| 0), 0),
            PatternSet::Hits(hits) => (Box::new(|i| hits.binary_search(&i).is_ok().into()), 0),
            PatternSet::Threshold { weights, limit } => (Box::new(|i| weights[i]), *limit),
            PatternSet::Only(_) | PatternSet::Bitmap(_) => {
                let numbers = [low, high].map(|some| sums(some, |i| 1 << i));
                return Rows::Other { contains: set.by_number(), numbers };
            }
        };
        let places = sums(low, &weight);
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&place| places[place]);
        let mut ranks = vec![0.0; places.len()];
        order.iter().enumerate().for_each(|(rank, &place)| ranks[place] = rank as f64);
        Rows::Threshold {
            sums: order.iter().map(|&place| places[place]).collect(),
            ranks,
            left: sums(high, &weight).into_iter().map(|sum| u128::from(limit).checked_sub(sum)).collect(),
        }
    }

    /// Adds the rate to the patterns of one row that are in the set.
    fn add(&self, row: usize, rate: f64, values: &mut [f64]) {
        done(values.len());
        match self {
            Rows::Threshold { sums, ranks, left } => {
                let Some(left) = left[row] else { return };
                let inside = sums.partition_point(|&sum| sum <= left);
                if inside == values.len() {
                    values.iter_mut().for_each(|value| *value += rate);
                } else {
                    let end = inside as f64;
                    for (value, &rank) in values.iter_mut().zip(ranks) {
                        *value += if rank < end { rate } else { 0.0 };
                    }
                }
            }
            Rows::Other { contains, numbers: [places, rows] } => {
                for (value, place) in values.iter_mut().zip(places) {
                    *value += if contains((rows[row] | place) as u32) { rate } else { 0.0 };
                }
            }
        }
    }
}

/// Returns the sums of the weights over all patterns of these attributes.
fn sums(attributes: &[usize], weight: impl Fn(usize) -> u64) -> Vec<u128> {
    attributes.iter().fold(vec![0], |mut sums, &i| {
        sums.extend(sums.clone().into_iter().map(|sum| sum + u128::from(weight(i))));
        sums
    })
}
