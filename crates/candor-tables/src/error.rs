//! What can be wrong with a table, said so that its owner can find it.

use std::fmt;

use candor::randomize::RandomizeError;

/// What is wrong with a table, where, and what would be right. Rows are counted from 1, without
/// the header.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be opened or read.
    #[error("cannot read {file}: {error}")]
    Read {
        /// The file's name.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// Nothing in the file.
    #[error("{file} is empty; it needs a header and at least one record")]
    Empty {
        /// The file's name.
        file: String,
    },
    /// A header, but no rows in any file.
    #[error("there are no records in {file}")]
    NoRecords {
        /// The file's name.
        file: String,
    },
    /// Two columns of one name.
    #[error("{file} has two columns named \"{column}\"; rename one")]
    DuplicateColumn {
        /// The file's name.
        file: String,
        /// The column's name.
        column: String,
    },
    /// A column that is needed is not there.
    #[error("{file} has no column \"{column}\"{}", did_you_mean(nearest))]
    MissingColumn {
        /// The file's name.
        file: String,
        /// The column looked for.
        column: String,
        /// The column most like it.
        nearest: Option<String>,
    },
    /// A row with another number of fields than the header.
    #[error("{file}, row {row}: {found} fields, but the header has {expected}{}", single_column_hint(*expected))]
    Ragged {
        /// The file's name.
        file: String,
        /// Which row.
        row: u64,
        /// Fields found.
        found: u64,
        /// Fields expected.
        expected: u64,
    },
    /// An empty line in a table of one column, which CSV readers would silently pass over.
    #[error("{file}, row {row}: an empty line; write \"\" for a missing value")]
    EmptyLine {
        /// The file's name.
        file: String,
        /// Which row.
        row: u64,
    },
    /// A quote without its pair.
    #[error("{file}: a quote in or before row {row} is not closed, so the rows after it would be read as one field")]
    UnclosedQuote {
        /// The file's name.
        file: String,
        /// The last row read.
        row: u64,
    },
    /// A record or a header beyond the limits.
    #[error("{file}, {}: {limit}; see docs/limits.md", if *row == 0 { "header".to_owned() } else { format!("row {row}") })]
    TooLong {
        /// The file's name.
        file: String,
        /// Which row; 0 is the header.
        row: u64,
        /// What it is.
        limit: String,
    },
    /// A Parquet file that claims more than it can hold.
    #[error("{file} claims {claimed} rows, more than the {most} that a file of its length may hold; it is damaged")]
    RowsClaimed {
        /// The file's name.
        file: String,
        /// The rows it claims.
        claimed: u64,
        /// The rows that would be believed.
        most: u64,
    },
    /// Text that is not UTF-8.
    #[error("{file}, row {row}, column \"{column}\": not valid UTF-8; convert the file to UTF-8")]
    Utf8 {
        /// The file's name.
        file: String,
        /// Which row; 0 is the header.
        row: u64,
        /// Which column.
        column: String,
    },
    /// A value that does not fit the schema.
    #[error("{file}, {0}", file = .0.file)]
    Value(BadValue),
    /// A column of a type that has no categories.
    #[error("{file}, column \"{column}\" holds {found}; it must hold text, numbers or booleans")]
    Type {
        /// The file's name.
        file: String,
        /// Which column.
        column: String,
        /// Its type.
        found: String,
    },
    /// Not Parquet, or damaged.
    #[error("cannot read {file} as Parquet: {message}")]
    Parquet {
        /// The file's name.
        file: String,
        /// Why.
        message: String,
    },
    /// The rows are responses already.
    #[error(
        "{file} holds responses made under the plan {fingerprint}: randomizing them again would only add noise; \
         give the table of true records"
    )]
    AlreadyRandomized {
        /// The file's name.
        file: String,
        /// The plan they were made under.
        fingerprint: String,
    },
    /// Responses made under another plan.
    #[error("{file} was made under another plan (fingerprint {found}; the plan given has {expected})")]
    Fingerprint {
        /// The file's name.
        file: String,
        /// Its fingerprint.
        found: String,
        /// The plan's.
        expected: String,
    },
    /// Something that candor made of responses, in their place.
    #[error("{file} holds {found}, not responses; give the responses they were made from")]
    NotResponses {
        /// The file's name.
        file: String,
        /// What it holds.
        found: &'static str,
    },
    /// The file beside responses cannot be understood.
    #[error("{file} is not what candor writes beside responses: {message}")]
    Sidecar {
        /// The file's name.
        file: String,
        /// Why.
        message: String,
    },
    /// A table without counts.
    #[error(
        "there are no counts for the table \"{table}\": {file} has no \"{column}\"; candor sql prints the query that makes them"
    )]
    NoCounts {
        /// The file's name.
        file: String,
        /// The table.
        table: String,
        /// What it would take.
        column: String,
    },
    /// A kept column would have the name of an answer.
    #[error("the column \"{0}\" cannot be kept: responses have a column of that name")]
    KeptTwice(String),
    /// A kept column that cannot be written as one.
    #[error("{file}: the kept column \"{column}\" holds {found}, but {expected} in the tables before it")]
    KeptType {
        /// The file's name.
        file: String,
        /// The column.
        column: String,
        /// Its type here.
        found: String,
        /// Its type before.
        expected: String,
    },
    /// A true value would be published.
    #[error("the column \"{0}\" cannot be kept: it is a randomized attribute, and its true values would be published")]
    KeptTruth(String),
    /// Output would overwrite input.
    #[error("{0} is both input and output; choose another output")]
    SameFile(String),
    /// The output cannot be written.
    #[error("cannot write {file}: {error}; nothing was written")]
    Write {
        /// The file's name.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// Randomization failed.
    #[error(transparent)]
    Randomize(#[from] RandomizeError),
    /// A schema could not be inferred from the columns.
    #[error("{file}: no schema was inferred\n{}", .problems.join("\n"))]
    Infer {
        /// The file's name.
        file: String,
        /// One line per column.
        problems: Vec<String>,
    },
}

/// A value that does not fit the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// The file's name.
    pub file: String,
    /// Which row.
    pub row: u64,
    /// Which column.
    pub column: String,
    /// The value; empty if missing.
    pub value: String,
    /// What would be right.
    pub hint: String,
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadValue { row, column, value, hint, .. } = self;
        match value.as_str() {
            "" => write!(f, "row {row}, column \"{column}\": the value is missing; {hint}"),
            value => write!(f, "row {row}, column \"{column}\": \"{}\" {hint}", shown(value)),
        }
    }
}

/// A value as it may be shown: short, and without control characters.
fn shown(value: &str) -> String {
    const MOST: usize = 60;
    let escape = |c: char| if c.is_control() { c.escape_debug().collect() } else { vec![c] };
    let text: String = value.chars().take(MOST).flat_map(escape).collect();
    if value.chars().nth(MOST).is_some() { text + "..." } else { text }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |nearest| format!("; did you mean \"{nearest}\"?"))
}

/// A table read with the wrong delimiter usually looks as if it had one column.
fn single_column_hint(expected: u64) -> &'static str {
    if expected == 1 { "; if the fields are not separated by commas, say --delimiter" } else { "" }
}
