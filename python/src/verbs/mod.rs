//! One function per verb: from what Python gives to a result as JSON, and what else there is.

pub mod analyse;
pub mod audit;
pub mod choose;
pub mod compare;
pub mod estimate;
pub mod differences;
pub mod prior;
pub mod design;
pub mod experiment;
pub mod field;
pub mod front;
pub mod matrix;
pub mod mechanism;
pub mod randomize;
pub mod records;
pub mod regress;
pub mod schema;
pub mod sql;
pub mod party;

use serde::Serialize;

/// A result as JSON.
pub(crate) fn json(result: &impl Serialize) -> String {
    serde_json::to_string(result).unwrap_or_default()
}
