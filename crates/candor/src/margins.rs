//! Thresholds of margins of error in percentage points, for verdicts and plots.

/// Largest margin of error that is precise enough for most uses.
pub const GOOD: f64 = 5.0;

/// Largest margin of error with which a table can rank categories, though not compare groups.
///
/// Larger margins are too imprecise.
pub const ROUGH: f64 = 15.0;

/// Largest margin of error that can be neglected.
pub const PRECISE: f64 = 2.0;
