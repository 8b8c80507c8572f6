//! Plan and tables -> responses.

use arrow_array::{RecordBatch, RecordBatchReader};
use candor::randomize::{self as study, RandomizeOptions, RecordRandomizer};
use candor_base::randomness::Source;
use candor_tables::TableError;
use candor_tables::output::{Existing, Target};
use candor_tables::responses::Format;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::json;
use crate::arrow::{Stream, Table};
use crate::errors::{CategoryError, Error, Failure, parameter};
use crate::options::Options;
use crate::plan::Plan;
use crate::source::{inputs, missing};
use crate::work::run;

/// What is passed on, and where randomness comes from.
struct Asked {
    keep: Vec<String>,
    source: Source,
}

impl Asked {
    fn take(options: &mut Options) -> Result<Asked, Failure> {
        Ok(Asked { keep: options.or("keep", Vec::new())?, source: randomness(options)? })
    }

    fn options(&self) -> RandomizeOptions<'_> {
        RandomizeOptions::new(&self.source).keep(&self.keep)
    }
}

/// Randomness of the operating system; from a seed only if somebody says that it is a simulation.
pub fn randomness(options: &mut Options) -> Result<Source, Failure> {
    let (seed, simulation): (Option<u64>, bool) = (options.take("seed")?, options.or("simulation", false)?);
    match (seed, simulation) {
        (Some(seed), true) => Ok(Source::from_seed(seed)),
        (Some(_), false) => Err(parameter(
            "`seed` makes randomness that protects nobody: it is for simulations only. If this is one, say \
             `simulation=True`",
        )),
        (None, true) => {
            Err(parameter("`simulation` needs a `seed`; without it, randomness is that of the operating system"))
        }
        (None, false) => Source::from_os().map_err(|error| Error::new_err(error.to_string()).into()),
    }
}

/// Randomizes tables in memory; gives the responses, and what was done.
#[pyfunction]
pub fn randomize(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyList>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Table, String)> {
    let mut options = Options::read(options)?;
    let inputs = inputs(given, options.take("delimiter")?)?.with_missing(&missing(&mut options)?);
    let asked = Asked::take(&mut options)?;
    options.finish()?;
    let mut batches: Vec<RecordBatch> = Vec::new();
    let done = run(py, progress, |progress| {
        let mut records = 0;
        study::randomize(&plan.0, inputs, &asked.options(), |batch| {
            records += batch.num_rows() as u64;
            batches.push(batch);
            let step = candor_runtime::progress::Progress::new("records", records, None);
            progress.report(step).map_err(|cancelled| Failure::Table(TableError::Cancelled(cancelled)))
        })
    })?;
    let schema = batches[0].schema();
    Ok((Table::new(schema, batches), json(&done)))
}

/// Randomizes tables to a file; gives what was done.
#[pyfunction]
pub fn randomize_to(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyList>,
    output: &str,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let mut options = Options::read(options)?;
    let inputs = inputs(given, options.take("delimiter")?)?.with_missing(&missing(&mut options)?);
    let asked = Asked::take(&mut options)?;
    let target = Target::new(output);
    let format = format(&target, &mut options)?;
    let existing = Existing::forced(options.or("force", false)?);
    options.finish()?;
    let to = (&target, format, existing);
    let done = run(py, progress, |progress| Ok(study::randomize_to(&plan.0, inputs, &asked.options(), to, progress)?))?;
    Ok(json(&done))
}

/// The format of a file, by its name, with safe cells if they are asked for.
pub fn format(target: &Target, options: &mut Options) -> Result<Format, Failure> {
    let format = Format::for_target(target);
    match options.or("escape_formulas", false)? {
        true => format.with_safe_cells().ok_or_else(|| parameter("`escape_formulas` goes with CSV only")),
        false => Ok(format),
    }
}

/// Randomizes tables as their responses are read: a few batches are under way at any time.
#[pyfunction]
pub fn randomize_stream(py: Python<'_>, plan: &Plan, given: &Bound<'_, PyList>, options: &str) -> PyResult<Stream> {
    let mut options = Options::read(options)?;
    let inputs = inputs(given, options.take("delimiter")?)?.with_missing(&missing(&mut options)?);
    let Asked { keep, source } = Asked::take(&mut options)?;
    options.finish()?;
    let responses = run(py, None, |_| Ok(study::randomize_reader(&plan.0, inputs, &keep, source)?))?;
    Ok(Stream::new(responses.schema(), Box::new(responses)))
}

/// The response to one record, both as JSON; drawn as `docs/reference/sampling-algorithm.md` says.
#[pyfunction]
pub fn randomize_one(plan: &Plan, record: &str, options: &str) -> PyResult<String> {
    let mut options = Options::read(options)?;
    let source = randomness(&mut options)?;
    options.finish()?;
    let fields = serde_json::from_str(record).map_err(parameter)?;
    let refused = |error: study::InvalidRecord| CategoryError::new_err(error.to_string());
    RecordRandomizer::new(&plan.0).answer(&fields, &mut source.stream(0)).map_err(refused)
}

/// What is to be said before anybody answers under a plan that has no epsilon.
#[pyfunction]
pub fn caution(plan: &Plan) -> Option<String> {
    study::caution(&plan.0)
}
