//! Tables of responses: how answers are written as columns, and how they are read back.
//!
//! The plan's fingerprint travels with them (docs/formats.md).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt16Type, UInt64Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt16Array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use candor::channel::Channel;
use candor::plan::{Content, Plan, ResponseColumn, SET_SEPARATOR};
use candor::randomize::{AnswerColumn, BlockAnswers};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use serde::{Deserialize, Serialize};

use crate::codes::{cast, text_dictionary};
use crate::input::{Batch, Batches, Input, Location};
use crate::output::{Pending, Target, TextWriter};
use crate::{TableError, error::BadValue};

/// Key of the plan's fingerprint in a Parquet file's metadata.
pub const FINGERPRINT_KEY: &str = "candor:fingerprint";
/// Key of the seed, if the responses are a simulation.
pub const SIMULATION_KEY: &str = "candor:simulation";

/// Rows in a row group of Parquet output.
const ROW_GROUP: usize = 1 << 20;

/// What stands beside a CSV file of responses, in `NAME.candor.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// The plan they were made under.
    pub fingerprint: String,
    /// How many they are.
    pub records: u64,
    /// The seed, if they are a simulation.
    pub simulation: Option<u64>,
}

impl Sidecar {
    /// The place of the file beside responses at `path`.
    pub fn path(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".candor.json");
        name.into()
    }

    /// Reads the file beside responses at `path`, if there is one.
    ///
    /// # Errors
    /// If there is one that cannot be understood.
    pub fn read(path: &Path) -> Result<Option<Sidecar>, TableError> {
        let place = Sidecar::path(path);
        let file = place.display().to_string();
        let text = match std::fs::read_to_string(&place) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(TableError::Read { file, error }),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| TableError::Sidecar { file, message: error.to_string() })
    }
}

/// The fingerprint and the seed that travel with a table, if it is one of responses.
///
/// # Errors
/// If a file beside it cannot be understood.
pub fn provenance(location: &Location, input: &Input) -> Result<Option<(String, Option<u64>)>, TableError> {
    if let Some(fingerprint) = input.metadata(FINGERPRINT_KEY) {
        let seed = input.metadata(SIMULATION_KEY).and_then(|seed| seed.parse().ok());
        return Ok(Some((fingerprint.to_owned(), seed)));
    }
    match location {
        Location::File(path) => Ok(Sidecar::read(path)?.map(|sidecar| (sidecar.fingerprint, sidecar.simulation))),
        Location::Stdin => Ok(None),
    }
}

/// The format of a table of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with this delimiter.
    Csv(u8),
    /// Parquet, compressed with zstd.
    Parquet,
}

impl Format {
    /// By the ending of the name: `.parquet` (or `.pq`), `.tsv` with tabs, all else CSV.
    pub fn of(target: &Target) -> Format {
        match () {
            () if target.ends_with(".parquet") || target.ends_with(".pq") => Format::Parquet,
            () if target.ends_with(".tsv") => Format::Csv(b'\t'),
            () => Format::Csv(b','),
        }
    }
}

/// The columns of responses, with their labels ready to be written.
pub(crate) struct Layout {
    columns: Vec<(ResponseColumn, Labels)>,
    kept: Vec<Field>,
    format: Format,
}

enum Labels {
    /// As a dictionary, and as CSV fields.
    Some {
        values: ArrayRef,
        fields: Vec<Vec<u8>>,
    },
    None,
}

/// A batch of responses, ready for the writer.
pub(crate) enum Encoded {
    Text(Vec<u8>),
    Batch(RecordBatch),
}

impl Layout {
    pub(crate) fn new(plan: &Plan, kept: Vec<Field>, format: Format) -> Layout {
        let column = |column: ResponseColumn| {
            let labels = match &column.content {
                Content::Answer { labels, .. } => labels.clone(),
                Content::Public { attribute } => plan.schema().attributes()[*attribute].categories().to_vec(),
                Content::Tag { .. } => return (column, Labels::None),
            };
            let values = Arc::new(StringArray::from(labels.clone()));
            let delimiter = match format {
                Format::Csv(delimiter) => delimiter,
                Format::Parquet => b',',
            };
            let field = |label: &String| {
                let mut field = Vec::new();
                push_field(&mut field, label, delimiter);
                field
            };
            let fields = labels.iter().map(field).collect();
            (column, Labels::Some { values, fields })
        };
        Layout { columns: plan.columns().into_iter().map(column).collect(), kept, format }
    }

    pub(crate) fn schema(&self) -> ArrowSchema {
        let dictionary = || DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
        let field = |(column, _): &(ResponseColumn, Labels)| match column.content {
            Content::Answer { set: true, .. } => {
                Field::new_list(&column.name, Field::new_list_field(dictionary(), false), false)
            }
            Content::Answer { .. } | Content::Public { .. } => Field::new(&column.name, dictionary(), false),
            Content::Tag { .. } => Field::new(&column.name, DataType::UInt16, false),
        };
        ArrowSchema::new(self.columns.iter().map(field).chain(self.kept.iter().cloned()).collect::<Vec<Field>>())
    }

    /// The columns that are passed on.
    pub(crate) fn kept(&self) -> &[Field] {
        &self.kept
    }

    /// The first line of a CSV file.
    pub(crate) fn header(&self) -> Vec<u8> {
        let names = self.columns.iter().map(|(column, _)| column.name.as_str());
        let mut line = Vec::new();
        for (i, name) in names.chain(self.kept.iter().map(|field| field.name().as_str())).enumerate() {
            if i > 0 {
                line.push(self.delimiter());
            }
            push_field(&mut line, name, self.delimiter());
        }
        line.push(b'\n');
        line
    }

    fn delimiter(&self) -> u8 {
        match self.format {
            Format::Csv(delimiter) => delimiter,
            Format::Parquet => b',',
        }
    }

    /// Turns answers into rows. `truths` holds the codes of public attributes; `kept` the columns
    /// to be passed on.
    pub(crate) fn encode(
        &self,
        answers: &[BlockAnswers],
        truths: &[Vec<u16>],
        kept: &[ArrayRef],
        rows: usize,
    ) -> Encoded {
        match self.format {
            Format::Csv(delimiter) => Encoded::Text(self.text(answers, truths, kept, rows, delimiter)),
            Format::Parquet => Encoded::Batch(self.batch(answers, truths, kept)),
        }
    }

    fn batch(&self, answers: &[BlockAnswers], truths: &[Vec<u16>], kept: &[ArrayRef]) -> RecordBatch {
        let labelled = |codes: &[u16], labels: &Labels| -> ArrayRef {
            let Labels::Some { values, .. } = labels else { unreachable!("answers have labels") };
            let keys = UInt16Array::from(codes.to_vec());
            Arc::new(DictionaryArray::<UInt16Type>::try_new(keys, values.clone()).expect("codes are categories"))
        };
        let array = |(column, labels): &(ResponseColumn, Labels)| -> ArrayRef {
            match &column.content {
                Content::Public { attribute } => labelled(&truths[*attribute], labels),
                Content::Tag { block } => Arc::new(UInt16Array::from(answers[*block].tags.clone())),
                Content::Answer { block, place, .. } => match &answers[*block].columns[*place] {
                    AnswerColumn::One(codes) => labelled(codes, labels),
                    AnswerColumn::Set(sets) => {
                        let lengths = sets.iter().map(<[u16]>::len);
                        let offsets = arrow_buffer::OffsetBuffer::from_lengths(lengths);
                        let codes: Vec<u16> = sets.iter().flatten().copied().collect();
                        let items = labelled(&codes, labels);
                        let field = Arc::new(Field::new_list_field(items.data_type().clone(), false));
                        Arc::new(arrow_array::ListArray::new(field, offsets, items, None))
                    }
                },
            }
        };
        let arrays = self.columns.iter().map(array).chain(kept.iter().cloned()).collect();
        RecordBatch::try_new(Arc::new(self.schema()), arrays).expect("columns of the layout")
    }

    fn text(
        &self,
        answers: &[BlockAnswers],
        truths: &[Vec<u16>],
        kept: &[ArrayRef],
        rows: usize,
        delimiter: u8,
    ) -> Vec<u8> {
        enum Source<'a> {
            Codes(&'a [u16], &'a [Vec<u8>]),
            Sets(Vec<&'a [u16]>, &'a StringArray),
            Numbers(&'a [u16]),
            Kept(ArrayFormatter<'a>),
        }
        let options = FormatOptions::default();
        let source = |(column, labels): &'_ (ResponseColumn, Labels)| match (&column.content, labels) {
            (Content::Public { attribute }, Labels::Some { .. }) => (Some(*attribute), None),
            (Content::Tag { block }, _) => (None, Some((*block, usize::MAX))),
            (Content::Answer { block, place, .. }, _) => (None, Some((*block, *place))),
            (Content::Public { .. }, Labels::None) => unreachable!("public attributes have labels"),
        };
        let mut sources: Vec<Source<'_>> = Vec::with_capacity(self.columns.len() + kept.len());
        for described in &self.columns {
            let (values, fields) = match &described.1 {
                Labels::Some { values, fields } => (Some(values.as_string::<i32>()), &fields[..]),
                Labels::None => (None, &[][..]),
            };
            sources.push(match source(described) {
                (Some(attribute), _) => Source::Codes(&truths[attribute], fields),
                (None, Some((block, usize::MAX))) => Source::Numbers(&answers[block].tags),
                (None, Some((block, place))) => match &answers[block].columns[place] {
                    AnswerColumn::One(codes) => Source::Codes(codes, fields),
                    AnswerColumn::Set(sets) => {
                        Source::Sets(sets.iter().collect(), values.expect("answers have labels"))
                    }
                },
                (None, None) => unreachable!("every column has a source"),
            });
        }
        for array in kept {
            sources.push(Source::Kept(ArrayFormatter::try_new(array, &options).expect("kept columns can be shown")));
        }
        let mut text = Vec::with_capacity(rows * sources.len() * 8);
        for row in 0..rows {
            for (i, source) in sources.iter().enumerate() {
                if i > 0 {
                    text.push(delimiter);
                }
                match source {
                    Source::Codes(codes, fields) => text.extend_from_slice(&fields[usize::from(codes[row])]),
                    Source::Numbers(numbers) => text.extend_from_slice(numbers[row].to_string().as_bytes()),
                    Source::Sets(sets, labels) => {
                        let labels: Vec<&str> = sets[row].iter().map(|&code| labels.value(code.into())).collect();
                        push_field(&mut text, &labels.join(&SET_SEPARATOR.to_string()), delimiter);
                    }
                    Source::Kept(formatter) => push_field(&mut text, &formatter.value(row).to_string(), delimiter),
                }
            }
            text.push(b'\n');
        }
        text
    }
}

/// Appends a CSV field, in quotes if it needs them.
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

/// Writes batches of responses, in order.
pub(crate) enum ResponseWriter {
    Csv(TextWriter),
    Parquet(Box<ArrowWriter<Pending>>),
}

impl ResponseWriter {
    pub(crate) fn new(
        target: &Target,
        layout: &Layout,
        fingerprint: &str,
        seed: Option<u64>,
    ) -> Result<ResponseWriter, TableError> {
        let failed = |error| TableError::Write { file: target.name(), error };
        if let Format::Csv(_) = layout.format {
            let mut writer = TextWriter::new(target)?;
            writer.write_all(&layout.header()).map_err(failed)?;
            return Ok(ResponseWriter::Csv(writer));
        }
        let mut metadata = vec![KeyValue::new(FINGERPRINT_KEY.to_owned(), fingerprint.to_owned())];
        metadata.extend(seed.map(|seed| KeyValue::new(SIMULATION_KEY.to_owned(), seed.to_string())));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROW_GROUP))
            // Least and greatest label of a page help nobody, and cost a third of the writing.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_key_value_metadata(Some(metadata))
            .build();
        let writer = ArrowWriter::try_new(Pending::new(target)?, Arc::new(layout.schema()), Some(properties));
        writer.map(|writer| ResponseWriter::Parquet(Box::new(writer))).map_err(|error| parquet_failed(target, error))
    }

    pub(crate) fn write(&mut self, encoded: &Encoded, target: &Target) -> Result<(), TableError> {
        match (self, encoded) {
            (ResponseWriter::Csv(writer), Encoded::Text(text)) => {
                writer.write_all(text).map_err(|error| TableError::Write { file: target.name(), error })
            }
            (ResponseWriter::Parquet(writer), Encoded::Batch(batch)) => {
                writer.write(batch).map_err(|error| parquet_failed(target, error))
            }
            _ => unreachable!("the layout encodes for its writer"),
        }
    }

    pub(crate) fn finish(self, target: &Target, sidecar: &Sidecar) -> Result<(), TableError> {
        match self {
            ResponseWriter::Csv(writer) => {
                let Target::File(path) = target else { return writer.finish(target) };
                if path.exists() && !path.is_file() {
                    return writer.finish(target);
                }
                // Begun before the responses are put in place, so that they are not there without it; and
                // the one of earlier responses goes first, so that it is never beside these.
                let place = Sidecar::path(path);
                let mut beside = Pending::new(&Target::File(place.clone()))?;
                let failed = |error| TableError::Write { file: place.display().to_string(), error };
                let text = serde_json::to_string(sidecar).expect("plain data") + "\n";
                beside.write_all(text.as_bytes()).map_err(failed)?;
                match std::fs::remove_file(&place) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
                    _ => {}
                }
                writer.finish(target)?;
                beside.finish()
            }
            ResponseWriter::Parquet(writer) => {
                writer.into_inner().map_err(|error| parquet_failed(target, error))?.finish()
            }
        }
    }
}

fn parquet_failed(target: &Target, error: parquet::errors::ParquetError) -> TableError {
    TableError::Write { file: target.name(), error: std::io::Error::other(error.to_string()) }
}

/// A table of responses, opened: made under the plan as far as can be told, its rows not read yet.
pub struct Responses {
    /// Turns batches into codes.
    pub decoder: Decoder,
    /// The rows.
    pub batches: Batches,
    /// The seed, if they are a simulation.
    pub simulation: Option<u64>,
    /// Whether the file told the plan it was made under.
    pub fingerprinted: bool,
}

/// Turns the text of responses into codes.
pub struct Decoder {
    columns: Vec<ResponseColumn>,
    plan: Plan,
    weights: Option<String>,
}

/// Some responses as codes.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseBatch {
    /// One entry per column of the plan.
    pub columns: Vec<ResponseCodes>,
    /// The weight of each response, if asked for.
    pub weights: Option<Vec<f64>>,
    /// How many responses.
    pub rows: usize,
}

/// One column of responses as codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResponseCodes {
    /// One category (or tag) each.
    One(Vec<u16>),
    /// A set of categories each, in increasing order.
    Set(Vec<Vec<u16>>),
}

impl Responses {
    /// Opens a table of responses made under the plan; `weights` names a column of weights.
    ///
    /// # Errors
    /// If it was made under another plan, or a column is missing.
    pub fn open(
        plan: &Plan,
        location: &Location,
        delimiter: Option<u8>,
        weights: Option<&str>,
    ) -> Result<Responses, TableError> {
        let input = Input::open(location, delimiter)?;
        let provenance = provenance(location, &input)?;
        let expected = plan.fingerprint().as_str();
        if let Some((found, _)) = provenance.as_ref().filter(|(found, _)| found != expected) {
            let (file, found) = (location.name(), found.clone());
            return Err(TableError::Fingerprint { file, found, expected: expected.to_owned() });
        }
        let columns = plan.columns();
        let names: Vec<String> =
            columns.iter().map(|column| column.name.clone()).chain(weights.map(str::to_owned)).collect();
        Ok(Responses {
            decoder: Decoder { columns, plan: plan.clone(), weights: weights.map(str::to_owned) },
            batches: input.batches(&names)?,
            fingerprinted: provenance.is_some(),
            simulation: provenance.and_then(|(_, seed)| seed),
        })
    }
}

impl Decoder {
    /// The codes of a batch.
    ///
    /// # Errors
    /// The first value that cannot be a response under the plan.
    pub fn decode(&self, batch: &Batch) -> Result<ResponseBatch, TableError> {
        let decoded = self.columns.iter().enumerate().map(|(at, column)| self.column(batch, at, column));
        let columns: Vec<ResponseCodes> = decoded.collect::<Result<_, _>>()?;
        self.check_set_sizes(batch, &columns)?;
        let weights = self.weights.as_ref().map(|name| self.weights(batch, name)).transpose()?;
        Ok(ResponseBatch { columns, weights, rows: batch.columns.num_rows() })
    }

    /// A set names as many different categories as the channel that the response went through says.
    fn check_set_sizes(&self, batch: &Batch, columns: &[ResponseCodes]) -> Result<(), TableError> {
        for (column, codes) in self.columns.iter().zip(columns) {
            let (Content::Answer { block, place, .. }, ResponseCodes::Set(sets)) = (&column.content, codes) else {
                continue;
            };
            let tag = self.columns.iter().position(|other| other.content == Content::Tag { block: *block });
            let size = |row: usize| {
                let channel = match tag.map(|at| &columns[at]) {
                    Some(ResponseCodes::One(tags)) => usize::from(tags[row]),
                    _ => 0,
                };
                match &self.plan.blocks()[*block].channels()[channel].1 {
                    Channel::Pattern(pattern) => pattern.axes()[*place].answer,
                    Channel::Matrix(_) => 1,
                }
            };
            let wrong = |(row, set): &(usize, &Vec<u16>)| {
                set.len() != size(*row) || set.windows(2).any(|pair| pair[0] == pair[1])
            };
            if let Some((row, set)) = sets.iter().enumerate().find(wrong) {
                return Err(TableError::Value(BadValue {
                    file: batch.file.clone(),
                    row: batch.before + row as u64 + 1,
                    column: column.name.clone(),
                    value: format!("a set of {}", set.len()),
                    hint: format!("is not what the plan answers with: sets of {} different categories", size(row)),
                }));
            }
        }
        Ok(())
    }

    fn weights(&self, batch: &Batch, name: &str) -> Result<Vec<f64>, TableError> {
        let array = batch.columns.column(self.columns.len());
        let numbers =
            cast(array, &DataType::Utf8).and_then(|text| cast(&text, &DataType::Float64)).ok_or_else(|| {
                TableError::Type {
                    file: batch.file.clone(),
                    column: name.to_owned(),
                    found: array.data_type().to_string(),
                }
            })?;
        let one = |(row, weight): (usize, Option<f64>)| {
            weight.filter(|weight| weight.is_finite() && *weight >= 0.0).ok_or_else(|| {
                TableError::Value(BadValue {
                    file: batch.file.clone(),
                    row: batch.before + row as u64 + 1,
                    column: name.to_owned(),
                    value: weight.map_or(String::new(), |weight| weight.to_string()),
                    hint: "is not a weight; weights are numbers, 0 or more".to_owned(),
                })
            })
        };
        numbers.as_primitive::<Float64Type>().iter().enumerate().map(one).collect()
    }

    fn column(&self, batch: &Batch, at: usize, column: &ResponseColumn) -> Result<ResponseCodes, TableError> {
        let array = batch.columns.column(at);
        let bad = |row: usize, value: &str, hint: &str| {
            TableError::Value(BadValue {
                file: batch.file.clone(),
                row: batch.before + row as u64 + 1,
                column: column.name.clone(),
                value: value.to_owned(),
                hint: hint.to_owned(),
            })
        };
        let unsupported = || TableError::Type {
            file: batch.file.clone(),
            column: column.name.clone(),
            found: array.data_type().to_string(),
        };
        let labels = match &column.content {
            Content::Tag { block } => {
                let channels = self.plan.blocks()[*block].channels().len() as u64;
                let numbers = cast(array, &DataType::UInt64).ok_or_else(unsupported)?;
                let tag = |(row, tag): (usize, Option<u64>)| match tag {
                    Some(tag) if tag < channels => Ok(tag as u16),
                    tag => Err(bad(row, &tag.map_or(String::new(), |t| t.to_string()), "is not a tag of the plan")),
                };
                let tags = numbers.as_primitive::<UInt64Type>().iter().enumerate().map(tag);
                return tags.collect::<Result<_, _>>().map(ResponseCodes::One);
            }
            Content::Public { attribute } => self.plan.schema().attributes()[*attribute].categories(),
            Content::Answer { labels, .. } => labels,
        };
        let known: std::collections::HashMap<&str, u16> =
            labels.iter().zip(0..).map(|(label, code)| (label.as_str(), code)).collect();
        let code = |row: usize, label: &str| {
            known.get(label).copied().ok_or_else(|| bad(row, label, "cannot be answered under this plan"))
        };
        if let Content::Answer { set: true, .. } = column.content {
            let set = |row: usize, labels: &mut dyn Iterator<Item = &str>| {
                let mut set = labels.map(|label| code(row, label)).collect::<Result<Vec<u16>, _>>()?;
                set.sort_unstable();
                Ok(set)
            };
            if let Some(list) = array.as_list_opt::<i32>() {
                let one = |row: usize| {
                    let items = cast(&list.value(row), &DataType::Utf8).ok_or_else(unsupported)?;
                    set(row, &mut items.as_string::<i32>().iter().map(Option::unwrap_or_default))
                };
                return (0..list.len()).map(one).collect::<Result<_, _>>().map(ResponseCodes::Set);
            }
            let text = cast(array, &DataType::Utf8).ok_or_else(unsupported)?;
            let one =
                |(row, joined): (usize, Option<&str>)| set(row, &mut joined.unwrap_or_default().split(SET_SEPARATOR));
            let sets = text.as_string::<i32>().iter().enumerate().map(one).collect::<Result<_, TableError>>();
            return sets.map(ResponseCodes::Set);
        }
        if let Some(dictionary) = text_dictionary(array) {
            let labels = dictionary.values().as_string::<i32>();
            let codes: Vec<Option<u16>> =
                labels.iter().map(|label| known.get(label.unwrap_or_default()).copied()).collect();
            let missing = known.get("").copied();
            let one = |(row, key): (usize, Option<i32>)| {
                let found = key.map_or(missing, |key| codes[key as usize]);
                found.ok_or_else(|| {
                    bad(row, key.map_or("", |key| labels.value(key as usize)), "cannot be answered under this plan")
                })
            };
            return dictionary.keys().iter().enumerate().map(one).collect::<Result<_, _>>().map(ResponseCodes::One);
        }
        let text = cast(array, &DataType::Utf8).ok_or_else(unsupported)?;
        let one = |(row, label): (usize, Option<&str>)| code(row, label.unwrap_or_default());
        text.as_string::<i32>().iter().enumerate().map(one).collect::<Result<_, _>>().map(ResponseCodes::One)
    }
}
