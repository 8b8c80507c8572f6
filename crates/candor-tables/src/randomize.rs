//! Randomizing tables: read, randomize and write at the same time, in order, on all cores.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::ArrayRef;
use arrow_schema::Field;
use candor::plan::{Content, Plan};
use candor::randomize::Randomizer;
use candor::randomness::Source;

use crate::TableError;
use crate::codes::codes;
use crate::input::{Batch, Input, Location};
use crate::output::Target;
use crate::responses::{Encoded, Format, Layout, ResponseWriter, Sidecar, provenance};

/// What to randomize and where to.
pub struct Job<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The tables of true records; their rows follow one another.
    pub inputs: &'a [Location],
    /// The delimiter of CSV inputs; `None` to find out.
    pub delimiter: Option<u8>,
    /// Columns to pass on unchanged.
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
    check_kept(job)?;
    let names: Vec<String> =
        job.plan.schema().attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
    let columns: Vec<String> = names.iter().chain(job.keep).cloned().collect();
    let mut inputs = Vec::new();
    let mut total = Some(0);
    for location in job.inputs {
        let input = Input::open(location, job.delimiter)?;
        if let Some((fingerprint, _)) = provenance(location, &input)? {
            return Err(TableError::AlreadyRandomized { file: location.name(), fingerprint });
        }
        total = total.zip(input.rows()).map(|(sum, rows)| sum + rows);
        inputs.push(input.batches(&columns)?);
    }
    let mut batches = inputs.into_iter().flatten().peekable();
    // The types of kept columns are known from the first batch.
    let kept = match batches.peek() {
        Some(Ok(first)) => {
            first.columns.schema().fields()[names.len()..].iter().map(|field| field.as_ref().clone()).collect()
        }
        Some(Err(_)) => return Err(batches.next().and_then(Result::err).expect("just seen")),
        None => return Err(TableError::NoRecords { file: job.inputs.first().map_or(String::new(), Location::name) }),
    };
    let layout = Layout::new(job.plan, kept, job.format);
    let seed = job.source.seed();
    let mut writer = ResponseWriter::new(job.output, &layout, job.plan.fingerprint().as_str(), seed)?;
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
    writer.finish(job.output, &Sidecar { fingerprint, records, simulation: seed })?;
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
        let mut truths = Vec::with_capacity(attributes.len());
        let mut first = None;
        for (column, attribute) in attributes.iter().enumerate() {
            truths.push(codes(batch, column, attribute, |bad| {
                if first.as_ref().is_none_or(|first: &crate::error::BadValue| bad.row < first.row) {
                    first = Some(bad);
                }
            })?);
        }
        if let Some(bad) = first {
            return Err(TableError::Value(bad));
        }
        let answers = self.randomizer.batch(&truths, &mut self.job.source.stream(number))?;
        let kept: Vec<ArrayRef> = batch.columns.columns()[attributes.len()..].to_vec();
        let expected: &[Field] = self.layout.kept();
        for (array, field) in kept.iter().zip(expected) {
            if array.data_type() != field.data_type() {
                let (file, column, found) = (batch.file.clone(), field.name().clone(), array.data_type().to_string());
                return Err(TableError::Type { file, column, found });
            }
        }
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

fn check_kept(job: &Job<'_>) -> Result<(), TableError> {
    let columns = job.plan.columns();
    for (i, name) in job.keep.iter().enumerate() {
        let attribute = job.plan.schema().attributes().iter().find(|attribute| attribute.name() == name);
        if attribute.is_some_and(|attribute| !attribute.is_public()) {
            return Err(TableError::KeptTruth(name.clone()));
        }
        let public = |content: &Content| matches!(content, Content::Public { .. });
        let clash = columns.iter().any(|column| column.name == *name && !public(&column.content));
        if clash || attribute.is_some() || job.keep[..i].contains(name) {
            return Err(TableError::KeptTwice(name.clone()));
        }
    }
    Ok(())
}

/// Maps items on all cores and hands the results on in order. Stops at the first error of `take`.
fn in_order<I, T, E>(
    items: impl Iterator<Item = I> + Send,
    map: impl Fn(u64, I) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E>
where
    I: Send,
    T: Send,
{
    type Work<I, T> = (u64, I, SyncSender<T>);
    let workers = thread::available_parallelism().map_or(1, |cores| cores.get());
    thread::scope(|scope| {
        let (work, queue) = sync_channel::<Work<I, T>>(workers);
        let queue: Arc<Mutex<Receiver<Work<I, T>>>> = Arc::new(Mutex::new(queue));
        let (promise, promised) = sync_channel::<Receiver<T>>(2 * workers);
        let map = &map;
        for _ in 0..workers {
            let queue = Arc::clone(&queue);
            scope.spawn(move || {
                loop {
                    let next = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
                    let Ok((number, item, done)) = next else { break };
                    // Nobody waits for the result any more after an error.
                    let _ = done.send(map(number, item));
                }
            });
        }
        drop(queue);
        scope.spawn(move || {
            for (number, item) in (0..).zip(items) {
                let (done, result) = sync_channel(1);
                if promise.send(result).is_err() || work.send((number, item, done)).is_err() {
                    break;
                }
            }
        });
        for result in promised {
            // A worker that panicked leaves its promise unkept; the scope passes the panic on.
            let Ok(result) = result.recv() else { break };
            take(result)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_workers_do() {
        let slow_first = |number: u64, item: u64| {
            thread::sleep(std::time::Duration::from_micros(500 * (7 - number % 7)));
            item * 2
        };
        let mut taken = Vec::new();
        in_order(0..100u64, slow_first, |result| {
            taken.push(result);
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(taken, (0..100).map(|i| i * 2).collect::<Vec<u64>>());
    }

    #[test]
    fn the_first_error_stops_everything() {
        let mut taken = 0;
        let failed = in_order(
            0..,
            |_, item: u64| item,
            |item| {
                taken += 1;
                if item == 20 { Err(item) } else { Ok(()) }
            },
        );
        assert_eq!((failed, taken), (Err(20), 21));
    }
}
