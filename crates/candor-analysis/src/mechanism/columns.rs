//! Features of an answer that is a line of text: its fields, and the values that occur in it.
//!
//! Fields are separated by white space, commas, brackets and quotes. In a line of zeros and ones, each character is
//! a field. A column has few values: the label of a field, the interval of its number, or whether a value occurs
//! anywhere.

use std::collections::{BTreeMap, HashMap};

use super::draws::Draws;

/// Maximum number of fields of an answer, and of values that are searched anywhere.
const MAX_FIELDS: usize = 4_096;
const MAX_ANYWHERE: usize = 512;
/// Maximum number of labels of a field; with more, numbers are divided into intervals.
const MAX_LABELS: usize = 16;
/// Number of intervals.
const PARTS: usize = 32;
/// Number of answers that determine the columns.
const SAMPLE: usize = 20_000;

/// Code of an unknown value.
pub(super) const OTHER: u8 = u8::MAX;

/// Source of a column in an answer.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    /// The field at this position.
    Field(usize),
    /// Whether this value occurs in any field.
    Anywhere(String),
    /// The number of fields.
    Fields,
}

/// Meaning of the codes of a column.
#[derive(Clone, Debug, PartialEq)]
enum Values {
    /// Labels.
    Labels(Vec<String>),
    /// Intervals of numbers: code `i` is above `i` of these limits.
    Cuts(Vec<f64>),
}

/// A feature of answers.
#[derive(Clone, Debug, PartialEq)]
struct Column {
    place: Place,
    values: Values,
}

/// The columns of a mechanism's answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns {
    /// Whether each character is a field.
    bits: bool,
    columns: Vec<Column>,
    /// Index of the column for whether a value occurs.
    anywhere: HashMap<String, usize>,
}

impl Columns {
    /// Determines the columns from answers in the half that selects events.
    pub(super) fn of(draws: &Draws) -> Columns {
        let sample: Vec<&str> = draws.sample(SAMPLE).collect();
        let bits =
            sample.iter().all(|answer| answer.len() > 1 && answer.bytes().all(|byte| byte == b'0' || byte == b'1'));
        let fields: Vec<Vec<&str>> = sample.iter().map(|answer| fields(answer, bits)).collect();
        let lengths = labels(fields.iter().map(Vec::len));
        let mut columns = Vec::new();
        if let [one] = lengths[..] {
            let places = 0..one.min(MAX_FIELDS);
            columns.extend(places.filter_map(|place| {
                let values = Values::of(fields.iter().map(|fields| fields[place]))?;
                Some(Column { place: Place::Field(place), values })
            }));
        } else if !lengths.is_empty() {
            let lengths = lengths.iter().take(MAX_LABELS).map(usize::to_string).collect();
            columns.push(Column { place: Place::Fields, values: Values::Labels(lengths) });
        }
        let words = labels(fields.iter().flatten().copied());
        if (3..=MAX_ANYWHERE).contains(&words.len()) && lengths != [1] {
            let column = |word: &&str| Column {
                place: Place::Anywhere((*word).to_owned()),
                values: Values::Labels(vec!["no".to_owned(), "yes".to_owned()]),
            };
            columns.extend(words.iter().map(column));
        }
        let anywhere = columns.iter().enumerate().filter_map(|(place, column)| match &column.place {
            Place::Anywhere(word) => Some((word.clone(), place)),
            _ => None,
        });
        Columns { bits, anywhere: anywhere.collect(), columns }
    }

    /// Returns the number of columns.
    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns the number of codes of a column, without [`OTHER`].
    pub(super) fn codes(&self, column: usize) -> usize {
        match &self.columns[column].values {
            Values::Labels(labels) => labels.len(),
            Values::Cuts(cuts) => cuts.len() + 1,
        }
    }

    /// Returns whether the codes of a column are ordered.
    pub(super) fn is_cut(&self, column: usize) -> bool {
        matches!(self.columns[column].values, Values::Cuts(_))
    }

    /// Writes the codes of an answer.
    pub(super) fn code(&self, answer: &str, codes: &mut [u8]) {
        let fields = fields(answer, self.bits);
        for (column, code) in self.columns.iter().zip(codes.iter_mut()) {
            *code = match &column.place {
                Place::Field(place) => fields.get(*place).map_or(OTHER, |field| column.values.code(field)),
                Place::Fields => column.values.code(&fields.len().to_string()),
                Place::Anywhere(_) => 0,
            };
        }
        if !self.anywhere.is_empty() {
            for field in fields {
                if let Some(&column) = self.anywhere.get(field) {
                    codes[column] = 1;
                }
            }
        }
    }

    /// Describes the event that the code of a column is in a range, or is not.
    pub(super) fn describe(&self, column: usize, (first, last): (u8, u8), inside: bool) -> String {
        let Column { place, values } = &self.columns[column];
        let subject = match place {
            Place::Anywhere(word) => {
                return format!("{} {word}", if (first == 1) == inside { "has" } else { "has no" });
            }
            Place::Fields => "number of fields".to_owned(),
            Place::Field(_) if self.columns.len() == 1 => "answer".to_owned(),
            Place::Field(place) if self.bits => format!("bit {}", place + 1),
            Place::Field(place) => format!("field {}", place + 1),
        };
        match values {
            Values::Labels(labels) => {
                format!("{subject} {} {}", if inside { "is" } else { "is not" }, labels[usize::from(first)])
            }
            Values::Cuts(cuts) if first == 0 => format!("{subject} is at most {}", cuts[usize::from(last)]),
            Values::Cuts(cuts) => format!("{subject} is above {}", cuts[usize::from(first) - 1]),
        }
    }
}

impl Values {
    /// Determines the values of a field; `None` if it is constant.
    fn of<'a>(fields: impl Iterator<Item = &'a str>) -> Option<Values> {
        let fields: Vec<&str> = fields.collect();
        let labels = labels(fields.iter().copied());
        if labels.len() <= 1 {
            return None;
        }
        let numbers: Vec<f64> = fields.iter().filter_map(|field| number(field)).collect();
        if labels.len() <= MAX_LABELS || numbers.len() * 10 < fields.len() * 9 {
            return Some(Values::Labels(labels.iter().take(MAX_LABELS).map(|label| (*label).to_owned()).collect()));
        }
        let mut numbers = numbers;
        numbers.sort_unstable_by(f64::total_cmp);
        let mut cuts: Vec<f64> = (1..PARTS).map(|part| numbers[part * (numbers.len() - 1) / PARTS]).collect();
        cuts.dedup();
        Some(Values::Cuts(cuts))
    }

    fn code(&self, field: &str) -> u8 {
        match self {
            Values::Labels(labels) => labels.iter().position(|label| label == field).map_or(OTHER, |code| code as u8),
            Values::Cuts(cuts) => number(field).map_or(OTHER, |x| cuts.partition_point(|cut| *cut < x) as u8),
        }
    }
}

fn number(field: &str) -> Option<f64> {
    field.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Returns the distinct values, most frequent first.
fn labels<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut counts = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_insert(0u64) += 1);
    let mut labels: Vec<(T, u64)> = counts.into_iter().collect();
    labels.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    labels.into_iter().map(|(label, _)| label).collect()
}

/// Splits an answer into fields.
fn fields(answer: &str, bits: bool) -> Vec<&str> {
    if bits {
        return answer.char_indices().map(|(at, sign)| &answer[at..at + sign.len_utf8()]).collect();
    }
    let separates = |c: char| c.is_whitespace() || ",;|()[]{}<>\"'".contains(c);
    answer.split(separates).filter(|field| !field.is_empty()).collect()
}
