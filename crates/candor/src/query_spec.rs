//! What is asked of responses: tables, among whom, compared with whom.

use candor_analysis::conditional_shares::Conditioning;
use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;

use crate::error::StudyError;

/// Tables, among whom their shares are, and what is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableQuery {
    tables: TableList,
    given: Vec<usize>,
    without_missing: bool,
    compare: Option<usize>,
}

impl TableQuery {
    /// Plain tables.
    pub fn tables(tables: TableList) -> TableQuery {
        let given = vec![0; tables.lists().len()];
        TableQuery { tables, given, without_missing: false, compare: None }
    }

    /// Tables in the syntax of lists, in which `a | b, c` are the shares of `a` among those with the same `b` and `c`;
    /// `without_missing` leaves out whose category of an attribute of the table is the missing one. The groups of the
    /// attribute `compare`, public or not, are compared with each other.
    ///
    /// # Errors
    /// If the list is none, there is no such attribute, or it is in one of the tables.
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
                    "`compare_groups`: \"{name}\" is an attribute of a table; compare the shares of others among its \
                     groups"
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

    /// The tables to be counted.
    pub fn counted(&self) -> &TableList {
        &self.tables
    }

    /// What the shares of the table with this number are among.
    pub fn among(&self, table: usize) -> Conditioning {
        Conditioning { given: self.given.get(table).copied().unwrap_or(0), without_missing: self.without_missing }
    }

    /// The attribute whose groups are compared: the last that says among whom, in every table.
    pub fn compare(&self) -> Option<usize> {
        self.compare
    }

    /// Whether all are plain tables.
    pub fn is_plain(&self) -> bool {
        (0..self.given.len()).all(|table| self.among(table).everybody())
    }
}
