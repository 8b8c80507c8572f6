//! Counts responses while reading them from files.

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
    /// Returns the origin of responses that were read.
    pub fn new(read: &ReadSummary) -> Provenance {
        let ReadSummary { simulation, unmarked, implausible, repeated, .. } = read.clone();
        Provenance { simulation, unmarked, implausible, repeated }
    }
}

impl Counts {
    /// Counts responses from record batches or files. `progress` receives the number of records.
    ///
    /// # Errors
    /// Returns [`TableError`] if
    /// - a file was made with another plan or cannot be read,
    /// - a value is not a valid response,
    /// - a grouping or weight column is not public,
    /// - `progress` cancels.
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

    /// Counts responses of a sample whose sampling design is in these columns.
    ///
    /// It does not keep the sets that maximum likelihood requires, and [`Counts::to_json`] omits the sampling
    /// units.
    ///
    /// # Errors
    /// Returns the errors of [`Counts::read`], or an error if the columns do not determine a sampling design.
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

    /// Reads precomputed counts, such as the result of the query of [`sql`](crate::sql::sql).
    ///
    /// # Errors
    /// Returns [`TableError`] if a file cannot be read or does not contain such counts.
    pub fn from_precomputed(plan: &Plan, inputs: Inputs, tables: &TableList) -> Result<Counts, TableError> {
        let tallies = tally_counts(plan, inputs, tables)?;
        let responses = tallies.iter().map(|tally| tally.total() as u64).max().unwrap_or(0);
        let groups = BTreeMap::from([(Vec::new(), tallies)]);
        Ok(Counts::simple(&[], groups, responses))
    }
}
