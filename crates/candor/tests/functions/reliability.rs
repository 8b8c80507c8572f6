//! docs/reference/reliability.md states the rules for publication as they are.

use candor::verdict::{GOOD, LARGE_ERROR, NEAR_OPTIMAL, ROUGH, WEAK};
use candor_analysis::reliability::{Precision, Standard, published};

const PAGE: &str = include_str!("../../../../docs/reference/reliability.md");

/// Returns the cells of the table with this header.
fn rows(header: &str) -> Vec<Vec<&str>> {
    let table = PAGE.split_once(header).expect("the table").1.trim_start().lines().skip(1);
    let row = |line: &'static str| line.trim_matches('|').split('|').map(str::trim).collect();
    table.take_while(|line| line.starts_with('|')).map(row).collect()
}

#[test]
fn examples_have_the_grades_that_the_page_states() {
    let share = |text: &str| text.trim_end_matches('%').parse::<f64>().unwrap() / 100.0;
    let examples = rows("| share | interval | grade |");
    assert_eq!(examples.len(), 7);
    for row in examples {
        let (low, high) = row[1].split_once(" to ").unwrap();
        let found = published(&Precision::of_interval(share(row[0]), share(low), share(high)), Standard::Candor);
        assert_eq!(format!("`{}`", found.reliability.name()), row[2], "{row:?}");
    }
}

#[test]
fn thresholds_are_those_of_the_code() {
    for text in [
        format!("at most {GOOD} points; or more than half"),
        format!("none more than {ROUGH} points"),
        format!("at most {}% above the lower bound", 100.0 * NEAR_OPTIMAL),
        format!("an epsilon above {WEAK}"),
        format!("standard error of a share above {LARGE_ERROR}"),
    ] {
        assert!(PAGE.contains(&text), "{text}");
    }
}
