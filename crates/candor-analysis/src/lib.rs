#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod watch;

pub mod crew;

pub mod exclusion;

pub mod fit;

pub mod repeats;

pub mod names;

pub mod structure;

pub mod condition;

pub mod table_list;

pub mod tally;

pub mod estimate;
pub mod selection;
/// Which shares are precise enough to publish.
pub mod reliability;

pub mod comply;

pub mod power;

mod ratio;

pub mod among;

pub mod difference;

pub mod significance;

pub mod numbers;

pub mod adjust;

pub mod calibrate;

pub mod regress;

pub mod query;

pub mod conditional;

pub mod secure_sum;

pub mod dependence;

pub mod synthesize;

pub mod shuffled;

pub mod mechanism;
