//! What every floor of candor works with, and none of its mathematics.
//!
//! - [`progress`]: reports of long work, its cancellation, and deadlines of searches;
//! - [`parallel`]: a map over all cores whose result does not depend on their number;
//! - [`names`]: lists of names, with one rule for quotes;
//! - [`escape_control`]: text from files, shown without what moves the cursor or hides what follows.
#![forbid(unsafe_code)]

pub mod progress;

pub mod parallel;

pub mod names;

pub mod escape_control;
