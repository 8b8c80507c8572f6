//! Workload-optimal plans: the least expected error of given tables at a given record-level epsilon.
//!
//! No paper describes this method. Among all channels of one epsilon over the same attributes, those with two levels of
//! likelihood are the extreme points. It suffices to consider relabelings of sets of records
//! (docs/mathematics/workload.md). Three kinds of sets are easy to draw:
//! - *strips* are informative almost only about one table,
//! - *boxes* are informative about all tables within one,
//! - *patterns* are informative about many tables at once.
//!
//! For tables of up to 16 cells all sets are tried. Small epsilons are best spent on strips, large ones on patterns,
//! and those between on all kinds. A hidden mixture of channels averages their eigenvalues. A *public* lottery, in
//! which the response includes the number of its channel, adds up their information instead. It costs no privacy,
//! because the channel does not depend on the true record. So a lottery is the default, and a single channel the
//! alternative if responses cannot include a tag.

mod balance;
mod space;
mod strips;
mod boxes;
mod orbits;
mod pool;
mod reach;
mod search;
mod request;

use candor_analysis::structural_zeros::all_possible;
use candor_analysis::table_list::TableList;
use candor_base::channel::{Axis, Cells, Channel, Pattern, PatternSet, Strip};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;

use super::least_epsilon::levels::MAX_EPSILON;
use super::least_epsilon::search::SearchLimits;
use super::least_epsilon::{aim, with_all};
use crate::bound::Costs;
use crate::{DesignError, randomized_attributes};
use balance::{Information, WeightSolution};
use boxes::Boxes;
use orbits::Orbits;
use pool::{CandidateChannel, CandidatePool};
pub use request::{SamplingRequest, WorkloadRequest, asked_tables};
use search::{grow, slopes, starts};
use space::{Space, Support};

/// A plan for a workload.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The plan.
    pub plan: Plan,
    /// The minimized error: the expected squared error of all cells of all tables, for a uniform population.
    ///
    /// The errors of each table are multiplied by its weight, and the sum by the number of respondents. Except for
    /// the rounding to integers, it equals the error predicted from the plan
    /// ([`squared_error`](crate::bound::squared_error)).
    pub error: f64,
    /// Lower bound on the error of all plans of this kind; `None` unless all were tried.
    ///
    /// The kind answers with one category for each attribute; for [`single`] it also has one channel for all. The lower
    /// bound for plans of any kind is in [`crate::bound`].
    pub of_its_kind: Option<f64>,
}

/// Largest number of attributes for which all sets of patterns are tried.
const MAX_ALL_SETS: usize = 4;

/// Largest number of attributes for which a lottery may use any set of patterns.
pub const MAX_LISTED: usize = 12;

/// Number of searches for patterns alone before the last search.
const RUNS: usize = 2;

/// Weight of patterns below which one search for them is enough.
const PATTERNS_MATTER: f64 = 0.1;

/// Maximum number of rounds of adding channels.
const ROUNDS: usize = 200;

/// Relative gap at which the search ends.
const GAP: f64 = 1e-5;

/// Relative gap of weights while the channels are far from final.
const COARSE: f64 = 1e-3;

/// Fraction of the error that listed sets must remove to be used, because strips, boxes and patterns are simpler.
const WORTH_A_LIST: f64 = 5e-3;

/// Number of components beyond which a lottery has strips of only one size for each table.
const MAX_COMPONENTS_WITH_SIZES: usize = 1_000;

/// Designs a public lottery of strips, boxes and two-level pattern channels with the least expected error of the
/// tables.
///
/// The lottery is an A-optimal design: `minimize sum over U of cost_U / sum over c of w_c I_{U,c}`, where `I` is the
/// information of channel `c` about component `U`. The candidates are:
/// - strips of every component as a table, from the beginning,
/// - boxes of two to four attributes and sets of cells of tables of at most 16 cells (with at most [`MAX_LISTED`]
///   attributes in all), added by price,
/// - pattern channels, added by price. With more than [`MAX_LISTED`] attributes only the sets "none of these attributes
///   misses" are tried.
///
/// The price is `sum over U of h_U I_U` with `h = cost / I^2`. Patterns are searched by repeated linearization from
/// many starts; for up to four attributes all sets of patterns are tried. The result is never worse than [`sampling`],
/// or than answering the complete record at once.
///
/// # Errors
/// Returns [`DesignError::Epsilon`] if epsilon is not a positive number up to [`MAX_EPSILON`], and
/// [`DesignError::NothingPrivate`] if no table has a randomized attribute.
pub fn lottery(
    schema: &Schema,
    epsilon: f64,
    tables: &TableList,
    weights: &[f64],
    effort: SearchLimits,
) -> Result<Workload, DesignError> {
    let setting = Setting::new(schema, epsilon, tables, weights)?;
    let found = Found::new(&setting, epsilon, true, effort);
    setting.workload(schema, &found, epsilon)
}

/// Designs a lottery as [`lottery`] does, with at least about 30 of the respondents for each component of each table.
///
/// Channels assigned to too few respondents become likelier, whatever that costs. If patterns alone are then better,
/// because each is informative about many tables, they replace the strips.
///
/// # Errors
/// Returns [`DesignError::Respondents`], with a sufficient number, if there are too few respondents for these tables,
/// [`DesignError::Parameter`] for fewer than one, and the errors of [`lottery`].
pub fn lottery_for(
    schema: &Schema,
    epsilon: f64,
    tables: &TableList,
    weights: &[f64],
    respondents: f64,
    effort: SearchLimits,
) -> Result<Workload, DesignError> {
    if respondents.is_nan() || respondents < 1.0 {
        let range = "a plan is for one respondent or more".to_owned();
        return Err(DesignError::Parameter { name: "respondents", value: respondents, range });
    }
    let setting = Setting::new(schema, epsilon, tables, weights)?;
    let both = Found::new(&setting, epsilon, true, effort);
    let reaching = both.reaching(&setting, respondents);
    if reaching.as_ref().is_some_and(|reaching| reaching.balance.value <= both.balance.value) {
        return setting.workload(schema, &both, epsilon);
    }
    let patterns = Found::new(&setting, epsilon, false, effort);
    let better = [reaching, patterns.reaching(&setting, respondents)].into_iter().flatten();
    match better.min_by(|a, b| a.balance.value.total_cmp(&b.balance.value)) {
        Some(found) => setting.workload(schema, &found, epsilon),
        None => {
            let needed =
                [&both, &patterns].map(|found| found.needed(&setting)).into_iter().fold(f64::INFINITY, f64::min);
            Err(DesignError::Respondents { respondents, tables: setting.tables.len(), needed })
        }
    }
}

/// A lottery found by the search.
#[derive(Clone)]
struct Found {
    candidates: Vec<CandidateChannel>,
    gives: Vec<Information>,
    balance: WeightSolution,
    /// Lower bound on the error of all lotteries of such channels, if all were tried.
    least: f64,
}

impl Found {
    fn new(setting: &Setting, epsilon: f64, with_strips: bool, effort: SearchLimits) -> Found {
        let Setting { space, costs, .. } = setting;
        let mut pool = CandidatePool::new(space, costs, square);
        if with_strips {
            let writable = |strip: &strips::SubsetCandidate| !setting.unnamed.iter().any(|&at| strip.table == [at]);
            strips::strips(costs, epsilon).into_iter().filter(writable).for_each(|strip| pool.add_strip(strip));
        }
        if with_strips && costs.components.len() > MAX_COMPONENTS_WITH_SIZES {
            pool.balance(balance::LOTTERY, COARSE);
            pool.keep_one_strip_of_each_table();
        }
        let boxes = (with_strips && !setting.is_large()).then(|| Boxes::new(costs, epsilon));
        let (balanced, least) = searched(setting, &mut pool, boxes.as_ref(), effort);
        let balance = pool.shortened(balanced, GAP);
        let mut best = Found { balance, gives: pool.gives.clone(), candidates: pool.candidates.clone(), least };
        let orbits = boxes.as_ref().map(|_| Orbits::new(costs, epsilon));
        // The possible saving is at most the difference between the best price and the error.
        let promising = |orbits: &&Orbits| {
            let worth = slopes(costs, &best.balance.totals);
            !orbits.best(&worth, best.balance.value / (1.0 - WORTH_A_LIST)).is_empty()
        };
        if let Some(orbits) = orbits.as_ref().filter(promising) {
            let sets = (boxes.as_ref(), Some(orbits));
            let (balanced, least) = grow(setting, &mut pool, sets, (RUNS + 2) * ROUNDS, effort);
            let balance = pool.shortened(balanced, GAP);
            if balance.value < (1.0 - WORTH_A_LIST) * best.balance.value {
                best = Found { balance, gives: pool.gives, candidates: pool.candidates, least };
            }
        }
        // A simpler lottery that is equally good is preferred: the search and the shortening are not exact.
        let record: Vec<usize> = (0..space.attributes()).collect();
        for simple in [&vec![record], &setting.tables] {
            let mut pool = CandidatePool::new(space, costs, square);
            simple.iter().for_each(|hits| pool.add_pattern(Support::Hits(hits.clone())));
            let balance = pool.balance(balance::LOTTERY, GAP / 100.0);
            if balance.value <= best.balance.value {
                best = Found { balance, gives: pool.gives, candidates: pool.candidates, least };
            }
        }
        best
    }

    /// Returns the lottery with enough of these respondents for each component, or `None` if there are too few.
    fn reaching(&self, setting: &Setting, respondents: f64) -> Option<Found> {
        let costs = &setting.costs.costs;
        let weights = reach::raised(&self.gives, &self.balance.weights, costs.len(), respondents)?;
        let totals = balance::totals(costs, &self.gives, &weights);
        let value = balance::error(costs, &totals, balance::LOTTERY);
        Some(Found { balance: WeightSolution { weights, totals, value }, ..self.clone() })
    }

    fn needed(&self, setting: &Setting) -> f64 {
        reach::needed(&self.gives, &self.balance.weights, setting.costs.costs.len())
    }
}

/// Adds patterns and boxes to a pool; returns the weights and a lower bound from the best price.
fn searched(
    setting: &Setting,
    pool: &mut CandidatePool,
    boxes: Option<&Boxes>,
    effort: SearchLimits,
) -> (WeightSolution, f64) {
    let Setting { space, costs, .. } = setting;
    starts(setting).into_iter().for_each(|support| pool.add_pattern(support));
    let found = grow(setting, pool, (boxes, None), 0, effort);
    if setting.is_small() || setting.is_large() || pool.weight_of_patterns() < PATTERNS_MATTER {
        return found;
    }
    // Each search ends when it finds no better channel. If patterns matter, the findings of several searches are better
    // than those of one.
    for run in 1..=RUNS {
        let mut alone = CandidatePool::new(space, costs, square);
        starts(setting).into_iter().for_each(|support| alone.add_pattern(support));
        grow(setting, &mut alone, (None, None), run * ROUNDS, effort);
        alone.forget_useless(1e-4);
        alone.patterns().for_each(|support| pool.add_pattern(support));
    }
    grow(setting, pool, (boxes, None), (RUNS + 1) * ROUNDS, effort)
}

/// Returns the information of an eigenvalue in a public lottery.
fn square(eigenvalue: f64) -> f64 {
    eigenvalue * eigenvalue
}

/// Sum of the integer weights of a lottery.
const TOTAL_WEIGHT: f64 = (1u64 << 32) as f64;

/// Designs a single channel, a hidden mixture of two-level channels, with the least expected error of the tables.
///
/// It minimizes `sum over U of cost_U / lambda_U^2`, which is convex in the probabilities of the patterns where all
/// `lambda_U` are positive. Two-level channels are added by a linear price, whose maximum is found exactly, so the
/// lower bound is proven.
///
/// # Errors
/// Returns [`DesignError::TooMany`] for more than 20 attributes, and the errors of [`lottery`].
pub fn single(
    schema: &Schema,
    epsilon: f64,
    tables: &TableList,
    weights: &[f64],
    effort: SearchLimits,
) -> Result<Workload, DesignError> {
    let setting = Setting::new(schema, aim(epsilon), tables, weights)?;
    let Setting { space, costs, .. } = &setting;
    if !space.is_listed() {
        return Err(DesignError::TooMany { method: "single", attributes: space.attributes() });
    }
    let mut pool = CandidatePool::new(space, costs, |eigenvalue| eigenvalue);
    let everything: Vec<usize> = (0..space.attributes()).collect();
    pool.add_pattern(space.listed(&everything));
    costs.components.iter().for_each(|component| pool.add_pattern(space.listed(component)));
    let mut balanced = pool.balance(balance::SINGLE, COARSE);
    let mut lower = 0.0f64;
    for _ in 0..ROUNDS {
        let slopes: Vec<f64> =
            costs.costs.iter().zip(&balanced.totals).map(|(cost, l)| 2.0 * cost / l.powi(3)).collect();
        let found = space.best(&costs.components, &slopes);
        let (value, best) = (balanced.value, pool.price(&found, &slopes));
        // Convexity: f* >= f - (best - 2 f), where 2 f is the price of the mixture itself.
        lower = lower.max(value - (best - 2.0 * value));
        let gap = best / (2.0 * value) - 1.0;
        if gap <= GAP || effort.is_over_at(gap) {
            break;
        }
        pool.forget_useless(1e-9);
        pool.add_pattern(found);
        balanced = pool.balance(balance::SINGLE, (0.05 * gap).clamp(GAP / 10.0, COARSE));
    }
    let mut sets: Vec<(PatternSet, f64)> = Vec::new();
    let mut uniform = 0.0;
    for (candidate, weight) in pool.candidates.iter().zip(&balanced.weights) {
        let CandidateChannel::Pattern(support) = candidate else { continue };
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

/// Designs a plan in which each respondent answers one of the tables.
///
/// A public lottery with optimal probabilities selects the table. Its cells are answered by k-ary randomized response
/// with all of epsilon. This is the best method in the literature.
///
/// # Errors
/// Returns [`DesignError::Epsilon`] if epsilon is not a positive number up to [`MAX_EPSILON`], and
/// [`DesignError::NothingPrivate`] if no table has a randomized attribute.
pub fn sampling(schema: &Schema, epsilon: f64, tables: &TableList, weights: &[f64]) -> Result<Workload, DesignError> {
    let setting = Setting::new(schema, epsilon, tables, weights)?;
    let Setting { space, costs, .. } = &setting;
    let mut pool = CandidatePool::new(space, costs, square);
    setting.tables.iter().for_each(|table| pool.add_pattern(Support::Hits(table.clone())));
    let balanced = pool.balance(balance::LOTTERY, GAP / 100.0);
    let block = setting.lottery_of(&pool.candidates, &balanced.weights, epsilon)?;
    let plan = setting.plan(schema, "sampling", block)?;
    Ok(Workload { plan, error: balanced.value + costs.fixed, of_its_kind: None })
}

/// Number of times that costs are recomputed at the information that is optimal for them.
const STRUCTURE_ROUNDS: usize = 5;

/// Returns the costs for estimates that use structural zeros.
///
/// They depend on the information about the components, which depends on the costs. Each round finds the best lottery
/// of strips, tables and the complete record for the current costs, and then the costs at its information. The error
/// decreases in every round, since the costs are an upper bound that is attained there.
fn knowing(
    schema: &Schema,
    tables: &TableList,
    weights: &[f64],
    mut costs: Costs,
    space: &Space,
    epsilon: f64,
) -> Costs {
    for _ in 0..STRUCTURE_ROUNDS {
        let mut pool = CandidatePool::new(space, &costs, square);
        strips::strips(&costs, epsilon).into_iter().for_each(|strip| pool.add_strip(strip));
        costs.components.iter().for_each(|hits| pool.add_pattern(Support::Hits(hits.clone())));
        pool.add_pattern(Support::Hits((0..space.attributes()).collect()));
        let information = pool.balance(balance::LOTTERY, COARSE).totals;
        costs = costs.within(schema, tables, weights, &information);
    }
    costs
}

/// The setting of a design.
struct Setting {
    /// Positions in the schema.
    attributes: Vec<usize>,
    axes: Vec<Axis>,
    /// Tables, as numbers among the randomized attributes.
    tables: Vec<Vec<usize>>,
    costs: Costs,
    space: Space,
    /// Randomized attributes with an empty label, such as for missing values. A set of their categories alone cannot be
    /// written as cells.
    unnamed: Vec<usize>,
}

impl Setting {
    fn new(schema: &Schema, epsilon: f64, tables: &TableList, weights: &[f64]) -> Result<Setting, DesignError> {
        if !(epsilon > 0.0 && epsilon <= MAX_EPSILON) {
            return Err(DesignError::Epsilon(epsilon));
        }
        let private = randomized_attributes(schema)?;
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
        let costs = if all_possible(schema, tables.lists()) {
            costs
        } else {
            knowing(schema, tables, weights, costs, &space, epsilon)
        };
        let axes = sizes.iter().map(|&size| Axis::single(size)).collect();
        let is_unnamed =
            |&at: &usize| schema.attributes()[attributes[at]].categories().iter().any(|label| label.is_empty());
        let unnamed = (0..attributes.len()).filter(is_unnamed).collect();
        Ok(Setting { attributes, axes, tables: lists, costs, space, unnamed })
    }

    /// Makes a lottery, with the likeliest channel first.
    fn lottery_of(&self, candidates: &[CandidateChannel], weights: &[f64], epsilon: f64) -> Result<Block, DesignError> {
        let mut channels: Vec<(u64, Channel)> = Vec::new();
        for (candidate, weight) in candidates.iter().zip(weights) {
            channels.push((((weight * TOTAL_WEIGHT).round() as u64).max(1), self.channel(candidate, epsilon)?));
        }
        channels.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        Ok(Block::lottery(self.attributes.clone(), channels))
    }

    fn channel(&self, candidate: &CandidateChannel, epsilon: f64) -> Result<Channel, DesignError> {
        Ok(match candidate {
            CandidateChannel::Pattern(support) => {
                Pattern::two_level(self.axes.clone(), self.space.set(support), epsilon)?.into()
            }
            // For a single attribute, a strip is a set of its categories: subset selection.
            CandidateChannel::Strip { cells: Cells::Strip(cells), .. } if self.axes.len() == 1 => {
                Pattern::k_ary(vec![Axis::set(self.axes[0].categories, *cells)], epsilon)?.into()
            }
            CandidateChannel::Strip { table, cells } => {
                let sizes = table.iter().map(|&place| self.axes[place].categories).collect();
                Strip::within(table.clone(), sizes, cells.clone(), epsilon)?.into()
            }
        })
    }

    fn workload(&self, schema: &Schema, found: &Found, epsilon: f64) -> Result<Workload, DesignError> {
        let block = self.lottery_of(&found.candidates, &found.balance.weights, epsilon)?;
        let error = found.balance.value + self.costs.fixed;
        let of_its_kind = self.is_small().then(|| error.min(found.least + self.costs.fixed));
        Ok(Workload { plan: self.plan(schema, "workload", block)?, error, of_its_kind })
    }

    fn plan(&self, schema: &Schema, method: &str, block: Block) -> Result<Plan, DesignError> {
        let requested = vec![None; self.attributes.len()];
        Ok(Plan::new(schema.clone(), vec![block])?.with_origin(Origin { method: method.to_owned(), requested }))
    }

    /// Returns whether all sets of patterns can be tried.
    fn is_small(&self) -> bool {
        self.space.attributes() <= MAX_ALL_SETS
    }

    /// Returns whether sets of patterns can be listed.
    fn is_listed(&self) -> bool {
        self.space.attributes() <= MAX_LISTED
    }

    /// Returns whether the setting is too large to search thoroughly.
    fn is_large(&self) -> bool {
        !self.is_listed() || self.costs.components.len() > balance::MAX_NEWTON
    }

    fn support(&self, hits: Vec<usize>) -> Support {
        if self.is_listed() { self.space.listed(&hits) } else { Support::Hits(hits) }
    }
}
