//! Whatever the plan and the survey: what is shown can be published.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// Numbers that look like chance and are the same every time.
struct Draws(u64);

impl Draws {
    /// A number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// How plans are made, for three attributes of these sizes and a public one.
const METHODS: [&str; 16] = [
    "--epsilon 0.3 --time-limit 1",
    "--epsilon 5 --tables a,b --time-limit 1",
    "--method independent --epsilon 1",
    "--method independent --epsilon 20",
    "--method joint --epsilon 2",
    "--method sampling --epsilon 2 --tables marginals",
    "--method minimax --parity 3",
    "--method l-diversity --l 2",
    "--method optimal --epsilon 3 --time-limit 1",
    "device --epsilon 3",
    "--method clusters --clusters a,b;c --epsilon 3",
    "--method heuristic --epsilon 2 --allow-larger-epsilon",
    "--method reduced --attribute-epsilon 1,0.5,2",
    "--method optimal --attribute-epsilon 2,1,1 --time-limit 1",
    "device --epsilon 2 --compliance-check",
    "--method independent --attribute-epsilon 6,0.05,3",
];

/// How the people of a survey are weighted, or drawn.
const DESIGNS: [&str; 4] = ["", "--weights weight", "--weights weight --strata stratum --psu unit", "--psu unit"];

/// A survey of so many people with skewed answers, some of them missing if `gaps`.
fn survey(sandbox: &Sandbox, draws: &mut Draws, people: u64, gaps: bool) {
    let sizes = [3 + draws.below(3), 3 + draws.below(2), 3 + draws.below(6)];
    let attribute = |(name, size): (&str, &u64)| {
        let labels: Vec<String> =
            (0..*size).map(|code| format!("\"{code}\"")).chain(gaps.then(|| "\"\"".to_owned())).collect();
        format!("[[attribute]]\nname = \"{name}\"\ncategories = [{}]\n\n", labels.join(", "))
    };
    let private: String = ["a", "b", "c"].into_iter().zip(&sizes).map(attribute).collect();
    let region = "[[attribute]]\nname = \"region\"\npublic = true\ncategories = [\"north\", \"south\", \"nowhere\"]\n";
    sandbox.write("schema.toml", private + region);
    let mut text = String::from("a,b,c,region,weight,stratum,unit\n");
    for person in 0..people {
        let mut code = |size: u64| match draws.below(20) {
            0 if gaps => String::new(),
            1..=12 => "0".to_owned(),
            _ => draws.below(size).to_string(),
        };
        let codes = sizes.map(&mut code).join(",");
        let region = if draws.below(10) == 0 { "south" } else { "north" };
        text += &format!("{codes},{region},{},{},{}\n", 1 + draws.below(5), person % 2, person / 2 % 9);
    }
    sandbox.write("people.csv", text);
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Every share that is shown lies in its interval and is a share; what is hidden is not shown.
fn check_json(estimates: &Value, about: &str) {
    for cell in estimates["tables"].as_array().unwrap().iter().flat_map(|table| table["cells"].as_array().unwrap()) {
        let number = |name: &str| cell[name].as_f64().unwrap_or_else(|| panic!("{about}: {name} in {cell}"));
        let (low, high, grade) = (number("low"), number("high"), cell["reliability"].as_str().unwrap());
        // A share among people of whom there are none is not defined.
        let defined = !cell["estimate"].is_null() && number("standard_error") >= 0.0;
        assert!(low <= high && (defined || grade == "hidden"), "{about}: {cell}");
        match cell["shown_estimate"].as_f64() {
            Some(shown) => {
                assert!(matches!(grade, "shown" | "rough") && (0.0..=1.0).contains(&shown), "{about}: {cell}");
                assert!((low - 1e-12..=high + 1e-12).contains(&shown), "{about}: {cell}");
            }
            None => assert!(matches!(grade, "under" | "hidden"), "{about}: {cell}"),
        }
    }
    for compared in estimates["comparisons"].as_array().into_iter().flatten() {
        for cell in compared["cells"].as_array().unwrap() {
            let difference = &cell["difference"];
            let number = |name: &str| difference[name].as_f64();
            match (number("low"), number("estimate"), number("high")) {
                (Some(low), Some(estimate), Some(high)) => {
                    // A difference that no two shares have is unbiased all the same; pages put it into its interval.
                    assert!((low..=high).contains(&estimate) || estimate.abs() > 1.0, "{about}: {cell}");
                }
                _ => assert!(difference["estimate"].is_null() || difference["low"].is_null(), "{about}: {cell}"),
            }
        }
    }
    assert!(estimates["verdict"].is_string() && estimates["verdict_text"].is_string(), "{about}");
}

/// The fields of a row of CSV; commas in quotes separate nothing.
fn fields(row: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for c in row.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

/// The same of rows of CSV.
fn check_csv(text: &str, about: &str) {
    let mut lines = text.lines().map(fields);
    let header = lines.next().unwrap();
    let at = |name: &str| header.iter().position(|known| *known == name).unwrap();
    for row in lines {
        let number = |name: &str| row[at(name)].parse::<f64>();
        let (low, high) = (number("low").unwrap(), number("high").unwrap());
        match number("shown_estimate") {
            Ok(shown) => assert!((low - 1e-12..=high + 1e-12).contains(&shown), "{about}: {row:?}"),
            Err(_) => assert!(matches!(row[at("reliability")].as_str(), "under" | "hidden"), "{about}: {row:?}"),
        }
    }
}

/// The number after each place where a tag has this attribute.
fn numbers_after<'a>(html: &'a str, start: &'a str) -> impl Iterator<Item = f64> + 'a {
    html.split(start).skip(1).map(|rest| rest.split(['%', '"']).next().unwrap().parse().unwrap())
}

/// What is drawn: every dot on its bar, and both on the scale.
fn check_drawings(html: &str, about: &str) {
    for drawing in html.split("<svg role=\"img\"><title>").skip(1) {
        let drawing = drawing.split("</svg>").next().unwrap();
        let bar = drawing.split("class=\"band\"").nth(1).unwrap();
        let [from, to] = ["x1=\"", "x2=\""].map(|start| numbers_after(bar, start).next().unwrap());
        for dot in numbers_after(drawing, "cx=\"") {
            assert!((0.0..=100.0).contains(&from) && to <= 100.0, "{about}: off the scale: {drawing}");
            assert!((from..=to).contains(&dot), "{about}: a dot beside its bar: {drawing}");
        }
    }
}

/// What a page shows: no number that is none, percentages from 0 to 100, and a shade only below what is precise.
fn check_page(html: &str, about: &str) {
    check_drawings(html, about);
    let shown = html.split("data:text/csv").next().unwrap().to_owned() + html.split("</a></p>").nth(1).unwrap_or("");
    for wrong in ["NaN", "inf ", ">inf<", "-0<", "-0.0<"] {
        assert!(!shown.contains(wrong), "{about}: {wrong}");
    }
    // Differences may be below 0.
    let rows = shown.split("<tr").skip(1).map(|row| (row.starts_with(" class=\"points\""), row));
    for (difference, cell) in rows.flat_map(|(points, row)| row.split("<td").skip(1).map(move |cell| (points, cell))) {
        let tag = cell.split('>').next().unwrap();
        let imprecise = ["rough", "under", "hidden"].iter().any(|grade| tag.contains(&format!("class=\"{grade}")));
        assert!(!(imprecise && tag.contains("style=")), "{about}: an imprecise cell is shaded: {tag}");
        let bold = cell.split("<b>").nth(1).and_then(|rest| rest.split("</b>").next());
        if let Some(Ok(percent)) = bold.map(|text| text.replace(',', "").parse::<f64>()) {
            let percent = if difference { percent.abs() } else { percent };
            assert!((0.0..=100.0).contains(&percent), "{about}: {percent}");
        }
    }
}

#[test]
fn random_surveys_are_shown_within_their_intervals() {
    let mut draws = Draws(38);
    let mut shown = 0;
    for (number, method) in METHODS.iter().enumerate() {
        let sandbox = Sandbox::new();
        let people = [12, 300, 5_000][number % 3];
        // Answers that are sets have no label of nothing.
        let single = method.contains("independent") || method.contains("joint");
        survey(&sandbox, &mut draws, people, number % 2 == 0 && single);
        let design = DESIGNS[number % 4];
        let about = format!("{method}, {people} people {design}");
        let made = match method.strip_prefix("device") {
            Some(flags) => format!("device schema.toml{flags} -o plan.json"),
            None => format!("design schema.toml {method} -o plan.json"),
        };
        sandbox.run(&made).fine();
        for (file, seed) in [("responses", 1), ("earlier", 2)] {
            let keep = "--keep weight,stratum,unit";
            sandbox.run(&format!("randomize plan.json people.csv {keep} --seed {seed} -o {file}.csv")).fine();
        }
        for asked in [
            "'marginals;a,b;region,c'",
            "'a | region'",
            "'a;c' --compare-groups region",
            "'b;a,c' --by region",
            "'marginals;a,b' --standards nchs",
        ] {
            let command = format!("estimate plan.json responses.csv --tables {asked} {design}");
            let words: Vec<String> = words(&command);
            let run = |more: &[&str]| {
                let all: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
                sandbox.run_words(&all).fine().out
            };
            let said = json(&run(&["--json"]));
            check_json(&said, &about);
            shown += said.to_string().matches("\"shown\"").count();
            if !asked.contains("--compare-groups") {
                check_csv(&run(&["--format", "csv"]), &about);
            }
            let report = ["report".to_owned()].into_iter().chain(words[1..].to_vec()).chain(["-o".into(), "-".into()]);
            let report: Vec<String> = report.collect();
            let report: Vec<&str> = report.iter().map(String::as_str).collect();
            check_page(&sandbox.run_words(&report).fine().out, &about);
        }
        let waves = "report plan.json responses.csv --baseline 2024=earlier.csv --wave 2025 -o -";
        check_page(&sandbox.run(waves).fine().out, &about);
    }
    assert!(shown > 20, "some of it is precise: {shown}");
}

#[test]
fn questions_for_some_are_shown_within_their_intervals() {
    let sandbox = Sandbox::new();
    let schema = "[[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"yes\"]\n\n[[attribute]]\nname = \
                  \"daily\"\nasked_if = \"smokes = yes\"\ncategories = [\"few\", \"many\"]\n\n[[attribute]]\nname \
                  = \"sex\"\npublic = true\ncategories = [\"f\", \"m\"]\n";
    sandbox.write("schema.toml", schema);
    let person = |i: u64| [["no,", "no,", "yes,few", "no,"][(i % 4) as usize], ["f", "m"][(i % 2) as usize]].join(",");
    for (people, method) in [(40, "--epsilon 1"), (3_000, "--epsilon 2"), (800, "--method independent --epsilon 3")] {
        let rows: String = (0..people).map(|i| person(i) + "\n").collect();
        sandbox.write("people.csv", format!("smokes,daily,sex\n{rows}"));
        sandbox.run(&format!("design schema.toml {method} --tables marginals;pairs -o plan.json --force")).fine();
        sandbox.run("randomize plan.json people.csv --seed 1 --force -o responses.csv").fine();
        for tables in ["marginals;pairs", "daily|smokes"] {
            let asked = format!("plan.json responses.csv --tables {tables}");
            let about = format!("{method}, {people} people: {tables}");
            check_json(&json(&sandbox.run(&format!("estimate {asked} --json")).fine().out), &about);
            check_csv(&sandbox.run(&format!("estimate {asked} --format csv")).fine().out, &about);
            check_page(&sandbox.run(&format!("report {asked} -o -")).fine().out, &about);
        }
    }
}

/// Whether a check complains.
fn complains(check: impl FnOnce() + std::panic::UnwindSafe) -> bool {
    std::panic::catch_unwind(check).is_err()
}

#[test]
fn what_must_not_be_shown_is_found() {
    let page = |cell: &'static str| complains(move || check_page(&format!("<table><tr>{cell}</tr></table>"), ""));
    assert!(!page("<td><b>12.0</b> ±3.0</td><td class=\"rough\"><b>40.0</b></td>"));
    for wrong in ["<td><b>NaN</b></td>", "<td><b>132.4</b></td>", "<td><b>-3.0</b></td>", "<td><b>-0.0</b></td>"] {
        assert!(page(wrong), "{wrong}");
    }
    assert!(page("<td class=\"rough\" style=\"background: blue\"><b>40.0</b></td>"));
    let drawn = |dot: u32| {
        let drawing = format!(
            "<td><svg role=\"img\"><title>t</title><line class=\"band\" x1=\"10.0%\" x2=\"20.0%\"/><circle \
             cx=\"{dot}%\"/></svg></td>"
        );
        complains(move || check_page(&drawing, ""))
    };
    assert_eq!([9, 15, 21].map(drawn), [true, false, true]);
    let json = |estimate: f64, shown: f64, grade: &str| {
        let cell = serde_json::json!({"estimate": estimate, "standard_error": 0.1, "low": 0.1, "high": 0.3,
            "shown_estimate": shown, "reliability": grade});
        let all = serde_json::json!({"tables": [{"cells": [cell]}], "verdict": "ok", "verdict_text": "Fine."});
        complains(move || check_json(&all, ""))
    };
    assert!(!json(0.2, 0.2, "shown") && json(0.4, 0.4, "shown") && json(0.2, 0.2, "hidden"));
    let csv = |shown: &str, grade: &str| {
        let text = format!("low,high,shown_estimate,reliability\n0.1,0.3,{shown},{grade}\n");
        complains(move || check_csv(&text, ""))
    };
    assert!(!csv("0.2", "shown") && csv("0.4", "shown") && csv("", "shown") && !csv("", "hidden"));
}

/// Words of a command; those in quotes stand together.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| match i % 2 {
            1 => vec![part.to_owned()],
            _ => part.split_whitespace().map(str::to_owned).collect(),
        })
        .collect()
}
