//! `candor matrix`: the transition matrix of a plan.

use serde_json::Value;

use crate::sandbox::Sandbox;

fn json(sandbox: &Sandbox, words: &str) -> Value {
    serde_json::from_str(&sandbox.run(&format!("{words} --json")).fine().out).unwrap()
}

fn numbers(rows: &Value) -> Vec<Vec<f64>> {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect())
        .collect()
}

/// Warner's matrix by its definition, its eigenvalues 1 and p - (1 - p)/(n - 1), and the plan of what was written is as
/// private.
#[test]
fn warner_is_written_and_read_again() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4 --method warner --p 0.7 -o warner.json").fine();
    let found = json(&sandbox, "matrix warner.json");
    for (z, row) in numbers(&found["matrix"]).iter().enumerate() {
        for (x, p) in row.iter().enumerate() {
            assert!((p - if x == z { 0.7 } else { 0.1 }).abs() < 1e-12);
        }
    }
    assert!((found["largest_over_smallest"].as_f64().unwrap() - 1.0 / 0.6).abs() < 1e-9);
    assert_eq!(found["eigenvalues"].as_array().unwrap().len(), 4);
    sandbox.run("matrix warner.json --format csv -o M.csv").fine();
    let again = sandbox.run("design --categories 4 --method matrix --file M.csv --json").fine().out;
    let again: Value = serde_json::from_str(&again).unwrap();
    assert!((again["epsilon"]["certified"].as_f64().unwrap() - 7f64.ln()).abs() < 1e-9);
    let latex = sandbox.run("matrix warner.json --format latex --exact").fine().out;
    assert!(latex.starts_with("\\begin{bmatrix}\n\\frac{") && latex.matches("\\\\\n").count() == 3, "{latex}");
    let markdown = sandbox.run("matrix warner.json --format markdown").fine().out;
    assert_eq!(markdown.lines().count(), 6);
    let text = sandbox.run("matrix warner.json").fine().out;
    assert!(text.contains("0.700000") && text.contains("0.600000 (3 times)") && text.contains("1.666667"), "{text}");
}

/// Two attributes of two categories: the 4 x 4 matrix is the Kronecker product of the two (Yamamoto and Shibuya 2024,
/// eq. 1).
#[test]
fn several_attributes_are_a_kronecker_product() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 2,2 --attribute-epsilon 1,2 -o plan.json").fine();
    let whole = numbers(&json(&sandbox, "matrix plan.json")["matrix"]);
    let parts: Vec<_> = ["a1", "a2"]
        .iter()
        .map(|name| numbers(&json(&sandbox, &format!("matrix plan.json --attribute {name}"))["matrix"]))
        .collect();
    for (z, row) in whole.iter().enumerate() {
        for (x, p) in row.iter().enumerate() {
            assert!((p - parts[0][z / 2][x / 2] * parts[1][z % 2][x % 2]).abs() < 1e-15);
        }
    }
    assert!((parts[0][0][0] - 1f64.exp() / (1.0 + 1f64.exp())).abs() < 1e-9);
}

/// x_20, x_21 and x_22 are the likelihoods of the matrix over that of an answer that misses both; at a thousand
/// attributes the largest is the record-level epsilon.
#[test]
fn likelihoods_by_misses() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 5,4 --method heuristic --attribute-epsilon 3,2 -o plan.json").fine();
    let found = json(&sandbox, "matrix plan.json");
    let row = &numbers(&found["matrix"])[0];
    let misses = &found["misses"];
    for (cell, ln) in [(0, &misses["ln_none"]), (1, &misses["ln_only"][1]), (4, &misses["ln_only"][0])] {
        assert!((row[cell] / row[5] - ln.as_f64().unwrap().exp()).abs() < 1e-6, "{misses}");
    }
    let many = vec!["4"; 300].join(",");
    let epsilons = vec!["3"; 300].join(",");
    let designed = sandbox
        .run(&format!(
            "design --categories {many} --method heuristic --attribute-epsilon {epsilons} --max-epsilon 1000 \
                       -o many.json --json"
        ))
        .fine();
    let designed: Value = serde_json::from_str(&designed.out).unwrap();
    let found = json(&sandbox, "matrix many.json --misses");
    let (epsilon, ln) =
        (designed["epsilon"]["certified"].as_f64().unwrap(), found["misses"]["ln_none"].as_f64().unwrap());
    assert!((epsilon - ln).abs() < 1e-6 * epsilon, "{epsilon} {ln}");
    sandbox.run("matrix many.json").refused(1, &["is too large", "--attribute"]);
    assert_eq!(numbers(&json(&sandbox, "matrix many.json --attribute a7 --exact")["matrix"]).len(), 4);
}

/// Sets of categories are answers, but no truths: there are no eigenvalues, however many they are.
#[test]
fn sets_have_no_eigenvalues() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 3 --method l-diversity --l 2 -o sets.json").fine();
    let found = json(&sandbox, "matrix sets.json");
    assert_eq!(numbers(&found["matrix"]), [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]);
    assert!(found["eigenvalues"].is_null() && found["largest_over_smallest"].is_null());
}

#[test]
fn what_has_no_matrix_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4,4,4 --method workload --epsilon 1 --tables pairs -o pairs.json").fine();
    sandbox.run("matrix pairs.json --attribute a1").refused(1, &["\"a1\" has no matrix of its own"]);
    sandbox.run("matrix pairs.json --attribute a9").refused(1, &["--attribute", "a9"]);
    sandbox.run("matrix pairs.json --misses").refused(2, &["--misses", "heuristic"]);
    sandbox.run("matrix pairs.json --misses --exact").refused(2, &["cannot be used with"]);
    sandbox.run("matrix nothing.json").refused(1, &["nothing.json"]);
    sandbox.run("matrix pairs.json --json --format csv").refused(2, &["cannot be used with"]);
    sandbox.run("matrix pairs.json -o pairs.json").refused(1, &["both an input and the output"]);
}
