//! Shares among those who, comparisons, numbers and rows, as an analyst asks for them.

use crate::sandbox::{Sandbox, rows};
use serde_json::Value;

const SCHEMA: &str = r#"
[[attribute]]
name = "Income"
kind = "ordinal"
categories = ["10", "20", "40", ""]

[[attribute]]
name = "Sex"
categories = ["f", "m"]

[[attribute]]
name = "a,b"
categories = ["0", "1"]

[[attribute]]
name = "Region"
public = true
categories = ["north", "south", "moon"]
"#;

/// People whose income depends on sex and region; nobody lives on the moon, and one in eight does not tell.
fn people(shift: usize) -> String {
    let mut text = String::from("Income,Sex,\"a,b\",Region\n");
    for i in 0..4000usize {
        let (sex, north) = (i % 2, i % 5 != 0);
        let income = match (i / 10 + shift * (i % 3)) % 8 {
            0 => "",
            1..=3 => ["10", "20"][sex],
            4..=6 => ["20", "40"][sex],
            _ => "10",
        };
        text += &format!("{income},{},{},{}\n", ["f", "m"][sex], i / 7 % 2, if north { "north" } else { "south" });
    }
    text
}

/// A plan so weak that answers are as good as the truth, and one that is not.
fn survey() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", SCHEMA);
    for (name, shift) in [("people", 0), ("later", 1)] {
        sandbox.write(&format!("{name}.csv"), people(shift));
    }
    sandbox.run("design schema.toml --method independent --epsilon 60 --max-epsilon 100 -o open.json").fine();
    sandbox.run("design schema.toml --method independent --epsilon 9 -o plan.json").fine();
    sandbox.run("randomize open.json people.csv -o open.csv --seed 1").fine();
    sandbox.run("randomize plan.json people.csv -o answers.csv --seed 1").fine();
    sandbox.run("randomize plan.json later.csv -o later-answers.csv --seed 2").fine();
    sandbox
}

/// The rows of a CSV text, quotes taken off; a cell that is empty in quotes is `""`.
fn cells(text: &str) -> Vec<Vec<String>> {
    let row = |line: &str| {
        let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
        for sign in line.chars() {
            match sign {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(std::mem::take(&mut cell)),
                other => cell.push(other),
            }
        }
        cells.push(cell);
        cells
    };
    text.lines().map(row).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The share of rows with these values among those with others, counted.
fn counted(sandbox: &Sandbox, income: &str, sex: &str, answered: bool) -> f64 {
    let people = rows(&sandbox.read("people.csv"));
    let among: Vec<_> = people[1..].iter().filter(|row| row[1] == sex && !(answered && row[0].is_empty())).collect();
    among.iter().filter(|row| row[0] == income).count() as f64 / among.len() as f64
}

#[test]
fn row_percentages_are_those_of_the_table() {
    let sandbox = survey();
    for answered in [false, true] {
        let mut words = vec!["estimate", "open.json", "open.csv", "--tables", "Income | Sex", "--json"];
        words.extend(answered.then_some("--complete-cases"));
        let table = json(&sandbox.run_words(&words).fine().out)["tables"][0].clone();
        assert_eq!(
            (&table["attributes"], &table["given"]),
            (&serde_json::json!(["Sex", "Income"]), &serde_json::json!(["Sex"]))
        );
        let cells = table["cells"].as_array().unwrap();
        assert_eq!(cells.len(), if answered { 6 } else { 8 });
        for cell in cells {
            let label = |at: usize| cell["categories"][at].as_str().unwrap();
            let truth = counted(&sandbox, label(1), label(0), answered);
            let number = |name: &str| cell[name].as_f64().unwrap();
            assert!((number("estimate") - truth).abs() < 1e-3, "{cell}");
            // The error of a share of about 2,000 people.
            let error = (truth * (1.0 - truth) / if answered { 1750.0 } else { 2000.0 }).sqrt();
            assert!((number("standard_error") - error).abs() < 2e-4, "{cell} {error}");
            assert!(0.0 <= number("low") && number("low") <= truth && truth <= number("high") && number("high") <= 1.0);
        }
    }
}

#[test]
fn groups_that_nobody_is_in_are_not_known() {
    let sandbox = survey();
    let said = sandbox.run_words(&["estimate", "plan.json", "answers.csv", "--tables", "Sex | Region"]).fine();
    assert!(said.out.contains("Sex among those with the same Region") && said.out.contains("moon x f"), "{}", said.out);
    let line = said.out.lines().find(|line| line.contains("moon x m")).unwrap();
    assert_eq!(line.split_whitespace().skip(3).collect::<Vec<_>>(), ["-", "-", "0.0000", "1.0000", "too", "imprecise"]);
    // The same group by group, where there is anybody.
    let by = json(&sandbox.run("estimate plan.json answers.csv --tables Sex --by Region --json").fine().out);
    let among = json(
        &sandbox.run_words(&["estimate", "plan.json", "answers.csv", "--tables", "Sex | Region", "--json"]).fine().out,
    );
    for (at, group) in by["tables"].as_array().unwrap().iter().enumerate() {
        for (cell, other) in
            group["cells"].as_array().unwrap().iter().zip(&among["tables"][0]["cells"].as_array().unwrap()[2 * at..])
        {
            for number in ["estimate", "standard_error", "low", "high"] {
                assert_eq!(cell[number], other[number]);
            }
        }
    }
}

#[test]
fn groups_and_waves_are_compared() {
    let sandbox = survey();
    let said =
        json(&sandbox.run("estimate plan.json answers.csv --tables Income --compare-groups Sex --json").fine().out);
    let one = &said["comparisons"][0];
    assert_eq!(
        (one["compared"].as_str(), one["first"].as_str(), one["second"].as_str()),
        (Some("Sex"), Some("f"), Some("m"))
    );
    for cell in one["cells"].as_array().unwrap() {
        let label = cell["categories"][0].as_str().unwrap();
        let truth = counted(&sandbox, label, "m", false) - counted(&sandbox, label, "f", false);
        let d = |name: &str| cell["difference"][name].as_f64().unwrap();
        assert!((d("estimate") - truth).abs() < 5.0 * d("standard_error") && d("low") < d("high"), "{cell} {truth}");
    }
    let said = sandbox.run("estimate plan.json later-answers.csv --tables Income --baseline answers.csv").fine();
    assert!(
        said.out.contains("now less before") && said.err.contains("repeat a stored response"),
        "{} {}",
        said.out,
        said.err
    );
    // Under another plan with the same categories; other tables are refused.
    sandbox.run("estimate open.json open.csv --tables Income --baseline answers.csv --baseline-plan plan.json").fine();
    sandbox.run("estimate open.json open.csv --tables Income --baseline answers.csv").refused(1, &["plan"]);
    sandbox.write("two.toml", SCHEMA.replace("\"10\", \"20\"", "\"11\", \"20\""));
    sandbox.run("design two.toml --method independent --epsilon 9 -o two.json").fine();
    sandbox.write("two.csv", people(0).replace("\n10,", "\n11,"));
    sandbox.run("randomize two.json two.csv -o two-answers.csv --seed 3").fine();
    sandbox
        .run("estimate plan.json answers.csv --tables Income --baseline two-answers.csv --baseline-plan two.json")
        .refused(1, &["--baseline: the earlier responses have different tables"]);
}

#[test]
fn means_and_quantiles() {
    let sandbox = survey();
    let words = ["estimate", "open.json", "open.csv", "--mean", "Income | Sex", "--quantile", "Income:0.5", "--json"];
    let said = json(&sandbox.run_words(&words).fine().out);
    assert_eq!(said["tables"].as_array().unwrap().len(), 0);
    let people = rows(&sandbox.read("people.csv"));
    for (row, sex) in said["numbers"].as_array().unwrap().iter().zip(["f", "m"]) {
        let numbers: Vec<f64> =
            people[1..].iter().filter(|row| row[1] == sex).filter_map(|row| row[0].parse().ok()).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / numbers.len() as f64;
        assert_eq!(row["group"]["Sex"], sex);
        let found = |name: &str, of: &str| row[name][of].as_f64().unwrap();
        assert!(
            (found("mean", "estimate") - mean).abs() < 0.02 && (found("variance", "estimate") - variance).abs() < 0.5,
            "{row}"
        );
        assert!((found("mean", "standard_error") - (variance / numbers.len() as f64).sqrt()).abs() < 0.002, "{row}");
    }
    assert_eq!(said["numbers"][2]["quantiles"][0]["category"], "20");
    sandbox.run("estimate plan.json answers.csv --mean Sex").refused(1, &["has no numeric score", "--scores"]);
    sandbox.run("estimate plan.json answers.csv --quantile Income:2").refused(1, &["above 0 and below 1"]);
    sandbox.run("estimate plan.json answers.csv --quantile Income").refused(1, &["--quantile", "name:0.5"]);
    sandbox.run("estimate plan.json answers.csv --mean Sex --scores Sex:0,1").fine();
}

#[test]
fn one_column_for_each_attribute() {
    let sandbox = survey();
    let tables = [
        "estimate",
        "plan.json",
        "answers.csv",
        "--tables",
        "Income | Sex; 'a,b'",
        "--by",
        "Region",
        "--format",
        "csv",
    ];
    let said = cells(&sandbox.run_words(&tables).fine().out);
    assert_eq!(
        said[0],
        ["table", "quantity", "Income", "Sex", "a,b", "Region"]
            .into_iter()
            .chain(["estimate", "standard_error", "low", "high", "shown_estimate", "reliability"])
            .collect::<Vec<_>>()
    );
    assert_eq!(said.len(), 1 + 2 * (8 + 2));
    assert_eq!(said[1][..6], ["Income | Sex", "share", "10", "f", "", "north"]);
    assert_eq!(said[9][..6], ["a,b", "share", "", "", "0", "north"]);
    let joined =
        sandbox.run("estimate plan.json answers.csv --tables Income,Sex --format csv --single-cell-column").fine().out;
    assert!(
        joined.starts_with(
            "table,group,cell,estimate,standard_error,low,high,shown_estimate,reliability\n\"Income,Sex\",\"\",10*f,"
        ),
        "{joined}"
    );
    let compared = cells(
        &sandbox.run("estimate plan.json answers.csv --tables Income --compare-groups Sex --format csv").fine().out,
    );
    assert!(compared.iter().any(|row| row[1] == "difference" && row[3] == "m - f"), "{compared:?}");
    sandbox.run("estimate plan.json answers.csv --tables pairs --format parquet -o pairs.parquet").fine();
    sandbox.run("estimate plan.json answers.csv --single-cell-column").refused(2, &["--single-cell-column requires"]);
}

#[test]
fn names_in_quotes_everywhere() {
    let sandbox = survey();
    let run = |words: &[&str]| sandbox.run_words(words);
    run(&["estimate", "plan.json", "answers.csv", "--tables", "\"a,b\",Sex;'a,b' | Sex"]).fine();
    run(&["test", "plan.json", "answers.csv", "--independence", "'a,b',Sex"]).fine();
    run(&["query", "plan.json", "answers.csv", "--where", "'a,b' = 1"]).fine();
    run(&["design", "schema.toml", "--method", "clusters", "--clusters", "'a,b',Sex", "--epsilon", "6"]).fine();
    run(&["estimate", "plan.json", "answers.csv", "--tables", "a,b"]).refused(1, &["no attribute"]);
    run(&["estimate", "plan.json", "answers.csv", "--tables", "'a,b"]).refused(1, &["is not closed"]);
    run(&["estimate", "plan.json", "answers.csv", "--tables", "Income | Sex", "--method", "projected"])
        .refused(2, &["unbiased"]);
    run(&["estimate", "plan.json", "answers.csv", "--tables", "Income", "--compare-groups", "Income"])
        .refused(1, &["--compare-groups"]);
    run(&["estimate", "plan.json", "answers.csv", "--tables", "pairs", "--compare-groups", "Sexx"])
        .refused(1, &["did you mean"]);
}

/// Groups of counts made elsewhere are slices of their tables.
#[test]
fn counts_made_elsewhere_in_groups() {
    let sandbox = survey();
    let answers = rows(&sandbox.read("answers.csv"));
    let mut counts: std::collections::BTreeMap<(String, String), usize> = Default::default();
    for row in &answers[1..] {
        *counts.entry((row[1].clone(), row[3].clone())).or_default() += 1;
    }
    let lines = counts.iter().map(|((sex, region), n)| format!("{sex},{region},{n}\n")).collect::<String>();
    sandbox.write("counts.csv", format!("Sex,Region,count\n{lines}"));
    let run = |words: &str| json(&sandbox.run(words).fine().out)["tables"].clone();
    let direct = run("estimate plan.json answers.csv --tables Sex --by Region --json");
    assert_eq!(run("estimate plan.json --counts counts.csv --tables Sex --by Region --json --unmarked"), direct);
    sandbox
        .run("estimate plan.json --counts counts.csv --tables Sex,Region --by Region --unmarked")
        .refused(2, &["is also in a table"]);
}

/// Where answers are sets of categories, "no answer" is one of them: it goes through the channel like all others, in
/// every format.
#[test]
fn missing_answers_in_sets() {
    let sandbox = survey();
    for (design, plan) in
        [("minimax --likelihood-ratio 1.5", "minimax.json"), ("l-diversity --l 2 --allow-unbounded", "l.json")]
    {
        sandbox.write("one.toml", SCHEMA.split("[[attribute]]\nname = \"Sex\"").next().unwrap());
        sandbox.run(&format!("design one.toml --method {design} -o {plan} --force")).fine();
        let mut found = Vec::new();
        for file in ["sets.csv", "sets.parquet", "sets.jsonl"] {
            sandbox.run(&format!("randomize {plan} people.csv -o {file} --force --seed 1")).fine();
            let words = ["estimate", plan, file, "--json"];
            let all: Value = serde_json::from_str(&sandbox.run_words(&words).fine().out).unwrap();
            let cells = all["tables"][0]["cells"].as_array().unwrap().clone();
            // One in eight does not tell; five standard errors leave one in a million.
            let missing = &cells[3];
            assert_eq!(missing["categories"][0], "");
            let off = missing["estimate"].as_f64().unwrap() - 0.125;
            assert!(off.abs() < 5.0 * missing["standard_error"].as_f64().unwrap(), "{plan}: {missing}");
            found.push(cells);
            let among = sandbox.run(&format!("estimate {plan} {file} --complete-cases")).fine().out;
            assert!(!among.contains("\"\""), "{among}");
        }
        assert!(found.iter().all(|cells| *cells == found[0]), "{plan}");
    }
}
