//! Reads true records as codes, or counts them.

use candor_analysis::table_list::TableList;
use candor_analysis::tally::{RecordCounts, count_categories};
use candor_base::schema::Schema;
use candor_runtime::progress::{Progress, ProgressSink};
use rand_core::CryptoRng;

use crate::TableError;
use crate::codes::codes;
use crate::error::InvalidValue;
use crate::input::{Batch, Inputs};
use crate::parallel::in_order;
use crate::responses::{self, Provenance};
use crate::skip_logic::unsettled;
use crate::stochastic_rounding::fixed;

/// Files of true records. Numbers between two grid points are rounded stochastically, with fixed draws.
pub struct Records<'a> {
    /// Schema of the columns.
    pub schema: &'a Schema,
    /// The files, read one after another.
    pub inputs: Inputs,
}

impl Records<'_> {
    /// Counts the records for every table in one pass, on all cores, in memory that is independent of their number.
    ///
    /// # Errors
    /// Returns [`TableError`] for
    /// - the first row in order that does not fit the schema,
    /// - a file that cannot be read, or contains responses,
    /// - files without records,
    /// - cancellation by `progress`.
    pub fn count(self, tables: &TableList, progress: ProgressSink<'_>) -> Result<RecordCounts, TableError> {
        let sizes = self.schema.sizes();
        let cells = |table: &Vec<usize>| table.iter().map(|&attribute| sizes[attribute]).product();
        let mut counts: Vec<Vec<u64>> = tables.lists().iter().map(|table| vec![0; cells(table)]).collect();
        let count = |columns: Vec<Vec<u16>>| {
            let slices: Vec<&[u16]> = columns.iter().map(Vec::as_slice).collect();
            let rows = columns.first().map_or(0, Vec::len) as u64;
            (count_categories(&sizes, &slices, tables.lists()), rows)
        };
        let mut records = 0;
        self.each(count, |(more, rows)| {
            for (sums, more) in counts.iter_mut().zip(more) {
                sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            }
            records += rows;
            Ok(progress.report(Progress::new("records", records, None))?)
        })?;
        Ok(RecordCounts::new(tables.lists().iter().cloned().zip(counts), records))
    }

    /// Reads all records, with a column of codes for each attribute.
    ///
    /// # Errors
    /// Returns the errors of [`Records::count`].
    pub fn read(self) -> Result<Vec<Vec<u16>>, TableError> {
        let mut columns = vec![Vec::new(); self.schema.attributes().len()];
        self.each(
            |read| read,
            |more| {
                columns.iter_mut().zip(more).for_each(|(column, more)| column.extend(more));
                Ok(())
            },
        )?;
        Ok(columns)
    }

    /// Maps the codes of each batch on all cores, and passes on the results in order.
    fn each<T: Send + 'static>(
        self,
        map: impl Fn(Vec<Vec<u16>>) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let names: Vec<String> = self.schema.attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
        let mut some = false;
        let first = self.inputs.name();
        for table in self.inputs {
            let (input, provenance) = responses::open(table)?;
            if let Some(Provenance { fingerprint, .. }) = provenance {
                return Err(TableError::AlreadyRandomized { file: input.name().to_owned(), fingerprint });
            }
            let batches = input.batches_with_crosses(&names, &[])?;
            in_order(
                batches,
                |number, batch| {
                    let mut rng = fixed(number);
                    Ok::<T, TableError>(map(truths(&batch?, self.schema, &mut rng)?))
                },
                |mapped| {
                    some = true;
                    take(mapped?)
                },
            )?;
        }
        match some {
            true => Ok(()),
            false => Err(TableError::NoRecords { file: first }),
        }
    }
}

/// Returns the codes of a batch whose first columns are the attributes of the schema, in order.
///
/// # Errors
/// Returns [`TableError::InvalidValue`] with the first row that does not fit.
pub(crate) fn truths(batch: &Batch, schema: &Schema, rng: &mut impl CryptoRng) -> Result<Vec<Vec<u16>>, TableError> {
    let mut truths = Vec::with_capacity(schema.attributes().len());
    let mut first: Option<InvalidValue> = None;
    for (column, attribute) in schema.attributes().iter().enumerate() {
        truths.push(codes(batch, column, attribute, rng, |unfit| {
            if first.as_ref().is_none_or(|first| unfit.row() < first.row) {
                first = Some(unfit.told());
            }
        })?);
    }
    unsettled(batch, schema, &mut truths, |bad| {
        if first.as_ref().is_none_or(|first| bad.row < first.row) {
            first = Some(bad);
        }
    });
    match first {
        Some(bad) => Err(TableError::InvalidValue(bad)),
        None => Ok(truths),
    }
}
