//! The query that counts responses in a database.

use candor::sql::{Dialect, sql};
use pyo3::prelude::*;

use crate::options::Options;
use crate::plan::Plan;

/// The query.
#[pyfunction]
pub fn sql_query(plan: &Plan, options: &str) -> PyResult<String> {
    let mut options = Options::read(options)?;
    let tables = options.tables(plan.0.schema(), "marginals")?;
    let from = options.or("from", "responses".to_owned())?;
    let dialect = options.choice(Dialect::Duckdb)?;
    let sets = options.choice(dialect.stored_sets())?;
    options.finish()?;
    Ok(sql(&plan.0, &from, &tables, dialect, sets))
}
