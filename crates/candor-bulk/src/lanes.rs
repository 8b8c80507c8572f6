//! Small sets for many records at a time: subsets of at most 256 categories (Nayak and Zhai 2019).
//!
//! They serve local l-diversity and subset selection. This is Floyd's method as in [`crate::subsets`], but without a
//! table of chosen categories. A candidate is compared with all earlier ones, and a fixed network of comparisons sorts
//! the set (Batcher's odd-even merge sort). Both do the same for every record, so each instruction on 32 bytes
//! processes 32 records.

use crate::bytes::Bytes;
use crate::subsets::Aim;

/// Number of records that are processed together.
pub(crate) const LANES: usize = 32;

/// Maximum number of categories that fit in a byte.
const MAX_CATEGORIES: usize = 256;

/// Largest set for which pairwise comparisons pay.
pub(crate) const MAX_SIZE: usize = 40;

/// One value for each record.
type Row = [u8; LANES];

/// Draws sets with one aim.
pub(crate) struct Lanes {
    aim: Aim,
    /// The bounds of Floyd's method, increasing.
    bounds: std::ops::RangeInclusive<u16>,
    size: usize,
    network: Vec<(u8, u8)>,
}

impl Lanes {
    /// Returns `None` if the sets are too large.
    pub(crate) fn new(aim: Aim, categories: usize, size: usize) -> Option<Lanes> {
        if categories > MAX_CATEGORIES || size > MAX_SIZE {
            return None;
        }
        let (n, drawn) = aim.of_others(categories, size);
        Some(Lanes { aim, bounds: (n - drawn + 1) as u16..=n as u16, size, network: network(size) })
    }

    /// Draws a set for each record; `sets[i][lane]` is the `i`th smallest category of the record's set.
    pub(crate) fn draw(&self, truths: &Row, sets: &mut [Row; MAX_SIZE], bytes: &mut Bytes) {
        let mut drawn = 0;
        for bound in self.bounds.clone() {
            let candidates = below(bound, bytes);
            let mut taken = [0u8; LANES];
            for earlier in &sets[..drawn] {
                for lane in 0..LANES {
                    taken[lane] |= if earlier[lane] == candidates[lane] { u8::MAX } else { 0 };
                }
            }
            let (set, last) = (&mut sets[drawn], (bound - 1) as u8);
            for lane in 0..LANES {
                set[lane] = candidates[lane] & !taken[lane] | last & taken[lane];
            }
            drawn += 1;
        }
        if self.aim != Aim::Free {
            // Other categories are numbered without the true one, so those from its place on move up by one.
            for row in &mut sets[..drawn] {
                for (other, truth) in row.iter_mut().zip(truths) {
                    *other += u8::from(*other >= *truth);
                }
            }
        }
        if self.aim == Aim::Hit {
            sets[drawn] = *truths;
            drawn += 1;
        }
        debug_assert_eq!(drawn, self.size);
        for &(low, high) in &self.network {
            let [low, high] = [usize::from(low), usize::from(high)];
            let (a, b) = (sets[low], sets[high]);
            for lane in 0..LANES {
                sets[low][lane] = a[lane].min(b[lane]);
                sets[high][lane] = a[lane].max(b[lane]);
            }
        }
    }
}

/// Returns a uniform number below `bound`, at most 256, for each record (Lemire's method).
///
/// It is the high half of 16 random bits times the bound. The few numbers whose low half would favor some results are
/// drawn again.
#[inline]
fn below(bound: u16, bytes: &mut Bytes) -> Row {
    let again = (65_536 % u32::from(bound)) as u16;
    let random: [u8; 2 * LANES] = bytes.array();
    let mut numbers = [0u16; LANES];
    for (number, random) in numbers.iter_mut().zip(random.as_chunks::<2>().0) {
        *number = u16::from_le_bytes(*random);
    }
    let mut drawn = [0u8; LANES];
    let mut open = [0u16; LANES];
    for lane in 0..LANES {
        let high = (u32::from(numbers[lane]) * u32::from(bound)) >> 16;
        drawn[lane] = high as u8;
    }
    for lane in 0..LANES {
        // Positive if the low half is too small.
        open[lane] = again.saturating_sub(numbers[lane].wrapping_mul(bound));
    }
    if open.iter().fold(0, |any, open| any | open) != 0 {
        for lane in (0..LANES).filter(|&lane| open[lane] != 0) {
            drawn[lane] = bytes.below(bound.into()) as u8;
        }
    }
    drawn
}

/// Returns comparisons that sort any `n` values (Knuth, volume 3, algorithm 5.3.4M).
fn network(n: usize) -> Vec<(u8, u8)> {
    let mut comparisons = Vec::new();
    let top = n.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            comparisons.extend((0..n.saturating_sub(d)).filter(|i| i & p == r).map(|i| (i as u8, (i + d) as u8)));
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    comparisons
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that sorts all sequences of zeros and ones sorts everything (Knuth, theorem 5.3.4Z).
    #[test]
    fn networks_sort() {
        for n in 0..=16 {
            let network = network(n);
            for bits in 0..1u32 << n {
                let mut values: Vec<u32> = (0..n).map(|i| bits >> i & 1).collect();
                for &(low, high) in &network {
                    if values[usize::from(low)] > values[usize::from(high)] {
                        values.swap(low.into(), high.into());
                    }
                }
                assert!(values.is_sorted(), "{n} {bits:b}");
            }
        }
        // For larger networks: a block of ones of every length, rotated to every place.
        for n in 17..=MAX_SIZE {
            let network = network(n);
            for (ones, turn) in (0..=n).flat_map(|ones| (0..n).map(move |turn| (ones, turn))) {
                let mut values: Vec<bool> = (0..n).map(|i| (i + turn) % n < ones).collect();
                for &(low, high) in &network {
                    if values[usize::from(low)] && !values[usize::from(high)] {
                        values.swap(low.into(), high.into());
                    }
                }
                assert!(values.is_sorted(), "{n} {ones} {turn}");
            }
        }
    }

    #[test]
    fn only_small_sets() {
        assert!(Lanes::new(Aim::Free, 257, 3).is_none());
        assert!(Lanes::new(Aim::Free, 256, MAX_SIZE + 1).is_none());
        assert!(Lanes::new(Aim::Hit, 256, MAX_SIZE).is_some());
    }
}
