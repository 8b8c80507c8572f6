//! Tables in and out: CSV (any delimiter, quoted, gzip) and Parquet, streamed in batches on all
//! cores, with memory that does not grow with the file.
//!
//! Nothing here knows mathematics: rows become category codes by the schema, codes become answers
//! by the plan, answers become rows. Outputs are written beside their place and moved there when
//! complete, so that a failure leaves nothing half-written.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod marks;
mod types;
pub mod error;
pub mod input;
pub mod codes;
pub mod check;
pub mod counts;
pub mod infer;
pub mod output;
pub mod estimates;
mod parallel;
pub mod responses;
pub mod distinct;
pub mod records;
pub mod tally;
pub mod truth;
pub mod randomize;

pub use error::TableError;

/// How many records are worked on together; see docs/sampling.md.
pub const BATCH: usize = 65_536;
