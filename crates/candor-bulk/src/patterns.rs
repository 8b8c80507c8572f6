//! Pattern channels over several attributes, or with sets as answers.
//!
//! The patterns of many records are drawn first, then the answers column by column. Set-valued answers are in
//! [`crate::set_answers`].

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::bytes::Bytes;
use crate::die::Die;
use crate::draw::{Draw, Draws, RUN};
use crate::set_answers::SetDrawer;
use crate::walk::Walk;
use candor_base::channel::{Axis, Channel, Choices, FULL_WEIGHT, Pattern, PatternSet};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Largest number of attributes for which the patterns of a set are listed on one die.
const MAX_LISTED: usize = 12;

/// Largest number of listed parts in a lottery for which dice have large tables.
const MAX_WIDE: usize = 64;

/// Largest number of walked parts in a lottery. With more, the states would fill the memory, and the reference sampler
/// is used.
const MAX_WALKED: usize = 128;

/// Largest number of listed patterns in a lottery. With more, they would fill the memory, and the reference sampler is
/// used.
const MAX_PATTERNS: usize = 1 << 22;

/// Largest number of bits in the number of answers of a channel, so that they fit on a die.
const MAX_BITS: u64 = 120;

/// Largest number of attributes; with more, the reference sampler is used.
const MAX_ATTRIBUTES: usize = 1024;

/// Number of attributes in the masks of a [`Draw`].
pub(crate) const WORD: usize = u16::BITS as usize;

/// Number of answers that are filled in before rejected ones are drawn again.
const BLOCK: usize = 64;

/// Probability below which thresholds are walked with their exact weights, which the plan guarantees to be feasible.
/// Others are walked with rounded weights.
const RARE: f64 = 1.0 / 4096.0;

/// The method by which a part draws.
enum PartDraw<'a> {
    /// Always the same draw; one for each word of attributes.
    Fixed(Vec<Draw>),
    /// One of the patterns on a die.
    Listed { die: Die, patterns: Vec<u16> },
    /// Attribute by attribute; prepared on first use.
    Walked { set: &'a PatternSet, is_rounded: bool, walk: OnceLock<Walk> },
}

/// The pattern channels of a lottery; each is prepared on first use.
pub(crate) struct Drawers<'a> {
    patterns: Vec<&'a Pattern>,
    ready: Vec<OnceLock<PatternDrawer<'a>>>,
    /// Whether dice may have large tables.
    wide: bool,
    /// For each attribute and channel, the drawer of sets of its answer size; equal ones are shared.
    sets: Vec<Vec<Arc<SetDrawer>>>,
}

impl<'a> Drawers<'a> {
    /// Returns `None` if some channel does not fit dice or masks, or all together would not fit in memory.
    pub(crate) fn new(channels: &[&'a Channel]) -> Option<Drawers<'a>> {
        let pattern = |channel: &&'a Channel| match channel {
            Channel::Pattern(pattern) => Some(pattern),
            Channel::Matrix(_) | Channel::Strip(_) => None,
        };
        let patterns = channels.iter().map(pattern).collect::<Option<Vec<&Pattern>>>()?;
        let attributes = patterns.first()?.axes().len();
        let listed: usize =
            patterns.iter().map(|pattern| pattern.parts().iter().filter(|p| p.set.is_listed()).count()).sum();
        let few = attributes <= MAX_LISTED;
        let fits = if few { listed << attributes <= MAX_PATTERNS } else { listed <= MAX_WALKED };
        let drawable = |pattern: &&Pattern| if few { is_listable(pattern) } else { !is_endless(pattern) };
        if attributes > MAX_ATTRIBUTES || (listed > 0 && !(fits && patterns.iter().all(drawable))) {
            return None;
        }
        let mut known: HashMap<Axis, Arc<SetDrawer>> = HashMap::new();
        let mut set = |axis: Axis| {
            let drawer = known.entry(axis).or_insert_with(|| Arc::new(SetDrawer::new(axis.categories, axis.answer)));
            Arc::clone(drawer)
        };
        let sets = (0..attributes).map(|i| patterns.iter().map(|pattern| set(pattern.axes()[i])).collect()).collect();
        let ready = patterns.iter().map(|_| OnceLock::new()).collect();
        Some(Drawers { patterns, ready, wide: listed <= MAX_WIDE, sets })
    }

    /// Returns the number of words of attributes in a record.
    pub(crate) fn words(&self) -> usize {
        self.sets.len().div_ceil(WORD)
    }

    /// Draws a pattern under one of the channels, into place `row` of every word of attributes.
    #[inline]
    pub(crate) fn draw(&self, channel: usize, draws: &mut [Draws], row: usize, bytes: &mut Bytes) {
        let ready = || PatternDrawer::new(self.patterns[channel], self.wide).expect("checked when prepared");
        self.ready[channel].get_or_init(ready).draw(draws, row, bytes);
    }

    /// Returns the number of categories of an attribute.
    pub(crate) fn categories(&self, attribute: usize) -> usize {
        self.patterns[0].axes()[attribute].categories
    }

    /// Returns the drawers of sets for an attribute, by channel.
    pub(crate) fn sets(&self, attribute: usize) -> &[Arc<SetDrawer>] {
        &self.sets[attribute]
    }
}

/// Returns whether all answers of a channel fit on a die.
fn is_listable(pattern: &Pattern) -> bool {
    pattern.axes().iter().map(|axis| u64::from(axis.categories.ilog2()) + 1).sum::<u64>() <= MAX_BITS
}

/// Returns whether some limit is the largest integer, so that larger sums cannot be distinguished from it.
fn is_endless(pattern: &Pattern) -> bool {
    pattern.parts().iter().any(|part| matches!(part.set, PatternSet::Threshold { limit: u64::MAX, .. }))
}

/// A channel that is prepared for drawing patterns.
struct PatternDrawer<'a> {
    pattern: &'a Pattern,
    parts: Die,
    draws: Vec<PartDraw<'a>>,
    /// The attributes that may be resampled, each with its die: outcome 0 means resampling.
    resampling: Vec<(usize, Die)>,
}

impl<'a> PatternDrawer<'a> {
    /// Returns `None` if some part does not fit dice or masks.
    fn new(pattern: &'a Pattern, wide: bool) -> Option<PatternDrawer<'a>> {
        let weights: Vec<u128> = pattern.parts().iter().map(|part| u128::from(part.weight)).collect();
        let draws = (0..pattern.parts().len()).map(|part| PartDraw::new(part, pattern, wide));
        let draws: Vec<PartDraw> = draws.collect::<Option<_>>()?;
        let resampled = |(i, &weight): (usize, &u64)| {
            let weights = [u128::from(weight), FULL_WEIGHT - u128::from(weight)];
            Some((i, Die::new(&weights, false)?))
        };
        let resampling = pattern.resampling().iter().enumerate().filter(|(_, weight)| **weight > 0);
        let resampling = resampling.map(resampled).collect::<Option<_>>()?;
        Some(PatternDrawer { pattern, parts: Die::new(&weights, false)?, draws, resampling })
    }

    #[inline]
    fn draw(&self, draws: &mut [Draws], row: usize, bytes: &mut Bytes) {
        match &self.draws[self.parts.roll(bytes)] {
            PartDraw::Fixed(words) => draws.iter_mut().zip(words).for_each(|(draws, &word)| draws.set(row, word)),
            PartDraw::Listed { die, patterns } => {
                draws[0].set(row, Draw { free: 0, miss: patterns[die.roll(bytes)] });
            }
            PartDraw::Walked { set, is_rounded, walk } => {
                let walk = walk.get_or_init(|| Walk::new(set, self.pattern.odds(), *is_rounded));
                let mut anew = true;
                while anew {
                    draws.iter_mut().for_each(|draws| draws.set(row, Draw::default()));
                    anew = !walk.draw(bytes, |i, misses| draws[i / WORD].miss[row] |= u16::from(misses) << (i % WORD));
                }
            }
        }
        for (attribute, die) in &self.resampling {
            if die.roll(bytes) == 0 {
                draws[attribute / WORD].free[row] |= 1 << (attribute % WORD);
            }
        }
    }
}

/// Returns the number of ways to answer these attributes with each pattern, up to a common factor.
///
/// Returns `None` if a number is too large.
fn all_ways(odds: &[Choices]) -> Option<Vec<u128>> {
    let mut ways = vec![BigUint::from(1u32)];
    for choice in odds {
        let missed: Vec<BigUint> = ways.iter().map(|ways| ways * &choice.miss).collect();
        ways.iter_mut().for_each(|ways| *ways *= &choice.hit);
        ways.extend(missed);
    }
    ways.iter().map(ToPrimitive::to_u128).collect()
}

impl<'a> PartDraw<'a> {
    fn new(part: usize, pattern: &'a Pattern, wide: bool) -> Option<PartDraw<'a>> {
        let (k, set) = (pattern.axes().len(), &pattern.parts()[part].set);
        let walked = |is_rounded| PartDraw::Walked { set, is_rounded, walk: OnceLock::new() };
        let mask = |word: usize, list: &dyn Fn(usize) -> bool| {
            (0..WORD.min(k - word * WORD)).filter(|at| list(word * WORD + at)).fold(0, |mask, at| mask | 1u16 << at)
        };
        let fixed = |free: &dyn Fn(usize) -> bool, miss: &dyn Fn(usize) -> bool| {
            let word = |word: usize| Draw { free: mask(word, free), miss: mask(word, miss) };
            PartDraw::Fixed((0..k.div_ceil(WORD)).map(word).collect())
        };
        Some(match set {
            PatternSet::All => fixed(&|_| true, &|_| false),
            PatternSet::Hits(hits) => fixed(&|i| hits.binary_search(&i).is_err(), &|_| false),
            PatternSet::Only(missing) => fixed(&|_| false, &|i| missing.binary_search(&i).is_ok()),
            PatternSet::Bitmap(_) if k > MAX_LISTED => walked(false),
            PatternSet::Threshold { .. } if k > MAX_LISTED => walked(pattern.share(part) >= RARE),
            PatternSet::Threshold { .. } | PatternSet::Bitmap(_) => {
                let (members, ways) = (set.members(k), all_ways(&pattern.odds())?);
                let (patterns, weights): (Vec<u16>, Vec<u128>) =
                    (0..).zip(ways).filter(|&(pattern, _)| members[usize::from(pattern)]).unzip();
                // Two leading bytes decide more often, but their table is large.
                PartDraw::Listed { die: Die::new(&weights, wide)?, patterns }
            }
        })
    }
}

/// Fills a column of answers with one category each, from the draws of its records.
pub(crate) fn fill_ones(
    attribute: usize,
    categories: usize,
    draws: &Draws,
    truths: &[u16],
    out: &mut [u16],
    bytes: &mut Bytes,
) {
    let redraw = |i: usize, bytes: &mut Bytes| redraw(draws.of(i).of(attribute), categories, truths[i], bytes);
    if categories > 256 {
        (0..truths.len()).for_each(|i| out[i] = redraw(i, bytes).unwrap_or(truths[i]));
        return;
    }
    // A uniform number below n is the high half of 16 random bits times n, unless the low half is below 2^16 mod n.
    // Those few are drawn again afterwards. All in 16-bit lanes, without branches.
    let (all, others) = (categories as u16, categories as u16 - 1);
    let again = |n: u16| (65_536 % u32::from(n)) as u16;
    let (all_again, others_again) = (again(all), again(others));
    let mut random = [0u8; 2 * RUN];
    bytes.fill(&mut random[..2 * truths.len()]);
    let numbers = random.as_chunks::<2>().0;
    for start in (0..truths.len()).step_by(BLOCK) {
        let block = start..(start + BLOCK).min(truths.len());
        let (free, miss) = (&draws.free[block.clone()], &draws.miss[block.clone()]);
        let mut any = 0;
        for ((((&free, &miss), &truth), number), out) in
            free.iter().zip(miss).zip(&truths[block.clone()]).zip(&numbers[block.clone()]).zip(&mut out[block.clone()])
        {
            // A mask has all bits set if its condition holds.
            let free = 0u16.wrapping_sub(free >> attribute & 1);
            let random = free | 0u16.wrapping_sub(miss >> attribute & 1);
            let number = u16::from_le_bytes(*number);
            let n = others.wrapping_sub(free);
            let drawn = ((u32::from(number) * u32::from(n)) >> 16) as u16;
            let other = drawn + (u16::from(drawn >= truth) & !free);
            any |= (all_again & free | others_again & !free).saturating_sub(number.wrapping_mul(n)) & random;
            *out = other & random | truth & !random;
        }
        if any != 0 {
            for i in block {
                let (free, miss) = draws.of(i).of(attribute);
                let (n, again) = if free { (all, all_again) } else { (others, others_again) };
                if (free || miss) && u16::from_le_bytes(numbers[i]).wrapping_mul(n) < again {
                    out[i] = redraw(i, bytes).unwrap_or(truths[i]);
                }
            }
        }
    }
}

/// Draws a category as `(free, miss)` require; returns `None` for the true category.
fn redraw((free, miss): (bool, bool), categories: usize, truth: u16, bytes: &mut Bytes) -> Option<u16> {
    match (free, miss) {
        (true, _) => Some(bytes.below(categories) as u16),
        (false, true) => Some(past(bytes.below(categories - 1) as u16, truth)),
        (false, false) => None,
    }
}

/// Returns the category at position `other` among all but the true one.
#[inline]
fn past(other: u16, truth: u16) -> u16 {
    other + u16::from(other >= truth)
}
