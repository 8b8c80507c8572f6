//! Randomizes files: reads, randomizes and writes concurrently, in order, on all cores.

use std::iter::{Flatten, Peekable};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, FieldRef};
use candor_base::plan::{Content, Plan, SET_SEPARATOR};
use candor_base::randomness::Source;
use candor_bulk::Randomizer;
use candor_runtime::progress::{Progress, ProgressSink};

use crate::existing::check_release;
use crate::input::{Batch, Batches, Inputs, Location};
use crate::output::{Existing, Target};
use crate::parallel::in_order;
use crate::responses::{self, Encoded, FINGERPRINT_KEY, Format, Layout, Provenance, ResponseWriter, SIMULATION_KEY};
use crate::sidecar::Sidecar;
use crate::spreadsheet::is_formula;
use crate::stochastic_rounding::STREAMS;
use crate::true_records::truths;
use crate::{TableError, passthrough};

/// A randomization job.
pub struct RandomizeJob<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Columns to copy unchanged, which the plan must not [protect](candor_base::schema::Schema::protects).
    pub keep: &'a [String],
    /// Source of randomness.
    pub source: &'a Source,
}

/// Summary of a randomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomizeSummary {
    /// Number of randomized records.
    pub records: u64,
}

/// Randomizes the inputs and passes on the responses as record batches, in order.
///
/// The metadata of their schema contain the fingerprint of the plan ([`FINGERPRINT_KEY`]) and the seed of a
/// simulation ([`SIMULATION_KEY`]). So [`Input::from_batches`](crate::input::Input::from_batches) recognizes them as
/// responses. Kept columns are copied value by value, and dictionaries as their values. The batches contain nothing
/// else of the records.
///
/// # Errors
/// Returns the first row in order that does not fit the schema, an error of reading or copying, or the first
/// error of `take`.
/// Batches that were already passed on remain.
pub fn randomize<E: From<TableError>>(
    job: &RandomizeJob<'_>,
    inputs: Inputs,
    mut take: impl FnMut(RecordBatch) -> Result<(), E>,
) -> Result<RandomizeSummary, E> {
    let truth = Truth::open(job, inputs)?;
    let layout = Layout::new(job.plan, truth.copied_fields(job)?, Format::Parquet);
    let metadata = metadata(job).into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let schema = Arc::new(layout.schema().with_metadata(metadata));
    let worker = Worker { job, randomizer: Randomizer::new(job.plan), layout: &layout, pass_on: passthrough::copied };
    worker.answer_all(truth, |encoded, _| {
        let Encoded::Batch(batch) = encoded else { unreachable!("the layout is one of batches") };
        take(batch.with_schema(schema.clone()).expect("the same columns"))
    })
}

/// Randomizes the inputs to a file, which is written atomically.
///
/// With [`Existing::Keep`], an existing file is an error, because a second release adds to the epsilon of the same
/// people. A simulation may replace another.
///
/// Memory is independent of the number of records: a few batches of [`BATCH_ROWS`](crate::BATCH_ROWS) rows are in
/// memory at any time. `progress` receives the number of finished records and, if known, of all records.
///
/// # Errors
/// Returns [`TableError::Occupied`] if the file exists.
/// Returns another [`TableError`] for the first row in order that does not fit, for an error of reading or writing,
/// or if `progress` cancels.
pub fn randomize_to(
    job: &RandomizeJob<'_>,
    inputs: Inputs,
    output: &Target,
    format: Format,
    existing: Existing,
    progress: ProgressSink<'_>,
) -> Result<RandomizeSummary, TableError> {
    check_places(&inputs, output)?;
    let existing = check_release(job.plan, output, existing, job.source.seed().is_some())?;
    check_cells(job.plan, format)?;
    let truth = Truth::open(job, inputs)?;
    let layout = Layout::new(job.plan, truth.kept_fields(job, format)?, format);
    let mut writer = ResponseWriter::new(output, &layout, &metadata(job), true)?;
    let worker = Worker { job, randomizer: Randomizer::new(job.plan), layout: &layout, pass_on: passthrough::bare };
    let total = truth.total;
    let done = worker.answer_all(truth, |encoded, records| {
        writer.write(&encoded, output)?;
        Ok::<(), TableError>(progress.report(Progress::new("records", records, total))?)
    })?;
    let fingerprint = job.plan.fingerprint().to_string();
    let sidecar = Sidecar { fingerprint, records: done.records, simulation: job.source.seed() };
    writer.finish(output, Some(&sidecar), existing)?;
    Ok(done)
}

/// Returns the metadata of responses.
fn metadata(job: &RandomizeJob<'_>) -> Vec<(&'static str, String)> {
    let mut metadata = vec![(FINGERPRINT_KEY, job.plan.fingerprint().to_string())];
    metadata.extend(job.source.seed().map(|seed| (SIMULATION_KEY, seed.to_string())));
    metadata
}

/// Open files of true records, with the columns that a job needs.
struct Truth {
    batches: Peekable<Flatten<std::vec::IntoIter<Batches>>>,
    /// Total number of records, if known.
    total: Option<u64>,
    /// Name of the first batch's file, and its kept columns.
    first: (String, Vec<FieldRef>),
}

impl Truth {
    fn open(job: &RandomizeJob<'_>, inputs: Inputs) -> Result<Truth, TableError> {
        passthrough::check_names(job.plan, job.keep)?;
        let attributes = job.plan.schema().attributes();
        let names: Vec<String> = attributes.iter().map(|attribute| attribute.name().to_owned()).collect();
        let name = inputs.name();
        let (mut tables, mut total) = (Vec::new(), Some(0));
        for table in inputs {
            let (input, provenance) = responses::open(table)?;
            if let Some(Provenance { fingerprint, .. }) = provenance {
                return Err(TableError::AlreadyRandomized { file: input.name().to_owned(), fingerprint });
            }
            total = total.zip(input.rows()).map(|(sum, rows)| sum + rows);
            tables.push(input.batches_with_crosses(&names, job.keep)?);
        }
        let mut batches = tables.into_iter().flatten().peekable();
        if let Some(Err(error)) = batches.next_if(Result::is_err) {
            return Err(error);
        }
        let Some(Ok(batch)) = batches.peek() else { return Err(TableError::NoRecords { file: name }) };
        let first = (batch.file.clone(), batch.columns.schema_ref().fields()[names.len()..].to_vec());
        Ok(Truth { batches, total, first })
    }

    /// Returns the kept columns in a file.
    fn kept_fields(&self, job: &RandomizeJob<'_>, format: Format) -> Result<Vec<Field>, TableError> {
        let (file, kept) = &self.first;
        let kept = passthrough::fields(job.plan, kept)?;
        kept.iter().try_for_each(|field| responses::check_kept(field, format, file))?;
        Ok(kept)
    }

    /// Returns the kept columns in memory.
    fn copied_fields(&self, job: &RandomizeJob<'_>) -> Result<Vec<Field>, TableError> {
        let (file, kept) = &self.first;
        passthrough::fields(job.plan, kept)?.into_iter().map(|field| passthrough::copied_field(field, file)).collect()
    }
}

struct Worker<'a> {
    job: &'a RandomizeJob<'a>,
    randomizer: Randomizer<'a>,
    layout: &'a Layout,
    /// Conversion of a kept column; `None` if it does not have the type of its field.
    pass_on: fn(&ArrayRef, &Field) -> Option<ArrayRef>,
}

impl Worker<'_> {
    /// Randomizes all records on all cores. `take` receives the answers in order, and the number of records so far.
    fn answer_all<E: From<TableError>>(
        &self,
        truth: Truth,
        mut take: impl FnMut(Encoded, u64) -> Result<(), E>,
    ) -> Result<RandomizeSummary, E> {
        let mut records = 0;
        in_order(
            truth.batches,
            |number, batch| self.answer(number, &batch?),
            |answered: Result<(Encoded, usize), TableError>| {
                let (encoded, rows) = answered?;
                records += rows as u64;
                take(encoded, records)
            },
        )?;
        Ok(RandomizeSummary { records })
    }

    fn answer(&self, number: u64, batch: &Batch) -> Result<(Encoded, usize), TableError> {
        let attributes = self.job.plan.schema().attributes();
        let truths = truths(batch, self.job.plan.schema(), &mut self.job.source.stream(STREAMS | number))?;
        let responses = self.randomizer.batch(&truths, &mut self.job.source.stream(number))?;
        let kept = batch.columns.columns()[attributes.len()..].iter().zip(self.layout.kept());
        let kept = kept.map(|(column, field)| {
            (self.pass_on)(column, field).ok_or_else(|| TableError::KeptType {
                file: batch.file.clone(),
                column: field.name().clone(),
                found: column.data_type().to_string(),
                expected: field.data_type().to_string(),
            })
        });
        let kept = kept.collect::<Result<Vec<ArrayRef>, TableError>>()?;
        let rows = batch.columns.num_rows();
        let encoded = self.layout.encode(&responses, &kept, rows);
        Ok((encoded.map_err(|unwritable| unwritable.within(batch))?, rows))
    }
}

/// Checks that the output is not one of the inputs.
fn check_places(inputs: &Inputs, output: &Target) -> Result<(), TableError> {
    let Target::File(output) = output else { return Ok(()) };
    let Ok(output) = output.canonicalize() else { return Ok(()) };
    let same = |location: &&Location| match location {
        Location::File(path) => path.canonicalize().is_ok_and(|path| path == output && path.is_file()),
        Location::Stdin => false,
    };
    match inputs.locations().find(same) {
        Some(location) => Err(TableError::SameFile(location.name())),
        None => Ok(()),
    }
}

/// Checks that no label or name must be escaped, because responses are identified by these.
fn check_cells(plan: &Plan, format: Format) -> Result<(), TableError> {
    let Format::Csv { safe_cells: true, .. } = format else { return Ok(()) };
    for column in plan.columns() {
        let cells: Vec<String>;
        let (labels, set): (&[String], bool) = match &column.content {
            Content::Public { attribute } => (plan.schema().attributes()[*attribute].categories(), false),
            Content::Answer { labels, set, .. } => (labels, *set),
            Content::Tag { .. } => (&[], false),
            Content::Cells { block } => {
                cells = plan.blocks()[*block].strips().flat_map(|strip| plan.cell_labels(*block, strip)).collect();
                (&cells, true)
            }
        };
        // A set may start with any of its labels, and is not a number.
        let changed = |label: &&String| is_formula(label) || (set && is_formula(&format!("{label}{SET_SEPARATOR}")));
        if let Some(label) = labels.iter().find(changed).or(Some(&column.name).filter(|name| is_formula(name))) {
            return Err(TableError::UnsafeLabel { column: column.name.clone(), label: label.clone() });
        }
    }
    Ok(())
}
