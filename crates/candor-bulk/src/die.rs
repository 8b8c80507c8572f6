//! A loaded die with exact integer weights, which usually needs only one or two random bytes.
//!
//! A random number of 128 bits decides, but it is drawn lazily. A table maps its leading bits to the outcome if all
//! continuations agree; only otherwise are the remaining bits drawn. The distribution is exact for weights of any size,
//! and a roll costs little more than one byte.

use crate::bytes::Bytes;

/// Table entry of leading bits that are undecided; no outcome has this number.
pub(crate) const UNDECIDED: u16 = u16::MAX;

/// Largest sum of weights; at most one number in 2^8 is then rejected.
const MAX_TOTAL: u128 = 1 << 120;

pub(crate) struct Die {
    /// Outcome `o` has the numbers from the previous boundary up to `boundaries[o]`. Numbers from the last boundary on
    /// are rejected.
    boundaries: Vec<u128>,
    leading: Vec<u16>,
    wide: bool,
}

impl Die {
    /// Creates a die with these weights; with `wide`, two leading bytes index its table instead of one.
    ///
    /// Returns `None` if there are no outcomes, more than 65,535, no positive weight, or a sum above the limit.
    pub(crate) fn new(weights: &[u128], wide: bool) -> Option<Die> {
        let total = weights.iter().try_fold(0u128, |sum, &weight| sum.checked_add(weight))?;
        if total == 0 || total > MAX_TOTAL || weights.len() > usize::from(UNDECIDED) {
            return None;
        }
        let scale = u128::MAX / total;
        let mut boundary = 0;
        let cumulate = |&weight: &u128| {
            boundary += weight * scale;
            boundary
        };
        let mut die = Die { boundaries: weights.iter().map(cumulate).collect(), leading: Vec::new(), wide };
        let bits = if wide { 16 } else { 8 };
        let decide = |lead: u128| {
            let low = lead << (128 - bits);
            let high = low | (u128::MAX >> bits);
            let outcome = die.outcome(low).filter(|outcome| die.outcome(high) == Some(*outcome));
            outcome.map_or(UNDECIDED, |outcome| outcome as u16)
        };
        die.leading = (0..1u128 << bits).map(decide).collect();
        Some(die)
    }

    /// Returns the outcome of a number, or `None` if the number is rejected.
    fn outcome(&self, number: u128) -> Option<usize> {
        let outcome = self.boundaries.partition_point(|&boundary| boundary <= number);
        (outcome < self.boundaries.len()).then_some(outcome)
    }

    /// Returns the weights, up to a common factor.
    #[cfg(test)]
    pub(crate) fn weights(&self) -> Vec<u128> {
        let before = std::iter::once(0).chain(self.boundaries.iter().copied());
        self.boundaries.iter().zip(before).map(|(&boundary, before)| boundary - before).collect()
    }

    /// Returns the outcome of each leading byte, or [`UNDECIDED`].
    pub(crate) fn leading(&self) -> &[u16] {
        &self.leading
    }

    #[inline]
    pub(crate) fn roll(&self, bytes: &mut Bytes) -> usize {
        let lead =
            if self.wide { usize::from(u16::from_be_bytes(bytes.array())) } else { usize::from(bytes.array::<1>()[0]) };
        match self.leading[lead] {
            UNDECIDED => self.finish(lead, bytes),
            outcome => usize::from(outcome),
        }
    }

    /// Returns the outcome of a number whose leading bits were already drawn.
    #[cold]
    pub(crate) fn finish(&self, lead: usize, bytes: &mut Bytes) -> usize {
        let bits = if self.wide { 16 } else { 8 };
        let mut lead = lead as u128;
        loop {
            let rest = u128::from_be_bytes(bytes.array()) >> bits;
            if let Some(outcome) = self.outcome(lead << (128 - bits) | rest) {
                return outcome;
            }
            lead = u128::from_be_bytes(bytes.array()) >> (128 - bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_own_numbers_exactly_in_proportion() {
        let cases: [&[u128]; 5] = [&[1], &[3, 0, 5], &[1 << 100, 1, 7], &[u64::MAX as u128, 1], &[5; 300]];
        for weights in cases {
            for wide in [false, true] {
                let die = Die::new(weights, wide).unwrap();
                let total: u128 = weights.iter().sum();
                let scale = u128::MAX / total;
                assert_eq!(die.weights(), weights.iter().map(|w| w * scale).collect::<Vec<_>>());
                // All continuations of a decided lead have its outcome; those of an undecided one do not agree.
                let bits = if wide { 16 } else { 8 };
                for (lead, &outcome) in die.leading.iter().enumerate() {
                    let low = (lead as u128) << (128 - bits);
                    let high = low | (u128::MAX >> bits);
                    let inside = |o: usize| {
                        let from = if o == 0 { 0 } else { die.boundaries[o - 1] };
                        from <= low && high < die.boundaries[o]
                    };
                    match outcome {
                        UNDECIDED => assert!(!(0..weights.len()).any(inside)),
                        outcome => assert!(inside(usize::from(outcome))),
                    }
                }
            }
        }
    }

    #[test]
    fn impossible_dice() {
        assert!(Die::new(&[], false).is_none());
        assert!(Die::new(&[0, 0], false).is_none());
        assert!(Die::new(&[MAX_TOTAL, 1], false).is_none());
        assert!(Die::new(&[u128::MAX, 1], false).is_none());
        assert!(Die::new(&vec![1; 65_536], false).is_none());
    }
}
