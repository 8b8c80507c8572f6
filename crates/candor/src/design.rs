//! Designs a plan for a schema, with its guarantees and expected errors, and rejects plans that would protect nobody.

use candor_analysis::table_list::TableList;
use candor_base::channel::MAX_CELLS;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_design::bound::OptimalityGap;
use candor_design::expectation::{ErrorScenarios, Expectation, expectations};
use candor_design::joint::least_error::asked_tables;
use candor_design::outcome::{AdjustedEpsilon, AlternativeMethod, Choice, GapReport};
use candor_design::pairs::Pairs;
use candor_design::request;
use candor_design::{DEFAULT_RESPONDENTS, DesignError, DesignOutcome, Method, Request, budget};
use candor_runtime::progress::{Deadline, ProgressSink, Stopped};
use serde::Serialize;

use crate::error::{StudyError, check_respondents};
use crate::format::{count, plural};
use crate::guarantee::{CertifiedAttribute, ForPrior, certified, for_prior};
use crate::invented::{people_in_words, people_per_response};
use crate::made_by::made_by;
use crate::shares::Shares;
use crate::verdict::{self, LARGE_ERROR, Verdict, precision, worst_reply};

/// Default limit of the record-level epsilon; larger ones would protect nobody.
pub const MAX_EPSILON: f64 = 50.0;

/// Optimality gap in percent below which a plan is not worth replacing.
const NEARLY_BEST: f64 = 1.0;

/// Limits on a design, and settings of its description.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DesignOptions {
    /// Largest accepted record-level epsilon.
    pub max_epsilon: f64,
    /// Whether an unbounded plan is accepted.
    ///
    /// Plans for l-diversity and of the Pareto front always are, because they have other guarantees.
    pub allow_unbounded: bool,
    /// Tables whose errors are reported, such as `pairs` or `a,b;c`; `None` for `marginals`.
    ///
    /// Naming tables adds the optimality gap for them. The methods workload and sampling use their own tables
    /// instead.
    pub tables: Option<String>,
    /// Number of respondents for the expected errors.
    pub respondents: f64,
    /// Expected shares for the reported errors; the design itself does not change.
    pub shares: Option<Shares>,
}

impl DesignOptions {
    candor_runtime::options! {
        max_epsilon: f64,
        allow_unbounded: bool,
        tables: impl Into<Option<String>>,
        respondents: f64,
        shares: impl Into<Option<Shares>>,
    }
}

impl Default for DesignOptions {
    fn default() -> DesignOptions {
        DesignOptions {
            max_epsilon: MAX_EPSILON,
            allow_unbounded: false,
            tables: None,
            respondents: DEFAULT_RESPONDENTS,
            shares: None,
        }
    }
}

/// A plan and its description.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Design {
    /// Whether the plan is precise enough for the tables.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Name of the method.
    pub method: String,
    /// Record-level epsilon.
    pub epsilon: RecordEpsilon,
    /// Certified epsilons of each attribute.
    pub attributes: Vec<CertifiedAttribute>,
    /// Guess accuracy for the least protected attribute, after the most revealing response, an average one, and
    /// none.
    pub worst_reply: Option<String>,
    /// Expected errors of each table.
    pub expected: Vec<Expectation>,
    /// Optimality gap for the tables, if some are named or the plan was made for some.
    pub workload: Option<GapReport>,
    /// Verdict on the optimality gap, if the lower bound is known.
    pub optimality: Option<Verdict>,
    /// Record-level epsilons of other methods with the same attribute epsilons.
    pub alternatives: Vec<AlternativeMethod>,
    /// Attributes whose epsilon differs from the requested one.
    pub altered: Vec<AdjustedEpsilon>,
    /// Whether the search reached its time limit; the plan is the best one found.
    pub out_of_time: bool,
    /// Whether the search was cancelled; the plan is the best one found.
    pub interrupted: bool,
    /// The least precise pairs of attributes; `None` if there are none, or for matrices.
    pub pairs: Option<Pairs>,
    /// Guarantees for the prior of the plan, if it has one.
    pub for_prior: Option<ForPrior>,
    /// The request that made the plan, as recorded in the plan ([`made_by`]).
    pub made_by: Option<serde_json::Value>,
    /// Notes for the user, in sentences.
    pub notes: Vec<String>,
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// Elapsed seconds, including input and output. The caller sets it.
    pub seconds: Option<f64>,
    /// The plan. Not in JSON; it is written to a file.
    #[serde(skip)]
    pub plan: Plan,
    /// Optimality gap for the tables. Not in JSON directly; see `workload`.
    #[serde(skip)]
    pub standing: Option<OptimalityGap>,
    /// Candidates that a plan for tables was chosen from. Not in JSON directly; see `workload`.
    #[serde(skip)]
    pub choice: Option<Choice>,
    #[serde(skip)]
    could_be_for_tables: bool,
}

/// Record-level epsilon and its lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RecordEpsilon {
    /// Certified epsilon, rounded up; `None` if unbounded.
    pub certified: Option<f64>,
    /// Lower bound for all channels with the same marginal attribute epsilons, if known.
    pub lower_bound: Option<f64>,
}

/// Designs the requested plan.
///
/// # Errors
/// Returns [`StudyError`] if
/// - a parameter is missing or out of range,
/// - the method does not apply to the schema,
/// - the plan would protect nobody,
/// - the tables do not fit the schema.
///
/// ```
/// use candor::prelude::*;
///
/// let schema = Schema::with_sizes(&[2, 3, 4])?;
/// let request = Workload::new(2.0).tables("a1;a1,a2").into();
/// let designed = design(&schema, &request, &DesignOptions::default().respondents(10_000.0))?;
/// assert!(designed.plan.guarantee().epsilon().as_f64() <= 2.0);
/// std::fs::write(std::env::temp_dir().join("plan.json"), designed.plan.to_json())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn design(schema: &Schema, request: &Request, options: &DesignOptions) -> Result<Design, StudyError> {
    design_with_progress(schema, request, options, ProgressSink::none())
}

/// Designs the requested plan. `progress` receives the steps of a search and may cancel it.
///
/// # Errors
/// Returns the errors of [`design()`], or [`StudyError::Cancelled`] if `progress` cancels.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use candor::design::design_with_progress;
/// use candor::prelude::*;
///
/// let schema = Schema::with_sizes(&[2, 3, 4])?;
/// let start = Instant::now();
/// // If stopped, the search returns the best plan found so far.
/// let in_time = |_: &Progress| start.elapsed() < Duration::from_secs(1);
/// let request = Optimal::new(4.0).into();
/// let designed = design_with_progress(&schema, &request, &DesignOptions::default(), ProgressSink::new(&in_time))?;
/// assert!(designed.plan.guarantee().epsilon().as_f64() <= 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn design_with_progress(
    schema: &Schema,
    request: &Request,
    options: &DesignOptions,
    progress: ProgressSink<'_>,
) -> Result<Design, StudyError> {
    check_respondents(options.respondents)?;
    if options.max_epsilon.is_nan() {
        let (name, range) = ("max_epsilon", "it is a number, 0 or more");
        return Err(StudyError::Parameter { name, value: options.max_epsilon, range });
    }
    let mut designed = request::design_with_progress(schema, request, progress)?;
    refuse_what_protects_nobody(&designed.plan, request, options)?;
    let (tables, weights) = told_tables(designed.plan.schema(), request, options)?;
    if options.tables.is_some() || is_for_tables(request) {
        let limit = if let Request::Workload(request) = request { request.time_limit } else { None };
        designed.judge_within(&tables, &weights, &Deadline::start(limit, progress));
    }
    if options.shares.is_some() && designed.plan.schema() != schema {
        return Err(StudyError::InvalidParameter(
            "`expected_shares` describe the attributes of the schema and cannot be used with `cross`",
        ));
    }
    let expected = expected(&designed.plan, &tables, options)?;
    designed.notes.extend(large_errors(&expected));
    designed.notes.extend(beyond_sets(&designed.plan, &tables, request));
    designed.notes.extend(in_no_table(&designed.plan, &tables, request));
    let people = people_per_response(&designed.plan, tables.lists());
    designed.notes.extend(
        people.map(|people| format!("{}: anybody may send one where the survey is open", people_in_words(people))),
    );
    Ok(described(designed, expected, options.respondents))
}

/// Returns the expected errors of each table.
///
/// They are for a uniform population, for the expected shares, and in the worst case.
fn expected(plan: &Plan, tables: &TableList, options: &DesignOptions) -> Result<Vec<Expectation>, StudyError> {
    let mut expected = expectations(plan, tables.lists(), options.respondents);
    for (one, table) in expected.iter_mut().zip(tables.lists()).filter(|(one, _)| one.identifiable) {
        let truth = options.shares.as_ref().map(|shares| shares.table(plan.schema(), table)).transpose()?;
        let truths = truth.map(|truth| vec![truth]);
        let other = ErrorScenarios::new(plan, std::slice::from_ref(table), truths.as_deref(), options.respondents);
        (one.anticipated_error, one.worst_error) = (other.anticipated, other.worst);
    }
    Ok(expected)
}

fn described(designed: DesignOutcome, expected: Vec<Expectation>, respondents: f64) -> Design {
    let plan = &designed.plan;
    let verdict = precision(&expected, respondents);
    Design {
        verdict,
        method: plan.origin().method.clone(),
        epsilon: RecordEpsilon { certified: plan.guarantee().epsilon().finite(), lower_bound: designed.lower_bound },
        attributes: certified(plan),
        worst_reply: worst_reply(plan),
        expected,
        workload: designed.judgement(),
        pairs: Pairs::new(plan, respondents),
        for_prior: for_prior(plan),
        made_by: made_by(plan),
        fingerprint: plan.fingerprint().as_str().to_owned(),
        seconds: None,
        optimality: designed.standing.map(|standing| verdict::optimality(standing.times())),
        alternatives: designed.alternatives,
        altered: designed.altered,
        out_of_time: designed.stopped == Some(Stopped::OutOfTime),
        interrupted: designed.stopped == Some(Stopped::Interrupted),
        notes: designed.notes,
        standing: designed.standing,
        choice: designed.workload,
        could_be_for_tables: designed.recommend_workload,
        plan: designed.plan,
    }
}

/// Returns a warning about tables with large errors.
fn large_errors(expected: &[Expectation]) -> Option<String> {
    let error = |table: &Expectation| table.standard_error.filter(|error| *error > LARGE_ERROR);
    let large: Vec<(f64, &Expectation)> = expected.iter().filter_map(|table| Some((error(table)?, table))).collect();
    let (worst, table) = large.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let more = if large.len() > 1 { format!(" ({} in all)", plural(large.len(), "table")) } else { String::new() };
    let name = table.attributes.join(",");
    Some(match *worst {
        worst if worst > 1.0 => format!("warning: useless for {name}{more}: the standard error of a share is above 1"),
        worst => format!("warning: the standard error of a share of {name} is {worst:.2}, above {LARGE_ERROR}{more}"),
    })
}

/// Returns a note about tables with too many cells for the method workload.
fn beyond_sets(plan: &Plan, tables: &TableList, request: &Request) -> Option<String> {
    let cells = |table: &Vec<usize>| table.iter().map(|&a| plan.schema().size(a)).fold(1, usize::saturating_mul);
    let large: Vec<&Vec<usize>> = tables.lists().iter().filter(|table| cells(table) > MAX_CELLS).collect();
    let first = large.first().filter(|_| request.method() == Method::Workload)?;
    let names: Vec<&str> = first.iter().map(|&a| plan.schema().name(a)).collect();
    let more = if large.len() > 1 { format!(" and {} more", large.len() - 1) } else { String::new() };
    Some(format!(
        "warning: {}{more} has {} cells; above {} cells the method workload cannot draw sets of cells, and errors are \
         many times as large; merge categories",
        names.join(","),
        count(cells(first) as u64),
        count(MAX_CELLS as u64)
    ))
}

/// Returns a note about randomized attributes that no table of the plan contains, so that they cannot be estimated.
fn in_no_table(plan: &Plan, tables: &TableList, request: &Request) -> Option<String> {
    let used = |attribute: &usize| tables.lists().iter().any(|table| table.contains(attribute));
    let unused: Vec<usize> = plan.schema().randomized().into_iter().filter(|attribute| !used(attribute)).collect();
    let first = unused.first().filter(|_| is_for_tables(request))?;
    let more = if unused.len() > 1 { format!(" and {} more", unused.len() - 1) } else { String::new() };
    Some(format!(
        "no table uses {}{more}: nothing can be learned of {}; name tables with {}, or leave {} out of the schema",
        plan.schema().name(*first),
        if unused.len() > 1 { "them" } else { "it" },
        if unused.len() > 1 { "them" } else { "it" },
        if unused.len() > 1 { "them" } else { "it" },
    ))
}

/// Returns whether the method makes plans for tables.
fn is_for_tables(request: &Request) -> bool {
    matches!(request.method(), Method::Workload | Method::Sampling)
}

/// Returns the tables whose errors are reported, with their weights.
fn told_tables(
    schema: &Schema,
    request: &Request,
    options: &DesignOptions,
) -> Result<(TableList, Vec<f64>), StudyError> {
    if is_for_tables(request) {
        let parameters = request.parameters();
        let named = parameters.get("tables").and_then(|tables| tables.as_str());
        return Ok(asked_tables(schema, named)?);
    }
    let tables = TableList::parse(options.tables.as_deref().unwrap_or("marginals"), schema);
    let tables = tables.map_err(DesignError::Tables)?;
    let weights = vec![1.0; tables.lists().len()];
    Ok((tables, weights))
}

fn refuse_what_protects_nobody(plan: &Plan, request: &Request, options: &DesignOptions) -> Result<(), StudyError> {
    let certified = plan.guarantee().epsilon().finite();
    let asked = request.parameters().get("epsilon").and_then(|epsilon| epsilon.as_f64());
    if let Some((asked, certified)) = asked.zip(certified)
        && !budget::is_met(asked, certified)
    {
        return Err(StudyError::OutOfReach { asked, certified });
    }
    // A plan of the Pareto front has another guarantee, certified for its prior.
    if plan.for_prior().is_some() {
        return Ok(());
    }
    match certified {
        // l-diversity guarantees l, not an epsilon.
        None if request.method() == Method::LDiversity || options.allow_unbounded => Ok(()),
        None => Err(StudyError::Unbounded),
        Some(epsilon) if epsilon <= options.max_epsilon => Ok(()),
        Some(epsilon) => Err(StudyError::ProtectsNobody { epsilon, limit: options.max_epsilon }),
    }
}

impl Design {
    /// Returns whether the method workload is likely to be more precise.
    pub fn recommends_workload(&self) -> bool {
        let nearly_best = self.standing.is_some_and(|standing| standing.percent() <= NEARLY_BEST);
        self.could_be_for_tables && !nearly_best
    }
}
