//! Schema and request -> plan.

use std::collections::BTreeMap;

use candor::StudyError;
use candor::combine::{CombineOptions, combine};
use candor::design::{DesignOptions, design_with_progress};
use candor::information::LearningLimit;
use candor_design::combine::part;
use candor_design::cross::{crossed, crossed_with};
use candor_design::request::Field;
use candor_design::{Method, Request};
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::{Map, Value, json};

use super::{front, prior};
use crate::errors::{Failure, parameter};
use crate::options::{Options, python};
use crate::plan::{Plan, Schema};
use crate::source::anticipated;
use crate::work::run;

/// Makes a plan; gives it, and what there is to know of it. `counted_in` is a table to count a prior in, `shares` one
/// of what is anticipated.
#[pyfunction]
pub fn design(
    py: Python<'_>,
    schema: &Schema,
    method: Option<&str>,
    counted_in: Option<Bound<'_, PyList>>,
    shares: Option<Bound<'_, PyList>>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Plan, String)> {
    let mut options = Options::read(options)?;
    let (only, cross_with): (Option<Vec<String>>, Option<String>) =
        (options.take("only")?, options.take("cross_with")?);
    let method = match method {
        Some(name) => name.parse::<Method>().map_err(Failure::from)?,
        None => Method::by_default(&options.names().filter(|name| !NOT_OF_METHODS.contains(name)).collect::<Vec<_>>()),
    };
    let mut note = None;
    let schema = match &only {
        Some(names) => part(&schema.0, names).map_err(|error| parameter(format!("`only`: {error}")))?,
        None => (*schema.0).clone(),
    };
    let schema = match cross_with {
        Some(outcome) => crossed_with(&schema, &outcome).map_err(|error| Failure::from(StudyError::from(error)))?,
        None => schema,
    };
    if method == Method::Front || (method == Method::Matrix && (counted_in.is_some() || options.names_a_prior())) {
        let cross: Option<Vec<String>> = options.peek("cross")?;
        let asked = match &cross {
            Some(names) => crossed(&schema, names).map_err(|error| Failure::from(StudyError::from(error)))?,
            None => schema.clone(),
        };
        let known = match asked.randomized()[..] {
            [attribute] => Some(&asked.attributes()[attribute]),
            _ => None,
        };
        let (prior, caution) = prior::for_plan(&mut options, counted_in.as_ref(), known)?.ok_or_else(prior::needed)?;
        options.put("prior", json!(prior.all_stated()));
        note = caution.map(str::to_owned);
    } else if counted_in.is_some() {
        return Err(parameter("`from_` goes with the methods front and matrix").into());
    }
    if let Some(limit) = limit(&mut options)? {
        let mut parameters = options.rest();
        limit.put(method, &schema, &mut parameters).map_err(Failure::from)?;
        options = Options::of(parameters);
    }
    let (request, mut told) = asked(method, options)?;
    told.shares = shares.map(|table| anticipated(&schema, &table)).transpose()?;
    let mut designed = run(py, progress, |progress| Ok(design_with_progress(&schema, &request, &told, progress)?))?;
    designed.notes.extend(note);
    let described = super::json(&designed);
    Ok((Plan::of(designed.plan), described))
}

/// Plans over disjoint attributes as one; gives it, and what there is to know of it.
#[pyfunction]
pub fn combine_plans(plans: Vec<PyRef<'_, Plan>>, options: &str) -> PyResult<(Plan, String)> {
    let mut options = Options::read(options)?;
    let default = CombineOptions::default();
    let asked = CombineOptions::default().max_epsilon(options.or("max_epsilon", default.max_epsilon)?);
    options.finish()?;
    let plans: Vec<_> = plans.iter().map(|plan| (*plan.0).clone()).collect();
    let combined = combine(&plans, asked).map_err(Failure::from)?;
    let described = super::json(&combined);
    Ok((Plan::of(combined.plan), described))
}

/// A limit of what can be learned, instead of an epsilon.
fn limit(options: &mut Options) -> Result<Option<LearningLimit>, Failure> {
    Ok(LearningLimit::named(options.take::<Vec<f64>>("rho")?.as_deref(), options.take("beta")?)?)
}

/// What every method takes.
const NOT_OF_METHODS: [&str; 4] = ["tables", "respondents", "max_epsilon", "allow_unbounded"];

/// The cells of a matrix in a file of CSV.
#[pyfunction]
pub fn matrix_cells(path: std::path::PathBuf) -> PyResult<Vec<Vec<String>>> {
    candor_tables::input::cells(&path).map_err(|error| Failure::from(error).into())
}

/// A parameter: its name, its type as Python writes it, and whether it must be given.
type Typed = (String, String, bool);

/// The methods, with what each is and its parameters.
#[pyfunction]
pub fn methods() -> Vec<(&'static str, String, Vec<Typed>)> {
    let typed = |field: Field| (field.name.to_owned(), python(&field.kind), field.required);
    Method::ALL
        .iter()
        .map(|method| (method.name(), method.about(), method.fields().into_iter().map(typed).collect()))
        .collect()
}

/// The parameters of verbs that share many: of all designs, of those for a prior, of limits of what can be learned, of
/// fronts, of refining.
#[pyfunction]
pub fn parameters() -> PyResult<BTreeMap<&'static str, BTreeMap<String, String>>> {
    let noted = |take: &dyn Fn(&mut Options) -> PyResult<()>| {
        let mut options = Options::noting();
        take(&mut options).map(|()| options.noted())
    };
    Ok(BTreeMap::from([
        ("design", noted(&|options| Ok(of_all(options).map(drop)?))?),
        ("prior", noted(&|options| prior::for_plan(options, None, None).map(drop))?),
        ("limit", noted(&|options| Ok(limit(options).map(drop)?))?),
        ("pareto", noted(&|options| front::of_front(options, None).map(drop))?),
        ("refine", noted(&|options| front::of_refining(options, None).map(drop))?),
    ]))
}

/// What is asked of the method, and what is to be told of the plan. Tables and respondents are of both.
fn asked(method: Method, options: Options) -> Result<(Request, DesignOptions), Failure> {
    let (of_all_methods, of_method): (Map<String, Value>, Map<String, Value>) =
        options.rest().into_iter().partition(|(name, _)| NOT_OF_METHODS.contains(&name.as_str()));
    let both = of_all_methods.iter().filter(|(name, _)| method.parameters().contains(&name.as_str()));
    let parameters = both.map(|(name, value)| (name.clone(), value.clone())).chain(of_method).collect();
    let told = of_all(&mut Options::of(of_all_methods))?;
    Ok((Request::new(method, parameters)?, told))
}

/// What is asked of every method: [`NOT_OF_METHODS`].
fn of_all(options: &mut Options) -> Result<DesignOptions, Failure> {
    let default = DesignOptions::default();
    Ok(DesignOptions::default()
        .max_epsilon(options.or("max_epsilon", default.max_epsilon)?)
        .allow_unbounded(options.or("allow_unbounded", default.allow_unbounded)?)
        .tables(options.take("tables")?)
        .respondents(options.or("respondents", default.respondents)?))
}
