//! The transition matrix of a plan.

use candor::matrix::{MatrixOptions, matrix};
use pyo3::prelude::*;

use super::json;
use crate::errors::Failure;
use crate::options::Options;
use crate::plan::Plan;

/// The matrix, and the same as CSV.
#[pyfunction]
pub fn matrix_of(plan: &Plan, options: &str) -> PyResult<(String, String)> {
    let mut options = Options::read(options)?;
    let default = MatrixOptions::default();
    let asked = MatrixOptions::default()
        .attribute(options.take("attribute")?)
        .exact(options.or("exact", default.exact)?)
        .misses(options.or("misses", default.misses)?);
    options.finish()?;
    let found = matrix(&plan.0, &asked).map_err(Failure::from)?;
    Ok((json(&found), found.csv()))
}
