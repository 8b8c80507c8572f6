//! The columns that a schema is inferred of, and those that were summarized before.

use std::collections::BTreeMap;

use super::{Column, InferOptions, Inferred, MAX_NUMERIC_CATEGORIES, described};
use crate::TableError;
use crate::columns::{self, is_unnamed};

/// The columns that a schema is inferred of.
pub(super) struct Kept {
    pub(super) names: Vec<String>,
    /// Whether the first column was left out because it has no name.
    pub(super) unnamed: bool,
}

impl Kept {
    pub(super) fn of(header: &[String], wishes: &InferOptions) -> Kept {
        let first = header.first().filter(|name| is_unnamed(name) && header.len() > 1 && !wishes.names(name));
        let dropped = |(at, name): &(usize, &String)| (*at == 0 && first.is_some()) || wishes.drop.contains(name);
        let names = header.iter().enumerate().filter(|column| !dropped(column));
        Kept { names: names.map(|(_, name)| name.clone()).collect(), unnamed: first.is_some() }
    }
}

/// Infers a schema from columns that were read before, without those in `drop`.
///
/// The result is that of [`infer`](super::infer) on their file.
///
/// # Errors
/// Returns the errors of [`infer`](super::infer).
pub fn infer_columns(read: &columns::Columns, drop: Vec<String>) -> Result<Inferred, TableError> {
    let wishes = InferOptions { drop, ..InferOptions::default() };
    let header: Vec<String> = read.columns.iter().map(|column| column.name.clone()).collect();
    let kept = Kept::of(&header, &wishes);
    let found = read.columns.iter().filter(|column| kept.names.contains(&column.name));
    if let Some(column) = found.clone().find(|column| !column.readable) {
        let (file, column) = (read.file.clone(), column.name.clone());
        return Err(TableError::Type { file, column, found: "neither text nor numbers".to_owned() });
    }
    let found = found.map(|column| Column::of(column, &wishes)).collect();
    described((read.file.clone(), &read.missing_words), &kept, found, read.records, &wishes)
}

impl Column {
    /// What was read of a column.
    fn of(read: &columns::Column, wishes: &InferOptions) -> Column {
        let is_word = |value: &str| read.words.iter().any(|(word, _)| word == value);
        let values: BTreeMap<String, u64> = read.values.iter().filter(|(value, _)| !is_word(value)).cloned().collect();
        Column {
            too_many: read.more || values.len() > wishes.max_categories.max(MAX_NUMERIC_CATEGORIES) + 1,
            values,
            missing: read.empty,
            words: read.words.iter().cloned().collect(),
            numeric: read.numeric,
            boolean: read.boolean,
            ..Column::default()
        }
    }
}
