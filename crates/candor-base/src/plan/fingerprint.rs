//! Fingerprints, which identify plans.

use std::fmt;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// SHA-256 of the canonical form (RFC 8785) of a plan's schema, blocks and, from version 2 on, prior.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Computes the fingerprint of the parts of a plan that it covers.
    pub(super) fn new(contract: &Value) -> Fingerprint {
        let digest = Sha256::digest(canonical(contract).as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Fingerprint(format!("sha256:{hex}"))
    }

    /// Returns the text form: `sha256:` and 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the canonical form of RFC 8785 for the JSON of plans.
///
/// That JSON has no floats, integers up to 2^53, and ASCII keys, so the order of bytes is the order of UTF-16 units.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut fields: Vec<(&String, &Value)> = map.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            let field = |(key, value): &(&String, &Value)| format!("{}:{}", string(key), canonical(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::String(text) => string(text),
        other => other.to_string(),
    }
}

fn string(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_form_sorts_and_escapes_as_rfc_8785() {
        let value: Value = serde_json::from_str(r#"{"b": [1, "\u001f\n\"é\/"], "a": {"z": null, "y": true}}"#).unwrap();
        assert_eq!(canonical(&value), "{\"a\":{\"y\":true,\"z\":null},\"b\":[1,\"\\u001f\\n\\\"é/\"]}");
    }
}
