//! A whole table of true records in memory, for simulations.

use candor::schema::Schema;

use crate::TableError;
use crate::codes::truths;
use crate::input::{Input, Location};
use crate::responses::provenance;

/// Reads a table: one column of codes for each attribute of the schema.
///
/// # Errors
/// If the table cannot be read, is one of responses, or has no records; the first value that does not fit.
pub fn read_records(schema: &Schema, location: &Location, delimiter: Option<u8>) -> Result<Vec<Vec<u16>>, TableError> {
    let input = Input::open(location, delimiter)?;
    if let Some((fingerprint, _)) = provenance(location, &input)? {
        return Err(TableError::AlreadyRandomized { file: location.name(), fingerprint });
    }
    let names: Vec<String> = schema.attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
    let mut records = vec![Vec::new(); names.len()];
    for batch in input.batches_with_crosses(&names)? {
        let more = truths(schema, &batch?)?;
        records.iter_mut().zip(more).for_each(|(held, more)| held.extend(more));
    }
    match records.first().is_none_or(Vec::is_empty) {
        true => Err(TableError::NoRecords { file: location.name() }),
        false => Ok(records),
    }
}
