//! Surveys without computers: devices and their cards, what interviewers wrote down, and whether people followed their
//! cards.

use candor::StudyError;
use candor::card::cards;
use candor::compliance::{self, ComplianceOptions};
use candor::counts::CountOptions;
use candor::device::{DeviceOptions, devices};
use candor::import::{Columns, check_columns, import, lotteries};
use candor::locale::{Language, OwnTexts};
use candor_tables::output::{Existing, Target};
use candor_tables::responses::Format;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::json;
use crate::counts::{Responses, notes};
use crate::errors::{Failure, parameter};
use crate::options::Options;
use crate::plan::{Plan, Schema};
use crate::source::inputs;
use crate::work::run;

/// The plan of devices, what they are, the page of their cards if it is asked for, in a language and with texts of
/// one's own, and warnings.
#[pyfunction]
pub fn device_plan(
    schema: &Schema,
    card: bool,
    language: Option<&str>,
    texts: Option<&str>,
    options: &str,
) -> PyResult<(Plan, String, Option<String>, Vec<String>)> {
    let mut options = Options::read(options)?;
    let own: Option<String> = options.take("device")?;
    let default = DeviceOptions::default();
    let asked = DeviceOptions::default()
        .epsilon(options.take("epsilon")?)
        .device(own.as_deref())
        .margin(options.or("margin", default.margin)?)
        .confidence(options.or("confidence", default.confidence)?)
        .mirrored(options.or("compliance_check", default.mirrored)?);
    options.finish()?;
    let wrong = |error: StudyError| Failure::from(error);
    let found = devices(&schema.0, &asked).map_err(wrong)?;
    let own = texts.map(OwnTexts::parse).transpose().map_err(wrong)?;
    let language = Language::new(language, own.as_ref(), &schema.0).map_err(wrong)?;
    let page = card.then(|| cards(&found.plan, &found.devices, &language)).transpose().map_err(wrong)?;
    let described = json(&found);
    Ok((Plan::of(found.plan), described, page, found.warnings))
}

/// Writes what interviewers wrote down as responses; gives what was done.
#[pyfunction]
pub fn enter_answers(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyList>,
    output: &str,
    options: &str,
) -> PyResult<String> {
    let mut options = Options::read(options)?;
    let tables = inputs(given, options.take("delimiter")?)?;
    let columns = Columns {
        cards: options.or("cards", Vec::new())?,
        card_labels: options.or("card_labels", Vec::new())?,
        answers: options.or("answer_columns", Vec::new())?,
        keep: options.or("keep", Vec::new())?,
    };
    let existing = Existing::forced(options.or("force", false)?);
    options.finish()?;
    let (needed, named) = (lotteries(&plan.0), columns.cards.len());
    if named > 0 && named != needed {
        let problem = format!("`cards` names {named} columns, but the plan has {needed} lotteries");
        return Err(parameter(problem).into());
    }
    check_columns(&plan.0, &columns).map_err(|error: StudyError| Failure::from(error))?;
    let target = Target::new(output);
    let to = (&target, Format::for_target(&target), existing);
    run(py, None, |progress| Ok(json(&import(&plan.0, tables, &columns, to, progress)?)))
}

/// Whether people followed their cards, as far as the answers tell.
#[pyfunction]
pub fn comply_with(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let (says, anchor): (Option<String>, Option<String>) = (options.take("self_protective")?, options.take("anchor")?);
    let anchor = match anchor.as_deref().map(|text| text.split_once('=')) {
        Some(None) => return Err(parameter("`anchor` is a question and its true answer: Sex=Male").into()),
        Some(pair) => pair,
        None => None,
    };
    let default = ComplianceOptions::default();
    let asked = ComplianceOptions::default()
        .self_protective(says.as_deref())
        .anchor(anchor)
        .ignoring(options.or("noncompliance", default.ignoring)?)
        .alpha(options.or("alpha", default.alpha)?)
        .confidence(options.or("confidence", default.confidence)?);
    options.finish()?;
    run(py, progress, |progress| {
        let counts =
            responses.counts(&plan.0, &compliance::tables(&plan.0, &asked)?, CountOptions::default(), progress)?;
        Ok((json(&compliance::compliance(&plan.0, &counts, &asked)?), notes(&counts)))
    })
}
