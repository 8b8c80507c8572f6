//! Channels: `P(answer | true record)` as exact integers.
//!
//! There are three families: [`Pattern`] channels over several attributes, [`Matrix`] channels over one variable, and
//! [`Strip`] channels over one table. Every published method is a constructor of one of them, never a type of its own.
//! So each family has one sampler and one certificate, and both use the same integers.

pub(crate) mod work;
mod change;
mod epsilon;
mod matrix;
mod guess;
mod pattern_set;
pub mod threshold;
mod counting;
mod pattern;
mod strip;
mod between;
pub(crate) mod sampling;

pub(crate) use change::Change;
pub use epsilon::{Epsilon, FULL_WEIGHT, Rational, exact, rounded_down, rounded_up};
pub use guess::Guess;
pub use matrix::{COLUMN_TOLERANCE, Matrix};
pub(crate) use pattern::MAX_EXACT;
pub use pattern::{Axis, Likelihoods, MAX_PARTS, Masses, Part, Pattern};
pub(crate) use pattern_set::MAX_STATES;
pub use pattern_set::{Bitmap, Choices, Completions, MAX_ENUMERATED, PatternSet, State};
pub use sampling::{Answer, Sampler};
pub use strip::{Cells, MAX_CELLS, Strip};
pub(crate) use threshold::MAX_HALVES;

use crate::schema::MAX_CATEGORIES;

/// The distribution of one respondent's answer, given the true record.
///
/// This is an enum, not a trait: plan files are a closed, versioned format, and every family of channels must provide
/// sampling, a certificate and marginals.
#[derive(Clone, Debug, PartialEq)]
pub enum Channel {
    /// A column-stochastic matrix over one variable.
    Matrix(Matrix),
    /// A mixture of pattern sets over several attributes.
    Pattern(Pattern),
    /// A randomly relabeled balanced subset of the cells of one table.
    Strip(Strip),
}

impl Channel {
    /// Returns the places in the block of the attributes it asks about: all, except that strips ask about their table
    /// only.
    pub fn places(&self) -> Vec<usize> {
        match self {
            Channel::Strip(strip) => strip.places().to_vec(),
            other => (0..other.sizes().len()).collect(),
        }
    }

    /// Returns the number of categories of each attribute it asks about.
    pub fn sizes(&self) -> Vec<usize> {
        match self {
            Channel::Matrix(matrix) => matrix.sizes().to_vec(),
            Channel::Pattern(pattern) => pattern.axes().iter().map(|axis| axis.categories).collect(),
            Channel::Strip(strip) => strip.table().sizes().to_vec(),
        }
    }

    /// Returns the largest likelihood ratio of the whole answer between two true records, or `None` if it is infinite.
    ///
    /// For pattern channels of many attributes this is an upper bound: see [`Pattern::parity`].
    pub fn parity(&self) -> Option<Rational> {
        match self {
            Channel::Matrix(matrix) => matrix.parity(),
            Channel::Pattern(pattern) => pattern.parity(),
            Channel::Strip(strip) => Some(strip.parity()),
        }
    }

    /// Returns the certified record-level epsilon: the logarithm of [`Channel::parity`].
    pub fn record_epsilon(&self) -> Epsilon {
        Epsilon::of_parity(self.parity().as_ref())
    }

    /// Returns the certified conditional epsilon of each attribute it asks about.
    ///
    /// The adversary sees the whole answer and knows all other attributes.
    pub fn conditional_epsilons(&self) -> Vec<Epsilon> {
        self.losses().1
    }

    /// Returns [`Channel::parity`] and [`Channel::conditional_epsilons`] at little more than the cost of one.
    pub(crate) fn losses(&self) -> (Option<Rational>, Vec<Epsilon>) {
        match self {
            Channel::Matrix(matrix) => (matrix.parity(), matrix.conditional_epsilons()),
            Channel::Pattern(pattern) => pattern.losses(),
            // In every direction, some line of the table lies partly in the strip: one step can lead out of any answer.
            Channel::Strip(strip) => (self.parity(), vec![self.record_epsilon(); strip.places().len()]),
        }
    }

    /// Returns [`Channel::marginal_epsilon`] and [`Channel::keep_probability`] of every attribute it asks about, at
    /// little more than the cost of one.
    pub(crate) fn marginals(&self) -> Vec<(Option<Epsilon>, Option<f64>)> {
        match self {
            Channel::Pattern(pattern) => {
                pattern.marginals().into_iter().map(|(epsilon, kept)| (Some(epsilon), Some(kept))).collect()
            }
            other => (0..other.sizes().len()).map(|i| (self.marginal_epsilon(i), self.keep_probability(i))).collect(),
        }
    }

    /// Returns the certified marginal epsilon of one attribute, for an adversary who sees its answer alone.
    ///
    /// Returns `None` if the attribute has no answer of its own: in a matrix or a strip over several attributes.
    pub fn marginal_epsilon(&self, attribute: usize) -> Option<Epsilon> {
        match self {
            Channel::Pattern(pattern) => Some(pattern.marginal_epsilon(attribute)),
            other => (other.sizes().len() == 1).then(|| other.record_epsilon()),
        }
    }

    /// Returns the retention probability: that the attribute's answer is, or contains, the true category.
    ///
    /// For a matrix it is the smallest over all categories. It is `None` if answers are not categories of the
    /// attribute.
    pub fn keep_probability(&self, attribute: usize) -> Option<f64> {
        match self {
            Channel::Matrix(matrix) if matrix.sizes().len() == 1 => matrix.keep_probability(),
            Channel::Matrix(_) | Channel::Strip(_) => None,
            Channel::Pattern(pattern) => Some(pattern.keep_probability(attribute)),
        }
    }
}

/// Returns an error unless each attribute has 2 to [`MAX_CATEGORIES`] categories.
fn check_categories(sizes: &[usize]) -> Result<(), ChannelError> {
    match sizes.iter().position(|size| !(2..=MAX_CATEGORIES).contains(size)) {
        Some(attribute) => Err(ChannelError::Categories { attribute, categories: sizes[attribute] }),
        None => Ok(()),
    }
}

/// An invalid channel. Attributes, parts, rows and columns are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The channel has no attribute.
    #[error("a channel needs at least one attribute")]
    NoAttribute,
    /// An attribute has too few or too many categories.
    #[error("attribute {attribute} has {categories} categories; expected 2 to {MAX_CATEGORIES}")]
    Categories {
        /// The attribute.
        attribute: usize,
        /// Its number of categories.
        categories: usize,
    },
    /// An answer would name no category, or more than the attribute has.
    #[error("the answer size of attribute {attribute} is {size}; expected 1 to its {categories} categories")]
    AnswerSize {
        /// The attribute.
        attribute: usize,
        /// The answer size found.
        size: usize,
        /// Its number of categories.
        categories: usize,
    },
    /// A pattern channel has no part.
    #[error("a pattern channel needs at least one part")]
    NoPart,
    /// There are more than [`MAX_PARTS`] parts.
    #[error("a pattern channel has at most {MAX_PARTS} parts, not {0}")]
    TooManyParts(usize),
    /// A part can never be drawn.
    #[error("part {part} has weight 0; leave it out or give it a positive weight")]
    ZeroWeight {
        /// The part.
        part: usize,
    },
    /// The weights sum to more than `2^64`.
    #[error("the weights of the parts sum to more than 2^64")]
    TotalWeight,
    /// No answer has a pattern in the set.
    #[error("no answer has a pattern in the set of part {part}")]
    EmptySet {
        /// The part.
        part: usize,
    },
    /// A set does not fit the attributes of the channel.
    #[error(
        "the set of part {part} does not fit {attributes} attributes: lists must be increasing numbers below \
         {attributes}, thresholds need {attributes} weights, bitmaps 2^{attributes} bits"
    )]
    SetShape {
        /// The part.
        part: usize,
        /// The number of attributes of the channel.
        attributes: usize,
    },
    /// A threshold has too many distinct sums to be counted and drawn.
    #[error("the set of part {part} has too many distinct sums to be counted and drawn; use smaller integer weights")]
    TooLarge {
        /// The part.
        part: usize,
    },
    /// The attributes of a strip are not in increasing order, or their number does not match.
    #[error(
        "a strip requires the positions of its attributes in increasing order, and one number of categories for each"
    )]
    Places,
    /// The table of a strip has too many cells.
    #[error("the table of a strip has at most {MAX_CELLS} cells, not {0}")]
    TableSize(usize),
    /// A strip contains none or all of its cells.
    #[error("a strip has {0} of the {1} cells of its table; expected at least 1 and fewer than all")]
    StripSize(usize, usize),
    /// The sides of a box do not fit its table.
    #[error("a box must have, for each attribute of its table, at least 1 and fewer than all categories")]
    Sides,
    /// The listed cells of a strip do not increase, or are none or all of the table.
    #[error("listed cells must be increasing cell numbers of the table, and not all of them")]
    Listed,
    /// Epsilon is negative, infinite or not a number.
    #[error("epsilon is {0}; it must be a finite number, 0 or more")]
    Epsilon(f64),
    /// Epsilon is so small that answers would not depend on the true record.
    #[error("epsilon {0} is too small for a strip to carry any information; use a larger one")]
    NothingTold(f64),
    /// Answers would always be drawn from the set, and so hide nothing.
    #[error("the answer must be uniformly random with some positive probability; otherwise it reveals the true value")]
    NothingHidden,
    /// The matrix has the wrong number of columns.
    #[error(
        "the matrix has {found} columns, but there {}; columns are inputs and sum to 1, rows are outputs",
        match expected { Some(n) => format!("are {n} inputs"), None => "are more inputs than a matrix may have".into() }
    )]
    Columns {
        /// Number of columns found.
        found: usize,
        /// Number of columns expected; `None` if it exceeds [`MAX_CATEGORIES`].
        expected: Option<usize>,
    },
    /// A column has the wrong number of entries.
    #[error("column {column} of the matrix has {found} entries, but there are {expected} outputs")]
    Rows {
        /// The column.
        column: usize,
        /// Number of entries found.
        found: usize,
        /// Number of entries expected.
        expected: usize,
    },
    /// A matrix has no output, or too many.
    #[error("a matrix must have 1 to {MAX_CATEGORIES} outputs, not {0}")]
    Outputs(usize),
    /// Two outputs have the same label.
    #[error("two outputs have the label \"{0}\"")]
    DuplicateOutput(String),
    /// The exponent of the total is out of range.
    #[error("columns of a matrix must sum to 2^bits with bits from 1 to 64, not {0}")]
    Bits(u32),
    /// The total is out of range.
    #[error("columns of a matrix must sum to an integer from 2 to 2^64, not {0}")]
    Total(u128),
    /// A column of integers has the wrong sum.
    #[error("column {column} of the matrix sums to {sum}, not to {expected}")]
    ColumnSum {
        /// The column.
        column: usize,
        /// Its sum.
        sum: u128,
        /// The expected sum.
        expected: u128,
    },
    /// A column of probabilities does not sum to 1.
    #[error("column {column} of the matrix sums to {sum}, not to 1 (columns are inputs, rows are outputs)")]
    ColumnProbability {
        /// The column.
        column: usize,
        /// Its sum.
        sum: f64,
    },
    /// An entry is not a probability.
    #[error("the entry in row {row}, column {column} of the matrix is {value}, not a probability")]
    Entry {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The value of the entry.
        value: f64,
    },
}
