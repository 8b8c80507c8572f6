#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod words;

pub mod plot;

pub mod page;

mod error;

pub mod counts;

pub mod guarantee;

pub mod schema;

pub mod prior;

pub mod design;

pub mod compare;

pub mod audit;

pub mod explain;

pub mod randomize;

pub mod estimate;

pub mod test;

pub mod adjust;

pub mod query;

pub mod learn;

pub mod cluster;

pub mod synthesize;

pub mod size;

pub mod sql;

pub mod front;

pub mod refine;

pub mod report;

pub use error::StudyError;

/// What a study begins with: schemas, plans, randomizing, counting, estimating.
pub mod prelude {
    pub use candor::plan::Plan;
    pub use candor::randomize::Randomizer;
    pub use candor::randomness::Source;
    pub use candor::schema::{Attribute, Schema};
    pub use candor_analysis::table_list::TableList;
    pub use candor_analysis::tally::answer_codes;
    pub use candor_design::{Request, design};

    pub use crate::StudyError;
    pub use crate::adjust::{Adjustment, adjust};
    pub use crate::cluster::{Clusters, cluster};
    pub use crate::counts::Counts;
    pub use crate::estimate::{EstimateOptions, Estimates, estimate};
    pub use crate::query::{Answers, QueryOptions, Question, query};
    pub use crate::size::{Sizes, size};
    pub use crate::sql::{Dialect, sql};
    pub use crate::synthesize::{Synthesis, synthesize};
    pub use crate::test::{Independence, test};
}
