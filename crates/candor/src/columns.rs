//! A table looked over: what stands in each column, and what can become of it.

use candor_base::schema::Attribute;
use candor_runtime::progress::ProgressSink;
use candor_tables::TableError;
use candor_tables::columns::{Column, Columns, columns};
use candor_tables::infer::{InferOptions, MAX_NUMERIC_CATEGORIES};
use candor_tables::input::Input;
use serde::Serialize;

use crate::schema::{InferredSchema, infer};

/// What a column holds, as far as a schema is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ColumnKind {
    /// Categories, ready to be used.
    Categories,
    /// Numbers that need bins before they can be used.
    Numbers,
    /// More distinct texts than a question has answers.
    Texts,
    /// The same value in every record.
    Constant,
    /// Row numbers: the first column, without a name.
    RowNumbers,
    /// A type that holds neither categories nor numbers.
    Unreadable,
}

/// A column in brief.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// The number of distinct values, as far as they were counted.
    pub distinct: usize,
    /// Whether there are more.
    pub more: bool,
    /// The number of records without a value.
    pub missing: u64,
    /// The smallest and the largest number, of a column of numbers.
    pub range: Option<[f64; 2]>,
    /// Round edges of bins to begin with, as they are written; `None` unless it holds numbers. Whoever knows the
    /// question knows better ones.
    pub suggested_edges: Option<String>,
}

/// A table looked over. It holds true values: for the owner of the table only.
#[derive(Clone, Debug)]
pub struct Overview(Columns);

impl Overview {
    /// Reads a table once; `progress` is told the records.
    ///
    /// # Errors
    /// If the table cannot be read, or has no records, or whoever watches ends it.
    pub fn read(input: Input, progress: ProgressSink<'_>) -> Result<Overview, TableError> {
        columns(input, progress).map(Overview)
    }

    /// Returns the number of records.
    pub fn records(&self) -> u64 {
        self.0.records
    }

    /// Returns the first rows as they stand.
    pub fn first_rows(&self) -> &[Vec<String>] {
        &self.0.first_rows
    }

    /// Returns each column in brief.
    pub fn summaries(&self) -> Vec<ColumnSummary> {
        self.0.columns.iter().enumerate().map(|(at, column)| summary(at, column)).collect()
    }

    /// Returns how many records have each category of an attribute: about, where the table is too long for all numbers
    /// to be kept. `None` if the table has no such column.
    pub fn counts(&self, attribute: &Attribute) -> Option<Vec<u64>> {
        self.0.columns.iter().find(|column| column.name == attribute.name()).map(|column| column.counts(attribute))
    }

    /// Infers a schema of the columns that can be used as they are.
    ///
    /// # Errors
    /// As [`infer`], and if no column can be used.
    pub fn infer(&self, input: Input) -> Result<InferredSchema, TableError> {
        infer(input, &InferOptions { drop: self.left_out(), ..InferOptions::default() })
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

    fn open(text: &str) -> Input {
        Input::from_reader("people.csv", std::io::Cursor::new(text.to_owned()), None).unwrap()
    }

    /// What cannot be used is left out, and what is left can be inferred, by the very rules of inferring.
    #[test]
    fn usable_columns_are_those_that_infer_takes() {
        let row = |i: usize| format!("{i},{},{}.5,text {i},same,{}\n", ["a", "b"][i % 2], i, i % 7);
        let text = format!(",two,number,text,constant,week\n{}", (0..150).map(row).collect::<String>());
        let overview = Overview::read(open(&text), ProgressSink::none()).unwrap();
        let kinds: Vec<ColumnKind> = overview.summaries().iter().map(|one| one.kind).collect();
        use ColumnKind::{Categories, Constant, Numbers, RowNumbers, Texts};
        assert_eq!(kinds, [RowNumbers, Categories, Numbers, Texts, Constant, Categories]);
        assert!(infer(open(&text), &InferOptions::default()).is_err(), "not all columns can be used");
        let inferred = overview.infer(open(&text)).unwrap();
        let names: Vec<&str> = inferred.schema.attributes().iter().map(Attribute::name).collect();
        assert_eq!(names, ["two", "week"]);
        let counts: Vec<Vec<u64>> =
            inferred.schema.attributes().iter().map(|attribute| overview.counts(attribute).unwrap()).collect();
        assert_eq!(counts[0], [75, 75]);
        assert_eq!(counts[1], [22, 22, 22, 21, 21, 21, 21]);
        for left_out in overview.left_out() {
            let others = overview.summaries().into_iter().map(|one| one.name).filter(|name| *name != left_out);
            // Row numbers are numbers like others once they are asked for.
            let only = InferOptions { drop: others.collect(), ..InferOptions::default() };
            assert!(infer(open(&text), &only).is_err(), "{left_out}");
        }
        let number = &overview.summaries()[2];
        assert_eq!((number.range, number.suggested_edges.as_deref()), (Some([0.5, 149.5]), Some("50,100")));
    }
}
