//! Tests of the crate's functions, in one program, because linking takes longer than running.

#[path = "../survey/mod.rs"]
mod survey;

#[path = "../sent/mod.rs"]
mod sent;

mod adjust;
mod cluster;
mod columns;
mod ended;
mod estimate;
mod formats;
mod guess;
mod possible;
mod programs;
mod protection;
mod query;
mod reliability;
mod signature;
mod size;
mod sql;
mod synthesize;
mod test;
