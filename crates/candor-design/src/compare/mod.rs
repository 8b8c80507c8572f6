//! Compares all methods that apply to a schema, at the same certified record-level epsilon.
//!
//! The measure is the expected error of the requested tables. A method takes part if it defines a request for a
//! record-level epsilon ([`Design::at`](crate::traits::Design::at)).

mod answer;
mod alone;
mod simulate;
mod variance;

pub use alone::{Alone, alone};
pub use answer::{Answer, answer};
pub use simulate::{Simulation, simulated_errors};
pub use variance::{AtVariance, Variance, at_variance};

use candor_analysis::structural_zeros::all_possible;
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_runtime::progress::{Deadline, Progress, ProgressSink, Stopped};

use crate::bound::{Bound, Costs};
use crate::predict::errors_within;
use crate::request::{Method, Request, design_with_progress};
pub use crate::traits::{ComparisonTarget, NotApplicable};
use crate::{DesignError, budget, randomized_attributes};

/// A method with its plan, or the reason why it does not apply.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Name of the method in comparisons.
    pub name: &'static str,
    /// The method.
    pub method: Method,
    /// Its plan, or the reason why it does not apply.
    pub made: Result<CandidatePlan, NotApplicable>,
}

/// A plan and its expected errors.
#[derive(Clone, Debug)]
pub struct CandidatePlan {
    /// The request that made the plan.
    pub request: Request,
    /// The plan.
    pub plan: Plan,
    /// Root mean square standard error over all cells of all one-way tables.
    pub one_way: Option<f64>,
    /// Root mean square standard error over all cells of all two-way tables. This and `one_way` are `None` if a table
    /// is not identifiable, or if there is none.
    pub two_way: Option<f64>,
    /// Root mean square standard error over all cells of the requested tables.
    pub asked: Option<f64>,
    /// Upper bound on the root mean square error of shares within groups, formed by all attributes of a requested table
    /// but the last.
    pub conditional: Option<f64>,
    /// Squared error of the requested tables divided by the lower bound for unbiased estimates at the plan's epsilon
    /// ([`crate::bound`]); `None` if a table is not identifiable, or the plan is unbounded.
    pub times_the_bound: Option<f64>,
    /// Size of a response.
    pub answer: Answer,
    /// The reason why the search ended early, if it did.
    pub stopped: Option<Stopped>,
}

/// Designs a plan by every method, with the expected errors for a uniform population.
///
/// All plans have nearly the same certified record-level epsilon, which never exceeds the requested one. Only
/// l-diversity has none.
///
/// # Errors
/// Returns [`DesignError::Epsilon`] if epsilon is not positive and finite, [`DesignError::Tables`] if the tables do not
/// fit the schema, and [`DesignError::NothingPrivate`] if there is nothing to randomize.
pub fn compare(schema: &Schema, goal: &ComparisonTarget<'_>) -> Result<Vec<Candidate>, DesignError> {
    compare_with_progress(schema, goal, ProgressSink::none())
}

/// Designs a plan by every method, as [`compare`] does, and reports finished methods to `progress`.
///
/// # Errors
/// Returns the errors of [`compare`], and [`DesignError::Cancelled`] if `progress` cancels.
pub fn compare_with_progress(
    schema: &Schema,
    goal: &ComparisonTarget<'_>,
    progress: ProgressSink<'_>,
) -> Result<Vec<Candidate>, DesignError> {
    if !(goal.epsilon.is_finite() && goal.epsilon > 0.0) {
        return Err(DesignError::Epsilon(goal.epsilon));
    }
    randomized_attributes(schema)?;
    let tables = TableList::parse(goal.tables, schema)?;
    let costs = Costs::of_tables(schema, &tables, &vec![1.0; tables.lists().len()]);
    let deadline = Deadline::start(goal.time_limit.map(|limit| limit.as_secs_f64()), progress);
    let proven = costs.ok().filter(|_| all_possible(schema, tables.lists()));
    let bound = proven.map(|costs| Bound::within(costs, goal.epsilon, &deadline));
    let mut candidates = Vec::new();
    for (done, &method) in (0..).zip(Method::ALL) {
        progress.report(Progress::new("methods", done, Some(Method::ALL.len() as u64)))?;
        for (name, asked) in method.at(schema, goal) {
            let made = asked.and_then(|asked| make(asked, schema, goal, &tables, bound.as_ref(), progress));
            candidates.push(Candidate { name, method, made });
        }
    }
    progress.report(Progress::new("methods", Method::ALL.len() as u64, Some(Method::ALL.len() as u64)))?;
    Ok(candidates)
}

fn make(
    request: Request,
    schema: &Schema,
    goal: &ComparisonTarget<'_>,
    tables: &TableList,
    bound: Option<&Bound>,
    progress: ProgressSink<'_>,
) -> Result<CandidatePlan, NotApplicable> {
    let designed = design_with_progress(schema, &request, progress)?;
    let (plan, stopped) = (designed.plan, designed.stopped);
    let certified = plan.guarantee().epsilon().finite();
    if let Some(certified) = certified.filter(|&e| !budget::is_met(goal.epsilon, e)) {
        return Err(NotApplicable::Short(certified));
    }
    let mut lists = vec![TableList::marginals(schema)];
    lists.extend(TableList::parse("pairs", schema).ok());
    let pairs = lists.len() - 1;
    let asked = lists.iter().position(|list| list == tables).unwrap_or(lists.len());
    if asked == lists.len() {
        lists.push(tables.clone());
    }
    let errors = errors_within(&plan, &lists, goal.respondents, goal.deadline())?;
    let mean = |list: usize| errors.get(list).and_then(|squares| Some(squares.as_ref()?.root_mean()));
    let least = bound.zip(certified).map(|(bound, certified)| bound.at(certified));
    let times = |least: f64| Some(errors[asked].as_ref()?.sum * goal.respondents / least);
    Ok(CandidatePlan {
        one_way: mean(0),
        two_way: if pairs > 0 { mean(pairs) } else { None },
        asked: mean(asked),
        conditional: errors.get(asked).and_then(|squares| Some(squares.as_ref()?.root_mean_conditional())),
        times_the_bound: least.filter(|least| *least > 0.0).and_then(times),
        answer: answer(&plan),
        request,
        plan,
        stopped,
    })
}

/// Relative difference within which two errors count as equal.
pub const TIE_TOLERANCE: f64 = 1e-6;

/// Returns the simplest method with the least error of the requested tables.
///
/// Only methods with a finite epsilon qualify. Returns `None` if none of them can estimate the tables.
pub fn recommended(candidates: &[Candidate]) -> Option<&Candidate> {
    let error = |candidate: &&Candidate| {
        let made = candidate.made.as_ref().ok()?;
        made.plan.guarantee().epsilon().finite().and(made.asked)
    };
    let least = candidates.iter().filter_map(|c| error(&c)).min_by(f64::total_cmp)?;
    candidates.iter().find(|candidate| error(candidate).is_some_and(|error| error <= least * (1.0 + TIE_TOLERANCE)))
}
