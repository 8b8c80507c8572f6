//! Randomizes files or record batches, and single records.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use candor_analysis::structural_zeros::{SkipViolation, rules};
use candor_base::plan::Plan;
use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, CROSS, parts};
use candor_privacy::certain_disclosure::{Exclusion, exclusion};
use candor_runtime::progress::{Cancelled, ProgressSink};
use candor_tables::TableError;
use candor_tables::error::shown;
use candor_tables::input::Inputs;
use candor_tables::invalid_value::diagnose;
pub use candor_tables::output::{Existing, Target};
use candor_tables::randomize::{self as tables, RandomizeJob};
pub use candor_tables::responses::Format;
use candor_tables::responses::{one_response, response_line};
use candor_tables::stochastic_rounding::dithered;
use rand_core::CryptoRng;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::verdict::{self, Verdict};

/// Options of randomization.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct RandomizeOptions<'a> {
    /// Columns to copy unchanged, which the plan must not randomize; all others are dropped.
    pub keep: &'a [String],
    /// Source of randomness: the operating system or, for simulations only, a seed.
    pub source: &'a Source,
}

impl<'a> RandomizeOptions<'a> {
    /// Creates options that copy no column.
    pub fn new(source: &'a Source) -> RandomizeOptions<'a> {
        RandomizeOptions { keep: &[], source }
    }

    candor_runtime::options! {
        keep: &'a [String],
    }
}

/// Summary of a randomization.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Randomized {
    /// Protection of the responses: that of the plan, or none if the seed is known.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Number of records.
    pub records: u64,
    /// Fingerprint of the plan.
    pub fingerprint: String,
    /// Whether the plan is unbounded, so that answers can rule out true values or prove one.
    pub unbounded: bool,
    /// Seed of a simulation, which has no privacy.
    pub simulation: Option<u64>,
    /// Elapsed seconds, including input and output. The caller sets it.
    pub seconds: Option<f64>,
}

/// Randomizes the inputs and passes on the responses as record batches, in order.
///
/// The schema of the batches contains the fingerprint of the plan.
///
/// # Errors
/// Returns the first invalid row in order, an input or output error, or the first error of `take`, which thereby
/// stops.
pub fn randomize<E: From<TableError>>(
    plan: &Plan,
    inputs: Inputs,
    options: &RandomizeOptions<'_>,
    take: impl FnMut(RecordBatch) -> Result<(), E>,
) -> Result<Randomized, E> {
    let job = RandomizeJob { plan, keep: options.keep, source: options.source };
    Ok(done(&job, tables::randomize(&job, inputs, take)?.records))
}

/// Maximum number of batches that wait for the consumer.
const WAITING: usize = 2;

/// Randomizes the inputs while their responses are read, with few batches in memory at a time.
///
/// `keep` lists columns to copy unchanged.
///
/// # Errors
/// Returns [`TableError`] if there are no records, an input cannot be read or copied, or the first row is invalid.
/// The reader returns later errors.
///
/// ```
/// use std::sync::Arc;
///
/// use candor::arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray};
/// use candor::prelude::*;
///
/// let smokes: ArrayRef = Arc::new(StringArray::from(vec!["no", "yes", "no"]));
/// let people = RecordBatch::try_from_iter([("smokes", smokes)])?;
/// let people = RecordBatchIterator::new([Ok(people.clone())], people.schema());
///
/// let schema = Schema::from_toml("[[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"yes\"]")?;
/// let plan = design(&schema, &Independent::new(1.0).into(), &DesignOptions::default())?.plan;
/// let people = Input::from_record_batches("people", people)?.into();
/// let responses = randomize_reader(&plan, people, &[], Source::from_os()?)?;
/// assert_eq!(responses.schema().metadata()["candor:fingerprint"], plan.fingerprint().as_str());
/// assert_eq!(responses.map(|batch| batch.map(|batch| batch.num_rows())).sum::<Result<usize, _>>()?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn randomize_reader(
    plan: &Plan,
    inputs: Inputs,
    keep: &[String],
    source: Source,
) -> Result<ResponseReader, TableError> {
    let (give, take) = sync_channel::<Result<RecordBatch, TableError>>(WAITING);
    let (plan, keep) = (plan.clone(), keep.to_vec());
    thread::spawn(move || {
        // If the consumer is gone, the work ends.
        let handed_on = |batch| give.send(Ok(batch)).map_err(|_| TableError::from(Cancelled));
        if let Err(error) = randomize(&plan, inputs, &RandomizeOptions::new(&source).keep(&keep), handed_on) {
            drop(give.send(Err(error)));
        }
    });
    // A thread that ends without a message has panicked.
    let first = take.recv().unwrap_or(Err(TableError::from(Cancelled)))?;
    Ok(ResponseReader { schema: first.schema(), first: Some(first), rest: take })
}

/// Responses as record batches, randomized while they are read.
#[derive(Debug)]
pub struct ResponseReader {
    schema: SchemaRef,
    first: Option<RecordBatch>,
    rest: Receiver<Result<RecordBatch, TableError>>,
}

impl Iterator for ResponseReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = || self.rest.recv().ok().map(|batch| batch.map_err(|error| ArrowError::ExternalError(error.into())));
        self.first.take().map(Ok).or_else(rest)
    }
}

impl RecordBatchReader for ResponseReader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Randomizes the inputs to a file, which is written atomically.
///
/// Existing responses are replaced only with [`Existing::Replace`]. `progress` receives the number of records.
///
/// # Errors
/// Returns [`TableError::Occupied`] if the file exists.
/// Returns another [`TableError`] for the first invalid row in order, for an input or output error, or if
/// `progress` cancels.
pub fn randomize_to(
    plan: &Plan,
    inputs: Inputs,
    options: &RandomizeOptions<'_>,
    (target, format, existing): (&Target, Format, Existing),
    progress: ProgressSink<'_>,
) -> Result<Randomized, TableError> {
    let job = RandomizeJob { plan, keep: options.keep, source: options.source };
    Ok(done(&job, tables::randomize_to(&job, inputs, target, format, existing, progress)?.records))
}

fn done(job: &RandomizeJob<'_>, records: u64) -> Randomized {
    Randomized {
        verdict: verdict::randomized(job.plan.guarantee().epsilon(), job.source.seed()),
        records,
        fingerprint: job.plan.fingerprint().as_str().to_owned(),
        unbounded: exclusion(job.plan) != Exclusion::Nothing,
        simulation: job.source.seed(),
        seconds: None,
    }
}

/// Returns a warning about a plan without a finite epsilon; `None` for other plans.
pub fn caution(plan: &Plan) -> Option<String> {
    exclusion(plan).sentence().map(|sentence| format!("this plan has no finite epsilon. {sentence}"))
}

/// The reason why a record was not randomized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidRecord(String);

/// Randomizes single records in JSON, as on a respondent's device.
pub struct RecordRandomizer<'a> {
    plan: &'a Plan,
    client: Client<'a>,
}

impl<'a> RecordRandomizer<'a> {
    /// Creates a randomizer for this plan.
    pub fn new(plan: &'a Plan) -> RecordRandomizer<'a> {
        RecordRandomizer { plan, client: Client::new(plan) }
    }

    /// Randomizes a record and returns the response as a line of JSON, with the fingerprint of the plan.
    ///
    /// The fields are attributes as strings, numbers or booleans; null is a missing value. Instead of a
    /// cross-classification, its parts may be given.
    ///
    /// # Errors
    /// Returns [`InvalidRecord`], which names the missing or invalid field, and of the record shows only the value of
    /// that field.
    pub fn answer(&self, fields: &Map<String, Value>, rng: &mut impl CryptoRng) -> Result<String, InvalidRecord> {
        let record = record(self.plan, fields, rng).map_err(InvalidRecord)?;
        let answers = self.client.answer(&record, rng).map_err(|error| InvalidRecord(error.to_string()))?;
        Ok(response_line(self.plan, &one_response(self.plan, &record, &answers), 0))
    }
}

/// Returns the value of a field as text.
fn text_of(fields: &Map<String, Value>, name: &str) -> Result<String, String> {
    match fields.get(name).ok_or_else(|| format!("the field \"{name}\" is missing"))? {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Null => Ok(String::new()),
        Value::Array(_) | Value::Object(_) => Err(format!("the field \"{name}\" must be a string or a number")),
    }
}

/// Returns the codes of a JSON record. Numbers between grid points are rounded stochastically.
fn record(plan: &Plan, fields: &Map<String, Value>, rng: &mut impl CryptoRng) -> Result<Vec<u16>, String> {
    let code = |attribute: &Attribute| {
        let name = attribute.name();
        // The parts of a cross-classification may be given instead.
        let names = if fields.contains_key(name) { vec![name] } else { parts(name) };
        let texts = names.into_iter().map(|part| text_of(fields, part)).collect::<Result<Vec<String>, String>>()?;
        let place = attribute.place_of_value(&texts.join(&CROSS.to_string())).ok_or_else(|| {
            let wrong = diagnose(attribute, &texts.iter().map(String::as_str).collect::<Vec<&str>>(), true);
            let no_category = if wrong.value.is_empty() { "is not a category; " } else { "" };
            format!("the field \"{}\" is \"{}\", which {no_category}{}", wrong.column, shown(wrong.value), wrong.hint)
        });
        place.map(|place| dithered(place, rng))
    };
    let mut codes = plan.schema().attributes().iter().map(code).collect::<Result<Vec<u16>, String>>()?;
    for rule in rules(plan.schema()) {
        let found = rule.settled(codes[rule.other], codes[rule.attribute]);
        codes[rule.attribute] = found.map_err(|breach| {
            let what = if breach == SkipViolation::Answered { "" } else { " is missing;" };
            format!("the field \"{}\"{what} {}", plan.schema().name(rule.attribute), rule.hint(plan.schema(), breach))
        })?;
    }
    Ok(codes)
}
