//! Randomizing tables: read, randomize and write at the same time, in order, on all cores.

use arrow_array::ArrayRef;
use arrow_schema::Field;
use candor::plan::{Content, Plan, SET_SEPARATOR};
use candor::randomize::Randomizer;
use candor::randomness::Source;

use crate::input::{Batch, Location};
use crate::output::Target;
use crate::parallel::in_order;
use crate::responses::{self, Encoded, FINGERPRINT_KEY, Format, Layout, Provenance, ResponseWriter, SIMULATION_KEY};
use crate::sidecar::Sidecar;
use crate::spreadsheet::is_formula;
use crate::truth::truths;
use crate::{TableError, kept};

/// What to randomize and where to.
pub struct Job<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The tables of true records; their rows follow one another.
    pub inputs: &'a [Location],
    /// The delimiter of CSV inputs; `None` to find out.
    pub delimiter: Option<u8>,
    /// Columns to pass on: their names, types and values, and none that the plan [protects](candor::schema::Schema::protects).
    pub keep: &'a [String],
    /// Where the responses go.
    pub output: &'a Target,
    /// Their format.
    pub format: Format,
    /// Where randomness comes from.
    pub source: &'a Source,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The number of records randomized.
    pub records: u64,
}

/// Randomizes tables; the output appears when it is complete, or not at all.
///
/// Memory does not grow with the tables: a few batches of [`BATCH`](crate::BATCH) rows are under
/// way at any time. `progress` is told the records done and, where known, how many there are.
///
/// # Errors
/// The first row that does not fit, in order; whatever cannot be read or written.
pub fn randomize(job: &Job<'_>, mut progress: impl FnMut(u64, Option<u64>)) -> Result<Done, TableError> {
    check_places(job)?;
    kept::check_names(job.plan, job.keep)?;
    check_cells(job)?;
    let names: Vec<String> =
        job.plan.schema().attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
    let mut inputs = Vec::new();
    let mut total = Some(0);
    for location in job.inputs {
        let (input, provenance) = responses::open(location, job.delimiter)?;
        if let Some(Provenance { fingerprint, .. }) = provenance {
            return Err(TableError::AlreadyRandomized { file: location.name(), fingerprint });
        }
        total = total.zip(input.rows()).map(|(sum, rows)| sum + rows);
        inputs.push(input.batches_with_crosses(&names, job.keep)?);
    }
    let mut batches = inputs.into_iter().flatten().peekable();
    if let Some(Err(_)) = batches.peek() {
        return Err(batches.next().and_then(Result::err).expect("just seen"));
    }
    let Some(Ok(first)) = batches.peek() else {
        return Err(TableError::NoRecords { file: job.inputs.first().map_or(String::new(), Location::name) });
    };
    let layout = Layout::new(job.plan, kept_fields(job, first)?, job.format);
    let seed = job.source.seed();
    let mut metadata = vec![(FINGERPRINT_KEY, job.plan.fingerprint().to_string())];
    metadata.extend(seed.map(|seed| (SIMULATION_KEY, seed.to_string())));
    let mut writer = ResponseWriter::new(job.output, &layout, &metadata, true)?;
    let worker = Worker { job, randomizer: Randomizer::new(job.plan), layout: &layout };
    let mut records = 0;
    in_order(
        batches,
        |number, batch| worker.answer(number, &batch?),
        |answered| {
            let (encoded, rows) = answered?;
            writer.write(&encoded, job.output)?;
            records += rows as u64;
            progress(records, total);
            Ok::<(), TableError>(())
        },
    )?;
    let fingerprint = job.plan.fingerprint().to_string();
    writer.finish(job.output, Some(&Sidecar { fingerprint, records, simulation: seed }))?;
    Ok(Done { records })
}

struct Worker<'a> {
    job: &'a Job<'a>,
    randomizer: Randomizer<'a>,
    layout: &'a Layout,
}

impl Worker<'_> {
    fn answer(&self, number: u64, batch: &Batch) -> Result<(Encoded, usize), TableError> {
        let attributes = self.job.plan.schema().attributes();
        let truths = truths(batch, self.job.plan.schema())?;
        let answers = self.randomizer.batch(&truths, &mut self.job.source.stream(number))?;
        let kept = batch.columns.columns()[attributes.len()..].iter().zip(self.layout.kept());
        let kept = kept.map(|(column, field)| {
            kept::bare(column, field).ok_or_else(|| TableError::KeptType {
                file: batch.file.clone(),
                column: field.name().clone(),
                found: column.data_type().to_string(),
                expected: field.data_type().to_string(),
            })
        });
        let kept = kept.collect::<Result<Vec<ArrayRef>, TableError>>()?;
        let rows = batch.columns.num_rows();
        let encoded = self.layout.encode(&answers, &truths, &kept, rows);
        Ok((encoded.map_err(|unwritable| unwritable.within(batch))?, rows))
    }
}

fn check_places(job: &Job<'_>) -> Result<(), TableError> {
    let Target::File(output) = job.output else { return Ok(()) };
    let Ok(output) = output.canonicalize() else { return Ok(()) };
    let same = |location: &&Location| match location {
        Location::File(path) => path.canonicalize().is_ok_and(|path| path == output && path.is_file()),
        Location::Stdin => false,
    };
    match job.inputs.iter().find(same) {
        Some(location) => Err(TableError::SameFile(location.name())),
        None => Ok(()),
    }
}

/// The columns that are passed on, by the first batch.
fn kept_fields(job: &Job<'_>, first: &Batch) -> Result<Vec<Field>, TableError> {
    let schema = first.columns.schema();
    let kept = kept::fields(job.plan, &schema.fields()[job.plan.schema().attributes().len()..])?;
    kept.iter().try_for_each(|field| responses::check_kept(field, job.format, &first.file))?;
    Ok(kept)
}

/// Responses are read back by their labels and names, so those must be written as they are.
fn check_cells(job: &Job<'_>) -> Result<(), TableError> {
    let Format::Csv { safe_cells: true, .. } = job.format else { return Ok(()) };
    for column in job.plan.columns() {
        let (labels, set): (&[String], bool) = match &column.content {
            Content::Public { attribute } => (job.plan.schema().attributes()[*attribute].categories(), false),
            Content::Answer { labels, set, .. } => (labels, *set),
            Content::Tag { .. } => (&[], false),
        };
        // A set may begin with any of its labels, and is not a number.
        let changed = |label: &&String| is_formula(label) || (set && is_formula(&format!("{label}{SET_SEPARATOR}")));
        if let Some(label) = labels.iter().find(changed).or(Some(&column.name).filter(|name| is_formula(name))) {
            return Err(TableError::UnsafeLabel { column: column.name.clone(), label: label.clone() });
        }
    }
    Ok(())
}
