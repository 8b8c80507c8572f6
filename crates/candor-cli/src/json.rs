//! Results as JSON, and whether JSON output was requested.

use std::sync::atomic::{AtomicBool, Ordering};

use candor_runtime::escape_control::is_hidden;
use serde::Serialize;

/// Whether JSON output was requested.
static JSON: AtomicBool = AtomicBool::new(false);

/// Makes rejections appear as JSON, too, from now on.
pub fn expect_json() {
    JSON.store(true, Ordering::Relaxed);
}

/// Returns whether JSON output was requested.
pub fn expects_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Formats JSON on one line, with fields in the order of the result. NaN and infinity become null; invisible characters
/// are escaped.
pub fn json_text(json: &impl Serialize) -> String {
    let json = serde_json::to_string(json).expect("results have text for keys");
    let escape = |c: char| if is_hidden(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.chars().map(escape).chain(["\n".to_owned()]).collect()
}
