//! The methods side by side: every one that applies to a schema, at the same certified record epsilon, by the
//! error to expect of the tables that matter.
//!
//! A method takes part if it says how it is asked for a record epsilon ([`Design::at`](crate::method::Design::at)).

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
pub use crate::method::{ComparisonTarget, NotApplicable};
use crate::predict::errors_within;
use crate::request::{Method, Request, design_watched};
use crate::{DesignError, budget, randomized_attributes};

/// A method with its plan, or why there is none.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What it is called here.
    pub name: &'static str,
    /// The method.
    pub method: Method,
    /// What it gives.
    pub made: Result<CandidatePlan, NotApplicable>,
}

/// A plan and what to expect of it.
#[derive(Clone, Debug)]
pub struct CandidatePlan {
    /// What was asked of the method.
    pub request: Request,
    /// The plan.
    pub plan: Plan,
    /// The root mean square standard error over all cells of all one-way tables.
    pub one_way: Option<f64>,
    /// The same for all two-way tables. These are `None` where a table is not identifiable, or there is none.
    pub two_way: Option<f64>,
    /// The same for the tables asked for.
    pub asked: Option<f64>,
    /// At most the same for shares within the groups of all attributes of a table asked for but its last.
    pub conditional: Option<f64>,
    /// The squared error of the tables asked for, over the lower bound for unbiased estimates at the plan's epsilon
    /// ([`crate::bound`]); `None` where a table is not identifiable, or there is no epsilon.
    pub times_the_bound: Option<f64>,
    /// What a respondent sends.
    pub answer: Answer,
    /// Why the search for it ended before it was done, if it did.
    pub stopped: Option<Stopped>,
}

/// Every method, with its plan and the errors to expect of it if the truth is uniform.
///
/// All have the same record epsilon, certified and never exceeded; but l-diversity, which has none.
///
/// # Errors
/// If epsilon is not a positive privacy loss, the tables are none of the schema's, or there is nothing to randomize.
pub fn compare(schema: &Schema, goal: &ComparisonTarget<'_>) -> Result<Vec<Candidate>, DesignError> {
    compare_with_progress(schema, goal, ProgressSink::none())
}

/// The same for somebody who waits: `progress` is told how many methods are done.
///
/// # Errors
/// As [`compare`], and if whoever watches ends it.
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
    let designed = design_watched(schema, &request, progress)?;
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

/// Errors that differ by less, relatively, are equal.
pub const EQUAL: f64 = 1e-6;

/// The method with the least error of the tables asked for, among those that have an epsilon; of equal ones the
/// simplest. `None` if none can answer.
pub fn recommended(candidates: &[Candidate]) -> Option<&Candidate> {
    let error = |candidate: &&Candidate| {
        let made = candidate.made.as_ref().ok()?;
        made.plan.guarantee().epsilon().finite().and(made.asked)
    };
    let least = candidates.iter().filter_map(|c| error(&c)).min_by(f64::total_cmp)?;
    candidates.iter().find(|candidate| error(candidate).is_some_and(|error| error <= least * (1.0 + EQUAL)))
}
