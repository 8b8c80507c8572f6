//! The search for channels of a lottery: sets of patterns, found by their price.

use std::collections::{BTreeSet, HashSet};

use super::balance::{self, WeightSolution};
use super::boxes::Boxes;
use super::orbits::Orbits;
use super::pool::{CandidateChannel, CandidatePool};
use super::space::{Space, Support};
use super::{COARSE, GAP, ROUNDS, Setting};
use crate::bound::Costs;
use crate::joint::least_epsilon::search::SearchLimits;

/// Weight below which channels are removed from the lottery.
const NEGLIGIBLE: f64 = 1e-7;

/// Number of rounds without a better channel after which the search ends.
const PATIENCE: usize = 8;

/// Work of one round, the cube of the number of components, up to which the number of rounds is not reduced.
const ONE_ROUND: usize = 1_000_000;

/// Number of channels added at a time.
const AT_ONCE: usize = 12;

/// Adds channels to a pool as long as better ones are found.
///
/// They are pattern channels, and boxes and sets of cells if given. Returns the weights, and a lower bound from the
/// best price found.
pub fn grow(
    setting: &Setting,
    pool: &mut CandidatePool,
    (boxes, orbits): (Option<&Boxes>, Option<&Orbits>),
    offset: usize,
    effort: SearchLimits,
) -> (WeightSolution, f64) {
    let all = setting.is_small();
    let mut balanced = pool.balance(balance::LOTTERY, COARSE);
    let (mut lower, mut in_vain) = (0.0, 0);
    let rounds = (ROUNDS * ONE_ROUND / setting.costs.components.len().pow(3)).clamp(ROUNDS / 10, ROUNDS);
    for round in offset..offset + rounds {
        let worth = slopes(&setting.costs, &balanced.totals);
        let found = if all { all_sets(&setting.space) } else { local_searches(setting, pool, &worth, round) };
        let mut priced: Vec<(f64, Support)> =
            found.into_iter().map(|support| (pool.price(&support, &worth), support)).collect();
        priced.sort_by(|a, b| b.0.total_cmp(&a.0));
        let limit = balanced.value * (1.0 + GAP);
        let mut better = boxes.map_or(Vec::new(), |boxes| boxes.best(&worth, limit));
        better.extend(orbits.into_iter().flat_map(|orbits| orbits.best(&worth, limit)));
        better.sort_by(|a, b| b.0.total_cmp(&a.0));
        let highest =
            priced.first().map(|(price, _)| *price).into_iter().chain(better.first().map(|(price, _)| *price));
        let best = highest.fold(balanced.value, f64::max);
        lower = balanced.value * balanced.value / best;
        priced.retain(|(price, _)| *price > limit);
        in_vain = if priced.is_empty() && better.is_empty() { in_vain + 1 } else { 0 };
        let patience = if setting.is_large() || all { 0 } else { PATIENCE };
        if in_vain > patience || effort.is_over_at(1.0 - lower / balanced.value) {
            break;
        }
        if in_vain == 0 {
            pool.forget_useless(NEGLIGIBLE);
            // The best ones are enough: most others are the same set except for one or two patterns.
            let at_once = if setting.is_listed() { AT_ONCE } else { grown_at_once(setting) / 2 };
            priced.into_iter().take(at_once).for_each(|(_, support)| pool.add_pattern(support));
            better.into_iter().take(at_once).for_each(|(_, candidate)| pool.add_strip(candidate));
            balanced = pool.balance(balance::LOTTERY, if best <= 1.01 * balanced.value { GAP / 2.0 } else { COARSE });
        }
    }
    (balanced, lower)
}

/// Returns the value of a unit of information, `h_U = cost_U / I_U^2`.
pub fn slopes(costs: &Costs, information: &[f64]) -> Vec<f64> {
    costs.costs.iter().zip(information).map(|(cost, information)| cost / (information * information)).collect()
}

/// Maximum number of cells of four attributes with which the search begins.
const MAX_CELLS_OF_FOUR: usize = 256;

/// Returns the sets with which the search begins.
///
/// These are the complete record, every table and every attribute. With few attributes, all sets of up to three of them
/// are included, and of four with few categories. For four binary attributes, also the sets of two opposite cells.
pub fn starts(setting: &Setting) -> Vec<Support> {
    let k = setting.space.attributes();
    let mut hits = setting.tables.clone();
    let mut opposite = Vec::new();
    hits.extend((0..k).map(|i| vec![i]));
    if setting.is_listed() {
        let above = |list: &Vec<usize>| list[list.len() - 1] + 1..k;
        let longer = |list: &Vec<usize>| above(list).map(|i| [&list[..], &[i]].concat()).collect::<Vec<_>>();
        let pairs: Vec<Vec<usize>> = (0..k).flat_map(|i| longer(&vec![i])).collect();
        let triples: Vec<Vec<usize>> = pairs.iter().flat_map(longer).collect();
        let cells = |table: &Vec<usize>| table.iter().map(|&i| setting.costs.sizes[i]).product::<usize>();
        let mut fours: Vec<Vec<usize>> = triples.iter().flat_map(longer).collect();
        fours.retain(|four| cells(four) <= MAX_CELLS_OF_FOUR);
        hits.extend(pairs);
        hits.extend(triples);
        hits.extend(fours.iter().cloned());
        hits.push((0..k).collect());
        fours.retain(|four| cells(four) == 16);
        opposite = fours.iter().map(|four| antipodal(k, four)).collect();
    }
    hits.into_iter().map(|hits| setting.support(hits)).chain(opposite).collect()
}

/// Returns the patterns in which all of these attributes hit or all of them miss.
fn antipodal(k: usize, attributes: &[usize]) -> Support {
    let all = attributes.iter().fold(0usize, |all, i| all | 1 << i);
    Support::Listed((0..1usize << k).map(|pattern| pattern & all == 0 || pattern & all == all).collect())
}

/// Returns every set of patterns that contains the empty one.
///
/// A set and its complement have the same value, except for the effect of epsilon; both are listed.
fn all_sets(space: &Space) -> Vec<Support> {
    let patterns = 1usize << space.attributes();
    (1..(1u64 << patterns) - 1).map(|set| Support::Listed((0..patterns).map(|p| set >> p & 1 == 1).collect())).collect()
}

/// Returns the number of sets that are grown in each round with many attributes.
fn grown_at_once(setting: &Setting) -> usize {
    (2 * setting.space.attributes()).max(24)
}

/// Number of new directions tried in each round.
const DIRECTIONS: usize = 96;

/// Returns local optima of the price, from many starts.
fn local_searches(setting: &Setting, pool: &CandidatePool, worth: &[f64], round: usize) -> Vec<Support> {
    let Setting { space, costs, .. } = setting;
    if !setting.is_listed() {
        let starts = pool.heaviest().take(grown_at_once(setting)).filter_map(|candidate| match candidate {
            CandidateChannel::Strip { table: hits, .. } | CandidateChannel::Pattern(Support::Hits(hits)) => Some(hits),
            CandidateChannel::Pattern(Support::Listed(_)) => None,
        });
        let found: BTreeSet<Vec<usize>> = starts.map(|hits| grown(setting, hits, worth)).collect();
        return found.into_iter().map(Support::Hits).collect();
    }
    let climb = |start: &[(usize, f64)]| {
        // The price is convex in the eigenvalues, so the best set of its linearization is an improvement.
        let slopes = |eigenvalues: &[(usize, f64)]| -> Vec<f64> {
            let mut slopes = vec![0.0; worth.len()];
            eigenvalues.iter().for_each(|&(u, eigenvalue)| slopes[u] = eigenvalue * worth[u]);
            slopes
        };
        let mut support = space.best(&costs.components, &slopes(start));
        let mut value = pool.price(&support, worth);
        loop {
            let next = space.best(&costs.components, &slopes(&space.eigenvalues(&support, &costs.components)));
            let higher = pool.price(&next, worth);
            if higher <= value * (1.0 + 1e-12) {
                return support;
            }
            (support, value) = (next, higher);
        }
    };
    // The cost of one start doubles with every attribute.
    let most = (DIRECTIONS << 8 >> space.attributes()).clamp(4, DIRECTIONS);
    let patterns = pool.heaviest().filter_map(|candidate| match candidate {
        CandidateChannel::Pattern(support) => Some(support),
        CandidateChannel::Strip { .. } => None,
    });
    let mut starts: Vec<Vec<(usize, f64)>> =
        patterns.take(2 * most).map(|support| space.eigenvalues(support, &costs.components)).collect();
    // Directions of either sign for every component (only squares count): different in every round, but the same in
    // every run.
    for trial in round * most..(round + 1) * most {
        let place = |u: usize| (trial as f64 * 0.754_877_666_246_693 + (u * u) as f64 * 0.569_840_290_998_053).fract();
        let direction = |u: usize| match trial % 3 {
            0 => (place(u) - 0.5) / worth[u].sqrt(),
            1 => place(u) / worth[u].sqrt(),
            _ => place(u) - 0.5,
        };
        starts.push((0..costs.components.len()).map(|u| (u, direction(u))).collect());
    }
    let mut found: HashSet<Support> = HashSet::new();
    let mut listed = Vec::new();
    for start in &starts {
        let support = climb(start);
        if found.insert(support.clone()) {
            listed.push(support);
        }
    }
    listed
}

/// Adds attributes to, and removes them from, "none of these misses" as long as the price rises.
///
/// The price of hits `H` with probability `p` is `(p / (1/F + p))^2` times the value of all components within `H`.
/// Cost: one pass over all components per step.
fn grown(setting: &Setting, start: &[usize], worth: &[f64]) -> Vec<usize> {
    let Setting { space, costs, .. } = setting;
    let mut inside = vec![false; space.attributes()];
    start.iter().for_each(|&i| inside[i] = true);
    let mut best = 0.0;
    loop {
        // The value inside, and for each attribute its change if the attribute is added or removed.
        let (mut held, mut changes) = (0.0, vec![0.0; inside.len()]);
        for (component, worth) in costs.components.iter().zip(worth) {
            let mut outside = component.iter().filter(|&&i| !inside[i]);
            match (outside.next(), outside.next()) {
                (None, _) => {
                    held += worth;
                    component.iter().for_each(|&i| changes[i] -= worth);
                }
                (Some(&i), None) => changes[i] += worth,
                _ => {}
            }
        }
        let hits = |toggled: Option<usize>| {
            let is_in = |&i: &usize| inside[i] != (toggled == Some(i));
            (0..inside.len()).filter(is_in).collect::<Vec<usize>>()
        };
        let price = |toggled: Option<usize>| {
            let share = space.share(&Support::Hits(hits(toggled)));
            share * share * (held + toggled.map_or(0.0, |i| changes[i]))
        };
        best = price(None).max(best);
        let toggled = (0..inside.len()).map(|i| (price(Some(i)), i)).max_by(|a, b| a.0.total_cmp(&b.0));
        match toggled {
            Some((higher, i)) if higher > best * (1.0 + 1e-12) => inside[i] = !inside[i],
            _ => return hits(None),
        }
    }
}
