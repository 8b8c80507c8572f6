#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod bound;
pub mod budget;
pub mod outcome;
pub mod method;
pub mod expectation;
pub mod predict;
pub mod pairs;
pub mod cross;
pub mod written;
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

/// The number of respondents for which errors are told if none is said.
pub const DEFAULT_RESPONDENTS: f64 = 10_000.0;

/// What an epsilon that was refused should have been.
fn range_of_epsilon(refused: f64) -> &'static str {
    match refused {
        0.0 => "this method takes epsilons above 0",
        finite if finite > 0.0 && finite.is_finite() => "that is too large to compute with",
        _ => "it must be a finite number, 0 or more",
    }
}

/// Why no plan was made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DesignError {
    /// The schema has nothing to randomize.
    #[error("every attribute of the schema is public, so there is nothing to randomize")]
    NothingPrivate,
    /// A method for one attribute was given more.
    #[error(
        "{method} requires exactly one randomized attribute, but the schema has {attributes}; use independent or \
         joint, or a schema with one"
    )]
    OneAttribute {
        /// The method.
        method: &'static str,
        /// How many attributes are to be randomized.
        attributes: usize,
    },
    /// Another number of values than attributes.
    #[error("`{what}` has {found} {}, but there are {expected} attributes to \
             randomize", if *found == 1 { "value" } else { "values" })]
    CountMismatch {
        /// The values' name.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A privacy loss that is none.
    #[error("epsilon is {0}; {range}", range = range_of_epsilon(*.0))]
    Epsilon(f64),
    /// A parameter is missing, or parameters contradict each other.
    #[error("{0}")]
    MissingParameter(&'static str),
    /// A method would give less than was asked for.
    #[error(
        "the heuristic would exceed the requested epsilon of {} of {attributes} attributes: {}. Use `method optimal`, \
         which meets every attribute epsilon at the least record epsilon, another `order`, or `allow_larger_epsilon`",
        raised.len(),
        raised.join(", ")
    )]
    Weaker {
        /// How many attributes are randomized.
        attributes: usize,
        /// Those with a larger epsilon than asked for, with both.
        raised: Vec<String>,
    },
    /// A method made a plan that guarantees less than was asked for: a mistake of the method, which is caught here.
    #[error(
        "the plan would guarantee less than requested: epsilon {certified} for {what} instead of {asked}. Please \
         report this; a slightly smaller epsilon may work"
    )]
    GuaranteesLess {
        /// The record, or an attribute.
        what: String,
        /// What was asked for.
        asked: f64,
        /// What would be certified.
        certified: f64,
    },
    /// What is no list experiment.
    #[error("{0}")]
    ListExperiment(String),
    /// TableList that cannot be designed for.
    #[error("`tables`: {0}")]
    Tables(#[from] TableListError),
    /// A public attribute where a randomized one is needed.
    #[error("\"{0}\" is public, so it is not randomized")]
    Public(String),
    /// A ratio that shares nothing out.
    #[error("the ratio must consist of numbers that are 0 or more, at least one of them positive")]
    Ratio,
    /// A parameter out of its range.
    #[error("`{name}` is {value}; {range}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What it may be, and why.
        range: String,
    },
    /// A method for two attributes was given another number.
    #[error("this closed form requires two attributes, but there are {0}; use optimal")]
    TwoAttributes(usize),
    /// An order that leaves attributes out or repeats them.
    #[error("the order must name each of the {0} attributes once")]
    Order(usize),
    /// The reduced program has no solution.
    #[error(
        "the reduced program has no solution here: telling single misses apart is not enough for these epsilons. Use \
         `method optimal`"
    )]
    Infeasible,
    /// The heuristic alters what is asked for so much that it cannot keep within a total.
    #[error("the heuristic finds no attribute epsilons with a record-level epsilon of {0}; use optimal")]
    NoHeuristic(f64),
    /// More attributes than a method lists all patterns of.
    #[error(
        "`{method}` supports at most 20 attributes, but there are {attributes}; without it, channels are assigned at \
         random"
    )]
    TooMany {
        /// The method or flag.
        method: &'static str,
        /// How many attributes are to be randomized.
        attributes: usize,
    },
    /// Too few respondents for so many tables.
    #[error(
        "{respondents} respondents are too few for {tables} {}: some would be answered by fewer than 30. Use about \
         {needed} respondents, or fewer tables", if *tables == 1 { "table" } else { "tables" }
    )]
    Respondents {
        /// How many there are.
        respondents: f64,
        /// How many tables are asked for.
        tables: usize,
        /// About how many would do.
        needed: f64,
    },
    /// A method that needs three categories was given an attribute of two.
    #[error(
        "{method} needs three categories or more, but \"{attribute}\" has two: an answer would be the truth, or tell \
         nothing"
    )]
    TwoCategories {
        /// The method.
        method: &'static str,
        /// The attribute.
        attribute: String,
    },
    /// Plans, or attributes, that make no plan together.
    #[error("{0}")]
    Combine(String),
    /// Attributes that cannot be taken together.
    #[error("`cross`: {0}")]
    Cross(String),
    /// Clusters that are none.
    #[error("clusters: {0}")]
    Cluster(String),
    /// A device that does not fit its question.
    #[error("`device`: {0}")]
    Device(String),
    /// The matrix cannot be read.
    #[error("the matrix: {0}")]
    Matrix(String),
    /// Whoever waited for it ended the work.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// There is no such channel on the front.
    #[error(transparent)]
    Front(#[from] pareto::FrontError),
    /// What was asked for is no channel.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// What was asked for is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// What was asked for is no schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// The attributes to be randomized: their positions and sizes.
fn randomized_attributes(schema: &Schema) -> Result<Vec<(usize, usize)>, DesignError> {
    let size = |attribute: usize| (attribute, schema.size(attribute));
    let private: Vec<(usize, usize)> = schema.randomized().into_iter().map(size).collect();
    if private.is_empty() { Err(DesignError::NothingPrivate) } else { Ok(private) }
}

/// The one attribute to be randomized.
fn single_attribute(schema: &Schema, method: &'static str) -> Result<(usize, usize), DesignError> {
    match randomized_attributes(schema)?[..] {
        [one] => Ok(one),
        ref several => Err(DesignError::OneAttribute { method, attributes: several.len() }),
    }
}

/// One value for each attribute, from as many or from one for all.
fn broadcast<T: Copy>(what: &'static str, values: &[T], attributes: usize) -> Result<Vec<T>, DesignError> {
    match *values {
        [one] => Ok(vec![one; attributes]),
        ref each if each.len() == attributes => Ok(each.to_vec()),
        ref each => Err(DesignError::CountMismatch { what, found: each.len(), expected: attributes }),
    }
}
