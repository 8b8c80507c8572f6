//! One attribute: every trade-off of privacy and utility, and a better plan at equal privacy.

use candor::StudyError;
use candor::pareto::{FrontOptions, pareto};
use candor::refine::{RefineOptions, refine};
use candor_base::schema::Attribute;
use candor_design::pareto::loss::Loss;
use candor_design::pareto::plan::unrefined;
use candor_design::pareto::prior::Prior;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::{json, prior};
use crate::errors::Failure;
use crate::options::Options;
use crate::plan::Plan;
use crate::work::run;

/// The result as JSON, its rows as CSV, the matrices by file name, and notes.
type Fronts = (String, String, Vec<(String, String)>, Vec<String>);

/// The Pareto front for a prior.
#[pyfunction]
pub fn front_of(
    py: Python<'_>,
    counted_in: Option<Bound<'_, PyList>>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Fronts> {
    let mut options = Options::read(options)?;
    let (prior, asked) = of_front(&mut options, counted_in.as_ref())?;
    options.finish()?;
    let prior = prior.ok_or_else(prior::needed)?;
    let left_out = prior.left_out();
    let note = format!("categories with share 0, which never occur, are left out: {left_out}");
    let notes = if left_out > 0 { vec![note] } else { Vec::new() };
    let fronts = run(py, progress, |progress| Ok(pareto(prior, &asked, progress)?))?;
    Ok((json(&fronts), fronts.csv(), fronts.matrices(), notes))
}

/// What is known, if something is said of it, and what is asked.
pub(super) fn of_front(
    options: &mut Options,
    counted_in: Option<&Bound<'_, PyList>>,
) -> PyResult<(Option<Prior>, FrontOptions)> {
    Ok((prior::take(options, counted_in, None)?, asked(options)?))
}

fn asked(options: &mut Options) -> Result<FrontOptions, Failure> {
    let mut asked = FrontOptions::default();
    asked.respondents = options.or("respondents", asked.respondents)?;
    asked.posterior_bound = options.or("posterior_bound", asked.posterior_bound)?;
    asked.points = options.or("points", asked.points)?;
    asked.privacy = options.take("map_privacy")?;
    asked.method = options.choice(asked.method)?;
    asked.loss = options.take("loss")?;
    asked.outputs = options.take("outputs")?;
    asked.time_limit = options.take("time_limit")?;
    asked.search.polish = options.or("polish", asked.search.polish)?;
    asked.search.rounds = options.or("rounds", asked.search.rounds)?;
    let search = &mut asked.search.parameters;
    search.population = options.or("population", search.population)?;
    search.archive = options.or("archive", search.archive)?;
    search.omega = options.or("omega", search.omega)?;
    search.generations = options.or("generations", search.generations)?;
    search.patience = options.take("patience")?.or(search.patience);
    search.mutation = options.or("mutation", search.mutation)?;
    search.crossover = options.or("crossover", search.crossover)?;
    search.step = options.or("step", search.step)?;
    search.neighbour = options.or("neighbour", search.neighbour)?;
    search.islands = options.or("islands", search.islands)?;
    search.seed = options.or("seed", search.seed)?;
    Ok(asked)
}

/// A better plan of one attribute: it, what it gives, and what is to be said of it.
#[pyfunction]
pub fn refine_plan(
    py: Python<'_>,
    plan: &Plan,
    counted_in: Option<Bound<'_, PyList>>,
    options: &str,
) -> PyResult<(Plan, String, Option<&'static str>)> {
    let mut options = Options::read(options)?;
    let (attribute, _) = unrefined(&plan.0).map_err(|error| Failure::from(StudyError::from(error)))?;
    let attribute = &plan.0.schema().attributes()[attribute];
    let (known, asked) = of_refining(&mut options, counted_in.as_ref().map(|table| (table, attribute)))?;
    let (prior, caution) = match (known, plan.0.for_prior()) {
        (Some(known), _) => known,
        (None, Some(stated)) => {
            (Prior::stated_as(&stated.prior).map_err(|error| Failure::from(StudyError::from(error)))?, None)
        }
        (None, None) => return Err(prior::needed().into()),
    };
    options.finish()?;
    let refined = run(py, None, |_| Ok(refine(&plan.0, prior, &asked)?))?;
    let described = json(&refined);
    Ok((Plan::of(refined.plan), described, caution))
}

/// A prior with what is to be said of it.
type Told = (Prior, Option<&'static str>);

/// What is known, if something is said of it, and what is asked. With a table to count in goes the attribute.
pub(super) fn of_refining(
    options: &mut Options,
    counted_in: Option<(&Bound<'_, PyList>, &Attribute)>,
) -> PyResult<(Option<Told>, RefineOptions)> {
    let known =
        prior::for_plan(options, counted_in.map(|(table, _)| table), counted_in.map(|(_, attribute)| attribute))?;
    let default = RefineOptions::default();
    let asked = RefineOptions::default()
        .posterior_bound(options.take("posterior_bound")?)
        .allow_unbounded(options.or("allow_unbounded", default.allow_unbounded)?)
        .respondents(options.or("respondents", default.respondents)?)
        .loss(options.take::<Loss>("loss")?);
    Ok((known, asked))
}
