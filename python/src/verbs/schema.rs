//! Tables -> schemas, and what does not fit them.

use std::sync::Arc;

use candor::schema::{check, infer};
use candor_tables::infer::{Bins, FixedCategories, InferOptions};
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::Deserialize;

use super::json;
use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::plan::Schema;
use crate::source::{inputs, missing, one_input};
use crate::work::run;

/// A column whose categories its frame declares.
#[derive(Deserialize)]
struct Declared {
    name: String,
    categories: Vec<String>,
    ordinal: bool,
}

impl From<Declared> for FixedCategories {
    fn from(Declared { name, categories, ordinal }: Declared) -> FixedCategories {
        FixedCategories { name, categories, ordinal }
    }
}

/// Describes the columns of a table: a schema, what it is like, and what should be known of it.
#[pyfunction]
pub fn infer_schema(
    py: Python<'_>,
    given: &Bound<'_, PyList>,
    options: &str,
) -> PyResult<(Schema, String, Vec<String>)> {
    let mut options = Options::read(options)?;
    let input = one_input(given, options.take("delimiter")?)?.with_missing(missing(&mut options)?);
    let wishes = wishes(&mut options)?;
    options.finish()?;
    let inferred = run(py, None, |progress| Ok(infer(input, &wishes, progress)?))?;
    let described = json(&inferred);
    Ok((Schema(Arc::new(inferred.schema)), described, inferred.notes))
}

fn wishes(options: &mut Options) -> Result<InferOptions, Failure> {
    let mut wishes = InferOptions::default();
    wishes.public = options.or("public", wishes.public)?;
    wishes.drop = options.or("drop", wishes.drop)?;
    wishes.max_categories = options.or("max_categories", wishes.max_categories)?;
    wishes.known = options.or("known", Vec::<Declared>::new())?.into_iter().map(FixedCategories::from).collect();
    for text in options.or("bins", Vec::<String>::new())? {
        let parse = |bins: &str| Bins::parse(bins).map_err(|error| parameter(format!("`bins`: {error}")));
        match text.rsplit_once('=') {
            Some((name, bins)) => wishes.bins.push((name.to_owned(), parse(bins)?)),
            None => wishes.bins_elsewhere = Some(parse(&text)?),
        }
    }
    // What is left out, or put into bins, is not described by its frame.
    wishes.known.retain(|known| !wishes.drop.contains(&known.name));
    Ok(wishes)
}

/// Every value of tables that does not fit a schema.
#[pyfunction]
pub fn check_schema(py: Python<'_>, schema: &Schema, given: &Bound<'_, PyList>, options: &str) -> PyResult<String> {
    let mut options = Options::read(options)?;
    let inputs = inputs(given, options.take("delimiter")?)?.with_missing(&missing(&mut options)?);
    options.finish()?;
    run(py, None, |progress| {
        let checked = check(&schema.0, inputs, progress);
        let found = json(&checked);
        match checked.unreadable {
            Some(error) => Err(error.into()),
            None => Ok(found),
        }
    })
}
