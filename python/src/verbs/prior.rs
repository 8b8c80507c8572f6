//! What is known of an attribute beforehand.

use candor::StudyError;
use candor::prior::{Stated, column, counted, shares};
use candor_base::schema::Attribute;
use candor_design::pareto::prior::Prior;
use candor_tables::infer::Bins;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::source::one_input;

/// The shape and scale of the gamma distribution unless they are said, as the command has them.
const GAMMA: (f64, f64) = (1.0, 2.0);

/// A prior for a plan, and what is to be said of it. Shares counted in a table are rounded, unless they are to be
/// exact; given ones are kept. `None` if nothing was said.
pub fn for_plan(
    options: &mut Options,
    counted_in: Option<&Bound<'_, PyList>>,
    known: Option<&Attribute>,
) -> PyResult<Option<(Prior, Option<&'static str>)>> {
    let exact = options.or("exact_prior", false)?;
    if exact && counted_in.is_none() {
        return Err(parameter("`exact_prior` is about shares that are counted in a table: `from_`").into());
    }
    let stated = if exact { Stated::Exactly } else { Stated::Rounded };
    let prior = take(options, counted_in, known)?;
    Ok(prior.map(|prior| match counted_in {
        Some(_) => (stated.prior(&prior), Some(stated.caution())),
        None => (prior, None),
    }))
}

/// Takes the parameters of a prior; `counted_in` is a table of true records to count shares in, asked for twice: once
/// to describe its column, once to count. `known` is the attribute, where there is a schema. `None` if nothing was
/// said.
pub fn take(
    options: &mut Options,
    counted_in: Option<&Bound<'_, PyList>>,
    known: Option<&Attribute>,
) -> PyResult<Option<Prior>> {
    let given: Option<Vec<f64>> = options.take("prior")?;
    let (normal, uniform) = (options.take::<usize>("normal_prior")?, options.take::<usize>("uniform_prior")?);
    let gamma: Option<usize> = options.take("gamma_prior")?;
    let (shape, scale): (Option<f64>, Option<f64>) = (options.take("shape")?, options.take("scale")?);
    let (name, bins): (Option<String>, Option<String>) = (options.take("attribute")?, options.take("bins")?);
    let ways = [given.is_some(), normal.is_some(), uniform.is_some(), gamma.is_some(), counted_in.is_some()];
    if ways.iter().filter(|way| **way).count() > 1 {
        return Err(parameter("say one of `prior`, `from_`, `normal_prior`, `gamma_prior` and `uniform_prior`").into());
    }
    if let Some(table) = counted_in {
        return count(name, bins, table, known).map(Some);
    }
    for (given, name) in [(name.is_some(), "attribute"), (bins.is_some(), "bins")] {
        if given {
            return Err(parameter(format!("`{name}` goes with `from_`, the table to count in")).into());
        }
    }
    let prior = match (given, normal, uniform, gamma) {
        (Some(shares), ..) => Prior::new(&shares),
        (_, Some(n), ..) => Prior::normal(n),
        (_, _, Some(n), _) => Prior::uniform(n),
        (.., Some(n)) => Prior::gamma(n, shape.unwrap_or(GAMMA.0), scale.unwrap_or(GAMMA.1)),
        _ => return Ok(None),
    };
    Ok(Some(prior.map_err(|error| Failure::from(StudyError::from(error)))?))
}

/// Counts the categories of a column: those of the attribute, or those that occur.
fn count(
    name: Option<String>,
    bins: Option<String>,
    table: &Bound<'_, PyList>,
    known: Option<&Attribute>,
) -> PyResult<Prior> {
    let attribute = match (known, name) {
        (Some(attribute), name) => {
            if let Some(other) = name.filter(|name| name != attribute.name()) {
                let problem =
                    format!("`attribute`: the schema's attribute is \"{}\", not \"{other}\"", attribute.name());
                return Err(parameter(problem).into());
            }
            attribute.clone()
        }
        (None, Some(name)) => {
            let bins = bins.as_deref().map(Bins::parse).transpose();
            let bins = bins.map_err(|error| parameter(format!("`bins`: {error}")))?;
            column(one_input(table, None)?, &name, bins).map_err(Failure::from)?
        }
        (None, None) => return Err(parameter("`from_` needs `attribute`: which column?").into()),
    };
    let counts = counted(one_input(table, None)?, &attribute).map_err(Failure::from)?;
    Ok(shares(&counts).map_err(Failure::from)?)
}

/// What to say where nothing is known.
pub fn needed() -> Failure {
    parameter(
        "what is known of the attribute? Say `prior`, `from_` and `attribute`, `normal_prior`, `gamma_prior` or \
         `uniform_prior`",
    )
}
