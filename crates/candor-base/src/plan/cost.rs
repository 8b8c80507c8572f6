//! Upper bounds on the cost of reading a plan, from the numbers in its file, before anything is computed.
//!
//! A plan file may come from an untrusted source. The unit is a step, which takes about a nanosecond: one sum of two
//! machine words. The cost bounds the work on counts and certificates (docs/reference/limits.md); the work may be
//! several times smaller.

use std::collections::{HashMap, HashSet};

use super::blocks_json::{BlockJson, ChannelJson, PartJson, SetJson, WeightedChannelJson};
use super::tied::MAX_WAYS;
use crate::channel::{MAX_CELLS, MAX_ENUMERATED, MAX_EXACT, MAX_HALVES, MAX_STATES};
use crate::schema::{Attribute, Component, Schema};

/// Default limit on the cost of a plan, in steps: a few seconds.
pub const MAX_COST: u64 = 1 << 33;

/// Cost, in steps, up to which the error about an edited plan states what the plan guarantees in its current form.
pub(super) const CHEAP: u64 = 1 << 24;

/// Steps for each category of a set-valued answer. Preparing to draw it takes memory rather than time.
const SET_STEPS: u64 = 1 << 10;

/// Steps for each cell and attribute of a strip's table: its cells are sorted, and preparing to draw them takes memory.
const STRIP_STEPS: u64 = 1 << 7;

/// Steps for each pair of possible records and each attribute in which they may differ.
const PAIR_STEPS: u64 = 8;

/// Returns the cost in steps of a plan with these blocks over a schema.
///
/// If the names alone exceed both the given limit and the default, nothing else is examined.
pub(super) fn cost(blocks: &[BlockJson], schema: &Schema, limit: u64) -> u64 {
    let attributes = schema.attributes().len();
    // Attributes are looked up by name and searched for in every block.
    let named = product(&[4, attributes as u64, (attributes + blocks.len()) as u64]);
    if named > limit.max(MAX_COST) {
        return named;
    }
    // The loss of tied attributes takes this number of changes, each of which costs as much as a certificate.
    let components = schema.components();
    let ways = if components.iter().any(Component::is_tied) { 1 + MAX_WAYS as u64 } else { 1 };
    let paired: u64 = components.iter().filter(|component| component.is_tied()).map(pairs).fold(0, u64::saturating_add);
    let channels = || blocks.iter().flat_map(|block| &block.lottery).map(|weighted| &weighted.channel);
    let mut sets = HashSet::new();
    for channel in channels() {
        if let ChannelJson::Pattern { categories, answer_sizes, .. } = channel {
            sets.extend(categories.iter().zip(answer_sizes).filter(|(_, size)| **size > 1));
        }
    }
    let drawn = |(&categories, &size): (&usize, &usize)| size.min(categories.saturating_sub(size)) as u64;
    let prepared: u64 =
        sets.into_iter().map(drawn).map(|drawn| drawn.saturating_mul(SET_STEPS)).fold(0, u64::saturating_add);
    let certified = channels().map(of_channel).fold(0, u64::saturating_add).saturating_mul(ways);
    let written = cell_text(blocks, schema);
    [certified, prepared, named, paired, written].into_iter().fold(0, u64::saturating_add)
}

/// Returns an upper bound on the bytes of the labels of all cells of all strips.
fn cell_text(blocks: &[BlockJson], schema: &Schema) -> u64 {
    let longest = |attribute: &Attribute| attribute.categories().iter().map(String::len).max().unwrap_or(0) as u64 + 1;
    let longest: HashMap<&str, u64> = schema.attributes().iter().map(|a| (a.name(), longest(a))).collect();
    let of_block = |block: &BlockJson| {
        let of_place = |&place: &usize| block.attributes.get(place).and_then(|name| longest.get(name.as_str()));
        let text = |weighted: &WeightedChannelJson| match &weighted.channel {
            ChannelJson::Strip { attributes, categories, .. } => {
                table_cells(categories).saturating_mul(attributes.iter().filter_map(of_place).sum())
            }
            _ => 0,
        };
        block.lottery.iter().map(text).fold(0, u64::saturating_add)
    };
    blocks.iter().map(of_block).fold(0, u64::saturating_add)
}

/// Returns the number of cells of a strip's table, at most the largest allowed.
fn table_cells(categories: &[usize]) -> u64 {
    product(&categories.iter().map(|&size| size as u64).collect::<Vec<_>>()).min(MAX_CELLS as u64)
}

/// Returns the cost of comparing every two possible records of a component.
fn pairs(component: &Component) -> u64 {
    let records = component.records().map_or(0, <[Vec<u16>]>::len) as u64;
    product(&[PAIR_STEPS, records, records, component.attributes().len() as u64])
}

fn of_channel(channel: &ChannelJson) -> u64 {
    match channel {
        ChannelJson::Matrix { categories, columns, .. } => {
            let entries = columns.iter().map(Vec::len).fold(0, usize::saturating_add);
            (entries as u64).saturating_mul(4 + 4 * categories.len() as u64)
        }
        ChannelJson::Strip { categories, .. } => {
            product(&[STRIP_STEPS, table_cells(categories), categories.len() as u64])
        }
        ChannelJson::Pattern { categories, answer_sizes, parts, resampling } => {
            let resampled = resampling.as_ref().is_some_and(|weights| weights.iter().any(|weight| weight.0 > 0));
            let bits: u64 = categories.iter().map(|&a| u64::from(usize::BITS - a.leading_zeros())).sum();
            let shape = Shape {
                attributes: categories.len() as u64,
                seen: seen(categories, answer_sizes, parts),
                words: bits / 64 + 1,
                parts: parts.len() as u64,
                listed: parts.iter().filter(|part| part.set.is_listed()).count() as u64,
                resampled,
            };
            let counting = parts.iter().map(|part| shape.counting(&part.set)).fold(0, u64::saturating_add);
            counting.saturating_add(shape.certifying()).saturating_add(shape.marginals())
        }
    }
}

/// Returns the number of attributes that can miss and that some part depends on.
fn seen(categories: &[usize], answer_sizes: &[usize], parts: &[PartJson]) -> u64 {
    let mut looked_at = vec![false; categories.len()];
    for part in parts {
        match &part.set {
            SetJson::All => {}
            SetJson::Only(_) | SetJson::Bitmap(_) => looked_at.fill(true),
            SetJson::Hits(hits) => {
                for &i in hits.iter().filter(|&&i| i < categories.len()) {
                    looked_at[i] = true;
                }
            }
            SetJson::Threshold { weights, .. } => {
                looked_at.iter_mut().zip(weights).for_each(|(looked_at, weight)| *looked_at |= weight.0 > 0);
            }
        }
    }
    let misses = categories.iter().zip(answer_sizes).map(|(categories, size)| categories != size);
    looked_at.into_iter().zip(misses).filter(|&(looked_at, misses)| looked_at && misses).count() as u64
}

impl SetJson {
    /// Returns whether its patterns are counted one by one.
    fn is_listed(&self) -> bool {
        matches!(self, SetJson::Threshold { .. } | SetJson::Bitmap(_))
    }
}

/// The numbers that determine the cost of a pattern channel.
struct Shape {
    attributes: u64,
    seen: u64,
    /// Machine words in the number of all answers.
    words: u64,
    parts: u64,
    /// Number of parts whose patterns are counted one by one.
    listed: u64,
    resampled: bool,
}

impl Shape {
    /// Returns the cost of counting the answers of one part.
    fn counting(&self, set: &SetJson) -> u64 {
        let k = self.attributes;
        match set {
            SetJson::All | SetJson::Only(_) | SetJson::Hits(_) => product(&[k, self.words]),
            SetJson::Bitmap(_) if k <= MAX_ENUMERATED as u64 => product(&[k + 4, 1 << k, self.words]),
            // Rejected because of its shape.
            SetJson::Bitmap(_) => 1,
            SetJson::Threshold { .. } if k <= MAX_ENUMERATED as u64 => {
                product(&[k + 12, 2 << k.div_ceil(2), self.words])
            }
            SetJson::Threshold { .. } if k <= MAX_HALVES as u64 => {
                product(&[k + 12, 2 << k.div_ceil(2)]).saturating_add(32 * MAX_STATES as u64)
            }
            SetJson::Threshold { limit, .. } => {
                product(&[6, k + 1, limit.0.saturating_add(1).min(1 << 26)]).saturating_add(32 * MAX_STATES as u64)
            }
        }
    }

    /// Returns the cost of the likelihoods of all patterns and of the certificates that follow from them.
    fn certifying(&self) -> u64 {
        let k = self.attributes;
        if k > MAX_ENUMERATED as u64 {
            // Every part is examined for each attribute, and for each part that is a single pattern.
            return product(&[self.parts, self.parts + k, self.words + 2]);
        }
        let patterns = 1 << self.seen;
        if k > MAX_EXACT as u64 || self.resampled {
            return product(&[self.parts + k, patterns]);
        }
        let denominator = product(&[self.parts, self.words]);
        product(&[self.parts + 2 * k, patterns, denominator + 4])
    }

    /// Returns the cost of the probability that each attribute hits.
    fn marginals(&self) -> u64 {
        product(&[self.attributes, self.parts, 4 + product(&[self.listed, self.words])])
    }
}

fn product(factors: &[u64]) -> u64 {
    factors.iter().fold(1, |product, &factor| product.saturating_mul(factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::work::counted;
    use crate::channel::{Axis, Bitmap, Channel, Part, Pattern, PatternSet, Strip};
    use crate::plan::{Block, Plan};
    use proptest::prelude::*;

    fn any_set(k: usize) -> impl Strategy<Value = PatternSet> {
        let list = move || prop::collection::btree_set(0..k, 0..=k);
        let bits = prop::collection::vec(any::<bool>(), 97);
        prop_oneof![
            Just(PatternSet::All),
            list().prop_map(|set| PatternSet::Only(set.into_iter().collect())),
            list().prop_map(|set| PatternSet::Hits(set.into_iter().collect())),
            (prop::collection::vec(0u64..99, k), 0u64..400)
                .prop_map(|(weights, limit)| PatternSet::Threshold { weights, limit }),
            bits.prop_map(move |bits| match k <= MAX_ENUMERATED {
                true => PatternSet::Bitmap(Bitmap::new(k, |p| bits[p as usize % 97])),
                false => PatternSet::All,
            }),
        ]
    }

    /// Returns a strip over the first attributes, up to three.
    fn any_strip(axes: &[Axis]) -> impl Strategy<Value = Option<Channel>> + use<> {
        let sizes: Vec<usize> = axes.iter().map(|axis| axis.categories).collect();
        (1..=sizes.len().min(3), 1usize..60_000).prop_map(move |(n, cells)| {
            let table: usize = sizes[..n].iter().product();
            Some(Strip::new((0..n).collect(), sizes[..n].to_vec(), cells % (table - 1) + 1, [1, 2]).ok()?.into())
        })
    }

    fn any_channel(axes: Vec<Axis>) -> impl Strategy<Value = Option<Channel>> {
        let parts = prop::collection::vec((any_set(axes.len()), 1u64..1000), 1..20);
        (parts, any::<bool>()).prop_map(move |(parts, resampled)| {
            let parts = parts.into_iter().map(|(set, weight)| Part { set, weight }).collect();
            let pattern = Pattern::new(axes.clone(), parts).ok()?;
            let weights = vec![u64::from(resampled); axes.len()];
            Some(Channel::Pattern(pattern.resampled(weights)))
        })
    }

    fn any_plan(attributes: std::ops::Range<usize>) -> impl Strategy<Value = Option<Plan>> {
        let axes = prop::collection::vec((2usize..40, 1usize..40), attributes);
        let axes = axes.prop_map(|axes| axes.into_iter().map(|(a, q)| Axis::set(a, q.min(a))).collect::<Vec<Axis>>());
        let channel = |axes: Vec<Axis>| prop_oneof![1 => any_strip(&axes).boxed(), 3 => any_channel(axes).boxed()];
        axes.prop_flat_map(move |axes| (Just(axes.clone()), prop::collection::vec(channel(axes), 1..4))).prop_map(
            |(axes, channels)| {
                let sizes: Vec<usize> = axes.iter().map(|axis| axis.categories).collect();
                let lottery = channels.into_iter().map(|channel| Some((1, channel?))).collect::<Option<Vec<_>>>()?;
                Plan::new(Schema::with_sizes(&sizes).ok()?, vec![Block::lottery((0..sizes.len()).collect(), lottery)])
                    .ok()
            },
        )
    }

    /// Returns the steps that reading the plan took, and its declared cost.
    fn done_and_declared(plan: &Plan) -> (u64, u64) {
        let text = plan.to_json();
        let (read, done) = counted(|| Plan::from_json_within(&text, u64::MAX));
        assert_eq!(read.as_ref(), Ok(plan));
        let declared = match Plan::from_json_within(&text, 0) {
            Err(crate::plan::PlanError::TooCostly { cost, .. }) => cost,
            other => panic!("{other:?}"),
        };
        (done, declared)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn reading_does_no_more_than_declared(plan in any_plan(1..14), larger in any_plan(14..34)) {
            for plan in [plan, larger].into_iter().flatten() {
                let (done, declared) = done_and_declared(&plan);
                prop_assert!(done <= declared, "{done} steps, {declared} declared");
            }
        }
    }

    #[test]
    fn strips_are_counted() {
        for sizes in [vec![9], vec![256, 256], vec![2; 16]] {
            let places: Vec<usize> = (0..sizes.len()).collect();
            let strip = Strip::new(places.clone(), sizes.clone(), 5, [1, 1]).unwrap();
            let plan = Plan::new(Schema::with_sizes(&sizes).unwrap(), vec![Block::new(places, strip)]).unwrap();
            let (done, declared) = done_and_declared(&plan);
            assert!(done >= sizes.iter().product::<usize>() as u64 && done <= declared, "{done} of {declared}");
        }
    }

    #[test]
    fn the_cost_of_ordinary_plans_is_far_below_the_limit() {
        let threshold =
            |part: u64| PatternSet::Threshold { weights: (1..21).map(|i| i * (part + 7) % 101).collect(), limit: 300 };
        let parts = |n: u64| (0..n).map(|part| Part { set: threshold(part), weight: 1 + part }).collect();
        let plan = |n: u64| {
            let channel = Pattern::new(vec![Axis::single(4); 20], parts(n)).unwrap();
            Plan::new(Schema::with_sizes(&[4; 20]).unwrap(), vec![Block::new((0..20).collect(), channel)]).unwrap()
        };
        let (done, declared) = done_and_declared(&plan(10));
        assert!(done <= declared && declared < MAX_COST / 100, "{done} of {declared}");
    }
}
