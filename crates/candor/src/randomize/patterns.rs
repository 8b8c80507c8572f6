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
use crate::channel::{Axis, Channel, FULL_WEIGHT, Pattern, PatternSet};

/// With at most this many attributes, the patterns of a set are listed on one die.
const MAX_LISTED: usize = 12;

/// With more listed parts than this in a lottery, dice get small tables.
const MAX_WIDE: usize = 64;

/// With more listed patterns than this in a lottery, the reference sampler takes over: they would fill the memory.
const MAX_PATTERNS: usize = 1 << 22;

/// All answers of a channel fit a die if their number has at most so many bits.
const MAX_BITS: u64 = 120;

/// With more attributes than bits in a mask, the reference sampler takes over.
const MAX_ATTRIBUTES: usize = u64::BITS as usize;

/// How many records are worked on at a time: the scratch stays in the first-level cache.
pub(super) const RUN: usize = 1024;

/// How a part draws.
enum PartDraw {
    /// Always the same.
    Fixed(Draw),
    /// One of the patterns on the die.
    Listed { die: Die, patterns: Vec<u32> },
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
            patterns.iter().map(|pattern| pattern.parts().iter().filter(|p| is_listed(&p.set)).count()).sum();
        let fits = |pattern: &&Pattern| {
            !pattern.parts().iter().any(|part| is_listed(&part.set)) || pattern.all_answers().bits() <= MAX_BITS
        };
        let listable = attributes <= MAX_LISTED && listed << attributes <= MAX_PATTERNS && patterns.iter().all(fits);
        if attributes > MAX_ATTRIBUTES || (listed > 0 && !listable) {
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

    /// Draws what a record does under one of the channels.
    #[inline]
    pub(super) fn draw<R: CryptoRng + ?Sized>(&self, channel: usize, bytes: &mut Bytes<'_, R>) -> Draw {
        let ready =
            || PatternDrawer::new(self.patterns[channel], self.wide).expect("checked when the plan was prepared");
        self.ready[channel].get_or_init(ready).draw(bytes)
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

/// Whether the patterns of a set are listed on a die.
fn is_listed(set: &PatternSet) -> bool {
    matches!(set, PatternSet::Threshold { .. } | PatternSet::Bitmap(_))
}

/// A channel made ready to draw patterns.
struct PatternDrawer {
    parts: Die,
    draws: Vec<PartDraw>,
    /// The attributes that may be resampled, each with its die: 0 means it is.
    resampling: Vec<(u64, Die)>,
}

impl PatternDrawer {
    /// `None` if some part does not fit dice or masks.
    fn new(pattern: &Pattern, wide: bool) -> Option<PatternDrawer> {
        let weights: Vec<u128> = pattern.parts().iter().map(|part| u128::from(part.weight)).collect();
        let draws =
            pattern.parts().iter().map(|part| PartDraw::new(&part.set, pattern, wide)).collect::<Option<_>>()?;
        let resampled = |(i, &weight): (usize, &u64)| {
            let weights = [u128::from(weight), FULL_WEIGHT - u128::from(weight)];
            Some((1 << i, Die::new(&weights, false)?))
        };
        let resampling = pattern.resampling().iter().enumerate().filter(|(_, weight)| **weight > 0);
        let resampling = resampling.map(resampled).collect::<Option<_>>()?;
        Some(PatternDrawer { parts: Die::new(&weights, false)?, draws, resampling })
    }

    #[inline]
    fn draw<R: CryptoRng + ?Sized>(&self, bytes: &mut Bytes<'_, R>) -> Draw {
        let mut draw = match &self.draws[self.parts.roll(bytes)] {
            PartDraw::Fixed(draw) => *draw,
            PartDraw::Listed { die, patterns } => Draw { free: 0, miss: patterns[die.roll(bytes)].into() },
        };
        for (attribute, die) in &self.resampling {
            if die.roll(bytes) == 0 {
                draw.free |= attribute;
            }
        }
        draw
    }
}

impl PartDraw {
    fn new(set: &PatternSet, pattern: &Pattern, wide: bool) -> Option<PartDraw> {
        let k = pattern.axes().len();
        let everything = u64::MAX >> (MAX_ATTRIBUTES - k);
        let mask = |list: &[usize]| list.iter().fold(0, |mask, i| mask | 1u64 << i);
        Some(match set {
            PatternSet::All => PartDraw::Fixed(Draw { free: everything, miss: 0 }),
            PatternSet::Hits(hits) => PartDraw::Fixed(Draw { free: everything & !mask(hits), miss: 0 }),
            PatternSet::Only(missing) => PartDraw::Fixed(Draw { free: 0, miss: mask(missing) }),
            PatternSet::Threshold { .. } | PatternSet::Bitmap(_) => {
                // Up to a factor that all patterns share.
                let odds = pattern.odds();
                let patterns: Vec<u32> =
                    set.members(k).iter().zip(0..).filter(|(member, _)| **member).map(|(_, p)| p).collect();
                let ways = |&p: &u32| {
                    let ways = |i: usize| if p >> i & 1 == 1 { &odds[i].miss } else { &odds[i].hit };
                    (0..k).fold(BigUint::one(), |product, i| product * ways(i)).to_u128()
                };
                let weights = patterns.iter().map(ways).collect::<Option<Vec<u128>>>()?;
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
    let (all, others) = (categories as u32, categories as u32 - 1);
    let (all_again, others_again) = ((65_536 % all) as u16, (65_536 % others) as u16);
    let mut random = [0u8; 2 * RUN];
    let mut open = [0u8; RUN];
    for ((draws, truths), out) in draws.chunks(RUN).zip(truths.chunks(RUN)).zip(out.chunks_mut(RUN)) {
        let random = &mut random[..2 * draws.len()];
        let open = &mut open[..draws.len()];
        bytes.fill(random);
        let numbers = random.as_chunks::<2>().0;
        for ((((draw, &truth), number), out), open) in
            draws.iter().zip(truths).zip(numbers).zip(out.iter_mut()).zip(open.iter_mut())
        {
            let (free, miss) = draw.of(attribute);
            let (n, again) = if free { (all, all_again) } else { (others, others_again) };
            let product = u32::from(u16::from_le_bytes(*number)) * n;
            let drawn = (product >> 16) as u16;
            let other = if free { drawn } else { past(drawn, truth) };
            let random = free | miss;
            *open = u8::from(random & ((product as u16) < again));
            *out = if random { other } else { truth };
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
