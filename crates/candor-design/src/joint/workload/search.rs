//! Which channels a lottery may need: sets of patterns, found by their price.

use std::collections::HashSet;

use super::balance::{self, Balance};
use super::pool::Pool;
use super::space::{Space, Support};
use super::{COARSE, GAP, ROUNDS, Setting};
use crate::bound::Costs;
use crate::joint::optimal::search::Effort;

/// Channels lighter than this in the lottery are left out.
const NEGLIGIBLE: f64 = 1e-7;

/// How many rounds without a better channel there are before the search ends.
const PATIENCE: usize = 8;

/// How many channels come in at a time.
const AT_ONCE: usize = 12;

/// Adds channels as long as better ones are found; gives the weights, and the value that the best price found does not
/// exclude.
pub fn grow(setting: &Setting, pool: &mut Pool, offset: usize, effort: Effort) -> (Balance, f64) {
    let all = setting.is_small();
    let mut balanced = pool.first_balance(COARSE);
    let (mut lower, mut in_vain) = (0.0, 0);
    let rounds = if setting.is_listed() { ROUNDS } else { ROUNDS / 5 };
    for round in offset..offset + rounds {
        let worth = slopes(&setting.costs, &balanced.totals);
        let found = if all { all_sets(&setting.space) } else { local_searches(setting, pool, &worth, round) };
        let mut priced: Vec<(f64, Support)> =
            found.into_iter().map(|support| (pool.price(&support, &worth), support)).collect();
        priced.sort_by(|a, b| b.0.total_cmp(&a.0));
        let best = priced.first().map_or(balanced.value, |(price, _)| price.max(balanced.value));
        lower = balanced.value * balanced.value / best;
        priced.retain(|(price, _)| *price > balanced.value * (1.0 + GAP));
        in_vain = if priced.is_empty() { in_vain + 1 } else { 0 };
        let patience = if setting.is_listed() && !all { PATIENCE } else { 0 };
        if in_vain > patience || effort.is_over() {
            break;
        }
        if in_vain == 0 {
            pool.forget_useless(NEGLIGIBLE);
            // The best ones are enough: most of the others are the same set but for a pattern or two.
            priced.into_iter().take(AT_ONCE).for_each(|(_, support)| pool.add(support));
            balanced = pool.balance(balance::LOTTERY, if best <= 1.01 * balanced.value { GAP / 2.0 } else { COARSE });
        }
    }
    (balanced, lower)
}

/// `h_U = cost_U / I_U^2`: what a unit of information is worth.
fn slopes(costs: &Costs, information: &[f64]) -> Vec<f64> {
    costs.costs.iter().zip(information).map(|(cost, information)| cost / (information * information)).collect()
}

/// The sets the search begins with: the whole record, every table, every attribute; with few attributes also up to three of
/// them, whatever the tables are.
pub fn starts(setting: &Setting) -> Vec<Support> {
    let k = setting.space.attributes();
    let mut hits = setting.tables.clone();
    hits.extend((0..k).map(|i| vec![i]));
    if setting.is_listed() {
        let above = |list: &Vec<usize>| list[list.len() - 1] + 1..k;
        let longer = |list: &Vec<usize>| above(list).map(|i| [&list[..], &[i]].concat()).collect::<Vec<_>>();
        let pairs: Vec<Vec<usize>> = (0..k).flat_map(|i| longer(&vec![i])).collect();
        hits.extend(pairs.iter().flat_map(longer));
        hits.extend(pairs);
        hits.push((0..k).collect());
    }
    hits.into_iter().map(|hits| setting.support(hits)).collect()
}

/// Every set of patterns that holds the empty one (a set and its complement are worth the same up to what the total allows;
/// both are listed).
fn all_sets(space: &Space) -> Vec<Support> {
    let patterns = 1usize << space.attributes();
    (1..(1u64 << patterns) - 1).map(|set| Support::Listed((0..patterns).map(|p| set >> p & 1 == 1).collect())).collect()
}

/// How many sets are grown in each round, with many attributes.
const GROWN: usize = 24;

/// How many new directions are tried in each round.
const DIRECTIONS: usize = 96;

/// Sets that are worth most nearby, from many starts.
fn local_searches(setting: &Setting, pool: &Pool, worth: &[f64], round: usize) -> Vec<Support> {
    let Setting { space, costs, .. } = setting;
    if !setting.is_listed() {
        return pool.heaviest(GROWN).map(|at| grown(setting, pool, &pool.supports[at], worth)).collect();
    }
    let climb = |start: &[f64]| {
        // The price is convex in the eigenvalues, so the set that is best for its linearisation gains.
        let slopes = |eigenvalues: &[f64]| -> Vec<f64> { eigenvalues.iter().zip(worth).map(|(l, h)| l * h).collect() };
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
    // What one start costs doubles with every attribute.
    let most = (DIRECTIONS << 8 >> space.attributes()).clamp(4, DIRECTIONS);
    let mut starts: Vec<Vec<f64>> =
        pool.heaviest(2 * most).map(|at| space.eigenvalues(&pool.supports[at], &costs.components)).collect();
    // Directions of either sign for every component (only squares count), other ones in every round, the same on every run.
    for trial in round * most..(round + 1) * most {
        let place = |u: usize| (trial as f64 * 0.754_877_666_246_693 + (u * u) as f64 * 0.569_840_290_998_053).fract();
        let direction = |u: usize| match trial % 3 {
            0 => (place(u) - 0.5) / worth[u].sqrt(),
            1 => place(u) / worth[u].sqrt(),
            _ => place(u) - 0.5,
        };
        starts.push((0..costs.components.len()).map(direction).collect());
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

/// "None of these misses" with attributes added or taken away as long as that pays.
fn grown(setting: &Setting, pool: &Pool, start: &Support, worth: &[f64]) -> Support {
    let Support::Hits(hits) = start else { return start.clone() };
    let (mut hits, mut value) = (hits.clone(), pool.price(start, worth));
    loop {
        let toggled = |i: usize| {
            let mut other: Vec<usize> = hits.iter().copied().filter(|&h| h != i).collect();
            if other.len() == hits.len() {
                other.push(i);
                other.sort_unstable();
            }
            (pool.price(&Support::Hits(other.clone()), worth), other)
        };
        let best = (0..setting.space.attributes()).map(toggled).max_by(|a, b| a.0.total_cmp(&b.0));
        match best {
            Some((higher, other)) if higher > value * (1.0 + 1e-12) && !other.is_empty() => {
                (value, hits) = (higher, other)
            }
            _ => return Support::Hits(hits),
        }
    }
}
