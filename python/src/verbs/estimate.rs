//! Plan and responses, or counts -> tables with intervals, and what else can be told of them.

use candor_analysis::table_list::TableList;
use candor_analysis::watch::Watch;
use candor_study::StudyError;
use candor_study::asked::Asked;
use candor_study::estimate::{self as study, EstimateOptions, Estimates};
use candor_study::numbers::NumbersAsked;
use pyo3::prelude::*;

use super::json;
use crate::counts::{Grouping, Responses, notes};
use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::plan::Plan;
use crate::work::run;

/// What is asked for, as it is written.
struct Wave {
    tables: Option<String>,
    without_missing: bool,
    compare: Option<String>,
    mean: String,
    quantile: String,
    values: String,
    grouping: Grouping,
    options: EstimateOptions,
}

impl Wave {
    fn take(options: &mut Options) -> Result<Wave, Failure> {
        let default = EstimateOptions::default();
        let how = EstimateOptions {
            method: options.choice(default.method)?,
            target: options.choice(default.target)?,
            interval: options.choice(default.interval)?,
            confidence: options.or("confidence", default.confidence)?,
            covariance: options.or("covariance", default.covariance)?,
        };
        how.check()?;
        Ok(Wave {
            tables: options.take("tables")?,
            without_missing: options.or("without_missing", false)?,
            compare: options.take("compare")?,
            mean: options.or("mean", String::new())?,
            quantile: options.or("quantile", String::new())?,
            values: options.or("values", String::new())?,
            grouping: Grouping::take(options, how.needs_sets())?,
            options: how,
        })
    }

    /// Whether nothing but whole tables are asked for.
    fn is_plain(&self) -> bool {
        !self.without_missing && self.compare.is_none() && self.mean.is_empty() && self.quantile.is_empty()
    }

    /// What responses tell of it, and what should be known of them.
    fn of(
        &self,
        plan: &candor::plan::Plan,
        responses: Responses,
        watch: Watch<'_>,
    ) -> Result<(Estimates, Vec<String>), Failure> {
        if let (Responses::Counted(counts), None, true) = (&responses, &self.tables, self.is_plain()) {
            // All that were counted.
            return Ok((study::estimate(plan, counts, &self.options)?, notes(counts)));
        }
        let schema = plan.schema();
        let wanted = NumbersAsked::parse(schema, &self.mean, &self.quantile, &self.values)?;
        let list =
            |lists| TableList::of(lists, schema).map_err(|error| StudyError::Tables { parameter: "tables", error });
        let asked = match &self.tables {
            None if !wanted.is_empty() => Asked::tables(list(Vec::new())?),
            tables => {
                let named = tables.as_deref().unwrap_or("marginals");
                Asked::parse(named, schema, self.without_missing, self.compare.as_deref())?
            }
        };
        let tables = list(asked.counted().lists().iter().cloned().chain(wanted.tables()).collect())?;
        let counts = self.grouping.counts(plan, responses, &tables, watch)?;
        Ok((study::estimate_asked(plan, &counts, &asked, &wanted, &self.options)?, notes(&counts)))
    }
}

/// Estimates tables; gives them, and what should be known before believing them. With `against`, also how they differ from earlier
/// responses, which may be to another plan.
#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    against: Option<Bound<'_, PyAny>>,
    against_plan: Option<Py<Plan>>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let before = against.map(|given| Responses::given(&given, &mut options)).transpose()?;
    let wave = Wave::take(&mut options)?;
    options.finish()?;
    if before.is_none() && against_plan.is_some() {
        return Err(parameter("`against_plan` goes with `against`").into());
    }
    if before.is_some() && wave.compare.is_some() {
        return Err(parameter("`compare` does not go with `against`").into());
    }
    let other = against_plan.map_or(plan.0.clone(), |plan| plan.get().0.clone());
    run(py, progress, |watch| {
        let (mut now, mut told) = wave.of(&plan.0, responses, watch)?;
        if let Some(before) = before {
            let (before, more) = wave.of(&other, before, watch)?;
            now.against(&before)?;
            told.extend(more);
            told.push(ANEW.to_owned());
        }
        told.extend(now.cautions());
        Ok((json(&now), told))
    })
}

/// What a comparison with earlier responses cannot see.
const ANEW: &str = "note: the two are compared as answers given anew; people whose clients repeat a stored response show no change, \
                    however much has changed";
