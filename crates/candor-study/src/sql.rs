//! The query that counts responses in a database.

use candor::plan::{Content, Plan};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::CountLayout;
use candor_tables::counts::CountColumns;

use crate::choice::Choice;
use crate::error::StudyError;

/// How a database writes names and texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// DuckDB.
    Duckdb,
    /// PostgreSQL.
    Postgres,
    /// Spark SQL.
    Spark,
    /// BigQuery.
    Bigquery,
}

impl Choice for Dialect {
    const PARAMETER: &'static str = "dialect";
    const ALL: &'static [(&'static str, Dialect)] = &[
        ("duckdb", Dialect::Duckdb),
        ("postgres", Dialect::Postgres),
        ("spark", Dialect::Spark),
        ("bigquery", Dialect::Bigquery),
    ];
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

/// The query that counts the responses in `from`, a table or an expression, for these tables: one SELECT per table with all columns
/// that any of them needs, those of the others NULL. What it gives is read as counts made elsewhere.
///
/// # Errors
/// If answers are sets, which databases store in too many ways.
pub fn sql(plan: &Plan, tables: &TableList, from: &str, dialect: Dialect) -> Result<String, StudyError> {
    let columns = plan.columns();
    let needed: Vec<Vec<usize>> =
        tables.lists().iter().map(|table| CountLayout::new(plan, table).columns(plan)).collect();
    let mut all: Vec<usize> = needed.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    if let Some(&set) = all.iter().find(|&&at| matches!(columns[at].content, Content::Answer { set: true, .. })) {
        return Err(StudyError::Refused(format!(
            "the answers about \"{}\" are sets, which databases store in too many ways; count the responses themselves instead",
            columns[set].name
        )));
    }
    let own = CountColumns::of(plan);
    let mut selects = Vec::new();
    for (table, needed) in tables.lists().iter().zip(&needed) {
        let names: Vec<&str> = table.iter().map(|&a| plan.schema().name(a)).collect();
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
            dialect.name(&own.table),
            shown.join(", "),
            dialect.name(&own.count),
            grouped.join(", ")
        ));
    }
    Ok(format!(
        "-- Counts for: candor estimate PLAN --counts FILE (plan {})\n{};\n",
        plan.fingerprint(),
        selects.join("\nUNION ALL\n")
    ))
}
