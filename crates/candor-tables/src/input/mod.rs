//! Reading tables: CSV, Parquet and Arrow record batches behind one iterator of batches; one table, or several one after another.

mod location;
mod table;
mod csv;
mod parquet;
mod arrow;
mod open;
mod several;

pub(crate) use csv::DELIMITERS;
pub use csv::cells;
pub use location::Location;
pub use parquet::panic_is_guarded;
pub use several::{Inputs, Table};
pub use table::{Batch, Batches, Input};
