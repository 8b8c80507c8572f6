//! Combines plans over disjoint attributes, for example of single-attribute methods, into one plan.

use std::collections::HashSet;

use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::{Attribute, Schema};
use serde_json::{Value, json};

use crate::DesignError;

/// Returns the schema with only the named randomized attributes, in the order of the schema, and all public ones.
///
/// # Errors
/// Returns an error if a name is unknown ([`DesignError::Schema`]), public ([`DesignError::Public`]) or repeated
/// ([`DesignError::Combine`]), or if an attribute depends on one that is left out ([`DesignError::Schema`]).
pub fn part(schema: &Schema, names: &[String]) -> Result<Schema, DesignError> {
    let mut wanted = HashSet::new();
    for name in names {
        let place = schema.position(name)?;
        if schema.attributes()[place].is_public() {
            return Err(DesignError::Public(name.clone()));
        }
        if !wanted.insert(place) {
            return Err(DesignError::Combine(format!("\"{name}\" is named twice")));
        }
    }
    let kept = |(place, attribute): &(usize, &Attribute)| attribute.is_public() || wanted.contains(place);
    let attributes = schema.attributes().iter().enumerate().filter(kept).map(|(_, attribute)| attribute.clone());
    Ok(Schema::new(attributes.collect())?)
}

/// A combined plan.
#[derive(Clone, Debug)]
pub struct Combined {
    /// The plan, with the blocks of all parts.
    pub plan: Plan,
    /// Attributes whose priors the combined plan lacks: their plans were certified for them, but a plan can contain
    /// only one.
    pub unstated: Vec<String>,
}

/// Combines plans, so that every attribute is answered as in its own plan, independently of the others.
///
/// Attributes are in the order of the plans; public ones may be in several. The guarantee is computed anew from all
/// blocks; epsilons add up. The prior of a part is kept if it is the only one.
///
/// # Errors
/// Returns [`DesignError::Combine`] for fewer than two plans, or if two plans randomize the same attribute.
pub fn combine(plans: &[Plan]) -> Result<Combined, DesignError> {
    if plans.len() < 2 {
        return Err(DesignError::Combine("it takes two plans or more".to_owned()));
    }
    let mut attributes: Vec<Attribute> = Vec::new();
    for attribute in plans.iter().flat_map(|plan| plan.schema().attributes()) {
        match attributes.iter().find(|other| other.name() == attribute.name()) {
            None => attributes.push(attribute.clone()),
            Some(other) if other == attribute && other.is_public() => {}
            Some(other) => {
                let problem = match other.is_public() && attribute.is_public() {
                    true => "is public in two plans, but not with the same categories",
                    false => "is in two plans; each attribute can be randomized by one only",
                };
                return Err(DesignError::Combine(format!("\"{}\" {problem}", attribute.name())));
            }
        }
    }
    let schema = Schema::new(attributes)?;
    let blocks = plans.iter().map(|plan| moved(plan, &schema)).collect::<Result<Vec<_>, _>>()?;
    let combined = Plan::new(schema, blocks.concat())?.with_origin(origin(plans));
    let combined = combined.with_request(Some(request(plans)));
    let named = |plan: &Plan| {
        plan.for_prior().map(|known| (plan.schema().name(known.attribute).to_owned(), known.prior.clone()))
    };
    let mut priors: Vec<(String, Vec<f64>)> = plans.iter().filter_map(named).collect();
    match priors.len() {
        1 => {
            let (name, prior) = priors.remove(0);
            let place = combined.schema().position(&name)?;
            Ok(Combined { plan: combined.with_prior(place, prior)?, unstated: Vec::new() })
        }
        _ => Ok(Combined { plan: combined, unstated: priors.into_iter().map(|(name, _)| name).collect() }),
    }
}

/// Returns the blocks of a plan with their attributes at the positions of another schema.
fn moved(plan: &Plan, schema: &Schema) -> Result<Vec<Block>, DesignError> {
    let block = |block: &Block| {
        let place = |&attribute: &usize| schema.position(plan.schema().name(attribute));
        let places = block.attributes().iter().map(place).collect::<Result<Vec<usize>, _>>()?;
        Ok(Block::lottery(places, block.channels().to_vec()))
    };
    plan.blocks().iter().map(block).collect()
}

/// Returns the requested epsilon of each attribute.
fn origin(plans: &[Plan]) -> Origin {
    let requested = |plan: &Plan| {
        let asked = &plan.origin().requested;
        (0..plan.schema().randomized().len()).map(|place| asked.get(place).copied().flatten()).collect::<Vec<_>>()
    };
    Origin { method: "combine".to_owned(), requested: plans.iter().flat_map(requested).collect() }
}

/// Returns the requests of the parts as JSON, with null for those that are not recorded.
fn request(plans: &[Plan]) -> String {
    let told: Vec<Value> = plans
        .iter()
        .map(|plan| plan.request().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null))
        .collect();
    let part = |(plan, told): (&Plan, &Value)| {
        let names: Vec<&str> = plan.schema().randomized().iter().map(|&place| plan.schema().name(place)).collect();
        json!({"attributes": names, "request": told["request"], "fingerprint": plan.fingerprint().as_str()})
    };
    let parts: Vec<Value> = plans.iter().zip(&told).map(part).collect();
    let stopped = told.iter().map(|told| &told["stopped"]).find(|stopped| !stopped.is_null());
    json!({
        "candor": env!("CARGO_PKG_VERSION"),
        "request": {"method": "combine", "plans": parts},
        "stopped": stopped,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Request, design};

    fn planned(schema: &Schema, names: &[&str], request: &str) -> Plan {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        design(&part(schema, &names).unwrap(), &request.parse::<Request>().unwrap()).unwrap().plan
    }

    /// The combined plan equals the plan of one method for all parts, if there is one. Otherwise, epsilons add up.
    #[test]
    fn blocks_are_those_of_the_parts() {
        let schema = Schema::with_sizes(&[3, 4, 2, 5]).unwrap();
        let parts = [
            planned(&schema, &["a1"], r#"{"method": "independent", "epsilon": 1}"#),
            planned(&schema, &["a2", "a3", "a4"], r#"{"method": "independent", "attribute_epsilon": [2, 0.5, 1.5]}"#),
        ];
        let whole =
            design(&schema, &r#"{"method": "independent", "attribute_epsilon": [1, 2, 0.5, 1.5]}"#.parse().unwrap());
        let combined = combine(&parts).unwrap().plan;
        assert_eq!(combined.blocks(), whole.unwrap().plan.blocks());
        assert_eq!(combined.origin().requested, [Some(1.0), Some(2.0), Some(0.5), Some(1.5)]);
        assert_eq!(Plan::from_json(&combined.to_json()).unwrap(), combined);
        let mixed = combine(&[
            planned(&schema, &["a4"], r#"{"method": "minimax", "parity": [3]}"#),
            planned(&schema, &["a1", "a3"], r#"{"method": "workload", "epsilon": 2, "tables": "pairs"}"#),
            planned(&schema, &["a2"], r#"{"method": "warner", "p": 0.7}"#),
        ]);
        let epsilon = mixed.unwrap().plan.guarantee().epsilon().as_f64();
        let sum = 3f64.ln() + 2.0 + 7f64.ln();
        assert!(epsilon <= sum + 1e-9 && epsilon > sum - 1e-6, "{epsilon} for {sum}");
    }

    /// A single prior is kept. With two, the combined plan states neither, and lists their attributes.
    #[test]
    fn priors() {
        let schema = Schema::with_sizes(&[3, 3, 2]).unwrap();
        let front = r#"{"method": "front", "prior": [0.5, 0.3, 0.2], "privacy": 0.3}"#;
        let other = planned(&schema, &["a3"], r#"{"method": "warner", "p": 0.7}"#);
        let (first, second) = (planned(&schema, &["a1"], front), planned(&schema, &["a2"], front));
        let one = combine(&[other.clone(), second.clone()]).unwrap();
        let (kept, was) = (one.plan.for_prior().unwrap(), second.for_prior().unwrap());
        assert_eq!((kept.attribute, kept.map_privacy, kept.worst_posterior), (1, was.map_privacy, was.worst_posterior));
        let two = combine(&[first, second, other]).unwrap();
        assert!(two.plan.for_prior().is_none());
        assert_eq!(two.unstated, ["a1", "a2"]);
    }

    #[test]
    fn what_cannot_be_combined() {
        let schema = Schema::with_sizes(&[3, 4]).unwrap();
        let one = planned(&schema, &["a1"], r#"{"method": "warner", "p": 0.7}"#);
        let message = |plans: &[Plan]| combine(plans).unwrap_err().to_string();
        assert!(message(std::slice::from_ref(&one)).contains("two plans or more"));
        assert!(message(&[one.clone(), one]).contains("\"a1\" is in two plans"));
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
        assert!(part(&schema, &names(&["a9"])).is_err() && part(&schema, &names(&["a1", "a1"])).is_err());
    }
}
