//! The reference sampler: draws one record's answers and reads random bytes in a specified order.
//!
//! docs/reference/sampling-algorithm.md specifies that order and test vectors fix it, so other clients can reproduce
//! it. The sampler draws exactly the certified distribution, for channels of any size. The bulk sampler (crate
//! `candor-bulk`) draws from the same distribution but may read bytes in a different order.

use std::sync::OnceLock;

use rand_core::TryCryptoRng;

use super::pattern::Drawing;
use super::pattern_set::{Choices, PatternSet};
use super::{Axis, Channel, FULL_WEIGHT, Matrix, Pattern, Strip};
use crate::randomness::{below, below_u64};

/// The answer to one attribute, or to the cross-classification of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// One category, or one output of a matrix.
    One(u16),
    /// A set of categories, or of cells of a strip's table, in increasing order.
    Set(Vec<u16>),
}

/// Largest number of parts times attributes, over all channels of a lottery, for which drawing tables are cached.
pub(crate) const MAX_PREPARED: usize = 1 << 16;

/// A channel that is ready to draw from.
pub struct Sampler<'a>(Ready<'a>);

enum Ready<'a> {
    Matrix(&'a Matrix),
    Strip(&'a Strip),
    Pattern {
        pattern: &'a Pattern,
        /// The ways to answer each attribute, computed on first use.
        choices: OnceLock<Vec<Choices>>,
        /// The drawing table of each part, computed on first use; empty if all of them together would need too much
        /// memory.
        drawings: Vec<OnceLock<Drawing>>,
    },
}

impl<'a> Sampler<'a> {
    /// Creates a sampler of a channel. The drawing table of a part is made when the part is first drawn.
    pub fn new(channel: &'a Channel) -> Sampler<'a> {
        Sampler::keeping(channel, preparation(channel) <= MAX_PREPARED)
    }

    /// Creates a sampler that caches the drawing tables of its parts, or makes them anew for every record.
    pub(crate) fn keeping(channel: &'a Channel, keep: bool) -> Sampler<'a> {
        Sampler(match channel {
            Channel::Matrix(matrix) => Ready::Matrix(matrix),
            Channel::Strip(strip) => Ready::Strip(strip),
            Channel::Pattern(pattern) => {
                let kept = if keep { pattern.parts().len() } else { 0 };
                let drawings = (0..kept).map(|_| OnceLock::new()).collect();
                Ready::Pattern { pattern, choices: OnceLock::new(), drawings }
            }
        })
    }

    /// Creates the samplers of a lottery's channels, which cache their tables if all of them fit in memory.
    pub fn of_lottery(channels: &[&'a Channel]) -> Vec<Sampler<'a>> {
        let keep = channels.iter().map(|channel| preparation(channel)).sum::<usize>() <= MAX_PREPARED;
        channels.iter().map(|channel| Sampler::keeping(channel, keep)).collect()
    }

    /// Draws the answers to one record.
    ///
    /// A pattern channel gives one answer per attribute, a matrix one answer, a strip one set of cells.
    ///
    /// # Errors
    /// Returns the generator's error if it fails.
    ///
    /// # Panics
    /// Panics unless `truth` has one category, in range, for each attribute of the block.
    pub fn draw<R: TryCryptoRng + ?Sized>(&self, truth: &[u16], rng: &mut R) -> Result<Vec<Answer>, R::Error> {
        match &self.0 {
            Ready::Matrix(matrix) => {
                assert_eq!(truth.len(), matrix.sizes().len(), "one category per attribute");
                let column = &matrix.columns()[matrix.shape().cell(truth)];
                let ball = u128::from(below_u64(matrix.total(), rng)?);
                Ok(vec![Answer::One(choose_by_weight(column.iter().copied(), ball) as u16)])
            }
            Ready::Strip(strip) => {
                let truth: Vec<usize> = strip.places().iter().map(|&place| truth[place].into()).collect();
                Ok(vec![Answer::Set(draw_cells(strip, &truth, rng)?)])
            }
            Ready::Pattern { pattern, choices, drawings } => {
                assert_eq!(truth.len(), pattern.axes().len(), "one category per attribute");
                let part = draw_weighted(pattern.parts().iter().map(|part| part.weight), rng)?;
                let set = &pattern.parts()[part].set;
                let choices = choices.get_or_init(|| pattern.choices());
                let made;
                let drawing = match drawings.get(part) {
                    Some(kept) => kept.get_or_init(|| pattern.drawing(part, choices)),
                    None => {
                        made = pattern.drawing(part, choices);
                        &made
                    }
                };
                let misses = match drawing {
                    Drawing::Rank(table) => table.pattern_at(choices, below(table.total(), rng)?),
                    Drawing::Rejection => draw_until_inside(set, pattern.axes(), rng)?,
                };
                let mut answers = Vec::with_capacity(truth.len());
                for ((axis, &truth), miss) in pattern.axes().iter().zip(truth).zip(misses) {
                    answers.push(fill(*axis, truth, miss, rng)?);
                }
                for ((answer, axis), &weight) in answers.iter_mut().zip(pattern.axes()).zip(pattern.resampling()) {
                    if weight > 0 && below_u64(FULL_WEIGHT, rng)? < weight {
                        *answer = anything(*axis, rng)?;
                    }
                }
                Ok(answers)
            }
        }
    }
}

/// Returns the number of parts times attributes that a channel has to prepare.
fn preparation(channel: &Channel) -> usize {
    match channel {
        Channel::Matrix(_) | Channel::Strip(_) => 0,
        Channel::Pattern(pattern) => pattern.parts().len() * pattern.axes().len(),
    }
}

/// Returns the first index whose cumulative weight exceeds `ball`.
fn choose_by_weight(weights: impl Iterator<Item = u64>, ball: u128) -> usize {
    let mut below = 0u128;
    for (index, weight) in weights.enumerate() {
        below += u128::from(weight);
        if ball < below {
            return index;
        }
    }
    unreachable!("the ball is below the sum of the weights")
}

/// Draws an index with probability proportional to its weight; reads no bytes if there is only one.
pub(crate) fn draw_weighted<R: TryCryptoRng + ?Sized>(
    weights: impl Iterator<Item = u64> + Clone,
    rng: &mut R,
) -> Result<usize, R::Error> {
    if weights.clone().nth(1).is_none() {
        return Ok(0);
    }
    let total: u128 = weights.clone().map(u128::from).sum();
    let ball = below_u64(total, rng)?;
    Ok(choose_by_weight(weights, ball.into()))
}

/// Draws a relabeled strip: first the label of the true cell, then the labels of all other categories.
fn draw_cells<R: TryCryptoRng + ?Sized>(strip: &Strip, truth: &[usize], rng: &mut R) -> Result<Vec<u16>, R::Error> {
    let (members, shape) = (strip.members(), strip.table());
    let label = match draw_weighted(strip.weights().into_iter(), rng)? {
        0 => members[below_u64(members.len() as u128, rng)? as usize].into(),
        _ => below_u64(shape.cells() as u128, rng)? as usize,
    };
    let mut cells = vec![0u16; members.len()];
    for (axis, (&size, &truth)) in shape.sizes().iter().zip(truth).enumerate() {
        let given = shape.code(label, axis);
        let mut labels: Vec<usize> = (0..size).filter(|&label| label != given).collect();
        for last in (1..labels.len()).rev() {
            labels.swap(last, below_u64(last as u128 + 1, rng)? as usize);
        }
        // The category that each label represents.
        let mut categories = vec![truth; size];
        let others = (0..size).filter(|&category| category != truth);
        others.zip(labels).for_each(|(category, label)| categories[label] = category);
        let step = |&member: &u16| categories[shape.code(member.into(), axis)] * shape.stride(axis);
        cells.iter_mut().zip(members).for_each(|(cell, member)| *cell += step(member) as u16);
    }
    cells.sort_unstable();
    Ok(cells)
}

/// Draws the pattern of a uniformly random answer, given that it is in the set.
fn draw_until_inside<R: TryCryptoRng + ?Sized>(
    set: &PatternSet,
    axes: &[Axis],
    rng: &mut R,
) -> Result<Vec<bool>, R::Error> {
    loop {
        let misses = axes
            .iter()
            .map(|axis| Ok(below_u64(axis.categories as u128, rng)? >= axis.answer as u64))
            .collect::<Result<Vec<bool>, R::Error>>()?;
        let missing: Vec<usize> = (0..misses.len()).filter(|&i| misses[i]).collect();
        if set.holds(&missing) {
            return Ok(misses);
        }
    }
}

/// Draws a uniformly random answer, independent of the true category.
fn anything<R: TryCryptoRng + ?Sized>(axis: Axis, rng: &mut R) -> Result<Answer, R::Error> {
    if axis.answer == 1 {
        return Ok(Answer::One(below_u64(axis.categories as u128, rng)? as u16));
    }
    let mut set = subset(axis.categories, axis.answer, rng)?;
    set.sort_unstable();
    Ok(Answer::Set(set))
}

/// Draws a uniformly random answer among those that hit, or among those that miss, the true category.
fn fill<R: TryCryptoRng + ?Sized>(axis: Axis, truth: u16, miss: bool, rng: &mut R) -> Result<Answer, R::Error> {
    let others = axis.categories - 1;
    let past_truth = |other: u16| if other < truth { other } else { other + 1 };
    if axis.answer == 1 {
        let other = if miss { Some(below_u64(others as u128, rng)? as u16) } else { None };
        return Ok(Answer::One(other.map_or(truth, past_truth)));
    }
    let size = if miss { axis.answer } else { axis.answer - 1 };
    let mut set: Vec<u16> = subset(others, size, rng)?.into_iter().map(past_truth).collect();
    if !miss {
        set.push(truth);
    }
    set.sort_unstable();
    Ok(Answer::Set(set))
}

/// Draws a uniformly random subset of `0..n` (Floyd's method), in the order of drawing.
fn subset<R: TryCryptoRng + ?Sized>(n: usize, size: usize, rng: &mut R) -> Result<Vec<u16>, R::Error> {
    let mut taken = vec![false; n];
    let mut drawn = Vec::with_capacity(size);
    for last in n - size..n {
        let candidate = below_u64(last as u128 + 1, rng)? as usize;
        let next = if taken[candidate] { last } else { candidate };
        taken[next] = true;
        drawn.push(next as u16);
    }
    Ok(drawn)
}
