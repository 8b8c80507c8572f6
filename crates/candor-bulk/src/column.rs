//! One variable with one category per answer: kernels for columns of codes.

use crate::bytes::Bytes;
use crate::die::{Die, UNDECIDED};
use candor_base::channel::{Channel, Matrix, Pattern, Rational};
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;

/// Number of values processed at a time, so that the scratch memory stays in the first-level cache.
const RUN: usize = 2048;

/// Number of values processed before the undecided ones among them are settled.
const BLOCK: usize = 64;

/// Maximum number of inputs and outputs of a kernel.
const MAX_CODES: usize = u8::MAX as usize;

/// A channel over one variable with at most 255 inputs and outputs.
pub(crate) enum ColumnKernel {
    KAry(KAry),
    Table(Table),
}

impl ColumnKernel {
    pub(crate) fn new(channel: &Channel) -> Option<ColumnKernel> {
        match channel {
            Channel::Matrix(matrix) => Table::of_matrix(matrix).map(ColumnKernel::Table),
            Channel::Strip(_) => None,
            Channel::Pattern(pattern) => {
                let (categories, hit, miss) = answer_weights(pattern)?;
                KAry::new(categories, hit, miss).map(ColumnKernel::KAry)
            }
        }
    }

    /// Randomizes a column of codes, all of which must be valid inputs.
    pub(crate) fn column(&self, truths: &[u16], out: &mut [u16], bytes: &mut Bytes) {
        match self {
            ColumnKernel::KAry(kernel) => kernel.column(truths, out, bytes),
            ColumnKernel::Table(table) => table.column(truths, out, bytes),
        }
    }
}

/// Returns `(a, w, v)` of a channel over one attribute with answers of one category.
///
/// The true category has weight `w`, every other one `v`.
fn answer_weights(pattern: &Pattern) -> Option<(usize, u128, u128)> {
    let &[axis] = pattern.axes() else { return None };
    if axis.answer != 1 || axis.categories > MAX_CODES {
        return None;
    }
    let [hit, miss] = &pattern.likelihoods()?.ends();
    let common: BigUint = hit.denom().lcm(miss.denom());
    let integer = |x: &Rational| (x * &common).to_integer().to_u128();
    Some((axis.categories, integer(hit)?, integer(miss)?))
}

/// k-ary randomized response with 16 random bits per value and no branch.
///
/// The high half of a random number times the number of categories is a category. The low half decides the answer:
/// - if it is small, the answer is that category. This happens for equally many numbers in each category,
/// - if it is larger, the answer is the true category,
/// - the few numbers with the largest low halves are undecided.
///
/// Undecided values are settled by a die. Its weights are exactly the differences between the intended probabilities
/// and the decided ones, so the distribution is exact.
pub(crate) struct KAry {
    categories: u16,
    /// Low halves below this give the category of the high half.
    replaced: u16,
    /// The largest low half that decides.
    decided: u16,
    /// The die for undecided values, by true category.
    rest: Vec<Die>,
}

impl KAry {
    fn new(categories: usize, hit: u128, miss: u128) -> Option<KAry> {
        const NUMBERS: u128 = 1 << 16;
        let k = categories as u128;
        let total = miss.checked_mul(k - 1)?.checked_add(hit)?;
        if hit < miss || miss == 0 || total > u128::MAX >> 24 {
            return None;
        }
        // The first numbers of each category: low halves within a category rise by `k`, from less than `k`.
        let cell = NUMBERS * miss / total;
        // Low halves are multiples of a power of two, each of which occurs that often. Leave open as few as possible.
        let repeated = k & k.wrapping_neg();
        let open = (NUMBERS - (NUMBERS * hit / total + cell * (k - 1))).next_multiple_of(repeated);
        let kept = NUMBERS - cell * k - open;
        let rest = |truth: usize| {
            let short_of = |answer: usize| match answer == truth {
                true => hit * NUMBERS - (kept + cell) * total,
                false => miss * NUMBERS - cell * total,
            };
            let weights: Vec<u128> = (0..categories).map(short_of).collect();
            // If no number is undecided, the die is never rolled.
            Die::new(&weights, false).or_else(|| (open == 0).then(|| Die::new(&[1], false))?)
        };
        Some(KAry {
            categories: categories as u16,
            // It equals the number of all values only if the categories are a power of two; then no low half is the
            // maximum.
            replaced: (cell * k).min(NUMBERS - 1) as u16,
            decided: (NUMBERS - 1 - open) as u16,
            rest: (0..categories).map(rest).collect::<Option<_>>()?,
        })
    }

    /// Returns the answer that a deciding number gives. Masks replace branches, which would often be mispredicted.
    #[inline]
    fn answer(&self, number: u16, truth: u16) -> u16 {
        let category = ((u32::from(number) * u32::from(self.categories)) >> 16) as u16;
        let replaced = 0u16.wrapping_sub(u16::from(number.wrapping_mul(self.categories) < self.replaced));
        category & replaced | truth & !replaced
    }

    /// Returns a mask with all bits set if a number is undecided, otherwise 0.
    #[inline]
    fn open(&self, number: u16) -> u16 {
        0u16.wrapping_sub(u16::from(number.wrapping_mul(self.categories) > self.decided))
    }

    fn column(&self, truths: &[u16], out: &mut [u16], bytes: &mut Bytes) {
        let mut random = [0u8; 2 * RUN];
        for (truths, out) in truths.chunks(RUN).zip(out.chunks_mut(RUN)) {
            let random = &mut random[..2 * truths.len()];
            bytes.fill(random);
            let blocks = truths.chunks(BLOCK).zip(random.as_chunks::<2>().0.chunks(BLOCK)).zip(out.chunks_mut(BLOCK));
            for ((truths, numbers), out) in blocks {
                let mut any = 0;
                for ((truth, number), out) in truths.iter().zip(numbers).zip(out.iter_mut()) {
                    let number = u16::from_le_bytes(*number);
                    *out = self.answer(number, *truth);
                    any |= self.open(number);
                }
                if any != 0 {
                    for (i, number) in numbers.iter().enumerate() {
                        if self.open(u16::from_le_bytes(*number)) != 0 {
                            out[i] = self.rest[usize::from(truths[i])].roll(bytes) as u16;
                        }
                    }
                }
            }
        }
    }
}

/// Any distribution per input: the true category and one random byte index a table of decided answers.
pub(crate) struct Table {
    dice: Vec<Die>,
    decided: Box<[u8; 1 << 16]>,
}

const UNDECIDED_BYTE: u8 = u8::MAX;

impl Table {
    /// Creates a table from the weights of each output, given each input.
    fn new(columns: impl Iterator<Item = Vec<u128>>) -> Option<Table> {
        let dice = columns.map(|weights| Die::new(&weights, false)).collect::<Option<Vec<Die>>>()?;
        let mut decided = Box::new([UNDECIDED_BYTE; 1 << 16]);
        for (truth, die) in dice.iter().enumerate() {
            for (lead, &outcome) in die.leading().iter().enumerate().filter(|(_, outcome)| **outcome != UNDECIDED) {
                decided[truth << 8 | lead] = outcome as u8;
            }
        }
        Some(Table { dice, decided })
    }

    fn of_matrix(matrix: &Matrix) -> Option<Table> {
        let small = matrix.columns().len() <= MAX_CODES && matrix.labels().len() <= MAX_CODES;
        let column = |column: &Vec<u64>| column.iter().map(|&entry| u128::from(entry)).collect();
        small.then(|| Table::new(matrix.columns().iter().map(column)))?
    }

    /// Answers all values that one byte decides, without a branch, then the others.
    fn column(&self, truths: &[u16], out: &mut [u16], bytes: &mut Bytes) {
        let mut leads = [0u8; RUN];
        let mut open = [0u16; RUN];
        for (truths, out) in truths.chunks(RUN).zip(out.chunks_mut(RUN)) {
            let leads = &mut leads[..truths.len()];
            bytes.fill(leads);
            let mut undecided = 0;
            for (i, ((truth, lead), out)) in truths.iter().zip(leads.iter()).zip(out.iter_mut()).enumerate() {
                let answer = self.decided[usize::from(*truth as u8) << 8 | usize::from(*lead)];
                *out = answer.into();
                open[undecided] = i as u16;
                undecided += usize::from(answer == UNDECIDED_BYTE);
            }
            for &i in &open[..undecided] {
                let i = usize::from(i);
                let die = &self.dice[usize::from(truths[i])];
                out[i] = die.finish(usize::from(leads[i]), bytes) as u16;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_base::channel::Axis;

    /// The exact distribution of the kernel: the answers that the 2^16 numbers decide, and those of the die for the
    /// others.
    #[test]
    fn the_layout_and_its_die_give_the_exact_law() {
        for (categories, epsilon) in [
            (2, 0.0),
            (2, 1.0),
            (3, 0.0),
            (3, 0.5),
            (16, 1.0),
            (16, 4.0),
            (16, 9.0),
            (100, 4.0),
            (128, 2.0),
            (255, 0.1),
            (255, 15.0),
        ] {
            let pattern = Pattern::k_ary(vec![Axis::single(categories)], epsilon).unwrap();
            let (_, hit, miss) = answer_weights(&pattern).unwrap();
            let total = hit + miss * (categories as u128 - 1);
            let kernel = KAry::new(categories, hit, miss).unwrap();
            for truth in [0, 1, categories - 1] {
                let mut numbers = vec![0u128; categories];
                let (decide, open): (Vec<u16>, Vec<u16>) = (0..=u16::MAX).partition(|&n| kernel.open(n) == 0);
                for number in decide {
                    numbers[usize::from(kernel.answer(number, truth as u16))] += 1;
                }
                let open = open.len() as u128;
                assert!(open < 2 * categories as u128, "{categories} {epsilon}: {open} numbers decide nothing");
                let rest = kernel.rest[truth].weights();
                let sum: u128 = rest.iter().sum();
                for (answer, &decided) in numbers.iter().enumerate() {
                    // P(answer) = decided/2^16 + open/2^16 * rest/sum, against weight/total.
                    let weight = if answer == truth { hit } else { miss };
                    let exact = |n: u128, d: u128| Rational::new(n.into(), d.into());
                    let mut p = exact(decided, 1 << 16);
                    if open > 0 {
                        p += exact(open, 1 << 16) * exact(rest[answer], sum);
                    }
                    assert_eq!(p, exact(weight, total), "{categories} {epsilon} {truth} {answer}");
                }
            }
        }
    }
}
