//! `candor sql`: the query that counts responses in a database, for `candor estimate --counts`.

use candor::sql::{Dialect, StoredSets, sql};
use candor_analysis::table_list::TableList;
use clap::{Args, ValueEnum};

use super::read_plan;
use crate::failure::Failure;
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
    #[arg(long, value_enum, default_value_t = DialectArg::Duckdb)]
    dialect: DialectArg,
    /// Representation of answers that are sets: lists (as from Parquet), or text with ; between labels (as from CSV)
    /// [default: text for PostgreSQL, else list]
    #[arg(long, value_enum)]
    sets: Option<SetsArg>,
}

#[derive(Clone, Copy, ValueEnum)]
enum SetsArg {
    List,
    Text,
}

impl From<SetsArg> for StoredSets {
    fn from(sets: SetsArg) -> StoredSets {
        match sets {
            SetsArg::List => StoredSets::List,
            SetsArg::Text => StoredSets::Text,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum DialectArg {
    Duckdb,
    Postgres,
    Spark,
    Bigquery,
}

impl From<DialectArg> for Dialect {
    fn from(dialect: DialectArg) -> Dialect {
        match dialect {
            DialectArg::Duckdb => Dialect::Duckdb,
            DialectArg::Postgres => Dialect::Postgres,
            DialectArg::Spark => Dialect::Spark,
            DialectArg::Bigquery => Dialect::Bigquery,
        }
    }
}

pub fn run(args: SqlArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let tables = TableList::parse(&args.tables, plan.schema()).map_err(|error| Failure::about("--tables", error))?;
    let dialect = Dialect::from(args.dialect);
    let sets = args.sets.map_or_else(|| dialect.stored_sets(), StoredSets::from);
    emit_data(&sql(&plan, &tables, &args.from, dialect, sets))
}
