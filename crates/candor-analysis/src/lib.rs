#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod fit;

pub mod repeats;

pub mod structural_zeros;

pub mod condition;

pub mod table_list;

pub mod tally;

pub mod estimate;
pub mod selection;
pub mod reliability;

pub mod compliance;

pub mod power;

mod ratio;

pub mod conditional_shares;

pub mod difference;

pub mod significance;

pub mod moments;

pub mod adjust;

pub mod calibrate;

pub mod regress;

pub mod query;

pub mod conditional;

pub mod association;

pub mod synthesize;

pub mod mechanism;
