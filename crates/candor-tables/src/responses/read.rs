//! Reads responses as codes.

use candor_analysis::fit::{Fit, FitCounts};
use candor_analysis::repeats::Repeats;
use candor_base::plan::Plan;
use candor_runtime::progress::{Progress, ProgressSink};

use super::beside::{Columns, matches};
use super::decode::{Decoder, ResponseBatch};
use super::{Provenance, open};
use crate::TableError;
use crate::input::{Batch, Batches, Input, Inputs, Table};
use crate::metadata_keys::{SYNTHETIC_KEY, WEIGHT};
use crate::parallel::in_order;

/// An open file of responses to a plan, whose rows are not read yet.
pub struct Responses {
    /// Decoder of batches.
    pub decoder: Decoder,
    /// The rows.
    pub batches: Batches,
    /// Metadata of the file, if any.
    pub provenance: Option<Provenance>,
}

/// Summary of responses that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadSummary {
    /// Number of responses.
    pub responses: u64,
    /// Seed, if any of them are a simulation.
    pub simulation: Option<u64>,
    /// Files that do not name their plan, so that the user vouches for them.
    pub unmarked: Vec<String>,
    /// Files that are implausible under the plan ([`Fit`]).
    pub implausible: Vec<String>,
    /// Number of copies of the most frequent response, if too large to be plausible ([`Repeats`]).
    pub repeated: Option<u64>,
}

/// Reads files of responses once, one after another.
///
/// `map` processes their batches on all cores, `take` receives the results in order, and `progress` the number of
/// responses.
///
/// # Errors
/// Returns [`TableError`] if
/// - a file was made with another plan or cannot be read,
/// - a value is not a valid response,
/// - there are no responses,
/// - `progress` cancels.
pub(crate) fn read_batches<T: Send + 'static>(
    plan: &Plan,
    inputs: Inputs,
    weights: Option<&str>,
    progress: ProgressSink<'_>,
    map: impl Fn(ResponseBatch) -> T + Sync,
    take: impl FnMut(T),
) -> Result<ReadSummary, TableError> {
    read_batches_beside(plan, inputs, weights, Columns::default(), progress, |_, batch| Ok(map(batch)), take)
}

/// Reads files of responses with additional columns, which `map` finds by name in the batch.
///
/// # Errors
/// Returns the errors of [`read_batches`], or [`TableError`] if a column is missing or `map` fails.
pub(crate) fn read_batches_beside<T: Send + 'static>(
    plan: &Plan,
    inputs: Inputs,
    weights: Option<&str>,
    beside: Columns<'_>,
    progress: ProgressSink<'_>,
    map: impl Fn(&Batch, ResponseBatch) -> Result<T, TableError> + Sync,
    mut take: impl FnMut(T),
) -> Result<ReadSummary, TableError> {
    let mut read = ReadSummary::default();
    let (fit, mut repeats) = (Fit::new(plan), Repeats::default());
    let (mut names, mut fits) = (Vec::new(), Vec::new());
    let first = inputs.name();
    for table in inputs {
        let name = table.name();
        let Responses { decoder, batches, provenance } = Responses::open_beside(plan, table, weights, beside)?;
        match &provenance {
            Some(provenance) => read.simulation = read.simulation.or(provenance.simulation),
            None => read.unmarked.push(name.clone()),
        }
        let (before, mut fitted) = (read.responses, FitCounts::default());
        let work = |_: u64, batch: Result<Batch, TableError>| {
            let batch = batch?;
            let decoded = decoder.decode(&batch)?;
            let (rows, fitted) = (decoded.rows, fit.count(&decoded.columns, decoded.rows));
            let mut repeats = Repeats::default();
            repeats.count(&decoded.columns, rows);
            Ok((map(&batch, decoded)?, rows, (fitted, repeats)))
        };
        in_order(batches, work, |done: Result<(T, usize, (FitCounts, Repeats)), TableError>| {
            let (made, rows, (counted, repeated)) = done?;
            fitted.merge(counted);
            repeats.merge(repeated);
            read.responses += rows as u64;
            take(made);
            Ok::<(), TableError>(progress.report(Progress::new("records", read.responses, None))?)
        })?;
        check_records(name.clone(), provenance, read.responses - before)?;
        names.push(name);
        fits.push(fitted);
    }
    if read.responses == 0 {
        return Err(TableError::NoRecords { file: first });
    }
    read.implausible = fit.implausible_files(&fits).into_iter().map(|file| names[file].clone()).collect();
    read.repeated = repeats.unlikely(plan);
    Ok(read)
}

/// Checks that a file contains as many responses as were written, if that number is known.
fn check_records(file: String, provenance: Option<Provenance>, found: u64) -> Result<(), TableError> {
    match provenance.and_then(|provenance| provenance.records) {
        Some((expected, sidecar)) if expected != found => Err(TableError::Records { file, sidecar, found, expected }),
        _ => Ok(()),
    }
}

/// Returns what a file contains if candor computed it from responses.
fn not_responses(input: &Input) -> Option<&'static str> {
    let weighted = input.header().iter().any(|name| name == WEIGHT).then_some("weighted records of an adjustment");
    weighted.or(input.metadata(SYNTHETIC_KEY).map(|_| "synthetic records"))
}

impl Responses {
    /// Opens a file of responses to the plan; `weights` names a column of weights.
    ///
    /// # Errors
    /// Returns [`TableError`] if it was made with another plan, a column is missing, or the plan
    /// [protects](candor_base::schema::Schema::protects) the column of weights.
    pub fn open(plan: &Plan, table: Table, weights: Option<&str>) -> Result<Responses, TableError> {
        Responses::open_beside(plan, table, weights, Columns::default())
    }

    /// Opens a file of responses with additional columns.
    fn open_beside(
        plan: &Plan,
        table: Table,
        weights: Option<&str>,
        beside: Columns<'_>,
    ) -> Result<Responses, TableError> {
        let check_weight = |name: &str| match plan.schema().protects(name) {
            None => Ok(()),
            Some(attribute) => {
                let (column, attribute) = (name.to_owned(), attribute.name().to_owned());
                Err(TableError::WeightTruth { column, attribute })
            }
        };
        weights.map_or(Ok(()), check_weight)?;
        let vouched = table.is_vouched();
        let (input, provenance) = open(table)?;
        let expected = plan.fingerprint().as_str();
        if let Some(other) = provenance.as_ref().filter(|provenance| provenance.fingerprint != expected) {
            let (file, found) = (input.name().to_owned(), other.fingerprint.clone());
            return Err(TableError::Fingerprint { file, found, expected: expected.to_owned() });
        }
        if let Some(found) = not_responses(&input) {
            return Err(TableError::NotResponses { file: input.name().to_owned(), found });
        }
        if provenance.is_none() && !vouched {
            return Err(TableError::Unmarked(input.name().to_owned()));
        }
        let columns = plan.columns();
        let mut names: Vec<String> =
            columns.iter().map(|column| column.name.clone()).chain(weights.map(str::to_owned)).collect();
        let matching: Vec<String> = match beside.matching {
            Some(pattern) => input.header().iter().filter(|name| matches(pattern, name)).cloned().collect(),
            None => Vec::new(),
        };
        matching.iter().try_for_each(|name| check_weight(name))?;
        for name in beside.named.iter().chain(&matching) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Ok(Responses { decoder: Decoder::new(plan, weights), batches: input.batches(&names)?, provenance })
    }
}
