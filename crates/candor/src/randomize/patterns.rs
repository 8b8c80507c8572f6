//! Pattern channels over several attributes, or with sets as answers: first the patterns of many
//! records, then the answers column by column (those that are sets: [`super::set_answers`]).

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};
use rand_core::CryptoRng;

use super::bytes::Bytes;
use super::die::Die;
use super::draw::Draw;
use super::set_answers::SetDrawer;
use crate::channel::{Axis, Channel, Choices, FULL_WEIGHT, Part, Pattern, PatternSet};

/// With at most this many attributes, the patterns of a set are listed on one die.
const MAX_LISTED: usize = 12;

/// With more listed parts than this in a lottery, dice get small tables.
const MAX_WIDE: usize = 64;

/// With more listed patterns than this in a lottery, the reference sampler takes over: they would fill the memory.
const MAX_PATTERNS: usize = 1 << 22;

/// All answers of a channel fit a die if their number has at most so many bits.
const MAX_BITS: u64 = 120;

/// With more attributes, the reference sampler takes over.
const MAX_ATTRIBUTES: usize = 1024;

/// How many attributes the masks of a [`Draw`] hold.
pub(super) const WORD: usize = u16::BITS as usize;

/// How many attributes one die decides where patterns are drawn until they are in a set.
const CHUNK: usize = 8;

/// Thresholds over many attributes that are rarer than this are left to the reference sampler.
const RARE: f64 = 1.0 / 1024.0;

/// How many records are worked on at a time: the scratch stays in the first-level cache.
pub(super) const RUN: usize = 1024;

/// How a part draws.
enum PartDraw {
    /// Always the same; for each word of attributes.
    Fixed(Vec<Draw>),
    /// One of the patterns on the die.
    Listed { die: Die, patterns: Vec<u16> },
    /// Patterns of uniformly random answers until one is within the limit; for each chunk of attributes what its patterns weigh.
    Rejected { sums: Vec<Vec<u64>>, limit: u64 },
}

/// The pattern channels of a lottery; each is made ready when it is first drawn.
pub(super) struct Drawers<'a> {
    patterns: Vec<&'a Pattern>,
    ready: Vec<OnceLock<PatternDrawer>>,
    /// Whether dice may have large tables.
    wide: bool,
    /// For each attribute and channel, how a set of its answer size is drawn; equal ones are one.
    sets: Vec<Vec<Arc<SetDrawer>>>,
}

impl<'a> Drawers<'a> {
    /// `None` if some channel does not fit dice or masks, or all of them together would not fit the memory.
    pub(super) fn new(channels: &[&'a Channel]) -> Option<Drawers<'a>> {
        let pattern = |channel: &&'a Channel| match channel {
            Channel::Pattern(pattern) => Some(pattern),
            Channel::Matrix(_) | Channel::Strip(_) => None,
        };
        let patterns = channels.iter().map(pattern).collect::<Option<Vec<&Pattern>>>()?;
        let attributes = patterns.first()?.axes().len();
        let listed: usize =
            patterns.iter().map(|pattern| pattern.parts().iter().filter(|p| p.set.is_listed()).count()).sum();
        let fits = |pattern: &&Pattern| {
            !pattern.parts().iter().any(|part| part.set.is_listed()) || pattern.all_answers().bits() <= MAX_BITS
        };
        let listable = attributes <= MAX_LISTED && listed << attributes <= MAX_PATTERNS && patterns.iter().all(fits);
        let rejectable = || attributes > MAX_LISTED && listed <= MAX_WIDE && patterns.iter().all(is_rejectable);
        if attributes > MAX_ATTRIBUTES || (listed > 0 && !listable && !rejectable()) {
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

    /// How many words of attributes a record has.
    pub(super) fn words(&self) -> usize {
        self.sets.len().div_ceil(WORD)
    }

    /// Draws what a record does under one of the channels: into place `row` of every word of attributes.
    #[inline]
    pub(super) fn draw<R: CryptoRng + ?Sized>(
        &self,
        channel: usize,
        draws: &mut [[Draw; RUN]],
        row: usize,
        bytes: &mut Bytes<'_, R>,
    ) {
        let ready = || PatternDrawer::new(self.patterns[channel], self.wide).expect("checked when prepared");
        self.ready[channel].get_or_init(ready).draw(draws, row, bytes);
    }

    /// How many categories an attribute has.
    pub(super) fn categories(&self, attribute: usize) -> usize {
        self.patterns[0].axes()[attribute].categories
    }

    /// How sets about an attribute are drawn, by channel.
    pub(super) fn sets(&self, attribute: usize) -> &[Arc<SetDrawer>] {
        &self.sets[attribute]
    }
}

/// Whether the thresholds of a channel are drawn fast by drawing patterns until they are inside, and chunks of attributes fit dice.
fn is_rejectable(pattern: &&Pattern) -> bool {
    let common = |(number, part): (usize, &Part)| match &part.set {
        PatternSet::Threshold { limit, .. } => *limit < u64::MAX && pattern.share(number) >= RARE,
        PatternSet::Bitmap(_) => false,
        PatternSet::All | PatternSet::Only(_) | PatternSet::Hits(_) => true,
    };
    let fits =
        |chunk: &[Axis]| chunk.iter().map(|axis| u64::from(axis.categories.ilog2()) + 1).sum::<u64>() <= MAX_BITS;
    pattern.parts().iter().enumerate().all(common) && pattern.axes().chunks(CHUNK).all(fits)
}

/// A channel made ready to draw patterns.
struct PatternDrawer {
    parts: Die,
    draws: Vec<PartDraw>,
    /// The patterns of a uniformly random answer, for each chunk of attributes; none if no part needs them.
    chunks: Vec<Die>,
    /// The attributes that may be resampled, each with its die: 0 means it is.
    resampling: Vec<(usize, Die)>,
}

impl PatternDrawer {
    /// `None` if some part does not fit dice or masks.
    fn new(pattern: &Pattern, wide: bool) -> Option<PatternDrawer> {
        let weights: Vec<u128> = pattern.parts().iter().map(|part| u128::from(part.weight)).collect();
        let draws = pattern.parts().iter().map(|part| PartDraw::new(&part.set, pattern, wide));
        let draws: Vec<PartDraw> = draws.collect::<Option<_>>()?;
        let resampled = |(i, &weight): (usize, &u64)| {
            let weights = [u128::from(weight), FULL_WEIGHT - u128::from(weight)];
            Some((i, Die::new(&weights, false)?))
        };
        let resampling = pattern.resampling().iter().enumerate().filter(|(_, weight)| **weight > 0);
        let resampling = resampling.map(resampled).collect::<Option<_>>()?;
        let needed = draws.iter().any(|draw| matches!(draw, PartDraw::Rejected { .. }));
        let (odds, chunk) = (pattern.odds(), |odds: &[Choices]| Die::new(&all_ways(odds)?, true));
        let chunks = if needed { odds.chunks(CHUNK).map(chunk).collect::<Option<_>>()? } else { Vec::new() };
        Some(PatternDrawer { parts: Die::new(&weights, false)?, draws, chunks, resampling })
    }

    #[inline]
    fn draw<R: CryptoRng + ?Sized>(&self, draws: &mut [[Draw; RUN]], row: usize, bytes: &mut Bytes<'_, R>) {
        match &self.draws[self.parts.roll(bytes)] {
            PartDraw::Fixed(words) => draws.iter_mut().zip(words).for_each(|(draws, &word)| draws[row] = word),
            PartDraw::Listed { die, patterns } => {
                draws[0][row] = Draw { free: 0, miss: patterns[die.roll(bytes)] };
            }
            PartDraw::Rejected { sums, limit } => while !self.attempt(sums, *limit, draws, row, bytes) {},
        }
        for (attribute, die) in &self.resampling {
            if die.roll(bytes) == 0 {
                draws[attribute / WORD][row].free |= 1 << (attribute % WORD);
            }
        }
    }

    /// Draws the pattern of a uniformly random answer; whether it is within the limit.
    #[inline]
    fn attempt<R: CryptoRng + ?Sized>(
        &self,
        sums: &[Vec<u64>],
        limit: u64,
        draws: &mut [[Draw; RUN]],
        row: usize,
        bytes: &mut Bytes<'_, R>,
    ) -> bool {
        let mut sum = 0u64;
        for ((dice, sums), draws) in self.chunks.chunks(WORD / CHUNK).zip(sums.chunks(WORD / CHUNK)).zip(draws) {
            let mut miss = 0;
            for (place, (die, sums)) in dice.iter().zip(sums).enumerate() {
                let pattern = die.roll(bytes);
                // No chunk weighs more than one unit beyond the limit, which is not the largest number.
                sum = sum.saturating_add(sums[pattern]);
                miss |= (pattern as u16) << (CHUNK * place);
            }
            if sum > limit {
                return false;
            }
            draws[row] = Draw { free: 0, miss };
        }
        true
    }
}

/// In how many ways, up to a factor that all patterns share, these attributes can be answered with each pattern; `None` if a number
/// is too large.
fn all_ways(odds: &[Choices]) -> Option<Vec<u128>> {
    let mut all = vec![BigUint::one()];
    for choice in odds {
        let with: Vec<BigUint> = all.iter().map(|ways| ways * &choice.miss).collect();
        all.iter_mut().for_each(|ways| *ways *= &choice.hit);
        all.extend(with);
    }
    all.iter().map(ToPrimitive::to_u128).collect()
}

impl PartDraw {
    fn new(set: &PatternSet, pattern: &Pattern, wide: bool) -> Option<PartDraw> {
        let k = pattern.axes().len();
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
            PatternSet::Threshold { weights, limit } if k > MAX_LISTED => {
                let sums = |weights: &[u64]| {
                    let mut sums = vec![0u64];
                    for &weight in weights {
                        let with = |sum: &u64| sum.saturating_add(weight).min(limit + 1);
                        sums.extend(sums.iter().map(with).collect::<Vec<u64>>());
                    }
                    sums
                };
                PartDraw::Rejected { sums: weights.chunks(CHUNK).map(sums).collect(), limit: *limit }
            }
            PatternSet::Threshold { .. } | PatternSet::Bitmap(_) => {
                let (members, ways) = (set.members(k), all_ways(&pattern.odds())?);
                let (patterns, weights): (Vec<u16>, Vec<u128>) =
                    (0..).zip(ways).filter(|&(pattern, _)| members[usize::from(pattern)]).unzip();
                // Two leading bytes decide more, but their table is large.
                PartDraw::Listed { die: Die::new(&weights, wide)?, patterns }
            }
        })
    }
}

/// Answers with one category: fills a column from the draws of its records.
pub(super) fn fill_ones<R: CryptoRng + ?Sized>(
    attribute: usize,
    categories: usize,
    draws: &[Draw],
    truths: &[u16],
    out: &mut [u16],
    bytes: &mut Bytes<'_, R>,
) {
    if categories > 256 {
        for ((draw, &truth), out) in draws.iter().zip(truths).zip(out) {
            *out = redraw(draw.of(attribute), categories, truth, bytes).unwrap_or(truth);
        }
        return;
    }
    // A uniform number below n is the high half of 16 random bits times n, unless the low half is
    // below 2^16 mod n: those few are drawn again afterwards. All in 16-bit lanes, without branches.
    let (all, others) = (categories as u16, categories as u16 - 1);
    let (all_again, others_again) = ((65_536 % u32::from(all)) as u16, (65_536 % u32::from(others)) as u16);
    let mut random = [0u8; 2 * RUN];
    let mut open = [0u16; RUN];
    for ((draws, truths), out) in draws.chunks(RUN).zip(truths.chunks(RUN)).zip(out.chunks_mut(RUN)) {
        let random = &mut random[..2 * draws.len()];
        let open = &mut open[..draws.len()];
        bytes.fill(random);
        let numbers = random.as_chunks::<2>().0;
        for ((((draw, &truth), number), out), open) in
            draws.iter().zip(truths).zip(numbers).zip(out.iter_mut()).zip(open.iter_mut())
        {
            // All bits of a mask are set where it holds.
            let free = 0u16.wrapping_sub(draw.free >> attribute & 1);
            let random = free | 0u16.wrapping_sub(draw.miss >> attribute & 1);
            let number = u16::from_le_bytes(*number);
            let n = others + (free & 1);
            let again = all_again & free | others_again & !free;
            let drawn = ((u32::from(number) * u32::from(n)) >> 16) as u16;
            let other = drawn + (u16::from(drawn >= truth) & !free);
            *open = again.saturating_sub(number.wrapping_mul(n)) & random;
            *out = other & random | truth & !random;
        }
        if open.iter().fold(0, |any, open| any | open) != 0 {
            for i in (0..open.len()).filter(|&i| open[i] != 0) {
                out[i] = redraw(draws[i].of(attribute), categories, truths[i], bytes).unwrap_or(truths[i]);
            }
        }
    }
}

/// A category drawn as `(free, miss)` say; `None` for the truth.
fn redraw<R: CryptoRng + ?Sized>(
    (free, miss): (bool, bool),
    categories: usize,
    truth: u16,
    bytes: &mut Bytes<'_, R>,
) -> Option<u16> {
    match (free, miss) {
        (true, _) => Some(bytes.below(categories) as u16),
        (false, true) => Some(past(bytes.below(categories - 1) as u16, truth)),
        (false, false) => None,
    }
}

/// The category at position `other` among all but the truth.
#[inline]
fn past(other: u16, truth: u16) -> u16 {
    other + u16::from(other >= truth)
}
