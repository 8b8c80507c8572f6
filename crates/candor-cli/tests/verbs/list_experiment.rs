//! List experiments: from a survey's file with groups and counts to shares and models.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// The golden counts: 0, 1, .. of 300 people in each group. The difference in means is 65/300.
const CONTROL: [usize; 4] = [60, 120, 90, 30];
const TREATMENT: [usize; 5] = [50, 105, 95, 40, 10];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn rows(group: &str, counts: &[usize]) -> String {
    counts.iter().enumerate().map(|(count, &people)| format!("{group},{count}\n").repeat(people)).collect()
}

fn planned(sandbox: &Sandbox) {
    sandbox.write("schema.toml", "[[attribute]]\nname = \"Drugs\"\ncategories = [\"no\", \"yes\"]\n");
    sandbox.run("design schema.toml --method list --control-items 3 --allow-unbounded -o plan.json").fine();
}

const IMPORT: &str = "import plan.json survey.csv --cards group --card-labels control,treatment --answer-columns y";

/// The share is the difference in means, .216667, with its standard error, .078866.
#[test]
fn share_is_the_difference_in_means() {
    let sandbox = Sandbox::new();
    planned(&sandbox);
    sandbox.write("survey.csv", "group,y\n".to_owned() + &rows("control", &CONTROL) + &rows("treatment", &TREATMENT));
    sandbox.run(&format!("{IMPORT} -o responses.parquet")).fine();
    // With plug-in weights the chance by which groups are drawn leaves no error; else it does.
    for (method, error) in [("plug-in", 0.078_865_751_522_983_82), ("unbiased", 0.083_530_322_726_629_12)] {
        let words = ["estimate", "plan.json", "responses.parquet", "--tables", "Drugs", "--method", method, "--json"];
        let estimate = json(&sandbox.run_words(&words).fine().out);
        let yes = &estimate["tables"][0]["cells"][1];
        let number = |name: &str| yes[name].as_f64().unwrap();
        assert!((number("estimate") - 65.0 / 300.0).abs() < 1e-9, "{yes}");
        assert!((number("standard_error") / error - 1.0).abs() < 0.003, "{method}: {yes}");
    }
    // The joint distribution of both, which all counts together identify.
    let table = ["estimate", "plan.json", "responses.parquet", "--tables", "Drugs,Drugs_controls", "--json"];
    let joint = json(&sandbox.run_words(&table).fine().out);
    let expected = [0.166_667, 0.316_667, 0.233_333, 0.066_667, 0.033_333, 0.083_333, 0.066_667, 0.033_333];
    for (cell, expected) in joint["tables"][0]["cells"].as_array().unwrap().iter().zip(expected) {
        assert!((cell["estimate"].as_f64().unwrap() - expected).abs() < 1e-6, "{cell} {expected}");
    }
    // The same by both methods of regression.
    for (method, expected) in [("corrected", 0.083_530), ("ml", 0.078_866)] {
        let words = ["regress", "plan.json", "responses.parquet", "--model", "Drugs ~ 1", "--method", method, "--json"];
        let found = json(&sandbox.run_words(&words).fine().out);
        let intercept = &found["coefficients"][0];
        let share = 1.0 / (1.0 + (-intercept["estimate"].as_f64().unwrap()).exp());
        assert!((share - 65.0 / 300.0).abs() < 1e-5, "{method}: {intercept}");
        let error = intercept["standard_error"].as_f64().unwrap() * share * (1.0 - share);
        assert!((error / expected - 1.0).abs() < 0.003, "{method}: {error}");
        let log_likelihood = found["log_likelihood"].as_f64();
        assert!(log_likelihood.is_none_or(|value| (value + 807.624_689_312_464_2).abs() < 1e-6), "{found}");
    }
}

/// Groups of different sizes, said beforehand, with letters for groups; the difference in means again. The group that
/// the item is more common in is found.
#[test]
fn groups_may_differ_in_size_and_people_in_what_they_are() {
    let sandbox = Sandbox::new();
    let public = "[[attribute]]\nname = \"region\"\npublic = true\ncategories = [\"n\", \"s\"]\n";
    let item = "[[attribute]]\nname = \"Drugs\"\ncategories = [\"no\", \"yes\"]\n";
    sandbox.write("schema.toml", [item, public].concat());
    sandbox
        .run("design schema.toml --method list --control-items 3 --group-sizes 600,300 --allow-unbounded -o plan.json")
        .fine();
    let two = |region: &str, control: [usize; 4], treatment: [usize; 5]| -> String {
        let of = |group: &str, counts: &[usize]| -> String {
            rows(group, counts).lines().map(|line| format!("{region},{line}\n")).collect()
        };
        of("A", &control) + &of("B", &treatment)
    };
    // 600 and 300 people in each region; the difference in means is .15 in the north and .5 in the south.
    let north = two("n", [120, 240, 180, 60], [50, 110, 100, 35, 5]);
    let south = two("s", [120, 240, 180, 60], [30, 90, 105, 60, 15]);
    sandbox.write("survey.csv", "region,group,y\n".to_owned() + &north + &south);
    sandbox.run("import plan.json survey.csv --cards group --answer-columns y -o responses.csv").fine();
    let mean = |counts: &[usize]| {
        let people: usize = counts.iter().sum();
        counts.iter().enumerate().map(|(count, people)| (count * people) as f64).sum::<f64>() / people as f64
    };
    let control = mean(&[120, 240, 180, 60]);
    let expected = [mean(&[50, 110, 100, 35, 5]) - control, mean(&[30, 90, 105, 60, 15]) - control];
    let estimate = json(&sandbox.run("estimate plan.json responses.csv --tables Drugs --by region --json").fine().out);
    let text = estimate.to_string();
    let words = ["regress", "plan.json", "responses.csv", "--model", "Drugs ~ region", "--json"];
    let found = json(&sandbox.run_words(&words).fine().out);
    let logit = |share: f64| (share / (1.0 - share)).ln();
    let coefficient = |at: usize| found["coefficients"][at]["estimate"].as_f64().unwrap();
    assert!((coefficient(0) - logit(expected[0])).abs() < 1e-6, "{found} {text}");
    assert!((coefficient(1) - logit(expected[1]) + logit(expected[0])).abs() < 1e-6, "{found}");
    assert!(found["coefficients"][1]["p_value"].as_f64().unwrap() < 0.01, "{found}");
    // Another randomized question, and a direct one, beside the list.
    sandbox.write("other.toml", "[[attribute]]\nname = \"Party\"\ncategories = [\"a\", \"b\"]\n");
    sandbox.run("design other.toml --method independent --epsilon 2 -o other.json").fine();
    sandbox.run("combine plan.json other.json -o both.json").fine();
    let answered = |(row, line): (usize, &str)| format!("{line},{}\n", if row % 3 == 0 { "a" } else { "b" });
    let both: String = (north + &south).lines().enumerate().map(answered).collect();
    sandbox.write("both.csv", "region,group,y,Party\n".to_owned() + &both);
    sandbox.run("import both.json both.csv --cards group --answer-columns y,Party -o both.parquet").fine();
    let words = ["regress", "both.json", "both.parquet", "--model", "Drugs ~ region + Party", "--json"];
    let found = json(&sandbox.run_words(&words).fine().out);
    assert_eq!(found["coefficients"].as_array().unwrap().len(), 3, "{found}");
    sandbox
        .run_words(&["regress", "both.json", "both.parquet", "--model", "Party ~ Drugs", "--method", "ml"])
        .refused(1, &["together with an attribute that is not in the model"]);
    sandbox.run_words(&["regress", "both.json", "both.parquet", "--model", "Party ~ Drugs"]).fine();
}

#[test]
fn what_is_no_list_experiment() {
    let sandbox = Sandbox::new();
    planned(&sandbox);
    sandbox.run("design schema.toml --method list --control-items 3").refused(1, &["--allow-unbounded"]);
    sandbox.run("design schema.toml --method list").refused(2, &["needs --control-items"]);
    sandbox.run("design schema.toml --method list --control-items 0 --allow-unbounded").refused(1, &["1 to 20"]);
    sandbox.run("design schema.toml --method joint --control-items 3 --epsilon 1").refused(2, &["--method list"]);
    let said = sandbox.run("design schema.toml --method list --control-items 3 --allow-unbounded").fine();
    assert!(said.out.contains("a count of 0 reveals \"no\""), "{}{}", said.out, said.err);
    let audit = sandbox.run("audit plan.json").fine().out;
    assert!(audit.contains("No epsilon guarantee"), "{audit}");
    for (table, part) in [
        ("group,y\ncontrol,4\n", "with the card of this row"),
        ("group,y\ntreatment,5\n", "\"5\""),
        ("group,y\ntreatment,1.5\n", "1.5"),
        ("group,y\nplacebo,1\n", "placebo"),
        ("group,y\ncontrol,\n", "missing"),
        ("group,count\ncontrol,1\n", "\"y\""),
    ] {
        sandbox.write("survey.csv", table);
        sandbox.run(&format!("{IMPORT} -o out.csv")).refused(1, &[part]);
        assert!(!sandbox.path("out.csv").exists());
    }
    let import = "import plan.json survey.csv --cards group -o out.csv";
    sandbox.run(&format!("{import} --card-labels a")).refused(1, &["names 1 cards, but the plan has 2"]);
    sandbox.run(&format!("{import} --card-labels a,a")).refused(1, &["twice"]);
    sandbox.run(&format!("{import} --answer-columns y,z")).refused(1, &["the plan has 1 of answers"]);
}

/// A list experiment never has more information than direct questions, even if the law of the control items is at the
/// boundary.
#[test]
fn variance_inflation_is_not_below_one() {
    let sandbox = Sandbox::new();
    planned(&sandbox);
    let of = |group: &str, people: usize, rows: &[(usize, usize)]| -> String {
        rows.iter().map(|(count, age)| format!("{group},{count},{age}\n").repeat(people)).collect()
    };
    let control = [(0, 30), (0, 40), (1, 50), (1, 60), (1, 20), (1, 35), (2, 45), (2, 55), (2, 65), (3, 25)];
    let treatment =
        [(0, 31), (0, 41), (1, 51), (1, 61), (1, 21), (1, 36), (2, 46), (2, 56), (2, 66), (2, 26), (3, 33), (4, 48)];
    let rows = of("control", 30, &control) + &of("treatment", 25, &treatment);
    sandbox.write("survey.csv", "group,y,age\n".to_owned() + &rows);
    sandbox.run(&format!("{IMPORT} --keep age -o responses.parquet")).fine();
    let words = ["regress", "plan.json", "responses.parquet", "--model", "Drugs ~ age", "--method", "ml", "--json"];
    let found = json(&sandbox.run_words(&words).fine().out);
    let told = found["coefficients"].as_array().unwrap().iter().filter_map(|one| one["design_effect"].as_f64());
    let told: Vec<f64> = told.collect();
    assert!(!told.is_empty() && told.iter().all(|inflation| *inflation >= 1.0), "{found}");
}
