//! Checking a table against a schema: every value that does not fit.

use candor::schema::Schema;

use crate::TableError;
use crate::codes::codes;
use crate::dither::fixed;
use crate::error::BadValue;
use crate::input::{Batch, Input};

/// Reads a whole table and reports every value that does not fit the schema, the first of each column with the category that
/// may have been meant; gives the number of records.
///
/// # Errors
/// If the table cannot be read, a column is missing, or a column's type holds no categories.
pub fn check(schema: &Schema, input: Input, mut bad: impl FnMut(BadValue)) -> Result<u64, TableError> {
    let names: Vec<String> = schema.attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
    let mut records = 0;
    let mut suggested = vec![false; names.len()];
    for batch in input.batches_with_crosses(&names, &[])? {
        let batch: Batch = batch?;
        records += batch.columns.num_rows() as u64;
        let mut found = Vec::new();
        for (column, attribute) in schema.attributes().iter().enumerate() {
            // Whether a value fits does not depend on how it is rounded.
            let mut rng = fixed(0);
            codes(&batch, column, attribute, &mut rng, |unfit| {
                let first = !std::mem::replace(&mut suggested[column], true);
                found.push(if first { unfit.told() } else { unfit.listed() });
            })?;
        }
        found.sort_by_key(|value| value.row);
        found.into_iter().for_each(&mut bad);
    }
    Ok(records)
}
