//! Which epsilon, as a user asks.

use crate::sandbox::Sandbox;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn choose_recommends_the_plan_that_its_command_makes() {
    let sandbox = Sandbox::new();
    let asked = "choose --categories 3,2,4 --respondents 30000 --tables pairs --margin 0.1 --max-guess 0.95";
    let said = sandbox.run(asked).fine().out;
    let found = json(&sandbox.run(&format!("{asked} --json")).fine().out);
    assert_eq!(found["verdict"], "ok", "{said}");
    let one_line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.starts_with(found["verdict_text"].as_str().unwrap()), "{said}");
    assert!(said.lines().count() <= 40 && said.lines().all(|line| line.chars().count() <= 140), "{said}");
    let command = found["command"].as_str().unwrap();
    assert!(said.contains(command), "{said}");
    sandbox.run(command.strip_prefix("candor ").unwrap()).fine();
    let designed =
        json(&sandbox.run(&format!("{} --json --force", command.strip_prefix("candor ").unwrap())).fine().out);
    let recommended = found["recommended"].as_f64().unwrap();
    let row = found["epsilons"].as_array().unwrap().iter().find(|row| row["epsilon"] == recommended).unwrap();
    assert_eq!(row["fingerprint"], designed["fingerprint"]);
    let margins = designed["expected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| 1.96 * table["conditional_error"].as_f64().or(table["standard_error"].as_f64()).unwrap());
    let widest = margins.fold(0.0, f64::max);
    assert!((row["margin"].as_f64().unwrap() / widest - 1.0).abs() < 1e-9 && widest <= 0.1, "{row} {widest}");
    let guesses = designed["attributes"].as_array().unwrap().iter();
    let worst = guesses.map(|attribute| attribute["worst_posterior"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(row["worst_posterior"], worst);
    assert!(worst <= 0.95);
    for one in found["deployments"].as_array().unwrap() {
        assert!(one["epsilon"].as_f64().unwrap() > 0.0 && !one["source"].as_str().unwrap().is_empty());
        assert!(said.contains(one["what"].as_str().unwrap()));
    }
}

#[test]
fn choose_says_what_each_wish_takes_if_none_gives_both() {
    let sandbox = Sandbox::new();
    let found = json(&sandbox.run("choose --categories 2 --respondents 1000 --max-guess 0.75 --json").fine().out);
    assert_eq!(found["verdict"], "imprecise");
    assert!(found["recommended"].is_null() && found["command"].is_null(), "{found}");
    assert!(found["for_margin"].as_f64() > found["for_guess"].as_f64(), "{found}");
    assert!(!sandbox.run("choose --categories 2 --respondents 1000 --max-guess 0.75").fine().out.contains("Next:"));
}

#[test]
fn choose_rejects_bad_input() {
    let sandbox = Sandbox::new();
    for (words, code, parts) in [
        ("--categories 2", 2, &["--respondents"][..]),
        ("--categories 2 --respondents 0", 2, &["from 1 to 10^12"]),
        ("--categories 2 --respondents 100 --margin 5", 1, &["--margin is 5", "0.05 for five percentage points"]),
        ("--categories 2 --respondents 100 --margin -1", 1, &["--margin is -1"]),
        ("--categories 2 --respondents 100 --margin nan", 1, &["--margin is NaN"]),
        ("--categories 2 --respondents 100 --max-guess 75", 1, &["--max-guess is 75", "0.75 for 75 of 100"]),
        ("--categories 2,9 --respondents 100 --max-guess 0.5", 1, &["\"a1\"", "right in 50 of 100"]),
        ("--categories 1 --respondents 100", 1, &["--categories"]),
        ("--categories 2,3 --respondents 100 --tables a9", 1, &["a9"]),
        ("missing.toml --respondents 100", 1, &["missing.toml"]),
    ] {
        sandbox.run(&format!("choose {words}")).refused(code, parts);
    }
}
