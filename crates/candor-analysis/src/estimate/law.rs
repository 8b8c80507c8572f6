//! The law of a group of responses with the same channels: its information about each component of a table.

use candor_base::channel::Channel;
use candor_base::plan::Plan;

use super::asked::Asked;
use crate::tally::{CountLayout, StripMargin};

/// Channels of a block, as far as they concern a table.
pub(super) struct BlockLaws {
    block: usize,
    /// Axis of each of its attributes, in the order of the bits of the eigenvalues.
    places: Vec<usize>,
    /// Law of each channel; `None` for subset channels, and for patterns that ask elsewhere.
    channels: Vec<Option<PatternLaw>>,
}

/// Law of a pattern channel.
struct PatternLaw {
    eigenvalues: Vec<f64>,
    answer_sizes: Vec<usize>,
}

/// Law of a group of responses with the same channel IDs.
///
/// A table splits into components, one for each set `V` of its axes. The observed component, divided by the share of
/// cells in an answer, has the expectation of the true component times its eigenvalue. anyway, is expected to be the
/// true component times its eigenvalue.
#[derive(Clone)]
pub(super) struct GroupLaw {
    /// Eigenvalue of each component.
    pub(super) eigenvalues: Vec<f64>,
    /// Factor of each observed component in the estimate, up to a factor that all groups share.
    ///
    /// It is the eigenvalue or, for subset channels, `F / (A_V (1 + F p))`. Its product with the eigenvalue is the
    /// information of one response.
    pub(super) entries: Vec<f64>,
    /// For each attribute, the probability that a uniformly random answer hits: q/a.
    pub(super) shares: Vec<f64>,
    /// For each component, the share of cells of the other axes in an answer, by which its observed deviations
    /// are divided.
    pub(super) observed: Vec<f64>,
    /// Subset channels of the group.
    pub(super) strips: Vec<Asked>,
    /// Whether the group's channels ask about each axis.
    pub(super) asked: Vec<bool>,
}

impl BlockLaws {
    /// Returns the laws of each block with attributes among the count axes.
    pub(super) fn of_table(plan: &Plan, layout: &CountLayout, attributes: &[usize]) -> Vec<BlockLaws> {
        let mut laws = Vec::new();
        for (number, block) in plan.blocks().iter().enumerate() {
            let inside: Vec<(usize, usize)> = attributes
                .iter()
                .enumerate()
                .filter_map(|(place, attribute)| Some((place, block.attributes().iter().position(|a| a == attribute)?)))
                .collect();
            if inside.is_empty() {
                continue;
            }
            let local: Vec<usize> = inside.iter().map(|&(_, local)| local).collect();
            let law = |(tag, (_, channel)): (u16, &(u64, Channel))| match channel {
                Channel::Pattern(pattern) if layout.asks(plan, number, tag) => {
                    let masses = pattern.marginal(&local);
                    let answer_sizes = masses.axes().iter().map(|axis| axis.answer).collect();
                    Some(PatternLaw { eigenvalues: masses.eigenvalues(), answer_sizes })
                }
                Channel::Pattern(_) | Channel::Matrix(_) | Channel::Strip(_) => None,
            };
            let channels = (0..).zip(block.channels()).map(law).collect();
            laws.push(BlockLaws { block: number, places: inside.iter().map(|&(place, _)| place).collect(), channels });
        }
        laws
    }

    /// Returns whether some answers are sets of categories.
    pub(super) fn has_sets(&self) -> bool {
        self.channels.iter().flatten().any(|law| law.answer_sizes.iter().any(|&size| size > 1))
    }

    /// Returns the part of a component in this block.
    fn local(&self, component: usize) -> usize {
        self.places.iter().enumerate().map(|(bit, &place)| (component >> place & 1) << bit).sum()
    }
}

impl GroupLaw {
    /// Returns the law of the group with this key, over attributes of these sizes.
    pub(super) fn new(
        plan: &Plan,
        layout: &CountLayout,
        blocks: &[BlockLaws],
        sizes: &[usize],
        key: &[u16],
    ) -> GroupLaw {
        let components = 1usize << sizes.len();
        let mut law = GroupLaw {
            eigenvalues: vec![1.0; components],
            entries: vec![1.0; components],
            shares: sizes.iter().map(|&a| 1.0 / a as f64).collect(),
            observed: Vec::new(),
            strips: Vec::new(),
            asked: vec![true; sizes.len()],
        };
        let frame = layout.frame(plan, key);
        for block in blocks {
            let channel = layout.channel_of(block.block, key).map(|channel| &block.channels[channel]);
            match channel {
                Some(Some(pattern)) => law.take_pattern(block, pattern),
                _ => {
                    let margin = frame.strips.iter().find(|margin| margin.block == block.block);
                    law.take_strip(block, margin.map(|margin| asked(plan, margin)));
                }
            }
        }
        law.observed = (0..components).map(|component| law.observed(component)).collect();
        law
    }

    fn take_pattern(&mut self, block: &BlockLaws, pattern: &PatternLaw) {
        for component in 0..self.eigenvalues.len() {
            let eigenvalue = pattern.eigenvalues[block.local(component)];
            self.eigenvalues[component] *= eigenvalue;
            self.entries[component] *= eigenvalue;
        }
        for (&place, &size) in block.places.iter().zip(&pattern.answer_sizes) {
            self.shares[place] *= size as f64;
        }
    }

    fn take_strip(&mut self, block: &BlockLaws, strip: Option<Asked>) {
        let inside = block.places.iter().fold(0, |mask, place| mask | 1 << place);
        for component in 0..self.eigenvalues.len() {
            let (eigenvalue, entry) = match component & inside {
                0 => (1.0, 1.0),
                part => strip.as_ref().map_or((0.0, 0.0), |strip| strip.gives(part)),
            };
            self.eigenvalues[component] *= eigenvalue;
            self.entries[component] *= entry;
        }
        for &place in &block.places {
            self.asked[place] = strip.as_ref().is_some_and(|strip| strip.axes.contains(&place));
        }
        self.strips.extend(strip);
    }

    fn observed(&self, component: usize) -> f64 {
        let of_strip = |strip: &Asked| if strip.mask() & component == 0 { strip.density } else { 1.0 };
        let patterns = self.patterns().filter(|axis| component >> axis & 1 == 0).map(|axis| self.shares[axis]);
        patterns.product::<f64>() * self.strips.iter().map(of_strip).product::<f64>()
    }

    /// Returns the axes that pattern channels answer about.
    pub(super) fn patterns(&self) -> impl Iterator<Item = usize> {
        let strips = self.strips.iter().fold(0, |mask, strip| mask | strip.mask());
        (0..self.asked.len()).filter(move |axis| self.asked[*axis] && strips >> axis & 1 == 0)
    }

    /// Returns whether some attributes have subset channels or no answers.
    pub(super) fn has_strips(&self) -> bool {
        !self.strips.is_empty() || self.asked.contains(&false)
    }
}

fn asked(plan: &Plan, margin: &StripMargin) -> Asked {
    match &plan.blocks()[margin.block].channels()[usize::from(margin.channel)].1 {
        Channel::Strip(strip) => Asked::new(strip, margin),
        _ => unreachable!("margins are of strips"),
    }
}
