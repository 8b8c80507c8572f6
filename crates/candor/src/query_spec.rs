//! Queries for tables: conditional shares and compared groups.

use candor_analysis::conditional_shares::Conditioning;
use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;

use crate::error::StudyError;

/// A query: tables, their conditioning attributes, and the attribute whose groups are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableQuery {
    tables: TableList,
    given: Vec<usize>,
    without_missing: bool,
    compare: Option<usize>,
}

impl TableQuery {
    /// Creates a query for unconditional tables.
    pub fn tables(tables: TableList) -> TableQuery {
        let given = vec![0; tables.lists().len()];
        TableQuery { tables, given, without_missing: false, compare: None }
    }

    /// Parses a table list in which `a | b, c` means the shares of `a` conditional on `b` and `c`.
    ///
    /// `without_missing` restricts it to complete cases. `compare` is an attribute, public or not, whose groups are
    /// compared with each other.
    ///
    /// # Errors
    /// Returns [`StudyError::Tables`] if the list is invalid.
    /// Returns another [`StudyError`] if `compare` is unknown or in one of the tables.
    pub fn parse(
        text: &str,
        schema: &Schema,
        without_missing: bool,
        compare: Option<&str>,
    ) -> Result<TableQuery, StudyError> {
        let wrong = |error| StudyError::Tables { parameter: "tables", error };
        let (tables, given) = TableList::parse_among(text, schema).map_err(wrong)?;
        let Some(name) = compare else { return Ok(TableQuery { tables, given, without_missing, compare: None }) };
        let compare =
            schema.position(name).map_err(|error| StudyError::Refused(format!("`compare_groups`: {error}")))?;
        let mut lists = tables.lists().to_vec();
        for (list, given) in lists.iter_mut().zip(&given) {
            if list.contains(&compare) {
                return Err(StudyError::Refused(format!(
                    "`compare_groups`: \"{name}\" is also in a table; remove it from one of them"
                )));
            }
            list.insert(*given, compare);
        }
        let given = given.into_iter().map(|given| given + 1).collect();
        Ok(TableQuery {
            tables: TableList::new(lists, schema).map_err(wrong)?,
            given,
            without_missing,
            compare: Some(compare),
        })
    }

    /// Returns the tables to count.
    pub fn counted(&self) -> &TableList {
        &self.tables
    }

    /// Returns the conditioning of the table with this number.
    pub fn among(&self, table: usize) -> Conditioning {
        Conditioning { given: self.given.get(table).copied().unwrap_or(0), without_missing: self.without_missing }
    }

    /// Returns the compared attribute, which is the last conditioning attribute of every table.
    pub fn compare(&self) -> Option<usize> {
        self.compare
    }

    /// Returns whether all tables are unconditional.
    pub fn is_plain(&self) -> bool {
        (0..self.given.len()).all(|table| self.among(table).everybody())
    }
}
