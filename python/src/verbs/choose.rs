//! Which epsilon.

use candor::choose::{ChooseOptions, choose};
use pyo3::prelude::*;

use super::json;
use crate::errors::parameter;
use crate::options::Options;
use crate::plan::Schema;
use crate::work::run;

/// The smallest epsilon that gives the margin wanted, within what a guess may gain.
#[pyfunction]
pub fn choose_epsilon(
    py: Python<'_>,
    schema: &Schema,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut options = Options::read(options)?;
    let default = ChooseOptions::default();
    let asked = ChooseOptions::default()
        .respondents(options.take("respondents")?.ok_or_else(|| parameter("this needs `respondents`"))?)
        .tables(options.take("tables")?)
        .margin(options.or("margin", default.margin)?)
        .max_guess(options.take("max_guess")?);
    options.finish()?;
    run(py, progress, |progress| Ok(json(&choose(&schema.0, &asked, progress)?)))
}
