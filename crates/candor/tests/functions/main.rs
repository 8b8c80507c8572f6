//! The functions of the crate, one by one. One program, because each takes longer to link than to run.

#[path = "../survey/mod.rs"]
mod survey;

#[path = "../sent/mod.rs"]
mod sent;

mod adjust;
mod cluster;
mod ended;
mod estimate;
mod formats;
mod guess;
mod possible;
mod programs;
mod protection;
mod query;
mod signature;
mod size;
mod sql;
mod synthesize;
mod test;
