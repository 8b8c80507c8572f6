//! Workload-optimal plans: at a given total epsilon, the least expected error of the tables an analyst will
//! ask for. No paper has this.
//!
//! Among all channels of one epsilon over the same attributes, two-level channels are the extreme
//! points (docs/mathematics/workload.md). Hidden mixtures of them average their eigenvalues; a *public* lottery, in which the
//! response carries which one was drawn, adds their information up instead and costs no privacy, because
//! the draw does not look at the truth. So a lottery is the default, and one channel the alternative for those who cannot carry
//! a tag.

mod balance;
mod space;
mod pool;
mod search;
mod request;

use candor::channel::{Axis, Channel, Pattern, PatternSet};
use candor::plan::{Block, Origin, Plan};
use candor::schema::Schema;
use candor_analysis::table_list::TableList;

use super::optimal::search::Effort;
use super::optimal::{aim, with_all};
use crate::bound::Costs;
use crate::{DesignError, private};
use pool::Pool;
pub use request::{SamplingRequest, WorkloadRequest, asked_tables};
use search::{grow, starts};
use space::{Space, Support};

/// A plan for a workload.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The plan.
    pub plan: Plan,
    /// The error that was minimised: the expected squared error of all cells of all tables, by the weights of the tables, times
    /// the number of respondents, if the truth is uniform. It is what is predicted from the plan
    /// ([`squared_error`](crate::bound::squared_error)) but for the rounding to integers.
    pub error: f64,
    /// No plan of this kind (one category for each attribute and answer; for [`single`] also one channel for all) has a
    /// smaller error; `None` where not all were tried. What no plan of any kind can have less of is [`crate::bound`].
    pub of_its_kind: Option<f64>,
}

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

/// A public lottery of two-level channels that minimises the expected error of the tables.
///
/// The lottery is an A-optimal design: `minimise sum over U of cost_U / sum over c of w_c lambda_{U,c}^2`. Channels
/// come in by their price, `sum over U of h_U lambda_U^2`, `h = cost / I^2`, searched by repeated
/// linearisation from many starts; up to four attributes all sets are tried. With more than [`MAX_LISTED`] attributes only
/// the sets "none of these attributes misses" are tried. It is never worse than [`sampling`], or than the whole record
/// answered at once.
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
    let Setting { space, costs, .. } = &setting;
    let square: fn(f64) -> f64 = |eigenvalue| eigenvalue * eigenvalue;
    let mut pool = Pool::new(space, costs, square);
    // Each run ends where it can find no better channel; what several found is better than any of them.
    let runs = if space.attributes() <= MAX_ALL_SETS || !setting.is_listed() { 0 } else { RUNS };
    for run in 0..runs {
        let mut alone = Pool::new(space, costs, square);
        starts(&setting).into_iter().for_each(|support| alone.add(support));
        grow(&setting, &mut alone, run * ROUNDS, effort);
        alone.forget_useless(1e-4);
        alone.supports.into_iter().for_each(|support| pool.add(support));
    }
    starts(&setting).into_iter().for_each(|support| pool.add(support));
    let (balanced, lower) = grow(&setting, &mut pool, runs * ROUNDS, effort);
    let mut best = (pool.simplified(balanced), pool.supports);
    // What is simpler and as good is better: the search and the shortening are not exact.
    let record: Vec<usize> = (0..space.attributes()).collect();
    for simple in [&vec![record], &setting.tables] {
        let mut pool = Pool::new(space, costs, square);
        simple.iter().for_each(|hits| pool.add(Support::Hits(hits.clone())));
        let balanced = pool.balance(balance::LOTTERY, GAP / 100.0);
        if balanced.value <= best.0.value {
            best = (balanced, pool.supports);
        }
    }
    let (balanced, supports) = best;
    let block = setting.lottery_of(&supports, &balanced.weights, epsilon)?;
    let of_its_kind = setting.is_small().then(|| lower.min(balanced.value) + costs.fixed);
    Ok(Workload { plan: setting.plan(schema, "workload", block)?, error: balanced.value + costs.fixed, of_its_kind })
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
    let Setting { space, costs, .. } = &setting;
    if !space.is_listed() {
        return Err(DesignError::TooMany { method: "single", attributes: space.attributes() });
    }
    let mut pool = Pool::new(space, costs, |eigenvalue| eigenvalue);
    let everything: Vec<usize> = (0..space.attributes()).collect();
    pool.add(space.listed(&everything));
    costs.components.iter().for_each(|component| pool.add(space.listed(component)));
    let mut balanced = pool.balance(balance::SINGLE, COARSE);
    let mut lower = 0.0f64;
    for _ in 0..ROUNDS {
        let slopes: Vec<f64> =
            costs.costs.iter().zip(&balanced.totals).map(|(cost, l)| 2.0 * cost / l.powi(3)).collect();
        let found = space.best(&costs.components, &slopes);
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
        error: balanced.value + costs.fixed,
        of_its_kind: Some(lower.min(balanced.value) + costs.fixed),
    })
}

/// Each respondent answers one of the tables only, drawn by a public lottery with the best probabilities, and
/// spends all of epsilon on it by k-ary randomized response on its cells: the literature's best scheme.
///
/// # Errors
/// If epsilon is not a positive privacy loss or a table has no randomized attribute.
pub fn sampling(schema: &Schema, epsilon: f64, tables: &TableList, weights: &[f64]) -> Result<Workload, DesignError> {
    let setting = Setting::new(schema, epsilon, tables, weights)?;
    let Setting { space, costs, .. } = &setting;
    let mut pool = Pool::new(space, costs, |eigenvalue| eigenvalue * eigenvalue);
    setting.tables.iter().for_each(|table| pool.add(Support::Hits(table.clone())));
    let balanced = pool.balance(balance::LOTTERY, GAP / 100.0);
    let block = setting.lottery_of(&pool.supports, &balanced.weights, epsilon)?;
    let plan = setting.plan(schema, "sampling", block)?;
    Ok(Workload { plan, error: balanced.value + costs.fixed, of_its_kind: None })
}

/// What is designed for.
struct Setting {
    /// Positions in the schema.
    attributes: Vec<usize>,
    axes: Vec<Axis>,
    /// Tables by numbers among the randomized attributes.
    tables: Vec<Vec<usize>>,
    costs: Costs,
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
        let costs = Costs::of_tables(schema, tables, weights)?;
        let randomized = |table: &Vec<usize>| {
            let mut list: Vec<usize> = table.iter().filter_map(|a| attributes.binary_search(a).ok()).collect();
            list.sort_unstable();
            list
        };
        let mut lists: Vec<Vec<usize>> =
            tables.lists().iter().map(randomized).filter(|list| !list.is_empty()).collect();
        lists.sort_unstable();
        lists.dedup();
        let space = Space::new(&sizes, epsilon);
        let axes = sizes.iter().map(|&size| Axis::single(size)).collect();
        Ok(Setting { attributes, axes, tables: lists, costs, space })
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
