//! Exactly uniform random subsets of any size, for local l-diversity and subset selection (Nayak and Zhai 2019).
//!
//! Small subsets have a faster algorithm ([`crate::lanes`]). Floyd's method (Bentley and Floyd 1987) takes one uniform
//! number below each of `n - size + 1, ..., n`.
//!
//! Several of these numbers come from one random word, which is multiplied by one bound after the other. The high half
//! is the number, and the low half remains for the next (Brackett-Rozinsky and Lemire 2024). The numbers are the digits
//! of `floor(word * B / 2^64)`, with `B` the product of the bounds. They are exactly uniform once words whose last low
//! half is below `2^64 mod B` are drawn again.

use crate::bytes::Bytes;

/// Limit of products of bounds, so that at most one word in 2^12 is drawn again.
const MAX_PRODUCT: u64 = 1 << 52;

/// Draws subsets of a fixed size of `0..n`.
pub(crate) struct Subset {
    n: usize,
    /// Whether the complement is drawn, which is less work for subsets of more than half.
    left_out: bool,
    words: Vec<Word>,
}

/// The bounds that one random word serves.
struct Word {
    first: u64,
    end: u64,
    product: u64,
    /// `2^64` modulo the product.
    again: u64,
}

impl Word {
    #[inline]
    fn draw(&self, bytes: &mut Bytes) -> u64 {
        loop {
            let word = u64::from_le_bytes(bytes.array());
            if word.wrapping_mul(self.product) >= self.again {
                return word;
            }
        }
    }
}

impl Subset {
    pub(crate) fn new(n: usize, size: usize) -> Subset {
        let left_out = 2 * size > n;
        let drawn = if left_out { n - size } else { size };
        let mut words: Vec<Word> = Vec::new();
        let (mut first, end) = ((n - drawn + 1) as u64, n as u64 + 1);
        while first < end {
            let (mut next, mut product) = (first + 1, first);
            while let Some(larger) = product.checked_mul(next).filter(|&p| p <= MAX_PRODUCT && next < end) {
                product = larger;
                next += 1;
            }
            words.push(Word { first, end: next, product, again: (u64::MAX % product + 1) % product });
            first = next;
        }
        Subset { n, left_out, words }
    }

    /// Sets the bits of a subset in `chosen`, which must be empty.
    fn draw(&self, chosen: &mut [u64], bytes: &mut Bytes) {
        for word in &self.words {
            let mut random = word.draw(bytes);
            for bound in word.first..word.end {
                let product = u128::from(random) * u128::from(bound);
                random = product as u64;
                let (candidate, last) = ((product >> 64) as usize, bound as usize - 1);
                let taken = chosen[candidate / 64] >> (candidate % 64) & 1 == 1;
                let next = if taken { last } else { candidate };
                chosen[next / 64] |= 1 << (next % 64);
            }
        }
        if self.left_out {
            for (word, first) in chosen.iter_mut().zip((0..).step_by(64)) {
                let inside = self.n.saturating_sub(first).min(64) as u32;
                *word = !*word & u64::MAX.checked_shr(64 - inside).unwrap_or(0);
            }
        }
    }
}

/// The relation of a set to the true category.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The set is independent of it.
    Free,
    /// The set contains it.
    Hit,
    /// The set does not contain it.
    Miss,
}

impl Aim {
    pub(crate) const ALL: [Aim; 3] = [Aim::Free, Aim::Hit, Aim::Miss];

    /// Returns `(n, size)` of the subset that is drawn for a set of `size` out of `categories`.
    ///
    /// Unless the set is independent of the true category, the subset is drawn from the other categories. It has one
    /// less if the true category is added.
    pub(crate) fn of_others(self, categories: usize, size: usize) -> (usize, usize) {
        match self {
            Aim::Free => (categories, size),
            Aim::Hit => (categories - 1, size - 1),
            Aim::Miss => (categories - 1, size),
        }
    }
}

impl Subset {
    /// Draws one set into `out`, in increasing order.
    ///
    /// `scratch` has a bit for each category, and is empty before and after.
    pub(crate) fn fill(&self, aim: Aim, truth: u16, out: &mut [u16], scratch: &mut [u64], bytes: &mut Bytes) {
        self.draw(scratch, bytes);
        let mut others = 0;
        for (word, base) in scratch.iter_mut().zip((0..).step_by(64)) {
            while *word != 0 {
                out[others] = base + word.trailing_zeros() as u16;
                *word &= *word - 1;
                others += 1;
            }
        }
        if aim == Aim::Free {
            return;
        }
        // Other categories are numbered without the true one, so those from its place on move up by one.
        let before = out[..others].partition_point(|&other| other < truth);
        out[before..others].iter_mut().for_each(|other| *other += 1);
        if aim == Aim::Hit {
            out.copy_within(before..others, before + 1);
            out[before] = truth;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that one word of ten bits gives, over all words: every combination occurs equally often once the
    /// leading ones are drawn again. (The arithmetic is the same as with 64 bits.)
    #[test]
    fn words_give_every_combination_equally_often() {
        for bounds in [&[5u64, 6, 7][..], &[3, 4], &[9, 10, 11], &[91], &[1, 2, 3, 4, 5]] {
            let product: u64 = bounds.iter().product();
            let mut seen = std::collections::HashMap::new();
            for word in (0..1024u64).filter(|word| word * product % 1024 >= 1024 % product) {
                let mut rest = word;
                let digit = |bound: &u64| {
                    let product = rest * bound;
                    rest = product % 1024;
                    product / 1024
                };
                *seen.entry(bounds.iter().map(digit).collect::<Vec<u64>>()).or_insert(0) += 1;
            }
            assert_eq!(seen.len() as u64, product, "{bounds:?}");
            assert!(seen.values().all(|&times| times == 1024 / product), "{bounds:?}");
        }
    }

    #[test]
    fn words_cover_the_bounds_of_floyds_method() {
        for (n, size) in [(99, 9), (100, 10), (128, 64), (10_000, 5000), (65_535, 3), (7, 7), (7, 6), (5, 0)] {
            let subset = Subset::new(n, size);
            let drawn = if subset.left_out { n - size } else { size };
            let bounds: Vec<u64> = subset.words.iter().flat_map(|word| word.first..word.end).collect();
            assert_eq!(bounds, ((n - drawn) as u64 + 1..=n as u64).collect::<Vec<_>>(), "{n} {size}");
            for word in &subset.words {
                let product: u128 = (word.first..word.end).map(u128::from).product();
                assert_eq!(u128::from(word.product), product);
                assert_eq!(u128::from(word.again), (1 << 64) % product);
            }
        }
    }
}
