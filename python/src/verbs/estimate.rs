//! Plan and responses, or counts -> tables with intervals.

use candor_study::estimate::{self as study, EstimateOptions};
use pyo3::prelude::*;

use super::json;
use crate::counts::{Grouping, Responses, notes};
use crate::options::Options;
use crate::plan::Plan;
use crate::work::run;

/// Estimates tables; gives them, and what should be known before believing them.
#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let default = EstimateOptions::default();
    let asked = EstimateOptions {
        method: options.choice(default.method)?,
        target: options.choice(default.target)?,
        interval: options.choice(default.interval)?,
        confidence: options.or("confidence", default.confidence)?,
        covariance: options.or("covariance", default.covariance)?,
    };
    asked.check().map_err(crate::errors::Failure::from)?;
    let named: Option<String> = options.take("tables")?;
    let grouping = Grouping::take(&plan.0, &mut options, asked.needs_sets())?;
    options.finish()?;
    let estimated = run(py, progress, |watch| {
        let counts = match (responses, &named) {
            // All that were counted.
            (Responses::Counted(counts), None) => counts.as_ref().clone(),
            (responses, named) => {
                let tables = crate::options::list(named.as_deref().unwrap_or("marginals"), plan.0.schema(), "tables")?;
                responses.counts(&plan.0, &tables, grouping.options(), watch)?
            }
        };
        let estimates = study::estimate(&plan.0, &counts, &asked)?;
        let mut told = notes(&counts);
        told.extend(estimates.cautions());
        Ok((json(&estimates), told))
    })?;
    Ok(estimated)
}
