//! Schema and request -> plan.

use candor::StudyError;
use candor::combine::{CombineOptions, combine};
use candor::design::{DesignOptions, design_with_progress};
use candor::information::LearningLimit;
use candor_design::combine::part;
use candor_design::cross::crossed;
use candor_design::request::RequestError;
use candor_design::{Method, Request};
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::{Map, Value, json};

use super::prior;
use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::plan::{Plan, Schema};
use crate::source::anticipated;
use crate::work::run;

/// Makes a plan; gives it, and what there is to know of it. `counted_in` is a table to count a prior in, `shares` one of what is anticipated.
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
    let method = match method {
        Some(name) => Method::of_name(name).map_err(Failure::from)?,
        None => Method::by_default(&options.names().filter(|name| !NOT_OF_METHODS.contains(name)).collect::<Vec<_>>()),
    };
    let mut note = None;
    let only: Option<Vec<String>> = options.take("only")?;
    let schema = match &only {
        Some(names) => part(&schema.0, names).map_err(|error| parameter(format!("`only`: {error}")))?,
        None => (*schema.0).clone(),
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
    let limit = LearningLimit::named(options.take::<Vec<f64>>("rho")?.as_deref(), options.take("beta")?)
        .map_err(Failure::from)?;
    if let Some(limit) = limit {
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
    let asked = CombineOptions { max_epsilon: options.or("max_epsilon", default.max_epsilon)? };
    options.finish()?;
    let plans: Vec<_> = plans.iter().map(|plan| (*plan.0).clone()).collect();
    let combined = combine(&plans, asked).map_err(Failure::from)?;
    let described = super::json(&combined);
    Ok((Plan::of(combined.plan), described))
}

/// What every method takes.
const NOT_OF_METHODS: [&str; 4] = ["tables", "respondents", "max_epsilon", "allow_unbounded"];

/// The cells of a matrix in a file of CSV.
#[pyfunction]
pub fn matrix_cells(path: std::path::PathBuf) -> PyResult<Vec<Vec<String>>> {
    candor_tables::input::cells(&path).map_err(|error| Failure::from(error).into())
}

/// The methods, with what each is and its parameters.
#[pyfunction]
pub fn methods() -> Vec<(&'static str, String, &'static [&'static str])> {
    Method::ALL.iter().map(|method| (method.name(), method.about(), method.parameters())).collect()
}

/// What is asked of the method, and what is to be told of the plan. Tables and respondents are of both.
fn asked(method: Method, mut options: Options) -> Result<(Request, DesignOptions), Failure> {
    let default = DesignOptions::default();
    let (max_epsilon, allow_unbounded) =
        (options.or("max_epsilon", default.max_epsilon)?, options.or("allow_unbounded", default.allow_unbounded)?);
    let mut parameters = options.rest();
    let of_both = ["tables", "respondents"].map(|name| {
        let given = parameters.get(name).cloned();
        parameters.retain(|key, _| key != name || method.parameters().contains(&name));
        given.map(|value| (name.to_owned(), value))
    });
    let mut of_both = Options::of(of_both.into_iter().flatten().collect::<Map<String, Value>>());
    let told = DesignOptions {
        max_epsilon,
        allow_unbounded,
        tables: of_both.take("tables")?,
        respondents: of_both.or("respondents", default.respondents)?,
        shares: None,
    };
    Ok((Request::new(method, parameters).map_err(needed)?, told))
}

/// The parser's words for what a method cannot do without.
fn needed(error: RequestError) -> Failure {
    let missing = match &error {
        RequestError::Value(message) => message.strip_prefix("missing field ").map(str::to_owned),
        _ => None,
    };
    match missing {
        Some(name) => parameter(format!("this method needs {name}")),
        None => error.into(),
    }
}
