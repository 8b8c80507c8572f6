//! Synthetic records: fictitious people, with the estimated shares.
//!
//! Shares become integer counts by [systematic rounding](systematic_counts), which keeps the total and is off by
//! less than one record. If a table of all attributes is too large or too noisy, records are combined from
//! [independent parts](from_tables), one for each block (cluster) of a plan. Each part has the right shares, and the
//! parts are paired at random (Domingo-Ferrer and Soria-Comas 2020, RR-Clusters). Records can also be drawn from
//! answers with [weights](from_weights) (RR-Adjustment).
//!
//! [Two-way tables](PairTables), which most plans estimate best, give records of any number of attributes by a
//! [recipe](Recipe). Attributes are drawn one after another, each given some that are already drawn, starting
//! with the public ones, which are kept. [`tree`] preserves the strongest associations that form no cycle.
//! [`entropy`] preserves all that fit into tables of [`MAX_CLIQUE_CELLS`].
//!
//! Synthetic records have the noise of the estimates behind them. They are made from responses only, so they reveal
//! nothing more.

mod rounding;
mod tables;
mod links;
mod graph;
mod recipe;
mod tree;
mod entropy;

pub use entropy::{MAX_CLIQUE_CELLS, entropy};
pub use links::{Link, PairTables, pair_tables};
pub use recipe::{Fit, Recipe, Step};
pub use rounding::systematic_counts;
pub use tables::{Part, estimated_tables, from_tables, from_weights};
pub use tree::tree;
/// Maximum number of cells of one table from which records are made.
pub const MAX_CELLS: usize = 10_000_000;

/// Maximum number of synthetic records.
pub const MAX_RECORDS: u64 = 100_000_000;
