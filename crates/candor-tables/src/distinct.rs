//! Counts the distinct responses, in one pass and in parallel.

use candor_analysis::adjust::DistinctRecords;
use candor_base::plan::Plan;
use candor_bulk::AnswerColumn;
use candor_runtime::progress::ProgressSink;

use crate::TableError;
use crate::input::Inputs;
use crate::responses::{ReadSummary, ResponseBatch, read_batches};

/// Counts the distinct responses in files, with one column per attribute, in the order of the schema.
///
/// Answers must be [records](candor_analysis::adjust::check_plan). Memory is proportional to the number of distinct
/// responses, and not to that of all responses.
///
/// # Errors
/// Returns [`TableError`] if a file was made with another plan or cannot be read, or a value is not a valid
/// response.
///
/// # Panics
/// Panics if answers under the plan are sets.
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
