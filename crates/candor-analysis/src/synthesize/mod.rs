//! Synthetic records: people who do not exist, as many of each kind as the estimates say.
//!
//! Shares become whole numbers by [systematic rounding](systematic_counts), which keeps the total and is never off by a
//! whole record. Where a table for all attributes is too large or too noisy, records are put together from [independent
//! parts](from_tables), one for each block (cluster) of a plan: each part has the right shares, and the parts are
//! paired at random (Domingo-Ferrer and Soria-Comas 2020, RR-Clusters). Or records are drawn from answers with
//! [weights](from_weights) (RR-Adjustment).
//!
//! [Pair tables](PairTables), which most plans tell best, make records of any number of attributes by a
//! [recipe](Recipe): attributes are drawn one after another, each given some that are there already, beginning with the
//! public ones, which stay as they are. [`tree`] keeps the strongest dependences that close no circle, [`entropy`] all
//! of them that fit into tables of [`MAX_CLIQUE_CELLS`].
//!
//! Synthetic records carry the noise of the estimates that they are made from, and they are made from responses alone:
//! nobody loses any further privacy by them.

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
/// The largest number of cells of one table that records are made from.
pub const MAX_CELLS: usize = 10_000_000;

/// The most synthetic records.
pub const MAX_RECORDS: u64 = 100_000_000;
