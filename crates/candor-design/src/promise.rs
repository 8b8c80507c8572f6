//! The postcondition of every design: no plan guarantees less than requested, and every plan contains its request.

use candor_runtime::progress::Stopped;
use serde_json::{Value, json};

use crate::DesignError;
use crate::outcome::DesignOutcome;

/// Checks a plan against its request, given as JSON, and stores the request in the plan.
///
/// The certified record-level epsilon must be at most `epsilon`, and every marginal epsilon at most the requested
/// attribute epsilon, without any tolerance. A larger attribute epsilon is accepted only with `allow_weaker`.
///
/// # Errors
/// Returns [`DesignError::GuaranteesLess`] if the plan guarantees less than requested.
pub(crate) fn kept(request: &Value, designed: DesignOutcome) -> Result<DesignOutcome, DesignError> {
    check(request, &designed)?;
    let plan = designed.plan.with_request(Some(recorded(request, designed.stopped)));
    Ok(DesignOutcome { plan, ..designed })
}

fn check(request: &Value, designed: &DesignOutcome) -> Result<(), DesignError> {
    let plan = &designed.plan;
    let within = |what: &dyn Fn() -> String, asked: f64, certified: f64| match certified <= asked {
        true => Ok(()),
        false => Err(DesignError::GuaranteesLess { what: what(), asked, certified }),
    };
    if let Some(asked) = request["epsilon"].as_f64() {
        within(&|| "the record".to_owned(), asked, plan.guarantee().epsilon().as_f64())?;
    }
    if request["allow_weaker"] == true {
        return Ok(());
    }
    for (place, attribute) in plan.guarantee().attributes().iter().enumerate() {
        let Some(asked) = asked_of(request, place, plan.origin().requested.get(place).copied().flatten()) else {
            continue;
        };
        let name = || format!("\"{}\"", plan.schema().name(attribute.attribute));
        // For an attribute without an answer of its own, the response as a whole counts.
        within(&name, asked, attribute.marginal.unwrap_or(attribute.conditional).as_f64())?;
    }
    Ok(())
}

/// Returns the requested epsilon of one attribute: the given or the recorded one, whichever is smaller.
fn asked_of(request: &Value, place: usize, understood: Option<f64>) -> Option<f64> {
    let given = match request["attribute_epsilon"].as_array().map(Vec::as_slice) {
        Some([one]) => one.as_f64(),
        Some(each) => each.get(place).and_then(Value::as_f64),
        None => None,
    };
    match (given, understood) {
        (Some(given), Some(understood)) => Some(given.min(understood)),
        // Attributes of a cluster may share the sum of their epsilons.
        (Some(_), None) if request["method"] == "clusters" => None,
        (given, understood) => given.or(understood),
    }
}

/// Returns the request as JSON, with the version and the reason of an early stop, which a rerun needs to match.
fn recorded(request: &Value, stopped: Option<Stopped>) -> String {
    let stopped = stopped.map(|why| match why {
        Stopped::OutOfTime => "time limit",
        Stopped::Interrupted => "interrupted",
    });
    json!({"candor": env!("CARGO_PKG_VERSION"), "request": request, "stopped": stopped}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Request, design};
    use candor_base::schema::Schema;

    fn designed(request: &Value) -> DesignOutcome {
        let request: Request = request.to_string().parse().unwrap();
        design(&Schema::with_sizes(&[3, 4]).unwrap(), &request).unwrap()
    }

    /// A plan that guarantees less than requested, by however little, is rejected.
    #[test]
    fn broken_promises_are_errors() {
        let made = designed(&json!({"method": "independent", "attribute_epsilon": [1.0, 0.5]}));
        let certified = made.plan.guarantee().epsilon().as_f64();
        for (asked, holds) in [(certified, true), (certified.next_down(), false), (0.1, false)] {
            let told = kept(&json!({"method": "joint", "epsilon": asked}), made.clone());
            assert_eq!(told.is_ok(), holds, "{asked}");
        }
        let marginal = made.plan.guarantee().attributes()[1].marginal.unwrap().as_f64();
        for method in ["optimal", "clusters"] {
            let less = json!({"method": method, "attribute_epsilon": [1.0, marginal.next_down()]});
            let error = kept(&less, made.clone()).map(|_| ()).unwrap_err();
            assert!(matches!(&error, DesignError::GuaranteesLess { what, .. } if what == "\"a2\""), "{error}");
        }
        let allowed = json!({"method": "heuristic", "attribute_epsilon": [0.1, 0.1], "allow_weaker": true});
        assert!(kept(&allowed, made.clone()).is_ok());
        assert!(kept(&json!({"method": "minimax", "attribute_epsilon": [0.9]}), made).is_err());
    }

    #[test]
    fn plans_tell_their_request() {
        let asked = json!({"method": "independent", "epsilon": 2.0, "ratio": [2.0, 1.0]});
        let made = designed(&asked);
        let told: Value = serde_json::from_str(made.plan.request().unwrap()).unwrap();
        assert_eq!(told["request"], asked);
        assert_eq!(told["stopped"], Value::Null);
        assert_eq!(designed(&told["request"]).plan, made.plan, "it makes the same plan again");
        let cut = recorded(&asked, Some(Stopped::OutOfTime));
        assert!(cut.contains("\"stopped\":\"time limit\""), "{cut}");
    }
}
