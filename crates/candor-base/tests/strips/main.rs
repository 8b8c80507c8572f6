//! Strip channels: the set, its distribution by enumeration, guarantees of plans with strips, and their files.

#[path = "../strip_definition/mod.rs"]
mod strip_definition;

mod files;
mod law;
mod make;
mod order;

use make::{plan, sides, strip, weighted};
