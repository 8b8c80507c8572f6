//! What the steps of a study do.

pub mod data;
pub mod promise;
pub mod collect;
pub mod results;
pub mod publish;
