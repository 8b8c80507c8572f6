//! Input from JSON Lines: one object per line, all with the same fields.

use std::io::BufReader;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema as ArrowSchema};
use serde_json::{Map, Value};

use super::table::{Columns, Input, Reader, check_header};
use crate::limits::{self, Stream};
use crate::metadata_keys::{FINGERPRINT_FIELD, FINGERPRINT_KEY};
use crate::{BATCH_ROWS, TableError};

/// Number of bytes at which a batch ends early, because several are in memory at once.
const MAX_BATCH_BYTES: usize = 1 << 25;

/// Fields and values of one line.
pub(crate) type Record = Map<String, Value>;

/// Returns whether a stream with this beginning contains JSON Lines.
pub(super) fn is_json(head: &[u8]) -> bool {
    let mut signs = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    signs.next() == Some(&b'{') && matches!(signs.next(), Some(b'"' | b'}'))
}

type Lines = Box<dyn Iterator<Item = std::io::Result<String>> + Send>;

struct JsonLines {
    name: String,
    lines: Lines,
    /// Number of lines read.
    line: u64,
    header: Vec<String>,
    fingerprint: Option<Value>,
    first: Option<(Record, usize)>,
}

/// Reads the first line, whose fields become the columns.
///
/// A plan's fingerprint is not a column; it must be the same in every line.
///
/// # Errors
/// Returns [`TableError`] if there is none, or it is not an object.
pub(super) fn open_json_lines(name: String, reader: Stream) -> Result<Input, TableError> {
    let lines = Box::new(limits::lines(BufReader::new(reader)));
    let mut table =
        JsonLines { name: name.clone(), lines, line: 0, header: Vec::new(), fingerprint: None, first: None };
    let Some((mut record, length)) = table.next_record()? else { return Err(TableError::Empty { file: name }) };
    table.fingerprint = record.remove(FINGERPRINT_FIELD);
    table.header = record.keys().cloned().collect();
    check_header(&name, &table.header)?;
    let text = table.fingerprint.as_ref().map(|value| value.as_str().unwrap_or_default().to_owned());
    let metadata = text.into_iter().map(|fingerprint| (FINGERPRINT_KEY.to_owned(), fingerprint)).collect();
    table.first = Some((record, length));
    Ok(Input {
        name,
        header: table.header.clone(),
        rows: None,
        metadata,
        reader: Box::new(table),
        missing: Default::default(),
    })
}

impl JsonLines {
    fn wrong(&self, message: impl Into<String>) -> TableError {
        TableError::Line { file: self.name.clone(), line: self.line, message: message.into() }
    }

    /// Returns the next nonempty line and its length.
    fn next_record(&mut self) -> Result<Option<(Record, usize)>, TableError> {
        while let Some(line) = self.lines.next() {
            self.line += 1;
            let line = line.map_err(|error| self.wrong(error.to_string()))?;
            if line.trim().is_empty() {
                continue;
            }
            // The message of the parser may quote values.
            let record = serde_json::from_str(&line)
                .map_err(|error| self.wrong(format!("not a JSON object (at column {})", error.column())))?;
            return Ok(Some((record, line.len())));
        }
        Ok(None)
    }

    /// Returns the next line with the fields of the first line.
    fn next_row(&mut self) -> Result<Option<(Record, usize)>, TableError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let Some((mut record, length)) = self.next_record()? else { return Ok(None) };
        if record.remove(FINGERPRINT_FIELD) != self.fingerprint {
            return Err(self.wrong(format!("another \"{FINGERPRINT_FIELD}\" than in the first line")));
        }
        match record.keys().eq(&self.header) {
            true => Ok(Some((record, length))),
            false => Err(self.wrong("other fields than in the first line")),
        }
    }
}

impl Reader for JsonLines {
    fn read(self: Box<Self>, positions: &[usize]) -> Result<Columns, TableError> {
        let columns = positions.iter().map(|&position| self.header[position].clone()).collect();
        Ok(Box::new(JsonBatches { table: *self, columns }))
    }
}

struct JsonBatches {
    table: JsonLines,
    columns: Vec<String>,
}

impl Iterator for JsonBatches {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

impl JsonBatches {
    fn batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let (mut records, mut bytes) = (Vec::new(), 0);
        while records.len() < BATCH_ROWS && bytes < MAX_BATCH_BYTES {
            let Some((record, length)) = self.table.next_row()? else { break };
            bytes += length;
            records.push(record);
        }
        if records.is_empty() {
            return Ok(None);
        }
        batch_of(&self.columns, &records).map(Some).map_err(|column| {
            let message =
                format!("\"{column}\" is neither text, a number, a boolean, null nor, in every line, a list of these");
            self.table.wrong(message)
        })
    }
}

/// Converts records to columns of text, or of lists of text if values are lists.
///
/// # Errors
/// Returns the name of the first column that is neither.
pub(crate) fn batch_of<'a>(columns: &'a [String], records: &[Record]) -> Result<RecordBatch, &'a str> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for column in columns {
        let values = || records.iter().map(|record| record.get(column).unwrap_or(&Value::Null));
        let lists = values().any(Value::is_array);
        let array = if lists { list_array(values()) } else { text_array(values(), records.len()) };
        let array = array.ok_or(column.as_str())?;
        fields.push(Field::new(column, array.data_type().clone(), true));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(records.len()));
    let schema = Arc::new(ArrowSchema::new(fields));
    Ok(RecordBatch::try_new_with_options(schema, arrays, &options).expect("columns of one length"))
}

fn text_array<'a>(values: impl Iterator<Item = &'a Value>, rows: usize) -> Option<ArrayRef> {
    // Room for short labels; a single response takes little.
    let mut texts = StringBuilder::with_capacity(rows, 8 * rows);
    values.into_iter().try_for_each(|value| text_of(value).map(|text| texts.append_option(text)))?;
    Some(Arc::new(texts.finish()))
}

fn list_array<'a>(values: impl Iterator<Item = &'a Value>) -> Option<ArrayRef> {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for value in values {
        match value {
            Value::Array(items) => {
                for item in items {
                    lists.values().append_option(text_of(item)?);
                }
                lists.append(true);
            }
            Value::Null => lists.append(false),
            _ => return None,
        }
    }
    Some(Arc::new(lists.finish()))
}

/// Returns a value as text (inner `None` if missing); `None` if it has no text form.
fn text_of(value: &Value) -> Option<Option<String>> {
    match value {
        Value::String(text) => Some(Some(text.clone())),
        Value::Number(number) => Some(Some(number.to_string())),
        Value::Bool(flag) => Some(Some(flag.to_string())),
        Value::Null => Some(None),
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<RecordBatch>, TableError> {
        let input = Input::from_bytes("lines", text.to_owned(), None)?;
        let header = input.header().to_vec();
        input.batches(&header)?.map(|batch| batch.map(|batch| batch.columns)).collect()
    }

    fn refused(text: &str) -> String {
        read(text).err().map_or(String::new(), |error| error.to_string())
    }

    #[test]
    fn lines_are_rows_and_the_fingerprint_travels_beside() {
        let text = "{\"b\": [\"x\", 1], \"a\": \"1,5\", \"candor_fingerprint\": \"sha256:0\"}\n\n { \"a\": \
                    null, \"b\": null, \"candor_fingerprint\": \"sha256:0\"}";
        let input = Input::from_bytes("lines", text, None).unwrap();
        assert_eq!(
            (input.header(), input.metadata(FINGERPRINT_KEY)),
            (&["a".into(), "b".into()][..], Some("sha256:0"))
        );
        let batches = read(text).unwrap();
        let shown = |column: usize| format!("{:?}", batches[0].column(column));
        assert_eq!((batches.len(), batches[0].num_rows()), (1, 2));
        assert!(shown(0).contains("1,5") && shown(0).contains("null"));
        assert!(shown(1).contains('x') && shown(1).contains("null"));
    }

    #[test]
    fn what_is_not_such_a_table_is_refused_where_it_is_wrong() {
        assert_eq!(refused("{\"a\": 1}\n{\"a\": "), "lines, line 2: not a JSON object (at column 6)");
        assert_eq!(refused("{\"a\": 1}\n\n{\"b\": 1}"), "lines, line 3: other fields than in the first line");
        let other = "{\"a\": 1, \"candor_fingerprint\": \"x\"}\n{\"a\": 1, \"candor_fingerprint\": \"y\"}";
        assert_eq!(refused(other), "lines, line 2: another \"candor_fingerprint\" than in the first line");
        assert!(refused("{\"a\": {\"b\": 1}}").contains("\"a\" is neither text"));
        assert!(refused("{\"a\": [1]}\n{\"a\": 1}").contains("\"a\" is neither text"));
        assert!(refused("{\"a\": [[1]]}").contains("\"a\" is neither text"));
    }

    #[test]
    fn csv_is_not_taken_for_json() {
        for head in ["a,b\n", "{a},b\n", "\"{\",b\n", "", "{"] {
            assert!(!is_json(head.as_bytes()), "{head}");
        }
        assert!(is_json(b" \n{ \"a\""));
    }
}
