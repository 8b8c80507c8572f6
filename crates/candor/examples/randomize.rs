//! Randomizes Arrow record batches; the responses carry the fingerprint of the plan.

use std::sync::Arc;

use candor::arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, StringArray};
use candor::prelude::*;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let smokes: ArrayRef = Arc::new(StringArray::from_iter_values((0..1000).map(|i| ["no", "yes"][i % 2])));
    let people = RecordBatch::try_from_iter([("smokes", smokes)])?;
    let table = || Input::from_batches("people", people.schema(), [Ok(people.clone())]);

    // A schema of the categories that occur; for a real survey, list all possible answers.
    let schema = infer(table()?, &InferOptions::default(), ProgressSink::none())?.schema;
    let plan = design(&schema, &Independent::new(1.0).into(), &DesignOptions::default())?.plan;

    let responses = randomize_reader(&plan, table()?.into(), &[], Source::from_os()?)?;
    assert_eq!(responses.schema().metadata()["candor:fingerprint"], plan.fingerprint().as_str());
    let batches = responses.collect::<Result<Vec<RecordBatch>, _>>()?;
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1000);
    Ok(())
}
