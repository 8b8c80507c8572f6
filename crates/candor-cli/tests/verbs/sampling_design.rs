//! Survey designs as an analyst asks for them: the numbers of R's package survey through the command, from responses as
//! good as the truth; what counts can carry; what is refused.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::sandbox::Sandbox;
use serde_json::Value;

const SCHEMA: &str = r#"
[[attribute]]
name = "x"
categories = ["0", "1"]

[[attribute]]
name = "y"
kind = "ordinal"
categories = ["0", "1", "2"]

[[attribute]]
name = "region"
public = true
categories = ["0", "1", "2"]

[[attribute]]
name = "sex"
public = true
categories = ["0", "1"]
"#;

const MARGINS: &str = "attribute,category,share\nregion,0,20\nregion,1,50\nregion,2,30\nsex,0,0.4\nsex,1,0.6\n";

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../candor-analysis/tests/golden/sampling.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// The people of the golden numbers, and what stands beside their answers.
fn people(golden: &Value) -> (String, Vec<String>) {
    let mut columns: Vec<(String, Vec<f64>)> = ["x", "y", "region", "sex", "weight", "stratum", "cluster"]
        .iter()
        .map(|name| (name.to_string(), numbers(&golden["people"][name])))
        .collect();
    let population = columns[5].1.iter().map(|stratum| [40.0, 25.0, 12.0][*stratum as usize]).collect();
    columns.push(("clusters".to_owned(), population));
    for name in ["half", "boot"] {
        let replicates = golden[name].as_array().unwrap().iter().enumerate();
        columns.extend(replicates.map(|(i, weights)| (format!("{name}_{i}"), numbers(weights))));
    }
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..columns[0].1.len() {
        let cells: Vec<String> = columns.iter().map(|(_, column)| column[row].to_string()).collect();
        let _ = writeln!(text, "{}", cells.join(","));
    }
    (text, names[4..].to_vec())
}

fn survey() -> Sandbox {
    let sandbox = Sandbox::new();
    let (people, kept) = people(&golden());
    sandbox.write("schema.toml", SCHEMA);
    sandbox.write("people.csv", people);
    sandbox.write("margins.csv", MARGINS);
    sandbox.run("design schema.toml --method independent --epsilon 60 --max-epsilon 100 -o open.json").fine();
    sandbox.run(&format!("randomize open.json people.csv -o open.csv --seed 1 --keep {}", kept.join(","))).fine();
    sandbox
}

fn json(sandbox: &Sandbox, words: &[&str]) -> Value {
    serde_json::from_str(&sandbox.run_words(words).fine().out).unwrap()
}

/// Shares and errors of a table, and where it was asked for, as R has them.
fn check(name: &str, table: &Value, golden: &Value) {
    let (shares, errors) = (numbers(&golden[name]["shares"]), numbers(&golden[name]["errors"]));
    for (cell, found) in table["cells"].as_array().unwrap().iter().enumerate() {
        let near = |field: &str, expected: f64| (found[field].as_f64().unwrap() - expected).abs() < 1e-9;
        assert!(near("estimate", shares[cell]) && near("standard_error", errors[cell]), "{name} {cell}: {found}");
        let (low, high) = (found["low"].as_f64().unwrap(), found["high"].as_f64().unwrap());
        assert!(0.0 <= low && low < shares[cell] && shares[cell] < high && high <= 1.0);
    }
}

const DESIGNS: [(&str, &str); 9] = [
    ("strata", "--weights weight --strata stratum"),
    ("clusters", "--weights weight --psu cluster"),
    ("both", "--weights weight --strata stratum --psu cluster"),
    ("fpc", "--weights weight --strata stratum --psu cluster --fpc clusters"),
    ("raked", "--weights weight --strata stratum --psu cluster --benchmarks margins.csv"),
    ("region", "--weights weight --strata stratum --psu cluster --where region=1"),
    ("region_raked", "--weights weight --strata stratum --psu cluster --benchmarks margins.csv --where region=1"),
    ("brr", "--weights weight --replicate-weights half_* --replicate-method brr"),
    (
        "bootstrap",
        "--weights weight --replicate-weights boot_* --replicate-method bootstrap --replicate-scale 0.1111111111111111",
    ),
];

#[test]
fn the_numbers_of_r() {
    let (sandbox, golden) = (survey(), golden());
    for (name, flags) in DESIGNS {
        let words = format!("estimate open.json open.csv --json --tables x,y {flags}");
        let found = json(&sandbox, &words.split(' ').collect::<Vec<_>>());
        check(name, &found["tables"][0], &golden);
        assert!(found["design"].as_str().unwrap().contains("errors by"), "{}", found["design"]);
        if name.starts_with("region") {
            assert_eq!(found["respondents"], 30);
            let by = words.replace("--where region=1", "--by region");
            check(name, &json(&sandbox, &by.split(' ').collect::<Vec<_>>())["tables"][1], &golden);
        }
        if name == "brr" || name == "bootstrap" {
            continue;
        }
        // The share of y = 1 among x = 1, in a table and as a question.
        let expected = numbers(&golden[name]["ratio"]);
        let words: Vec<&str> = flags.split(' ').collect();
        let among = [&["estimate", "open.json", "open.csv", "--json", "--tables", "y | x"], &words[..]].concat();
        let cell = &json(&sandbox, &among)["tables"][0]["cells"][4];
        assert!((cell["estimate"].as_f64().unwrap() - expected[0]).abs() < 1e-9, "{name} {cell}");
        assert!((cell["standard_error"].as_f64().unwrap() - expected[1]).abs() < 1e-9, "{name} {cell}");
        if words.contains(&"--where") {
            continue;
        }
        let asked = ["query", "open.json", "open.csv", "--json", "--where", "y = 1", "--given", "x = 1"];
        let answer = &json(&sandbox, &[&asked, &words[..]].concat())["answers"][0];
        assert!((answer["estimate"].as_f64().unwrap() - expected[0]).abs() < 1e-9, "{name} {answer}");
        assert!((answer["standard_error"].as_f64().unwrap() - expected[1]).abs() < 1e-9, "{name} {answer}");
        for end in ["low", "high"] {
            let (asked, listed) = (answer[end].as_f64().unwrap(), cell[end].as_f64().unwrap());
            assert!((asked - listed).abs() < 5e-4, "{name}: {end} of {answer} and {cell}");
        }
    }
}

/// No answer of a cluster says yes in the group `b`: clusters do not differ, but the device makes noise.
#[test]
fn rare_cells_in_clusters_have_intervals() {
    let sandbox = Sandbox::new();
    sandbox.write("d6.json", include_str!("../../../candor-analysis/tests/golden/inference/d6.json"));
    sandbox.write("z.csv", include_str!("../../../candor-analysis/tests/golden/inference/z.csv"));
    let estimate = "estimate d6.json z.csv --unmarked --json --psu c --tables";
    let words = |tables: &str| estimate.split(' ').map(str::to_owned).chain([tables.to_owned()]).collect::<Vec<_>>();
    let found = json(&sandbox, &words("y | g").iter().map(String::as_str).collect::<Vec<_>>());
    let high = found["tables"][0]["cells"][3]["high"].as_f64().unwrap();
    // Fieller's set alone ends at 0.0843. The estimate is below 0: the statistic of the share 0 is subtracted, which
    // gives 0.0928, and one person of each kind added gives the rest.
    assert!((high - 0.0953).abs() < 1e-4, "{found}");
    let query =
        ["query", "d6.json", "z.csv", "--unmarked", "--json", "--psu", "c", "--where", "y = yes", "--given", "g = b"];
    let other = json(&sandbox, &query)["answers"][0]["high"].as_f64().unwrap();
    assert!((other - high).abs() < 1e-12, "{other} {high}");
    let found = json(&sandbox, &words("y,g").iter().map(String::as_str).collect::<Vec<_>>());
    for cell in found["tables"][0]["cells"].as_array().unwrap() {
        assert!(cell["high"].as_f64().unwrap() - cell["low"].as_f64().unwrap() > 0.01, "{cell}");
    }
    sandbox.run("estimate d6.json z.csv --unmarked --psu c --lonely-psu adjust").refused(2, &["--strata"]);
}

/// The same of regressions.
#[test]
fn the_regressions_of_r() {
    let sandbox = Sandbox::new();
    let golden: Value =
        serde_json::from_str(include_str!("../../../candor-analysis/tests/golden/regression_sampling.json")).unwrap();
    let replicates =
        |name: &str| -> Vec<Vec<f64>> { golden["weights"][name].as_array().unwrap().iter().map(numbers).collect() };
    let (people, mut kept) = people(&self::golden());
    let mut lines: Vec<String> = people.lines().map(str::to_owned).collect();
    for name in ["brr", "bootstrap", "jackknife"] {
        for (column, weights) in replicates(name).iter().enumerate() {
            kept.push(format!("{name}_{column}"));
            lines[0] += &format!(",{name}_{column}");
            lines[1..].iter_mut().zip(weights).for_each(|(line, weight)| *line += &format!(",{weight}"));
        }
    }
    sandbox.write("people.csv", lines.join("\n") + "\n");
    sandbox.write("schema.toml", SCHEMA);
    sandbox.write("margins.csv", MARGINS);
    sandbox.run("design schema.toml --method independent --epsilon 60 --max-epsilon 100 -o open.json").fine();
    sandbox.run(&format!("randomize open.json people.csv -o open.csv --seed 1 --keep {}", kept.join(","))).fine();
    let both = "--strata stratum --psu cluster";
    for (name, flags, design) in [
        ("strata", "--strata stratum".to_owned(), "errors by 3 strata (stratum)"),
        ("clusters", "--psu cluster".to_owned(), "errors by 15 PSUs (cluster)"),
        ("both", both.to_owned(), "errors by 15 PSUs (cluster) in 3 strata (stratum)"),
        ("fpc", format!("{both} --fpc clusters"), "of a finite population (clusters)"),
        ("raked", format!("{both} --benchmarks margins.csv"), "calibrated to region, sex"),
        ("raked_fpc", format!("{both} --fpc clusters --benchmarks margins.csv"), "calibrated to region, sex"),
        ("brr", "--replicate-weights brr_* --replicate-method brr".to_owned(), "errors by 8 replicates (brr)"),
        (
            "bootstrap",
            "--replicate-weights bootstrap_* --replicate-method bootstrap --replicate-scale 0.1111111111111111"
                .to_owned(),
            "10 replicates (bootstrap)",
        ),
        ("jackknife", "--replicate-weights jackknife_* --replicate-method jk1".to_owned(), "15 replicates (jk1)"),
    ] {
        let words = ["regress", "open.json", "open.csv", "--json", "--weights", "weight", "--model", "x ~ region"];
        let found = json(&sandbox, &words.into_iter().chain(flags.split(' ')).collect::<Vec<_>>());
        let said = found["design"].as_str().unwrap();
        assert!(said.starts_with("weighted by weight, ") && said.contains(design), "{name}: {said}");
        let test = match (flags.contains("--replicate-weights"), flags.contains("--psu")) {
            (true, _) => "wald-replicates",
            (_, true) if flags == "--psu cluster" || name == "both" => "one-step-cr2",
            _ => "score",
        };
        assert_eq!(found["test"], test);
        let (estimates, errors) = (numbers(&golden[name]["estimates"]), numbers(&golden[name]["errors"]));
        for (at, one) in found["coefficients"].as_array().unwrap().iter().enumerate() {
            let near = |field: &str, expected: f64| (one[field].as_f64().unwrap() - expected).abs() < 1e-7;
            assert!(
                near("estimate", estimates[at]) && near("standard_error", errors[at]),
                "{name} {at}: {one} {errors:?}"
            );
        }
    }
    let regress = "regress open.json open.csv --model x~region --weights weight";
    sandbox
        .run(&format!("{regress} --replicate-weights brr_*"))
        .refused(2, &["--replicate-weights and --replicate-method (jk1"]);
    sandbox
        .run(&format!("{regress} --replicate-weights none_* --replicate-method brr"))
        .refused(1, &["open.csv", "none_*"]);
    sandbox.write("margins.csv", "attribute,category,share\nregion,0,0.5\nregion,1,0.5\nregion,2,0\n");
    sandbox.run(&format!("{regress} --benchmarks margins.csv")).refused(1, &["--benchmarks", "\"2\" of \"region\""]);
}

/// What is known of two groups is known of their difference: of everybody, both ways of asking agree.
#[test]
fn questions_and_groups() {
    let sandbox = survey();
    let design = ["--weights", "weight", "--psu", "cluster", "--json"];
    let ask = |words: &[&str]| json(&sandbox, &[words, &design[..]].concat());
    let compared = ask(&["estimate", "open.json", "open.csv", "--tables", "y", "--compare-groups", "sex"]);
    let asked = ask(&["query", "open.json", "open.csv", "--where", "y = 1", "--compare-groups", "sex"]);
    let (cell, answer) = (&compared["comparisons"][0]["cells"][1], &asked["compared"][1]);
    for (field, part) in [("difference", "estimate"), ("difference", "low"), ("difference", "high"), ("ratio", "low")] {
        let [a, b] = [cell, answer].map(|found| found[field][part].as_f64().unwrap());
        assert!((a - b).abs() < 1e-9, "{field} {part}: {a} {b}");
    }
    // So are a share, a mean and a conditional share of each public group, with and without a design.
    for design in [&design[..], &["--json"]] {
        let ask = |words: &[&str]| json(&sandbox, &[words, design].concat());
        let shares = ask(&["estimate", "open.json", "open.csv", "--tables", "y | region"]);
        let asked = ask(&["query", "open.json", "open.csv", "--where", "y = 1", "--compare-groups", "region"]);
        let means = ask(&["estimate", "open.json", "open.csv", "--mean", "y | region,x"]);
        let compare = ["--compare-groups", "region"];
        let mean =
            ask(&[&["query", "open.json", "open.csv", "--where", "x = 1", "--mean", "y"], &compare[..]].concat());
        let among = ask(&["estimate", "open.json", "open.csv", "--tables", "y | region,x"]);
        let given =
            ask(&[&["query", "open.json", "open.csv", "--where", "y = 1", "--given", "x = 1"], &compare[..]].concat());
        for group in 0..3 {
            let pairs = [
                (&shares["tables"][0]["cells"][3 * group + 1], &asked["compared"][group]["number"]),
                (&means["numbers"][2 * group + 1]["mean"], &mean["compared"][group]["number"]),
                (&among["tables"][0]["cells"][3 * (2 * group + 1) + 1], &given["compared"][group]["number"]),
            ];
            for (number, (listed, asked)) in pairs.into_iter().enumerate() {
                for field in ["estimate", "standard_error", "low", "high"] {
                    let [a, b] = [listed, asked].map(|found| found[field].as_f64().unwrap());
                    assert!((a - b).abs() < 1e-9, "{number} {group} {field}: {listed} {asked}");
                }
            }
        }
    }
    let mean = ask(&["query", "open.json", "open.csv", "--where", "x = 1", "--mean", "y"]);
    let numbers = ask(&["estimate", "open.json", "open.csv", "--mean", "y | x"]);
    for field in ["estimate", "standard_error", "low", "high"] {
        let found = mean["answers"][0][field].as_f64().unwrap();
        assert!((found - numbers["numbers"][1]["mean"][field].as_f64().unwrap()).abs() < 1e-9, "{field}");
    }
    // The question of one cell has the interval of the table.
    let question =
        json(&sandbox, &["query", "open.json", "open.csv", "--where", "y = 2", "--method", "joint", "--json"]);
    let table = json(&sandbox, &["estimate", "open.json", "open.csv", "--tables", "y", "--json"]);
    for field in ["estimate", "standard_error", "low", "high"] {
        let [a, b] =
            [&question["answers"][0], &table["tables"][0]["cells"][2]].map(|found| found[field].as_f64().unwrap());
        assert!((a - b).abs() < 1e-9, "{field}: {a} {b}");
    }
    let groups = ask(&["query", "open.json", "open.csv", "--where", "y = 1", "--by", "region"]);
    assert_eq!(groups["groups"].as_array().unwrap().len(), 3);
    assert_eq!(groups["groups"][1]["group"]["region"], "1");
}

#[test]
fn tests_and_reports() {
    let (sandbox, golden) = (survey(), golden());
    let flags = "--weights weight --strata stratum --psu cluster";
    let words = format!("test open.json open.csv --independence x,y {flags}");
    let found = json(&sandbox, &format!("{words} --json").split(' ').collect::<Vec<_>>());
    let f = golden["test"]["F"].as_f64().unwrap();
    assert!((found["statistic"].as_f64().unwrap() / 2.0 / f - 1.0).abs() < 0.1, "{found}");
    assert!(sandbox.run(&words).fine().out.contains("errors by 15 sampling units in 3 strata"));
    let groups = json(&sandbox, &format!("{words} --by sex --json").split(' ').collect::<Vec<_>>());
    assert_eq!(groups["groups"][1]["group"]["sex"], "1");
    assert!(groups["groups"][1]["p_value"].as_f64().is_some());
    assert!(sandbox.run(&format!("{words} --by sex")).fine().out.contains("Where sex = 1:"));

    let words =
        format!("report open.json open.csv -o report.html --json --tables x,y --mean y --compare-groups sex {flags}");
    let refused = sandbox.run(&words.replace("--compare-groups sex", "--compare-groups x"));
    refused.refused(1, &["--compare-groups", "is also in a table"]);
    let report = json(&sandbox, &words.split(' ').collect::<Vec<_>>());
    assert_eq!(report["estimates"]["comparisons"][0]["compared"], "sex");
    let whole = words.replace("--compare-groups sex ", "");
    check("both", &json(&sandbox, &whole.split(' ').collect::<Vec<_>>())["estimates"]["tables"][0], &golden);
    let page = sandbox.read("report.html");
    for text in ["Means, variances and quantiles", "errors by 15 sampling units", "--psu cluster"] {
        assert!(page.contains(text), "{text}");
    }
}

/// Counts by public attributes carry groups, conditions and margins, and nothing else.
#[test]
fn counts_carry_what_they_can() {
    let sandbox = survey();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let text = sandbox.read("open.csv");
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let places: Vec<usize> =
        ["x", "y", "region", "sex"].iter().map(|name| header.iter().position(|h| h == name).unwrap()).collect();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        *counts.entry(places.iter().map(|&at| cells[at]).collect::<Vec<_>>().join(",")).or_default() += 1;
    }
    let rows: String = counts.iter().map(|(cells, count)| format!("{cells},{count}\n")).collect();
    sandbox.write("counts.csv", format!("x,y,region,sex,count\n{rows}"));
    for flags in
        ["--benchmarks margins.csv", "--where sex=0 --by region", "--benchmarks margins.csv --where region!=2 --by sex"]
    {
        let tables = ["--tables", "x,y", "--json"];
        let flags: Vec<&str> = flags.split(' ').collect();
        let of = |source: &[&str]| json(&sandbox, &[&["estimate", "open.json"], source, &tables, &flags].concat());
        assert_eq!(of(&["open.csv"]), of(&["--counts", "counts.csv", "--unmarked"]), "{flags:?}");
    }
    let asked = ["query", "open.json", "--where", "y = 1", "--given", "x = 1", "--benchmarks", "margins.csv", "--json"];
    let of = |source: &[&str]| json(&sandbox, &[&asked[..2], source, &asked[2..]].concat());
    assert_eq!(of(&["open.csv"]), of(&["--counts", "counts.csv", "--unmarked"]));
    sandbox
        .run("estimate open.json --counts counts.csv --strata stratum")
        .refused(2, &["counts contain neither weights nor sampling units", "--benchmarks also accept counts"]);
    sandbox
        .run("estimate open.json --counts counts.csv --tables x,region --by region")
        .refused(2, &["\"region\" is also in a table"]);
}

#[test]
fn what_is_refused() {
    let sandbox = survey();
    let refused = |words: &str, parts: &[&str]| drop(sandbox.run(words).refused(2, parts));
    let fault = |words: &str, parts: &[&str]| drop(sandbox.run(words).refused(1, parts));
    let estimate = "estimate open.json open.csv";
    refused(&format!("{estimate} --replicate-weights half_*"), &["require each other"]);
    refused(&format!("{estimate} --replicate-weights half_* --replicate-method brr"), &["require --weights"]);
    refused(
        &format!("{estimate} --weights weight --strata stratum --replicate-weights half_* --replicate-method brr"),
        &["cannot be used with --strata"],
    );
    fault(&format!("{estimate} --where x=1"), &["\"x\" is randomized", "a | x"]);
    fault(&format!("{estimate} --where region=7"), &["--where"]);
    refused(&format!("{estimate} --strata stratum --target records"), &["require --target population"]);
    refused(&format!("{estimate} --strata stratum --method projected"), &["standard errors"]);
    refused(&format!("{estimate} --strata stratum --interval bootstrap"), &["resamples single responses"]);
    refused("query open.json open.csv --where y=1 --given x=1 --method clusters", &["require --method joint"]);
    refused(
        "query open.json open.csv --where y=1 --by sex --method adjusted",
        &["--method adjusted and --method naive cannot"],
    );
    fault(&format!("{estimate} --psu x"), &["the plan randomizes \"x\"", "published"]);
    fault(&format!("{estimate} --strata nothing"), &["nothing"]);
    fault(
        &format!("{estimate} --weights weight --replicate-weights r_* --replicate-method brr"),
        &["0 columns match r_*"],
    );
    fault(&format!("{estimate} --strata weight --psu stratum --fpc cluster"), &["cluster"]);
    fault(&format!("{estimate} --psu cluster --fpc clusters"), &["two population sizes"]);
    fault(&format!("{estimate} --strata stratum --fpc stratum"), &["row 1", "is not a size of a population"]);
    fault(&format!("{estimate} --strata cluster --psu cluster"), &["only one sampling unit", "stratum \"0\""]);
    fault(&format!("{estimate} --strata stratum --fpc clusters"), &["30 sampling units, but its population only 25"]);
    for (margins, part) in [
        ("attribute,category,share\nx,0,1\nx,1,1\n", "\"x\" is randomized"),
        ("attribute,category,share\nsex,0,1\n", "the category \"1\" of \"sex\" has no row"),
        ("attribute,category,share\nsex,0,1\nsex,0,1\n", "has two rows"),
        ("attribute,category,share\nsex,f,1\n", "has no category \"f\""),
        ("attribute,category,share\nsex,0,0\nsex,1,0\n", "are 0"),
        ("attribute,category,share\nsex,0,1\nsex,1,0\n", "its share in the population is stated as 0"),
        ("attribute,category,share\nsex,0,-1\n", "is not a share"),
        ("attribute,category\nsex,0\n", "share"),
    ] {
        sandbox.write("wrong.csv", margins);
        let said = sandbox.run(&format!("{estimate} --benchmarks wrong.csv"));
        assert!(said.code != 0 && said.err.contains(part), "{part}: {}", said.err);
    }
}

/// Differences of groups by R's package survey 4.1.1 (`svyby` with `covmat = TRUE`, `svycontrast`, `degf`) on the same
/// people: the degrees of freedom; then difference, standard error and p-value of the mean of y between the sexes, of
/// the share of x = 1 between them, and of the mean of y between the groups of x.
const DIFFERENCES: [(&str, f64, [[f64; 3]; 3]); 4] = [
    (
        "strata",
        87.0,
        [
            [0.102301790281, 0.189029074123, 5.897555942750e-1],
            [-0.039784029554, 0.113462949006, 7.267101150995e-1],
            [-0.233333333333, 0.182904700368, 2.054537363969e-1],
        ],
    ),
    (
        "clusters",
        14.0,
        [
            [0.102301790281, 0.137874911806, 4.703593239015e-1],
            [-0.039784029554, 0.181138133762, 8.293265862936e-1],
            [-0.233333333333, 0.119634630795, 7.144305495253e-2],
        ],
    ),
    (
        "both",
        12.0,
        [
            [0.102301790281, 0.135511656428, 4.648502530405e-1],
            [-0.039784029554, 0.190068648115, 8.377143975014e-1],
            [-0.233333333333, 0.123542167623, 8.333738735341e-2],
        ],
    ),
    (
        "fpc",
        12.0,
        [
            [0.102301790281, 0.122580506061, 4.202652947038e-1],
            [-0.039784029554, 0.163068238761, 8.113740180806e-1],
            [-0.233333333333, 0.108345974222, 5.230643364552e-2],
        ],
    ),
];

#[test]
fn tests_of_differences_are_those_of_r() {
    let sandbox = survey();
    let asked = ["--mean y --compare-groups sex", "--tables x --compare-groups sex", "--mean y --compare-groups x"];
    for (name, degrees, numbers) in DIFFERENCES {
        let flags = DESIGNS.iter().find(|(design, _)| *design == name).unwrap().1;
        for (asked, [difference, error, p]) in asked.iter().zip(numbers) {
            let words = format!("test open.json open.csv --json {asked} {flags}");
            let found = json(&sandbox, &words.split(' ').collect::<Vec<_>>());
            let one = found["differences"].as_array().unwrap().last().unwrap();
            let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-9;
            assert!(near(&one["difference"]["estimate"], difference), "{words}: {one}");
            assert!(near(&one["difference"]["standard_error"], error), "{words}: {error} {one}");
            assert!(near(&one["p_value"], p) && near(&one["degrees"], degrees), "{words}: {p} {one}");
            assert!(near(&one["statistic"], difference / error), "{words}: {one}");
        }
    }
    // Without a design the law is normal, and the errors are those of two samples: v / n of each.
    let found =
        json(&sandbox, &"test open.json open.csv --json --mean y --compare-groups sex".split(' ').collect::<Vec<_>>());
    let people = &golden()["people"];
    let (y, sex) = (numbers(&people["y"]), numbers(&people["sex"]));
    let [first, second] = [0.0, 1.0].map(|of| {
        let own: Vec<f64> = y.iter().zip(&sex).filter(|(_, sex)| **sex == of).map(|(y, _)| *y).collect();
        let n = own.len() as f64;
        let mean = own.iter().sum::<f64>() / n;
        (mean, own.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n / n)
    });
    let one = &found["differences"][0];
    let z = (second.0 - first.0) / (first.1 + second.1).sqrt();
    // How groups vary together is told of a table with a few people added, which moves the last digits.
    assert!((one["statistic"].as_f64().unwrap() - z).abs() < 1e-5 && one["degrees"].is_null(), "{z} {one}");
}

#[test]
fn what_does_not_go_together_in_a_test_is_refused() {
    let sandbox = survey();
    for (words, told) in [
        ("test open.json open.csv", "--independence"),
        ("test open.json open.csv --mean y", "nothing to compare"),
        ("test open.json open.csv --compare-groups x", "nothing to test: use --independence A,B"),
        ("test open.json open.csv --independence x,y --mean y --compare-groups sex", "cannot be used with"),
        ("test open.json open.csv --mean y --compare-groups sex --baseline open.csv", "cannot be used with"),
        ("test open.json open.csv --mean y --compare-groups y", "must be a different attribute"),
    ] {
        sandbox.run(words).refused(2, &[told]);
    }
    let said = sandbox.run("test open.json open.csv --tables x --baseline open.csv").fine();
    assert!(said.out.contains("now less before") && said.err.contains("repeat a stored response"), "{}", said.err);
}
