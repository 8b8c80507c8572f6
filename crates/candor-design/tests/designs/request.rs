//! Requests: round trips through JSON, parameters of each method, and plans equal to those of the methods themselves.

use candor_base::schema::Schema;
use candor_design::request::{Field, Kind, Method, Request, RequestError, design};
use candor_design::{DesignError, independent, joint, k_ary};
use serde_json::{Map, Value, json};

fn parameters(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// Returns one request of every method, for three attributes or for one.
fn one_of_each() -> Vec<(Method, Value, &'static [usize])> {
    let three: &[usize] = &[3, 4, 5];
    vec![
        (Method::Independent, json!({"epsilon": 2.0, "ratio": [2.0, 1.0, 1.0]}), three),
        (Method::Minimax, json!({"parity": [4.0]}), three),
        (Method::Joint, json!({"epsilon": 2.0}), three),
        (Method::Clusters, json!({"clusters": [["a1", "a3"]], "epsilon": 2.0, "inside": "workload"}), three),
        (Method::Heuristic, json!({"attribute_epsilon": [1.0, 0.5, 0.5], "allow_weaker": true}), three),
        (Method::Optimal, json!({"attribute_epsilon": [1.0, 0.5, 0.5]}), three),
        (Method::Sampling, json!({"epsilon": 2.0, "tables": "a1,a2:2;a3"}), three),
        (Method::Workload, json!({"epsilon": 2.0, "tables": "pairs"}), three),
        (Method::Reduced, json!({"attribute_epsilon": [0.3, 0.3, 0.3]}), three),
        (Method::TwoAttribute, json!({"attribute_epsilon": [0.5, 0.5]}), &[3, 4]),
        (Method::Warner, json!({"p": 0.7}), &[4]),
        (Method::Up, json!({"q": 0.7}), &[4]),
        (Method::Frapp, json!({"lambda": 3.0}), &[4]),
        (Method::LDiversity, json!({"l": [2]}), three),
        (Method::List, json!({"control_items": 3, "group_sizes": [2, 1]}), &[2]),
        (Method::Matrix, json!({"matrix": [["0.75", "0.25"], ["0.25", "0.75"]], "inputs": "columns"}), &[2]),
        (Method::Front, json!({"prior": [0.4, 0.3, 0.2, 0.1], "privacy": 0.5, "posterior_bound": 0.75}), &[4]),
    ]
}

#[test]
fn every_method_is_written_down_and_read_back() {
    let all = one_of_each();
    assert_eq!(all.iter().map(|(method, ..)| *method).collect::<Vec<_>>(), Method::ALL);
    for (method, given, sizes) in all {
        let request = Request::new(method, parameters(given.clone())).unwrap();
        assert_eq!(request.method(), method);
        assert_eq!(Value::Object(request.parameters()), given, "{}: what was given and nothing else", method.name());
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request, "{text}");
        let schema = Schema::with_sizes(sizes).unwrap();
        let designed = design(&schema, &request).unwrap_or_else(|error| panic!("{}: {error}", method.name()));
        assert_eq!(designed.plan.origin().method, method.name());
    }
}

#[test]
fn names_are_names_of_methods() {
    for &method in Method::ALL {
        assert_eq!(method.name().parse(), Ok(method));
        assert!(!method.about().is_empty() && !method.parameters().is_empty(), "{}", method.name());
    }
    assert_eq!("kronecker".parse::<Method>(), Ok(Method::Independent));
    let error = "worklod".parse::<Method>().unwrap_err().to_string();
    assert_eq!(error, "unknown method \"worklod\"; did you mean \"workload\"?");
}

#[test]
fn a_parameter_of_another_method_is_told_as_one() {
    let error = Request::new(Method::Joint, parameters(json!({"epsilon": 1.0, "p": 0.7}))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`p` cannot be used with `method joint`; it requires `method independent or clusters or warner`"
    );
    let error = Request::new(Method::Joint, parameters(json!({"epsilom": 1.0}))).unwrap_err();
    assert_eq!(error.to_string(), "unknown parameter `epsilom`; did you mean `epsilon`?");
    assert!(matches!(error, RequestError::UnknownParameter { .. }));
    let error = Request::new(Method::Joint, parameters(json!({}))).unwrap_err();
    assert_eq!(error, RequestError::Missing("epsilon"));
    let unknown = serde_json::from_str::<Request>(r#"{"method": "joint", "epsilon": 1, "p": 0.5}"#).unwrap_err();
    assert!(unknown.to_string().contains("unknown field `p`"), "{unknown}");
}

#[test]
fn a_value_of_another_kind_is_told_with_its_parameter() {
    for (method, given, told) in [
        (Method::Joint, json!({"epsilon": "2"}), "`epsilon` is \"2\"; it must be a number"),
        (Method::LDiversity, json!({"l": [2.5]}), "`l` is [2.5]; it must be a list of integers"),
        (Method::Joint, json!({"epsilon": 1, "mirrored": 1}), "`mirrored` is 1; it must be true or false"),
        (
            Method::Clusters,
            json!({"clusters": [["a"]], "cluster_method": "all"}),
            "`cluster_method` is \"all\"; it must be one of joint, optimal, workload",
        ),
    ] {
        assert_eq!(Request::new(method, parameters(given)).unwrap_err().to_string(), told);
    }
    assert!(Request::new(Method::Joint, parameters(json!({"epsilon": 1, "compliance_check": null}))).is_err());
}

/// A method reports exactly its required parameters as missing.
#[test]
fn fields_are_what_methods_take() {
    for &method in Method::ALL {
        let fields = method.fields();
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        assert_eq!(names, method.parameters());
        // A loss is a word or a matrix.
        let named = |field: &Field| field.kind != Kind::Other || field.name == "loss";
        assert!(fields.iter().all(named), "{}: {fields:?}", method.name());
        let empty = Request::new(method, parameters(json!({})));
        match fields.iter().find(|field| field.required) {
            Some(field) => assert_eq!(empty, Err(RequestError::Missing(field.name))),
            None => assert!(empty.is_ok(), "{}", method.name()),
        }
    }
}

#[test]
fn what_is_asked_twice_or_not_at_all_is_refused() {
    let schema = Schema::with_sizes(&[3, 4]).unwrap();
    let refused = |method: Method, given: Value| {
        design(&schema, &Request::new(method, parameters(given)).unwrap()).unwrap_err().to_string()
    };
    let twice = refused(Method::Independent, json!({"epsilon": 1.0, "attribute_epsilon": [1.0, 1.0]}));
    assert_eq!(twice, "`epsilon`, `attribute_epsilon`, `p` and `q` say the same; give one of them");
    assert!(refused(Method::Independent, json!({})).starts_with("this method needs `epsilon` (a total)"));
    assert!(refused(Method::Minimax, json!({})).contains("needs `likelihood_ratio` or `attribute_epsilon`"));
    assert!(refused(Method::Optimal, json!({})).contains("needs `attribute_epsilon`"));
    assert_eq!(
        refused(Method::Independent, json!({"epsilon": 1.0, "ratio": [1.0]})),
        "`budget_split` has 1 value, but there are 2 attributes to randomize"
    );
    assert!(refused(Method::Workload, json!({"epsilon": 1.0, "tables": "a7"})).starts_with("`tables`: "));
}

#[test]
fn requests_make_what_the_methods_make() {
    let schema = Schema::with_sizes(&[3, 4]).unwrap();
    let plan =
        |method: Method, given: Value| design(&schema, &Request::new(method, parameters(given)).unwrap()).unwrap().plan;
    let alone = independent::independent(&schema, &[1.5, 0.5]).unwrap();
    assert_eq!(plan(Method::Independent, json!({"attribute_epsilon": [1.5, 0.5]})), alone);
    assert_eq!(plan(Method::Independent, json!({"epsilon": 2.0, "ratio": [3.0, 1.0]})), alone);
    let kept = [3, 4].map(|size| k_ary::up_epsilon(size, 0.7).unwrap());
    assert_eq!(plan(Method::Independent, json!({"q": 0.7})), independent::independent(&schema, &kept).unwrap());
    assert_eq!(plan(Method::Joint, json!({"epsilon": 2.0})), joint::rr_joint::rr_joint(&schema, 2.0).unwrap());
}

/// The heuristic raises epsilons it cannot meet, which is an error unless it was allowed.
#[test]
fn weaker_protection_must_be_allowed() {
    let schema = Schema::with_sizes(&[2, 2, 2]).unwrap();
    let asked = |weaker: bool| {
        let given = json!({"attribute_epsilon": [3.0, 0.1, 0.1], "order": ["a2", "a3", "a1"], "allow_weaker": weaker});
        design(&schema, &Request::new(Method::Heuristic, parameters(given)).unwrap())
    };
    match asked(false) {
        Err(DesignError::Weaker { raised, .. }) => assert!(!raised.is_empty()),
        Ok(designed) => assert!(designed.altered.iter().all(|altered| altered.achieved <= altered.asked)),
        Err(error) => panic!("{error}"),
    }
    let allowed = asked(true).unwrap();
    assert!(
        allowed.notes[0].starts_with("The attributes were taken in the order a2, a3, a1; the result depends on it")
    );
}

/// Epsilons that follow from `p` are rounded, and the certified ones are not held to them.
#[test]
fn every_p_is_accepted() {
    let schema = Schema::with_sizes(&[3, 4, 2]).unwrap();
    for percent in 1..100 {
        let request = Request::new(Method::Independent, parameters(json!({"p": f64::from(percent) / 100.0}))).unwrap();
        let plan = design(&schema, &request).unwrap_or_else(|error| panic!("{percent}: {error}")).plan;
        let kept = plan.guarantee().attributes().iter().map(|one| one.keep_probability.unwrap());
        kept.for_each(|kept| assert!((kept - f64::from(percent) / 100.0).abs() < 1e-12, "{percent}"));
    }
}
