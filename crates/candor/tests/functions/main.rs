//! Tests of the crate's functions, in one program, because linking takes longer than running.

#[path = "../survey/mod.rs"]
mod survey;

#[path = "../sent/mod.rs"]
mod sent;

mod rake;
mod associations;
mod columns;
mod cancellation;
mod estimate;
mod formats;
mod guess_accuracy;
mod tied_attributes;
mod examples;
mod protection;
mod query;
mod reliability;
mod signature;
mod sample_size;
mod sql;
mod synthesize;
mod test;
