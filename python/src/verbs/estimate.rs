//! Plan and responses, or counts -> tables with intervals, and what else can be told of them.

use std::sync::Arc;

use candor::StudyError;
use candor::estimate::{self as study, EstimateOptions, Estimates};
use candor::rows::rows;
use candor_analysis::table_list::TableList;
use candor_runtime::progress::ProgressSink;
use candor_tables::estimates::estimate_columns;
use pyo3::prelude::*;

use super::json;
use crate::counts::{Responses, notes};
use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::plan::Plan;
use crate::survey::{AskedWords, SurveyWords};
use crate::work::run;

/// Responses, earlier ones if they are compared with such, and the plan of the earlier ones.
pub(super) struct Waves {
    pub(super) responses: Responses,
    pub(super) before: Option<Responses>,
    pub(super) other: Arc<candor_base::plan::Plan>,
}

impl Waves {
    pub(super) fn given(
        plan: &Plan,
        given: &Bound<'_, PyAny>,
        against: Option<Bound<'_, PyAny>>,
        against_plan: Option<Py<Plan>>,
        options: &mut Options,
    ) -> PyResult<Waves> {
        if against.is_none() && against_plan.is_some() {
            return Err(parameter("`baseline_plan` goes with `baseline`").into());
        }
        let unmarked = options.or("unmarked", false)?;
        let responses = Responses::given(given, options)?.vouched(unmarked);
        let before = against.map(|given| Responses::given(&given, options)).transpose()?;
        let before = before.map(|before| before.vouched(unmarked));
        let other = against_plan.map_or_else(|| plan.0.clone(), |plan| plan.get().0.clone());
        Ok(Waves { responses, before, other })
    }
}

/// What is asked for, as it is written.
struct Wave {
    asked: AskedWords,
    survey: SurveyWords,
    options: EstimateOptions,
}

impl Wave {
    fn take(options: &mut Options) -> Result<Wave, Failure> {
        let default = EstimateOptions::default();
        let how = EstimateOptions::default()
            .method(options.choice(default.method)?)
            .target(options.choice(default.target)?)
            .interval(options.choice(default.interval)?)
            .confidence(options.or("confidence", default.confidence)?)
            .covariance(options.or("covariance", default.covariance)?)
            .standard(options.choice(default.standard)?);
        how.check()?;
        Ok(Wave { asked: AskedWords::take(options)?, survey: SurveyWords::take(options, Some("where"))?, options: how })
    }

    /// What responses tell of it, and what should be known of them.
    fn of(
        &self,
        plan: &candor_base::plan::Plan,
        responses: Responses,
        progress: ProgressSink<'_>,
    ) -> Result<(Estimates, Vec<String>), Failure> {
        let plain = self.asked.tables.is_none() && self.asked.is_plain() && self.survey.is_plain();
        if let (Responses::Counted(counts), true) = (&responses, plain) {
            // All that were counted.
            return Ok((study::estimate_with_progress(plan, counts, &self.options, progress)?, notes(counts)));
        }
        let schema = plan.schema();
        if self.survey.survey(schema)?.has_design() {
            self.options.check_design()?;
        }
        let (asked, wanted) = self.asked.read(schema)?;
        let lists = asked.counted().lists().iter().cloned().chain(wanted.tables()).collect();
        let tables =
            TableList::new(lists, schema).map_err(|error| StudyError::Tables { parameter: "tables", error })?;
        let counts = self.survey.counts(plan, responses, &tables, self.options.needs_sets(), progress)?;
        let how = &self.options;
        let found = study::estimate_query_with_progress(plan, &counts, &asked, &wanted, how, progress)?;
        Ok((found, notes(&counts)))
    }
}

/// Estimates tables; gives them, the columns that a file of them has, and what should be known before believing them.
/// With `against`, also how they differ from earlier responses, which may be to another plan.
#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    against: Option<Bound<'_, PyAny>>,
    against_plan: Option<Py<Plan>>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, String, Vec<String>)> {
    let mut options = Options::read(options)?;
    let Waves { responses, before, other } = Waves::given(plan, given, against, against_plan, &mut options)?;
    let wave = Wave::take(&mut options)?;
    options.finish()?;
    if before.is_some() && wave.asked.compares() {
        return Err(parameter("`compare_groups` cannot be used with `baseline`").into());
    }
    run(py, progress, |progress| {
        let (mut now, mut told) = wave.of(&plan.0, responses, progress)?;
        if let Some(before) = before {
            let (before, more) = wave.of(&other, before, progress)?;
            now.against(&before)?;
            told.extend(more);
            told.push(ANEW.to_owned());
        }
        now.check_found()?;
        told.extend(now.cautions());
        let names: Vec<String> = plan.0.schema().attributes().iter().map(|one| one.name().to_owned()).collect();
        Ok((json(&now), json(&estimate_columns(&rows(&now), &names)), told))
    })
}

/// What a comparison with earlier responses cannot see.
pub(super) const ANEW: &str = "note: the two are compared as answers given anew; people whose clients repeat a stored \
                               response show no change, however much has changed";
