//! Numbers that are announced as bounds hold as they are printed: they are read off the output and compared with the
//! JSON.

use crate::sandbox::Sandbox;
use serde_json::Value;

const DESIGNS: [&str; 8] = [
    "--categories 3,4 --method independent --epsilon 1.1",
    "--categories 2,3,5 --method joint --epsilon 2.3",
    "--categories 2,3,5 --method workload --tables pairs --epsilon 1.7",
    "--categories 3,4 --method optimal --epsilon 0.9",
    "--categories 7 --method minimax --attribute-epsilon 1.3",
    "--categories 4 --method warner --p 0.57",
    "--categories 2,2 --method sampling --epsilon 0.0007",
    "--categories 3 --method front --prior 0.5,0.3,0.2 --map-privacy 0.4 --posterior-bound 0.8",
];

/// What rounding up may have added: a unit of the last digit that is shown.
const MAX_ADDED: f64 = 1.01e-4;

fn number(text: &str) -> Option<f64> {
    text.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// A bound from above that is shown is not below what it is, and hardly above it.
fn is_above(shown: f64, actual: f64, about: &str) {
    assert!(shown >= actual - 1e-10 && shown <= actual + MAX_ADDED * actual.max(1.0), "{about}: {shown} for {actual}");
}

/// The number before or after some words, in every place where they stand.
fn numbers(text: &str, words: &str, after: bool) -> Vec<f64> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let pieces: Vec<&str> = text.split(words).collect();
    let pick = |pair: &[&str]| match after {
        true => pair[1].split(' ').find_map(number),
        false => pair[0].rsplit(' ').find_map(number),
    };
    pieces.windows(2).filter_map(pick).collect()
}

fn value_of<'a>(audit: &'a Value, name: &str) -> &'a Value {
    audit["criteria"].as_array().unwrap().iter().find(|criterion| criterion["name"] == name).unwrap()
}

/// The rows of attributes: guesses and both epsilons; a column without numbers is not printed.
fn check_rows(text: &str, json: &Value, about: &str) {
    // Headings of wide tables take two lines.
    let lines: Vec<&str> = text.lines().collect();
    let heading = lines.iter().position(|line| line.trim_start().starts_with("attribute ")).unwrap();
    let header = lines[heading.saturating_sub(1)..=heading].join(" ");
    for attribute in json["attributes"].as_array().unwrap() {
        let name = attribute["name"].as_str().unwrap();
        let row = text.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        let fields = ["worst_posterior", "guess_probability", "", "marginal_epsilon", "conditional_epsilon"];
        let first = if header.contains("retention") { 3 } else { 2 };
        let has = |field: &&str| *field != "marginal_epsilon" || header.contains("marginal");
        for (at, field) in fields.into_iter().filter(has).enumerate() {
            if let (Some(shown), Some(actual)) = (number(cells[first + at]), attribute[field].as_f64()) {
                is_above(shown, actual, &format!("{about}: {name}, {field}"));
            }
        }
    }
}

fn check_audit(text: &str, audit: &Value, about: &str) {
    check_rows(text, audit, about);
    let mut read = 0;
    for criterion in audit["criteria"].as_array().unwrap() {
        let name = criterion["name"].as_str().unwrap();
        let line = text.lines().find(|line| line.starts_with(&format!("  {name} "))).unwrap();
        let (Some(shown), Some(actual)) =
            (line.split_whitespace().nth(1).and_then(number), criterion["value"].as_f64())
        else {
            continue;
        };
        read += 1;
        match name {
            "map-privacy" => {
                assert!(shown <= actual + 1e-10 && shown > actual - MAX_ADDED, "{about}: {shown} {actual}")
            }
            _ => is_above(shown, actual, &format!("{about}: {name}")),
        }
    }
    assert!(read >= 6, "{about}: {read} numbers");
    let security = value_of(audit, "average-security")["value"].as_f64().unwrap();
    assert_eq!(numbers(text, "is right at most", true).len(), 1, "{about}");
    numbers(text, "is right at most", true).iter().for_each(|&n| is_above(n, security, about));
    let guessing = value_of(audit, "guessing")["value"].as_f64().unwrap();
    assert_eq!(numbers(text, "at most, and the whole record", false).len(), 1, "{about}: {text}");
    numbers(text, "at most, and the whole record", false).iter().for_each(|&n| is_above(n, guessing, about));
}

#[test]
fn announced_bounds_hold_as_they_are_printed() {
    let sandbox = Sandbox::new();
    for (i, design) in DESIGNS.iter().enumerate() {
        let words = format!("design {design} --max-epsilon 100 -o plan{i}.json");
        let text = sandbox.run(&words).fine().out;
        let json: Value = serde_json::from_str(&sandbox.run(&format!("{words} --json")).fine().out).unwrap();
        check_rows(&text, &json, design);
        let audit: Value =
            serde_json::from_str(&sandbox.run(&format!("audit plan{i}.json --json")).fine().out).unwrap();
        check_audit(&sandbox.run(&format!("audit plan{i}.json --verbose")).fine().out, &audit, design);
        // What respondents are told is about the largest conditional epsilon.
        let largest = audit["attributes"].as_array().unwrap().iter().map(|a| a["conditional_epsilon"].as_f64());
        let Some(largest) = largest.collect::<Option<Vec<f64>>>() else { continue };
        let times = largest.into_iter().fold(0.0, f64::max).exp();
        for words in [format!("explain plan{i}.json"), format!("audit plan{i}.json")] {
            for told in numbers(&sandbox.run(&words).fine().out, "times as likely under your answer", false) {
                assert!(told >= times * (1.0 - 1e-9) && told <= times * 1.02, "{words}: {told} for {times}");
            }
        }
    }
}

#[test]
fn reports_announce_bounds_that_hold() {
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 500);
    sandbox.plan();
    sandbox.run("randomize plan.json people.csv -o r.csv --seed 1").fine();
    let html = sandbox.run("report plan.json r.csv -o -").fine().out;
    let audit: Value = serde_json::from_str(&sandbox.run("audit plan.json --json").fine().out).unwrap();
    let largest = audit["attributes"].as_array().unwrap().iter().map(|a| a["conditional_epsilon"].as_f64().unwrap());
    let times = largest.fold(0.0, f64::max).exp();
    let told = numbers(&html, "times as likely", false);
    assert!(!told.is_empty(), "{html}");
    assert!(told.iter().any(|&told| told >= times * (1.0 - 1e-9) && told <= times * 1.02), "{told:?} for {times}");
}
