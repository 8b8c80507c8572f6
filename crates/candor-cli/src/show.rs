//! Printing for people: aligned tables, numbers with separators, wrapped sentences.

use std::io::{self, Write};

pub use candor::words::{capital, count, label, paragraph, plural, table};
use candor_tables::visible::{is_hidden, visible};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

/// Writes text for people to standard output.
pub fn emit(text: &str) -> Result<(), Failure> {
    emit_data(&visible(text))
}

/// Writes JSON to standard output.
pub fn emit_json(json: &impl Serialize) -> Result<(), Failure> {
    emit_data(&json_text(json))
}

/// JSON on one line. What could not be seen is escaped: to a program it is the same.
pub fn json_text(json: &impl Serialize) -> String {
    let json = json_value(json);
    let escape = |c: char| if is_hidden(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.to_string().chars().map(escape).chain(["\n".to_owned()]).collect()
}

/// A result as JSON, fields in the order of their names; numbers that are none are null.
pub fn json_value(result: &impl Serialize) -> Value {
    serde_json::to_value(result).expect("results have text for keys")
}

/// Writes to standard output what a program reads, as it is; a reader that has gone is not an error.
pub fn emit_data(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::NobodyReads),
        Err(error) => Err(Failure::Input(format!("cannot write to standard output: {error}"))),
    }
}

/// Writes a remark to standard error, where it does not disturb output.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", visible(text));
}
