//! Designs that randomize all attributes of a record together.

pub mod optimal;
pub mod rr_joint;
