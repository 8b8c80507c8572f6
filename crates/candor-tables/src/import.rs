//! Imports answers that interviewers recorded, as responses.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use candor_base::plan::{Content, Plan};
use candor_runtime::progress::{Progress, ProgressSink};

use crate::existing::check_new;
use crate::input::{Batch, Inputs};
use crate::output::{Existing, Target};
use crate::responses::{self, Decoder, Encoded, FINGERPRINT_KEY, Format, Layout, ResponseWriter, taken_apart};
use crate::sidecar::Sidecar;
use crate::types::cast;
use crate::{TableError, passthrough};

/// Recorded answers to import.
pub struct Entry<'a> {
    /// Plan of the answers.
    pub plan: &'a Plan,
    /// Names of the columns.
    pub columns: &'a Columns,
}

/// Names of the columns of recorded answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Columns with the card of each respondent, one for each block with several channels; by default those of
    /// responses.
    pub cards: Vec<String>,
    /// Labels of cards A, B and so on in these columns; by default letters or numbers.
    pub card_labels: Vec<String>,
    /// Columns of answers, one for each column of answers in responses; by default those of responses.
    pub answers: Vec<String>,
    /// Columns to copy unchanged.
    pub keep: Vec<String>,
}

/// Returns the letter of the card for a channel ID: `A` for 0; the ID itself from 26 on.
pub fn card_letter(tag: usize) -> String {
    match u8::try_from(tag) {
        Ok(tag) if tag < 26 => char::from(b'A' + tag).to_string(),
        _ => tag.to_string(),
    }
}

/// Converts the letter of a card, or a channel ID, to the digits of the ID.
fn tag_of(written: &str) -> String {
    match written.trim().as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => (letter.to_ascii_uppercase() - b'A').to_string(),
        _ => written.trim().to_owned(),
    }
}

/// Writes recorded answers as responses with the plan's fingerprint, atomically. Returns their number.
///
/// # Errors
/// Returns [`TableError::Occupied`] if the file exists, with [`Existing::Keep`].
/// Returns another [`TableError`] if a column is missing, a value is neither an answer nor a card, or a file cannot
/// be read or written.
pub fn import_to(
    entry: &Entry<'_>,
    inputs: Inputs,
    (output, format, existing): (&Target, Format, Existing),
    progress: ProgressSink<'_>,
) -> Result<u64, TableError> {
    check_new(output, existing)?;
    passthrough::check_names(entry.plan, &entry.columns.keep)?;
    let (decoder, names) = (Decoder::new(entry.plan, None), entry.names());
    let metadata = [(FINGERPRINT_KEY, entry.plan.fingerprint().to_string())];
    let first = inputs.name();
    let mut begun: Option<(Layout, ResponseWriter)> = None;
    let mut records = 0;
    for table in inputs {
        let (input, provenance) = responses::open(table)?;
        if let Some(provenance) = provenance {
            let (file, fingerprint) = (input.name().to_owned(), provenance.fingerprint);
            return Err(TableError::AlreadyResponses { file, fingerprint });
        }
        for batch in input.batches(&names)? {
            let batch = entry.with_tags(batch?);
            let (layout, writer) = match &mut begun {
                Some(begun) => begun,
                None => {
                    let layout = Layout::new(entry.plan, entry.kept_fields(&batch, format)?, format);
                    let writer = ResponseWriter::new(output, &layout, &metadata, true)?;
                    begun.insert((layout, writer))
                }
            };
            writer.write(&entry.encoded(&decoder, layout, &batch)?, output)?;
            records += batch.columns.num_rows() as u64;
            progress.report(Progress::new("records", records, None))?;
        }
    }
    let Some((_, writer)) = begun.filter(|_| records > 0) else { return Err(TableError::NoRecords { file: first }) };
    let fingerprint = entry.plan.fingerprint().to_string();
    let sidecar = Sidecar { fingerprint, records, simulation: None };
    writer.finish(output, Some(&sidecar), existing)?;
    Ok(records)
}

impl Entry<'_> {
    /// Returns the columns to read: those of responses, with cards and answers under their own names, then kept
    /// columns.
    fn names(&self) -> Vec<String> {
        let (mut cards, mut answers) = (self.columns.cards.iter(), self.columns.answers.iter());
        let own = self.plan.columns().iter().map(|column| match column.content {
            Content::Tag { .. } => cards.next().unwrap_or(&column.name).clone(),
            Content::Answer { .. } => answers.next().unwrap_or(&column.name).clone(),
            _ => column.name.clone(),
        });
        let mut names: Vec<String> = own.collect();
        names.extend(self.columns.keep.iter().cloned());
        names
    }

    /// Converts a label of a card to the digits of its channel ID.
    fn tag_of(&self, written: &str) -> String {
        let labels = &self.columns.card_labels;
        match labels.iter().position(|label| label == written.trim()) {
            Some(tag) => tag.to_string(),
            None if labels.is_empty() => tag_of(written),
            None => written.to_owned(),
        }
    }

    /// Replaces labels of cards by channel IDs.
    fn with_tags(&self, mut batch: Batch) -> Batch {
        let fields = batch.columns.schema();
        let mut columns: Vec<(Field, ArrayRef)> =
            fields.fields().iter().map(|field| field.as_ref().clone()).zip(batch.columns.columns().to_vec()).collect();
        for ((field, array), column) in columns.iter_mut().zip(self.plan.columns()) {
            let tag = matches!(column.content, Content::Tag { .. });
            if let Some(text) = Some(&*array).filter(|_| tag).and_then(|array| cast(array, &DataType::Utf8)) {
                let tags: StringArray =
                    text.as_string::<i32>().iter().map(|written| written.map(|written| self.tag_of(written))).collect();
                *array = Arc::new(tags);
                *field = Field::new(field.name(), DataType::Utf8, true);
            }
        }
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        batch.columns =
            RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), arrays).expect("as many rows as before");
        batch
    }

    fn kept_fields(&self, batch: &Batch, format: Format) -> Result<Vec<Field>, TableError> {
        let own = self.plan.columns().len();
        let fields = passthrough::fields(self.plan, &batch.columns.schema_ref().fields()[own..])?;
        fields.iter().try_for_each(|field| responses::check_kept(field, format, &batch.file))?;
        Ok(fields)
    }

    fn encoded(&self, decoder: &Decoder, layout: &Layout, batch: &Batch) -> Result<Encoded, TableError> {
        let decoded = decoder.decode(batch)?;
        let rows = decoded.rows;
        let responses = taken_apart(self.plan, decoded);
        let kept = batch.columns.columns()[self.plan.columns().len()..].iter().zip(layout.kept());
        let kept = kept.map(|(column, field)| {
            passthrough::bare(column, field).ok_or_else(|| TableError::KeptType {
                file: batch.file.clone(),
                column: field.name().clone(),
                found: column.data_type().to_string(),
                expected: field.data_type().to_string(),
            })
        });
        let kept = kept.collect::<Result<Vec<ArrayRef>, TableError>>()?;
        layout.encode(&responses, &kept, rows).map_err(|unwritable| unwritable.within(batch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_have_letters() {
        assert_eq!((card_letter(0), card_letter(25), card_letter(26)), ("A".into(), "Z".into(), "26".into()));
        for (written, tag) in [("A", "0"), (" b ", "1"), ("3", "3"), ("AB", "AB"), ("", "")] {
            assert_eq!(tag_of(written), tag);
        }
    }
}
