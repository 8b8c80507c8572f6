//! The steps of a study.

pub mod data;
pub mod promise;
pub mod collect;
pub mod results;
pub mod publish;
