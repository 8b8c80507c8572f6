#![doc = include_str!("../README.md")]
//!
//! This crate contains no mathematics. The schema maps rows to codes, the plan maps codes to answers, and answers
//! become rows. Outputs are written to a temporary file and moved to their place when complete, so that a failure
//! leaves nothing incomplete.

#![forbid(unsafe_code)]

pub mod metadata_keys;
mod guard;
mod types;
pub mod invalid_value;
pub mod error;
pub mod limits;
mod cross;
pub mod missing;
pub mod input;
pub mod stochastic_rounding;
pub mod codes;
mod skip_logic;
pub mod check;
mod bins;
mod natural;
pub mod columns;
pub mod infer;
mod sidecar;
pub mod spreadsheet;
mod temporary_file;
mod publish;
pub mod output;
mod parquet_output;
pub mod estimates;
mod parallel;
pub mod responses;
pub mod existing;
pub mod counts;
pub mod distinct;
pub mod model;
pub mod margins;
pub mod records;
pub mod tally;
pub mod true_records;
mod passthrough;
pub mod randomize;
pub mod import;

pub use error::TableError;

/// Number of records that are processed together; see docs/reference/sampling-algorithm.md.
pub const BATCH_ROWS: usize = 65_536;
