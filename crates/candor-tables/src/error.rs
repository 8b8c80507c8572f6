//! What can be wrong with a table, said so that its owner can find it.

use candor_analysis::tally::InconsistentCounts;
use candor_base::randomize::RandomizeError;
use candor_runtime::progress::Cancelled;

use sentences::{by_hand, did_you_mean, given_twice, header_or_row, single_column_hint, stratum_or_sample};

pub use crate::invalid_value::{InvalidValue, shown};
pub use occupied::Occupied;

mod not_utf8;
mod occupied;
mod sentences;

/// What is wrong with a table, where, and what would be right. Rows are counted from 1, without the header.
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
    /// A file that is given twice, by the same name or by another.
    #[error("{}; its records would count twice", given_twice(file, again))]
    GivenTwice {
        /// The file's name.
        file: String,
        /// What it is called the second time.
        again: String,
    },
    /// Whoever waited for it ended the work.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A format that this build does without.
    #[error("{0}: this build of candor does without {1} files, which are a feature of it")]
    NotBuilt(String, &'static str),
    /// Standard input given twice.
    #[error("standard input (-) can be read only once")]
    ReadTwice,
    /// A batch of a stream that is not to be had, or not of its schema.
    #[error("{file}, batch {batch}: {message}")]
    Batch {
        /// The stream's name.
        file: String,
        /// Which batch, counted from 1.
        batch: u64,
        /// What is wrong with it.
        message: String,
    },
    /// A line of JSON that is no row of the table.
    #[error("{file}, line {line}: {message}")]
    Line {
        /// The file's name.
        file: String,
        /// Which line, counted from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// A column that responses under the plan do not have.
    #[error("{file} has a column \"{}\", which responses under this plan have not", shown(column))]
    UnknownColumn {
        /// What it was found in.
        file: String,
        /// The column's name.
        column: String,
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
    #[error("{file} has two columns named \"{}\"; rename one", shown(column))]
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
    #[error("{file}, {}: {limit}; see docs/reference/limits.md", header_or_row(*row))]
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
    #[error("{file}, {place}: byte {byte} of it, 0x{found:02X}, is not UTF-8; convert the file to UTF-8")]
    Utf8 {
        /// The file's name.
        file: String,
        /// Which value.
        place: String,
        /// Where in the value, counted from 1.
        byte: usize,
        /// The byte.
        found: u8,
    },
    /// A value that does not fit the schema.
    #[error("{file}, {0}", file = .0.file)]
    Value(InvalidValue),
    /// A column of a type that has no categories.
    #[error("{file}, column \"{}\" holds {}; it must hold text, numbers or booleans", shown(column), shown(found))]
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
    /// Nothing tells under which plan responses were made.
    #[error(
        "{0} does not tell the plan it was made under, and under another plan every result would be wrong. If it holds \
         true records, randomize it first; if you know that it was made under this plan, say `unmarked`"
    )]
    Unmarked(String),
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
    /// Something is at the place of an output, and is not to be replaced.
    #[error(transparent)]
    Occupied(#[from] Occupied),
    /// Responses where what was written down is expected.
    #[error("{file} holds responses made under the plan {fingerprint}: they need not be entered again")]
    AlreadyResponses {
        /// The file's name.
        file: String,
        /// The plan they were made under.
        fingerprint: String,
    },
    /// Responses made under another plan.
    #[error("Wrong plan: {file} was made with {found}, and the plan given is {expected}")]
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
    /// The file beside responses says that they were being replaced.
    #[error(
        "{file} may belong to another plan, or to none: candor was stopped while it was being replaced, as {sidecar} \
         says; make it again, or remove {sidecar} if you know that {file} is right"
    )]
    Replacing {
        /// The file's name.
        file: String,
        /// The file beside it.
        sidecar: String,
    },
    /// More or fewer responses than the file beside them says.
    #[error(
        "{file} holds {found} responses, but {expected} were written, as {sidecar} says: the file was cut off, or rows \
         were added or left out; get the whole file, or, if that was done on purpose, remove {sidecar} (the plan is \
         then not checked)"
    )]
    Records {
        /// The file's name.
        file: String,
        /// The file beside it.
        sidecar: String,
        /// The responses found.
        found: u64,
        /// The responses written.
        expected: u64,
    },
    /// A table without counts.
    #[error("there are no counts for the table \"{table}\": {file} has no \"{column}\"")]
    NoCounts {
        /// The file's name.
        file: String,
        /// The table.
        table: String,
        /// What it would take.
        column: String,
    },
    /// Counts of cells that cannot be those of the responses counted.
    #[error(
        "the counts for the table \"{table}\" do not fit together: {misfit}{tags}; give all rows that the query of \
         candor sql makes, each of them once, with all their columns"
    )]
    CountsMisfit {
        /// The table.
        table: String,
        /// Which responses, by their tags.
        tags: String,
        /// What is wrong.
        misfit: InconsistentCounts,
    },
    /// More counted responses than floats can tell apart.
    #[error(
        "the counts for the table \"{table}\" sum to {total}; at most {MAX_COUNTED} (2^53) responses can be counted \
         exactly"
    )]
    TooManyCounted {
        /// The table.
        table: String,
        /// How many they are.
        total: u128,
    },
    /// A kept column would have the name of an answer.
    #[error("the column \"{0}\" cannot be kept: responses have a column of that name")]
    KeptTwice(String),
    /// A kept column that cannot be written as one.
    #[error(
        "{file}: the kept column \"{column}\" holds {}, but {} in the tables before it",
        shown(found),
        shown(expected)
    )]
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
    /// A kept column of a type that the output cannot hold.
    #[error("{file}: the kept column \"{column}\" holds {found}, {reason}")]
    KeptUnwritable {
        /// The file's name.
        file: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// Why not, and what would do.
        reason: &'static str,
    },
    /// A kept value that the output cannot hold.
    #[error(
        "{file}, row {row}: the kept column \"{column}\" holds a {found} too far off to be written as text; \
         write Parquet, or do not keep the column"
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
    /// A label or a name of the responses that a spreadsheet would run.
    #[error(
        "\"{label}\" of the column \"{column}\" looks like a formula, and with a quote before it would be no answer \
         under the plan: rename it in the schema, write Parquet, or do without `safe_cells`"
    )]
    UnsafeLabel {
        /// The column.
        column: String,
        /// The label, or the name.
        label: String,
    },
    /// True values would be published.
    #[error(
        "the column \"{column}\" cannot be kept: the plan randomizes \"{attribute}\", and true values would be \
         published"
    )]
    KeptTruth {
        /// The column.
        column: String,
        /// The randomized attribute it tells about.
        attribute: String,
    },
    /// Responses weighted by a truth.
    #[error(
        "the column \"{column}\" cannot hold weights: the plan randomizes \"{attribute}\", and weights are published"
    )]
    WeightTruth {
        /// The column.
        column: String,
        /// The randomized attribute it tells about.
        attribute: String,
    },
    /// A cluster, stratum or size of a population that tells the truth of a randomized attribute.
    #[error(
        "the column \"{column}\" cannot say how respondents were drawn: the plan randomizes \"{attribute}\", and such \
         columns are published"
    )]
    SampleTruth {
        /// The column.
        column: String,
        /// The randomized attribute it tells about.
        attribute: String,
    },
    /// No replicate weights, or too few.
    #[error(
        "{file}: {found} of its columns are called {pattern}; replicate weights are two or more, in the same columns \
         of all files"
    )]
    Replicates {
        /// The file.
        file: String,
        /// What they are called.
        pattern: String,
        /// How many there are.
        found: usize,
    },
    /// A stratum of several sizes.
    #[error(
        "the column \"{column}\" says two different sizes of the population of {}: {first} and {second}; it is one \
         number for all rows of a stratum",
        stratum_or_sample(stratum)
    )]
    PopulationDiffers {
        /// The column.
        column: String,
        /// The stratum.
        stratum: String,
        /// One size.
        first: f64,
        /// Another.
        second: f64,
    },
    /// How respondents were drawn tells no errors.
    #[error(transparent)]
    Sampling(#[from] candor_analysis::tally::SamplingError),
    /// A predictor, cluster or stratum that tells the truth of a randomized attribute.
    #[error(
        "the column \"{column}\" would tell the truth about \"{attribute}\", which the plan randomizes; a model takes \
         the attribute itself"
    )]
    ModelTruth {
        /// The column.
        column: String,
        /// The randomized attribute it tells about.
        attribute: String,
    },
    /// Anticipated shares that say nothing.
    #[error("{file}: {message}")]
    Shares {
        /// The file's name.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// Groups by something that is not public.
    #[error("there are no groups by \"{0}\": it is not a public attribute of the plan")]
    NoGroups(String),
    /// Output would overwrite input.
    #[error("{0} is both input and output; choose another output")]
    SameFile(String),
    /// The output cannot be written.
    #[error("cannot write {file}: {error}; nothing was written there")]
    Write {
        /// The file's name.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// Output to a pipe or a device was cut off.
    #[error("cannot write {file}: {error}; what went there is not whole")]
    Stream {
        /// The pipe's name.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// A table could not be replaced, and neither could the file beside it be put back.
    #[error(
        "cannot write {file}: {error}; what was there is there unchanged, but {sidecar} could not be put back: \
         remove it if you know which plan {file} was made under"
    )]
    StillReplacing {
        /// The file's name.
        file: String,
        /// The file beside it.
        sidecar: String,
        /// Why the table could not be replaced.
        error: std::io::Error,
    },
    /// A table was put in place, but the file beside it was not.
    #[error("{file} was written and is whole, but {sidecar} is not right: {error}; {}", by_hand(content))]
    SidecarMissing {
        /// The file's name.
        file: String,
        /// The file beside it.
        sidecar: String,
        /// Why.
        error: std::io::Error,
        /// What should be in it; `None` if it should not be there.
        content: Option<String>,
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

/// The most responses that can be counted: beyond it, floats do not tell a number from the next.
pub const MAX_COUNTED: u64 = 1 << 53;
