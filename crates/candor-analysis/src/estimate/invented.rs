//! The influence of invented responses, and tests that detect some of them.
//!
//! If channels are randomly assigned, a person who invents a response also chooses its channel, and a rare channel
//! has a large weight.

use std::collections::BTreeMap;

use candor_base::plan::Plan;

use super::binomial::bounds;
use super::components::pattern_function;
use super::independence::chi_square;
use super::strips::extremes;
use super::{EstimateError, GroupLaw, TableEstimator};
use crate::repeats::chance_of_repeats;
use crate::tally::{OTHER_CHANNEL, TableCounts};

/// Expected count below which classes of channels are merged, for the chi-square approximation.
const MIN_EXPECTED: f64 = 20.0;

/// Maximum number of channels, times components of the table, whose weights are computed.
const MAX_WEIGHTS: usize = 1 << 17;

impl TableEstimator<'_> {
    /// Returns the largest number of people that one response can count for in a cell of the table.
    ///
    /// It is the largest absolute weight over all channels and answers; `None` if there are too many channels.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if the table is not identifiable.
    pub fn largest_weight(&self) -> Result<Option<f64>, EstimateError> {
        let draws = self.draws();
        let weights = self.component_weights(draws.iter().map(|(law, p)| (law, *p)))?;
        if draws.len() << self.attributes.len() > MAX_WEIGHTS {
            return Ok(None);
        }
        let (smallest, largest) = bounds(self.inverse_ranges().into_iter().flat_map(|(low, high)| [low, high]));
        let matrices = smallest.abs().max(largest.abs());
        let one = |((law, p), weights): (&(GroupLaw, f64), &Vec<f64>)| {
            let contribution = self.estimate_coefficients(weights);
            let (least, most) = match law.has_strips() {
                true => extremes(law, &contribution),
                false => bounds(pattern_function(&contribution, &law.shares)),
            };
            // The mean over a group of responses enters the estimate, so one of them counts for the share with
            // that channel.
            least.abs().max(most.abs()) * matrices / p
        };
        Ok(Some(draws.iter().zip(&weights).map(one).fold(0.0, f64::max)))
    }
}

/// Returns the p-value of a test that channels occur as often as the plan assigns them.
///
/// `None` if no channels are assigned or responses have weights. Two tests share the p-value. One is a chi-square
/// test of all channels of a table, with the smallest p-value over tables and blocks times their number. The other
/// tests each channel separately, which finds a single channel that is too frequent ([`repeats`](crate::repeats)).
pub fn channel_law(plan: &Plan, tallies: &[TableCounts]) -> Option<f64> {
    let p_values: Vec<f64> = tallies.iter().flat_map(|tally| of_table(plan, tally)).collect();
    let least = p_values.iter().copied().reduce(f64::min);
    let together = least.map(|least| least * p_values.len() as f64);
    let single = single_channels(plan, tallies);
    let one = match (together, single) {
        (Some(together), Some(single)) => 2.0 * together.min(single),
        (one, other) => one.or(other)?,
    };
    Some(one.min(1.0))
}

/// Returns the p-value of a test that no single channel is more frequent than the plan assigns it.
///
/// Within a block, the p-value holds for all channels at once, so only blocks are counted.
fn single_channels(plan: &Plan, tallies: &[TableCounts]) -> Option<f64> {
    let mut least: BTreeMap<usize, BTreeMap<u16, f64>> = BTreeMap::new();
    for tally in tallies.iter().filter(|tally| is_unweighted(tally)) {
        for (place, &block) in tally.layout().tagged.iter().enumerate() {
            let mut observed: BTreeMap<u16, f64> = BTreeMap::new();
            for (key, group) in tally.groups().iter().filter(|(key, _)| key[place] != OTHER_CHANNEL) {
                *observed.entry(key[place]).or_default() += group.total;
            }
            let shares: Vec<f64> = plan.blocks()[block].shares().map(|(share, _)| share).collect();
            let chance = |tag: u16, times| chance_of_repeats(tally.total(), times, shares[usize::from(tag)]);
            let known = least.entry(block).or_default();
            known.extend(observed.into_iter().map(|(tag, times)| (tag, chance(tag, times))));
        }
    }
    let smallest = least.values().flat_map(BTreeMap::values).copied().reduce(f64::min)?;
    Some(smallest * least.len() as f64)
}

/// Returns whether all responses have weight 1.
fn is_unweighted(tally: &TableCounts) -> bool {
    tally.groups().values().all(|group| group.total == group.squares)
}

/// Returns the p-value for each block of a table with assigned channels.
fn of_table(plan: &Plan, tally: &TableCounts) -> Vec<f64> {
    let layout = tally.layout();
    if !is_unweighted(tally) {
        return Vec::new();
    }
    let one = |(place, &block): (usize, &usize)| {
        let channels = plan.blocks()[block].channels();
        let all: f64 = channels.iter().map(|&(weight, _)| weight as f64).sum();
        let mut classes: BTreeMap<u16, (f64, f64)> = BTreeMap::new();
        for (tag, (weight, _)) in (0..).zip(channels) {
            let class = if layout.asks(plan, block, tag) { tag } else { OTHER_CHANNEL };
            classes.entry(class).or_default().0 += tally.total() * *weight as f64 / all;
        }
        for (key, group) in tally.groups() {
            classes.entry(key[place]).or_default().1 += group.total;
        }
        p_value(classes.into_values())
    };
    layout.tagged.iter().enumerate().filter_map(one).collect()
}

/// Returns the p-value of a chi-square test; `None` if fewer than two classes have a sufficient expected count.
fn p_value(classes: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut statistic, mut kept, mut rare) = (0.0, 0usize, (0.0, 0.0));
    let add = |statistic: &mut f64, kept: &mut usize, (expected, observed): (f64, f64)| {
        *statistic += (observed - expected).powi(2) / expected;
        *kept += 1;
    };
    for (expected, observed) in classes {
        match expected < MIN_EXPECTED {
            true => rare = (rare.0 + expected, rare.1 + observed),
            false => add(&mut statistic, &mut kept, (expected, observed)),
        }
    }
    if rare.0 >= MIN_EXPECTED {
        add(&mut statistic, &mut kept, rare);
    }
    (kept > 1).then(|| chi_square(statistic, kept - 1).p_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{ChannelCounts, CountLayout};
    use candor_base::channel::{Axis, Pattern};
    use candor_base::plan::Block;
    use candor_base::schema::Schema;

    /// The weights of the answers of one question with two categories and retention probability p: p / (2p - 1) and
    /// (p - 1) / (2p - 1).
    #[test]
    fn weights_of_a_binary_question() {
        let keep = |p: f64| {
            let channel = Pattern::k_ary(vec![Axis::single(2)], (p / (1.0 - p)).ln()).unwrap();
            let plan = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
            TableEstimator::new(&plan, &[0]).unwrap().largest_weight().unwrap().unwrap()
        };
        for p in [0.75, 0.6, 0.9] {
            assert!((keep(p) / (p / (2.0 * p - 1.0)) - 1.0).abs() < 1e-6, "{p}: {}", keep(p));
        }
    }

    /// A rare channel has a proportionally larger weight if it is the only informative one.
    #[test]
    fn a_rare_channel_counts_for_many() {
        let channel = |epsilon| Pattern::k_ary(vec![Axis::single(2)], epsilon).unwrap().into();
        let block = Block::lottery(vec![0], vec![(1, channel(3.0_f64.ln())), (99, channel(0.0001))]);
        let plan = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![block]).unwrap();
        let weight = TableEstimator::new(&plan, &[0]).unwrap().largest_weight().unwrap().unwrap();
        assert!((weight / 100.0 - 1.0).abs() < 0.05, "{weight}: 100 times 1/2 from the mean, and 1/2");
    }

    #[test]
    fn channels_that_come_too_often_show() {
        let channel = |epsilon| Pattern::k_ary(vec![Axis::single(2)], epsilon).unwrap().into();
        let block = Block::lottery(vec![0], vec![(1, channel(1.0)), (3, channel(2.0))]);
        let plan = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![block]).unwrap();
        let p_value = |first: f64, second: f64| {
            let group =
                |n: f64| ChannelCounts { total: n, squares: n, counts: vec![n / 2.0; 2], square_counts: Vec::new() };
            let groups = BTreeMap::from([(vec![0], group(first)), (vec![1], group(second))]);
            let tally = TableCounts::from_groups(&plan, CountLayout::new(&plan, &[0]), groups);
            channel_law(&plan, &[tally]).unwrap()
        };
        // (260 - 250)^2 / 250 + 10^2 / 750 = 0.533, which chi-square with one degree of freedom exceeds with
        // probability 0.465. The other test has a larger p-value, so the result is twice that.
        assert!((p_value(260.0, 740.0) - 2.0 * 0.4652).abs() < 1e-3);
        assert!(p_value(1_500.0, 0.0) < 1e-300 || p_value(1_500.0, 0.0) == 0.0);
        assert!(p_value(450.0, 750.0) < 1e-6, "200 beside 1,000");
    }
}
