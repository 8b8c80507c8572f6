#![doc = include_str!("../README.md")]
//!
//! Nothing here knows mathematics: rows become category codes by the schema, codes become answers
//! by the plan, answers become rows. Outputs are written beside their place and moved there when
//! complete, so that a failure leaves nothing half-written.

#![forbid(unsafe_code)]

pub mod visible;
pub mod marks;
mod guard;
mod types;
mod bad_value;
pub mod error;
pub mod limits;
mod cross;
pub mod missing;
pub mod input;
pub mod misfit;
pub mod dither;
pub mod codes;
mod asked;
pub mod check;
mod bins;
mod natural;
pub mod infer;
mod sidecar;
pub mod spreadsheet;
mod unfinished;
mod publish;
pub mod output;
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
pub mod truth;
mod kept;
pub mod randomize;
pub mod enter;

pub use error::TableError;

/// How many records are worked on together; see docs/reference/sampling-algorithm.md.
pub const BATCH: usize = 65_536;
