//! The JSON fields that docs/reference/json.md promises.

use std::collections::{BTreeMap, BTreeSet};

use crate::sandbox::Sandbox;
use serde_json::Value;

/// All names of fields, at any depth.
fn fields(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                found.insert(name.clone());
                fields(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| fields(value, found)),
        _ => {}
    }
}

#[test]
fn what_is_documented_is_there() {
    let sandbox = Sandbox::new();
    let mut text = String::from("a,b,c\n");
    (0..900).for_each(|i| text += &format!("{},{},{}\n", i % 3, i % 3 / 2, i / 7 % 2));
    sandbox.write("people.csv", text);
    sandbox.write("grid.toml", "[[attribute]]\nname = \"Age\"\ngrid = [0, 100]\ncategories = [\"0\", \"100\"]\n");
    sandbox.write("profiles.csv", "a\n0\n");
    // Those that a later one needs come first.
    let commands = [
        ("schema infer", "schema infer people.csv -o schema.toml"),
        ("schema check", "schema check schema.toml people.csv"),
        ("design", "design schema.toml --method independent --epsilon 6 --tables pairs -o plan.json"),
        ("choose", "choose --categories 2,3 --respondents 20000 --max-guess 0.75"),
        ("sample-size", "sample-size plan.json --margin 0.1"),
        ("device", "device schema.toml --epsilon 2 --compliance-check -o cards.json"),
        ("sample-size --detect-difference", "sample-size plan.json --detect-difference 0.1,0.2"),
        ("sample-size --model", "sample-size plan.json --model b~a --effect a=1=0.5"),
        ("--noncompliance", "sample-size cards.json --noncompliance 0.1"),
        ("compare --epsilon", "compare schema.toml --epsilon 2 --simulate people.csv"),
        ("compare --for", "compare grid.toml --epsilon 2 --for mean:Age"),
        ("compare --added-variance", "compare --categories 20 --added-variance 5"),
        ("--l", "compare --categories 20 --l 5"),
        ("audit", "audit plan.json --respondents 5000 --tables marginals"),
        ("explain", "explain plan.json"),
        ("audit --program", "audit --program cat --truths a,b --draws 4000"),
        ("evidence", "evidence plan.json"),
        ("audit --informativeness", "audit plan.json --informativeness other.json"),
        ("randomize", "randomize plan.json people.csv -o responses.csv"),
        ("estimate", "estimate plan.json responses.csv --tables a --compare-groups b --mean c --quantile c:0.5"),
        ("estimate", "estimate numbers.json numbers-answers.csv --tables a --psu x"),
        ("estimate", "estimate numbers.json numbers-answers.csv --tables a --standards nchs"),
        ("import", "import plan.json written.csv -o entered.csv"),
        ("compliance", "compliance cards.json drawn.csv --anchor b=0"),
        ("test", "test plan.json responses.csv --independence b,c"),
        ("test --with", "test plan.json responses.csv --with a --top 1"),
        ("test --crossed", "test crossed.json crossed.csv --crossed --top 1"),
        ("experiment", "experiment l-diversity people.csv"),
        ("test", "test numbers.json numbers-answers.csv --independence a,b --psu x"),
        ("test --compare-groups", "test numbers.json numbers-answers.csv --tables a --compare-groups b"),
        ("test --compare-groups", "test numbers.json numbers-answers.csv --tables a --compare-groups b --psu x"),
        ("regress", "regress numbers.json numbers-answers.csv --model b~a+x --method ml --predict profiles.csv"),
        ("regress", "regress grouped.json grouped-answers.csv --model b~x --by a"),
        ("regress", "regress lottery.json numbers-responses.csv --model b~x --self-protective 0 --standardize"),
        ("query", "query plan.json responses.csv --where a=0"),
        ("query", "query plan.json responses.csv --where a=0 --given b=0 --compare-groups c"),
        ("query", "query plan.json responses.csv --where b=0 --mean a"),
        ("query", "query numbers.json numbers-answers.csv --where a=0 --psu x"),
        ("associations", "associations schema.toml people.csv"),
        ("party init", "party init schema.toml --parties A,B -o session.json"),
        ("party share", "party share session.json people.csv --as A -o a"),
        ("party share", "party share session.json people.csv --as B -o b"),
        ("party sum", "party sum session.json a/share-A-to-A.json b/share-B-to-A.json --as A"),
        ("party sum", "party sum session.json a/share-A-to-B.json b/share-B-to-B.json --as B"),
        (
            "party finish",
            "party finish session.json a/announcement-A.json b/announcement-B.json sums-A.json sums-B.json",
        ),
        (
            "party check",
            "party check session.json a/announcement-A.json b/announcement-B.json sums-A.json sums-B.json \
             a/share-A-to-A.json b/share-B-to-A.json",
        ),
        ("rake", "rake plan.json responses.csv -o weighted.csv"),
        ("synthesize", "synthesize plan.json responses.csv -o synthetic.csv"),
        ("pareto", "pareto --prior 0.5,0.3,0.2 --points 3 --generations 20"),
        ("report", "report plan.json responses.csv --baseline responses.csv -o report.html"),
        ("combine", "combine one.json other.json"),
        ("matrix", "matrix one.json --exact"),
        ("matrix", "matrix single.json --misses"),
        ("refine", "refine one.json --prior 0.5,0.3,0.2 -o refined.json --allow-unbounded"),
    ];
    sandbox.run("design --categories 3 --method warner --p 0.6 -o one.json").fine();
    sandbox.run("schema infer people.csv -o crossed.toml").fine();
    sandbox.run("design crossed.toml --cross-with a --method independent --epsilon 6 -o crossed.json").fine();
    sandbox.run("randomize crossed.json people.csv --seed 1 -o crossed.csv").fine();
    sandbox.run("design --categories 4,4 --method heuristic --attribute-epsilon 3,3 -o single.json").fine();
    let mut numbers = String::from("a,b,x\n");
    (0..900).for_each(|i| numbers += &format!("{},{},{}\n", i % 3, i % 2, i % 7));
    sandbox.write("numbers.csv", numbers);
    sandbox.run("schema infer numbers.csv --drop x -o numbers.toml").fine();
    sandbox.run("design numbers.toml --method sampling --epsilon 3 --tables marginals -o lottery.json").fine();
    sandbox.run("randomize lottery.json numbers.csv --keep x --seed 1 -o numbers-responses.csv").fine();
    sandbox.run("design numbers.toml --method independent --epsilon 6 -o numbers.json").fine();
    sandbox.run("randomize numbers.json numbers.csv --keep x --seed 1 -o numbers-answers.csv").fine();
    sandbox.run("schema infer numbers.csv --public a --drop x -o grouped.toml").fine();
    sandbox.run("design grouped.toml --method independent --epsilon 6 -o grouped.json").fine();
    sandbox.run("randomize grouped.json numbers.csv --keep x --seed 1 -o grouped-answers.csv").fine();
    let mut said: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, command) in commands {
        let out = sandbox.run(&format!("{command} --json")).fine().out;
        let found = said.entry(name).or_default();
        fields(&serde_json::from_str(&out).unwrap(), found);
        if name == "randomize" {
            sandbox.write("written.csv", sandbox.read("responses.csv"));
            sandbox.run("randomize cards.json people.csv --seed 1 -o drawn.csv").fine();
        }
        if name == "design" {
            sandbox.run("design schema.toml --method independent --epsilon 4 -o other.json").fine();
        }
    }
    let document = include_str!("../../../../docs/reference/json.md");
    let mut documented = 0;
    for section in document.split("\n## ").filter(|section| section.starts_with('`')) {
        let (names, promised) = section.split_once('\n').unwrap();
        let names: Vec<&str> = names.split(',').map(|name| name.trim().trim_matches('`')).collect();
        let of_all: BTreeSet<&String> = names.iter().flat_map(|name| &said[name]).collect();
        // Words in backquotes are fields, but for options.
        let items = promised.lines().filter(|line| line.trim_start().starts_with("- "));
        let words = items.flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|word| !word.starts_with('-'));
        for word in words {
            let elsewhere = [
                "plans",
                "plan",
                "attribute",
                "distance",
                "prior",
                "map_privacy",
                "worst_posterior",
                "file",
                "row",
                "column",
                "message",
                "cell",
                "share",
                "about",
                "closest_breaking_prior",
                "value",
                "raised",
                "asked",
                "achieved",
                "reason",
                "covariance",
                "unlikely_channels",
                "repeated_response",
                "people_per_response",
            ];
            assert!(
                of_all.contains(&word.to_owned()) || elsewhere.contains(&word),
                "{names:?}: \"{word}\" is not in {of_all:?}"
            );
        }
        documented += names.len();
    }
    let tried: BTreeSet<&str> = commands.iter().map(|(name, _)| *name).collect();
    assert_eq!(documented, tried.len());
}
