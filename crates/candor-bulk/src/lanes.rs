//! Small sets, many records at a time: l of at most 256 categories for local l-diversity and subset
//! selection (Nayak and Zhai 2019).
//!
//! Floyd's method as in [`crate::subsets`], but without a table of what is taken: a candidate is
//! compared with everything drawn before, and the set is put in order by a fixed network of comparisons
//! (Batcher's odd-even merge sort). Both do the same to every record, so that thirty-two records are worked on by each
//! instruction that handles as many bytes.

use crate::bytes::Bytes;
use crate::subsets::Aim;

/// How many records are worked on together.
pub(crate) const LANES: usize = 32;

/// The most categories that fit a byte.
const MAX_CATEGORIES: usize = 256;

/// Comparing everything drawn with everything pays up to this size.
pub(crate) const MAX_SIZE: usize = 40;

/// One value for each record.
type Row = [u8; LANES];

/// Draws sets with one aim.
pub(crate) struct Lanes {
    aim: Aim,
    /// The bounds of Floyd's method, rising.
    bounds: std::ops::RangeInclusive<u16>,
    size: usize,
    network: Vec<(u8, u8)>,
}

impl Lanes {
    /// `None` if the sets are too large.
    pub(crate) fn new(aim: Aim, categories: usize, size: usize) -> Option<Lanes> {
        if categories > MAX_CATEGORIES || size > MAX_SIZE {
            return None;
        }
        let (n, drawn) = aim.of_others(categories, size);
        Some(Lanes { aim, bounds: (n - drawn + 1) as u16..=n as u16, size, network: network(size) })
    }

    /// Draws a set for each truth; `sets[i][lane]` is the `i`th smallest category of that record's.
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
            // The others are numbered without the truth: those from its place on move up by one.
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

/// A uniform number below `bound`, at most 256, for each record: the high half of 16 random bits times
/// the bound, and the few whose low half would favour some results drawn again (Lemire's method).
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
        // Positive where the low half is below.
        open[lane] = again.saturating_sub(numbers[lane].wrapping_mul(bound));
    }
    if open.iter().fold(0, |any, open| any | open) != 0 {
        for lane in (0..LANES).filter(|&lane| open[lane] != 0) {
            drawn[lane] = bytes.below(bound.into()) as u8;
        }
    }
    drawn
}

/// Comparisons that put `n` values in order, whatever they are (Knuth, volume 3, algorithm 5.3.4M).
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

    /// A network that puts all zeros and ones in order puts everything in order (Knuth, theorem 5.3.4Z).
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
        // Beyond, with one ones-block of every length in every place of a rotation.
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
