//! Results as JSON, and whether somebody expects it.

use std::sync::atomic::{AtomicBool, Ordering};

use candor_runtime::escape_control::is_hidden;
use serde::Serialize;

/// Whether the output is read by a program.
static JSON: AtomicBool = AtomicBool::new(false);

/// From now on, rejections are written as JSON, too.
pub fn expect_json() {
    JSON.store(true, Ordering::Relaxed);
}

/// Whether the output is read by a program.
pub fn expects_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Returns JSON on one line, fields in the order of the result; NaN and infinity are null. Invisible characters are
/// escaped.
pub fn json_text(json: &impl Serialize) -> String {
    let json = serde_json::to_string(json).expect("results have text for keys");
    let escape = |c: char| if is_hidden(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.chars().map(escape).chain(["\n".to_owned()]).collect()
}
