//! Overview of a data file: the content of each column, and how it can be used.

use candor_base::schema::Attribute;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::columns::{Column, Columns, Numbers, columns};
use candor_tables::infer::{InferOptions, MAX_NUMERIC_CATEGORIES};
use candor_tables::input::Input;
use serde::Serialize;

use crate::schema::{InferredSchema, infer_columns};

/// Content of a column, as it matters for a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ColumnKind {
    /// Categories, usable as they are.
    Categories,
    /// Numbers that must be binned first.
    Numbers,
    /// More distinct texts than an attribute can have categories.
    Texts,
    /// The same value in every record.
    Constant,
    /// Row numbers: the first column, without a name.
    RowNumbers,
    /// A data type that is neither text, number nor boolean.
    Unreadable,
}

/// Summary of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnSummary {
    /// Name of the column.
    pub name: String,
    /// Kind of content.
    pub kind: ColumnKind,
    /// Number of distinct values, up to a limit.
    pub distinct: usize,
    /// Whether there are more distinct values than the limit.
    pub more: bool,
    /// Number of records with a missing value.
    pub missing: u64,
    /// Smallest and largest value of a numeric column.
    pub range: Option<[f64; 2]>,
    /// Suggested round bin edges, as text; `None` unless the column is numeric.
    ///
    /// Edges chosen from the wording of the question are better.
    pub suggested_edges: Option<String>,
}

/// Overview of a data file. It contains true values and is only for the owner of the file.
#[derive(Clone, Debug)]
pub struct Overview(Columns);

impl Overview {
    /// Reads a data file once. `progress` receives the number of records.
    ///
    /// # Errors
    /// Returns [`TableError`] if the file cannot be read or has no records, or if `progress` cancels.
    pub fn read(input: Input, progress: ProgressSink<'_>) -> Result<Overview, TableError> {
        columns(input, progress).map(Overview)
    }

    /// Returns the number of records.
    pub fn records(&self) -> u64 {
        self.0.records
    }

    /// Returns the first rows as text.
    pub fn first_rows(&self) -> &[Vec<String>] {
        &self.0.first_rows
    }

    /// Returns a summary of each column.
    pub fn summaries(&self) -> Vec<ColumnSummary> {
        self.0.columns.iter().enumerate().map(|(at, column)| summary(at, column)).collect()
    }

    /// Returns the number of records in each category of an attribute; `None` if there is no such column.
    ///
    /// Counts of numbers are approximate in very long files.
    pub fn counts(&self, attribute: &Attribute) -> Option<Vec<u64>> {
        self.0.columns.iter().find(|column| column.name == attribute.name()).map(|column| column.counts(attribute))
    }

    /// Infers a schema from the columns that can be used as they are, without reading the file again.
    ///
    /// # Errors
    /// Returns the errors of [`infer`](crate::schema::infer), or an error if no column can be used.
    pub fn infer(&self) -> Result<InferredSchema, TableError> {
        infer_columns(&self.0, self.left_out())
    }

    /// Returns n if [`counts`](Overview::counts) of a numeric column looks at every n-th value only; 1 if at all.
    pub fn every(&self, name: &str) -> u64 {
        let numbers =
            self.0.columns.iter().find(|column| column.name == name).and_then(|column| column.numbers.as_ref());
        numbers.map_or(1, Numbers::every)
    }

    /// Returns the columns that cannot be used as they are.
    pub fn left_out(&self) -> Vec<String> {
        let unusable = |one: &ColumnSummary| one.kind != ColumnKind::Categories;
        self.summaries().into_iter().filter(unusable).map(|one| one.name).collect()
    }
}

fn summary(at: usize, column: &Column) -> ColumnSummary {
    let distinct = column.values.len();
    let many = |limit: usize| column.more || distinct > limit;
    let kind = match &column.numbers {
        _ if at == 0 && column.unnamed => ColumnKind::RowNumbers,
        _ if !column.readable => ColumnKind::Unreadable,
        Some(_) if many(MAX_NUMERIC_CATEGORIES) => ColumnKind::Numbers,
        _ if many(InferOptions::default().max_categories) => ColumnKind::Texts,
        _ if distinct + usize::from(column.missing > 0) < 2 => ColumnKind::Constant,
        _ => ColumnKind::Categories,
    };
    ColumnSummary {
        name: column.name.clone(),
        kind,
        distinct,
        more: column.more,
        missing: column.missing,
        range: column.numbers.as_ref().map(|numbers| [numbers.least, numbers.most]),
        suggested_edges: column.numbers.as_ref().and_then(|numbers| numbers.suggested_edges()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::infer;

    fn open(text: &str) -> Input {
        Input::from_reader("people.csv", std::io::Cursor::new(text.to_owned()), None).unwrap()
    }

    /// Unusable columns are left out, and the rest can be inferred by the rules of [`infer`].
    #[test]
    fn usable_columns_are_those_that_infer_takes() {
        let row = |i: usize| format!("{i},{},{}.5,text {i},same,{}\n", ["a", "b"][i % 2], i, i % 7);
        let text = format!(",two,number,text,constant,week\n{}", (0..150).map(row).collect::<String>());
        let overview = Overview::read(open(&text), ProgressSink::none()).unwrap();
        let kinds: Vec<ColumnKind> = overview.summaries().iter().map(|one| one.kind).collect();
        use ColumnKind::{Categories, Constant, Numbers, RowNumbers, Texts};
        assert_eq!(kinds, [RowNumbers, Categories, Numbers, Texts, Constant, Categories]);
        let all = InferOptions::default();
        assert!(infer(open(&text), &all, ProgressSink::none()).is_err(), "not all columns can be used");
        let inferred = overview.infer().unwrap();
        let again = InferOptions::default().drop(overview.left_out());
        assert_eq!(infer(open(&text), &again, ProgressSink::none()).unwrap(), inferred);
        let names: Vec<&str> = inferred.schema.attributes().iter().map(Attribute::name).collect();
        assert_eq!(names, ["two", "week"]);
        let counts: Vec<Vec<u64>> =
            inferred.schema.attributes().iter().map(|attribute| overview.counts(attribute).unwrap()).collect();
        assert_eq!(counts[0], [75, 75]);
        assert_eq!(counts[1], [22, 22, 22, 21, 21, 21, 21]);
        for left_out in overview.left_out() {
            let others = overview.summaries().into_iter().map(|one| one.name).filter(|name| *name != left_out);
            // Row numbers are ordinary numbers if they are requested.
            let only = InferOptions::default().drop(others.collect());
            assert!(infer(open(&text), &only, ProgressSink::none()).is_err(), "{left_out}");
        }
        let number = &overview.summaries()[2];
        assert_eq!(overview.every("number"), 1);
        assert_eq!((number.range, number.suggested_edges.as_deref()), (Some([0.5, 149.5]), Some("50,100")));
    }
}
