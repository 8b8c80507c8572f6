//! `candor sql`: the query that counts responses in a database, for `candor estimate --counts`.

use candor::plan::{Content, Plan};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::CountLayout;
use candor_tables::counts::{COUNT, TABLE};
use clap::{Args, ValueEnum};

use super::read_plan;
use crate::failure::Failure;
use crate::show::emit;

#[derive(Args)]
#[command(after_help = "\
Example:
  candor sql plan.json --tables pairs --from responses > count.sql
  duckdb -csv < count.sql > counts.csv
  candor estimate plan.json --counts counts.csv --tables pairs")]
pub struct SqlArgs {
    /// The plan (JSON); - for standard input
    plan: String,
    /// For which tables: marginals, pairs, triples, joint, or names such as "a,b;c"
    #[arg(long, default_value = "marginals")]
    tables: String,
    /// The table (or expression) that holds the responses
    #[arg(long, default_value = "responses", value_name = "NAME")]
    from: String,
    /// The dialect
    #[arg(long, value_enum, default_value_t = Dialect::Duckdb)]
    dialect: Dialect,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dialect {
    Duckdb,
    Postgres,
    Spark,
    Bigquery,
}

impl Dialect {
    fn name(self, column: &str) -> String {
        match self {
            Dialect::Duckdb | Dialect::Postgres => format!("\"{}\"", column.replace('"', "\"\"")),
            Dialect::Spark => format!("`{}`", column.replace('`', "``")),
            Dialect::Bigquery => format!("`{}`", column.replace('\\', "\\\\").replace('`', "\\`")),
        }
    }

    fn text(self, value: &str) -> String {
        match self {
            Dialect::Duckdb | Dialect::Postgres => format!("'{}'", value.replace('\'', "''")),
            Dialect::Spark | Dialect::Bigquery => format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'")),
        }
    }

    fn text_type(self) -> &'static str {
        match self {
            Dialect::Duckdb => "VARCHAR",
            Dialect::Postgres => "TEXT",
            Dialect::Spark | Dialect::Bigquery => "STRING",
        }
    }
}

pub fn run(args: SqlArgs) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    let tables = TableList::parse(&args.tables, plan.schema()).map_err(|error| Failure::about("--tables", error))?;
    emit(&query(&plan, &tables, &args.from, args.dialect)?)
}

/// One SELECT per table with all columns that any of them needs, those of the others NULL.
fn query(plan: &Plan, tables: &TableList, from: &str, dialect: Dialect) -> Result<String, Failure> {
    let columns = plan.columns();
    let needed: Vec<Vec<usize>> =
        tables.lists().iter().map(|table| CountLayout::new(plan, table).columns(plan)).collect();
    let mut all: Vec<usize> = needed.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    if let Some(&set) = all.iter().find(|&&at| matches!(columns[at].content, Content::Answer { set: true, .. })) {
        return Err(Failure::Input(format!(
            "the answers about \"{}\" are sets, which databases store in too many ways; give the responses to candor estimate",
            columns[set].name
        )));
    }
    let mut selects = Vec::new();
    for (table, needed) in tables.lists().iter().zip(&needed) {
        let names: Vec<&str> = table.iter().map(|&a| plan.schema().attributes()[a].name()).collect();
        let column = |&at: &usize| {
            let name = dialect.name(&columns[at].name);
            let value = if needed.contains(&at) { name.clone() } else { "NULL".to_owned() };
            format!("CAST({value} AS {}) AS {name}", dialect.text_type())
        };
        let shown: Vec<String> = all.iter().map(column).collect();
        let grouped: Vec<String> = needed.iter().map(|&at| dialect.name(&columns[at].name)).collect();
        selects.push(format!(
            "SELECT {} AS {}, {}, COUNT(*) AS {}\nFROM {from}\nGROUP BY {}",
            dialect.text(&names.join(",")),
            dialect.name(TABLE),
            shown.join(", "),
            dialect.name(COUNT),
            grouped.join(", ")
        ));
    }
    Ok(format!(
        "-- Counts for: candor estimate PLAN --counts FILE (plan {})\n{};\n",
        plan.fingerprint(),
        selects.join("\nUNION ALL\n")
    ))
}
