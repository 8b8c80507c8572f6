//! Randomizing tables: read, randomize and write at the same time, in order, on all cores.

use arrow_array::ArrayRef;
use candor::plan::Plan;
use candor::randomize::Randomizer;
use candor::randomness::Source;

use crate::input::{Batch, Input, Location};
use crate::output::Target;
use crate::parallel::in_order;
use crate::responses::{Encoded, FINGERPRINT_KEY, Format, Layout, ResponseWriter, SIMULATION_KEY, Sidecar, provenance};
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
    let names: Vec<String> =
        job.plan.schema().attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
    let mut inputs = Vec::new();
    let mut total = Some(0);
    for location in job.inputs {
        let input = Input::open(location, job.delimiter)?;
        if let Some((fingerprint, _)) = provenance(location, &input)? {
            return Err(TableError::AlreadyRandomized { file: location.name(), fingerprint });
        }
        total = total.zip(input.rows()).map(|(sum, rows)| sum + rows);
        inputs.push(input.batches_with_crosses(&names, job.keep)?);
    }
    let mut batches = inputs.into_iter().flatten().peekable();
    // The types of kept columns are known from the first batch.
    let kept = match batches.peek() {
        Some(Ok(first)) => kept::fields(job.plan, &first.columns.schema().fields()[names.len()..])?,
        Some(Err(_)) => return Err(batches.next().and_then(Result::err).expect("just seen")),
        None => return Err(TableError::NoRecords { file: job.inputs.first().map_or(String::new(), Location::name) }),
    };
    let layout = Layout::new(job.plan, kept, job.format);
    let seed = job.source.seed();
    let mut metadata = vec![(FINGERPRINT_KEY, job.plan.fingerprint().to_string())];
    metadata.extend(seed.map(|seed| (SIMULATION_KEY, seed.to_string())));
    let mut writer = ResponseWriter::new(job.output, &layout, &metadata)?;
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
        Ok((self.layout.encode(&answers, &truths, &kept, rows), rows))
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
