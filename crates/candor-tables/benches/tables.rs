//! Measures randomizing files, and compares it with only reading and writing them.
//!
//! `cargo bench -p candor-tables` makes a file of ten million rows with the eight categorical attributes of Adult,
//! as Parquet and CSV, or with as many rows as `CANDOR_BENCH_ROWS` specifies. It measures decoding the Parquet input
//! and encoding an already randomized file, one after the other in one thread. It then measures `candor randomize`,
//! with its peak memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use arrow_array::types::UInt16Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt16Array};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use candor_tables::BATCH_ROWS;
use candor_tables::input::{Input, Inputs, Location};
use candor_tables::output::{Existing, Target};
use candor_tables::randomize::{RandomizeJob, randomize_to};
use candor_tables::responses::Format;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

const ADULT: [usize; 8] = [9, 16, 7, 15, 6, 5, 2, 2];

fn plan() -> Plan {
    let block = |i: usize| Block::new(vec![i], Pattern::k_ary(vec![Axis::single(ADULT[i])], 0.5).unwrap());
    Plan::new(Schema::with_sizes(&ADULT).unwrap(), (0..8).map(block).collect()).unwrap()
}

/// Returns rows with varied categories from a fast generator, with lower ones more often.
fn batch(schema: &Arc<ArrowSchema>, state: &mut u64) -> RecordBatch {
    let column = |size: &usize| -> ArrayRef {
        let mut code = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let u = (*state >> 40) as f64 / (1u64 << 24) as f64;
            (u * u * *size as f64) as u16
        };
        let keys = UInt16Array::from((0..BATCH_ROWS).map(|_| code()).collect::<Vec<u16>>());
        let labels = StringArray::from((0..*size).map(|c| c.to_string()).collect::<Vec<String>>());
        Arc::new(DictionaryArray::<UInt16Type>::try_new(keys, Arc::new(labels)).unwrap())
    };
    RecordBatch::try_new(schema.clone(), ADULT.iter().map(column).collect()).unwrap()
}

fn schema() -> Arc<ArrowSchema> {
    let dictionary = DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
    let field = |i: usize| Field::new(format!("a{}", i + 1), dictionary.clone(), false);
    Arc::new(ArrowSchema::new((0..8).map(field).collect::<Vec<Field>>()))
}

fn encode(path: &Path, batches: impl Iterator<Item = RecordBatch>) {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(1 << 20))
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), schema(), Some(properties)).unwrap();
    batches.for_each(|batch| writer.write(&batch).unwrap());
    writer.close().unwrap();
}

fn decode(path: &Path) -> usize {
    let names: Vec<String> = (1..=8).map(|i| format!("a{i}")).collect();
    let batches = Input::open(&Location::File(path.into()), None).unwrap().batches(&names).unwrap();
    batches.map(|batch| batch.unwrap().columns.num_rows()).sum()
}

fn run(input: &Path, output: &Path) -> f64 {
    let (plan, source) = (plan(), Source::from_os().unwrap());
    let target = Target::File(output.into());
    let started = Instant::now();
    let inputs = Inputs::new([input.to_owned()], None).unwrap();
    let job = RandomizeJob { plan: &plan, keep: &[], source: &source };
    randomize_to(&job, inputs, &target, Format::for_target(&target), Existing::Replace, ProgressSink::none()).unwrap();
    started.elapsed().as_secs_f64()
}

/// Returns the peak memory of this process in MiB, if the system provides it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn main() {
    // A separate process for each randomization has its own peak memory.
    if let [_, word, input, output, ..] = &std::env::args().collect::<Vec<_>>()[..]
        && word == "randomize"
    {
        let seconds = run(Path::new(input), Path::new(output));
        println!("{seconds} {}", peak().unwrap_or(0));
        return;
    }
    let rows: usize = std::env::var("CANDOR_BENCH_ROWS").map_or(10_000_000, |rows| rows.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let (people, responses) = (place("people.parquet"), place("responses.parquet"));
    let batches = rows.div_ceil(BATCH_ROWS);
    let mut state = 1;
    encode(&people, (0..batches).map(|_| batch(&schema(), &mut state)));
    let rows = batches * BATCH_ROWS;
    println!("{rows} rows, 8 categorical columns, {} MiB of Parquet", people.metadata().unwrap().len() >> 20);

    let started = Instant::now();
    assert_eq!(decode(&people), rows);
    let decoding = started.elapsed().as_secs_f64();
    let ready: Vec<RecordBatch> = (0..16).map(|_| batch(&schema(), &mut state)).collect();
    let started = Instant::now();
    encode(&place("encoded.parquet"), (0..batches).map(|i| ready[i % 16].clone()));
    let encoding = started.elapsed().as_secs_f64();
    println!("decode {decoding:.2} s + encode {encoding:.2} s = {:.2} s in one thread", decoding + encoding);

    let child = |input: &PathBuf, output: &PathBuf| {
        let this = std::env::current_exe().unwrap();
        let said = std::process::Command::new(this).arg("randomize").arg(input).arg(output).output().unwrap();
        let text = String::from_utf8(said.stdout).unwrap();
        let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        (numbers[0], numbers[1])
    };
    let rate = |seconds: f64| rows as f64 / seconds / 1e6;
    let (seconds, peak) = child(&people, &responses);
    println!(
        "Parquet to Parquet {seconds:.2} s: {:.2} times decoding and encoding, {:.1} million rows/s, peak {peak} MiB",
        seconds / (decoding + encoding),
        rate(seconds)
    );
    let csv = place("responses.csv");
    let (seconds, peak) = child(&people, &csv);
    println!("Parquet to CSV {seconds:.2} s: {:.1} million rows/s, peak {peak} MiB", rate(seconds));
    // Without its sidecar file, the CSV is an ordinary file again.
    std::fs::remove_file(place("responses.csv.candor.json")).unwrap();
    let (seconds, peak) = child(&csv, &place("again.csv"));
    println!("CSV to CSV {seconds:.2} s: {:.1} million rows/s, peak {peak} MiB", rate(seconds));
}
