//! Plan and responses -> differences of groups or waves, each with its test.

use candor::counts::Counts;
use candor::differences::{DifferenceQuery, DifferenceQueryText, WaveInput, differences, wave_differences};
use candor::estimate::EstimateOptions;
use candor_runtime::progress::ProgressSink;
use pyo3::prelude::*;

use super::estimate::{ANEW, Waves};
use super::json;
use crate::counts::{Responses, notes};
use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::plan::Plan;
use crate::survey::SurveyWords;
use crate::work::run;

/// What is tested, and of whom, as it is written.
struct Asked {
    words: DifferenceQueryText,
    survey: SurveyWords,
    confidence: f64,
}

impl Asked {
    fn take(options: &mut Options) -> Result<Asked, Failure> {
        let words = DifferenceQueryText {
            tables: options.take("tables")?,
            mean: options.or("mean", String::new())?,
            values: options.or("scores", String::new())?,
            without_missing: options.or("complete_cases", false)?,
            compare: options.take("compare_groups")?,
        };
        let survey = SurveyWords::take(options, Some("where"))?;
        Ok(Asked { words, survey, confidence: options.or("confidence", EstimateOptions::default().confidence)? })
    }

    /// What is tested of a plan, and its counts.
    fn counted(
        &self,
        plan: &candor_base::plan::Plan,
        responses: Responses,
        progress: ProgressSink<'_>,
    ) -> Result<(DifferenceQuery, Counts), Failure> {
        let asked = DifferenceQuery::parse(plan.schema(), &self.words)?;
        let counts = self.survey.counts(plan, responses, &asked.tables(plan.schema())?, false, progress)?;
        Ok((asked, counts))
    }
}

/// Whether groups of an attribute, or with `against` two waves, have different shares or means; and what should be
/// known of the responses.
#[pyfunction]
pub fn test_differences(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    against: Option<Bound<'_, PyAny>>,
    against_plan: Option<Py<Plan>>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let mut options = Options::read(options)?;
    let Waves { responses, before, other } = Waves::given(plan, given, against, against_plan, &mut options)?;
    let asked = Asked::take(&mut options)?;
    options.finish()?;
    if before.is_some() == asked.words.compare.is_some() {
        return Err(
            parameter("either `compare_groups`, the groups of an attribute, or `baseline`, earlier responses").into()
        );
    }
    run(py, progress, |progress| {
        let (own, counts) = asked.counted(&plan.0, responses, progress)?;
        let mut told = notes(&counts);
        let Some(before) = before else {
            return Ok((json(&differences(&plan.0, &counts, &own, asked.confidence)?), told));
        };
        let (earlier, earlier_counts) = asked.counted(&other, before, progress)?;
        told.extend(notes(&earlier_counts));
        told.push(ANEW.to_owned());
        let now = WaveInput { plan: &plan.0, counts: &counts, asked: &own };
        let then = WaveInput { plan: &other, counts: &earlier_counts, asked: &earlier };
        Ok((json(&wave_differences(now, then, asked.confidence)?), told))
    })
}
