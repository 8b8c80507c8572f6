//! Reads one or several files: CSV, Parquet, JSON Lines and Arrow record batches, as one iterator of batches.

mod location;
mod table;
mod delimiter;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "parquet")]
mod parquet;
mod arrow;
mod json_lines;
mod open;
mod several;

pub use crate::guard::panic_is_guarded;
#[cfg(feature = "csv")]
pub use csv::cells;
pub(crate) use delimiter::DELIMITERS;
pub(crate) use json_lines::batch_of;
pub use location::Location;

pub use several::{Inputs, Table};
pub use table::{Batch, Batches, Input};
