//! Design methods: parameters that yield a plan, and requests for comparisons at a given epsilon.

use std::time::{Duration, Instant};

use candor_analysis::table_list::TableListError;
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;

use crate::outcome::DesignOutcome;
use crate::{DesignError, budget, randomized_attributes};

/// The parameters of a method, from which it designs a plan. Each method implements it in its own file.
pub trait Design: Sized {
    /// Designs a plan for a schema.
    ///
    /// A long search reports to `progress`. If it is stopped early, it returns the best plan found so far.
    ///
    /// # Errors
    /// Returns a [`DesignError`] if a parameter is missing or out of range, or if the method does not apply to the
    /// schema.
    fn design(&self, schema: &Schema, progress: ProgressSink<'_>) -> Result<DesignOutcome, DesignError>;

    /// Returns the requests with which the method enters a comparison; empty for methods that are not compared.
    fn at(schema: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        let _ = (schema, goal);
        Vec::new()
    }
}

/// Defines builder methods for optional parameters, which have the names of the parameters.
macro_rules! parameters {
    ($($(#[doc = $about:literal])+ $name:ident($value:ident: $type:ty): $field:ident = $put:expr;)+) => {
        $(
            $(#[doc = $about])+
            #[must_use]
            pub fn $name(mut self, $value: $type) -> Self {
                self.$field = $put;
                self
            }
        )+
    };
    ($($(#[doc = $about:literal])+ $name:ident: $field:ident;)+) => {
        $(
            $(#[doc = $about])+
            #[must_use]
            pub fn $name(mut self) -> Self {
                self.$field = true;
                self
            }
        )+
    };
}
pub(crate) use parameters;

/// Converts a list of texts to strings.
pub(crate) fn texts(names: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}

/// Requests of one method in a comparison, or the reasons why it is left out.
///
/// Each has the name to display, if that is not the method's own.
pub type Candidates<T> = Vec<(Option<&'static str>, Result<T, NotApplicable>)>;

/// The target at which methods are compared.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonTarget<'a> {
    /// Record-level epsilon, above 0.
    pub epsilon: f64,
    /// Number of respondents.
    pub respondents: f64,
    /// The tables whose error decides, such as `pairs` or `a,b;c`.
    pub tables: &'a str,
    /// The attribute clusters, by position in the schema, if known.
    pub clusters: Option<&'a [Vec<usize>]>,
    /// Time limit of each method's search and of predicting its errors; `None` for no limit.
    pub time_limit: Option<Duration>,
}

impl ComparisonTarget<'_> {
    /// Allocates epsilon equally to the attributes.
    pub(crate) fn shares(&self, schema: &Schema) -> Result<Vec<f64>, NotApplicable> {
        Ok(budget::share(self.epsilon, &vec![1.0; randomized_attributes(schema)?.len()])?)
    }

    /// Returns the deadline of work that begins now.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.time_limit.and_then(|limit| Instant::now().checked_add(limit))
    }
}

/// The reason why a method is left out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotApplicable {
    /// The method does not apply.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The method needs tables that do not exist.
    #[error(transparent)]
    Tables(#[from] TableListError),
    /// No attribute clusters are known.
    #[error("attribute clusters are not given, and there are no records to find them in")]
    NoClusters,
    /// All clusters have one attribute.
    #[error("no clusters of two or more attributes, so it is the same as independent")]
    NothingTogether,
    /// Its rarest answer is too rare for 64 bits.
    #[error("with weights of 64 bits only epsilon {0:.4} can be reached, because its rarest answer is too rare")]
    Short(f64),
    /// Predicting its errors would take too long.
    #[error("predicting its errors takes too long: {tables} tables with {cells} cells, {channels} channels")]
    TooLarge {
        /// Number of tables.
        tables: usize,
        /// Number of cells in all tables.
        cells: usize,
        /// Number of channels of the lottery.
        channels: usize,
    },
}
