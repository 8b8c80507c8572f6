//! Copies responses from one format to another.

use candor_base::plan::{Content, Plan};
use candor_bulk::{AnswerColumn, BlockAnswers, Responses};
use candor_runtime::progress::ProgressSink;

use super::decode::ResponseBatch;
use super::read::read_batches;
use super::write::{Layout, ResponseWriter};
use super::{FINGERPRINT_KEY, Format};
use crate::TableError;
use crate::input::Inputs;
use crate::output::{Existing, Target};
use crate::sidecar::Sidecar;

/// Reads responses to a plan and writes them in another format, atomically, with the plan's fingerprint.
///
/// Returns their number.
///
/// # Errors
/// Returns [`TableError`] if they were made with another plan, cannot be read or written, or there are none.
pub fn copy_to(plan: &Plan, inputs: Inputs, output: &Target, format: Format) -> Result<u64, TableError> {
    let layout = Layout::new(plan, Vec::new(), format);
    let metadata = [(FINGERPRINT_KEY, plan.fingerprint().to_string())];
    let mut writer = ResponseWriter::new(output, &layout, &metadata, true)?;
    let mut failed = None;
    let encode = |batch: ResponseBatch| {
        let rows = batch.rows;
        layout.encode(&taken_apart(plan, batch), &[], rows)
    };
    let read = read_batches(plan, inputs, None, ProgressSink::none(), encode, |encoded| {
        if failed.is_none() {
            let encoded = encoded.map_err(|unwritable| unwritable.after(&output.name(), 0));
            failed = encoded.and_then(|encoded| writer.write(&encoded, output)).err();
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let sidecar = Sidecar { fingerprint: plan.fingerprint().to_string(), records: read.responses, simulation: None };
    writer.finish(output, Some(&sidecar), Existing::Replace)?;
    Ok(read.responses)
}

/// Splits the columns of responses by their content.
pub(crate) fn taken_apart(plan: &Plan, batch: ResponseBatch) -> Responses {
    let mut public = vec![Vec::new(); plan.schema().attributes().len()];
    let mut answers: Vec<BlockAnswers> =
        plan.blocks().iter().map(|_| BlockAnswers { tags: Vec::new(), columns: Vec::new(), cells: None }).collect();
    let mut places: Vec<(usize, usize, AnswerColumn)> = Vec::new();
    for (column, codes) in plan.columns().iter().zip(batch.columns) {
        match (&column.content, codes) {
            (Content::Public { attribute }, AnswerColumn::One(codes)) => public[*attribute] = codes,
            (Content::Tag { block }, AnswerColumn::One(codes)) => answers[*block].tags = codes,
            (Content::Answer { block, place, .. }, codes) => places.push((*block, *place, codes)),
            (Content::Cells { block }, AnswerColumn::Set(sets)) => answers[*block].cells = Some(sets),
            (Content::Public { .. } | Content::Tag { .. }, AnswerColumn::Set(_))
            | (Content::Cells { .. }, AnswerColumn::One(_)) => {
                unreachable!("cells are sets, tags and public attributes are none")
            }
        }
    }
    places.sort_by_key(|&(block, place, _)| (block, place));
    places.into_iter().for_each(|(block, _, codes)| answers[block].columns.push(codes));
    Responses { blocks: answers, public }
}
