//! The methods side by side.

use candor::compare::{CompareOptions, Simulate, compare, compare_at_variance};
use candor::mean::compare_for_mean;
use candor_design::DEFAULT_RESPONDENTS;
use candor_design::compare::Variance;
use candor_tables::true_records::Records;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::json;
use crate::errors::parameter;
use crate::options::Options;
use crate::plan::Schema;
use crate::source::{anticipated, inputs, missing};
use crate::work::run;

/// How often the records of a simulation are randomized, and from which seed, unless it is said: as the command does.
const REPEATS: u64 = 10;
const SEED: u64 = 1;

/// Every method at the same record-level epsilon; with `simulate`, on true records, too, with `shares`, for what is
/// anticipated.
#[pyfunction]
pub fn compare_methods(
    py: Python<'_>,
    schema: &Schema,
    simulate: Option<Bound<'_, PyList>>,
    shares: Option<Bound<'_, PyList>>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut options = Options::read(options)?;
    let words = missing(&mut options)?;
    let shares = shares.map(|table| anticipated(&schema.0, &table)).transpose()?;
    let records = simulate.map(|given| inputs(&given, None)).transpose()?.map(|inputs| inputs.with_missing(&words));
    let epsilon: f64 = options.take("epsilon")?.ok_or_else(|| parameter("this needs `epsilon`"))?;
    let default = CompareOptions::default();
    let (respondents, tables, clusters) =
        (options.take("respondents")?, options.take("tables")?, options.take::<Vec<Vec<String>>>("clusters")?);
    let (repeats, seed) = (options.take("repeats")?, options.take("seed")?);
    let time_limit = options.or("time_limit", default.time_limit)?;
    options.finish()?;
    if records.is_none() && (repeats.is_some() || seed.is_some()) {
        return Err(parameter("`repeats` and `seed` go with `simulate`").into());
    }
    run(py, progress, |progress| {
        let truths = records.map(|inputs| Records { schema: &schema.0, inputs }.read()).transpose()?;
        let (repeats, seed) = (repeats.unwrap_or(REPEATS), seed.unwrap_or(SEED));
        let simulate = truths.as_ref().map(|truths| Simulate { truths, repeats, seed });
        let asked = CompareOptions::default()
            .respondents(respondents)
            .tables(tables)
            .clusters(clusters)
            .time_limit(time_limit)
            .simulate(simulate)
            .shares(shares);
        Ok(json(&compare(&schema.0, epsilon, &asked, progress)?))
    })
}

/// The methods for one attribute of so many categories, at the same added variance.
#[pyfunction]
pub fn compare_variance(categories: usize, options: &str) -> PyResult<String> {
    let mut options = Options::read(options)?;
    let variance = match (options.take("added_variance")?, options.take("l")?) {
        (Some(variance), None) => Variance::Added(variance),
        (None, Some(l)) => Variance::OfL(l),
        _ => return Err(parameter("either `epsilon`, or `added_variance`, or `l`").into()),
    };
    let respondents = options.or("respondents", DEFAULT_RESPONDENTS)?;
    options.finish()?;
    let compared = compare_at_variance(categories, variance, respondents).map_err(crate::errors::Failure::from)?;
    Ok(json(&compared))
}

/// Grids for the mean of an attribute, beside the literature's mechanisms.
#[pyfunction]
pub fn compare_for(schema: &Schema, wanted: &str, options: &str) -> PyResult<String> {
    let mut options = Options::read(options)?;
    let epsilon: f64 = options.take("epsilon")?.ok_or_else(|| parameter("this needs `epsilon`"))?;
    let respondents = options.or("respondents", DEFAULT_RESPONDENTS)?;
    options.finish()?;
    let compared = compare_for_mean(&schema.0, wanted, epsilon, respondents).map_err(crate::errors::Failure::from)?;
    Ok(json(&compared))
}
