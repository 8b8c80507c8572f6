#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod nearest;

pub mod schema;

pub mod condition;

pub mod channel;

pub mod plan;

pub mod privacy;

pub mod randomness;

pub mod secure_sum;

pub mod randomize;

pub mod tables;

pub mod tally;

pub mod estimate;

pub mod adjust;

pub mod synthesize;

pub mod query;

pub mod dependence;
