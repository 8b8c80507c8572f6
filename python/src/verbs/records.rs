//! Plan and responses -> records that are no responses: weighted answers, and people who do not exist.

use candor::counts::{CountOptions, Provenance};
use candor::rake::{Adjustment, DistinctRecords, Options as Stop, RakeOptions, Targets, margins, rake};
use candor::synthesize::{Parts, RakedRecords, Synthesis, synthesize, synthesize_weighted, tables, weigh};
use candor_base::randomness::Source;
use candor_runtime::progress::ProgressSink;
use candor_tables::distinct::distinct_responses;
use candor_tables::existing::check_records;
use candor_tables::output::{Existing, Target};
use candor_tables::records::{synthetic_batches, weighted_batches, write_synthetic, write_weighted};
use pyo3::prelude::*;
use serde_json::Value;

use super::json;
use super::randomize::format;
use crate::arrow::Table;
use crate::counts::{Responses, notes};
use crate::errors::{Error, Failure, parameter};
use crate::options::Options;
use crate::plan::Plan;
use crate::survey::margins as known_margins;
use crate::work::run;

/// The records, unless they went to a file; what was done; and what should be known of the responses.
type Made = (Option<Table>, String, Vec<String>);

/// How weights are found.
struct Asked {
    margins: Option<String>,
    raking: RakeOptions,
}

impl Asked {
    fn take(options: &mut Options) -> Result<Asked, Failure> {
        let default = Stop::default();
        let tolerance = options.or("tolerance", default.tolerance)?;
        let stop = default.tolerance(tolerance).max_iterations(options.or("max_iterations", default.max_iterations)?);
        let given = options.take::<Value>("benchmarks")?.map(known_margins).transpose()?;
        let known = given.unwrap_or_default();
        let targets = options.choice(Targets::default())?;
        let raking = RakeOptions::default().benchmarks(known).targets(targets).stop(stop);
        Ok(Asked { margins: options.take("margins")?, raking })
    }

    fn weigh(
        &self,
        plan: &candor_base::plan::Plan,
        responses: Responses,
        progress: ProgressSink<'_>,
    ) -> Result<(DistinctRecords, Adjustment, Vec<String>), Failure> {
        let margins = margins(plan, self.margins.as_deref())?;
        let (records, read) = distinct_responses(plan, responses.inputs()?, progress)?;
        let mut adjustment = rake(plan, &records, &margins, &self.raking, progress)?;
        adjustment.simulation = read.simulation;
        Ok((records, adjustment, Provenance::new(&read).notes(str::to_owned)))
    }
}

/// Answers, or records drawn from pair tables, with weights that agree with the estimated tables.
#[pyfunction]
pub fn adjust_weights(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    output: Option<String>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Made> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let parts = match options.choice(RakedRecords::default())? {
        RakedRecords::Answers => None,
        RakedRecords::Drawn(parts) => Some(parts),
    };
    let asked = Asked::take(&mut options)?;
    if parts.is_some() && asked.margins.is_some() {
        return Err(parameter("`margins` requires `method answers`").into());
    }
    let target = output.as_deref().map(Target::new);
    let format = target.as_ref().map(|target| format(target, &mut options)).transpose()?;
    let existing = place(target.as_ref(), &mut options)?;
    options.finish()?;
    let (schema, fingerprint) = (plan.0.schema(), plan.0.fingerprint());
    run(py, progress, |progress| {
        let (records, adjustment, told) = match parts {
            None => asked.weigh(&plan.0, responses, progress)?,
            Some(parts) => {
                let counts = responses.counts(&plan.0, &tables(&plan.0, parts)?, CountOptions::default(), progress)?;
                let (records, mut adjustment) = weigh(&plan.0, &counts, parts, &asked.raking, progress)?;
                adjustment.simulation = counts.provenance().simulation;
                (records, adjustment, notes(&counts))
            }
        };
        let weights = &adjustment.weights;
        let table = match target.as_ref().zip(format) {
            Some((target, format)) => {
                write_weighted((target, format, existing), schema, fingerprint, &records, weights)?;
                None
            }
            None => Some(table(weighted_batches(schema, fingerprint, &records, weights)?)?),
        };
        Ok((table, json(&adjustment), told))
    })
}

/// Records of people who do not exist.
#[pyfunction]
pub fn synthesize_records(
    py: Python<'_>,
    plan: &Plan,
    given: &Bound<'_, PyAny>,
    output: Option<String>,
    options: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Made> {
    let mut options = Options::read(options)?;
    let responses = Responses::given(given, &mut options)?;
    let parts = options.choice(Some(Parts::default()))?;
    let (number, seed): (Option<u64>, Option<u64>) = (options.take("records")?, options.take("seed")?);
    let asked = if parts.is_none() { Some(Asked::take(&mut options)?) } else { None };
    let target = output.as_deref().map(Target::new);
    let format = target.as_ref().map(|target| format(target, &mut options)).transpose()?;
    let existing = place(target.as_ref(), &mut options)?;
    options.finish()?;
    let source = match seed {
        Some(seed) => Source::from_seed(seed),
        None => Source::from_os().map_err(|error| Error::new_err(error.to_string()))?,
    };
    if number == Some(0) {
        return Err(parameter("`records` is a whole number, 1 or more").into());
    }
    let (schema, fingerprint) = (plan.0.schema(), plan.0.fingerprint());
    run(py, progress, |progress| {
        let (mut made, told): (Synthesis, Vec<String>) = match &asked {
            Some(asked) => {
                let (records, adjustment, told) = asked.weigh(&plan.0, responses, progress)?;
                (synthesize_weighted(&plan.0, &records, &adjustment, number, &source)?, told)
            }
            None => {
                let parts = parts.unwrap_or_default();
                let counts = responses.counts(&plan.0, &tables(&plan.0, parts)?, CountOptions::default(), progress)?;
                (synthesize(&plan.0, &counts, parts, number, &source, progress)?, notes(&counts))
            }
        };
        made.seed = seed;
        let table = match target.as_ref().zip(format) {
            Some((target, format)) => {
                write_synthetic((target, format, existing), schema, fingerprint, &made.columns)?;
                None
            }
            None => Some(table(synthetic_batches(schema, fingerprint, &made.columns)?)?),
        };
        Ok((table, json(&made), told))
    })
}

/// What becomes of a file that is at an output's place, checked before anything is computed.
fn place(target: Option<&Target>, options: &mut Options) -> Result<Existing, Failure> {
    let existing = Existing::forced(options.or("force", false)?);
    target.map_or(Ok(()), |target| check_records(target, existing))?;
    Ok(existing)
}

fn table(batches: Vec<arrow_array::RecordBatch>) -> Result<Table, Failure> {
    let schema = batches.first().map(arrow_array::RecordBatch::schema);
    let schema = schema.ok_or_else(|| Failure::Python(Error::new_err("there are no records to give")))?;
    Ok(Table::new(schema, batches))
}
