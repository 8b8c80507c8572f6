//! One attribute: every trade-off of privacy and utility, and a better plan at equal privacy.

use candor::StudyError;
use candor::pareto::{FrontOptions, front};
use candor::refine::{RefineOptions, refine};
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
    let prior = prior::take(&mut options, counted_in.as_ref(), None)?.ok_or_else(prior::needed)?;
    let asked = asked(&mut options)?;
    options.finish()?;
    let left_out = prior.left_out();
    let note = format!("categories with share 0, which never occur, are left out: {left_out}");
    let notes = if left_out > 0 { vec![note] } else { Vec::new() };
    let fronts = run(py, progress, |progress| Ok(front(prior, &asked, progress)?))?;
    Ok((json(&fronts), fronts.csv(), fronts.matrices(), notes))
}

fn asked(options: &mut Options) -> Result<FrontOptions, Failure> {
    let mut asked = FrontOptions::default();
    asked.respondents = options.or("respondents", asked.respondents)?;
    asked.posterior_bound = options.or("posterior_bound", asked.posterior_bound)?;
    asked.points = options.or("points", asked.points)?;
    asked.privacy = options.take("map_privacy")?;
    asked.method = options.choice(asked.method)?;
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
    let (prior, caution) =
        match (prior::for_plan(&mut options, counted_in.as_ref(), Some(attribute))?, plan.0.for_prior()) {
            (Some(known), _) => known,
            (None, Some(stated)) => {
                (Prior::stated_as(&stated.prior).map_err(|error| Failure::from(StudyError::from(error)))?, None)
            }
            (None, None) => return Err(prior::needed().into()),
        };
    let default = RefineOptions::default();
    let asked = RefineOptions {
        posterior_bound: options.take("posterior_bound")?,
        allow_unbounded: options.or("allow_unbounded", default.allow_unbounded)?,
        respondents: options.or("respondents", default.respondents)?,
    };
    options.finish()?;
    let refined = run(py, None, |_| Ok(refine(&plan.0, prior, &asked)?))?;
    let described = json(&refined);
    Ok((Plan::of(refined.plan), described, caution))
}
