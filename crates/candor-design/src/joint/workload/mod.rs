//! Workload-optimal plans: at a given total epsilon, the least expected error of the tables an analyst will
//! ask for. No paper has this.
//!
//! Among all channels of one epsilon over the same attributes, two-level channels are the extreme
//! points (docs/joint-design.md). Hidden mixtures of them average their eigenvalues; a *public* lottery, in which the
//! response carries which one was drawn, adds their information up instead and costs no privacy, because
//! the draw does not look at the truth. So a lottery is the default, and one channel the alternative for those who cannot carry
//! a tag.

mod balance;
mod goal;
mod request;
mod space;

use std::collections::HashSet;

use candor::channel::{Axis, Channel, Pattern, PatternSet};
use candor::plan::{Block, Origin, Plan};
use candor::schema::Schema;
use candor_analysis::table_list::TableList;

use super::optimal::search::Effort;
use super::optimal::{aim, with_all};
use crate::{DesignError, private};
use balance::{Balance, balance};
pub use goal::Goal;
pub use request::{SamplingRequest, WorkloadRequest, asked_tables};
use space::{Space, Support};

/// A plan for a workload.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The plan.
    pub plan: Plan,
    /// The error that was minimised: expected squared error under near-uniform answers, summed over the
    /// cells of all tables by their weights, times the number of respondents.
    pub error: f64,
    /// No plan of this kind can have a smaller error, or none that the search could find.
    pub lower_bound: f64,
    /// Whether the bound holds against all sets of patterns, not only those that the search tried.
    pub proven: bool,
}

/// Channels lighter than this in the lottery are left out.
const NEGLIGIBLE: f64 = 1e-7;

/// The number of attributes up to which all sets of patterns are tried.
const MAX_ALL_SETS: usize = 4;

/// The number of attributes up to which a lottery may draw from any set of patterns.
pub const MAX_LISTED: usize = 12;

/// How many searches of their own there are before the last one.
const RUNS: usize = 3;

/// How many rounds of adding channels there are at most.
const ROUNDS: usize = 200;

/// The relative gap at which the search ends.
const GAP: f64 = 1e-5;

/// The relative gap to which weights are found while the channels are far from final.
const COARSE: f64 = 1e-3;

/// How many rounds without a better channel there are before the search ends.
const PATIENCE: usize = 8;

/// By how much, relatively, the error may rise for a shorter lottery.
const SHORTER: f64 = 1e-3;

/// How many channels come in at a time.
const AT_ONCE: usize = 12;

/// A public lottery of two-level channels that minimises the expected error of the tables.
///
/// The lottery is an A-optimal design: `minimise sum over U of cost_U / sum over c of w_c lambda_{U,c}^2`. Channels
/// come in by their price, `sum over U of h_U lambda_U^2`, `h = cost / I^2`, searched by repeated
/// linearisation from many starts; up to four attributes all sets are tried, so that the bound is proven. With more than
/// [`MAX_LISTED`] attributes only the sets "none of these attributes misses" are tried.
///
/// # Errors
/// If epsilon is not a positive privacy loss or a table has no randomized attribute.
pub fn lottery(
    schema: &Schema,
    epsilon: f64,
    tables: &TableList,
    weights: &[f64],
    effort: Effort,
) -> Result<Workload, DesignError> {
    let setting = Setting::new(schema, epsilon, tables, weights)?;
    let Setting { space, goal, .. } = &setting;
    let square: fn(f64) -> f64 = |eigenvalue| eigenvalue * eigenvalue;
    let mut pool = Pool::new(space, goal, square);
    // Each run ends where it can find no better channel; what several found is better than any of them.
    let runs = if space.attributes() <= MAX_ALL_SETS || !setting.is_listed() { 0 } else { RUNS };
    for run in 0..runs {
        let mut alone = Pool::new(space, goal, square);
        starts(&setting).into_iter().for_each(|support| alone.add(support));
        grow(&setting, &mut alone, run * ROUNDS, effort);
        alone.forget_useless(1e-4);
        alone.supports.into_iter().for_each(|support| pool.add(support));
    }
    starts(&setting).into_iter().for_each(|support| pool.add(support));
    let (balanced, lower) = grow(&setting, &mut pool, runs * ROUNDS, effort);
    let balanced = pool.simplified(balanced);
    let block = setting.lottery_of(&pool.supports, &balanced.weights, epsilon)?;
    Ok(Workload {
        plan: setting.plan(schema, "workload", block)?,
        error: balanced.value,
        lower_bound: lower,
        proven: setting.is_small(),
    })
}

/// Adds channels as long as better ones are found; gives the weights, and the value that the best price found does not
/// exclude.
fn grow(setting: &Setting, pool: &mut Pool, offset: usize, effort: Effort) -> (Balance, f64) {
    let all = setting.is_small();
    let mut balanced = pool.balance(balance::LOTTERY, COARSE);
    let (mut lower, mut in_vain) = (0.0, 0);
    let rounds = if setting.is_listed() { ROUNDS } else { ROUNDS / 5 };
    for round in offset..offset + rounds {
        let worth = goal_slopes(&setting.goal, &balanced.totals);
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

/// The number of tickets in a lottery.
const TICKETS: f64 = (1u64 << 32) as f64;

/// One channel, a hidden mixture of two-level channels, that minimises the expected error of the tables.
///
/// `minimise sum over U of cost_U / lambda_U^2`, a convex program in the probabilities of the patterns where all
/// `lambda_U` are positive; two-level channels come in by a linear price, whose maximum is found exactly, so the lower bound is
/// proven.
///
/// # Errors
/// If epsilon is not a positive privacy loss, a table has no randomized attribute, or there are more than 20 attributes.
pub fn single(
    schema: &Schema,
    epsilon: f64,
    tables: &TableList,
    weights: &[f64],
    effort: Effort,
) -> Result<Workload, DesignError> {
    let setting = Setting::new(schema, aim(epsilon), tables, weights)?;
    let Setting { space, goal, .. } = &setting;
    if !space.is_listed() {
        return Err(DesignError::TooMany { method: "single", attributes: space.attributes() });
    }
    let mut pool = Pool::new(space, goal, |eigenvalue| eigenvalue);
    let everything: Vec<usize> = (0..space.attributes()).collect();
    pool.add(space.listed(&everything));
    goal.components.iter().for_each(|component| pool.add(space.listed(component)));
    let mut balanced = pool.balance(balance::SINGLE, COARSE);
    let mut lower = 0.0f64;
    for _ in 0..ROUNDS {
        let slopes: Vec<f64> =
            goal.costs.iter().zip(&balanced.totals).map(|(cost, l)| 2.0 * cost / l.powi(3)).collect();
        let found = space.best(&goal.components, &slopes);
        let (value, best) = (balanced.value, pool.price(&found, &slopes));
        // Convexity: f* >= f - (best - 2 f), where 2 f is what the mixture itself is worth.
        lower = lower.max(value - (best - 2.0 * value));
        let gap = best / (2.0 * value) - 1.0;
        if gap <= GAP || effort.is_over() {
            break;
        }
        pool.forget_useless(1e-9);
        pool.add(found);
        balanced = pool.balance(balance::SINGLE, (0.05 * gap).clamp(GAP / 10.0, COARSE));
    }
    let mut sets: Vec<(PatternSet, f64)> = Vec::new();
    let mut uniform = 0.0;
    for (support, weight) in pool.supports.iter().zip(&balanced.weights) {
        let share = space.share(support);
        sets.push((space.set(support), weight * share));
        uniform += weight * (1.0 - share);
    }
    sets.iter_mut().for_each(|(_, share)| *share /= uniform);
    sets.retain(|(_, share)| *share > 1e-12);
    let block = Block::new(setting.attributes.clone(), with_all(setting.axes.clone(), &sets)?);
    Ok(Workload {
        plan: setting.plan(schema, "workload, one channel", block)?,
        error: balanced.value,
        lower_bound: lower,
        proven: true,
    })
}

/// Each respondent answers one of the tables only, drawn by a public lottery with the best probabilities, and
/// spends all of epsilon on it by k-ary randomized response on its cells: the literature's best scheme.
///
/// # Errors
/// If epsilon is not a positive privacy loss or a table has no randomized attribute.
pub fn sampling(schema: &Schema, epsilon: f64, tables: &TableList, weights: &[f64]) -> Result<Workload, DesignError> {
    let setting = Setting::new(schema, epsilon, tables, weights)?;
    let Setting { space, goal, .. } = &setting;
    let mut pool = Pool::new(space, goal, |eigenvalue| eigenvalue * eigenvalue);
    setting.tables.iter().for_each(|table| pool.add(Support::Hits(table.clone())));
    let balanced = pool.balance(balance::LOTTERY, GAP / 100.0);
    let block = setting.lottery_of(&pool.supports, &balanced.weights, epsilon)?;
    let plan = setting.plan(schema, "sampling", block)?;
    Ok(Workload { plan, error: balanced.value, lower_bound: balanced.value, proven: false })
}

/// What is designed for.
struct Setting {
    /// Positions in the schema.
    attributes: Vec<usize>,
    axes: Vec<Axis>,
    /// TableList by numbers among the randomized attributes.
    tables: Vec<Vec<usize>>,
    goal: Goal,
    space: Space,
}

impl Setting {
    fn new(schema: &Schema, epsilon: f64, tables: &TableList, weights: &[f64]) -> Result<Setting, DesignError> {
        if !(epsilon.is_finite() && epsilon > 0.0) {
            return Err(DesignError::Epsilon(epsilon));
        }
        let private = private(schema)?;
        let attributes: Vec<usize> = private.iter().map(|&(attribute, _)| attribute).collect();
        let sizes: Vec<usize> = private.iter().map(|&(_, size)| size).collect();
        let (mut lists, mut kept) = (Vec::new(), Vec::new());
        for (table, &weight) in tables.lists().iter().zip(weights) {
            // Public attributes are known: they split a table, they do not add to its error.
            let mut list: Vec<usize> = table.iter().filter_map(|a| attributes.binary_search(a).ok()).collect();
            list.sort_unstable();
            if !list.is_empty() {
                lists.push(list);
                kept.push(weight);
            }
        }
        if lists.is_empty() {
            return Err(DesignError::NothingPrivate);
        }
        let goal = Goal::new(&sizes, &lists, &kept);
        lists.sort_unstable();
        lists.dedup();
        let space = Space::new(&sizes, epsilon);
        let axes = sizes.iter().map(|&size| Axis::single(size)).collect();
        Ok(Setting { attributes, axes, tables: lists, goal, space })
    }

    /// A lottery of two-level channels, the likeliest first.
    fn lottery_of(&self, supports: &[Support], weights: &[f64], epsilon: f64) -> Result<Block, DesignError> {
        let mut channels: Vec<(u64, Channel)> = Vec::new();
        for (support, weight) in supports.iter().zip(weights) {
            let channel = Pattern::two_level(self.axes.clone(), self.space.set(support), epsilon)?;
            channels.push((((weight * TICKETS).round() as u64).max(1), channel.into()));
        }
        channels.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        Ok(Block::lottery(self.attributes.clone(), channels))
    }

    fn plan(&self, schema: &Schema, method: &str, block: Block) -> Result<Plan, DesignError> {
        let requested = vec![None; self.attributes.len()];
        Ok(Plan::new(schema.clone(), vec![block])?.with_origin(Origin { method: method.to_owned(), requested }))
    }

    /// Whether all sets of patterns can be tried.
    fn is_small(&self) -> bool {
        self.space.attributes() <= MAX_ALL_SETS
    }

    /// Whether any set of patterns can be worked on.
    fn is_listed(&self) -> bool {
        self.space.attributes() <= MAX_LISTED
    }

    fn support(&self, hits: Vec<usize>) -> Support {
        if self.is_listed() { self.space.listed(&hits) } else { Support::Hits(hits) }
    }
}

/// Channels with what each gives for every component.
struct Pool<'a> {
    space: &'a Space,
    goal: &'a Goal,
    supports: Vec<Support>,
    known: HashSet<Support>,
    /// By channel, then component.
    gives: Vec<Vec<f64>>,
    /// The weights found last; `None` for channels that came in since.
    weights: Vec<Option<f64>>,
    give: fn(f64) -> f64,
}

impl<'a> Pool<'a> {
    fn new(space: &'a Space, goal: &'a Goal, give: fn(f64) -> f64) -> Pool<'a> {
        Pool { space, goal, supports: Vec::new(), known: HashSet::new(), gives: Vec::new(), weights: Vec::new(), give }
    }

    fn given(&self, support: &Support) -> Vec<f64> {
        let eigenvalues = self.space.eigenvalues(support, &self.goal.components);
        eigenvalues.into_iter().map(self.give).collect()
    }

    fn add(&mut self, support: Support) {
        if self.known.insert(support.clone()) {
            self.gives.push(self.given(&support));
            self.weights.push(None);
            self.supports.push(support);
        }
    }

    /// What one unit of the channel is worth.
    fn price(&self, support: &Support, slopes: &[f64]) -> f64 {
        self.given(support).iter().zip(slopes).map(|(give, slope)| give * slope).sum()
    }

    /// Finds the best weights, from those found last; new channels begin with little.
    fn balance(&mut self, power: f64, gap: f64) -> Balance {
        let total = |start: &[f64], u: usize| start.iter().zip(&self.gives).map(|(w, gives)| w * gives[u]).sum::<f64>();
        let old = self.weights.iter().any(Option::is_some);
        let mut little = if old { 0.1 / self.weights.len() as f64 } else { 1.0 };
        let start = loop {
            let start: Vec<f64> = self.weights.iter().map(|weight| weight.unwrap_or(little)).collect();
            if little < 1e-12 || (0..self.goal.costs.len()).all(|u| total(&start, u) > 0.0) {
                break start;
            }
            little *= 0.1;
        };
        let known = if old { 100.0 * gap } else { 0.1 };
        let balanced = balance(&self.goal.costs, &self.gives, power, start, known, gap);
        self.weights = balanced.weights.iter().copied().map(Some).collect();
        balanced
    }

    /// The lottery without its lightest channels, as long as that costs next to nothing.
    fn simplified(&mut self, balanced: Balance) -> Balance {
        let limit = balanced.value * (1.0 + SHORTER);
        let mut kept = balanced;
        for negligible in [1e-5, 1e-4, 3e-4, 1e-3, 2e-3, 4e-3, 8e-3] {
            let before = (self.supports.clone(), self.gives.clone(), self.weights.clone());
            self.forget_useless(negligible);
            let shorter = self.balance(balance::LOTTERY, GAP);
            if shorter.value.is_nan() || shorter.value > limit {
                (self.supports, self.gives, self.weights) = before;
                break;
            }
            kept = shorter;
        }
        kept
    }

    /// The channels of the largest weights.
    fn heaviest(&self, most: usize) -> impl Iterator<Item = usize> {
        let mut order: Vec<usize> = (0..self.supports.len()).collect();
        order.sort_by(|&a, &b| self.weights[b].unwrap_or(0.0).total_cmp(&self.weights[a].unwrap_or(0.0)));
        order.into_iter().take(most)
    }

    /// Forgets channels of hardly any weight.
    fn forget_useless(&mut self, negligible: f64) {
        let keep: Vec<bool> =
            self.weights.iter().map(|weight| weight.is_none_or(|weight| weight > negligible)).collect();
        let mut at = keep.iter();
        self.supports.retain(|_| at.next() == Some(&true));
        let mut at = keep.iter();
        self.gives.retain(|_| at.next() == Some(&true));
        let mut at = keep.iter();
        self.weights.retain(|_| at.next() == Some(&true));
        self.known = self.supports.iter().cloned().collect();
    }
}

/// `h_U = cost_U / I_U^2`: what a unit of information is worth.
fn goal_slopes(goal: &Goal, information: &[f64]) -> Vec<f64> {
    goal.costs.iter().zip(information).map(|(cost, information)| cost / (information * information)).collect()
}

/// The sets the search begins with: the whole record, every table, every attribute.
fn starts(setting: &Setting) -> Vec<Support> {
    let everything: Vec<usize> = (0..setting.space.attributes()).collect();
    let singles = everything.iter().map(|&i| vec![i]);
    let hits: Vec<Vec<usize>> = setting.tables.iter().cloned().chain(singles).collect();
    let record = setting.is_listed().then(|| everything.clone());
    hits.into_iter().chain(record).map(|hits| setting.support(hits)).collect()
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
    let Setting { space, goal, .. } = setting;
    if !setting.is_listed() {
        return pool.heaviest(GROWN).map(|at| grown(setting, pool, &pool.supports[at], worth)).collect();
    }
    let climb = |start: &[f64]| {
        // The price is convex in the eigenvalues, so the set that is best for its linearisation gains.
        let slopes = |eigenvalues: &[f64]| -> Vec<f64> { eigenvalues.iter().zip(worth).map(|(l, h)| l * h).collect() };
        let mut support = space.best(&goal.components, &slopes(start));
        let mut value = pool.price(&support, worth);
        loop {
            let next = space.best(&goal.components, &slopes(&space.eigenvalues(&support, &goal.components)));
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
        pool.heaviest(2 * most).map(|at| space.eigenvalues(&pool.supports[at], &goal.components)).collect();
    // Directions of either sign for every component (only squares count), other ones in every round, the same on every run.
    for trial in round * most..(round + 1) * most {
        let place = |u: usize| (trial as f64 * 0.754_877_666_246_693 + (u * u) as f64 * 0.569_840_290_998_053).fract();
        let direction = |u: usize| match trial % 3 {
            0 => (place(u) - 0.5) / worth[u].sqrt(),
            1 => place(u) / worth[u].sqrt(),
            _ => place(u) - 0.5,
        };
        starts.push((0..goal.components.len()).map(direction).collect());
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
