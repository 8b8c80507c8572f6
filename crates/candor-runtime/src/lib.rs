//! Facilities that all crates of candor share, without mathematics.
//!
//! - [`progress`]: progress reports of long work, its cancellation, and time limits of searches;
//! - [`parallel`]: a parallel map whose result does not depend on the number of threads;
//! - [`names`]: lists of names, with one rule for quotation marks;
//! - [`escape_control`]: safe display of text from files.
#![forbid(unsafe_code)]

pub mod progress;

pub mod parallel;

pub mod names;

pub mod escape_control;
