#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod bound;
pub mod budget;
pub mod outcome;
pub mod traits;
pub mod expectation;
pub mod predict;
pub mod pairs;
pub mod cross;
pub mod transition_matrix;
pub mod combine;
pub mod eigenvalues;
pub mod k_ary;
pub mod compliance_check;
pub mod independent;
pub mod device;
pub mod minimax;
pub mod l_diversity;
pub mod list_experiment;
pub mod matrix;
pub mod mean;
pub mod pareto;
pub mod joint;
pub mod clusters;
mod promise;
pub mod request;
pub mod rappor;
pub mod compare;
pub mod blackwell;

pub use outcome::DesignOutcome;
pub use request::{Method, Request, RequestError, design, methods};

use candor_analysis::table_list::TableListError;
use candor_base::channel::ChannelError;
use candor_base::plan::PlanError;
use candor_base::schema::{Schema, SchemaError};
use candor_runtime::progress::Cancelled;

/// Default number of respondents for expected errors.
pub const DEFAULT_RESPONDENTS: f64 = 10_000.0;

/// Returns the expected range of a rejected epsilon.
fn range_of_epsilon(refused: f64) -> &'static str {
    match refused {
        0.0 => "this method takes epsilons above 0",
        finite if finite > 0.0 && finite.is_finite() => "that is too large to compute with",
        _ => "it must be a finite number, 0 or more",
    }
}

/// The reason why no plan was made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DesignError {
    /// The schema has nothing to randomize.
    #[error("every attribute of the schema is public, so there is nothing to randomize")]
    NothingPrivate,
    /// A method for one attribute was used with several.
    #[error(
        "{method} requires exactly one randomized attribute, but the schema has {attributes}; use independent or \
         joint, or a schema with one"
    )]
    OneAttribute {
        /// The method.
        method: &'static str,
        /// Number of randomized attributes.
        attributes: usize,
    },
    /// The number of values differs from the number of attributes.
    #[error("`{what}` has {found} {}, but there are {expected} attributes to \
             randomize", if *found == 1 { "value" } else { "values" })]
    CountMismatch {
        /// The name of the values.
        what: &'static str,
        /// Number of values given.
        found: usize,
        /// Number of values expected.
        expected: usize,
    },
    /// Epsilon is out of range.
    #[error("epsilon is {0}; {range}", range = range_of_epsilon(*.0))]
    Epsilon(f64),
    /// A parameter is missing, or parameters contradict each other.
    #[error("{0}")]
    MissingParameter(&'static str),
    /// A method would guarantee less than requested.
    #[error(
        "the heuristic would exceed the requested epsilon of {} of {attributes} attributes: {}. Use `method optimal`, \
         which meets every attribute epsilon at the least record epsilon, another `order`, or `allow_larger_epsilon`",
        raised.len(),
        raised.join(", ")
    )]
    Weaker {
        /// Number of randomized attributes.
        attributes: usize,
        /// Attributes with a larger epsilon than requested, with both values.
        raised: Vec<String>,
    },
    /// A method returned a plan that guarantees less than requested: a bug of the method, which is detected here.
    #[error(
        "the plan would guarantee less than requested: epsilon {certified} for {what} instead of {asked}. Please \
         report this; a slightly smaller epsilon may work"
    )]
    GuaranteesLess {
        /// The record, or an attribute.
        what: String,
        /// The requested epsilon.
        asked: f64,
        /// The certified epsilon.
        certified: f64,
    },
    /// The request does not describe a list experiment.
    #[error("{0}")]
    ListExperiment(String),
    /// The tables are invalid.
    #[error("`tables`: {0}")]
    Tables(#[from] TableListError),
    /// An attribute is public, but must be randomized.
    #[error("\"{0}\" is public, so it is not randomized")]
    Public(String),
    /// The ratio has an invalid number or only zeros.
    #[error("the ratio must consist of numbers that are 0 or more, at least one of them positive")]
    Ratio,
    /// A parameter is out of range.
    #[error("`{name}` is {value}; {range}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The allowed range, with the reason.
        range: String,
    },
    /// A method for two attributes was used with another number.
    #[error("this closed form requires two attributes, but there are {0}; use optimal")]
    TwoAttributes(usize),
    /// An order omits or repeats attributes.
    #[error("the order must name each of the {0} attributes once")]
    Order(usize),
    /// The reduced program has no solution.
    #[error(
        "the reduced program has no solution here: telling single misses apart is not enough for these epsilons. Use \
         `method optimal`"
    )]
    Infeasible,
    /// The heuristic changes the requested epsilons so much that it cannot stay within a total.
    #[error(
        "the heuristic finds no attribute epsilons of 0.001 or more with a record-level epsilon of {0}; use \
         `method optimal`"
    )]
    NoHeuristic(f64),
    /// There are too many attributes for a method that lists all patterns.
    #[error(
        "`{method}` supports at most 20 attributes, but there are {attributes}; without it, channels are assigned at \
         random"
    )]
    TooMany {
        /// The method or option.
        method: &'static str,
        /// Number of randomized attributes.
        attributes: usize,
    },
    /// There are too few respondents for the number of tables.
    #[error(
        "{respondents} respondents are too few for {tables} {}: some would be answered by fewer than 30. Use about \
         {needed} respondents, or name fewer tables with `tables`", if *tables == 1 { "table" } else { "tables" }
    )]
    Respondents {
        /// Number of respondents.
        respondents: f64,
        /// Number of tables requested.
        tables: usize,
        /// Approximate number of respondents needed.
        needed: f64,
    },
    /// A method that needs three categories was used with an attribute of two.
    #[error(
        "{method} needs three categories or more, but \"{attribute}\" has two: an answer would be the true value, or \
         carry no information"
    )]
    TwoCategories {
        /// The method.
        method: &'static str,
        /// The attribute.
        attribute: String,
    },
    /// Plans or attributes cannot be combined.
    #[error("{0}")]
    Combine(String),
    /// Attributes cannot be cross-classified.
    #[error("`cross`: {0}")]
    Cross(String),
    /// An outcome that attributes cannot be crossed with.
    #[error("`cross_with`: {0}")]
    CrossWith(String),
    /// The clusters are invalid.
    #[error("clusters: {0}")]
    Cluster(String),
    /// A device does not fit its question.
    #[error("`device`: {0}")]
    Device(String),
    /// The matrix is invalid.
    #[error("the matrix: {0}")]
    Matrix(String),
    /// The work was canceled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The front has no such channel.
    #[error(transparent)]
    Front(#[from] pareto::FrontError),
    /// The channel is invalid.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The plan is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The schema is invalid.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// Returns the positions and sizes of the randomized attributes.
fn randomized_attributes(schema: &Schema) -> Result<Vec<(usize, usize)>, DesignError> {
    let size = |attribute: usize| (attribute, schema.size(attribute));
    let private: Vec<(usize, usize)> = schema.randomized().into_iter().map(size).collect();
    if private.is_empty() { Err(DesignError::NothingPrivate) } else { Ok(private) }
}

/// Returns the position and size of the only randomized attribute.
fn single_attribute(schema: &Schema, method: &'static str) -> Result<(usize, usize), DesignError> {
    match randomized_attributes(schema)?[..] {
        [one] => Ok(one),
        ref several => Err(DesignError::OneAttribute { method, attributes: several.len() }),
    }
}

/// Returns one value for each attribute, given one for each or one for all.
fn broadcast<T: Copy>(what: &'static str, values: &[T], attributes: usize) -> Result<Vec<T>, DesignError> {
    match *values {
        [one] => Ok(vec![one; attributes]),
        ref each if each.len() == attributes => Ok(each.to_vec()),
        ref each => Err(DesignError::CountMismatch { what, found: each.len(), expected: attributes }),
    }
}
