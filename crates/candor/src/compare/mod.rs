//! The methods side by side: every one at the same record epsilon, by the errors to expect; or, for one attribute, at
//! the same variance.

mod told;
#[cfg(feature = "plot")]
mod figure;
mod variance;

use told::{told, what_happens};
pub use variance::{VarianceComparison, compare_at_variance};

use std::time::Duration;

use candor_analysis::association::{Limits, Measure, cluster, counted, pairs};
use candor_analysis::estimate::{ConstrainedErrors, EstimateError, SimulationError, Target};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::count_categories;
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_design::compare::{Alone, Candidate, CandidatePlan, ComparisonTarget, NotApplicable, Simulation};
use candor_design::compare::{EQUAL, alone, compare_with_progress, recommended, simulated_errors};
use candor_design::expectation::{ErrorScenarios, expectations};
use candor_design::predict::predicted_error;
use candor_design::{DEFAULT_RESPONDENTS, Method, Request};
use candor_runtime::progress::{ProgressSink, Stopped};
use serde::Serialize;

use crate::design::MAX_EPSILON;
use crate::error::{StudyError, check_respondents};
use crate::shares::Shares;
use crate::verdict::{self, Verdict, precision};

/// With a larger standard error of a share, an interval holds all that is possible.
const USELESS: f64 = 0.25;

/// For what methods are compared.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompareOptions<'a> {
    /// For how many respondents errors are told; 10,000, or the records of the simulation, if `None`.
    pub respondents: Option<f64>,
    /// The tables whose error decides, such as `pairs` or `a,b;c`; `pairs` if `None`, or `marginals` where there is one
    /// attribute.
    pub tables: Option<String>,
    /// Attributes that clusters keep together, by name; found in the records of the simulation if `None`.
    pub clusters: Option<Vec<Vec<String>>>,
    /// How many seconds each method may search, and as many its errors be predicted.
    pub time_limit: f64,
    /// True records to be randomized under every plan, so that estimates can be compared with the truth.
    pub simulate: Option<Simulate<'a>>,
    /// What is anticipated of people: the best method is then the one with the least error of the tables for these.
    /// Designs do not change.
    pub shares: Option<Shares>,
}

impl<'a> CompareOptions<'a> {
    options! {
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
    /// The codes, one column per attribute of the schema.
    pub truths: &'a [Vec<u16>],
    /// How often they are randomized.
    pub repeats: u64,
    /// What makes it reproducible.
    pub seed: u64,
}

/// Every method at the same record epsilon.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MethodComparison {
    /// Whether the recommended method will do for the tables, by the margins of error to expect.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The record epsilon, certified and the same for every method.
    pub epsilon: f64,
    /// For how many respondents errors are told.
    pub respondents: f64,
    /// The tables whose error decides.
    pub tables: String,
    /// Each method.
    pub methods: Vec<ComparedMethod>,
    /// The one with the least error, as anticipated if something is; `None` if none can answer.
    pub recommended: Option<&'static str>,
    /// How near the recommended one is to the lower bound of the tables' error, where that is known.
    pub optimality: Option<Verdict>,
    /// What the other randomized attributes cost each of them under the recommended method; none if there is but one.
    pub attributes: Vec<ComparedAttribute>,
    /// What the lists of tables are called whose errors are shown: one-way, two-way and, if they are others, those
    /// asked for. Not in JSON.
    #[serde(skip)]
    pub lists: Vec<String>,
    /// The clusters of several attributes, by name. Not in JSON: they are in the request for them.
    #[serde(skip)]
    pub together: Vec<Vec<String>>,
    /// How many records were simulated. Not in JSON.
    #[serde(skip)]
    pub simulated: Option<usize>,
}

/// The tables asked for that have one attribute in them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComparedAttribute {
    /// The attribute.
    pub attribute: String,
    /// The root mean square standard error over all cells of its tables, by the recommended method.
    pub error: f64,
    /// The same if no other attribute were randomized, by the best method for that.
    pub alone: f64,
}

/// One method of a comparison.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ComparedMethod {
    /// What it is called here.
    pub method: &'static str,
    /// What is certified; `None` if it has no epsilon, or was left out.
    pub epsilon: Option<f64>,
    /// The root mean square standard error over all cells of all one-way tables; `None` where one is not identifiable.
    pub one_way: Option<f64>,
    /// The same for two-way tables.
    pub two_way: Option<f64>,
    /// The same for the tables asked for.
    pub error: Option<f64>,
    /// At most the same for shares within the groups of all attributes of a table but its last.
    pub conditional_error: Option<f64>,
    /// The same if the truth is as anticipated; `None` if nothing is, or it is not worked out.
    pub anticipated_error: Option<f64>,
    /// The root mean square error of constrained estimates of the tables asked for, if the truth is as anticipated, or
    /// else uniform; `None` if it is not worked out.
    pub constrained_error: Option<f64>,
    /// The largest standard error of any cell of the tables asked for, whatever the truth; `None` if it is not worked
    /// out.
    pub worst_error: Option<f64>,
    /// The squared error of the tables asked for, over a lower bound for all methods of this epsilon (delta 0) with
    /// unbiased estimates, for a uniform population or in their worst case.
    pub times_the_bound: Option<f64>,
    /// Whether the tables asked for can be estimated; `None` if it was left out.
    pub identifiable: Option<bool>,
    /// How many columns a response has.
    pub columns: Option<usize>,
    /// How many categories it names.
    pub categories: Option<usize>,
    /// How many bits it is worth.
    pub bits: Option<f64>,
    /// The largest conditional epsilon of any attribute.
    pub conditional_epsilon: Option<f64>,
    /// What a respondent is told, in one sentence.
    pub told: Option<String>,
    /// What is to be asked of a design for this plan.
    pub request: Option<Request>,
    /// What is to be typed for it: for who has a command to say.
    pub command: Option<String>,
    /// The plan's fingerprint.
    pub fingerprint: Option<String>,
    /// Whether the search for it ended because its time was up.
    pub out_of_time: Option<bool>,
    /// Whether whoever watched ended the search for it.
    pub interrupted: Option<bool>,
    /// Why it was left out.
    pub reason: Option<String>,
    /// For each list of tables, what was predicted and what came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulation: Option<Vec<SimulatedError>>,
    /// The plan, if there is one. Not in JSON.
    #[serde(skip)]
    pub plan: Option<Plan>,
    /// What happens to a respondent's answers, in a few words. Not in JSON: see `told`.
    #[serde(skip)]
    pub happens: Option<String>,
    /// The errors by list of tables. Not in JSON.
    #[serde(skip)]
    pub errors: Vec<Option<f64>>,
    /// Whether it was left out because it takes too long. Not in JSON.
    #[serde(skip)]
    pub takes_long: bool,
}

/// Errors of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SimulatedError {
    /// What the tables are called.
    pub tables: String,
    /// The error to expect of this very table, if the truth were uniform.
    pub predicted: Option<f64>,
    /// The error that came out.
    pub simulated: Option<f64>,
}

/// Tables whose errors are told together.
struct List {
    name: String,
    tables: TableList,
    /// Their predicted error.
    error: fn(&CandidatePlan) -> Option<f64>,
}

/// Every method that applies to a schema, at the same certified record epsilon. `progress` is told the methods.
///
/// # Errors
/// If epsilon is beyond what protects anybody, tables or clusters are none of the schema's, or whoever watches ends it.
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
    // A limit beyond the clock's range is none.
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

/// The attributes to be randomized together: as asked, or as the records have them.
fn clusters_asked(schema: &Schema, options: &CompareOptions<'_>) -> Result<Option<Vec<Vec<usize>>>, StudyError> {
    match (&options.clusters, options.simulate) {
        (Some(names), _) => positions(schema, names).map(Some),
        (None, Some(simulate)) => Ok(Some(clusters_in(schema, simulate.truths))),
        (None, None) => Ok(None),
    }
}

/// The tables that errors are told of: those of one attribute, of two, and those asked for.
fn lists(schema: &Schema, asked: &str, tables: &TableList) -> Vec<List> {
    let list = |name: &str, tables, error| List { name: name.to_owned(), tables, error };
    let mut lists = vec![list("one-way", TableList::marginals(schema), |made| made.one_way)];
    lists.extend(TableList::parse("pairs", schema).ok().map(|pairs| list("two-way", pairs, |made| made.two_way)));
    if lists.iter().all(|list| list.tables != *tables) {
        lists.push(list(asked, tables.clone(), |made| made.asked));
    }
    lists
}

/// Whether the recommended method will do, and how it stands to the lower bound.
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

/// Refuses an epsilon that methods cannot be compared at.
pub(crate) fn check_epsilon(epsilon: f64) -> Result<(), StudyError> {
    let range = "it is a number above 0 and up to 50: beyond, a plan protects nobody";
    match epsilon > 0.0 && epsilon <= MAX_EPSILON {
        true => Ok(()),
        false => Err(StudyError::Parameter { name: "epsilon", value: epsilon, range }),
    }
}

fn check(epsilon: f64, options: &CompareOptions<'_>) -> Result<(), StudyError> {
    check_epsilon(epsilon)?;
    if options.simulate.is_some_and(|simulate| simulate.repeats == 0) {
        return Err(StudyError::Needs("`repeats` is a whole number, 1 or more"));
    }
    options.respondents.map_or(Ok(()), check_respondents)
}

/// The errors of the tables asked for if the truth is not uniform, for each candidate that has a plan that can answer.
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

/// The root mean square error to expect of constrained estimates of the tables asked for; `None` if it is not worked
/// out.
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

/// The candidate with the least error as anticipated, among those that have an epsilon; of equal ones the simplest.
fn best_as_anticipated<'a>(candidates: &'a [Candidate], others: &[Option<ErrorScenarios>]) -> Option<&'a Candidate> {
    let error = |(candidate, other): (&'a Candidate, &Option<ErrorScenarios>)| {
        candidate.made.as_ref().ok()?.plan.guarantee().epsilon().finite()?;
        Some((candidate, other.as_ref()?.anticipated?))
    };
    let known: Vec<(&Candidate, f64)> = candidates.iter().zip(others).filter_map(error).collect();
    let least = known.iter().map(|(_, error)| *error).min_by(f64::total_cmp);
    let best = least.and_then(|least| known.iter().find(|(_, error)| *error <= least * (1.0 + EQUAL)));
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

/// Predicted and simulated errors of the very table, by list.
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

/// The clusters that the true records make, within the default limits.
fn clusters_in(schema: &Schema, truths: &[Vec<u16>]) -> Vec<Vec<usize>> {
    let attributes = schema.attributes();
    let sizes: Vec<usize> = attributes.iter().map(|attribute| attribute.categories().len()).collect();
    let columns: Vec<&[u16]> = truths.iter().map(Vec::as_slice).collect();
    let pairs = pairs(schema);
    let tables: Vec<Vec<usize>> = pairs.iter().map(|pair| pair.to_vec()).collect();
    let counts = count_categories(&sizes, &columns, &tables);
    let suited = |[a, b]: [usize; 2]| Measure::suited(&attributes[a], &attributes[b]);
    let dependences = counted(schema, pairs.into_iter().zip(&counts), suited);
    let private: Vec<(usize, usize)> = schema.randomized().into_iter().map(|a| (a, sizes[a])).collect();
    cluster(&private, &dependences, Limits::default()).clusters
}

/// Clusters by position in the schema.
fn positions(schema: &Schema, clusters: &[Vec<String>]) -> Result<Vec<Vec<usize>>, StudyError> {
    let wrong = |error| StudyError::Refused(format!("`clusters`: {error}"));
    let position = |name: &String| schema.position(name).map_err(wrong);
    clusters.iter().map(|names| names.iter().map(position).collect()).collect()
}

impl ComparedMethod {
    /// The error that decides: of the tables asked for, as anticipated if something is.
    pub fn told_error(&self) -> Option<f64> {
        self.anticipated_error.or(self.error)
    }

    /// The method that is asked for.
    pub fn asks(&self) -> Option<Method> {
        self.request.as_ref().map(Request::method)
    }
}

impl MethodComparison {
    /// The method that is recommended.
    pub fn best(&self) -> Option<&ComparedMethod> {
        self.methods.iter().find(|method| Some(method.method) == self.recommended)
    }

    /// How many times as many respondents independent randomization would take as the best method; `None` if that is
    /// the best itself.
    pub fn times_as_many_respondents(&self) -> Option<f64> {
        let best = self.best().filter(|best| best.asks() != Some(Method::Independent))?;
        let alone = self.methods.iter().find(|method| method.asks() == Some(Method::Independent))?;
        Some((alone.told_error()? / best.told_error()?).powi(2))
    }

    /// Whether even the best error is so large that it tells nothing.
    pub fn tells_nothing(&self) -> bool {
        self.best().and_then(ComparedMethod::told_error).is_some_and(|error| error > USELESS)
    }
}
