//! `candor compare` as a user runs it: the methods at equal privacy.

use crate::sandbox::Sandbox;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn method<'a>(compared: &'a Value, name: &str) -> &'a Value {
    compared["methods"].as_array().unwrap().iter().find(|m| m["method"] == name).unwrap()
}

/// The root mean square over all cells, from what `candor design` says of each table.
fn overall(designed: &Value, sizes: &[usize]) -> Option<f64> {
    let (mut squares, mut cells) = (0.0, 0.0);
    for table in designed["expected"].as_array().unwrap() {
        let place = |name: &Value| name.as_str().unwrap()[1..].parse::<usize>().unwrap() - 1;
        let count: usize = table["attributes"].as_array().unwrap().iter().map(|name| sizes[place(name)]).product();
        squares += count as f64 * table["standard_error"].as_f64()?.powi(2);
        cells += count as f64;
    }
    Some((squares / cells).sqrt())
}

#[test]
fn every_number_is_the_one_that_design_gives_for_the_command_shown() {
    let sandbox = Sandbox::new();
    let compared = json(
        &sandbox.run("compare --categories 4,3,5 --epsilon 3 --clusters a3,a1 --respondents 20000 --json").fine().out,
    );
    let methods = compared["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 10);
    for one in methods {
        let command = one["command"].as_str().unwrap().strip_prefix("candor ").unwrap();
        // Sampling and workload are for their own tables; of the others any can be asked.
        for (tables, field) in [("marginals", "one_way"), ("pairs", "two_way")] {
            let own = command.split_once("--tables ").map(|(_, rest)| rest.starts_with(tables));
            let more = if own.is_some() { String::new() } else { format!("--tables {tables}") };
            let respondents = if command.contains("--respondents") { "" } else { "--respondents 20000" };
            let designed = json(&sandbox.run(&format!("{command} --force {more} {respondents} --json")).fine().out);
            assert_eq!(designed["fingerprint"], one["fingerprint"], "{command}");
            assert_eq!(designed["epsilon"]["certified"], one["epsilon"]);
            if own != Some(false) {
                let (expected, found) = (overall(&designed, &[4, 3, 5]).unwrap(), one[field].as_f64().unwrap());
                assert!((found / expected - 1.0).abs() < 1e-9, "{command} {tables}");
            }
        }
    }

    // The least error is recommended; l-diversity has no epsilon, so it is no candidate.
    let with_epsilon = methods.iter().filter(|m| m["epsilon"].is_f64());
    let best =
        with_epsilon.filter_map(|m| Some((m["two_way"].as_f64()?, &m["method"]))).min_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(compared["recommended"], *best.unwrap().1);
    assert!(method(&compared, "l-diversity")["epsilon"].is_null());
    assert_eq!(method(&compared, "sampling one attribute")["identifiable"], false);
    assert!(method(&compared, "sampling one attribute")["two_way"].is_null());
    for one in methods.iter().filter(|m| m["method"] != "l-diversity") {
        let epsilon = one["epsilon"].as_f64().unwrap();
        assert!(epsilon <= 3.0 && epsilon > 3.0 - 1e-6, "{one}");
        assert!(one["told"].as_str().unwrap().contains("times as likely"), "{one}");
    }
}

#[test]
fn the_tables_decide_which_is_best() {
    let sandbox = Sandbox::new();
    let best = |tables: &str| {
        let text = sandbox.run(&format!("compare --categories 4,3,5,6 --epsilon 2 --tables {tables}")).fine().out;
        let marked: Vec<String> =
            text.lines().filter_map(|line| line.strip_prefix("  * ")).map(str::to_owned).collect();
        assert_eq!(marked.len(), 1, "{text}");
        let name = text.split(&format!("Best for {tables}: ")).nth(1).unwrap().lines().next().unwrap().to_owned();
        assert!(marked[0].starts_with(&name), "{text}");
        let command = text.lines().last().unwrap().trim().strip_prefix("candor ").unwrap().to_owned();
        sandbox.run(&format!("{command} --force")).fine();
        (name, text)
    };
    assert!(["sampling one pair", "workload"].contains(&best("pairs").0.as_str()));
    let (name, text) = best("marginals");
    assert!(["sampling one attribute", "workload"].contains(&name.as_str()), "{text}");
    let (_, text) = best("a1,a2,a3");
    assert!(text.contains("a1,a2,a3"), "a column for the tables asked for: {text}");
    let (name, text) = best("a2");
    assert_eq!(name, "workload", "only it can give everything to one attribute: {text}");
}

#[test]
fn one_attribute_of_two_categories() {
    let sandbox = Sandbox::new();
    let text = sandbox.run("compare --categories 2 --epsilon 1").fine().out;
    assert!(text.contains("Best for marginals: independent") && !text.contains("two-way"), "{text}");
    assert!(text.contains("l-diversity needs three categories or more, but \"a1\" has two"), "{text}");
    assert!(text.contains("too few randomized attributes for \"pairs\""), "{text}");
    let compared = json(&sandbox.run("compare --categories 2 --epsilon 1 --json").fine().out);
    assert!(method(&compared, "sampling one pair")["identifiable"].is_null());
    assert!(method(&compared, "sampling one pair")["reason"].as_str().unwrap().contains("too few"));
}

/// 50 repeats of 6,000 records, for 6 one-way and 9 two-way cells: the mean of so many squares is within a third of its
/// expectation but for one time in a million, and the root within a sixth; a little more for cells that go together.
#[test]
fn simulations_agree_and_repeat() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 6_000);
    let command = "compare schema.toml --epsilon 3 --simulate people.csv --repeats 50 --seed 4";
    let compared = json(&sandbox.run(&format!("{command} --json")).fine().out);
    assert_eq!(compared["respondents"], 6000.0);
    let mut agreed = 0;
    assert!(
        method(&compared, "clusters")["reason"].as_str().unwrap().contains("no clusters of two or more attributes")
    );
    for one in compared["methods"].as_array().unwrap().iter().filter(|one| one["reason"].is_null()) {
        for list in one["simulation"].as_array().unwrap() {
            let (Some(predicted), Some(simulated)) = (list["predicted"].as_f64(), list["simulated"].as_f64()) else {
                assert_eq!(
                    (one["method"].as_str(), list["tables"].as_str()),
                    (Some("sampling one attribute"), Some("two-way"))
                );
                continue;
            };
            assert!((simulated / predicted - 1.0).abs() < 0.25, "{} {list}", one["method"]);
            agreed += 1;
        }
    }
    assert_eq!(agreed, 2 * 9 - 1);
    let text = sandbox.run(command).fine().out;
    assert!(text.contains("6,000 records randomized 50 times under every plan (seed 4)"), "{text}");
    assert_eq!(text, sandbox.run(command).fine().out);
}

#[test]
fn mistakes_are_told() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 50);
    sandbox.write("wrong.csv", "region,smokes,age\nnorth,maybe,30\n");
    sandbox.write("empty.csv", "region,smokes,age\n");
    sandbox.run("randomize plan.json people.csv -o responses.csv").fine();
    for (words, code, part) in [
        ("schema.toml", 2, "--epsilon"),
        ("schema.toml --epsilon 0", 2, "above 0 and at most 50"),
        ("schema.toml --epsilon -1", 2, "above 0 and at most 50"),
        ("schema.toml --epsilon nan", 2, "above 0 and at most 50"),
        ("schema.toml --epsilon 51", 2, "protects nobody"),
        ("schema.toml --l 3", 2, "cannot be used with"),
        ("--epsilon 1", 2, "<SCHEMA>"),
        ("schema.toml --epsilon 1 --tables smoke", 1, "did you mean \"smokes\"?"),
        ("schema.toml --epsilon 1 --tables triples", 1, "too few randomized attributes"),
        ("none.toml --epsilon 1", 1, "cannot read none.toml"),
        ("--categories 3,1 --epsilon 1", 1, "\"a2\" has 1 category"),
        ("--categories 3,4 --l 2", 2, "one attribute"),
        ("--categories 1 --l 2", 2, "2 to 65,535"),
        ("schema.toml --epsilon 1 --seed 3", 2, "--simulate"),
        ("schema.toml --epsilon 1 --simulate none.csv", 1, "none.csv"),
        ("schema.toml --epsilon 1 --simulate wrong.csv", 1, "\"maybe\" is not a category"),
        ("schema.toml --epsilon 1 --simulate empty.csv", 1, "empty.csv"),
        ("schema.toml --epsilon 1 --simulate responses.csv", 1, "responses.csv"),
        ("schema.toml --epsilon 1 --simulate people.csv --repeats 0", 2, "--repeats"),
    ] {
        sandbox.run(&format!("compare {words}")).refused(code, &[part]);
    }
}

#[test]
fn methods_are_drawn_with_their_errors_and_the_least() {
    let sandbox = Sandbox::new();
    let words = "compare --categories 3,4 --epsilon 2 --plot methods.svg --plot methods.png --json";
    let said: serde_json::Value = serde_json::from_str(&sandbox.run(words).fine().out).unwrap();
    let svg = sandbox.read("methods.svg");
    for method in said["methods"].as_array().unwrap().iter().filter(|method| method["fingerprint"].is_string()) {
        assert!(svg.contains(method["method"].as_str().unwrap()), "{method}");
    }
    for part in [
        "further left is better",
        "least possible",
        "percentages of everybody",
        "percentages within groups",
        "role=\"img\"",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    assert!(std::fs::read(sandbox.path("methods.png")).unwrap().starts_with(b"\x89PNG"));
    sandbox.run("compare --categories 3 --epsilon 2 --plot methods.txt").refused(2, &["ends in .svg or .png"]);
    sandbox.run("compare --categories 20 --l 3 --plot methods.svg").refused(2, &["cannot be used with"]);
}
