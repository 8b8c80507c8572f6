//! What a method is: parameters that become a plan, and how it is asked for a given epsilon where methods are compared.

use std::time::{Duration, Instant};

use candor_analysis::table_list::TableListError;
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;

use crate::outcome::DesignOutcome;
use crate::{DesignError, budget, randomized_attributes};

/// A method's parameters, and what it makes of them. Every method implements it in its own file.
pub trait Design: Sized {
    /// The plan for a schema, with what is known of it. A search that takes long asks `progress` whether to go on, and
    /// otherwise ends with what it has.
    ///
    /// # Errors
    /// If a parameter is missing or out of range, or the method does not apply to the schema.
    fn design(&self, schema: &Schema, progress: ProgressSink<'_>) -> Result<DesignOutcome, DesignError>;

    /// How the method is asked for a given record epsilon, where methods are compared. None for methods that are not.
    fn at(schema: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        let _ = (schema, goal);
        Vec::new()
    }
}

/// Parameters that can be left out, as methods that put them in: each has the name of the parameter.
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

/// Lists of texts, as they are given.
pub(crate) fn texts(names: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}

/// Requests of one method, each by the name that it is shown under if that is not the method's own; or why it is left
/// out.
pub type Candidates<T> = Vec<(Option<&'static str>, Result<T, NotApplicable>)>;

/// What the methods are compared for.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonTarget<'a> {
    /// The record epsilon, above 0.
    pub epsilon: f64,
    /// The number of respondents.
    pub respondents: f64,
    /// The tables whose error decides, such as `pairs` or `a,b;c`.
    pub tables: &'a str,
    /// Which attributes belong together, by position in the schema, if that is known.
    pub clusters: Option<&'a [Vec<usize>]>,
    /// How long each method may search, and its errors be predicted; as long as it takes if `None`.
    pub time_limit: Option<Duration>,
}

impl ComparisonTarget<'_> {
    /// An equal share of epsilon for each attribute.
    pub(crate) fn shares(&self, schema: &Schema) -> Result<Vec<f64>, NotApplicable> {
        Ok(budget::share(self.epsilon, &vec![1.0; randomized_attributes(schema)?.len()])?)
    }

    /// When something that begins now must end.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.time_limit.and_then(|limit| Instant::now().checked_add(limit))
    }
}

/// Why a method is left out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotApplicable {
    /// It does not apply.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// It needs tables that there are not.
    #[error(transparent)]
    Tables(#[from] TableListError),
    /// Nobody said which attributes belong together.
    #[error("attribute clusters are not given, and there are no records to find them in")]
    NoClusters,
    /// No attributes belong together.
    #[error("no clusters of two or more attributes, so it is the same as independent")]
    NothingTogether,
    /// Its rarest answer is too rare for 64 bits.
    #[error("with weights of 64 bits only epsilon {0:.4} can be reached, because its rarest answer is too rare")]
    Short(f64),
    /// Its errors would take too long to predict.
    #[error("predicting its errors takes too long: {tables} tables with {cells} cells, {channels} channels")]
    TooLarge {
        /// How many tables there are.
        tables: usize,
        /// The cells of all tables.
        cells: usize,
        /// The channels of the lottery.
        channels: usize,
    },
}
