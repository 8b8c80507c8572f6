//! The different responses, with how often each occurs: in one pass, on all cores.

use candor_analysis::adjust::DistinctRecords;
use candor_base::plan::Plan;
use candor_bulk::AnswerColumn;
use candor_runtime::progress::ProgressSink;

use crate::TableError;
use crate::input::Inputs;
use crate::responses::{ReadSummary, ResponseBatch, read_batches};

/// Counts the different responses of tables made under a plan that [answers with
/// records](candor_analysis::adjust::check_plan): one column per attribute, in the order of the schema. Memory is
/// proportional to their number, not to that of the responses.
///
/// # Errors
/// If a table was made under another plan or cannot be read, or a value cannot be a response.
///
/// # Panics
/// If answers under the plan are sets.
pub fn distinct_responses(
    plan: &Plan,
    inputs: Inputs,
    progress: ProgressSink<'_>,
) -> Result<(DistinctRecords, ReadSummary), TableError> {
    let width = plan.columns().len();
    let mut records = DistinctRecords::new(width);
    let count = |batch: ResponseBatch| {
        let mut columns: Vec<&[u16]> = Vec::with_capacity(width);
        for codes in &batch.columns {
            let AnswerColumn::One(codes) = codes else { panic!("answers are single categories") };
            columns.push(codes);
        }
        let mut records = DistinctRecords::new(width);
        records.add_rows(&columns);
        records
    };
    let read = read_batches(plan, inputs, None, progress, count, |counted| records.merge(&counted))?;
    Ok((records, read))
}
