//! No method returns a plan that guarantees less than requested, over all methods that take an epsilon.

use candor_base::schema::Schema;
use candor_design::request::{Request, design};
use candor_design::{DesignError, DesignOutcome};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Epsilons from tiny to large, including round ones, which floats do not represent exactly.
fn epsilon() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-12.0f64..3.0).prop_map(f64::exp),
        prop::sample::select(vec![1e-9, 0.01, 0.1, 0.3, 0.7, 1.0, 1.1, 2.0, 4.0, 9.9, 20.0]),
    ]
}

/// Returns every way to request epsilons from a method, for these attributes.
fn requests(sizes: &[usize], total: f64, each: &[f64]) -> Vec<Value> {
    let ratio: Vec<f64> = each.iter().map(|epsilon| epsilon / each.iter().sum::<f64>()).collect();
    let pair: Vec<String> = (1..=sizes.len().min(2)).map(|i| format!("a{i}")).collect();
    let mut all = vec![
        json!({"method": "independent", "epsilon": total, "ratio": ratio}),
        json!({"method": "independent", "attribute_epsilon": each}),
        json!({"method": "independent", "epsilon": total, "mirrored": true}),
        json!({"method": "independent", "attribute_epsilon": each, "mirrored": true}),
        json!({"method": "joint", "epsilon": total}),
        json!({"method": "joint", "epsilon": total, "mirrored": true}),
        json!({"method": "minimax", "attribute_epsilon": each}),
        json!({"method": "minimax", "attribute_epsilon": [total]}),
        json!({"method": "heuristic", "attribute_epsilon": each}),
        json!({"method": "heuristic", "attribute_epsilon": each, "allow_weaker": true}),
        json!({"method": "reduced", "attribute_epsilon": each}),
        json!({"method": "two-attribute", "attribute_epsilon": each}),
        json!({"method": "optimal", "attribute_epsilon": each, "time_limit": 1.0}),
        json!({"method": "optimal", "epsilon": total, "ratio": ratio, "time_limit": 1.0}),
        json!({"method": "workload", "epsilon": total, "tables": "marginals", "time_limit": 1.0}),
        json!({"method": "workload", "epsilon": total, "time_limit": 1.0}),
        json!({"method": "sampling", "epsilon": total}),
    ];
    for inside in ["joint", "optimal", "workload"] {
        let clusters = json!({"method": "clusters", "clusters": [&pair], "inside": inside});
        for (name, value) in [("epsilon", json!(total)), ("attribute_epsilon", json!(each))] {
            let mut asked = clusters.clone();
            asked[name] = value;
            all.push(asked);
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_method_guarantees_less_than_was_asked(
        attributes in prop::collection::vec((2usize..6, epsilon()), 1..5),
        total in epsilon(),
    ) {
        let (sizes, each): (Vec<usize>, Vec<f64>) = attributes.into_iter().unzip();
        let schema = Schema::with_sizes(&sizes).unwrap();
        let mut made = 0;
        for asked in requests(&sizes, total, &each) {
            let request: Request = asked.to_string().parse().unwrap();
            let DesignOutcome { plan, .. } = match design(&schema, &request) {
                Ok(designed) => designed,
                Err(error @ DesignError::GuaranteesLess { .. }) => panic!("{sizes:?} {asked}: {error}"),
                Err(_) => continue,
            };
            made += 1;
            if let Some(epsilon) = asked["epsilon"].as_f64() {
                prop_assert!(plan.guarantee().epsilon().as_f64() <= epsilon, "{sizes:?} {asked}");
            }
            let alone = asked["method"] != "clusters" && asked["allow_weaker"] != true;
            for (place, attribute) in plan.guarantee().attributes().iter().enumerate().filter(|_| alone) {
                let given = asked["attribute_epsilon"].as_array();
                let Some(given) = given else { continue };
                let given = given[place.min(given.len() - 1)].as_f64().unwrap();
                let marginal = attribute.marginal.unwrap().as_f64();
                prop_assert!(marginal <= given, "{sizes:?} {asked}: {marginal}");
            }
            let written = serde_json::to_value(&request).unwrap().to_string();
            prop_assert!(plan.request().unwrap().contains(&written), "{written}");
        }
        prop_assert!(made >= 8, "{made} plans for {sizes:?}");
    }
}
