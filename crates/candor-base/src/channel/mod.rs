//! Channels: `P(answer | truth)` as exact integers.
//!
//! There are three families, and one treatment for all: [`Pattern`] channels over several
//! attributes, [`Matrix`] channels over one variable and [`Strip`] channels over one table. Methods of the literature
//! are constructors of one of them, never types of their own.

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

/// What one respondent's answer may depend on their truth by.
///
/// An enum, not a trait: plans are a closed, versioned format, and every kind of channel must
/// supply sampling, certificate and marginals.
#[derive(Clone, Debug, PartialEq)]
pub enum Channel {
    /// Any column-stochastic matrix over one variable.
    Matrix(Matrix),
    /// Parts over pattern sets, over several attributes.
    Pattern(Pattern),
    /// Relabelled balanced sets of cells of one table.
    Strip(Strip),
}

impl Channel {
    /// The attributes it asks about, by place in its block: all of them, but for strips those of their table.
    pub fn places(&self) -> Vec<usize> {
        match self {
            Channel::Strip(strip) => strip.places().to_vec(),
            other => (0..other.sizes().len()).collect(),
        }
    }

    /// The number of categories of each attribute it asks about.
    pub fn sizes(&self) -> Vec<usize> {
        match self {
            Channel::Matrix(matrix) => matrix.sizes().to_vec(),
            Channel::Pattern(pattern) => pattern.axes().iter().map(|axis| axis.categories).collect(),
            Channel::Strip(strip) => strip.table().sizes().to_vec(),
        }
    }

    /// The largest ratio of likelihoods of the whole answer under two truths, exactly; `None` if
    /// infinite.
    pub fn parity(&self) -> Option<Rational> {
        match self {
            Channel::Matrix(matrix) => matrix.parity(),
            Channel::Pattern(pattern) => pattern.parity(),
            Channel::Strip(strip) => Some(strip.parity()),
        }
    }

    /// Certified epsilon of the whole answer: the logarithm of [`Channel::parity`].
    pub fn record_epsilon(&self) -> Epsilon {
        Epsilon::of_parity(self.parity().as_ref())
    }

    /// Certified epsilon of each attribute it asks about for a reader of the whole answer who knows all others.
    pub fn conditional_epsilons(&self) -> Vec<Epsilon> {
        self.losses().1
    }

    /// [`Channel::parity`] and [`Channel::conditional_epsilons`], for little more than one of them.
    pub(crate) fn losses(&self) -> (Option<Rational>, Vec<Epsilon>) {
        match self {
            Channel::Matrix(matrix) => (matrix.parity(), matrix.conditional_epsilons()),
            Channel::Pattern(pattern) => pattern.losses(),
            // In every direction some line of the table holds a part of the strip: one step may lead out of any answer.
            Channel::Strip(strip) => (self.parity(), vec![self.record_epsilon(); strip.places().len()]),
        }
    }

    /// [`Channel::marginal_epsilon`] and [`Channel::keep_probability`] of every attribute it asks about, for little
    /// more than one of them.
    pub(crate) fn marginals(&self) -> Vec<(Option<Epsilon>, Option<f64>)> {
        match self {
            Channel::Pattern(pattern) => {
                pattern.marginals().into_iter().map(|(epsilon, kept)| (Some(epsilon), Some(kept))).collect()
            }
            other => (0..other.sizes().len()).map(|i| (self.marginal_epsilon(i), self.keep_probability(i))).collect(),
        }
    }

    /// Certified epsilon of one of the attributes it asks about for a reader of its own answer alone; `None` where the
    /// attribute has no answer of its own (a matrix over a cross-classification, a strip over several).
    pub fn marginal_epsilon(&self, attribute: usize) -> Option<Epsilon> {
        match self {
            Channel::Pattern(pattern) => Some(pattern.marginal_epsilon(attribute)),
            other => (other.sizes().len() == 1).then(|| other.record_epsilon()),
        }
    }

    /// The probability that the attribute's answer is, or contains, the truth; of a matrix the
    /// smallest over all categories, and `None` where answers are not categories of the attribute.
    pub fn keep_probability(&self, attribute: usize) -> Option<f64> {
        match self {
            Channel::Matrix(matrix) if matrix.sizes().len() == 1 => matrix.keep_probability(),
            Channel::Matrix(_) | Channel::Strip(_) => None,
            Channel::Pattern(pattern) => Some(pattern.keep_probability(attribute)),
        }
    }
}

/// Whether attributes have as many categories as can be.
fn check_categories(sizes: &[usize]) -> Result<(), ChannelError> {
    match sizes.iter().position(|size| !(2..=MAX_CATEGORIES).contains(size)) {
        Some(attribute) => Err(ChannelError::Categories { attribute, categories: sizes[attribute] }),
        None => Ok(()),
    }
}

/// Why something is not a channel. Attributes, parts, rows and columns are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// There is nothing to answer.
    #[error("a channel needs at least one attribute")]
    NoAttribute,
    /// An attribute has too few or too many categories.
    #[error("attribute {attribute} has {categories} categories; expected 2 to {MAX_CATEGORIES}")]
    Categories {
        /// Which attribute.
        attribute: usize,
        /// Its number of categories.
        categories: usize,
    },
    /// An answer names no category or more than there are.
    #[error("the answer size of attribute {attribute} is {size}; expected 1 to its {categories} categories")]
    AnswerSize {
        /// Which attribute.
        attribute: usize,
        /// The answer size found.
        size: usize,
        /// Its number of categories.
        categories: usize,
    },
    /// There is nothing to draw from.
    #[error("a pattern channel needs at least one part")]
    NoPart,
    /// More parts than a plan may have.
    #[error("a pattern channel has at most {MAX_PARTS} parts, not {0}")]
    TooManyParts(usize),
    /// A part can never be drawn.
    #[error("part {part} has weight 0; leave it out or give it a positive weight")]
    ZeroWeight {
        /// Which part.
        part: usize,
    },
    /// The weights do not fit 64 bits together.
    #[error("the weights of the parts sum to more than 2^64")]
    TotalWeight,
    /// No answer has a pattern in the set.
    #[error("no answer has a pattern in the set of part {part}")]
    EmptySet {
        /// Which part.
        part: usize,
    },
    /// A set names attributes the channel does not have.
    #[error(
        "the set of part {part} does not fit {attributes} attributes: lists must be increasing numbers below \
         {attributes}, thresholds need {attributes} weights, bitmaps 2^{attributes} bits"
    )]
    SetShape {
        /// Which part.
        part: usize,
        /// How many attributes the channel has.
        attributes: usize,
    },
    /// A threshold that can be neither counted nor drawn.
    #[error("the set of part {part} has too many distinct sums to be counted and drawn; use smaller integer weights")]
    TooLarge {
        /// Which part.
        part: usize,
    },
    /// The attributes of a strip are not in order.
    #[error(
        "a strip requires the positions of its attributes in increasing order, and one number of categories for each"
    )]
    Places,
    /// The table of a strip is too large.
    #[error("the table of a strip has at most {MAX_CELLS} cells, not {0}")]
    TableSize(usize),
    /// The strip is nothing or everything.
    #[error("a strip has {0} of the {1} cells of its table; expected at least 1 and fewer than all")]
    StripSize(usize, usize),
    /// The sides of a box do not fit.
    #[error("a box must have, for each attribute of its table, at least 1 and fewer than all categories")]
    Sides,
    /// Cells that are listed do not increase, or are none or all of the table.
    #[error("listed cells must be increasing cell numbers of the table, and not all of them")]
    Listed,
    /// Not a privacy loss.
    #[error("epsilon is {0}; it must be a finite number, 0 or more")]
    Epsilon(f64),
    /// An epsilon so small that answers would not depend on the truth.
    #[error("epsilon {0} is too small for a strip to carry any information; use a larger one")]
    NothingTold(f64),
    /// The set would always be drawn.
    #[error("the answer must be uniformly random with some positive probability; otherwise it reveals the true value")]
    NothingHidden,
    /// A matrix has another number of columns than inputs.
    #[error(
        "the matrix has {found} columns, but there {}; columns are inputs and sum to 1, rows are outputs",
        match expected { Some(n) => format!("are {n} inputs"), None => "are more inputs than a matrix may have".into() }
    )]
    Columns {
        /// Columns found.
        found: usize,
        /// Columns needed; `None` if beyond [`MAX_CATEGORIES`].
        expected: Option<usize>,
    },
    /// A column has another number of entries than there are outputs.
    #[error("column {column} of the matrix has {found} entries, but there are {expected} outputs")]
    Rows {
        /// Which column.
        column: usize,
        /// Entries found.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// No output, or too many.
    #[error("a matrix must have 1 to {MAX_CATEGORIES} outputs, not {0}")]
    Outputs(usize),
    /// Two outputs could not be told apart.
    #[error("two outputs have the label \"{0}\"")]
    DuplicateOutput(String),
    /// The power of two is out of range.
    #[error("columns of a matrix must sum to 2^bits with bits from 1 to 64, not {0}")]
    Bits(u32),
    /// The total is out of range.
    #[error("columns of a matrix must sum to an integer from 2 to 2^64, not {0}")]
    Total(u128),
    /// A column of integers has the wrong sum.
    #[error("column {column} of the matrix sums to {sum}, not to {expected}")]
    ColumnSum {
        /// Which column.
        column: usize,
        /// Its sum.
        sum: u128,
        /// What it should be.
        expected: u128,
    },
    /// A column of probabilities has the wrong sum.
    #[error("column {column} of the matrix sums to {sum}, not to 1 (columns are inputs, rows are outputs)")]
    ColumnProbability {
        /// Which column.
        column: usize,
        /// Its sum.
        sum: f64,
    },
    /// An entry is not a probability.
    #[error("the entry in row {row}, column {column} of the matrix is {value}, not a probability")]
    Entry {
        /// Which row.
        row: usize,
        /// Which column.
        column: usize,
        /// The entry.
        value: f64,
    },
}
