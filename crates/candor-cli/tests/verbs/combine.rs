//! Methods per attribute: `design --only`, `combine`, points of fronts as plans, several attributes as one.

use serde_json::Value;

use crate::sandbox::Sandbox;

const SCHEMA: &str = "\
[[attribute]]\nname = \"Job\"\ncategories = [\"farm\", \"office\", \"none\"]\n
[[attribute]]\nname = \"Drinks\"\ncategories = [\"no\", \"yes\"]\n
[[attribute]]\nname = \"Smokes\"\ncategories = [\"no\", \"yes\"]\n
[[attribute]]\nname = \"Region\"\ncategories = [\"north\", \"south\"]\npublic = true\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A table of 4,000 people whose shares are known.
fn people() -> String {
    let mut text = "Job,Drinks,Smokes,Region\n".to_owned();
    for i in 0..4000 {
        let job = ["farm", "office", "office", "none", "office"][i % 5];
        let (drinks, smokes) = (["yes", "no"][i % 2], ["yes", "no", "no", "no"][i / 2 % 4]);
        text += &format!("{job},{drinks},{smokes},{}\n", ["north", "south"][i / 2000]);
    }
    text
}

/// Plans by different methods make one plan that is audited, explained, randomized with and estimated from like any
/// other.
#[test]
fn a_plan_of_several_methods_is_a_plan() {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", SCHEMA);
    sandbox.write("people.csv", people());
    sandbox
        .run(
            "design schema.toml --only Job --method front --prior 0.2,0.6,0.2 --privacy 0.25 --posterior-bound 0.9 \
                 -o job.json",
        )
        .fine();
    sandbox.run("design schema.toml --only Smokes,Drinks --method joint --epsilon 3 -o habits.json").fine();
    let said = json(&sandbox.run("combine job.json habits.json -o plan.json --json").fine().out);
    assert_eq!(said["for_prior"]["attribute"], "Job");
    assert!(said["for_prior"]["map_privacy"].as_f64().unwrap() >= 0.25);
    assert_eq!(said["parts"][1]["attributes"], serde_json::json!(["Drinks", "Smokes"]));
    let audit = json(&sandbox.run("audit plan.json --json").fine().out);
    assert_eq!(audit["made_by"]["request"]["method"], "combine");
    assert_eq!(audit["made_by"]["request"]["plans"][0]["request"]["privacy"], 0.25);
    sandbox.run("explain plan.json").fine();
    sandbox.run("randomize plan.json people.csv --seed 5 -o responses.csv").fine();
    let estimates = json(&sandbox.run("estimate plan.json responses.csv --tables Job;Drinks;Smokes --json").fine().out);
    for (table, shares) in [[0.2, 0.6, 0.2].as_slice(), &[0.5, 0.5], &[0.75, 0.25]].into_iter().enumerate() {
        for (cell, share) in shares.iter().enumerate() {
            let found = &estimates["tables"][table]["cells"][cell];
            let (estimate, error) = (found["estimate"].as_f64().unwrap(), found["standard_error"].as_f64().unwrap());
            // Fixed seed; 5.5 standard errors fail once in 10^7.
            assert!((estimate - share).abs() < 5.5 * error && error < 0.2, "{estimate} for {share}, {error}");
        }
    }
}

#[test]
fn what_cannot_be_combined() {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", SCHEMA);
    sandbox.run("design schema.toml --only Job --epsilon 30 -o job.json").fine();
    sandbox.run("design schema.toml --only Smokes,Job --epsilon 1 -o both.json").fine();
    sandbox.run("design schema.toml --only Smokes --epsilon 30 -o smokes.json").fine();
    sandbox.run("combine job.json both.json").refused(1, &["\"Job\" is in two plans"]);
    sandbox.run("combine job.json smokes.json").refused(1, &["--max-epsilon 50"]);
    sandbox
        .run("combine job.json smokes.json --max-epsilon 70 -o smokes.json")
        .refused(1, &["both an input and the output"]);
    sandbox.run("combine job.json").refused(2, &["required"]);
    sandbox.run("design schema.toml --only Region --epsilon 1").refused(1, &["--only", "\"Region\" is public"]);
    sandbox.write("quoted.toml", SCHEMA.replace("Drinks", "Drinks, ever"));
    sandbox.run_words(&["design", "quoted.toml", "--only", "\"Drinks, ever\",Job", "--epsilon", "1"]).fine();
    sandbox.run("design schema.toml --only Jobs --epsilon 1").refused(1, &["--only", "Jobs"]);
    sandbox.run("design --categories 2,2 --only a1 --epsilon 1").refused(2, &["cannot be used with"]);
}

/// Every matrix of a front is a file; with the prior it becomes a plan that is certified for what the index says of it.
#[test]
fn points_of_fronts_become_plans() {
    let sandbox = Sandbox::new();
    let front = "front --prior 0.4,0.3,0.2,0.1 --posterior-bound 0.8 --points 4 --generations 60 --rounds 1";
    sandbox.run(&format!("{front} --matrices points")).fine();
    let index = sandbox.read("points/index.csv");
    let mut tried = [0, 0];
    for row in index.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let kind = usize::from(cells[0].starts_with("evolved"));
        tried[kind] += 1;
        if tried[kind] > 2 {
            continue;
        }
        let plan =
            format!("design --categories 4 --method matrix --file points/{} --prior 0.4,0.3,0.2,0.1 --json", cells[0]);
        let said = json(&sandbox.run(&plan).fine().out);
        for (name, cell) in [("map_privacy", 1), ("worst_posterior", 3)] {
            let (certified, told) = (said["for_prior"][name].as_f64().unwrap(), cells[cell].parse::<f64>().unwrap());
            assert!((certified - told).abs() < 1e-9, "{row}: {certified}");
        }
    }
    assert!(tried[0] == 4 && tried[1] > 3, "{tried:?}");
    sandbox
        .run("design --categories 4 --method matrix --file points/exact-001.csv --prior 0.5,0.5")
        .refused(1, &["prior"]);
}

/// Several attributes as one (the outlook of Huang and Du 2008).
#[test]
fn fronts_of_crossed_attributes() {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", SCHEMA);
    sandbox.write("people.csv", people());
    let said = sandbox.run(
        "design schema.toml --only Drinks,Smokes --method front --cross Drinks,Smokes --from people.csv --privacy 0.6 \
         -o crossed.json --json",
    );
    let said = json(&said.fine().out);
    assert_eq!(said["for_prior"]["attribute"], "Drinks*Smokes");
    assert!(said["for_prior"]["map_privacy"].as_f64().unwrap() >= 0.6);
    sandbox.run("randomize crossed.json people.csv --seed 1 -o responses.csv").fine();
    sandbox.run("estimate crossed.json responses.csv").fine();
    sandbox
        .run("design schema.toml --method front --cross Drinks,Smokes --prior 0.5,0.5 --privacy 0.1")
        .refused(1, &["exactly one randomized attribute"]);
}

/// A total and a ratio for the heuristic: the total is not exceeded, and nearly spent.
#[test]
fn heuristic_at_a_total_and_a_ratio() {
    let sandbox = Sandbox::new();
    let said = sandbox
        .run("design --categories 4,4,4,4,4 --method heuristic --epsilon 8 --ratio 2,1,1,1,1 --allow-weaker --json");
    let said = json(&said.fine().out);
    let epsilon = said["epsilon"]["certified"].as_f64().unwrap();
    assert!(epsilon <= 8.0 && epsilon > 7.999, "{epsilon}");
    let asked = |i: usize| said["attributes"][i]["requested"].as_f64().unwrap();
    assert!(
        (asked(0) / asked(1) - 2.0).abs() < 1e-9 && asked(1) > 8.0 / 6.0,
        "more than a share of the sum: {}",
        asked(1)
    );
    sandbox.run("design --categories 4,4 --method heuristic --epsilon 3 --order a1,a2").refused(2, &["--order"]);
    sandbox.run("design --categories 4,4 --method heuristic").refused(2, &["--epsilon", "--attribute-epsilon"]);
    sandbox.run("design --categories 4,4 --method heuristic --epsilon 3 --ratio 1").refused(1, &["--budget-split"]);
}
