//! Thresholds of margins of error, for verdicts and plots.

/// Largest margin of error, in percentage points, that is good enough for most uses.
pub const GOOD: f64 = 5.0;

/// Largest margin of error with which a table can rank categories, but not compare groups; larger ones are too
/// imprecise.
pub const ROUGH: f64 = 15.0;

/// Margin of error that hardly matters.
pub const PRECISE: f64 = 2.0;
