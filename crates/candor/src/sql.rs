//! Generates SQL queries that count responses in a database.

use std::collections::BTreeMap;

use candor_analysis::table_list::TableList;
use candor_analysis::tally::CountLayout;
use candor_base::channel::Channel;
use candor_base::plan::{Content, Plan, SET_SEPARATOR};
use candor_tables::counts::CountColumns;

use crate::choice::Choice;

/// SQL dialect.
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
    const ALL: &'static [(&'static str, Dialect, &'static str)] = &[
        ("duckdb", Dialect::Duckdb, ""),
        ("postgres", Dialect::Postgres, ""),
        ("spark", Dialect::Spark, ""),
        ("bigquery", Dialect::Bigquery, ""),
    ];
}

/// Representation of sets of categories or cells in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredSets {
    /// As lists (arrays) of labels, as in Parquet.
    List,
    /// As text with `;` between labels, as in CSV.
    Text,
}

impl Choice for StoredSets {
    const PARAMETER: &'static str = "sets";
    const ALL: &'static [(&'static str, StoredSets, &'static str)] =
        &[("list", StoredSets::List, ""), ("text", StoredSets::Text, "")];
}

impl Dialect {
    /// Returns the usual representation of sets in this kind of database.
    pub fn stored_sets(self) -> StoredSets {
        match self {
            Dialect::Postgres => StoredSets::Text,
            Dialect::Duckdb | Dialect::Spark | Dialect::Bigquery => StoredSets::List,
        }
    }

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

    /// Returns the SQL that yields one row for each label of a column's sets, and the name of that label.
    ///
    /// The SQL follows the table in FROM. `number` distinguishes several such columns.
    fn unnested(self, column: &str, sets: StoredSets, number: usize) -> (String, String) {
        let column = self.name(column);
        let split = |function: &str| {
            format!("{function}(CAST({column} AS {}), {})", self.text_type(), self.text(&SET_SEPARATOR.to_string()))
        };
        let list = match (sets, self) {
            (StoredSets::List, _) => column.clone(),
            (StoredSets::Text, Dialect::Duckdb) => split("string_split"),
            (StoredSets::Text, Dialect::Postgres) => split("string_to_array"),
            (StoredSets::Text, Dialect::Spark) => split("split"),
            (StoredSets::Text, Dialect::Bigquery) => split("SPLIT"),
        };
        let set = format!("candor_set_{number}");
        match self {
            Dialect::Duckdb | Dialect::Postgres => {
                (format!(",\n  UNNEST({list}) AS {set}(candor_label)"), format!("{set}.candor_label"))
            }
            Dialect::Spark => {
                (format!("\n  LATERAL VIEW explode({list}) {set} AS candor_label"), format!("{set}.candor_label"))
            }
            Dialect::Bigquery => (format!(",\n  UNNEST({list}) AS {set}"), set),
        }
    }
}

/// Generates the query that counts responses for these tables.
///
/// `from` is a table or an expression. There is one SELECT per table, with the columns that any table requires (NULL
/// if unused) and the plan's fingerprint. The result can be read as precomputed counts.
///
/// For set-valued answers, the query counts the categories in each set, so that there are as many rows as cells. One
/// SELECT counts responses by channel ID, and one counts the answers that contain each cell. There are more if only
/// some channels answer about the table with cells of balanced subsets. The column [`CountColumns::holds`]
/// distinguishes them.
///
/// ```
/// # use candor::prelude::*;
/// #
/// # let schema = Schema::with_sizes(&[2, 3])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// use candor::sql::{Dialect, sql};
///
/// let tables = TableList::parse("marginals", plan.schema())?;
/// let query = sql(&plan, "responses", &tables, Dialect::Duckdb, Dialect::Duckdb.stored_sets());
/// assert!(query.contains("GROUP BY"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sql(plan: &Plan, from: &str, tables: &TableList, dialect: Dialect, sets: StoredSets) -> String {
    let layouts: Vec<CountLayout> = tables.lists().iter().map(|table| CountLayout::new(plan, table)).collect();
    let mut all: Vec<usize> = layouts.iter().flat_map(|layout| layout.columns(plan)).collect();
    all.sort_unstable();
    all.dedup();
    let holds = all.iter().any(|&at| is_set(plan, at));
    let query = Query { plan, names: CountColumns::new(plan), from, dialect, sets, all, holds };
    let selects: Vec<String> = layouts.iter().flat_map(|layout| query.table(layout)).collect();
    format!(
        "-- Counts for: candor estimate PLAN --counts FILE (plan {})\n{};\n",
        plan.fingerprint(),
        selects.join("\nUNION ALL\n")
    )
}

/// Common parts of all SELECTs.
struct Query<'a> {
    plan: &'a Plan,
    names: CountColumns,
    from: &'a str,
    dialect: Dialect,
    sets: StoredSets,
    /// Columns that any table requires.
    all: Vec<usize>,
    /// Whether a column states what a row counts.
    holds: bool,
}

/// Channels of a block with balanced subsets that answer about a table in the same columns.
#[derive(Clone)]
struct Case {
    block: usize,
    /// The columns; empty if the channels answer about other tables.
    columns: Vec<usize>,
    /// Numbers of the channels; empty for all channels of the block.
    tags: Vec<u16>,
}

impl Query<'_> {
    /// Returns the SELECTs of a table.
    fn table(&self, layout: &CountLayout) -> Vec<String> {
        let needed = layout.columns(self.plan);
        if !needed.iter().any(|&at| is_set(self.plan, at)) {
            return vec![self.select(layout, None, &needed, &[])];
        }
        let tag = |&at: &usize| matches!(self.plan.columns()[at].content, Content::Tag { .. });
        let tagged = |&at: &usize| {
            matches!(self.plan.columns()[at].content, Content::Tag { block } if layout.tagged
            .contains(&block))
        };
        let tags: Vec<usize> = needed.iter().copied().filter(tagged).collect();
        let mut selects = vec![self.select(layout, Some(CountColumns::RESPONSES), &tags, &[])];
        for cases in self.cases(layout) {
            let is_told = |&at: &usize| match self.plan.columns()[at].content {
                Content::Answer { block, .. } | Content::Cells { block } => {
                    cases.iter().find(|case| case.block == block).is_none_or(|case| case.columns.contains(&at))
                }
                Content::Public { .. } | Content::Tag { .. } => true,
            };
            let told: Vec<usize> = needed.iter().copied().filter(is_told).collect();
            // If all channels answer about other tables, the number of responses suffices.
            if !told.iter().all(tag) {
                selects.push(self.select(layout, Some(CountColumns::CELLS), &told, &cases));
            }
        }
        selects
    }

    /// Returns all combinations of the cases of the blocks with balanced subsets that a table uses.
    fn cases(&self, layout: &CountLayout) -> Vec<Vec<Case>> {
        layout.striped().fold(vec![Vec::new()], |combinations, block| {
            let cases = self.cases_of(layout, block);
            combinations
                .iter()
                .flat_map(|before| cases.iter().map(move |case| [&before[..], std::slice::from_ref(case)].concat()))
                .collect()
        })
    }

    /// Returns the cases of one block.
    fn cases_of(&self, layout: &CountLayout, block: usize) -> Vec<Case> {
        let needed = layout.columns(self.plan);
        let channels = self.plan.blocks()[block].channels();
        let mut cases: BTreeMap<Vec<usize>, Vec<u16>> = BTreeMap::new();
        for (tag, (_, channel)) in (0..).zip(channels) {
            let is_strip = matches!(channel, Channel::Strip(_));
            let is_used = |&at: &usize| match self.plan.columns()[at].content {
                Content::Answer { block: own, .. } => own == block && !is_strip,
                Content::Cells { block: own } => own == block && is_strip && layout.asks(self.plan, block, tag),
                Content::Public { .. } | Content::Tag { .. } => false,
            };
            cases.entry(needed.iter().copied().filter(is_used).collect()).or_default().push(tag);
        }
        let all = cases.len() == 1;
        let case = |(columns, tags)| Case { block, columns, tags: if all { Vec::new() } else { tags } };
        cases.into_iter().map(case).collect()
    }

    /// Returns the SELECT that counts rows by these columns, for the channels of these cases.
    fn select(&self, layout: &CountLayout, holds: Option<&str>, told: &[usize], cases: &[Case]) -> String {
        let Query { plan, names, dialect, .. } = self;
        let (columns, text_type) = (plan.columns(), dialect.text_type());
        let (mut from, mut values) = (self.from.to_owned(), BTreeMap::new());
        for &at in told {
            let mut value = dialect.name(&columns[at].name);
            if is_set(plan, at) {
                let (more, label) = dialect.unnested(&columns[at].name, self.sets, at + 1);
                from += &more;
                value = label;
            }
            values.insert(at, value);
        }
        let attributes: Vec<&str> = layout.attributes.iter().map(|&a| plan.schema().name(a)).collect();
        let null = || format!("CAST(NULL AS {text_type})");
        let listed = attributes.iter().map(|name| candor_runtime::names::quoted(name)).collect::<Vec<_>>().join(",");
        let mut shown = vec![format!("{} AS {}", dialect.text(&listed), dialect.name(&names.table))];
        let fingerprint = dialect.text(plan.fingerprint().as_str());
        shown.push(format!("{fingerprint} AS {}", dialect.name(&names.fingerprint)));
        if self.holds {
            let holds = holds.map_or_else(null, |holds| dialect.text(holds));
            shown.push(format!("{holds} AS {}", dialect.name(&names.holds)));
        }
        shown.extend(self.all.iter().map(|at| {
            let value = values.get(at).map_or_else(null, |value| format!("CAST({value} AS {text_type})"));
            format!("{value} AS {}", dialect.name(&columns[*at].name))
        }));
        shown.push(format!("COUNT(*) AS {}", dialect.name(&names.count)));
        let mut select = format!("SELECT {}\nFROM {from}", shown.join(", "));
        let drawn: Vec<String> = cases.iter().filter_map(|case| self.drawn(case)).collect();
        if !drawn.is_empty() {
            select += &format!("\nWHERE {}", drawn.join(" AND "));
        }
        if !values.is_empty() {
            let values: Vec<String> = values.into_values().collect();
            select += &format!("\nGROUP BY {}", values.join(", "));
        }
        select
    }

    /// Returns the condition for the channels of a case.
    fn drawn(&self, case: &Case) -> Option<String> {
        let tag = |content: &Content| *content == Content::Tag { block: case.block };
        let column =
            self.plan.columns().iter().find(|column| tag(&column.content)).filter(|_| !case.tags.is_empty())?;
        let (name, text_type) = (self.dialect.name(&column.name), self.dialect.text_type());
        let tags: Vec<String> = case.tags.iter().map(|tag| self.dialect.text(&tag.to_string())).collect();
        Some(format!("CAST({name} AS {text_type}) IN ({})", tags.join(", ")))
    }
}

/// Returns whether a column contains sets.
fn is_set(plan: &Plan, column: usize) -> bool {
    matches!(plan.columns()[column].content, Content::Answer { set: true, .. } | Content::Cells { .. })
}
