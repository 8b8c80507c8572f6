//! Days in UTC; nothing finer is ever recorded about a response.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns today's date, such as `2026-12-31`.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    day(seconds / 86_400)
}

/// Returns the time this many seconds after 1970-01-01, such as `2026-12-31T23:59:59Z`.
pub(crate) fn moment(seconds: u64) -> String {
    let of_day = seconds % 86_400;
    format!("{}T{:02}:{:02}:{:02}Z", day(seconds / 86_400), of_day / 3_600, of_day / 60 % 60, of_day % 60)
}

/// Returns the date this many days after 1970-01-01. Years begin in March here, so that a leap day is the last day of a
/// year.
fn day(days: u64) -> String {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(
            [0, 58, 59, 365, 11_016, 20_773].map(day),
            ["1970-01-01", "1970-02-28", "1970-03-01", "1971-01-01", "2000-02-29", "2026-11-16"]
        );
    }
}
