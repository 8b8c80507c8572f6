//! Which margin of error of a percentage is good and which is rough, for verdicts and plots.

/// A margin of error up to this many points is good enough for most uses.
pub const GOOD: f64 = 5.0;

/// Up to this many points a table can rank categories, but not compare groups; beyond, it is too imprecise.
pub const ROUGH: f64 = 15.0;

/// Up to this many points a margin of error hardly matters.
pub const PRECISE: f64 = 2.0;
