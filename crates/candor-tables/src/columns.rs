//! Summarizes the content of every column of a file.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ahash::RandomState;
use arrow_array::RecordBatch;
use arrow_schema::DataType;
use candor_base::schema::Attribute;
use candor_runtime::parallel;
use candor_runtime::progress::{Progress, ProgressSink};

use crate::TableError;
use crate::bins::suggested;
use crate::input::Input;
use crate::missing::Missing;
use crate::types::{for_each_text, is_categorical};

/// Maximum number of distinct values that are counted in a column.
pub const MAX_COUNTED: usize = 200;

/// Maximum number of stored values of a numeric column, evenly spaced over the file.
pub const MAX_NUMBERS: usize = 1 << 16;

/// Number of first rows that are stored.
const FIRST_ROWS: usize = 5;

/// Columns and first rows of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Columns {
    /// Number of records.
    pub records: u64,
    /// Columns, in order.
    pub columns: Vec<Column>,
    /// First rows as text.
    pub first_rows: Vec<Vec<String>>,
    /// Name of the file.
    pub(crate) file: String,
    /// Words that stand for a missing value.
    pub(crate) missing_words: Missing,
}

/// Content of a column.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// Whether the column has no name, as for row numbers.
    pub unnamed: bool,
    /// Whether its type can contain categories or numbers.
    pub readable: bool,
    /// Distinct values with their frequencies, in order of first occurrence; at most [`MAX_COUNTED`].
    pub values: Vec<(String, u64)>,
    /// Whether there are more distinct values than were counted.
    pub more: bool,
    /// Number of missing values.
    pub missing: u64,
    /// Its numbers, if it contains nothing else.
    pub numbers: Option<Numbers>,
    /// Whether no value is something other than a number; also if there are no values.
    pub(crate) numeric: bool,
    /// Whether its type is boolean.
    pub(crate) boolean: bool,
    /// Number of empty values.
    pub(crate) empty: u64,
    /// Words that may stand for a missing value, with how often each occurs.
    pub(crate) words: Vec<(String, u64)>,
}

/// Numbers of a column.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Numbers {
    /// Number of values.
    pub count: u64,
    /// Smallest value.
    pub least: f64,
    /// Largest value.
    pub most: f64,
    /// Every n-th value; all if there are at most [`MAX_NUMBERS`].
    pub sample: Vec<f64>,
    /// The step n.
    every: u64,
}

impl Numbers {
    fn add(&mut self, number: f64) {
        if self.count == 0 {
            (self.least, self.most, self.every) = (number, number, 1);
        }
        (self.least, self.most) = (self.least.min(number), self.most.max(number));
        if self.count.is_multiple_of(self.every) {
            if self.sample.len() == MAX_NUMBERS {
                let mut keep = false;
                self.sample.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.every *= 2;
            }
            if self.count.is_multiple_of(self.every) {
                self.sample.push(number);
            }
        }
        self.count += 1;
    }

    /// Returns n if the sample has every n-th value.
    pub fn every(&self) -> u64 {
        self.every.max(1)
    }

    /// Returns suggested round bin edges, such as `18,65`; `None` if all numbers are equal.
    pub fn suggested_edges(&self) -> Option<String> {
        suggested([self.least, self.most].into_iter())
    }
}

impl Column {
    /// Returns the number of records in each category of an attribute, ignoring all other values.
    ///
    /// It is approximate for very long columns.
    pub fn counts(&self, attribute: &Attribute) -> Vec<u64> {
        let mut counts = vec![0; attribute.categories().len()];
        let mut add = |value: &str, count: u64| {
            if let Some(code) = attribute.code_of_value(value) {
                counts[usize::from(code)] += count;
            }
        };
        match &self.numbers {
            Some(numbers) if self.more || attribute.numeric_len() > 0 => {
                let each = numbers.count as f64 / numbers.sample.len().max(1) as f64;
                let mut of_sample = vec![0u64; attribute.categories().len()];
                for &number in &numbers.sample {
                    if let Some((code, _)) = attribute.place_of_number(number) {
                        of_sample[usize::from(code)] += 1;
                    }
                }
                counts.iter_mut().zip(of_sample).for_each(|(count, seen)| *count = (seen as f64 * each).round() as u64);
            }
            _ => self.values.iter().for_each(|(value, count)| add(value, *count)),
        }
        if let Some(code) = attribute.code_of_value("") {
            counts[usize::from(code)] += self.missing;
        }
        counts
    }
}

/// A column while it is read.
struct Reading {
    column: Column,
    /// Where each distinct value stands, and the number that it is.
    places: HashMap<String, (usize, Option<f64>), RandomState>,
    numbers: Option<Numbers>,
}

impl Reading {
    fn new(name: &str) -> Reading {
        let column = Column {
            name: name.to_owned(),
            unnamed: is_unnamed(name),
            readable: true,
            values: Vec::new(),
            more: false,
            missing: 0,
            numbers: None,
            numeric: false,
            boolean: false,
            empty: 0,
            words: Vec::new(),
        };
        Reading { column, places: HashMap::default(), numbers: Some(Numbers::default()) }
    }

    fn see(&mut self, value: &str, is_word: impl Fn(&str) -> bool) {
        if value.is_empty() {
            self.column.empty += 1;
            return;
        }
        // Most values were seen before: one lookup counts them.
        if let Some(&(place, number)) = self.places.get(value) {
            self.column.values[place].1 += 1;
            if let (Some(numbers), Some(number)) = (&mut self.numbers, number) {
                numbers.add(number);
            }
            return;
        }
        if is_word(value) {
            match self.column.words.iter_mut().find(|(word, _)| word == value) {
                Some((_, count)) => *count += 1,
                None => self.column.words.push((value.to_owned(), 1)),
            }
            return;
        }
        let number = self.numbers.as_mut().and_then(|numbers| {
            let number = value.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
            numbers.add(number);
            Some(number)
        });
        if number.is_none() {
            self.numbers = None;
        }
        match self.column.values.len() < MAX_COUNTED {
            true => {
                self.places.insert(value.to_owned(), (self.column.values.len(), number));
                self.column.values.push((value.to_owned(), 1));
            }
            false => self.column.more = true,
        }
    }

    /// Decides, as schema inference does, whether codes such as `NA` are missing values.
    fn finish(mut self, named: bool) -> Column {
        self.column.numeric = self.numbers.is_some();
        self.column.missing = self.column.empty;
        let numeric = self.numbers.as_ref().is_some_and(|numbers| numbers.count > 0);
        let code = |(value, _): &(String, u64)| value.len() == 2 && value.bytes().all(|byte| byte.is_ascii_uppercase());
        let codes = self.column.values.iter().all(code);
        for (word, count) in &self.column.words {
            if named || numeric || (word == "NA" && !codes) {
                self.column.missing += count;
            } else {
                self.column.values.push((word.clone(), *count));
            }
        }
        self.column.numbers = self.numbers.filter(|_| numeric);
        self.column
    }
}

/// Returns whether a column has no name, as pandas and R write row numbers.
pub(crate) fn is_unnamed(name: &str) -> bool {
    name.trim().is_empty() || name.strip_prefix("Unnamed: ").is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Reads a file once and summarizes its columns in parallel. `progress` receives the number of records.
///
/// # Errors
/// Returns [`TableError`] if the file cannot be read or has no records, or if `progress` cancels.
pub fn columns(input: Input, progress: ProgressSink<'_>) -> Result<Columns, TableError> {
    let (file, header, words) = (input.name().to_owned(), input.header().to_vec(), input.missing().clone());
    let (mut records, total, mut first_rows) = (0, input.rows(), Vec::new());
    let reading: Vec<Mutex<Reading>> = header.iter().map(|name| Mutex::new(Reading::new(name))).collect();
    for batch in input.batches(&header)? {
        let batch = batch?;
        let rows = batch.columns.num_rows();
        parallel::map(header.len(), parallel::threads(), |at| {
            let (array, mut reading) = (batch.columns.column(at), lock(&reading[at]));
            reading.column.boolean |= array.data_type() == &DataType::Boolean;
            let see = |_: usize, value: Option<&str>| reading.see(value.unwrap_or(""), |value| words.is(value));
            if !is_categorical(array.data_type()) || for_each_text(array, see).is_none() {
                (reading.column.readable, reading.numbers) = (false, None);
            }
        });
        if first_rows.is_empty() {
            first_rows = first(&batch.columns);
        }
        records += rows as u64;
        progress.report(Progress::new("records", records, total))?;
    }
    if records == 0 {
        return Err(TableError::NoRecords { file });
    }
    let named = matches!(words, Missing::Named(_));
    let finish = |one: Mutex<Reading>| one.into_inner().unwrap_or_else(PoisonError::into_inner).finish(named);
    let columns = reading.into_iter().map(finish).collect();
    Ok(Columns { records, columns, first_rows, file, missing_words: words })
}

/// A column that one thread at a time reads.
fn lock(reading: &Mutex<Reading>) -> std::sync::MutexGuard<'_, Reading> {
    reading.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first rows of the first batch, as text.
fn first(batch: &RecordBatch) -> Vec<Vec<String>> {
    let batch = batch.slice(0, batch.num_rows().min(FIRST_ROWS));
    let mut rows = vec![vec![String::new(); batch.num_columns()]; batch.num_rows()];
    for (at, array) in batch.columns().iter().enumerate().filter(|(_, array)| is_categorical(array.data_type())) {
        for_each_text(array, |row, value| value.unwrap_or("").clone_into(&mut rows[row][at]));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Location;

    fn read(text: &str) -> Columns {
        let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
        std::fs::write(file.path(), text).unwrap();
        columns(Input::open(&Location::File(file.path().to_owned()), None).unwrap(), ProgressSink::none()).unwrap()
    }

    #[test]
    fn every_column_is_told_whatever_it_holds() {
        let found = read(",a,state,n,text\n1,x,NA,1.5,t1\n2,y,CA,NA,t2\n3,,NY,3,t3\n");
        assert_eq!(found.records, 3);
        assert_eq!(found.first_rows[0], ["1", "x", "NA", "1.5", "t1"]);
        let [row, a, state, n, text] = &found.columns[..] else { panic!("five columns") };
        assert!(row.unnamed && !a.unnamed);
        assert_eq!((a.missing, a.values.len(), a.numbers.is_none()), (1, 2, true));
        assert_eq!((state.missing, state.values.len()), (0, 3), "NA is Namibia among codes of two capitals");
        let numbers = n.numbers.as_ref().unwrap();
        assert_eq!((n.missing, numbers.least, numbers.most, &numbers.sample[..]), (1, 1.5, 3.0, &[1.5, 3.0][..]));
        assert_eq!(text.values.len(), 3);
        let a_attribute = Attribute::new("a", ["x", "y", ""].map(str::to_owned).to_vec()).unwrap();
        assert_eq!(a.counts(&a_attribute), [1, 1, 1]);
        let bins = Attribute::binned("n", &[2.0], vec![String::new()]).unwrap();
        assert_eq!(n.counts(&bins), [1, 1, 1]);
    }

    #[test]
    fn long_columns_are_sampled_evenly() {
        let rows = 3 * MAX_NUMBERS;
        let text: String = (0..rows).map(|i| format!("{i}\n")).collect();
        let found = read(&format!("n\n{text}"));
        let column = &found.columns[0];
        let numbers = column.numbers.as_ref().unwrap();
        assert!(column.more && column.values.len() == MAX_COUNTED);
        assert_eq!((numbers.count, numbers.least, numbers.most), (rows as u64, 0.0, rows as f64 - 1.0));
        assert!(numbers.sample.len() > MAX_NUMBERS / 2 && numbers.sample.len() <= MAX_NUMBERS);
        assert!(numbers.sample.windows(2).all(|pair| pair[1] - pair[0] == 4.0), "every fourth");
        let half = Attribute::binned("n", &[rows as f64 / 2.0], Vec::new()).unwrap();
        let counts = column.counts(&half);
        assert!(counts.iter().all(|&count| (count as f64 / rows as f64 - 0.5).abs() < 1e-3), "{counts:?}");
        assert_eq!(numbers.suggested_edges().as_deref(), Some("50000,100000,150000"));
    }
}
