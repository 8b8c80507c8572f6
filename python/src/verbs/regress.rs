//! Plan and responses -> a regression, corrected for the randomization.

use candor::regress::{self, RegressOptions, Rows};
use candor_analysis::regress::{IgnoringOptions, Questions};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::json;
use crate::counts::Responses;
use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::plan::Plan;
use crate::source::one_input;
use crate::survey::SurveyWords;
use crate::work::run;

/// A fitted model, and what should be known of the responses it is from.
#[pyfunction]
pub fn fit_regression(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    model: &str,
    predict: Option<&Bound<'_, PyList>>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let mut asked = regress_options(&mut options)?;
    if let Some(table) = predict {
        asked.questions.profiles = regress::profiles(one_input(table, None)?).map_err(Failure::from)?;
    }
    let survey = SurveyWords::take(&mut options, None)?.survey(plan.0.schema())?;
    options.finish()?;
    let model = regress::model(&plan.0, model, &asked).map_err(Failure::from)?;
    run(py, progress, |progress| {
        let rows = Rows::read(&plan.0, responses.inputs()?, &model, &survey, progress)?;
        let told = rows.provenance().notes(str::to_owned);
        Ok((json(&regress::regress_with_progress(&rows, &model, &asked, progress)?), told))
    })
}

fn regress_options(options: &mut Options) -> Result<RegressOptions, Failure> {
    let default = RegressOptions::default();
    let (says, only): (Option<String>, Option<String>) =
        (options.take("self_protective")?, options.take("self_protective_if")?);
    if only.is_some() && says.is_none() {
        return Err(parameter("`self_protective_if` goes with `self_protective`"));
    }
    Ok(RegressOptions::default()
        .family(options.chosen()?)
        .method(options.chosen()?)
        .references(options.or("reference", default.references)?)
        .standardize(options.or("standardize", default.standardize)?)
        .confidence(options.or("confidence", default.confidence)?)
        .show_naive(options.or("show_uncorrected", default.show_naive)?)
        .ignoring(says.map(|says| IgnoringOptions::new(says).only(only)))
        .missing(options.chosen()?.unwrap_or(default.missing))
        .condition(options.take::<String>("where")?)
        .by(options.or("by", default.by)?)
        .df(options.chosen()?.unwrap_or(default.df))
        .questions(Questions::default().contrasts(options.or("contrast", Vec::new())?)))
}
