//! Mechanisms of others -> lower bounds on their epsilon.

use std::sync::{Mutex, PoisonError};

use candor::mechanism::{self as study, MechanismOptions};
use candor_analysis::mechanism::Draws;
use pyo3::prelude::*;

use super::json;
use crate::errors::Failure;
use crate::options::Options;
use crate::work::run;

fn asked(mut options: Options) -> Result<MechanismOptions, Failure> {
    let default = MechanismOptions::default();
    let asked = MechanismOptions::default()
        .draws(options.or("draws", default.draws)?)
        .confidence(options.or("confidence", default.confidence)?)
        .claimed(options.take("claimed")?)
        .time_limit(options.or("time_limit", default.time_limit)?);
    options.finish()?;
    Ok(asked)
}

/// Audits a program; also what was claimed and does not hold, if anything.
#[pyfunction]
pub fn audit_program(
    py: Python<'_>,
    program: &str,
    truths: Vec<String>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let asked = asked(Options::read(options)?)?;
    run(py, progress, |progress| {
        let audit = study::audit_program(program, &truths, &asked, progress)?;
        Ok((json(&audit), audit.broken()))
    })
}

/// Answers that a function in Python gives.
#[pyclass(frozen)]
pub struct MechanismDraws {
    draws: Mutex<Draws>,
    options: MechanismOptions,
}

#[pymethods]
impl MechanismDraws {
    #[new]
    fn new(truths: Vec<String>, options: &str) -> PyResult<MechanismDraws> {
        let options = asked(Options::read(options)?)?;
        let draws =
            Draws::new(&truths, options.draws).map_err(|error| Failure::from(candor::StudyError::from(error)))?;
        Ok(MechanismDraws { draws: Mutex::new(draws), options })
    }

    /// How many answers to each value are wanted.
    #[getter]
    fn wanted(&self) -> u64 {
        self.draws.lock().unwrap_or_else(PoisonError::into_inner).wanted()
    }

    /// Adds an answer to the value at this place.
    fn add(&self, truth: usize, answer: &str) -> PyResult<()> {
        let added = self.draws.lock().unwrap_or_else(PoisonError::into_inner).add(truth, answer);
        Ok(added.map_err(|error| Failure::from(candor::StudyError::from(error)))?)
    }

    /// What the answers prove; also what was claimed and does not hold, if anything.
    fn audit(&self, py: Python<'_>) -> PyResult<(String, Option<String>)> {
        run(py, None, |_| {
            let audit = study::audit_draws(&self.draws.lock().unwrap_or_else(PoisonError::into_inner), &self.options)?;
            Ok((json(&audit), audit.broken()))
        })
    }
}
