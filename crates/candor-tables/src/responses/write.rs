//! Writes answers as columns of a file, atomically.

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt16Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, ListArray, RecordBatch, StringArray, UInt16Array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use candor_base::plan::{Content, Plan, ResponseColumn, SET_SEPARATOR};
use candor_base::schema::Schema;
use candor_bulk::{AnswerColumn, Responses, Sets, UNANSWERED};

use super::Format;
use super::as_text::{KeptText, Unwritable, as_shown};
use super::cells::CellLabels;
use crate::TableError;
use crate::input::DELIMITERS;
use crate::output::{Existing, Pending, Target, TextWriter};
use crate::parquet_output::ParquetOutput;
use crate::sidecar::Sidecar;
use crate::spreadsheet::safe_cell;

/// Columns of responses, with their labels prepared for writing.
pub(crate) struct Layout {
    columns: Vec<(ResponseColumn, Labels)>,
    kept: Vec<Field>,
    format: Format,
}

enum Labels {
    /// As a dictionary and as CSV fields.
    Some {
        values: ArrayRef,
        fields: Vec<Vec<u8>>,
        /// Whether some channel gives no answer.
        nullable: bool,
    },
    /// Labels of cells of subset channels.
    Cells(CellLabels),
    None,
}

/// A batch of responses in the output format.
pub(crate) enum Encoded {
    Text(Vec<u8>),
    Batch(RecordBatch),
}

impl Layout {
    /// Creates the columns of responses to a plan, followed by kept columns.
    pub(crate) fn new(plan: &Plan, kept: Vec<Field>, format: Format) -> Layout {
        let mut layout = Layout::of_columns(plan.schema(), plan.columns().to_vec(), kept, format);
        for (column, labels) in &mut layout.columns {
            match (&column.content, labels) {
                (Content::Cells { block }, labels) => *labels = Labels::Cells(CellLabels::new(plan, *block)),
                (Content::Answer { block, .. }, Labels::Some { nullable, .. }) => {
                    *nullable = plan.blocks()[*block].strips().next().is_some();
                }
                _ => {}
            }
        }
        layout
    }

    /// Creates one column per attribute, as if all were public, followed by others.
    pub(crate) fn of_records(schema: &Schema, kept: Vec<Field>, format: Format) -> Layout {
        let names = schema.attributes().iter().map(|attribute| attribute.name().to_owned()).enumerate();
        let columns = names.map(|(attribute, name)| ResponseColumn { name, content: Content::Public { attribute } });
        Layout::of_columns(schema, columns.collect(), kept, format)
    }

    fn of_columns(schema: &Schema, columns: Vec<ResponseColumn>, kept: Vec<Field>, format: Format) -> Layout {
        let column = |column: ResponseColumn| {
            let labels = match &column.content {
                Content::Answer { labels, .. } => labels.clone(),
                Content::Public { attribute } => schema.attributes()[*attribute].categories().to_vec(),
                Content::Tag { .. } | Content::Cells { .. } => return (column, Labels::None),
            };
            let values = Arc::new(StringArray::from(labels.clone()));
            let field = |label: &String| {
                let mut field = Vec::new();
                push_cell(&mut field, label, format);
                field
            };
            let fields = labels.iter().map(field).collect();
            (column, Labels::Some { values, fields, nullable: false })
        };
        Layout { columns: columns.into_iter().map(column).collect(), kept, format }
    }

    pub(crate) fn schema(&self) -> ArrowSchema {
        let dictionary = || DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
        let list = |name: &str, items: DataType, nullable: bool| {
            Field::new_list(name, Field::new_list_field(items, false), nullable)
        };
        let field = |(column, labels): &(ResponseColumn, Labels)| match column.content {
            Content::Answer { set: true, .. } => list(&column.name, dictionary(), labels.may_be_null()),
            Content::Answer { .. } | Content::Public { .. } => {
                Field::new(&column.name, dictionary(), labels.may_be_null())
            }
            Content::Cells { .. } => list(&column.name, CellLabels::item_type(), true),
            Content::Tag { .. } => Field::new(&column.name, DataType::UInt16, false),
        };
        ArrowSchema::new(self.columns.iter().map(field).chain(self.kept.iter().cloned()).collect::<Vec<Field>>())
    }

    /// Returns the kept columns.
    pub(crate) fn kept(&self) -> &[Field] {
        &self.kept
    }

    /// Returns the header of a CSV file.
    pub(crate) fn header(&self) -> Vec<u8> {
        let names = self.columns.iter().map(|(column, _)| column.name.as_str());
        let mut line = Vec::new();
        for (i, name) in names.chain(self.kept.iter().map(|field| field.name().as_str())).enumerate() {
            if i > 0 {
                line.push(delimiter_of(self.format));
            }
            push_name(&mut line, name, self.format);
        }
        line.push(b'\n');
        line
    }

    /// Encodes responses and kept columns as rows.
    ///
    /// # Errors
    /// Returns [`Unwritable`] for the first kept value that has no text form.
    pub(crate) fn encode(&self, responses: &Responses, kept: &[ArrayRef], rows: usize) -> Result<Encoded, Unwritable> {
        match self.format {
            Format::Csv { .. } => self.text(responses, kept, rows).map(Encoded::Text),
            Format::Parquet => Ok(Encoded::Batch(self.batch(responses, kept))),
        }
    }

    fn batch(&self, responses: &Responses, kept: &[ArrayRef]) -> RecordBatch {
        let labelled = |codes: &[u16], labels: &Labels| -> ArrayRef {
            let Labels::Some { values, nullable, .. } = labels else { unreachable!("answers have labels") };
            let keys = match nullable {
                true => codes.iter().map(|&code| (code != UNANSWERED).then_some(code)).collect(),
                false => UInt16Array::from(codes.to_vec()),
            };
            Arc::new(DictionaryArray::<UInt16Type>::try_new(keys, values.clone()).expect("codes are categories"))
        };
        let array = |(column, labels): &(ResponseColumn, Labels)| -> ArrayRef {
            match &column.content {
                Content::Public { attribute } => labelled(&responses.public[*attribute], labels),
                Content::Tag { block } => Arc::new(UInt16Array::from(responses.blocks[*block].tags.clone())),
                Content::Answer { block, place, .. } => match &responses.blocks[*block].columns[*place] {
                    AnswerColumn::One(codes) => labelled(codes, labels),
                    AnswerColumn::Set(sets) => lists(sets, labelled(sets.codes(), labels), labels.may_be_null()),
                },
                Content::Cells { block } => {
                    let (Labels::Cells(labels), Some(sets)) = (labels, &responses.blocks[*block].cells) else {
                        unreachable!("strips answer with cells")
                    };
                    let keys = Int32Array::from(labels.keys(&responses.blocks[*block].tags, sets));
                    let items = DictionaryArray::<Int32Type>::try_new(keys, labels.values()).expect("labels of cells");
                    lists(sets, Arc::new(items), true)
                }
            }
        };
        let arrays = self.columns.iter().map(array).chain(kept.iter().cloned()).collect();
        RecordBatch::try_new(Arc::new(self.schema()), arrays).expect("columns of the layout")
    }

    fn text(&self, responses: &Responses, kept: &[ArrayRef], rows: usize) -> Result<Vec<u8>, Unwritable> {
        let kept: Vec<ArrayRef> = kept.iter().map(as_shown).collect();
        let mut sources: Vec<Source<'_>> = Vec::with_capacity(self.columns.len() + kept.len());
        sources.extend(self.columns.iter().map(|column| Source::new(column, responses)));
        for (array, field) in kept.iter().zip(&self.kept) {
            sources.push(Source::Kept(KeptText::new(array, field)?));
        }
        let delimiter = delimiter_of(self.format);
        let mut text = Vec::with_capacity(rows * sources.len() * 8);
        for row in 0..rows {
            for (i, source) in sources.iter().enumerate() {
                if i > 0 {
                    text.push(delimiter);
                }
                match source {
                    Source::Codes(codes, _) if codes[row] == UNANSWERED => {}
                    Source::Codes(codes, fields) => text.extend_from_slice(&fields[usize::from(codes[row])]),
                    Source::Sets(sets, _) | Source::Cells(sets, ..) if sets.get(row).is_empty() => {}
                    Source::Cells(sets, tags, labels) => {
                        push_cell(&mut text, &labels.joined(tags.get(row).copied(), sets.get(row)), self.format);
                    }
                    Source::Numbers(numbers) => text.extend_from_slice(numbers[row].to_string().as_bytes()),
                    Source::Sets(sets, labels) => {
                        let labels: Vec<&str> = sets.get(row).iter().map(|&code| labels.value(code.into())).collect();
                        push_cell(&mut text, &labels.join(&SET_SEPARATOR.to_string()), self.format);
                    }
                    Source::Kept(kept) => push_cell(&mut text, &kept.value(row)?, self.format),
                }
            }
            text.push(b'\n');
        }
        Ok(text)
    }
}

/// Source of the text of a column.
enum Source<'a> {
    Codes(&'a [u16], &'a [Vec<u8>]),
    Sets(&'a Sets, &'a StringArray),
    Cells(&'a Sets, &'a [u16], &'a CellLabels),
    Numbers(&'a [u16]),
    Kept(KeptText<'a>),
}

impl<'a> Source<'a> {
    fn new((column, labels): &'a (ResponseColumn, Labels), responses: &'a Responses) -> Source<'a> {
        match (&column.content, labels) {
            (Content::Public { attribute }, Labels::Some { fields, .. }) => {
                Source::Codes(&responses.public[*attribute], fields)
            }
            (Content::Tag { block }, _) => Source::Numbers(&responses.blocks[*block].tags),
            (Content::Answer { block, place, .. }, Labels::Some { values, fields, .. }) => {
                match &responses.blocks[*block].columns[*place] {
                    AnswerColumn::One(codes) => Source::Codes(codes, fields),
                    AnswerColumn::Set(sets) => Source::Sets(sets, values.as_string::<i32>()),
                }
            }
            (Content::Cells { block }, Labels::Cells(labels)) => {
                let sets = responses.blocks[*block].cells.as_ref().expect("strips answer with cells");
                Source::Cells(sets, &responses.blocks[*block].tags, labels)
            }
            _ => unreachable!("every column has its labels"),
        }
    }
}

impl Labels {
    fn may_be_null(&self) -> bool {
        matches!(self, Labels::Some { nullable: true, .. })
    }
}

/// Returns sets as lists; an empty set is null if that is allowed.
fn lists(sets: &Sets, items: ArrayRef, nullable: bool) -> ArrayRef {
    let offsets = OffsetBuffer::from_lengths(sets.iter().map(<[u16]>::len));
    let nulls = nullable.then(|| NullBuffer::from_iter(sets.iter().map(|set| !set.is_empty())));
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), false));
    Arc::new(ListArray::new(field, offsets, items, nulls))
}

fn delimiter_of(format: Format) -> u8 {
    match format {
        Format::Csv { delimiter, .. } => delimiter,
        Format::Parquet => b',',
    }
}

/// Appends a cell in the output format.
fn push_cell(line: &mut Vec<u8>, text: &str, format: Format) {
    match format {
        Format::Csv { delimiter, safe_cells: true } => push_field(line, &safe_cell(text), delimiter),
        Format::Csv { .. } | Format::Parquet => push_field(line, text, delimiter_of(format)),
    }
}

/// Appends the name of a column.
///
/// Readers detect the delimiter from the header, so a name with any possible delimiter is quoted.
fn push_name(line: &mut Vec<u8>, name: &str, format: Format) {
    let delimiter = match name.bytes().find(|byte| DELIMITERS.contains(byte)) {
        Some(like_a_delimiter) => like_a_delimiter,
        None => delimiter_of(format),
    };
    match format {
        Format::Csv { safe_cells: true, .. } => push_field(line, &safe_cell(name), delimiter),
        Format::Csv { .. } | Format::Parquet => push_field(line, name, delimiter),
    }
}

/// Appends a CSV field, quoted if necessary.
fn push_field(line: &mut Vec<u8>, text: &str, delimiter: u8) {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    if !text.is_empty() && !text.bytes().any(special) {
        line.extend_from_slice(text.as_bytes());
        return;
    }
    line.push(b'"');
    line.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    line.push(b'"');
}

/// Writer of batches of responses, in order.
pub(crate) enum ResponseWriter {
    Csv(TextWriter),
    Parquet(ParquetOutput),
}

impl ResponseWriter {
    /// Starts a file. `metadata` are keys and values for Parquet; responses in CSV will get a sidecar file.
    pub(crate) fn new(
        target: &Target,
        layout: &Layout,
        metadata: &[(&str, String)],
        responses: bool,
    ) -> Result<ResponseWriter, TableError> {
        if let Format::Csv { .. } = layout.format {
            let pending = if responses { Pending::with_sidecar(target)? } else { Pending::new(target)? };
            let mut writer = TextWriter::new(pending);
            writer.write_all(&layout.header()).map_err(|error| target.failed(error))?;
            return Ok(ResponseWriter::Csv(writer));
        }
        ParquetOutput::of_rows(target, Arc::new(layout.schema()), metadata).map(ResponseWriter::Parquet)
    }

    pub(crate) fn write(&mut self, encoded: &Encoded, target: &Target) -> Result<(), TableError> {
        match (self, encoded) {
            (ResponseWriter::Csv(writer), Encoded::Text(text)) => {
                writer.write_all(text).map_err(|error| target.failed(error))
            }
            (ResponseWriter::Parquet(writer), Encoded::Batch(batch)) => writer.write(batch, target),
            _ => unreachable!("the layout encodes for its writer"),
        }
    }

    /// Completes a file, with a sidecar file if it is CSV and has metadata.
    pub(crate) fn finish(
        self,
        target: &Target,
        sidecar: Option<&Sidecar>,
        existing: Existing,
    ) -> Result<(), TableError> {
        match self {
            ResponseWriter::Csv(writer) => {
                writer.end().map_err(|error| target.failed(error))?.finish_with(sidecar, existing)
            }
            ResponseWriter::Parquet(writer) => writer.end(target)?.finish_with(None, existing),
        }
    }
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;
    use arrow_array::Int32Array;
    use arrow_array::types::Int32Type;
    use candor_base::channel::{Axis, Pattern};
    use candor_base::plan::Block;
    use candor_bulk::BlockAnswers;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    /// Dictionary values of a kept column without any row belong to people who were removed from the file.
    #[test]
    fn what_stands_in_no_row_is_not_passed_on() {
        let channel = Pattern::k_ary(vec![Axis::single(2)], 1.0).unwrap();
        let plan = Plan::new(Schema::with_sizes(&[2]).unwrap(), vec![Block::new(vec![0], channel)]).unwrap();
        let labels = Arc::new(StringArray::from(vec!["secret", "north", "south"]));
        let region: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::new(Int32Array::from(vec![1, 2]), labels));
        let kept = vec![Field::new("region", region.data_type().clone(), true)];
        let block = BlockAnswers { tags: Vec::new(), columns: vec![AnswerColumn::One(vec![0, 1])], cells: None };
        let responses = Responses { blocks: vec![block], public: Vec::new() };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.parquet");
        let (target, layout) = (Target::File(path.clone()), Layout::new(&plan, kept, Format::Parquet));
        let mut writer = ResponseWriter::new(&target, &layout, &[], false).unwrap();
        writer
            .write(&layout.encode(&responses, &[region], 2).unwrap_or_else(|_| panic!("text can be written")), &target)
            .unwrap();
        writer.finish(&target, None, Existing::Replace).unwrap();
        let file = std::fs::File::open(path).unwrap();
        let batch = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().next().unwrap().unwrap();
        let read = format!("{:?}", batch.column(1).as_dictionary::<Int32Type>().values());
        assert!(read.contains("north") && !read.contains("secret"), "{read}");
    }
}
