//! A plan for a schema, with what it guarantees, what to expect of it, and what is refused because it would protect
//! nobody.

use candor_analysis::table_list::TableList;
use candor_base::channel::MAX_CELLS;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_design::bound::OptimalityGap;
use candor_design::expectation::{ErrorScenarios, Expectation, expectations};
use candor_design::joint::workload::asked_tables;
use candor_design::outcome::{AdjustedEpsilon, AlternativeMethod, Choice, GapReport};
use candor_design::pairs::Pairs;
use candor_design::request::design_watched;
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

/// Beyond this record epsilon no plan is made, unless more is allowed: it would protect nobody.
pub const MAX_EPSILON: f64 = 50.0;

/// A plan whose squared error can be smaller by so many percent at most is not worth replacing.
const NEARLY_BEST: f64 = 1.0;

/// What is allowed, and what is to be told of a plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DesignOptions {
    /// A plan with a larger record epsilon is refused.
    pub max_epsilon: f64,
    /// Whether a plan without any finite epsilon is accepted. Those of l-diversity and of the front are: they promise
    /// something else.
    pub allow_unbounded: bool,
    /// The tables whose errors are told, such as `pairs` or `a,b;c`; `marginals` if none are named. Where some are,
    /// also how the plan stands to the least possible error of them. The methods workload and sampling have tables of
    /// their own instead.
    pub tables: Option<String>,
    /// For how many respondents errors are told.
    pub respondents: f64,
    /// What is anticipated of people, for the errors told; the design itself does not change. `None` if nothing is.
    pub shares: Option<Shares>,
}

impl DesignOptions {
    options! {
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

/// A plan, and what there is to know of it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Design {
    /// Whether it will do for the tables, by the margins of error to expect.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The method it was made by.
    pub method: String,
    /// The epsilon of the record.
    pub epsilon: RecordEpsilon,
    /// What is certified of each attribute.
    pub attributes: Vec<CertifiedAttribute>,
    /// How much the worst reply, the average one and luck tell about the attribute that is protected least.
    pub worst_reply: Option<String>,
    /// What to expect of each of the tables.
    pub expected: Vec<Expectation>,
    /// How good it is for the tables, where some are named or it was made for some.
    pub workload: Option<GapReport>,
    /// How near the plan is to the lower bound of the tables' error, where that is known.
    pub optimality: Option<Verdict>,
    /// What the same attribute epsilons would cost otherwise.
    pub alternatives: Vec<AlternativeMethod>,
    /// Attributes whose epsilon is not the one asked for.
    pub altered: Vec<AdjustedEpsilon>,
    /// Whether the search ended because its time was up: the plan is the best until then.
    pub out_of_time: bool,
    /// Whether whoever watched ended the search: the plan is the best until then.
    pub interrupted: bool,
    /// The pairs that it tells least about; `None` where there are none, or answers are drawn by a matrix.
    pub pairs: Option<Pairs>,
    /// What it gives for the prior that it was made for, if it was made for one.
    pub for_prior: Option<ForPrior>,
    /// The request that made it, as the plan tells it ([`made_by`]).
    pub made_by: Option<serde_json::Value>,
    /// What else there is to know, in sentences.
    pub notes: Vec<String>,
    /// The plan's fingerprint.
    pub fingerprint: String,
    /// How long it took, reading and writing included: for who does that to say.
    pub seconds: Option<f64>,
    /// The plan. Not in JSON: it is a file of its own.
    #[serde(skip)]
    pub plan: Plan,
    /// How the plan stands to the least possible error of the tables. Not in JSON as such: see `workload`.
    #[serde(skip)]
    pub standing: Option<OptimalityGap>,
    /// What a plan for tables was chosen among. Not in JSON as such: see `workload`.
    #[serde(skip)]
    pub choice: Option<Choice>,
    #[serde(skip)]
    could_be_for_tables: bool,
}

/// The epsilon of a record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RecordEpsilon {
    /// What is certified, rounded up; `None` if unbounded.
    pub certified: Option<f64>,
    /// No channel with the same marginal attribute epsilons has a smaller one, where that is known.
    pub lower_bound: Option<f64>,
}

/// Makes the plan that is asked for.
///
/// # Errors
/// If a parameter is missing or out of range, the method does not apply, the plan would protect nobody, or the tables
/// are none of its schema.
pub fn design(schema: &Schema, request: &Request, options: &DesignOptions) -> Result<Design, StudyError> {
    design_with_progress(schema, request, options, ProgressSink::none())
}

/// The same, watched: `progress` is told the steps of a search, and may end it.
///
/// # Errors
/// As [`design()`], and if whoever watches ends it.
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
    let mut designed = design_watched(schema, request, progress)?;
    refuse_what_protects_nobody(&designed.plan, request, options)?;
    let (tables, weights) = told_tables(designed.plan.schema(), request, options)?;
    if options.tables.is_some() || is_for_tables(request) {
        let limit = if let Request::Workload(request) = request { request.time_limit } else { None };
        designed.judge_within(&tables, &weights, &Deadline::start(limit, progress));
    }
    if options.shares.is_some() && designed.plan.schema() != schema {
        return Err(StudyError::Needs("`expected_shares` are of attributes as the schema has them; leave `cross` out"));
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

/// What to expect of each table: if the truth is uniform, as anticipated, and whatever it is.
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

/// A warning about tables whose shares have large errors.
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

/// What the method workload cannot do for tables of more cells than a set can be drawn from.
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

/// Randomized attributes that no table uses, though the plan was made for tables: nothing can be learned of them.
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

/// Whether the method makes plans for tables.
fn is_for_tables(request: &Request) -> bool {
    matches!(request.method(), Method::Workload | Method::Sampling)
}

/// The tables whose errors are told, with their weights.
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
    // A plan of the front has a criterion of its own, certified for its prior.
    if plan.for_prior().is_some() {
        return Ok(());
    }
    match certified {
        // What l-diversity certifies is l, not an epsilon.
        None if request.method() == Method::LDiversity || options.allow_unbounded => Ok(()),
        None => Err(StudyError::Unbounded),
        Some(epsilon) if epsilon <= options.max_epsilon => Ok(()),
        Some(epsilon) => Err(StudyError::ProtectsNobody { epsilon, limit: options.max_epsilon }),
    }
}

impl Design {
    /// Whether a plan made for the tables (the method workload) would usually serve better.
    pub fn recommends_workload(&self) -> bool {
        let nearly_best = self.standing.is_some_and(|standing| standing.percent() <= NEARLY_BEST);
        self.could_be_for_tables && !nearly_best
    }
}
