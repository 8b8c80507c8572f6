//! Rounds between parties: each holds a session and its own records, and hands messages to the others as text.

use std::sync::Arc;

use candor::choice::Choice;
use candor::party::{self, PartyMessage};
use candor_tables::true_records::Records;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::analyse::{limits, measure};
use super::json;
use super::randomize::randomness;
use crate::errors::Failure;
use crate::options::Options;
use crate::plan::Schema;
use crate::source::{inputs, missing};
use crate::work::run;

/// A session of parties.
#[pyclass(frozen, module = "candor._candor")]
pub struct PartySession(Arc<party::PartySession>);

#[pymethods]
impl PartySession {
    #[staticmethod]
    fn start(schema: &Schema, parties: Vec<String>, options: &str) -> PyResult<PartySession> {
        let mut options = Options::read(options)?;
        let (collectors, epsilon): (Option<u32>, Option<f64>) = (options.take("collectors")?, options.take("epsilon")?);
        options.finish()?;
        let made = party::PartySession::new(&schema.0, &parties, collectors, epsilon).map_err(Failure::from)?;
        Ok(PartySession(Arc::new(made)))
    }

    #[staticmethod]
    fn loads(text: &str) -> PyResult<PartySession> {
        Ok(PartySession(Arc::new(party::PartySession::from_json(text).map_err(Failure::from)?)))
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    #[getter]
    fn id(&self) -> String {
        self.0.id()
    }

    #[getter]
    fn parties(&self) -> Vec<String> {
        self.0.parties().to_vec()
    }

    #[getter]
    fn collectors(&self) -> Vec<String> {
        self.0.collectors().to_vec()
    }

    #[getter]
    fn protocol(&self) -> &'static str {
        self.0.protocol().name()
    }

    #[getter]
    fn epsilon(&self) -> PyResult<Option<f64>> {
        Ok(self.0.epsilon().map_err(Failure::from)?)
    }

    /// A party's messages, each with the name of its file.
    fn share(
        &self,
        py: Python<'_>,
        given: &Bound<'_, PyList>,
        party: &str,
        options: &str,
    ) -> PyResult<Vec<(String, String)>> {
        let mut options = Options::read(options)?;
        let inputs = inputs(given, options.take("delimiter")?)?.with_missing(&missing(&mut options)?);
        let source = randomness(&mut options)?;
        options.finish()?;
        let messages = run(py, None, |_| {
            let columns = Records { schema: self.0.schema(), inputs }.read()?;
            Ok(party::share(&self.0, party, &columns, &source)?)
        })?;
        Ok(messages.iter().map(|message| (message.file_name(), message.to_json())).collect())
    }

    /// A collector's sums, with the name of their file.
    fn sum(&self, messages: Vec<String>, party: &str) -> PyResult<(String, String)> {
        let sums = party::sum(&self.0, party, &read(&messages)?).map_err(Failure::from)?;
        Ok((sums.file_name(), sums.to_json()))
    }

    /// The totals, and what they disclosed or cost.
    fn finish(&self, messages: Vec<String>, options: &str) -> PyResult<(String, String)> {
        let mut options = Options::read(options)?;
        let (measure, limits) = (measure(&mut options)?, limits(&mut options)?);
        options.finish()?;
        let totals = party::finish(&self.0, &read(&messages)?, measure, limits).map_err(Failure::from)?;
        let said: Vec<String> = totals.disclosure.map(str::to_owned).into_iter().chain(totals.cost.clone()).collect();
        Ok((json(&totals), said.join("\n")))
    }

    /// The collectors whose sums are those of their shares.
    fn check(&self, messages: Vec<String>) -> PyResult<String> {
        Ok(json(&party::check(&self.0, &read(&messages)?).map_err(Failure::from)?))
    }
}

fn read(messages: &[String]) -> Result<Vec<PartyMessage>, Failure> {
    messages.iter().map(|text| Ok(PartyMessage::from_json(text)?)).collect()
}
