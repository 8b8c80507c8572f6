//! Errors about files, worded so that their owner can find the cause.

use candor_analysis::tally::InconsistentCounts;
use candor_base::randomize::RandomizeError;
use candor_runtime::progress::Cancelled;

use sentences::{by_hand, did_you_mean, given_twice, header_or_row, single_column_hint, stratum_or_sample};

pub use crate::invalid_value::{InvalidValue, shown};
pub use occupied::Occupied;

mod not_utf8;
mod occupied;
mod sentences;

/// Error about a file: what, where, and what is expected. Rows are counted from 1, without the header.
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
    /// The same file was given twice, possibly under different names.
    #[error("{}; its records would count twice", given_twice(file, again))]
    GivenTwice {
        /// The file's name.
        file: String,
        /// The second name.
        again: String,
    },
    /// Cancelled by the caller.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A format that this build does not support.
    #[error("{0}: this build of candor has no support for {1} files; enable the feature")]
    NotBuilt(String, &'static str),
    /// Standard input was given twice.
    #[error("standard input (-) can be read only once")]
    ReadTwice,
    /// A batch of a stream that cannot be read, or does not fit its schema.
    #[error("{file}, batch {batch}: {message}")]
    Batch {
        /// The stream's name.
        file: String,
        /// Which batch, counted from 1.
        batch: u64,
        /// What is wrong with it.
        message: String,
    },
    /// A line of JSON that is not a valid row.
    #[error("{file}, line {line}: {message}")]
    Line {
        /// The file's name.
        file: String,
        /// Which line, counted from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// A column that responses to the plan do not have.
    #[error("{file} has a column \"{}\", which responses to this plan do not have", shown(column))]
    UnknownColumn {
        /// The file or source.
        file: String,
        /// The column's name.
        column: String,
    },
    /// An empty file.
    #[error("{file} is empty; it needs a header and at least one record")]
    Empty {
        /// The file's name.
        file: String,
    },
    /// A header without rows in any file.
    #[error("there are no records in {file}")]
    NoRecords {
        /// The file's name.
        file: String,
    },
    /// Two columns with the same name.
    #[error("{file} has two columns named \"{}\"; rename one", shown(column))]
    DuplicateColumn {
        /// The file's name.
        file: String,
        /// The column's name.
        column: String,
    },
    /// A missing column.
    #[error("{file} has no column \"{column}\"{}", did_you_mean(nearest))]
    MissingColumn {
        /// The file's name.
        file: String,
        /// The missing column.
        column: String,
        /// The most similar column.
        nearest: Option<String>,
    },
    /// A row with a different number of fields from the header.
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
    /// An empty line in a file with one column, which CSV readers would silently skip.
    #[error("{file}, row {row}: an empty line; write \"\" for a missing value")]
    EmptyLine {
        /// The file's name.
        file: String,
        /// Which row.
        row: u64,
    },
    /// An unclosed quote.
    #[error("{file}: a quote in or before row {row} is not closed, so the rows after it would be read as one field")]
    UnclosedQuote {
        /// The file's name.
        file: String,
        /// The last row read.
        row: u64,
    },
    /// A record or a header that exceeds a limit.
    #[error("{file}, {}: {limit}; see docs/reference/limits.md", header_or_row(*row))]
    TooLong {
        /// The file's name.
        file: String,
        /// Which row; 0 is the header.
        row: u64,
        /// The exceeded limit.
        limit: String,
    },
    /// A Parquet file that claims more rows than it can contain.
    #[error("{file} claims {claimed} rows, but a file of its length holds at most {most}; it is damaged")]
    RowsClaimed {
        /// The file's name.
        file: String,
        /// Number of rows claimed.
        claimed: u64,
        /// Maximum number of rows for its length.
        most: u64,
    },
    /// Text that is not UTF-8.
    #[error("{file}, {place}: byte {byte}, 0x{found:02X}, is not UTF-8; convert the file to UTF-8")]
    Utf8 {
        /// The file's name.
        file: String,
        /// Which value.
        place: String,
        /// Position in the value, from 1.
        byte: usize,
        /// The invalid byte.
        found: u8,
    },
    /// A value that does not fit the schema.
    #[error("{file}, {0}", file = .0.file)]
    Value(InvalidValue),
    /// A column with an unsupported type.
    #[error("{file}, column \"{}\" holds {}; it must hold text, numbers or booleans", shown(column), shown(found))]
    Type {
        /// The file's name.
        file: String,
        /// Which column.
        column: String,
        /// Its type.
        found: String,
    },
    /// Not a Parquet file, or damaged.
    #[error("cannot read {file} as Parquet: {message}")]
    Parquet {
        /// The file's name.
        file: String,
        /// Why.
        message: String,
    },
    /// Responses without the fingerprint of their plan.
    #[error(
        "{0} does not name the plan it was made with, and with another plan every result would be wrong. If it \
         contains true records, randomize it first; if you know that it was made with this plan, use `unmarked`"
    )]
    Unmarked(String),
    /// The file already contains responses.
    #[error(
        "{file} contains responses made with the plan {fingerprint}; randomizing them again would only add noise. Use \
         the true records instead"
    )]
    AlreadyRandomized {
        /// The file's name.
        file: String,
        /// Fingerprint of their plan.
        fingerprint: String,
    },
    /// The output exists and must not be replaced.
    #[error(transparent)]
    Occupied(#[from] Occupied),
    /// Responses instead of recorded answers.
    #[error("{file} already contains responses made with the plan {fingerprint}; they need not be imported again")]
    AlreadyResponses {
        /// The file's name.
        file: String,
        /// Fingerprint of their plan.
        fingerprint: String,
    },
    /// Responses made with another plan.
    #[error("Wrong plan: {file} was made with {found}, and the plan given is {expected}")]
    Fingerprint {
        /// The file's name.
        file: String,
        /// Fingerprint in the file.
        found: String,
        /// Fingerprint of the given plan.
        expected: String,
    },
    /// Output of candor computed from responses, instead of responses.
    #[error("{file} contains {found}, not responses; use the responses they were made from")]
    NotResponses {
        /// The file's name.
        file: String,
        /// What the file contains.
        found: &'static str,
    },
    /// An invalid sidecar file.
    #[error("{file} is not a valid sidecar file of responses: {message}")]
    Sidecar {
        /// The file's name.
        file: String,
        /// Why.
        message: String,
    },
    /// The sidecar file says that the responses were being replaced.
    #[error(
        "{file} may belong to another plan: candor was stopped while replacing it, according to {sidecar}; make it \
         again, or remove {sidecar} if you know that {file} is right"
    )]
    Replacing {
        /// The file's name.
        file: String,
        /// The sidecar file.
        sidecar: String,
    },
    /// A number of responses that differs from the sidecar file.
    #[error(
        "{file} contains {found} responses, but {expected} were written according to {sidecar}: the file was \
         truncated, or rows were added or removed. Restore the complete file, or, if the change was intended, remove \
         {sidecar} (the plan is then not checked)"
    )]
    Records {
        /// The file's name.
        file: String,
        /// The sidecar file.
        sidecar: String,
        /// Number of responses found.
        found: u64,
        /// Number of responses written.
        expected: u64,
    },
    /// A table without counts.
    #[error("there are no counts for the table \"{table}\": {file} has no \"{column}\"")]
    NoCounts {
        /// The file's name.
        file: String,
        /// The table.
        table: String,
        /// The missing column.
        column: String,
    },
    /// Counts of cells that are inconsistent with the responses.
    #[error(
        "the counts for the table \"{table}\" are inconsistent: {misfit}{tags}; provide all rows of the query of \
         candor sql, each once, with all columns"
    )]
    CountsMisfit {
        /// The table.
        table: String,
        /// The responses, by channel IDs.
        tags: String,
        /// What is wrong.
        misfit: InconsistentCounts,
    },
    /// More counted responses than floats can represent exactly.
    #[error(
        "the counts for the table \"{table}\" sum to {total}; at most {MAX_COUNTED} (2^53) responses can be counted \
         exactly"
    )]
    TooManyCounted {
        /// The table.
        table: String,
        /// Their number.
        total: u128,
    },
    /// A kept column with the name of an answer column.
    #[error("the column \"{0}\" cannot be kept: responses have a column of that name")]
    KeptTwice(String),
    /// A kept column with different types in different files.
    #[error(
        "{file}: the kept column \"{column}\" contains {}, but {} in the files before it",
        shown(found),
        shown(expected)
    )]
    KeptType {
        /// The file's name.
        file: String,
        /// The column.
        column: String,
        /// Its type in this file.
        found: String,
        /// Its type before.
        expected: String,
    },
    /// A kept column with a type that the output does not support.
    #[error("{file}: the kept column \"{column}\" contains {found}, {reason}")]
    KeptUnwritable {
        /// The file's name.
        file: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// The reason, and a remedy.
        reason: &'static str,
    },
    /// A kept value that the output cannot represent.
    #[error(
        "{file}, row {row}: the kept column \"{column}\" contains a {found} that cannot be written as text; write \
         Parquet, or do not keep the column"
    )]
    KeptValue {
        /// The file's name.
        file: String,
        /// Which row.
        row: u64,
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A label or a name that a spreadsheet would run as a formula.
    #[error(
        "\"{label}\" in the column \"{column}\" looks like a formula, and with a quote before it would not be a valid \
         answer: rename it in the schema, write Parquet, or omit `safe_cells`"
    )]
    UnsafeLabel {
        /// The column.
        column: String,
        /// The label or name.
        label: String,
    },
    /// A column that would publish true values.
    #[error(
        "the column \"{column}\" cannot be kept: the plan randomizes \"{attribute}\", and true values would be \
         published"
    )]
    KeptTruth {
        /// The column.
        column: String,
        /// The randomized attribute that it reveals.
        attribute: String,
    },
    /// Weights that would publish true values.
    #[error(
        "the column \"{column}\" cannot hold weights: the plan randomizes \"{attribute}\", and weights are published"
    )]
    WeightTruth {
        /// The column.
        column: String,
        /// The randomized attribute that they reveal.
        attribute: String,
    },
    /// A column of the sampling design that would publish true values.
    #[error(
        "the column \"{column}\" cannot describe the sampling design: the plan randomizes \"{attribute}\", and such \
         columns are published"
    )]
    SampleTruth {
        /// The column.
        column: String,
        /// The randomized attribute that it reveals.
        attribute: String,
    },
    /// Too few replicate weight columns.
    #[error(
        "{file}: {found} columns match {pattern}; expected two or more replicate weights, in the same columns of all \
         files"
    )]
    Replicates {
        /// The file.
        file: String,
        /// Their name pattern.
        pattern: String,
        /// Their number.
        found: usize,
    },
    /// A stratum with two population sizes.
    #[error(
        "the column \"{column}\" has two population sizes for {}: {first} and {second}; expected the same number in \
         all rows of a stratum",
        stratum_or_sample(stratum)
    )]
    PopulationDiffers {
        /// The column.
        column: String,
        /// The stratum.
        stratum: String,
        /// One size.
        first: f64,
        /// The other size.
        second: f64,
    },
    /// A sampling design from which errors cannot be estimated.
    #[error(transparent)]
    Sampling(#[from] candor_analysis::tally::SamplingError),
    /// A predictor, cluster or stratum that would reveal a randomized attribute.
    #[error(
        "the column \"{column}\" would reveal the true values of \"{attribute}\", which the plan randomizes; use the \
         attribute itself in the model"
    )]
    ModelTruth {
        /// The column.
        column: String,
        /// The randomized attribute that it reveals.
        attribute: String,
    },
    /// Invalid expected shares.
    #[error("{file}: {message}")]
    Shares {
        /// The file's name.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// Groups of an attribute that is not public.
    #[error("cannot group by \"{0}\": it is not a public attribute of the plan")]
    NoGroups(String),
    /// The output is also an input.
    #[error("{0} is both an input and the output; choose another output")]
    SameFile(String),
    /// The output cannot be written.
    #[error("cannot write {file}: {error}; nothing was written there")]
    Write {
        /// The file's name.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// Output to a pipe or a device was interrupted.
    #[error("cannot write {file}: {error}; the file is incomplete, delete it and retry")]
    Stream {
        /// The pipe's name.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// A file could not be replaced, nor its old sidecar file restored.
    #[error(
        "cannot write {file}: {error}; the old file is unchanged, but {sidecar} could not be restored: remove it if \
         you know which plan {file} was made with"
    )]
    StillReplacing {
        /// The file's name.
        file: String,
        /// The sidecar file.
        sidecar: String,
        /// The reason.
        error: std::io::Error,
    },
    /// The file was written, but its sidecar file was not.
    #[error("{file} is complete, but {sidecar} is wrong: {error}; {}", by_hand(content))]
    SidecarMissing {
        /// The file's name.
        file: String,
        /// The sidecar file.
        sidecar: String,
        /// Why.
        error: std::io::Error,
        /// Intended content of the sidecar file; `None` if it should not exist.
        content: Option<String>,
    },
    /// Randomization failed.
    #[error(transparent)]
    Randomize(#[from] RandomizeError),
    /// No schema could be inferred from the columns.
    #[error("{file}: no schema was inferred\n{}", .problems.join("\n"))]
    Infer {
        /// The file's name.
        file: String,
        /// One line per column.
        problems: Vec<String>,
    },
}

/// Maximum number of counted responses; beyond it, floats cannot represent every integer.
pub const MAX_COUNTED: u64 = 1 << 53;
