//! The request that made a plan, so that the plan can be made again.

use candor_base::plan::Plan;
use serde_json::Value;

/// Returns the request that made a plan; `None` for plans of earlier versions.
///
/// The fields are `request` (method and parameters), `stopped` (why the search ended early, or null) and `candor`
/// (the version). They are for information only: neither part of the fingerprint nor checked.
pub fn made_by(plan: &Plan) -> Option<Value> {
    serde_json::from_str::<Value>(plan.request()?).ok().filter(|told| told["request"].is_object())
}

/// Maximum length of lists in sentences.
const MAX_SHOWN: usize = 60;

/// Describes the request in sentences.
pub fn made_by_sentence(plan: &Plan) -> Option<String> {
    let told = made_by(plan)?;
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or(String::new(), |number| number.to_string()),
        other => Some(other.to_string()).filter(|text| text.len() <= MAX_SHOWN).unwrap_or_else(|| "..".to_owned()),
    };
    let parameters = told["request"].as_object()?.iter().filter(|(name, _)| *name != "method");
    let parameters: String = parameters.map(|(name, value)| format!(", {name} {}", shown(value))).collect();
    let again = match told["stopped"].as_str() {
        None => String::new(),
        Some(_) => {
            " The search was cut short, so that the same request may make another plan: keep this file.".to_owned()
        }
    };
    Some(format!("Requested: method {}{parameters}.{again}", shown(&told["request"]["method"])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{DesignOptions, design};
    use candor_base::schema::Schema;

    #[test]
    fn plans_read_from_a_file_tell_their_request() {
        let schema = Schema::with_sizes(&[3, 4]).unwrap();
        let request = "{\"method\": \"optimal\", \"epsilon\": 2, \"time_limit\": 5}".parse().unwrap();
        let plan = design(&schema, &request, &DesignOptions::default()).unwrap().plan;
        let read = Plan::from_json(&plan.to_json()).unwrap();
        assert_eq!(made_by(&read), made_by(&plan));
        assert_eq!(read.origin(), plan.origin());
        assert_eq!(made_by_sentence(&read).unwrap(), "Requested: method optimal, epsilon 2, time_limit 5.");
        let cut = read
            .with_request("{\"request\": {\"method\": \"optimal\"}, \"stopped\": \"time limit\"}".to_owned().into());
        assert!(made_by_sentence(&cut).unwrap().contains("may make another plan"));
        // No content of this field is an error.
        for odd in ["{", "{}", "{\"request\": 3}"] {
            assert_eq!(made_by_sentence(&cut.clone().with_request(Some(odd.to_owned()))), None);
        }
    }
}
