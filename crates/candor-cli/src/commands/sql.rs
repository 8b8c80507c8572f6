//! `candor sql`: the query that counts responses in a database, for `candor estimate --counts`.

use candor::choice::Choice;
use candor::sql::{Dialect, StoredSets, sql};
use candor_analysis::table_list::TableList;
use clap::Args;

use super::read_plan;
use crate::failure::Failure;
use crate::flags::choice;
use crate::show::emit_data;

#[derive(Args)]
#[command(after_help = "\
Example:
  candor sql plan.json --tables pairs --from responses > count.sql
  duckdb -csv < count.sql > counts.csv
  candor estimate plan.json --counts counts.csv --tables pairs")]
pub struct SqlArgs {
    /// Plan (JSON); - for standard input
    plan: String,
    /// Tables: marginals, pairs, triples, joint, or names such as "a,b;c"
    #[arg(long, default_value = "marginals")]
    tables: String,
    /// Database table (or expression) that holds the responses
    #[arg(long, default_value = "responses", value_name = "NAME")]
    from: String,
    /// SQL dialect
    #[arg(long, value_parser = choice::<Dialect>(), default_value = Dialect::Duckdb.name())]
    dialect: Dialect,
    /// Representation of answers that are sets: lists (as from Parquet), or text with ; between labels (as from CSV)
    /// [default: text for PostgreSQL, else list]
    #[arg(long, value_parser = choice::<StoredSets>())]
    sets: Option<StoredSets>,
}

pub fn run(args: SqlArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let tables = TableList::parse(&args.tables, plan.schema()).map_err(|error| Failure::about("--tables", error))?;
    let sets = args.sets.unwrap_or_else(|| args.dialect.stored_sets());
    emit_data(&sql(&plan, &args.from, &tables, args.dialect, sets))
}
