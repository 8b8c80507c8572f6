//! Tables, comparisons and numbers to estimate: options that `estimate` and `report` share.

use candor::moments::MomentQuery;
use candor::query_spec::TableQuery;
use candor::shell;
use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;
use clap::Args;

use crate::failure::Failure;

/// Numbers that categories stand for, for every command that estimates means.
#[derive(Args)]
pub struct ValuesArgs {
    /// Numeric scores of categories that are bins or words: "a:9,40,75;b:0,1"
    #[arg(
        long = "scores",
        alias = "values",
        value_name = "NAME:NUMBERS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub values: String,
}

#[derive(Args)]
pub struct AskedArgs {
    /// Tables: marginals, pairs, triples, joint, or names such as "a,b;c"; "a | b" for conditional shares of a given
    /// b; names with special characters in quotes [default: marginals, unless --mean or --quantile is given]
    #[arg(long)]
    tables: Option<String>,
    /// Complete cases: leave out people with a missing value in an attribute of the table
    #[arg(long = "complete-cases", alias = "without-missing")]
    without_missing: bool,
    /// Attribute whose groups are compared; differences and ratios to the first group
    #[arg(long = "compare-groups", alias = "compare", value_name = "NAME")]
    compare: Option<String>,
    /// Attributes whose mean and variance are estimated: "a", "a;b", "a | b"
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true)]
    mean: String,
    /// Quantiles to estimate: "a:0.5", "a:0.25,0.75 | b"
    #[arg(long, value_name = "NAME:SHARE,..", default_value = "", hide_default_value = true)]
    quantile: String,
    #[command(flatten)]
    values: ValuesArgs,
}

impl AskedArgs {
    /// Returns whether comparisons or numbers are requested.
    pub fn is_more_than_tables(&self) -> bool {
        self.compare.is_some() || !self.mean.is_empty() || !self.quantile.is_empty()
    }

    /// Parses the requests for a schema.
    pub fn read(&self, schema: &Schema) -> Result<(TableQuery, MomentQuery), Failure> {
        let wanted = MomentQuery::parse(schema, &self.mean, &self.quantile, &self.values.values)?;
        let asked = match &self.tables {
            None if !wanted.is_empty() => TableQuery::tables(
                TableList::new(Vec::new(), schema).map_err(|error| Failure::about("--tables", error))?,
            ),
            tables => {
                let tables = tables.as_deref().unwrap_or("marginals");
                TableQuery::parse(tables, schema, self.without_missing, self.compare.as_deref())?
            }
        };
        Ok((asked, wanted))
    }

    /// Formats the options as typed.
    pub fn flags(&self) -> Vec<String> {
        let given = |(name, value): (&str, &str)| (!value.is_empty()).then(|| shell::flag(name, value));
        let tables = match self.mean.is_empty() && self.quantile.is_empty() {
            true => self.tables.as_deref().unwrap_or("marginals"),
            false => self.tables.as_deref().unwrap_or_default(),
        };
        let compare = self.compare.as_deref().unwrap_or_default();
        let missing = self.without_missing.then(|| "--complete-cases".to_owned());
        let texts = [
            ("--tables", tables),
            ("--compare-groups", compare),
            ("--mean", &self.mean),
            ("--quantile", &self.quantile),
            ("--scores", &self.values.values),
        ];
        texts.into_iter().filter_map(given).chain(missing).collect()
    }
}
