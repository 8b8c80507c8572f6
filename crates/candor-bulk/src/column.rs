//! One variable, one category per answer: kernels over whole columns of codes.

use crate::bytes::Bytes;
use crate::die::{Die, UNDECIDED};
use candor_base::channel::{Channel, Matrix, Pattern, Rational};
use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;

/// How many values are worked on at a time: the scratch stays in the first-level cache.
const RUN: usize = 2048;

/// How many values are worked on before what is left open among them is settled.
const BLOCK: usize = 64;

/// The largest number of inputs and outputs of a kernel.
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

    /// Randomizes a column of codes, all of which are known to be inputs.
    pub(crate) fn column(&self, truths: &[u16], out: &mut [u16], bytes: &mut Bytes) {
        match self {
            ColumnKernel::KAry(kernel) => kernel.column(truths, out, bytes),
            ColumnKernel::Table(table) => table.column(truths, out, bytes),
        }
    }
}

/// `(a, w, v)` of a one-attribute channel with ordinary answers: the true category has weight `w`,
/// every other one `v`.
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
/// The high half of a random number times the number of categories is a category, and the low half says what becomes of
/// it: where it is small, in equally many numbers for each category, that category is the answer; where it is larger
/// the truth is; the few numbers with the largest low halves decide nothing. Those go to a die whose weights are
/// exactly what the others leave each category short of, so the law is exact.
pub(crate) struct KAry {
    categories: u16,
    /// Low halves below this answer with the category.
    replaced: u16,
    /// The largest low half that decides.
    decided: u16,
    /// What to do with the others, by truth.
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
        // The first so many numbers of each category: low halves within a category rise by `k`, from less than `k`.
        let cell = NUMBERS * miss / total;
        // Low halves are the multiples of a power of two, each as often as that power: as few as suffice are left open.
        let repeated = k & k.wrapping_neg();
        let open = (NUMBERS - (NUMBERS * hit / total + cell * (k - 1))).next_multiple_of(repeated);
        let kept = NUMBERS - cell * k - open;
        let rest = |truth: usize| {
            let short_of = |answer: usize| match answer == truth {
                true => hit * NUMBERS - (kept + cell) * total,
                false => miss * NUMBERS - cell * total,
            };
            let weights: Vec<u128> = (0..categories).map(short_of).collect();
            // With nothing left over the die is never rolled.
            Die::new(&weights, false).or_else(|| (open == 0).then(|| Die::new(&[1], false))?)
        };
        Some(KAry {
            categories: categories as u16,
            // All numbers only if the categories are a power of two, and then no low half is the largest number.
            replaced: (cell * k).min(NUMBERS - 1) as u16,
            decided: (NUMBERS - 1 - open) as u16,
            rest: (0..categories).map(rest).collect::<Option<_>>()?,
        })
    }

    /// What a number says, if it decides; masks instead of branches, of which many would be guessed wrong.
    #[inline]
    fn answer(&self, number: u16, truth: u16) -> u16 {
        let category = ((u32::from(number) * u32::from(self.categories)) >> 16) as u16;
        let replaced = 0u16.wrapping_sub(u16::from(number.wrapping_mul(self.categories) < self.replaced));
        category & replaced | truth & !replaced
    }

    /// All bits set if a number decides nothing, else none.
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

/// Any law per input: the truth and one random byte index a table of what that byte decides.
pub(crate) struct Table {
    dice: Vec<Die>,
    decided: Box<[u8; 1 << 16]>,
}

const UNDECIDED_BYTE: u8 = u8::MAX;

impl Table {
    /// From the weights of each output, given each input.
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

    /// First what one byte decides, without a branch, then the rest.
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

    /// The whole law of the kernel, as exact numbers: what the 2^16 numbers decide plus what the
    /// die gives to those that do not.
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
