//! Privacy loss between two records that differ in several attributes at once.
//!
//! A tied attribute cannot change unless others change with it. Its loss is therefore the largest likelihood ratio
//! between records that differ in all of these attributes.

use super::change::Change;
use super::{Channel, Epsilon, Matrix, Strip};

/// Number of cells beyond which a strip is assumed to distinguish every pair of cells.
const MAX_PAIRED: usize = 1 << 10;

impl Channel {
    /// Returns the largest `ln P(answer | x) / P(answer | y)` over all answers and all records `x` and `y` that differ
    /// as stated in each attribute of the block, or an upper bound where the exact value would take too long.
    ///
    /// The value is exact for:
    /// - matrices over one attribute,
    /// - strips of up to 1,024 cells,
    /// - pattern channels without resampling of up to 12 attributes, as long as few attributes change. With 13 to 20
    ///   attributes the value is exact up to rounding.
    pub(crate) fn change(&self, changes: &[Change<'_>]) -> Epsilon {
        let changes: Vec<Change<'_>> = self.places().into_iter().map(|place| changes[place]).collect();
        if changes.iter().all(Change::is_none) {
            return Epsilon::ZERO;
        }
        match self {
            Channel::Pattern(pattern) => pattern.change(&changes),
            Channel::Strip(strip) if strip.separates(&changes) => self.record_epsilon(),
            Channel::Strip(_) => Epsilon::ZERO,
            Channel::Matrix(matrix) => match changes[..] {
                [Change::Within(class)] => matrix.change(class, class),
                [Change::Between(from, to)] => matrix.change(from, to),
                _ => self.record_epsilon(),
            },
        }
    }
}

impl Matrix {
    /// Returns the largest loss from an input of the first class to an input of the second.
    fn change(&self, from: &[u16], to: &[u16]) -> Epsilon {
        let (mut larger, mut smaller) = (1u64, 1u64);
        for output in 0..self.labels().len() {
            let entries = |class: &[u16]| -> Vec<u64> {
                class.iter().map(|&input| self.columns()[usize::from(input)][output]).collect()
            };
            let most = entries(from).into_iter().max().unwrap_or(0);
            let least = entries(to).into_iter().min().unwrap_or(0);
            // Compare products: one logarithm per pair would dominate the running time.
            if most > 0 && u128::from(most) * u128::from(smaller) > u128::from(larger) * u128::from(least) {
                (larger, smaller) = (most, least);
            }
        }
        Epsilon::of_integers(&larger.into(), &smaller.into())
    }
}

impl Strip {
    /// Returns whether some answer contains one, but not the other, of two cells that differ as stated.
    ///
    /// Random relabeling treats alike all pairs of cells that differ in the same attributes. So the strip fails to
    /// separate them only if it contains, for each of its cells, every cell that differs in exactly these attributes.
    fn separates(&self, changes: &[Change<'_>]) -> bool {
        let (members, table) = (self.members(), self.table());
        if members.len() > MAX_PAIRED {
            return true;
        }
        let codes: Vec<Vec<usize>> = members.iter().map(|&cell| table.codes(cell.into())).collect();
        let differ = |x: &[usize], y: &[usize]| {
            x.iter().zip(y).enumerate().fold(0usize, |mask, (axis, (a, b))| mask | usize::from(a != b) << axis)
        };
        let mask = |marks: Vec<bool>| marks.iter().rev().fold(0usize, |mask, &mark| mask << 1 | usize::from(mark));
        let certain = mask(changes.iter().map(Change::is_certain).collect());
        let none = mask(changes.iter().map(Change::is_none).collect());
        let mut inside = vec![0usize; 1 << changes.len()];
        for x in &codes {
            codes.iter().for_each(|y| inside[differ(x, y)] += 1);
        }
        let around = |set: usize| -> usize {
            table
                .sizes()
                .iter()
                .enumerate()
                .filter(|(axis, _)| set >> axis & 1 == 1)
                .map(|(_, size)| size - 1)
                .product()
        };
        (1..inside.len())
            .filter(|set| set & certain == certain && set & none == 0)
            .any(|set| inside[set] < members.len() * around(set))
    }
}
