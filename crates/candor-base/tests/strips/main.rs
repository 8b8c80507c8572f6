//! Strip channels: the set, its law by enumeration, what plans with strips guarantee, and how they are written.

#[path = "../strip_definition/mod.rs"]
mod strip_definition;

mod files;
mod law;
mod make;
mod order;

use make::{plan, sides, strip, ticket};
