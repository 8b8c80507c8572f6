//! `candor estimate`, `test`, `size` and `sql` as an analyst runs them.

use crate::sandbox::{Sandbox, rows};
use serde_json::Value;
use std::collections::BTreeMap;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The cells of a table in the JSON of `estimate`, by their categories.
fn cells(value: &Value, table: usize) -> BTreeMap<Vec<String>, (f64, f64, f64, f64)> {
    let number = |cell: &Value, field: &str| cell[field].as_f64().unwrap_or(f64::NAN);
    let cell = |cell: &Value| {
        let categories =
            cell["categories"].as_array().unwrap().iter().map(|c| c.as_str().unwrap().to_owned()).collect();
        (
            categories,
            (number(cell, "estimate"), number(cell, "standard_error"), number(cell, "low"), number(cell, "high")),
        )
    };
    value["tables"][table]["cells"].as_array().unwrap().iter().map(cell).collect()
}

/// The Adult data, randomized at a generous epsilon.
fn adult() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.adult("adult.csv");
    sandbox.run("schema infer adult.csv -o schema.toml").fine();
    sandbox.run("design schema.toml --method independent --epsilon 24 -o plan.json").fine();
    sandbox.run("randomize plan.json adult.csv -o responses.csv --seed 11").fine();
    sandbox.run("randomize plan.json adult.csv -o responses.parquet --seed 11").fine();
    sandbox
}

#[test]
fn the_name_of_the_output_tells_its_format() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 200);
    sandbox.run("randomize plan.json people.csv -o r.csv --seed 1").fine();
    let written = |name: &str, more: &str| {
        sandbox.run(&format!("estimate plan.json r.csv -o {name} {more}")).fine();
        std::fs::read(sandbox.path(name)).unwrap()
    };
    assert!(written("t.csv", "").starts_with(b"table,quantity,"));
    assert!(written("T.JSON", "").starts_with(b"{"));
    assert!(written("t.parquet", "").starts_with(b"PAR1"));
    let is_text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().contains("\n200 responses, ");
    assert!(is_text(written("t.txt", "")));
    assert!(is_text(written("u.csv", "--format text")), "what is said goes before the name");
    assert!(written("u.txt", "--json").starts_with(b"{"));
}

#[test]
fn estimates_cover_the_truth_about_adult() {
    let sandbox = adult();
    let people = rows(&sandbox.read("adult.csv"));
    let truth = |columns: &[usize]| {
        let mut counts: BTreeMap<Vec<String>, f64> = BTreeMap::new();
        for row in &people[1..] {
            *counts.entry(columns.iter().map(|&c| row[c].clone()).collect()).or_default() +=
                1.0 / (people.len() - 1) as f64;
        }
        counts
    };
    // "This table" is what was randomized: its intervals are the honest ones for the counts of Adult.
    let pairs =
        json(&sandbox.run("estimate plan.json responses.parquet --tables pairs --target records --json").fine().out);
    assert_eq!((pairs["method"].as_str(), pairs["target"].as_str()), (Some("unbiased"), Some("records")));
    assert_eq!(pairs["respondents"], 32_561);
    assert_eq!(pairs["tables"].as_array().unwrap().len(), 28);
    let (mut covered, mut all) = (0, 0);
    for (table, value) in pairs["tables"].as_array().unwrap().iter().enumerate() {
        assert_eq!(value["identifiable"], true);
        assert_eq!(value["implausible"], false);
        let names: Vec<&str> = value["attributes"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
        let columns: Vec<usize> = names.iter().map(|n| people[0].iter().position(|h| h == n).unwrap()).collect();
        let truth = truth(&columns);
        for (categories, (_, _, low, high)) in cells(&pairs, table) {
            let share = truth.get(&categories).copied().unwrap_or(0.0);
            covered += usize::from(low <= share && share <= high);
            all += 1;
        }
    }
    let coverage = f64::from(covered as u32) / f64::from(all as u32);
    // Cells of overlapping tables share their noise: eight seeds gave 0.953 to 0.974, with a standard deviation of
    // 0.008.
    assert!((0.92..0.995).contains(&coverage), "{coverage} of {all} cells");
    // CSV and Parquet say the same.
    let csv = json(&sandbox.run("estimate plan.json responses.csv --tables pairs --target records --json").fine().out);
    assert_eq!(csv["tables"], pairs["tables"]);
}

#[test]
fn methods_intervals_and_formats() {
    let sandbox = adult();
    let run = |flags: &str| {
        sandbox.run(&format!("estimate plan.json responses.csv --tables Education,Income {flags}")).fine()
    };
    let unbiased = json(&run("--json --interval wald").out);
    let simultaneous = json(&run("--json --interval simultaneous").out);
    let table = json(&run("--json --target records").out);
    for ((key, wald), wide) in cells(&unbiased, 0).iter().zip(cells(&simultaneous, 0).values()) {
        assert_eq!(wald.0, wide.0, "{key:?}");
        assert!(wide.3 - wide.2 > 1.5 * (wald.3 - wald.2));
        assert!((wald.3 - wald.2 - 2.0 * 1.959_964 * wald.1).abs() < 1e-6);
    }
    // What is the default is never below 0, and otherwise nearly the same with so many responses.
    for (wald, binomial) in cells(&unbiased, 0).values().zip(cells(&json(&run("--json").out), 0).values()) {
        assert_eq!((wald.0, wald.1), (binomial.0, binomial.1));
        assert!(
            binomial.2 >= 0.0 && (binomial.3 - wald.3).abs() < 0.2 * wald.1 + wald.0.min(0.0).abs(),
            "{wald:?} {binomial:?}"
        );
    }
    for (population, table) in cells(&unbiased, 0).values().zip(cells(&table, 0).values()) {
        assert_eq!(population.0, table.0);
        let adds = if table.0 > 0.0 { table.1 < population.1 } else { table.1 == population.1 };
        assert!(adds, "drawing from a population adds uncertainty: {table:?} {population:?}");
    }
    for method in ["iterative", "projected", "clipped"] {
        let value = json(&run(&format!("--json --method {method}")).out);
        let cells = cells(&value, 0);
        assert_eq!(value["method"], method);
        assert!((cells.values().map(|cell| cell.0).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(cells.values().all(|cell| cell.0 >= 0.0 && cell.1.is_nan()), "{method}");
        assert!(run(&format!("--method {method}")).out.contains("not unbiased"));
    }
    let bootstrap = json(&run("--json --interval bootstrap").out);
    for (wald, resampled) in cells(&unbiased, 0).values().zip(cells(&bootstrap, 0).values()) {
        let ratio = (resampled.3 - resampled.2) / (wald.3 - wald.2);
        assert_eq!(wald.0, resampled.0);
        assert!((0.8..1.2).contains(&ratio), "{ratio}");
    }
    let refused = json(&run("--json --interval bootstrap --target records").out);
    assert!(refused["tables"][0]["reason"].as_str().unwrap().contains("not for these records"));
    run("--format parquet -o tables.parquet");
    assert!(std::fs::read(sandbox.path("tables.parquet")).unwrap().starts_with(b"PAR1"));
    let csv = run("--format csv --single-cell-column").out;
    assert_eq!(csv.lines().count(), 33);
    assert!(
        csv.starts_with(
            "table,group,cell,estimate,standard_error,low,high,shown_estimate,reliability\n\
             \"Education,Income\",\"\",10th*<=50K,"
        ),
        "{csv}"
    );
    run("-o tables.txt");
    assert!(sandbox.read("tables.txt").contains("Education x Income"));
    let text = run("").out;
    assert!(
        text.contains("or better.\n\n32,561 responses, unbiased estimate, 95% binomial intervals for the population\n"),
        "{text}"
    );
}

#[test]
fn groups_weights_and_counts() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 6000);
    let text = sandbox.read("people.csv");
    let weighted: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("{line},w") } else { format!("{line},{}", 1 + i / 7 % 3) })
        .collect();
    sandbox.write("people.csv", weighted.join("\n") + "\n");
    sandbox.run("randomize plan.json people.csv -o r.csv --keep w --seed 1").fine();
    let estimate =
        |flags: &str| json(&sandbox.run(&format!("estimate plan.json {flags} --json --unmarked")).fine().out);

    // By a public attribute: the groups together make the whole.
    let whole = estimate("r.csv --tables smokes");
    let by = estimate("r.csv --tables smokes --by region");
    assert_eq!(by["tables"].as_array().unwrap().len(), 2);
    assert_eq!(by["tables"][0]["group"]["region"], "north");
    for (key, cell) in cells(&whole, 0) {
        let mean = (cells(&by, 0)[&key].0 + cells(&by, 1)[&key].0) / 2.0;
        assert!((mean - cell.0).abs() < 1e-9, "{key:?}");
        assert!(cells(&by, 0)[&key].1 > cell.1);
    }
    sandbox.run("estimate plan.json r.csv --by smokes").refused(1, &["\"smokes\" is randomized"]);

    // Weights: constant ones change nothing, others widen the errors.
    let weighted = estimate("r.csv --tables smokes --weights w");
    for (key, cell) in cells(&whole, 0) {
        let other = cells(&weighted, 0)[&key];
        assert!((other.0 - cell.0).abs() < 0.1 && other.1 > cell.1, "{key:?}");
    }
    let responses = sandbox.read("r.csv");
    let constant = responses.lines().map(|line| {
        let (rest, last) = line.rsplit_once(',').unwrap();
        format!("{rest},{}\n", if last == "w" { "w" } else { "2.5" })
    });
    sandbox.write("c.csv", constant.collect::<String>());
    let constant = estimate("c.csv --tables smokes,age --weights w");
    for (key, cell) in cells(&estimate("c.csv --tables smokes,age"), 0) {
        let other = cells(&constant, 0)[&key];
        assert!((other.0 - cell.0).abs() < 1e-9 && (other.1 - cell.1).abs() < 1e-9, "{key:?}");
    }
    sandbox.run("estimate plan.json c.csv --weights smokes --unmarked").refused(1, &["column \"smokes\""]);
    for weight in ["-1", "inf", "1e200", "1e-200"] {
        sandbox.write("w.csv", format!("region,smokes,age,w\nnorth,no,below 30,{weight}\n"));
        sandbox.run("estimate plan.json w.csv --weights w --unmarked").refused(1, &["row 1", "from 1e-15 to 1e15"]);
    }
    sandbox.run("estimate plan.json c.csv --weights nothing --unmarked").refused(1, &["no column \"nothing\""]);

    // Counts made elsewhere, in two files that merge, say what the responses say.
    let mut counts: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    for row in &rows(&sandbox.read("r.csv"))[1..] {
        *counts.entry((row[0].clone(), row[1].clone(), row[2].clone())).or_default() += 1;
    }
    let (mut one, mut two) = (String::from("region,smokes,age,count\n"), String::from("age,region,smokes,count\n"));
    for ((region, smokes, age), n) in &counts {
        one += &format!("{region},{smokes},{age},{}\n", n / 2);
        two += &format!("{age},{region},{smokes},{}\n", n - n / 2);
    }
    sandbox.write("one.csv", one);
    sandbox.write("two.csv", two);
    let direct = estimate("r.csv --tables smokes,age;region,smokes");
    let merged = estimate("--counts one.csv two.csv --tables smokes,age;region,smokes");
    assert_eq!(direct["tables"], merged["tables"]);
    sandbox.write("bad.csv", "smokes,count\nyes,-1\n");
    sandbox
        .run("estimate plan.json --counts bad.csv --tables smokes --unmarked")
        .refused(1, &["row 1, column \"count\": \"-1\" is not a count"]);
    sandbox.write("bad.csv", "smokes,count\nyes,1.5\n");
    sandbox
        .run("estimate plan.json --counts bad.csv --tables smokes --unmarked")
        .refused(1, &["\"1.5\" is not a count"]);
    sandbox.write("bad.csv", "smokes,count\nmaybe,1\n");
    sandbox
        .run("estimate plan.json --counts bad.csv --tables smokes --unmarked")
        .refused(1, &["\"maybe\" cannot be answered"]);
    sandbox
        .run("estimate plan.json --counts bad.csv --tables age --unmarked")
        .refused(1, &["no counts for the table \"age\"", "candor sql"]);
    sandbox.write("bad.csv", "smokes\nyes\n");
    sandbox.run("estimate plan.json --counts bad.csv --tables smokes --unmarked").refused(1, &["no column \"count\""]);
}

#[test]
fn the_query_for_databases() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    let query = sandbox.run("sql plan.json --tables smokes,age;region,smokes --from answers").fine().out;
    let without =
        query.split(", 'sha256:").map(|part| part.split_once("candor_fingerprint\"").map_or(part, |(_, rest)| rest));
    let query = without.collect::<String>();
    assert!(query.contains(
        "SELECT 'smokes,age' AS \"candor_table\", CAST(NULL AS VARCHAR) AS \"region\", CAST(\"smokes\" AS VARCHAR) AS \
         \"smokes\", CAST(\"age\" AS VARCHAR) AS \"age\", COUNT(*) AS \"count\"\nFROM answers\nGROUP \
         BY \"smokes\", \"age\""
    ), "{query}");
    assert_eq!(query.matches("UNION ALL").count(), 1);
    let spark = sandbox.run("sql plan.json --tables smokes --dialect spark").fine().out;
    assert!(spark.contains("CAST(`smokes` AS STRING)"), "{spark}");
    // What such a query answers is read back, each table from its own rows.
    sandbox.write(
        "counts.csv",
        "candor_table,region,smokes,age,count\n\"age,smokes\",,yes,below 30,70\n\"age,smokes\",,no,50 or more,30\n\
         \"region,smokes\",north,yes,,100\n",
    );
    let value =
        json(&sandbox.run("estimate plan.json --counts counts.csv --tables smokes,age --json --unmarked").fine().out);
    assert_eq!(value["respondents"], 100);
}

#[test]
fn counts_of_sets() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4 --method minimax --likelihood-ratio 1.2 -o plan.json").fine();
    let text = sandbox.run("sql plan.json --dialect postgres").fine().out;
    assert!(text.contains("UNNEST(string_to_array(CAST(\"a1\" AS TEXT), ';'))"), "{text}");
    let list = sandbox.run("sql plan.json --dialect postgres --sets list").fine().out;
    assert!(list.contains("UNNEST(\"a1\") AS"), "{list}");
    let estimate = |rows: &str| {
        sandbox.write("counts.csv", format!("candor_table,candor_holds,a1,count\n{rows}"));
        sandbox.run("estimate plan.json --counts counts.csv --json --unmarked")
    };
    // The same answers, as sets and by what they hold.
    let sets = json(&estimate("a1,,0;1,30\na1,,1;3,50\n").fine().out);
    assert_eq!(sets["respondents"], 80);
    let held = json(&estimate("a1,responses,,80\na1,cells,0,30\na1,cells,1,80\na1,cells,3,50\n").fine().out);
    assert_eq!(sets["tables"], held["tables"]);
    for (rows, parts) in [
        ("a1,responses,,80\na1,cells,1,30\n", &["\"a1\" are inconsistent", "sum to 30", "fill 160"][..]),
        ("a1,responses,,80\na1,cells,1,160\n", &["a cell counts 160", "at most 80 times"]),
        ("a1,,1;1,80\n", &["a cell counts 160", "at most 80 times"]),
        ("a1,cells,1,30\n", &["are inconsistent", "fill 0"]),
        ("a1,,0,30\na1,,1,80\na1,,3,50\n", &["are inconsistent"]),
        ("a1,responses,,80\na1,cells,1;2,160\n", &["row 2, column \"a1\": \"1;2\" cannot be answered"]),
        ("a1,people,,80\n", &["row 1, column \"candor_holds\": \"people\" is not what a row can count"]),
    ] {
        estimate(rows).refused(1, parts);
    }
}

#[test]
fn independence_and_sizes() {
    let sandbox = adult();
    let said = sandbox.run("test plan.json responses.parquet --independence Sex,Income").fine().out;
    assert!(said.contains("Corrected for the randomization: chi-square") && said.contains("Odds ratio"), "{said}");
    let value = json(&sandbox.run("test plan.json responses.parquet --independence Sex,Income --json").fine().out);
    assert!(value["p_value"].as_f64().unwrap() < 1e-6);
    // The truth: Cramér's V .215980, odds ratio 3.58.
    assert!((value["cramers_v"].as_f64().unwrap() - 0.215_98).abs() < 0.03, "{value}");
    let odds = &value["odds_ratio"];
    assert!(odds["low"].as_f64().unwrap() < 3.6 && odds["high"].as_f64().unwrap() > 3.5, "{value}");
    assert_eq!(value["degrees"], 1);
    let wide =
        json(&sandbox.run("test plan.json responses.parquet --independence Education,Occupation --json").fine().out);
    assert_eq!(wide["degrees"], 15 * 14);
    assert!(wide["odds_ratio"].is_null());
    for (pair, code, part) in [
        ("Sex", 2, "two attributes"),
        ("Sex,Income;Race", 2, "one pair"),
        ("Sex,Sex", 1, "twice"),
        ("Sex,Incme", 1, "did you mean \"Income\"?"),
    ] {
        sandbox.run(&format!("test plan.json responses.csv --independence {pair}")).refused(code, &[part]);
    }

    // Before collecting: what to expect, and how many people a margin takes.
    let expected = json(
        &sandbox.run("design schema.toml --method independent --epsilon 24 --json --respondents 32561").fine().out,
    );
    let sex = expected["expected"].as_array().unwrap().iter().find(|e| e["attributes"][0] == "Sex").unwrap();
    let estimate = json(&sandbox.run("estimate plan.json responses.csv --tables Sex --json").fine().out);
    let found = cells(&estimate, 0)[&vec!["Male".to_owned()]].1;
    assert!((sex["standard_error"].as_f64().unwrap() - found).abs() < 0.001, "{sex} {found}");
    let text = sandbox
        .run("design schema.toml --method independent --epsilon 24 --respondents 5000 --tables Sex,Income")
        .fine()
        .out;
    assert!(text.contains("Standard errors to expect from 5,000 respondents") && text.contains("Sex,Income"), "{text}");
    // Domingo-Ferrer and Soria-Comas 2020, eqs. 5 and 6, for two equally likely answers: sqrt(B) = 2.241403 (r = 2).
    let (absolute, relative) = (sex["absolute_error"].as_f64().unwrap(), sex["relative_error"].as_f64().unwrap());
    assert!((absolute - 2.241_403 * 0.5 / 32_561f64.sqrt()).abs() < 1e-8);
    assert!((relative - 2.241_403 / 32_561f64.sqrt()).abs() < 1e-8);
    let size = json(&sandbox.run("size plan.json --margin 0.02 --tables Sex --json").fine().out);
    let needed = size["tables"][0]["respondents"].as_f64().unwrap();
    // Sizes and errors are two sides of one formula: 1.96 se(n) = 0.02.
    let se = sex["standard_error"].as_f64().unwrap() * (32_561f64 / needed).sqrt();
    assert!((1.959_964 * se - 0.02).abs() < 1e-4, "{needed} {se}");
    sandbox.run("size plan.json --margin 0").refused(2, &["expected a share above 0 and below 1"]);
    sandbox.run("size plan.json --margin 0.02 --tables Sx").refused(1, &["did you mean \"Sex\"?"]);
    sandbox
        .run("design --categories 2 --method independent --epsilon 1 --respondents 0")
        .refused(2, &["integer from 1"]);
}

#[test]
fn what_cannot_be_estimated_is_explained_and_the_rest_answered() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 2,3,4 --attribute-epsilon 0,2,0.01 -o plan.json").fine();
    let mut text = String::from("a1,a2,a3\n");
    (0..500).for_each(|i| text += &format!("{},{},{}\n", i % 2, i % 3, i % 4));
    sandbox.write("people.csv", text);
    sandbox.run("randomize plan.json people.csv -o r.csv --seed 2").fine();
    let value = json(&sandbox.run("estimate plan.json r.csv --json").fine().out);
    let tables = value["tables"].as_array().unwrap();
    assert_eq!((tables[0]["identifiable"].as_bool(), tables[0]["cells"].as_array().unwrap().len()), (Some(false), 0));
    assert!(
        tables[0]["reason"].as_str().unwrap().contains("carry no information about \"a1\""),
        "{}",
        tables[0]["reason"]
    );
    assert_eq!((tables[1]["identifiable"].as_bool(), tables[1]["cells"].as_array().unwrap().len()), (Some(true), 3));
    assert!(
        tables[2]["reason"].as_str().unwrap().contains("too imprecise: with 500 responses"),
        "{}",
        tables[2]["reason"]
    );
    let text = sandbox.run("estimate plan.json r.csv").fine().out;
    assert!(text.contains("not identifiable") && text.contains("too imprecise") && text.contains("a2"), "{text}");
    // Many of them are told of once.
    sandbox.run("design --categories 2,2,2,2,2,2,2,2 --method independent --epsilon 0.1 -o many.json").fine();
    let header: Vec<String> = (1..=8).map(|i| format!("a{i}")).collect();
    let mut text = header.join(",") + "\n";
    (0..50).for_each(|i| text += &format!("{0},{0},0,1,0,1,0,1\n", i % 2));
    sandbox.write("many.csv", text);
    sandbox.run("randomize many.json many.csv -o many-r.csv --seed 2").fine();
    let text = sandbox.run("estimate many.json many-r.csv --tables pairs").fine().out;
    assert!(text.matches("too imprecise").count() == 1 && text.contains("28 of 28 tables"), "{text}");
    let said = sandbox.run("estimate many.json many-r.csv --tables pairs --format csv").fine();
    assert!(said.err.matches("too imprecise").count() == 1 && said.err.contains("28 of 28 tables"), "{}", said.err);
    let value = json(&sandbox.run("estimate many.json many-r.csv --tables pairs --json").fine().out);
    assert!(value["tables"].as_array().unwrap().iter().all(|table| table["reason"].is_string()));

    let sizes = sandbox.run("size plan.json --margin 0.05").fine().out;
    assert!(sizes.contains("not identifiable"), "{sizes}");

    // Responses of another plan, columns missing, categories that cannot be answered, nothing at all.
    sandbox.run("design --categories 2,3,4 --method independent --epsilon 1 -o other.json").fine();
    sandbox.run("estimate other.json r.csv").refused(1, &["Wrong plan: r.csv was made with sha256:"]);
    sandbox.write("x.csv", "a1,a2\n0,0\n");
    sandbox.run("estimate plan.json x.csv --unmarked").refused(1, &["no column \"a3\""]);
    sandbox.write("x.csv", "a1,a2,a3\n0,7,0\n");
    sandbox
        .run("estimate plan.json x.csv --unmarked")
        .refused(1, &["row 1, column \"a2\": \"7\" cannot be answered under this plan"]);
    sandbox.write("x.csv", "a1,a2,a3\n");
    sandbox.run("estimate plan.json x.csv --unmarked").refused(1, &["there are no records"]);
    sandbox.run("estimate plan.json r.csv --tables a2,b").refused(1, &["there is no attribute \"b\""]);
    sandbox.run("estimate plan.json r.csv --confidence 95").refused(2, &["above 0 and below 1"]);
    sandbox.write("x.csv", "a1,a2,a3\n0,1,0\n");
    let alone = sandbox.run("estimate plan.json x.csv --tables a2 --unmarked").fine();
    assert!(alone.err.contains("x.csv does not name the plan"), "{}", alone.err);
    assert!(alone.out.contains("a2"), "{}", alone.out);
}

#[test]
fn sets_and_matrices_are_estimated_too() {
    let sandbox = Sandbox::new();
    let plans = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good");
    let mut text = String::from("a1,a2,a3,a4\n");
    (0..4000).for_each(|i| text += &format!("{},{},{},{}\n", i % 9, i % 3, i % 300, i % 3));
    sandbox.write("people.csv", text);
    for output in ["r.csv", "r.parquet"] {
        sandbox.run(&format!("randomize {plans}/sets.json people.csv -o {output} --seed 4")).fine();
    }
    let estimate = |file: &str| {
        json(&sandbox.run(&format!("estimate {plans}/sets.json {file} --tables a1;a1,a2 --json --unmarked")).fine().out)
    };
    assert_eq!(estimate("r.csv")["tables"], estimate("r.parquet")["tables"]);
    for (_, (share, se, ..)) in cells(&estimate("r.csv"), 0) {
        assert!((share - 1.0 / 9.0).abs() < 6.0 * se, "{share} {se}");
    }
    // A set of another size, or with a category twice, is no answer of this plan.
    let good = sandbox.read("r.csv");
    let line = good.lines().nth(1).unwrap();
    let (first, rest) = line.split_once(',').unwrap();
    for set in ["0;1;2", "0;1;2;2", "0;1;2;3;4"] {
        sandbox.write("bad.csv", format!("a1,a2,a3,a4\n{set},{rest}\n"));
        let refused = sandbox.run(&format!("estimate {plans}/sets.json bad.csv --unmarked"));
        refused.refused(1, &["row 1, column \"a1\": \"a set of", "sets of 4 different categories"]);
    }
    assert_eq!(first.split(';').count(), 4);

    // A matrix that is nearly singular is estimated, with a word of warning.
    sandbox.write("M.csv", "0.5001,0.4999\n0.4999,0.5001\n");
    sandbox.run("design --categories 2 --method matrix --matrix M.csv -o m.json").fine();
    sandbox.write("yes.csv", "a1\n0\n1\n1\n");
    sandbox.run("randomize m.json yes.csv -o m.csv --seed 1").fine();
    let said = sandbox.run("estimate m.json m.csv --unmarked").fine();
    assert!(
        said.err.contains("condition number 5.0e3") && said.out.contains("too imprecise"),
        "{}{}",
        said.err,
        said.out
    );
    let plug_in = sandbox.run("estimate m.json m.csv --method plug-in --json --unmarked").fine().out;
    assert_eq!(json(&plug_in)["method"], "plug-in");
}

#[test]
fn responses_that_cannot_have_come_from_the_plan() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4 --method independent --epsilon 0.5 -o plan.json").fine();
    // The truth itself, not randomized: a category nobody has is far rarer than noise would make it.
    let mut text = String::from("a1\n");
    (0..3000).for_each(|i| text += &format!("{}\n", i % 3));
    sandbox.write("truth.csv", text);
    let said = sandbox.run("estimate plan.json truth.csv --json --unmarked").fine();
    assert!(said.err.contains("can hardly have come from this plan"), "{}", said.err);
    assert_eq!(json(&said.out)["tables"][0]["implausible"], true);
    sandbox.run("randomize plan.json truth.csv -o fine.csv --seed 1").fine();
    let said = sandbox.run("estimate plan.json fine.csv --json").fine();
    assert_eq!(json(&said.out)["tables"][0]["implausible"], false);
}
