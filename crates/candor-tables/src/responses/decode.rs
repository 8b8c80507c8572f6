//! Converts the text of responses to codes.

use std::ops::RangeInclusive;

use ahash::AHashMap;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ListArray, StringArray};
use arrow_schema::DataType;
use candor_base::channel::Channel;
use candor_base::plan::{Content, Plan, ResponseColumn, SET_SEPARATOR};
use candor_bulk::{AnswerColumn, Sets, UNANSWERED};

use super::cells::CellLabels;
use crate::TableError;
use crate::error::InvalidValue;
use crate::input::Batch;
use crate::types::{cast, for_each_text, lists, text_dictionary, text_dictionary_type};

/// Decoder from the text of responses to codes.
pub struct Decoder {
    columns: Vec<ResponseColumn>,
    plan: Plan,
    weights: Option<String>,
    /// For each column with cells of subset channels, the labels of the cells.
    cells: Vec<Option<CellLabels>>,
    /// For each column, the codes of its labels.
    known: Vec<AHashMap<Box<str>, u16>>,
}

/// Some responses as codes.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseBatch {
    /// One element per column of the plan.
    pub columns: Vec<AnswerColumn>,
    /// Weight of each response, if requested.
    pub weights: Option<Vec<f64>>,
    /// Number of responses.
    pub rows: usize,
}

impl ResponseBatch {
    /// Creates an empty, unweighted batch.
    pub fn none(plan: &Plan) -> ResponseBatch {
        let column = |content: &Content| match content {
            Content::Public { .. } | Content::Tag { .. } | Content::Answer { set: false, .. } => {
                AnswerColumn::One(Vec::new())
            }
            Content::Cells { .. } | Content::Answer { set: true, .. } => AnswerColumn::Set(Sets::default()),
        };
        let columns = plan.columns().iter().map(|described| column(&described.content)).collect();
        ResponseBatch { columns, weights: None, rows: 0 }
    }

    /// Adds unweighted responses to the same plan.
    pub fn append(&mut self, more: &ResponseBatch) {
        self.rows += more.rows;
        for (column, more) in self.columns.iter_mut().zip(&more.columns) {
            match (column, more) {
                (AnswerColumn::One(codes), AnswerColumn::One(more)) => codes.extend_from_slice(more),
                (AnswerColumn::Set(sets), AnswerColumn::Set(more)) => more.iter().for_each(|set| sets.push(set)),
                _ => unreachable!("the plan says which answers are sets"),
            }
        }
    }
}

impl Decoder {
    /// Creates a decoder of batches with the columns of the plan's responses, in order, and possibly a column of
    /// weights.
    pub(crate) fn new(plan: &Plan, weights: Option<&str>) -> Decoder {
        let cells = plan.columns().iter().map(|column| match column.content {
            Content::Cells { block } => Some(CellLabels::new(plan, block)),
            _ => None,
        });
        let known = plan.columns().iter().map(|column| {
            let labels: &[String] = match &column.content {
                Content::Public { attribute } => plan.schema().attributes()[*attribute].categories(),
                Content::Answer { labels, .. } => labels,
                Content::Tag { .. } | Content::Cells { .. } => &[],
            };
            labels.iter().zip(0..).map(|(label, code)| (label.as_str().into(), code)).collect()
        });
        let (cells, known) = (cells.collect(), known.collect());
        let weights = weights.map(str::to_owned);
        Decoder { columns: plan.columns().to_vec(), plan: plan.clone(), weights, cells, known }
    }

    /// Returns the cells that subset channels reported; empty sets for other channels.
    fn cells(&self, batch: &Batch, at: usize, drawn: Drawn<'_>) -> Result<AnswerColumn, TableError> {
        let (array, column) = (batch.columns.column(at), &self.columns[at]);
        let unsupported = || unsupported(batch, &column.name, array);
        let labels = self.cells[at].as_ref().expect("made with the decoder");
        let bad = |row: usize, value: &str| TableError::InvalidValue(invalid_value(batch, row, &column.name, value));
        let code = |row: usize, place: i32| labels.cell(drawn.channel(row), place);
        let sets = match lists(array) {
            Some(list) => sets_of_lists(&list, |label| labels.place(label), code, bad).ok_or_else(unsupported)?,
            None => {
                let text = cast(array, &DataType::Utf8).ok_or_else(unsupported)?;
                let of_label = |row: usize, label: &str| code(row, labels.place(label)?);
                sets_of_text(text.as_string(), of_label, |row| !drawn.is_strip(row), bad)
            }
        };
        sets.map(AnswerColumn::Set)
    }

    /// Decodes one response whose values are single category labels, as under most plans.
    ///
    /// `value` returns a value by its column name. `None` if [`Decoder::decode`] is needed.
    pub(super) fn labels<'a>(&self, value: impl Fn(&str) -> Option<&'a str>) -> Option<ResponseBatch> {
        let plain = |content: &Content| match content {
            Content::Public { .. } => true,
            Content::Answer { block, set, .. } => !set && self.plan.blocks()[*block].channels().len() == 1,
            Content::Tag { .. } | Content::Cells { .. } => false,
        };
        let one = |(column, known): (&ResponseColumn, &AHashMap<Box<str>, u16>)| {
            let value = value(&column.name).filter(|_| plain(&column.content))?;
            known.get(value).map(|&code| AnswerColumn::One(vec![code]))
        };
        let columns = self.columns.iter().zip(&self.known).map(one).collect::<Option<_>>()?;
        Some(ResponseBatch { columns, weights: None, rows: 1 })
    }

    /// Decodes a batch.
    ///
    /// # Errors
    /// Returns [`TableError`] with the first value that is not a valid response to the plan.
    pub fn decode(&self, batch: &Batch) -> Result<ResponseBatch, TableError> {
        let tags = self.columns.iter().enumerate().map(|(at, column)| match column.content {
            Content::Tag { block } => self.tags(batch, at, block).map(|tags| Some((block, tags))),
            _ => Ok(None),
        });
        let tags: Vec<(usize, Vec<u16>)> = tags.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        let drawn = |block: usize| Drawn {
            channels: self.plan.blocks()[block].channels(),
            tags: tags.iter().find(|(tagged, _)| *tagged == block).map_or(&[][..], |(_, tags)| tags),
        };
        let decoded = self.columns.iter().enumerate().map(|(at, column)| match column.content {
            Content::Tag { block } => Ok(AnswerColumn::One(drawn(block).tags.to_vec())),
            Content::Public { .. } => self.column(batch, at, column, None),
            Content::Answer { block, .. } => self.column(batch, at, column, Some(drawn(block))),
            Content::Cells { block } => self.cells(batch, at, drawn(block)),
        });
        let columns: Vec<AnswerColumn> = decoded.collect::<Result<_, _>>()?;
        self.check_set_sizes(batch, &columns)?;
        self.check_possible(batch, &columns)?;
        let weights = self.weights.as_ref().map(|name| weights_of(batch, self.columns.len(), name)).transpose()?;
        Ok(ResponseBatch { columns, weights, rows: batch.columns.num_rows() })
    }

    /// Checks that each set has as many distinct categories as the response's channel reports.
    fn check_set_sizes(&self, batch: &Batch, columns: &[AnswerColumn]) -> Result<(), TableError> {
        for (column, codes) in self.columns.iter().zip(columns) {
            let AnswerColumn::Set(sets) = codes else { continue };
            let (Content::Answer { block, .. } | Content::Cells { block }) = &column.content else { continue };
            let tag = self.columns.iter().position(|other| other.content == Content::Tag { block: *block });
            let size = |row: usize| {
                let channel = match tag.map(|at| &columns[at]) {
                    Some(AnswerColumn::One(tags)) => usize::from(tags[row]),
                    _ => 0,
                };
                match (&self.plan.blocks()[*block].channels()[channel].1, &column.content) {
                    (Channel::Pattern(pattern), Content::Answer { place, .. }) => pattern.axes()[*place].answer,
                    (Channel::Strip(strip), Content::Cells { .. }) => strip.members().len(),
                    (Channel::Matrix(_), _) => 1,
                    _ => 0,
                }
            };
            let wrong =
                |(row, set): &(usize, &[u16])| set.len() != size(*row) || set.windows(2).any(|pair| pair[0] == pair[1]);
            if let Some((row, set)) = sets.iter().enumerate().find(wrong) {
                return Err(TableError::InvalidValue(InvalidValue {
                    file: batch.file.clone(),
                    row: batch.before + row as u64 + 1,
                    column: column.name.clone(),
                    value: format!("a set of {}", set.len()),
                    hint: match (size(row), &column.content) {
                        (0, _) => "is not what the plan answers with: nothing here, by the tag of the row".to_owned(),
                        (n, Content::Cells { .. }) => format!("is not what the plan answers with: {n} different cells"),
                        (n, _) => format!("is not what the plan answers with: sets of {n} different categories"),
                    },
                }));
            }
        }
        Ok(())
    }

    /// Checks that each answer of a matrix is possible under its channel.
    ///
    /// In a list experiment, for example, nobody in the control group can count more than the control items.
    fn check_possible(&self, batch: &Batch, columns: &[AnswerColumn]) -> Result<(), TableError> {
        for (column, codes) in self.columns.iter().zip(columns) {
            let (Content::Answer { block, labels, .. }, AnswerColumn::One(answers)) = (&column.content, codes) else {
                continue;
            };
            let given = |(_, channel): &(u64, Channel)| -> Option<Vec<bool>> {
                let Channel::Matrix(matrix) = channel else { return None };
                let is_given = |answer: usize| matrix.columns().iter().any(|column| column[answer] > 0);
                Some((0..labels.len()).map(is_given).collect())
            };
            let given: Option<Vec<Vec<bool>>> = self.plan.blocks()[*block].channels().iter().map(given).collect();
            let Some(given) = given.filter(|all| !all.iter().flatten().all(|given| *given)) else { continue };
            let tag = self.columns.iter().position(|other| other.content == Content::Tag { block: *block });
            let channel = |row: usize| match tag.map(|at| &columns[at]) {
                Some(AnswerColumn::One(tags)) => usize::from(tags[row]),
                _ => 0,
            };
            let is_wrong = |(row, answer): &(usize, &u16)| !given[channel(*row)][usize::from(**answer)];
            if let Some((row, &answer)) = answers.iter().enumerate().find(is_wrong) {
                let bad = invalid_value(batch, row, &column.name, &labels[usize::from(answer)]);
                let rule = "check the answer and the card of this row";
                return Err(TableError::InvalidValue(
                    bad.not("an answer that anybody can give with the card of this row", rule),
                ));
            }
        }
        Ok(())
    }

    /// Returns the channel IDs of a block.
    fn tags(&self, batch: &Batch, at: usize, block: usize) -> Result<Vec<u16>, TableError> {
        let (array, name) = (batch.columns.column(at), &self.columns[at].name);
        let channels = self.plan.blocks()[block].channels().len() as u64;
        let numbers = whole_numbers(array).ok_or_else(|| unsupported(batch, name, array))?;
        let tag = |(row, tag): (usize, Option<u64>)| match tag {
            Some(tag) if tag < channels => Ok(tag as u16),
            _ => {
                let bad = invalid_value(batch, row, name, &written(array, row));
                Err(TableError::InvalidValue(bad.not(A_TAG, &tags_are(channels))))
            }
        };
        numbers.into_iter().enumerate().map(tag).collect()
    }

    /// Returns a column of answers, or of a public attribute. `drawn` are the channels that determine which
    /// answers exist.
    fn column(
        &self,
        batch: &Batch,
        at: usize,
        column: &ResponseColumn,
        drawn: Option<Drawn<'_>>,
    ) -> Result<AnswerColumn, TableError> {
        let strip = |row: usize| drawn.is_some_and(|drawn| drawn.is_strip(row));
        let array = batch.columns.column(at);
        let bad = |row: usize, value: &str| TableError::InvalidValue(invalid_value(batch, row, &column.name, value));
        let unsupported = || unsupported(batch, &column.name, array);
        let known = &self.known[at];
        if let Content::Answer { set: true, .. } = column.content {
            let code = |_: usize, label: &str| known.get(label).copied();
            let sets = match lists(array) {
                Some(list) => sets_of_lists(&list, |label| known.get(label).copied(), |_, code| Some(code), bad)
                    .ok_or_else(unsupported)?,
                None => {
                    let text = cast(array, &DataType::Utf8).ok_or_else(unsupported)?;
                    sets_of_text(text.as_string(), code, strip, bad)
                }
            };
            return sets.map(AnswerColumn::Set);
        }
        if let Some(dictionary) = text_dictionary(array) {
            let labels = dictionary.values().as_string::<i32>();
            let codes: Vec<Option<u16>> =
                labels.iter().map(|label| known.get(label.unwrap_or_default()).copied()).collect();
            let missing = known.get("").copied();
            let one = |(row, key): (usize, Option<i32>)| {
                if strip(row) {
                    let empty = key.is_none_or(|key| labels.value(key as usize).is_empty());
                    return if empty { Ok(UNANSWERED) } else { Err(bad(row, labels.value(key.unwrap_or(0) as usize))) };
                }
                let found = key.map_or(missing, |key| codes[key as usize]);
                found.ok_or_else(|| bad(row, key.map_or("", |key| labels.value(key as usize))))
            };
            return dictionary.keys().iter().enumerate().map(one).collect::<Result<_, _>>().map(AnswerColumn::One);
        }
        let (mut codes, mut wrong) = (Vec::with_capacity(array.len()), None);
        let see = |row: usize, label: Option<&str>| match known.get(label.unwrap_or_default()) {
            _ if strip(row) && label.is_none_or(str::is_empty) => codes.push(UNANSWERED),
            Some(&code) if !strip(row) => codes.push(code),
            _ if wrong.is_none() => wrong = Some(bad(row, label.unwrap_or_default())),
            _ => {}
        };
        for_each_text(array, see).ok_or_else(unsupported)?;
        wrong.map_or(Ok(AnswerColumn::One(codes)), Err)
    }
}

/// Returns the weights in a column.
pub(crate) fn weights_of(batch: &Batch, at: usize, name: &str) -> Result<Vec<f64>, TableError> {
    let array = batch.columns.column(at);
    let numbers = cast(array, &DataType::Utf8).and_then(|text| cast(&text, &DataType::Float64));
    let numbers = numbers.ok_or_else(|| unsupported(batch, name, array))?;
    let one = |(row, weight): (usize, Option<f64>)| {
        weight.filter(|weight| *weight == 0.0 || WEIGHTS.contains(weight)).ok_or_else(|| {
            let bad = invalid_value(batch, row, name, &written(array, row));
            TableError::InvalidValue(bad.not("a weight", "weights are 0, or numbers from 1e-15 to 1e15"))
        })
    };
    numbers.as_primitive::<Float64Type>().iter().enumerate().map(one).collect()
}

/// Channel of each response in a block.
#[derive(Clone, Copy)]
struct Drawn<'a> {
    channels: &'a [(u64, Channel)],
    /// Channel IDs; empty if there is only one channel.
    tags: &'a [u16],
}

impl Drawn<'_> {
    fn channel(&self, row: usize) -> usize {
        self.tags.get(row).map_or(0, |&tag| tag.into())
    }

    fn is_strip(&self, row: usize) -> bool {
        matches!(self.channels[self.channel(row)].1, Channel::Strip(_))
    }
}

/// Returns the error about a column whose type cannot contain responses.
pub(crate) fn unsupported(batch: &Batch, column: &str, array: &ArrayRef) -> TableError {
    let (file, found) = (batch.file.clone(), array.data_type().to_string());
    TableError::Type { file, column: column.to_owned(), found }
}

/// Returns the description of a value that is not a valid response.
pub(crate) fn invalid_value(batch: &Batch, row: usize, column: &str, value: &str) -> InvalidValue {
    InvalidValue {
        file: batch.file.clone(),
        row: batch.before + row as u64 + 1,
        column: column.to_owned(),
        value: value.to_owned(),
        hint: NOT_AN_ANSWER.to_owned(),
    }
}

/// Returns a value as written, for any type; empty if missing.
pub(crate) fn written(array: &ArrayRef, row: usize) -> String {
    let text = cast(&array.slice(row, 1), &DataType::Utf8);
    let text = text.as_ref().map(|text| text.as_string::<i32>());
    text.filter(|text| text.is_valid(0)).map_or(String::new(), |text| text.value(0).to_owned())
}

/// Hint for an answer that is not in the plan.
pub(crate) const NOT_AN_ANSWER: &str = "cannot be answered under this plan";

/// Description of the number of a channel.
pub(crate) const A_TAG: &str = "a tag of the plan";

/// Converts a column to nonnegative integers, with `None` for other values; `None` if its type has no numbers.
fn whole_numbers(array: &ArrayRef) -> Option<Vec<Option<u64>>> {
    if !array.data_type().is_floating() {
        return Some(cast(array, &DataType::UInt64)?.as_primitive::<UInt64Type>().iter().collect());
    }
    // A cast would truncate decimals.
    let whole = |number: f64| (number >= 0.0 && number.fract() == 0.0).then_some(number as u64);
    let numbers = cast(array, &DataType::Float64)?;
    Some(numbers.as_primitive::<Float64Type>().iter().map(|number| number.and_then(whole)).collect())
}

/// Describes the valid channel IDs.
pub(crate) fn tags_are(channels: u64) -> String {
    format!("tags are whole numbers from 0 to {}", channels - 1)
}

/// Weights of a response other than 0, so that sums of their squares neither overflow nor underflow.
const WEIGHTS: RangeInclusive<f64> = 1e-15..=1e15;

/// Converts lists of labels to sets; `None` if the items are not text.
///
/// Each distinct label is looked up once by `place`, and then for each row by `code`.
fn sets_of_lists<E, P: Copy>(
    list: &ListArray,
    place: impl Fn(&str) -> Option<P>,
    code: impl Fn(usize, P) -> Option<u16>,
    unknown: impl Fn(usize, &str) -> E,
) -> Option<Result<Sets, E>> {
    // A slice of a list array still has all items.
    let offsets = list.value_offsets();
    let (start, end) = (*offsets.first()?, *offsets.last()?);
    let items = list.values().slice(start as usize, (end - start) as usize);
    let items = match text_dictionary(&items) {
        Some(items) => items,
        None => text_dictionary(&cast(&cast(&items, &DataType::Utf8)?, &text_dictionary_type())?)?,
    };
    let labels = items.values().as_string::<i32>();
    let places: Vec<Option<P>> = labels.iter().map(|label| place(label.unwrap_or_default())).collect();
    let missing = place("");
    let mut flat = Vec::with_capacity(items.len());
    let mut ends = Vec::with_capacity(list.len());
    for row in 0..list.len() {
        let begun = flat.len();
        // The range of a missing list is empty.
        let at = |row: usize| (offsets[row] - start) as usize;
        let range = if list.is_null(row) { 0..0 } else { at(row)..at(row + 1) };
        for item in range {
            let key = items.key(item);
            let Some(code) = key.map_or(missing, |key| places[key]).and_then(|place| code(row, place)) else {
                return Some(Err(unknown(row, key.map_or("", |key| labels.value(key)))));
            };
            flat.push(code);
        }
        if !flat[begun..].is_sorted() {
            flat[begun..].sort_unstable();
        }
        ends.push(flat.len());
    }
    Some(Ok(Sets::new(flat, ends)))
}

/// Converts labels joined by the separator to sets. Empty text is the empty set where one is expected.
fn sets_of_text<E>(
    text: &StringArray,
    code: impl Fn(usize, &str) -> Option<u16>,
    empty: impl Fn(usize) -> bool,
    unknown: impl Fn(usize, &str) -> E,
) -> Result<Sets, E> {
    let mut sets = Sets::with_capacity(text.len(), 0);
    let mut set: Vec<u16> = Vec::new();
    for (row, joined) in text.iter().enumerate() {
        set.clear();
        let joined = joined.unwrap_or_default();
        if !(joined.is_empty() && empty(row)) {
            for label in joined.split(SET_SEPARATOR) {
                set.push(code(row, label).ok_or_else(|| unknown(row, label))?);
            }
        }
        set.sort_unstable();
        sets.push(&set);
    }
    Ok(sets)
}
