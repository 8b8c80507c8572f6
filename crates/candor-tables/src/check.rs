//! Checks a file against a schema and finds every value that does not fit.

use std::collections::HashSet;

use candor_base::schema::Schema;
use candor_runtime::progress::{Progress, ProgressSink};

use crate::TableError;
use crate::codes::codes;
use crate::error::InvalidValue;
use crate::input::{Batch, Input};
use crate::skip_logic::unsettled;
use crate::stochastic_rounding::fixed;

/// Reads a complete file and reports every value that does not fit the schema. Returns the number of records.
///
/// The first invalid value of each column comes with a suggested category.
///
/// # Errors
/// Returns [`TableError`] if the file cannot be read, a column is missing or has an unsupported type, or `progress`
/// cancels.
pub fn check(
    schema: &Schema,
    input: Input,
    progress: ProgressSink<'_>,
    mut bad: impl FnMut(InvalidValue),
) -> Result<u64, TableError> {
    let names: Vec<String> = schema.attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
    let mut records = 0;
    let mut suggested = vec![false; names.len()];
    for batch in input.batches_with_crosses(&names, &[])? {
        let batch: Batch = batch?;
        records += batch.columns.num_rows() as u64;
        progress.report(Progress::new("records", records, None))?;
        let (mut found, mut coded) = (Vec::new(), Vec::with_capacity(names.len()));
        for (column, attribute) in schema.attributes().iter().enumerate() {
            // Rounding does not affect whether a value fits.
            let mut rng = fixed(0);
            coded.push(codes(&batch, column, attribute, &mut rng, |unfit| {
                let first = !std::mem::replace(&mut suggested[column], true);
                found.push(if first { unfit.told() } else { unfit.listed() });
            })?);
        }
        // The values that an invalid one implies for other questions are unknown.
        let unfit: HashSet<u64> = found.iter().map(|value| value.row).collect();
        unsettled(&batch, schema, &mut coded, |bad| found.extend((!unfit.contains(&bad.row)).then_some(bad)));
        found.sort_by_key(|value| value.row);
        found.into_iter().for_each(&mut bad);
    }
    Ok(records)
}
