//! The methods side by side: every one that applies to a schema, at the same certified record epsilon, by the
//! error to expect of the tables that matter.
//!
//! To add a method, give it a variant of [`Method`], a place in [`Method::ALL`] and its plan in `Method::plan`.

mod answer;
mod predict;
mod simulate;

pub use answer::{Answer, answer};
pub use predict::predicted_error;
pub use simulate::{Simulation, simulated_errors};

use std::time::{Duration, Instant};

use candor::plan::Plan;
use candor::schema::Schema;
use candor::tables::{Tables, TablesError};

use crate::bound::{Bound, Costs};
use crate::clusters::{self, Inside};
use crate::joint::optimal::search::Effort;
use crate::joint::{optimal, rr_joint, single_miss, workload};
use crate::{DesignError, budget, independent, l_diversity, minimax, private};

/// A method that can be compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Every attribute on its own, with an equal share of epsilon.
    Independent,
    /// Every attribute on its own, answered with the number of categories that estimates best.
    Minimax,
    /// The whole record kept or replaced at once.
    Joint,
    /// The attributes of a cluster together, each bringing an equal share of epsilon.
    Clusters,
    /// The heuristic of paper 000 at equal attribute epsilons.
    Heuristic,
    /// The largest equal attribute epsilons that any plan has at this record epsilon.
    Optimal,
    /// Each respondent answers about one attribute.
    SamplingAttribute,
    /// Each respondent answers about one pair of attributes: the literature's best scheme.
    SamplingPair,
    /// The least error of the tables asked for.
    Workload,
    /// Local l-diversity. It has no epsilon: it is shown at the added variance of [`Method::Minimax`].
    LDiversity,
}

impl Method {
    /// All of them, the simplest first: of methods that are equally good, the first is recommended.
    pub const ALL: [Method; 10] = [
        Method::Independent,
        Method::Minimax,
        Method::Joint,
        Method::Clusters,
        Method::Heuristic,
        Method::Optimal,
        Method::SamplingAttribute,
        Method::SamplingPair,
        Method::Workload,
        Method::LDiversity,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Method::Independent => "independent",
            Method::Minimax => "minimax",
            Method::Joint => "joint",
            Method::Clusters => "clusters",
            Method::Heuristic => "heuristic",
            Method::Optimal => "optimal",
            Method::SamplingAttribute => "sampling one attribute",
            Method::SamplingPair => "sampling one pair",
            Method::Workload => "workload",
            Method::LDiversity => "l-diversity",
        }
    }

    /// The plan of this method.
    fn plan(self, schema: &Schema, goal: &Goal<'_>, effort: Effort) -> Result<Plan, Skipped> {
        let attributes = private(schema)?.len();
        let equal = vec![1.0; attributes];
        let shares = || budget::share(goal.epsilon, &equal);
        let sampling = |tables: &Tables| -> Result<Plan, Skipped> {
            check_lottery(attributes, tables.lists().len())?;
            Ok(workload::sampling(schema, goal.epsilon, tables, &vec![1.0; tables.lists().len()])?.plan)
        };
        Ok(match self {
            Method::Independent => independent::independent(schema, &shares()?)?,
            Method::Minimax => minimax::minimax(schema, &shares()?)?,
            Method::Joint => rr_joint::rr_joint(schema, goal.epsilon)?,
            Method::Clusters => {
                let together = goal.clusters.ok_or(Skipped::NoClusters)?;
                clusters::clusters(schema, together, &shares()?, Inside::Joint, effort)?
            }
            Method::Heuristic => single_miss::heuristic_within(schema, goal.epsilon, &equal)?.plan,
            Method::Optimal => optimal::optimal_within(schema, goal.epsilon, &equal, effort)?.plan,
            Method::SamplingAttribute => sampling(&Tables::marginals(schema))?,
            Method::SamplingPair => sampling(&Tables::parse("pairs", schema)?)?,
            Method::Workload => {
                let tables = goal.tables.lists().len();
                check_lottery(attributes, tables)?;
                workload::lottery(schema, goal.epsilon, goal.tables, &vec![1.0; tables], effort)?.plan
            }
            Method::LDiversity => {
                let sizes = private(schema)?.into_iter().map(|(_, size)| size);
                let added = |(size, epsilon): (usize, f64)| {
                    let parity = epsilon.exp();
                    minimax::added_variance(size, minimax::best_size(size, parity), parity)
                };
                let variances: Vec<f64> = sizes.zip(shares()?).map(added).collect();
                l_diversity::l_diversity_at(schema, &variances)?
            }
        })
    }
}

/// What the methods are compared for.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    /// The record epsilon, above 0.
    pub epsilon: f64,
    /// The number of respondents.
    pub respondents: f64,
    /// The tables whose error decides.
    pub tables: &'a Tables,
    /// Which attributes belong together, by position in the schema, if that is known.
    pub clusters: Option<&'a [Vec<usize>]>,
    /// How long each method may search, and its errors be predicted; as long as it takes if `None`.
    pub time_limit: Option<Duration>,
}

impl Goal<'_> {
    /// When something that begins now must end.
    fn deadline(&self) -> Option<Instant> {
        self.time_limit.and_then(|limit| Instant::now().checked_add(limit))
    }
}

/// A method with its plan, or why there is none.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The method.
    pub method: Method,
    /// What it gives.
    pub made: Result<Made, Skipped>,
}

/// A plan and what to expect of it.
#[derive(Clone, Debug)]
pub struct Made {
    /// The plan.
    pub plan: Plan,
    /// The root mean square standard error over all cells of all one-way tables.
    pub one_way: Option<f64>,
    /// The same for all two-way tables. These are `None` where a table is not identifiable, or there is none.
    pub two_way: Option<f64>,
    /// The same for the tables asked for.
    pub asked: Option<f64>,
    /// The squared error of the tables asked for, over the least that any locally private method whatever can have at the
    /// plan's epsilon ([`crate::bound`]); `None` where a table is not identifiable, or there is no epsilon.
    pub times_the_bound: Option<f64>,
    /// What a respondent sends.
    pub answer: Answer,
    /// Whether the search for it ended at the deadline.
    pub out_of_time: bool,
}

/// Why a method is left out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Skipped {
    /// It does not apply.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// It needs tables that there are not.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// Nobody said which attributes belong together.
    #[error("which attributes belong together is not known; candor cluster finds out")]
    NoClusters,
    /// Its rarest answer is too rare for 64 bits.
    #[error("with weights of 64 bits it comes to epsilon {0:.4} only: its rarest answer is too rare")]
    Short(f64),
    /// Its certificate would take minutes.
    #[error(
        "certifying a lottery for {tables} tables of {attributes} attributes takes longer than a minute; candor design makes it"
    )]
    Slow {
        /// How many attributes are randomized.
        attributes: usize,
        /// How many tables there are.
        tables: usize,
    },
    /// Its errors would take too long to predict.
    #[error("predicting its errors takes too long: {tables} tables with {cells} cells, {channels} channels")]
    TooLarge {
        /// How many tables there are.
        tables: usize,
        /// The cells of all tables.
        cells: usize,
        /// The channels of the lottery.
        channels: usize,
    },
}

/// The number of patterns by channels up to which a lottery is certified, which lists them up to 20 attributes: some ten
/// seconds.
const MOST_PATTERNS: usize = 1 << 23;

fn check_lottery(attributes: usize, tables: usize) -> Result<(), Skipped> {
    match attributes <= 20 && tables << attributes > MOST_PATTERNS {
        true => Err(Skipped::Slow { attributes, tables }),
        false => Ok(()),
    }
}

/// Every method, with its plan and the errors to expect of it if the truth is uniform.
///
/// All have the same record epsilon, certified and never exceeded; but [`Method::LDiversity`], which has none.
///
/// # Errors
/// If epsilon is not a positive privacy loss, or there is nothing to randomize.
pub fn compare(schema: &Schema, goal: &Goal<'_>) -> Result<Vec<Candidate>, DesignError> {
    if !(goal.epsilon.is_finite() && goal.epsilon > 0.0) {
        return Err(DesignError::Epsilon(goal.epsilon));
    }
    private(schema)?;
    let costs = Costs::of_tables(schema, goal.tables, &vec![1.0; goal.tables.lists().len()]);
    let bound = costs.ok().map(|costs| Bound::new(costs, goal.epsilon));
    let candidate = |method| Candidate { method, made: make(method, schema, goal, bound.as_ref()) };
    Ok(Method::ALL.into_iter().map(candidate).collect())
}

fn make(method: Method, schema: &Schema, goal: &Goal<'_>, bound: Option<&Bound>) -> Result<Made, Skipped> {
    let effort = Effort::of(schema.private().len(), goal.deadline());
    let plan = method.plan(schema, goal, effort)?;
    let out_of_time = effort.is_over();
    let certified = plan.guarantee().epsilon().value();
    if let Some(certified) = certified.filter(|&e| !budget::is_met(goal.epsilon, e)) {
        return Err(Skipped::Short(certified));
    }
    let mut lists = vec![Tables::marginals(schema)];
    lists.extend(Tables::parse("pairs", schema).ok());
    let pairs = lists.len() - 1;
    let asked = lists.iter().position(|list| list == goal.tables).unwrap_or(lists.len());
    if asked == lists.len() {
        lists.push(goal.tables.clone());
    }
    let errors = predict::errors_within(&plan, &lists, goal.respondents, goal.deadline())?;
    let mean = |list: usize| errors.get(list).and_then(|squares| Some(squares.as_ref()?.root_mean()));
    let least = bound.zip(certified).map(|(bound, certified)| bound.at(certified));
    let times = |least: f64| Some(errors[asked].as_ref()?.sum * goal.respondents / least);
    Ok(Made {
        one_way: mean(0),
        two_way: if pairs > 0 { mean(pairs) } else { None },
        asked: mean(asked),
        times_the_bound: least.filter(|least| *least > 0.0).and_then(times),
        answer: answer(&plan),
        plan,
        out_of_time,
    })
}

/// Errors that differ by less, relatively, are equal.
const EQUAL: f64 = 1e-6;

/// The method with the least error of the tables asked for, among those that have an epsilon; of equal ones the simplest.
/// `None` if none can answer.
pub fn recommended(candidates: &[Candidate]) -> Option<&Candidate> {
    let error = |candidate: &&Candidate| {
        let made = candidate.made.as_ref().ok()?;
        made.plan.guarantee().epsilon().value().and(made.asked)
    };
    let least = candidates.iter().filter_map(|c| error(&c)).min_by(f64::total_cmp)?;
    candidates.iter().find(|candidate| error(candidate).is_some_and(|error| error <= least * (1.0 + EQUAL)))
}
