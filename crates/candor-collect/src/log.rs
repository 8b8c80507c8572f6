//! Log lines on standard error: time, level and text. No line contains an answer or an address.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::date::moment;

/// Severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// An expected event.
    Info,
    /// A failure that will be retried.
    Warn,
    /// An action that failed.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Info => "INFO",
            Level::Warn => "WARN",
            Level::Error => "ERROR",
        })
    }
}

/// Writes a line.
pub fn log(level: Level, text: &str) {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    eprintln!("{}", line(seconds, level, text));
}

/// Formats a line; line breaks in the text are escaped.
fn line(seconds: u64, level: Level, text: &str) -> String {
    let text: String = text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    format!("{} {level} {text}", moment(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_time_and_level() {
        assert_eq!(line(0, Level::Info, "a\nb"), "1970-01-01T00:00:00Z INFO a b");
        assert_eq!(line(1_794_823_445, Level::Error, "x"), "2026-11-16T10:04:05Z ERROR x");
    }
}
