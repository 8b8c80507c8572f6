//! `candor rake` as an analyst runs it.

use crate::sandbox::{Sandbox, rows};
use serde_json::Value;
use std::collections::BTreeMap;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The Adult data, randomized lightly, attribute by attribute.
fn adult() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.adult("adult.csv");
    sandbox.run("schema infer adult.csv -o schema.toml").fine();
    sandbox.run("design schema.toml --method independent --epsilon 24 -o plan.json").fine();
    sandbox.run("randomize plan.json adult.csv -o responses.csv --seed 11").fine();
    sandbox
}

#[test]
fn weights_agree_with_projected_estimates_and_come_closer_to_the_truth() {
    let sandbox = adult();
    let said = json(&sandbox.run("adjust plan.json responses.csv -o weighted.csv --json").fine().out);
    assert_eq!(said["converged"], true, "{said}");
    assert_eq!((said["respondents"].as_u64(), said["margins"].as_array().unwrap().len()), (Some(32_561), 8));
    assert!(said["largest_margin_error"].as_f64().unwrap() <= 1e-6 && said["distance"].as_f64().unwrap() <= 1e-6);
    let table = rows(&sandbox.read("weighted.csv"));
    assert_eq!(table[0][8..], ["candor_count", "candor_weight"]);
    assert_eq!(said["records"].as_u64(), Some(table.len() as u64 - 1));
    let number = |row: &[String], at: usize| row[at].parse::<f64>().unwrap();
    let sum = |at: usize| table[1..].iter().map(|row| number(row, at)).sum::<f64>();
    assert_eq!(sum(8), 32_561.0);
    assert!((sum(9) - 1.0).abs() < 1e-9);
    // The margins are what `estimate --method projected` prints.
    let estimates = json(&sandbox.run("estimate plan.json responses.csv --method projected --json").fine().out);
    for (at, table_of) in estimates["tables"].as_array().unwrap().iter().enumerate() {
        let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
        table[1..].iter().for_each(|row| *shares.entry(&row[at]).or_default() += number(row, 9));
        for cell in table_of["cells"].as_array().unwrap() {
            let category = cell["categories"][0].as_str().unwrap();
            let share = shares.get(category).copied().unwrap_or(0.0);
            assert!((share - cell["estimate"].as_f64().unwrap()).abs() < 2e-6, "{category}");
        }
    }
    // Relationship and Sex: the weights are closer to the truth than the answers, and than independence.
    let people = rows(&sandbox.read("adult.csv"));
    let share = |table: &[Vec<String>], weight: &dyn Fn(&[String]) -> f64| {
        let wanted = |row: &&Vec<String>| row[4] == "Husband" && row[6] == "Male";
        table[1..].iter().filter(wanted).map(|row| weight(row)).sum::<f64>()
    };
    let truth = share(&people, &|_| 1.0 / 32_561.0);
    let (weighted, naive) = (share(&table, &|row| number(row, 9)), share(&table, &|row| number(row, 8) / 32_561.0));
    assert!((weighted - truth).abs() < 0.5 * (naive - truth).abs(), "{truth} {weighted} {naive}");
}

#[test]
fn weighted_records_go_anywhere_and_are_not_taken_for_responses() {
    let sandbox = adult();
    sandbox.run("adjust plan.json responses.csv -o weighted.parquet").fine();
    let said = sandbox.run("adjust plan.json responses.csv -o - --margins Sex,Income;Race").fine();
    assert!(said.err.contains("2 margins") && said.err.contains("Converged after"), "{}", said.err);
    assert!(said.out.starts_with("Work-class,") && !said.out.contains("Converged"));
    sandbox.write("weighted.csv", &said.out);
    for weighted in ["weighted.csv", "weighted.parquet"] {
        let refused = sandbox.run(&format!("estimate plan.json {weighted}"));
        refused.refused(1, &[weighted, "contains weighted records", "use the responses"]);
    }
}

#[test]
fn margins_that_cannot_be_met_and_slow_convergence_are_told() {
    let sandbox = adult();
    let pairs = "adjust plan.json responses.csv --margins pairs --max-iterations 5 -o weighted.csv --force";
    let said = sandbox.run(pairs).fine();
    assert!(said.out.contains("NOT CONVERGED: after 5 iterations margins are up to"), "{}", said.out);
    let said = json(&sandbox.run(&format!("{pairs} --json")).fine().out);
    assert_eq!((said["converged"].as_bool(), said["iterations"].as_u64()), (Some(false), Some(5)));
    assert!(said["reason"].as_str().unwrap().contains("--max-iterations"));
    // Eight answers cannot fill nine cells.
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 8);
    sandbox.plan();
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 11").fine();
    let few = "adjust plan.json responses.csv --margins smokes,age -o weighted.csv --force";
    let said = sandbox.run(few).fine();
    assert!(said.out.contains("No record with a weight has these") && said.out.contains("smokes = "), "{}", said.out);
    let said = json(&sandbox.run(&format!("{few} --json")).fine().out);
    assert!(!said["unattainable"].as_array().unwrap().is_empty(), "{said}");
}

#[test]
fn public_attributes_keep_their_shares() {
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 3000);
    sandbox.plan();
    sandbox.run("randomize plan.json people.csv -o responses.parquet --seed 3").fine();
    let said = json(&sandbox.run("adjust plan.json responses.parquet -o weighted.csv --json").fine().out);
    assert_eq!(said["margins"], serde_json::json!([["smokes"], ["age"], ["region"]]));
    let table = rows(&sandbox.read("weighted.csv"));
    assert_eq!(table[0], ["region", "smokes", "age", "candor_count", "candor_weight"]);
    let north: f64 = table[1..].iter().filter(|row| row[0] == "north").map(|row| row[4].parse::<f64>().unwrap()).sum();
    assert!((north - 0.5).abs() < 1e-6, "{north}");
}

#[test]
fn what_cannot_be_adjusted_is_told_with_what_to_use_instead() {
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 300);
    sandbox.plan();
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 3").fine();
    let design = |flags: &str, plan: &str| drop(sandbox.run(&format!("design schema.toml {flags} -o {plan}")).fine());
    design("--method l-diversity --l 2", "sets.json");
    design("--method sampling --epsilon 2 --tables marginals", "lottery.json");
    for (plan, part) in [("sets.json", "sets of categories"), ("lottery.json", "randomly assigned channels")] {
        let command = format!("adjust {plan} responses.csv -o weighted.csv");
        sandbox.run(&command).refused(1, &["raking is not available", part, "candor estimate"]);
    }
    for (flags, code, part) in [
        ("-o weighted.csv --margins nothing", 1, "--margins: there is no attribute \"nothing\""),
        ("-o weighted.csv --tolerance 0", 2, "at least 1e-12 and below 1"),
        ("-o weighted.csv --max-iterations 0", 2, "--max-iterations"),
        ("-o responses.csv", 1, "both an input and the output"),
        ("-o plan.json", 1, "both an input and the output"),
        ("-o - --json", 2, "standard output"),
        ("-o no/folder/weighted.csv", 1, "cannot write no/folder/weighted.csv"),
        ("", 2, "--output"),
    ] {
        sandbox.run(&format!("adjust plan.json responses.csv {flags}")).refused(code, &[part]);
    }
    design("--method independent --epsilon 0", "nothing.json");
    sandbox.run("randomize nothing.json people.csv -o noise.csv --seed 3").fine();
    sandbox.run("adjust nothing.json noise.csv -o weighted.csv").refused(1, &["not identifiable", "\"smokes\""]);
    assert!(!sandbox.path("weighted.csv").exists());
}

/// Example 1 of Domingo-Ferrer and Soria-Comas 2020: ten answers, and margins of one half each that are known. After
/// sweep `t` the fifth and sixth record weigh `1/(8 (t+1))`, the last four 1/8 and the first four what is left of one
/// half.
#[test]
fn example_1_of_the_paper() {
    let sandbox = Sandbox::new();
    let attribute = |name: &str| format!("[[attribute]]\nname = \"{name}\"\ncategories = [\"{name}1\", \"{name}2\"]\n");
    sandbox.write("schema.toml", attribute("a") + &attribute("b"));
    sandbox.run("design schema.toml --method independent --epsilon 2 -o plan.json").fine();
    sandbox.write("ten.csv", format!("a,b\n{}{}{}", "a1,b1\n".repeat(4), "a2,b1\n".repeat(2), "a2,b2\n".repeat(4)));
    sandbox.write("known.csv", "attribute,category,share\na,a1,5\na,a2,5\nb,b1,0.5\nb,b2,0.5\n");
    for sweeps in [1, 2, 10] {
        let words = format!(
            "rake plan.json ten.csv --unmarked --benchmarks known.csv --max-iterations {sweeps} -o weighted.csv --force"
        );
        let said = sandbox.run(&words).fine();
        assert!(said.out.contains("2 margins"), "{}", said.out);
        let weighted = sandbox.read("weighted.csv");
        let weights: Vec<f64> =
            weighted.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().1.parse().unwrap()).collect();
        let few = 2.0 / (8.0 * f64::from(sweeps + 1));
        for (found, expected) in weights.iter().zip([0.5 - few, few, 0.5]) {
            assert!((found - expected).abs() < 1e-12, "{sweeps}: {weighted}");
        }
    }
    // One margin that is known beside one that is estimated, cut off and rescaled where it is negative.
    sandbox.write("known.csv", "attribute,category,share\na,a1,0.5\na,a2,0.5\n");
    let json = |options: &str| -> serde_json::Value {
        let words = format!("rake plan.json ten.csv --unmarked {options} -o weighted.csv --force --json");
        serde_json::from_str(&sandbox.run(&words).fine().out).unwrap()
    };
    assert_eq!(json("--benchmarks known.csv")["margins"], serde_json::json!([["b"], ["a"]]));
    assert_eq!(json("--targets clipped")["margins"], serde_json::json!([["a"], ["b"]]));
    let refused = |known: &str, said: &str| {
        sandbox.write("known.csv", format!("attribute,category,share\n{known}\n"));
        let words = "rake plan.json ten.csv --unmarked --benchmarks known.csv -o other.csv";
        sandbox.run(words).refused(1, &[said]);
        assert!(!sandbox.files().contains(&"other.csv".to_owned()));
    };
    refused("c,c1,1", "there is no attribute \"c\"");
    refused("a,a3,1", "no category \"a3\"");
    refused("a,a1,1\na,a1,2", "has two rows");
    refused("a,a1,0", "all shares of \"a\" are 0");
    let words = "rake plan.json ten.csv --unmarked --method tree --targets clipped -o other.csv";
    sandbox.run(words).refused(2, &["--targets require --method answers"]);
}

/// Cut off and rescale is another margin than the closest distribution: (.7, .5, -.2) gives (.583, .417, 0), not
/// (.6, .4, 0).
#[test]
fn targets_are_clipped_or_projected() {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", "[[attribute]]\nname = \"a\"\ncategories = [\"x\", \"y\", \"z\"]\n");
    sandbox.run("design schema.toml --method warner --p 0.5 -o plan.json").fine();
    // Answers .425, .375, .2: the inverse of the matrix (1/2, 1/4) gives (.7, .5, -.2).
    sandbox.write("answers.csv", format!("a\n{}{}{}", "x\n".repeat(17), "y\n".repeat(15), "z\n".repeat(8)));
    for (targets, expected) in [("clipped", [7.0 / 12.0, 5.0 / 12.0]), ("projected", [0.6, 0.4])] {
        let words = format!("rake plan.json answers.csv --unmarked --targets {targets} -o weighted.csv --force");
        sandbox.run(&words).fine();
        let weighted = sandbox.read("weighted.csv");
        let weights: Vec<f64> =
            weighted.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().1.parse().unwrap()).collect();
        for (found, expected) in weights.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{targets}: {weighted}");
        }
    }
}
