//! Columns of cross-classifications, made from the columns of their parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use candor_base::schema::{CROSS, parts};

use crate::types::cast;

/// The columns to read, and how the requested columns are made from them.
pub(crate) struct Crossing {
    /// The columns to read.
    pub(crate) read: Vec<String>,
    /// Requested columns: name, and the positions of the columns that it is made from.
    made: Vec<(String, Vec<usize>)>,
}

/// For each column that is a cross-classification, the texts of its parts.
pub(crate) type Parts = BTreeMap<usize, Vec<ArrayRef>>;

impl Crossing {
    /// Plans the reading of attributes and other columns.
    ///
    /// An attribute that is not in the header is made from its parts. Other columns are read as they are.
    pub(crate) fn new(header: &[String], attributes: &[String], others: &[String]) -> Crossing {
        let mut read: Vec<String> = Vec::new();
        let mut made = Vec::with_capacity(attributes.len() + others.len());
        let columns = attributes.iter().map(|name| (name, true)).chain(others.iter().map(|name| (name, false)));
        for (column, may_be_crossed) in columns {
            let crossed = may_be_crossed && !header.contains(column);
            let sources = if crossed { parts(column) } else { vec![column.as_str()] };
            let places = sources.into_iter().map(|part| {
                let place = read.iter().position(|name| name == part);
                place.unwrap_or_else(|| {
                    read.push(part.to_owned());
                    read.len() - 1
                })
            });
            made.push((column.clone(), places.collect::<Vec<usize>>()));
        }
        Crossing { read, made }
    }

    /// Returns whether the requested columns are exactly those that are read.
    pub(crate) fn is_plain(&self) -> bool {
        self.made.iter().enumerate().all(|(at, (_, places))| *places == [at])
    }

    /// Returns the requested columns, and the parts of those that were joined.
    ///
    /// # Errors
    /// Returns the name and type of a column that has no text form.
    pub(crate) fn make(&self, read: &RecordBatch) -> Result<(RecordBatch, Parts), (String, DataType)> {
        let mut fields = Vec::with_capacity(self.made.len());
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.made.len());
        let mut crossed = Parts::new();
        for (at, (name, places)) in self.made.iter().enumerate() {
            if let [place] = places[..] {
                fields.push(read.schema().field(place).clone());
                columns.push(read.column(place).clone());
                continue;
            }
            let text = |&place: &usize| {
                let column = read.column(place);
                cast(column, &DataType::Utf8).ok_or_else(|| (self.read[place].clone(), column.data_type().clone()))
            };
            let texts = places.iter().map(text).collect::<Result<Vec<ArrayRef>, _>>()?;
            fields.push(Field::new(name, DataType::Utf8, true));
            columns.push(joined(&texts, read.num_rows()));
            crossed.insert(at, texts);
        }
        let batch = RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), columns);
        Ok((batch.expect("columns of one batch"), crossed))
    }
}

/// Returns the values of a row; a missing one is empty.
pub(crate) fn row_of(texts: &[ArrayRef], row: usize) -> Vec<&str> {
    let value = |text: &'_ ArrayRef| if text.is_null(row) { None } else { Some(row) };
    texts.iter().map(|text| value(text).map_or("", |row| text.as_string::<i32>().value(row))).collect()
}

/// Returns the labels of combinations.
fn joined(texts: &[ArrayRef], rows: usize) -> ArrayRef {
    let mut builder = StringBuilder::new();
    for row in 0..rows {
        builder.append_value(row_of(texts, row).join(&CROSS.to_string()));
    }
    Arc::new(builder.finish())
}
