//! A survey in memory: randomizes Arrow record batches, and estimates from the responses.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use candor_analysis::estimate::{Options, analyse};
use candor_analysis::table_list::TableList;
use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Plan};
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::input::Input;
use candor_tables::randomize::{RandomizeJob, randomize};
use candor_tables::tally::{self, tally};

/// Randomizes record batches and estimates a table.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = Schema::from_toml("[[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"yes\"]\n")?;
    let channel = Pattern::k_ary(vec![Axis::single(2)], 2.0)?;
    let plan = Plan::new(schema, vec![Block::new(vec![0], channel)])?;

    // A quarter of these people smoke.
    let smokes: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..10_000).map(|i| ["yes", "no", "no", "no"][i % 4])));
    let people = RecordBatch::try_from_iter([("smokes", smokes)])?;

    let people = Input::from_batches("people", people.schema(), [Ok(people)])?;
    let mut responses = Vec::new();
    randomize(&RandomizeJob { plan: &plan, keep: &[], source: &Source::from_os()? }, people.into(), |batch| {
        responses.push(batch);
        Ok::<(), TableError>(())
    })?;

    let responses = Input::from_batches("responses", responses[0].schema(), responses.into_iter().map(Ok))?;
    let tables = TableList::marginals(plan.schema());
    let job = tally::TallyJob { plan: &plan, tables: &tables, by: &[], weights: None };
    for counted in tally(&job, responses.into(), ProgressSink::none())?.groups.values().flatten() {
        for (label, cell) in ["no", "yes"].iter().zip(analyse(&plan, counted, &Options::default()).cells?) {
            println!("{label}: {:.3}", cell.estimate);
        }
    }
    Ok(())
}
