//! `candor synthesize` as an analyst runs it.

use std::collections::BTreeMap;

use crate::sandbox::{Sandbox, rows};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Responses of 3,000 people under an independent plan; with this seed no estimate is negative, so that none is moved.
fn survey() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 3000);
    sandbox.plan();
    sandbox.run("randomize plan.json people.csv -o responses.parquet --seed 4").fine();
    sandbox
}

/// How often each combination of these columns occurs.
fn counts(table: &[Vec<String>], columns: &[usize]) -> BTreeMap<Vec<String>, f64> {
    let mut counts = BTreeMap::new();
    for row in &table[1..] {
        *counts.entry(columns.iter().map(|&c| row[c].clone()).collect()).or_default() += 1.0;
    }
    counts
}

/// The estimated shares of a table, projected.
fn estimated(sandbox: &Sandbox, tables: &str) -> Vec<(Vec<String>, f64)> {
    let command = format!("estimate plan.json responses.parquet --method projected --json --tables {tables}");
    let estimates = json(&sandbox.run(&command).fine().out);
    let cell = |cell: &Value| {
        let categories = cell["categories"].as_array().unwrap().iter().map(|c| c.as_str().unwrap().to_owned());
        (categories.collect(), cell["estimate"].as_f64().unwrap())
    };
    estimates["tables"][0]["cells"].as_array().unwrap().iter().map(cell).collect()
}

#[test]
fn counts_are_within_one_of_what_the_estimates_say() {
    let sandbox = survey();
    // The whole table at once: region, smokes and age.
    let said = sandbox.run("synthesize plan.json responses.parquet --method joint --records 10000 -o joint.csv").fine();
    assert!(said.out.contains("10,000 synthetic records from 3,000 responses (joint)"), "{}", said.out);
    assert!(
        said.out.contains("carry the noise of the estimates") && said.out.contains("further privacy"),
        "{}",
        said.out
    );
    let table = rows(&sandbox.read("joint.csv"));
    assert_eq!((table[0].join(","), table.len()), ("region,smokes,age".to_owned(), 10_001));
    let found = counts(&table, &[0, 1, 2]);
    for (cell, share) in estimated(&sandbox, "region,smokes,age") {
        let count = found.get(&cell).copied().unwrap_or(0.0);
        assert!((count - 10_000.0 * share).abs() < 1.0 + 1e-6, "{cell:?}: {count} {share}");
    }
    // Block by block, as many as there are responses.
    sandbox.run("synthesize plan.json responses.parquet --method clusters -o clusters.csv").fine();
    let table = rows(&sandbox.read("clusters.csv"));
    assert_eq!(table.len(), 3001);
    for (column, name) in [(1, "smokes"), (2, "age")] {
        let found = counts(&table, &[column]);
        for (cell, share) in estimated(&sandbox, name) {
            let count = found.get(&cell).copied().unwrap_or(0.0);
            assert!((count - 3000.0 * share).abs() < 1.0 + 1e-6, "{cell:?}: {count} {share}");
        }
    }
    // From weights: within one for each record that was answered.
    sandbox.run("adjust plan.json responses.parquet -o weighted.csv").fine();
    let command = "synthesize plan.json responses.parquet --method adjusted --records 5000 -o adjusted.csv";
    assert!(sandbox.run(command).fine().out.contains("Converged after"));
    let found = counts(&rows(&sandbox.read("adjusted.csv")), &[0, 1, 2]);
    assert_eq!(found.values().sum::<f64>(), 5000.0);
    for row in &rows(&sandbox.read("weighted.csv"))[1..] {
        let count = found.get(&row[..3]).copied().unwrap_or(0.0);
        assert!((count - 5000.0 * row[4].parse::<f64>().unwrap()).abs() < 1.0 + 1e-6, "{row:?}: {count}");
    }
}

#[test]
fn a_seed_repeats_and_the_order_is_random_otherwise() {
    let sandbox = survey();
    for method in ["joint", "clusters", "adjusted", "tree", "entropy"] {
        let make = |output: &str, flags: &str| {
            let command =
                format!("synthesize plan.json responses.parquet --method {method} -o {output} --force {flags}");
            sandbox.run(&command).fine();
            sandbox.read(output)
        };
        let (first, again) = (make("first.csv", "--seed 1"), make("again.csv", "--seed 1"));
        assert_eq!(first, again, "{method}");
        let other = make("other.csv", "");
        assert_ne!(first, other, "{method}");
        if ["joint", "adjusted"].contains(&method) {
            let all = [0, 1, 2];
            assert_eq!(counts(&rows(&first), &all), counts(&rows(&other), &all), "{method}: only the order differs");
        }
    }
    let json = json(&sandbox.run("synthesize plan.json responses.parquet --seed 1 -o s.parquet --json").fine().out);
    assert_eq!((json["records"].as_u64(), json["method"].as_str()), (Some(3000), Some("tree")));
    assert_eq!((json["seed"].as_u64(), json["converged"].is_null()), (Some(1), true));
    sandbox.run("estimate plan.json s.parquet").refused(1, &["synthetic records", "not responses"]);
    // Synthetic people are people: they fit the schema.
    let bare = "[[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"sometimes\", \"yes\"]\n";
    sandbox.write("bare.toml", bare);
    sandbox.run("schema check bare.toml s.parquet").fine();
}

#[test]
fn lotteries_and_sets_are_estimated_but_not_adjusted() {
    let sandbox = survey();
    for (flags, plan) in
        [("--method l-diversity --l 2", "sets"), ("--method sampling --epsilon 2 --tables pairs;marginals", "lottery")]
    {
        sandbox.run(&format!("design schema.toml {flags} -o {plan}.json")).fine();
        sandbox.run(&format!("randomize {plan}.json people.csv -o {plan}.csv --seed 3")).fine();
        for method in ["tree", "entropy", "clusters"] {
            sandbox
                .run(&format!("synthesize {plan}.json {plan}.csv --method {method} -o synthetic.csv --force"))
                .fine();
            assert_eq!(rows(&sandbox.read("synthetic.csv")).len(), 3001);
        }
        let adjusted = format!("synthesize {plan}.json {plan}.csv --method adjusted -o synthetic.csv --force");
        sandbox.run(&adjusted).refused(1, &["raking is not available"]);
    }
}

/// Four randomized attributes in a chain, and two public ones that depend on each other and on the first of them.
fn chain() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut people = String::from("region,town,a,b,c,d\n");
    for i in 0..20_000u64 {
        // The finalizer of splitmix64.
        let mix = |salt: u64| {
            let mut z = (32 * i + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ z >> 31) % 256
        };
        let region = mix(1) % 3;
        let town = if mix(2) < 160 { region % 2 } else { mix(3) % 2 };
        let a = if mix(4) < 200 { region } else { mix(5) % 3 };
        let b = if mix(6) < 190 { a } else { mix(7) % 3 };
        let c = if mix(8) < 190 { b } else { mix(9) % 3 };
        let d = if mix(10) < 190 { c % 2 } else { mix(11) % 2 };
        people += &format!("r{region},t{town},a{a},b{b},c{c},d{d}\n");
    }
    sandbox.write("people.csv", people);
    sandbox.run("schema infer people.csv --public region,town -o schema.toml").fine();
    sandbox.run("design schema.toml --method sampling --tables pairs --epsilon 5 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 3").fine();
    sandbox
}

/// The largest difference of the shares of a table between two files.
fn apart(one: &[Vec<String>], other: &[Vec<String>], columns: &[usize]) -> f64 {
    let (a, b) = (counts(one, columns), counts(other, columns));
    let share = |counts: &BTreeMap<Vec<String>, f64>, cell: &Vec<String>| {
        counts.get(cell).copied().unwrap_or(0.0) / counts.values().sum::<f64>()
    };
    a.keys().chain(b.keys()).map(|cell| (share(&a, cell) - share(&b, cell)).abs()).fold(0.0, f64::max)
}

/// What a plan for pairs tells is enough for records: dependences stay, also those of attributes that are not linked
/// directly, and the public part is to the last person that of the responses.
#[test]
fn pairs_are_enough_for_records_of_all_attributes() {
    let sandbox = chain();
    let people = rows(&sandbox.read("people.csv"));
    for method in ["tree", "entropy"] {
        let command = format!("synthesize plan.json responses.csv --method {method} --seed 1 -o made.csv --force");
        let said = sandbox.run(&command).fine().out;
        assert!(said.contains("stand out from noise"), "{said}");
        let made = rows(&sandbox.read("made.csv"));
        assert_eq!(counts(&made, &[0, 1]), counts(&people, &[0, 1]), "public attributes");
        // Pairs have standard errors of about 0.012; records that are independent are 0.15 apart, and more.
        for columns in [&[2, 3][..], &[3, 4], &[4, 5], &[0, 2], &[2, 4], &[3, 5]] {
            let apart = apart(&made, &people, columns);
            assert!(apart < 0.06, "{method} {columns:?}: {apart}");
        }
        let said = json(&sandbox.run(&format!("{command} --json")).fine().out);
        let pairs: Vec<String> =
            said["links"].as_array().unwrap().iter().map(|link| link["attributes"].to_string()).collect();
        for pair in [r#"["a","b"]"#, r#"["b","c"]"#, r#"["c","d"]"#, r#"["region","a"]"#] {
            assert!(pairs.iter().any(|found| found == pair), "{pairs:?}");
        }
        let adjusted = format!("adjust plan.json responses.csv --method {method} -o weighted.csv --force --json");
        let weighted = json(&sandbox.run(&adjusted).fine().out);
        assert_eq!((weighted["method"].as_str(), weighted["respondents"].as_u64()), (Some(method), Some(20_000)));
        assert!(weighted["largest_margin_error"].as_f64().unwrap() < 1e-4, "{weighted}");
        let text = sandbox.run(&adjusted.replace(" --json", "")).fine().out;
        assert!(text.contains("20,000 records made from as many responses"), "{text}");
    }
    sandbox
        .run("adjust plan.json responses.csv --method tree --margins a -o w.csv")
        .refused(2, &["--margins, --benchmarks and --targets require --method answers"]);
    let told = sandbox.run("adjust plan.json responses.csv -o w.csv");
    told.refused(1, &["randomly assigned channels", "candor synthesize --method tree"]);
}

#[test]
fn what_cannot_be_made_is_refused() {
    let sandbox = survey();
    for (flags, code, part) in [
        ("-o s.csv --records 0", 2, "--records"),
        ("-o s.csv --records 100000001", 2, "--records"),
        ("-o s.csv --margins marginals", 2, "--margins requires --method adjusted"),
        ("-o s.csv --method joint --max-iterations 3", 2, "--max-iterations requires --method adjusted"),
        ("-o s.csv --method magic", 2, "invalid value"),
        ("-o responses.parquet", 1, "both an input and the output"),
        ("-o - --json", 2, "standard output"),
        ("-o no/folder/s.csv", 1, "cannot write"),
    ] {
        sandbox.run(&format!("synthesize plan.json responses.parquet {flags}")).refused(code, &[part]);
    }
    sandbox.run("design --categories 300,300,300 --method independent --epsilon 9 -o large.json").fine();
    sandbox.write("large.csv", "a1,a2,a3\n1,2,3\n");
    sandbox
        .run("synthesize large.json large.csv --method joint -o s.csv")
        .refused(1, &["27000000 cells", "--method clusters or adjusted"]);
    sandbox.run("design --categories 300,300,150 --method independent --epsilon 9 -o large.json --force").fine();
    sandbox
        .run("synthesize large.json large.csv --method joint -o s.csv")
        .refused(1, &["13,500,000 cells", "up to 10,000,000", "--method clusters or adjusted"]);
    assert!(!sandbox.path("s.csv").exists());
}

/// With three people nothing stands out from noise, and that is said.
#[test]
fn records_without_dependences_say_so() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 2,2 --method independent --epsilon 2 -o plan.json").fine();
    sandbox.write("people.csv", "a1,a2\n0,0\n1,1\n0,1\n");
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 1").fine();
    for method in ["tree", "entropy"] {
        let said = sandbox.run(&format!("synthesize plan.json responses.csv --method {method} -o {method}.csv")).fine();
        assert!(said.out.contains("No association of a pair stands out from noise"), "{}", said.out);
        assert!(!said.out.contains("0 dependences"), "{}", said.out);
    }
}
