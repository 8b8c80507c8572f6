//! Plan and responses -> differences of groups or waves, each with its test.

use candor::counts::Counts;
use candor::differences::{DifferenceWords, DifferencesAsked, Wave, differences, differences_of_waves};
use candor::estimate::EstimateOptions;
use candor_analysis::watch::Watch;
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
    words: DifferenceWords,
    survey: SurveyWords,
    confidence: f64,
}

impl Asked {
    fn take(options: &mut Options) -> Result<Asked, Failure> {
        let words = DifferenceWords {
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
        watch: Watch<'_>,
    ) -> Result<(DifferencesAsked, Counts), Failure> {
        let asked = DifferencesAsked::parse(plan.schema(), &self.words)?;
        let counts = self.survey.counts(plan, responses, &asked.tables(plan.schema())?, false, watch)?;
        Ok((asked, counts))
    }
}

/// Whether groups of an attribute, or with `against` two waves, have different shares or means; and what should be known of the responses.
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
    run(py, progress, |watch| {
        let (own, counts) = asked.counted(&plan.0, responses, watch)?;
        let mut told = notes(&counts);
        let Some(before) = before else {
            return Ok((json(&differences(&plan.0, &counts, &own, asked.confidence)?), told));
        };
        let (earlier, earlier_counts) = asked.counted(&other, before, watch)?;
        told.extend(notes(&earlier_counts));
        told.push(ANEW.to_owned());
        let now = Wave { plan: &plan.0, counts: &counts, asked: &own };
        let then = Wave { plan: &other, counts: &earlier_counts, asked: &earlier };
        Ok((json(&differences_of_waves(now, then, asked.confidence)?), told))
    })
}
