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
        /// Name of the file.
        file: String,
        /// Underlying error.
        error: std::io::Error,
    },
    /// The same file was given twice, possibly under different names.
    #[error("{}; its records would count twice", given_twice(file, again))]
    GivenTwice {
        /// Name of the file.
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
        /// Name of the stream.
        file: String,
        /// Number of the batch, from 1.
        batch: u64,
        /// What is wrong.
        message: String,
    },
    /// A line of JSON that is not a valid row.
    #[error("{file}, line {line}: {message}")]
    Line {
        /// Name of the file.
        file: String,
        /// Line number, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// A column that is not in responses to the plan.
    #[error("{file} has a column \"{}\", which responses to this plan do not have", shown(column))]
    UnknownColumn {
        /// File or source.
        file: String,
        /// Name of the column.
        column: String,
    },
    /// An empty file.
    #[error("{file} is empty; it needs a header and at least one record")]
    Empty {
        /// Name of the file.
        file: String,
    },
    /// A header without rows in every file.
    #[error("there are no records in {file}")]
    NoRecords {
        /// Name of the file.
        file: String,
    },
    /// Two columns with the same name.
    #[error("{file} has two columns named \"{}\"; rename one", shown(column))]
    DuplicateColumn {
        /// Name of the file.
        file: String,
        /// Name of the column.
        column: String,
    },
    /// A missing column.
    #[error("{file} has no column \"{column}\"{}", did_you_mean(nearest))]
    MissingColumn {
        /// Name of the file.
        file: String,
        /// Name of the column.
        column: String,
        /// The most similar column.
        nearest: Option<String>,
    },
    /// A row with a different number of fields from the header.
    #[error("{file}, row {row}: {found} fields, but the header has {expected}{}", single_column_hint(*expected))]
    Ragged {
        /// Name of the file.
        file: String,
        /// Row number, from 1.
        row: u64,
        /// Number of fields.
        found: u64,
        /// Expected number of fields.
        expected: u64,
    },
    /// An empty line in a file with one column, which CSV readers silently skip.
    #[error("{file}, row {row}: an empty line; write \"\" for a missing value")]
    EmptyLine {
        /// Name of the file.
        file: String,
        /// Row number, from 1.
        row: u64,
    },
    /// An unclosed quote.
    #[error("{file}: a quote in or before row {row} is not closed, so the rows after it would be read as one field")]
    UnclosedQuote {
        /// Name of the file.
        file: String,
        /// Number of the last row.
        row: u64,
    },
    /// A record or a header that exceeds a limit.
    #[error("{file}, {}: {limit}; see docs/reference/limits.md", header_or_row(*row))]
    TooLong {
        /// Name of the file.
        file: String,
        /// Row number, from 1; 0 for the header.
        row: u64,
        /// The exceeded limit.
        limit: String,
    },
    /// A Parquet file that claims more rows than it can contain.
    #[error("{file} claims {claimed} rows, but a file of its length holds at most {most}; it is damaged")]
    RowsClaimed {
        /// Name of the file.
        file: String,
        /// Number of rows claimed.
        claimed: u64,
        /// Maximum number of rows for its length.
        most: u64,
    },
    /// Text that is not UTF-8.
    #[error("{file}, {place}: byte {byte}, 0x{found:02X}, is not UTF-8; convert the file to UTF-8")]
    Utf8 {
        /// Name of the file.
        file: String,
        /// Location of the value.
        place: String,
        /// Position of the byte in the value, from 1.
        byte: usize,
        /// The invalid byte.
        found: u8,
    },
    /// A value that does not fit the schema.
    #[error("{file}, {0}", file = .0.file)]
    InvalidValue(InvalidValue),
    /// A column with an unsupported type.
    #[error("{file}, column \"{}\" holds {}; it must hold text, numbers or booleans", shown(column), shown(found))]
    Type {
        /// Name of the file.
        file: String,
        /// Name of the column.
        column: String,
        /// Type of the column.
        found: String,
    },
    /// Not a Parquet file, or damaged.
    #[error("cannot read {file} as Parquet: {message}")]
    Parquet {
        /// Name of the file.
        file: String,
        /// What is wrong.
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
        /// Name of the file.
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
        /// Name of the file.
        file: String,
        /// Fingerprint of their plan.
        fingerprint: String,
    },
    /// Responses made with another plan.
    #[error("Wrong plan: {file} was made with {found}, and the plan given is {expected}")]
    Fingerprint {
        /// Name of the file.
        file: String,
        /// Fingerprint in the file.
        found: String,
        /// Fingerprint of the given plan.
        expected: String,
    },
    /// A file that candor computed from responses, instead of responses.
    #[error("{file} contains {found}, not responses; use the responses they were made from")]
    NotResponses {
        /// Name of the file.
        file: String,
        /// What the file contains.
        found: &'static str,
    },
    /// An invalid sidecar file.
    #[error("{file} is not a valid sidecar file of responses: {message}")]
    Sidecar {
        /// Name of the file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// The sidecar file says that the responses were being replaced.
    #[error(
        "{file} may belong to another plan: candor was stopped while replacing it, according to {sidecar}; make it \
         again, or remove {sidecar} if you know that {file} is right"
    )]
    Replacing {
        /// Name of the file.
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
        /// Name of the file.
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
        /// Name of the file.
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
        /// Channel IDs of the responses.
        tags: String,
        /// The inconsistency.
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
        /// Number of counted responses.
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
        /// Name of the file.
        file: String,
        /// Name of the column.
        column: String,
        /// Type in this file.
        found: String,
        /// Type in the files before it.
        expected: String,
    },
    /// A kept column with a type that the output does not support.
    #[error("{file}: the kept column \"{column}\" contains {found}, {reason}")]
    KeptUnwritable {
        /// Name of the file.
        file: String,
        /// Name of the column.
        column: String,
        /// Type of the column.
        found: String,
        /// Reason, with a remedy.
        reason: &'static str,
    },
    /// A kept value that the output cannot represent.
    #[error(
        "{file}, row {row}: the kept column \"{column}\" contains a {found} that cannot be written as text; write \
         Parquet, or do not keep the column"
    )]
    KeptValue {
        /// Name of the file.
        file: String,
        /// Row number, from 1.
        row: u64,
        /// Name of the column.
        column: String,
        /// Type of the value.
        found: String,
    },
    /// A label or a name that a spreadsheet would run as a formula.
    #[error(
        "\"{label}\" in the column \"{column}\" looks like a formula, and with a quote before it would not be a valid \
         answer: rename it in the schema, write Parquet, or omit `safe_cells`"
    )]
    UnsafeLabel {
        /// Name of the column.
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
        /// Name of the column.
        column: String,
        /// The randomized attribute that it reveals.
        attribute: String,
    },
    /// Weights that would publish true values.
    #[error(
        "the column \"{column}\" cannot hold weights: the plan randomizes \"{attribute}\", and weights are published"
    )]
    WeightTruth {
        /// Name of the column.
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
        /// Name of the column.
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
        /// Name of the file.
        file: String,
        /// Name pattern of the columns.
        pattern: String,
        /// Number of columns that match.
        found: usize,
    },
    /// A stratum with two population sizes.
    #[error(
        "the column \"{column}\" has two population sizes for {}: {first} and {second}; expected the same number in \
         all rows of a stratum",
        stratum_or_sample(stratum)
    )]
    PopulationDiffers {
        /// Name of the column.
        column: String,
        /// Name of the stratum.
        stratum: String,
        /// One population size.
        first: f64,
        /// Another population size.
        second: f64,
    },
    /// A sampling design from which errors cannot be estimated.
    #[error(transparent)]
    Sampling(#[from] candor_analysis::tally::SamplingError),
    /// A variable of a model, or of its sampling design, that would reveal a randomized attribute.
    #[error(
        "the column \"{column}\" would reveal the true values of \"{attribute}\", which the plan randomizes; use the \
         attribute itself in the model"
    )]
    ModelTruth {
        /// Name of the column.
        column: String,
        /// The randomized attribute that it reveals.
        attribute: String,
    },
    /// Invalid expected shares.
    #[error("{file}: {message}")]
    Shares {
        /// Name of the file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// Grouping by an attribute that is not public.
    #[error("cannot group by \"{0}\": it is not a public attribute of the plan")]
    NoGroups(String),
    /// The output is also an input.
    #[error("{0} is both an input and the output; choose another output")]
    SameFile(String),
    /// The output cannot be written.
    #[error("cannot write {file}: {error}; nothing was written there")]
    Write {
        /// Name of the file.
        file: String,
        /// Underlying error.
        error: std::io::Error,
    },
    /// Output to a pipe or a device was interrupted.
    #[error("cannot write {file}: {error}; the file is incomplete, delete it and retry")]
    Stream {
        /// Name of the pipe.
        file: String,
        /// Underlying error.
        error: std::io::Error,
    },
    /// A file could not be replaced, nor its old sidecar file restored.
    #[error(
        "cannot write {file}: {error}; the old file is unchanged, but {sidecar} could not be restored: remove it if \
         you know which plan {file} was made with"
    )]
    StillReplacing {
        /// Name of the file.
        file: String,
        /// The sidecar file.
        sidecar: String,
        /// Underlying error.
        error: std::io::Error,
    },
    /// The file was written, but its sidecar file was not.
    #[error("{file} is complete, but {sidecar} is wrong: {error}; {}", by_hand(content))]
    SidecarMissing {
        /// Name of the file.
        file: String,
        /// The sidecar file.
        sidecar: String,
        /// Underlying error.
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
        /// Name of the file.
        file: String,
        /// One line per column.
        problems: Vec<String>,
    },
}

/// Maximum number of counted responses; beyond it, floats cannot represent every integer.
pub const MAX_COUNTED: u64 = 1 << 53;
