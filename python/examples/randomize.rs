//! What the Python package is compared with: the same batches, randomized by the library alone.
//!
//! Usage: `randomize PLAN ROWS REPEATS`; the attributes of the plan are those of `Schema::with_sizes`. Prints wall and
//! CPU seconds of each repetition as JSON.

use std::sync::Arc;
use std::time::Instant;

use arrow_array::types::Int32Type;
use arrow_array::{DictionaryArray, Int32Array, RecordBatch, StringArray};
use candor::randomize::{RandomizeOptions, randomize};
use candor_base::plan::Plan;
use candor_base::randomness::Source;
use candor_tables::TableError;
use candor_tables::input::{Input, Inputs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plan, rows, repeats] = &arguments[..] else { return Err("randomize PLAN ROWS REPEATS".into()) };
    let plan = Plan::from_json(&std::fs::read_to_string(plan)?)?;
    let batch = records(&plan, rows.parse()?)?;
    let mut measured = Vec::new();
    for _ in 0..repeats.parse::<usize>()? {
        let (begun, cpu) = (Instant::now(), cpu_seconds()?);
        let input = Input::from_batches("records", batch.schema(), [Ok(batch.clone())])?;
        let source = Source::from_os()?;
        let mut responses = Vec::new();
        let take = |batch| {
            responses.push(batch);
            Ok::<(), TableError>(())
        };
        randomize(&plan, Inputs::from(input), &RandomizeOptions::new(&source), take)?;
        measured.push([begun.elapsed().as_secs_f64(), cpu_seconds()? - cpu]);
    }
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

/// One dictionary column per attribute; row `i` of column `c` holds category `(i * 7919 + c) mod size`.
fn records(plan: &Plan, rows: usize) -> Result<RecordBatch, Box<dyn std::error::Error>> {
    let attributes = plan.schema().attributes().iter().enumerate();
    let columns = attributes.map(|(at, attribute)| {
        let size = attribute.categories().len();
        let keys: Int32Array = (0..rows).map(|row| Some(((row * 7919 + at) % size) as i32)).collect();
        let labels = Arc::new(StringArray::from(attribute.categories().to_vec()));
        let column = DictionaryArray::<Int32Type>::try_new(keys, labels)?;
        Ok((attribute.name().to_owned(), Arc::new(column) as arrow_array::ArrayRef))
    });
    let columns = columns.collect::<Result<Vec<_>, arrow_schema::ArrowError>>()?;
    Ok(RecordBatch::try_from_iter(columns)?)
}

/// What this process has used of all processors, on Linux.
fn cpu_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    Ok(ticks as f64 / 100.0)
}
