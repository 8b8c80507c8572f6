//! Arrow record batches in, randomized record batches out. The plan's fingerprint travels with them.

use std::sync::Arc;

use candor::arrow_array::{ArrayRef, RecordBatch, StringArray};
use candor::prelude::*;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let smokes: ArrayRef = Arc::new(StringArray::from_iter_values((0..1000).map(|i| ["no", "yes"][i % 2])));
    let people = RecordBatch::try_from_iter([("smokes", smokes)])?;
    let table = || Input::from_batches("people", people.schema(), [Ok(people.clone())]);

    // A schema of what occurs; for a real survey, write down what could be answered.
    let schema = infer(table()?, &InferOptions::default())?.schema;
    let request = r#"{"method": "independent", "epsilon": 1}"#.parse()?;
    let plan = design(&schema, &request, &DesignOptions::default())?.plan;

    let mut responses = Vec::new();
    let options = RandomizeOptions { keep: &[], source: &Source::from_os()? };
    let done = randomize(&plan, table()?.into(), &options, |batch| {
        responses.push(batch);
        Ok::<(), TableError>(())
    })?;
    assert_eq!(done.records, 1000);
    assert_eq!(responses[0].schema().metadata()["candor:fingerprint"], done.fingerprint);
    Ok(())
}
