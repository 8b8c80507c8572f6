//! Numbers on a grid, as a user meets them: schema, randomize, estimate, compare.

use crate::sandbox::{Sandbox, rows};
use serde_json::Value;

const PEOPLE: usize = 40_000;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Incomes that crowd at the lower ends of bins, with a schema that puts them on a grid and one that puts them into
/// bins.
fn incomes() -> (Sandbox, f64) {
    let sandbox = Sandbox::new();
    let income = |i: usize| 25.0 * (i % 4) as f64 + (i % 50) as f64 / 10.0;
    let people: String = (0..PEOPLE).map(|i| format!("{}\n", income(i))).collect();
    sandbox.write("people.csv", format!("Income\n{people}"));
    let attribute = |rest: &str| format!("[[attribute]]\nname = \"Income\"\nkind = \"ordinal\"\n{rest}\n");
    let points = "grid = [0, 25, 50, 75, 100]\ncategories = [\"0\", \"25\", \"50\", \"75\", \"100\", \"\"]";
    sandbox.write("grid.toml", attribute(points));
    let bins = "edges = [25, 50, 75]\ncategories = [\"a\", \"b\", \"c\", \"d\"]";
    sandbox.write("bins.toml", attribute(bins));
    let truth = (0..PEOPLE).map(income).sum::<f64>() / PEOPLE as f64;
    (sandbox, truth)
}

/// The mean and its standard error.
fn mean(sandbox: &Sandbox, flags: &str) -> (f64, f64) {
    let said = json(&sandbox.run(&format!("estimate {flags} --mean Income --json")).fine().out);
    let mean = &said["numbers"][0]["mean"];
    (mean["estimate"].as_f64().unwrap(), mean["standard_error"].as_f64().unwrap())
}

#[test]
fn means_of_points_are_unbiased_where_those_of_bins_are_not() {
    let (sandbox, truth) = incomes();
    for kind in ["grid", "bins"] {
        sandbox.run(&format!("schema check {kind}.toml people.csv")).fine();
        sandbox.run(&format!("design {kind}.toml --method independent --epsilon 3 -o {kind}.json")).fine();
        sandbox.run(&format!("randomize {kind}.json people.csv -o {kind}.csv --seed 5")).fine();
    }
    let (found, error) = mean(&sandbox, "grid.json grid.csv");
    // Five and a half standard errors: a false alarm is rarer than 1e-6.
    assert!((found - truth).abs() < 5.5 * error && error < 0.5, "{found} {error} {truth}");
    let (found, error) = mean(&sandbox, "bins.json bins.csv --scores Income:12.5,37.5,62.5,87.5");
    assert!((found - truth).abs() > 20.0 * error, "{found} {error} {truth}");
    // Rounding at random adds to the variance and moves quantiles: of a grid neither is told.
    let said = json(&sandbox.run("estimate grid.json grid.csv --mean Income --json").fine().out);
    assert_eq!(said["numbers"][0]["variance"], Value::Null);
    sandbox.run("estimate grid.json grid.csv --quantile Income:0.5").refused(1, &["--quantile", "ask for the mean"]);
    // The same seed gives the same responses, another one others; so does the operating system.
    sandbox.run("randomize grid.json people.csv -o again.csv --seed 5").fine();
    assert_eq!(sandbox.read("again.csv"), sandbox.read("grid.csv"));
    let plan = json(&sandbox.read("grid.json"));
    assert_eq!((plan["version"].as_u64(), &plan["schema"]["attributes"][0]["grid"][1]), (Some(2), &Value::from("25")));
    assert_eq!(json(&sandbox.read("bins.json"))["version"].as_u64(), Some(1));
}

/// With an epsilon at which answers are the truth, what is left is the rounding itself.
#[test]
fn a_number_becomes_one_of_its_neighbours() {
    let (sandbox, _) = incomes();
    sandbox.run("design grid.toml --method independent --epsilon 30 -o open.json").fine();
    let people: String = (0..4000).map(|_| "30\n").collect();
    sandbox.write("thirty.csv", format!("Income\n{people}"));
    sandbox.run("randomize open.json thirty.csv -o thirty-responses.csv --seed 1").fine();
    let table = rows(&sandbox.read("thirty-responses.csv"));
    let count = |label: &str| table[1..].iter().filter(|row| row[0] == label).count();
    // A fifth of the way from 25 to 50: the standard deviation is 25.3.
    assert_eq!(count("25") + count("50"), 4000);
    assert!((count("50") as f64 - 800.0).abs() < 140.0, "{}", count("50"));
    let one = sandbox
        .run_with("randomize open.json --stream", "{\"Income\": 100}\n{\"Income\": \"\"}\n{\"Income\": 0.5e2}\n")
        .fine();
    let answers: Vec<Value> = one.out.lines().map(|line| json(line)["Income"].clone()).collect();
    assert_eq!(answers, ["100", "", "50"]);
}

#[test]
fn what_is_outside_the_grid_is_told() {
    let (sandbox, _) = incomes();
    sandbox.run("design grid.toml --method independent --epsilon 3 -o grid.json").fine();
    for bad in ["100.5", "-1", "much"] {
        sandbox.write("bad.csv", format!("Income\n10\n{bad}\n"));
        let told = ["row 2", bad, "does not fit; a number from 0 to 100 or nothing (missing) is expected"];
        sandbox.run("randomize grid.json bad.csv -o out.csv").refused(1, &told);
        let checked = sandbox.run("schema check grid.toml bad.csv").refused(1, &["1 value in 2 records"]);
        assert!(
            checked.out.contains("does not fit; a number from 0 to 100 or nothing (missing) is expected"),
            "{}",
            checked.out
        );
    }
    sandbox
        .write("both.toml", "[[attribute]]\nname = \"a\"\nedges = [1]\ngrid = [1, 2]\ncategories = [\"x\", \"y\"]\n");
    sandbox
        .run("design both.toml --method independent --epsilon 1 -o both.json")
        .refused(1, &["by edges or by a grid"]);
}

#[test]
fn grids_are_compared_for_a_mean() {
    let (sandbox, _) = incomes();
    let said = sandbox.run("compare grid.toml --epsilon 4 --for mean:Income --respondents 10000").fine().out;
    assert!(said.contains("from 0 to 100, at epsilon 4") && said.contains("grid = [0, 25, 50, 75, 100]"), "{said}");
    let found = json(&sandbox.run("compare grid.toml --epsilon 0.5 --for mean:Income --json").fine().out);
    assert_eq!(found["grid"], serde_json::json!([0.0, 100.0]));
    let methods = found["methods"].as_array().unwrap();
    let times = |method: &str| {
        let row = methods.iter().find(|row| row["method"] == method).unwrap();
        row["times_the_best"].as_f64().unwrap()
    };
    assert!((times("duchi") - 1.0).abs() < 1e-9 && times("piecewise") > 1.2, "{found}");
    for (flags, told) in [
        ("compare bins.toml --epsilon 1 --for mean:Income", "has no grid"),
        ("compare grid.toml --epsilon 1 --for Income", "mean:Age"),
        ("compare grid.toml --epsilon 1 --for mean:Age", "no attribute \"Age\""),
    ] {
        sandbox.run(flags).refused(1, &[told]);
    }
    sandbox
        .run("compare grid.toml --epsilon 1 --for mean:Income --tables marginals")
        .refused(2, &["cannot be used with"]);
}
