//! What every floor of candor works with, and none of its mathematics.
//!
//! - [`progress`]: reports of long work, its cancellation, and deadlines of searches;
//! - [`parallel`]: a map over all cores whose result does not depend on their number;
//! - [`names`]: lists of names, with one rule for quotes.
#![forbid(unsafe_code)]

pub mod progress;

pub mod parallel;

pub mod names;
