//! Compares design methods at the same record-level epsilon or, for one attribute, at the same variance.

mod result;
mod told;
#[cfg(feature = "plot")]
mod figure;
mod variance;

pub use result::{ComparedAttribute, ComparedMethod, MethodComparison, SimulatedError};
use told::{told, what_happens};
pub use variance::{VarianceComparison, compare_at_variance};

use std::time::Duration;

use candor_analysis::association::{Limits, Measure, cluster, counted, pairs};
use candor_analysis::estimate::{ConstrainedErrors, EstimateError, SimulationError, Target};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::count_categories;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_design::DEFAULT_RESPONDENTS;
pub use candor_design::compare::NotApplicable;
use candor_design::compare::{Alone, Candidate, CandidatePlan, ComparisonTarget, Simulation};
use candor_design::compare::{TIE_TOLERANCE, alone, compare_with_progress, recommended, simulated_errors};
use candor_design::expectation::{ErrorScenarios, expectations};
use candor_design::predict::predicted_error;
use candor_runtime::progress::{ProgressSink, Stopped};

use crate::design::MAX_EPSILON;
use crate::error::{StudyError, check_respondents};
use crate::shares::Shares;
use crate::verdict::{self, Verdict, precision};

/// Options of a comparison.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompareOptions<'a> {
    /// Number of respondents; `None` for 10,000, or the records of the simulation.
    pub respondents: Option<f64>,
    /// Tables whose error is compared, such as `pairs` or `a,b;c`; `None` for `pairs`, or `marginals` of a single
    /// attribute.
    pub tables: Option<String>,
    /// Attribute clusters, by name; `None` to find them in the records of the simulation.
    pub clusters: Option<Vec<Vec<String>>>,
    /// Time limit in seconds for the search of each method, and for predicting its errors.
    pub time_limit: f64,
    /// True records to randomize under every plan, to compare predicted with observed errors.
    pub simulate: Option<Simulate<'a>>,
    /// Expected shares: the recommended method then has the least error for these. Designs do not change.
    pub shares: Option<Shares>,
}

impl<'a> CompareOptions<'a> {
    candor_runtime::options! {
        respondents: impl Into<Option<f64>>,
        tables: impl Into<Option<String>>,
        clusters: impl Into<Option<Vec<Vec<String>>>>,
        time_limit: f64,
        simulate: impl Into<Option<Simulate<'a>>>,
        shares: impl Into<Option<Shares>>,
    }
}

impl Default for CompareOptions<'_> {
    fn default() -> Self {
        let time_limit = 10.0;
        CompareOptions { respondents: None, tables: None, clusters: None, time_limit, simulate: None, shares: None }
    }
}

/// A simulation on true records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulate<'a> {
    /// Codes, one column per attribute of the schema.
    pub truths: &'a [Vec<u16>],
    /// Number of randomizations.
    pub repeats: u64,
    /// Seed of the simulation.
    pub seed: u64,
}

/// Tables whose errors are reported together.
struct List {
    name: String,
    tables: TableList,
    /// Predicted error of a plan.
    error: fn(&CandidatePlan) -> Option<f64>,
}

/// Compares every applicable method at the same certified record-level epsilon.
///
/// `progress` receives each finished method.
///
/// # Errors
/// Returns [`StudyError`] if epsilon is too large to protect anybody, if tables or clusters do not fit the schema,
/// or if `progress` cancels.
///
/// ```
/// use candor::prelude::*;
///
/// let schema = Schema::with_sizes(&[2, 3])?;
/// let options = CompareOptions::default().respondents(5_000.0).tables("pairs".to_owned());
/// let found = compare(&schema, 2.0, &options, ProgressSink::none())?;
/// let best = found.best().unwrap();
/// assert!(found.methods.iter().filter_map(|method| method.error).all(|error| error >= best.error.unwrap() * 0.999));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compare(
    schema: &Schema,
    epsilon: f64,
    options: &CompareOptions<'_>,
    progress: ProgressSink<'_>,
) -> Result<MethodComparison, StudyError> {
    check(epsilon, options)?;
    let default = if schema.randomized().len() > 1 { "pairs" } else { "marginals" };
    let asked = options.tables.as_deref().unwrap_or(default);
    let parameter = "tables";
    let tables = TableList::parse(asked, schema).map_err(|error| StudyError::Tables { parameter, error })?;
    let records = options.simulate.and_then(|simulate| simulate.truths.first()).map_or(0, Vec::len);
    let default = if records > 0 { records as f64 } else { DEFAULT_RESPONDENTS };
    let respondents = options.respondents.unwrap_or(default);
    let clusters = clusters_asked(schema, options)?;
    // A time limit beyond the range of the clock is no limit.
    let time_limit = Duration::try_from_secs_f64(options.time_limit).ok();
    let goal = ComparisonTarget { epsilon, respondents, tables: asked, clusters: clusters.as_deref(), time_limit };
    let candidates = compare_with_progress(schema, &goal, progress)?;
    let lists = lists(schema, asked, &tables);
    let simulated = |candidate: &Candidate| match options.simulate {
        Some(simulate) => simulated(candidate, &lists, simulate).map(Some),
        None => Ok(None),
    };
    let truth = |shares: &Shares| tables.lists().iter().map(|table| shares.table(schema, table)).collect();
    let truths: Option<Vec<Vec<f64>>> = options.shares.as_ref().map(truth).transpose()?;
    let others = other_truths(&candidates, &tables, respondents, truths.as_deref());
    let method = |(candidate, other): (&Candidate, &Option<ErrorScenarios>)| {
        let constrained = constrained(candidate, *other, &tables, truths.as_deref(), respondents, progress)?;
        Ok(ComparedMethod {
            constrained_error: constrained,
            ..compared(candidate, *other, &lists, simulated(candidate)?)
        })
    };
    let name = |&attribute: &usize| schema.name(attribute).to_owned();
    let best = match options.shares {
        Some(_) => best_as_anticipated(&candidates, &others),
        None => recommended(&candidates),
    };
    let verdict = best.map_or_else(verdict::none, |best| will_do(best, &candidates, &tables, respondents));
    let attributes = best.map_or(Ok(Vec::new()), |best| alone(schema, &goal, best, progress))?;
    let attribute =
        |one: &Alone| ComparedAttribute { attribute: name(&one.attribute), error: one.among_all, alone: one.alone };
    let several = clusters.iter().flatten().filter(|cluster| cluster.len() > 1);
    Ok(MethodComparison {
        verdict,
        epsilon,
        respondents,
        tables: asked.to_owned(),
        methods: candidates.iter().zip(&others).map(method).collect::<Result<_, StudyError>>()?,
        recommended: best.map(|candidate| candidate.name),
        optimality: best.and_then(|best| best.made.as_ref().ok()?.times_the_bound).map(verdict::optimality),
        attributes: attributes.iter().map(attribute).collect(),
        together: several.map(|cluster| cluster.iter().map(name).collect()).collect(),
        simulated: options.simulate.map(|_| records),
        lists: lists.into_iter().map(|list| list.name).collect(),
    })
}

/// Returns the attribute clusters: as requested, or found in the records.
fn clusters_asked(schema: &Schema, options: &CompareOptions<'_>) -> Result<Option<Vec<Vec<usize>>>, StudyError> {
    match (&options.clusters, options.simulate) {
        (Some(names), _) => positions(schema, names).map(Some),
        (None, Some(simulate)) => Ok(Some(clusters_in(schema, simulate.truths))),
        (None, None) => Ok(None),
    }
}

/// Returns the table lists with reported errors: one-way, two-way, and the requested tables.
fn lists(schema: &Schema, asked: &str, tables: &TableList) -> Vec<List> {
    let list = |name: &str, tables, error| List { name: name.to_owned(), tables, error };
    let mut lists = vec![list("one-way", TableList::marginals(schema), |made| made.one_way)];
    lists.extend(TableList::parse("pairs", schema).ok().map(|pairs| list("two-way", pairs, |made| made.two_way)));
    if lists.iter().all(|list| list.tables != *tables) {
        lists.push(list(asked, tables.clone(), |made| made.asked));
    }
    lists
}

/// Judges whether the recommended method is precise enough, and its optimality gap.
fn will_do(best: &Candidate, candidates: &[Candidate], tables: &TableList, respondents: f64) -> Verdict {
    let Ok(made) = &best.made else { return verdict::none() };
    let mut verdict = precision(&expectations(&made.plan, tables.lists(), respondents), respondents);
    let known = candidates.iter().filter_map(|candidate| candidate.made.as_ref().ok()?.times_the_bound);
    let is_best = known.fold(f64::INFINITY, f64::min) >= made.times_the_bound.unwrap_or(0.0);
    if let Some(times) = made.times_the_bound.filter(|_| is_best) {
        verdict.text += &format!(" Best: {}. {}", best.name, verdict::standing(times));
    }
    verdict
}

/// Checks that methods can be compared at this epsilon.
pub(crate) fn check_epsilon(epsilon: f64) -> Result<(), StudyError> {
    let range = "it must be above 0 and at most 50; a plan with a larger one protects nobody";
    match epsilon > 0.0 && epsilon <= MAX_EPSILON {
        true => Ok(()),
        false => Err(StudyError::Parameter { name: "epsilon", value: epsilon, range }),
    }
}

fn check(epsilon: f64, options: &CompareOptions<'_>) -> Result<(), StudyError> {
    check_epsilon(epsilon)?;
    if options.simulate.is_some_and(|simulate| simulate.repeats == 0) {
        return Err(StudyError::InvalidParameter("`repeats` must be an integer, 1 or more"));
    }
    options.respondents.map_or(Ok(()), check_respondents)
}

/// Computes the errors of the requested tables for the expected shares, for each candidate that can estimate them.
fn other_truths(
    candidates: &[Candidate],
    tables: &TableList,
    respondents: f64,
    truths: Option<&[Vec<f64>]>,
) -> Vec<Option<ErrorScenarios>> {
    let of = |candidate: &Candidate| {
        let made = candidate.made.as_ref().ok().filter(|made| made.asked.is_some())?;
        Some(ErrorScenarios::new(&made.plan, tables.lists(), truths, respondents))
    };
    candidates.iter().map(of).collect()
}

/// Returns the expected root mean square error of constrained estimates; `None` if it cannot be computed.
fn constrained(
    candidate: &Candidate,
    other: Option<ErrorScenarios>,
    tables: &TableList,
    truths: Option<&[Vec<f64>]>,
    respondents: f64,
    progress: ProgressSink<'_>,
) -> Result<Option<f64>, StudyError> {
    let Ok(made) = &candidate.made else { return Ok(None) };
    let unbiased = match truths {
        Some(_) => other.and_then(|other| other.anticipated),
        None => made.asked,
    };
    let Some(unbiased) = unbiased else { return Ok(None) };
    match ConstrainedErrors::expected(&made.plan, tables.lists(), truths, progress) {
        Ok(errors) => Ok(Some(unbiased * errors.over_unbiased(respondents, progress)?)),
        Err(SimulationError::Cancelled(cancelled)) => Err(cancelled.into()),
        Err(_) => Ok(None),
    }
}

/// Returns the candidate with a finite epsilon and the least error for the expected shares; on a tie, the simplest.
fn best_as_anticipated<'a>(candidates: &'a [Candidate], others: &[Option<ErrorScenarios>]) -> Option<&'a Candidate> {
    let error = |(candidate, other): (&'a Candidate, &Option<ErrorScenarios>)| {
        candidate.made.as_ref().ok()?.plan.guarantee().epsilon().finite()?;
        Some((candidate, other.as_ref()?.anticipated?))
    };
    let known: Vec<(&Candidate, f64)> = candidates.iter().zip(others).filter_map(error).collect();
    let least = known.iter().map(|(_, error)| *error).min_by(f64::total_cmp);
    let best = least.and_then(|least| known.iter().find(|(_, error)| *error <= least * (1.0 + TIE_TOLERANCE)));
    best.map_or_else(|| recommended(candidates), |(best, _)| Some(best))
}

fn compared(
    candidate: &Candidate,
    other: Option<ErrorScenarios>,
    lists: &[List],
    simulation: Option<Vec<SimulatedError>>,
) -> ComparedMethod {
    let made = candidate.made.as_ref().ok();
    let plan = made.map(|made| &made.plan);
    let reason = candidate.made.as_ref().err();
    ComparedMethod {
        method: candidate.name,
        epsilon: plan.and_then(|plan| plan.guarantee().epsilon().finite()),
        one_way: made.and_then(|made| made.one_way),
        two_way: made.and_then(|made| made.two_way),
        error: made.and_then(|made| made.asked),
        conditional_error: made.and_then(|made| made.conditional),
        anticipated_error: other.and_then(|other| other.anticipated),
        constrained_error: None,
        worst_error: other.and_then(|other| other.worst),
        times_the_bound: made.and_then(|made| made.times_the_bound),
        identifiable: made.map(|made| made.asked.is_some()),
        columns: made.map(|made| made.answer.columns),
        categories: made.map(|made| made.answer.categories),
        bits: made.map(|made| made.answer.bits),
        conditional_epsilon: plan.and_then(|plan| plan.guarantee().conditional().finite()),
        told: made.map(told),
        request: made.map(|made| made.request.clone()),
        command: None,
        fingerprint: plan.map(|plan| plan.fingerprint().as_str().to_owned()),
        out_of_time: made.map(|made| made.stopped == Some(Stopped::OutOfTime)),
        interrupted: made.map(|made| made.stopped == Some(Stopped::Interrupted)),
        reason: reason.map(ToString::to_string),
        simulation,
        plan: plan.cloned(),
        happens: made.map(what_happens),
        errors: lists.iter().map(|list| made.and_then(list.error)).collect(),
        takes_long: matches!(reason, Some(NotApplicable::TooLarge { .. })),
    }
}

/// Returns the predicted and observed errors for these records, by table list.
fn simulated(candidate: &Candidate, lists: &[List], simulate: Simulate<'_>) -> Result<Vec<SimulatedError>, StudyError> {
    let records = simulate.truths.first().map_or(0, Vec::len);
    let errors = match &candidate.made {
        Ok(made) => {
            let source = Source::from_seed(simulate.seed);
            let simulation = Simulation { truths: simulate.truths, repeats: simulate.repeats, source: &source };
            let only: Vec<&TableList> = lists.iter().map(|list| &list.tables).collect();
            let found = simulated_errors(&made.plan, &only, &simulation);
            let found = found.map_err(|error| StudyError::Refused(error.to_string()))?;
            let predicted = |list: &TableList| -> Result<f64, EstimateError> {
                predicted_error(&made.plan, list.lists(), records as f64, Target::Table)
            };
            only.iter().zip(found).map(|(list, found)| predicted(list).ok().zip(found)).collect()
        }
        Err(_) => vec![None; lists.len()],
    };
    let one = |(list, both): (&List, Option<(f64, f64)>)| SimulatedError {
        tables: list.name.clone(),
        predicted: both.map(|both| both.0),
        simulated: both.map(|both| both.1),
    };
    Ok(lists.iter().zip(errors).map(one).collect())
}

/// Finds attribute clusters in true records, with the default limits.
fn clusters_in(schema: &Schema, truths: &[Vec<u16>]) -> Vec<Vec<usize>> {
    let attributes = schema.attributes();
    let sizes: Vec<usize> = attributes.iter().map(|attribute| attribute.categories().len()).collect();
    let columns: Vec<&[u16]> = truths.iter().map(Vec::as_slice).collect();
    let pairs = pairs(schema);
    let tables: Vec<Vec<usize>> = pairs.iter().map(|pair| pair.to_vec()).collect();
    let counts = count_categories(&sizes, &columns, &tables);
    let suited = |[a, b]: [usize; 2]| Measure::suited(&attributes[a], &attributes[b]);
    let dependences = counted(schema, pairs.into_iter().zip(counts.iter().map(Vec::as_slice)), suited);
    let private: Vec<(usize, usize)> = schema.randomized().into_iter().map(|a| (a, sizes[a])).collect();
    cluster(&private, &dependences, Limits::default()).clusters
}

/// Converts clusters from names to positions in the schema.
fn positions(schema: &Schema, clusters: &[Vec<String>]) -> Result<Vec<Vec<usize>>, StudyError> {
    let wrong = |error| StudyError::Refused(format!("`clusters`: {error}"));
    let position = |name: &String| schema.position(name).map_err(wrong);
    clusters.iter().map(|names| names.iter().map(position).collect()).collect()
}
