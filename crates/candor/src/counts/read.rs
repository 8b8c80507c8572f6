//! Responses counted as they are read from tables.

use std::collections::BTreeMap;

use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::counts::tally_counts;
use candor_tables::input::Inputs;
use candor_tables::responses::ReadSummary;
use candor_tables::tally::{SampleColumns, Tallied, TallyJob, tally, tally_keeping_sets, tally_sample};

use super::{CountOptions, Counts, Provenance};

impl Provenance {
    /// What was read of responses.
    pub fn new(read: &ReadSummary) -> Provenance {
        let ReadSummary { simulation, unmarked, implausible, repeated, .. } = read.clone();
        Provenance { simulation, unmarked, implausible, repeated }
    }
}

impl Counts {
    /// Counts responses in tables: record batches or files. `progress` is told the records.
    ///
    /// # Errors
    /// If a table was made under another plan or cannot be read, a value cannot be a response, groups or weights are
    /// not public, or whoever watches ends it.
    pub fn read(
        plan: &Plan,
        inputs: Inputs,
        tables: &TableList,
        options: CountOptions<'_>,
        progress: ProgressSink<'_>,
    ) -> Result<Counts, TableError> {
        let CountOptions { by, weights, keep_sets } = options;
        let job = TallyJob { plan, tables, by, weights };
        let read = if keep_sets { tally_keeping_sets(&job, inputs, progress) } else { tally(&job, inputs, progress) }?;
        Ok(Counts::tallied(by, read))
    }

    /// The same of respondents who were drawn as these columns say; the likelihood is not kept, and [`Counts::to_json`]
    /// does not hold the units.
    ///
    /// # Errors
    /// As [`Counts::read`], or if the columns tell no errors.
    pub fn read_sample(
        plan: &Plan,
        inputs: Inputs,
        tables: &TableList,
        options: CountOptions<'_>,
        columns: &SampleColumns,
        progress: ProgressSink<'_>,
    ) -> Result<Counts, TableError> {
        let CountOptions { by, weights, .. } = options;
        Ok(Counts::tallied(by, tally_sample(&TallyJob { plan, tables, by, weights }, columns, inputs, progress)?))
    }

    fn tallied(by: &[usize], read: Tallied) -> Counts {
        let provenance = Provenance::new(&read.read);
        Counts { rows: read.rows, provenance, ..Counts::simple(by, read.groups, read.read.responses) }
    }

    /// Reads counts made elsewhere, by the query of [`sql`](crate::sql::sql) or otherwise.
    ///
    /// # Errors
    /// If a table cannot be read, or is no table of such counts.
    pub fn from_precomputed(plan: &Plan, inputs: Inputs, tables: &TableList) -> Result<Counts, TableError> {
        let tallies = tally_counts(plan, tables, inputs)?;
        let responses = tallies.iter().map(|tally| tally.total() as u64).max().unwrap_or(0);
        let groups = BTreeMap::from([(Vec::new(), tallies)]);
        Ok(Counts::simple(&[], groups, responses))
    }
}
