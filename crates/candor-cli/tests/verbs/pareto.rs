//! Fronts, plans on them and refinements as a user runs them.

use crate::sandbox::Sandbox;
use serde_json::Value;

use crate::sandbox;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_front_in_words_files_and_pictures() {
    let sandbox = Sandbox::new();
    let flags =
        "--prior 0.4,0.3,0.2,0.1 --posterior-bound 0.75 --points 6 --generations 100 --population 30 --rounds 1";
    let said = sandbox.run(&format!("front {flags} --plot f.svg --plot f.png -o f.csv")).fine();
    assert!(said.out.contains("privacy can be from 0.2500 to 0.6000"), "{}", said.out);
    let svg = sandbox.read("f.svg");
    for name in ["Warner, UP, FRAPP", "evolutionary search", "exact: the best", "more private", "Margin of error"] {
        assert!(svg.contains(name), "{name}");
    }
    assert!(std::fs::read(sandbox.path("f.png")).unwrap().starts_with(b"\x89PNG"));
    let rows = sandbox::rows(&sandbox.read("f.csv"));
    assert_eq!(rows.len(), 7);
    for row in &rows[1..] {
        let number = |i: usize| row[i].parse::<f64>().unwrap();
        let (warner, evolved, exact, bound) = (number(1), number(2), number(3), number(4));
        assert!(bound <= exact && exact <= evolved && evolved <= warner, "{row:?}");
        assert!(1.0 - bound / exact < 1e-6 && number(5) <= 0.75 + 1e-9, "{row:?}");
    }
    // The same seed gives the same front.
    let value = json(&sandbox.run(&format!("front {flags} --json")).fine().out);
    assert_eq!(value, json(&sandbox.run(&format!("front {flags} --json")).fine().out));
    assert_eq!(value["points"].as_array().unwrap().len(), 6);
    for field in ["privacy", "utility", "lower_bound", "worst_posterior", "outputs"] {
        assert!(value["points"][0][field].is_number(), "{field}");
    }
    assert!(value["warner"][0]["utility"].is_number() && value["hypervolume"].as_f64().unwrap() > 2.0);
    let evolved = json(&sandbox.run(&format!("front {flags} --method evolve --polish false --json")).fine().out);
    assert!(evolved["points"][0]["lower_bound"].is_null() && evolved["points"][0]["outputs"] == 4);
}

/// Fact 1 of Huang and Du 2008: 10 categories in steps of 1/100 give 1.98e126 matrices.
#[test]
fn a_brute_force_search_is_counted() {
    let sandbox = Sandbox::new();
    let said =
        sandbox.run("pareto --uniform-prior 10 --points 2 --method evolve --generations 2 --polish false").fine();
    assert!(said.out.contains("with entries in steps of 1/100 there are 1.98e126"), "{}", said.out);
}

#[test]
fn matrices_of_an_earlier_front_do_not_stay() {
    let sandbox = Sandbox::new();
    let pareto = "pareto --prior 0.5,0.3,0.2 --method exact --matrices points --points";
    sandbox.run(&format!("{pareto} 5")).fine();
    sandbox.write("points/exact-mine.csv", "1,0\n0,1\n");
    sandbox.run(&format!("{pareto} 2")).fine();
    let mut found: Vec<String> = std::fs::read_dir(sandbox.path("points"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, ["exact-001.csv", "exact-002.csv", "exact-mine.csv", "index.csv"]);
}

#[test]
fn golden_points_and_few_outputs() {
    let sandbox = Sandbox::new();
    let flags = "front --prior 0.4,0.3,0.2,0.1 --posterior-bound 0.75 --map-privacy 0.39 --method exact --respondents \
                 1000 --json";
    let at = |value: &Value| value["points"][0]["utility"].as_f64().unwrap() * 4000.0;
    let exact = json(&sandbox.run(flags).fine().out);
    assert!((at(&exact) - 1.921569).abs() < 1e-5);
    let few = json(&sandbox.run(&format!("{flags} --outputs 5")).fine().out);
    assert!(few["points"][0]["outputs"].as_u64().unwrap() <= 5 && at(&few) < 2.069002 * 1.01 && at(&few) > at(&exact));
    let bound = |value: &Value| value["points"][0]["lower_bound"].as_f64().unwrap();
    assert_eq!(bound(&few), bound(&exact));
}

#[test]
fn priors_from_tables() {
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 300);
    let value =
        json(&sandbox.run("front --from people.csv --attribute smokes --method exact --points 2 --json").fine().out);
    assert_eq!(value["prior"].as_array().unwrap().len(), 3);
    sandbox.run("front --from people.csv --attribute age --bins quantile:4 --method exact --points 2").fine();
    sandbox.run("front --from people.csv --attribute smoke").refused(1, &["no column \"smoke\""]);
    sandbox.run("front --from people.csv").refused(2, &["--from requires --attribute"]);
    sandbox.run("front --from none.csv --attribute x").refused(1, &["none.csv"]);
}

#[test]
fn a_plan_of_the_front_is_certified_used_and_estimated() {
    let sandbox = Sandbox::new();
    let flags = "--categories 4 --method front --prior 0.4,0.3,0.2,0.1 --posterior-bound 0.75";
    let said = sandbox.run(&format!("design {flags} --map-privacy 0.5 -o plan.json")).fine();
    for part in ["MAP privacy 0.500000", "worst posterior 0.750000", "for the stated prior of", "guarantees nothing"] {
        assert!(said.out.to_lowercase().contains(&part.to_lowercase()), "{part}: {}", said.out);
    }
    let value = json(&sandbox.run(&format!("design {flags} --map-privacy 0.5 --json")).fine().out);
    assert!(value["for_prior"]["map_privacy"].as_f64().unwrap() >= 0.5 && value["epsilon"]["certified"].is_null());
    assert!(value["for_prior"]["worst_posterior"].as_f64().unwrap() <= 0.75);
    assert!(sandbox.run("audit plan.json").fine().out.contains("MAP privacy 0.500000"));
    let people: String = (0..2000).map(|i| format!("{}\n", [0, 0, 0, 0, 1, 1, 1, 2, 2, 3][i % 10])).collect();
    sandbox.write("people.csv", format!("a1\n{people}"));
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 1").fine();
    for method in ["", "--method iterative"] {
        let said = sandbox.run(&format!("estimate plan.json responses.csv --tables a1 --json {method}")).fine();
        let cells = json(&said.out)["tables"][0]["cells"].clone();
        for (cell, truth) in cells.as_array().unwrap().iter().zip([0.4, 0.3, 0.2, 0.1]) {
            // The standard error is about 0.02; six of them.
            assert!((cell["estimate"].as_f64().unwrap() - truth).abs() < 0.12, "{cells}");
        }
    }
    // What the file says for its prior is checked like everything else.
    let text = sandbox.read("plan.json");
    let stated = json(&text)["guarantee"]["for_prior"]["map_privacy"].as_str().unwrap().to_owned();
    sandbox.write("false.json", text.replace(&stated, "0.6"));
    sandbox.run("audit false.json").refused(1, &["the MAP privacy for its prior as 0.6", "do not trust"]);
    let by_utility = json(&sandbox.run(&format!("design {flags} --max-mse 2e-4 --respondents 3000 --json")).fine().out);
    assert!(by_utility["for_prior"]["map_privacy"].as_f64().unwrap() > 0.4);
}

#[test]
fn a_plan_refined() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 10 --method warner --p 0.49 -o warner.json").fine();
    let flags = "refine warner.json --uniform-prior 10 --posterior-bound 1";
    sandbox.run(flags).refused(1, &["guarantees epsilon", "--allow-unbounded"]);
    let value = json(&sandbox.run(&format!("{flags} --allow-unbounded --json -o better.json")).fine().out);
    let utility = |side: &str| value[side]["utility"].as_f64().unwrap() * 1e5;
    assert!((utility("before") - 4.7929).abs() < 5e-5 && (utility("after") - 2.0769).abs() < 5e-5);
    assert_eq!(value["after"]["outputs"], 11);
    // Its prior travels with it: a second refinement needs no flag, and finds nothing more.
    let again = json(&sandbox.run("refine better.json --json").fine().out);
    assert!((again["after"]["utility"].as_f64().unwrap() * 1e5 - 2.0769).abs() < 5e-5);
    sandbox.run("refine warner.json").refused(2, &["a prior is required"]);
    sandbox.run("refine warner.json --uniform-prior 9").refused(1, &["has 9 shares, but \"a1\" has 10 categories"]);
    sandbox.run("refine warner.json --uniform-prior 10 --posterior-bound 0.3").refused(1, &["above the bound 0.3"]);
    sandbox.run("design --categories 2,2 --method independent --epsilon 1 -o two.json").fine();
    sandbox
        .run("refine two.json --uniform-prior 2")
        .refused(1, &["requires exactly one randomized attribute, but the schema has 2"]);
}

/// Shares of a table of true records: rounded in the plan, which is public, unless exact ones are asked for.
#[test]
fn shares_of_a_table_are_rounded_in_the_plan() {
    let sandbox = Sandbox::new();
    let truth: String = (0..997).map(|i| format!("{}\n", ["x", "y", "y", "z", "z", "z", "z"][i % 7])).collect();
    sandbox.write("people.csv", format!("answer\n{truth}"));
    sandbox.write("schema.toml", "[[attribute]]\nname = \"answer\"\ncategories = [\"x\", \"y\", \"z\"]\n");
    let design = "design schema.toml --method front --from people.csv --map-privacy 0.3 --posterior-bound 0.9";
    let stated = |file: &str| json(&sandbox.read(file))["guarantee"]["for_prior"]["prior"].clone();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = sandbox.run(&format!("{design} -o plan.json")).fine();
    for text in [&said.out, &said.err] {
        assert!(words(text).contains("rounded to two digits") && words(text).contains("--exact-prior"), "{text}");
    }
    assert_eq!(stated("plan.json"), serde_json::json!(["0.14", "0.29", "0.57"]));
    assert_eq!(json(&sandbox.read("plan.json"))["version"], 2);
    assert!(!sandbox.run("audit plan.json").fine().out.contains("version 1"));
    let said = sandbox.run(&format!("{design} --exact-prior -o exact.json")).fine();
    for text in [&said.out, &said.err] {
        assert!(words(text).contains("WARNING: the plan states the exact shares"), "{text}");
    }
    assert_eq!(stated("exact.json")[0], (143.0f64 / 997.0).to_string());
    // What is given is the user's own; whatever it sums to within the tolerance, it is kept.
    sandbox.run("design schema.toml --method front --prior 0.143,0.286,0.571 --map-privacy 0.3 -o own.json").fine();
    assert_eq!(stated("own.json"), serde_json::json!(["0.143", "0.286", "0.571"]));
    // Refined: the same; a prior that travels with the plan is kept to the digit.
    sandbox.run("design schema.toml --method independent --epsilon 1 -o plain.json").fine();
    let said = sandbox.run("refine plain.json --from people.csv --allow-unbounded -o refined.json").fine();
    assert!(words(&said.out).contains("rounded to two digits") && said.err.contains("--exact-prior"), "{}", said.err);
    assert_eq!(stated("refined.json"), serde_json::json!(["0.14", "0.29", "0.57"]));
    sandbox.run("refine refined.json -o again.json").fine();
    assert_eq!(stated("again.json"), stated("refined.json"));
    sandbox.run("refine plain.json --from people.csv --exact-prior --allow-unbounded -o exact-refined.json").fine();
    assert_eq!(stated("exact-refined.json")[0], (143.0f64 / 997.0).to_string());
    sandbox.run("refine plain.json --uniform-prior 3 --exact-prior").refused(2, &["--from"]);
}

#[test]
fn a_plan_of_version_1_says_that_its_prior_is_not_fingerprinted() {
    let sandbox = Sandbox::new();
    sandbox.write("old.json", include_str!("../../../candor-base/tests/plans/good/prior-version-1.json"));
    let said = sandbox.run("audit old.json").fine().out;
    assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains("does not cover the prior"), "{said}");
    let value = json(&sandbox.run("audit old.json --json").fine().out);
    assert_eq!((&value["version"], &value["prior_fingerprinted"]), (&1.into(), &false.into()));
    sandbox.write("new.json", include_str!("../../../candor-base/tests/plans/good/prior.json"));
    let value = json(&sandbox.run("audit new.json --json").fine().out);
    assert_eq!((&value["version"], &value["prior_fingerprinted"]), (&2.into(), &true.into()));
    assert!(!sandbox.run("audit new.json").fine().out.contains("does not cover"));
}

#[test]
fn mistakes_are_told() {
    let sandbox = Sandbox::new();
    for (flags, code, part) in [
        ("front", 2, "a prior is required"),
        ("front --prior 0.5,0.4", 1, "sums to 0.9, not to 1"),
        ("front --prior 0.5,-0.5,1", 1, "-0.5 as share 2"),
        ("front --prior 1", 1, "has 1 categories"),
        ("front --prior 1,0", 1, "fewer than two categories that occur"),
        ("front --uniform-prior 0", 1, "has 0 categories"),
        ("front --uniform-prior 5000", 1, "at most 1000"),
        ("front --prior 0.99,0.01 --posterior-bound 0.75", 1, "Theorem 5"),
        ("front --prior 0.99,0.01 --posterior-bound 0.995 --map-privacy 0.4", 1, "Theorem 5"),
        ("front --uniform-prior 4 --posterior-bound 0", 1, "above 0 and at most 1"),
        ("front --uniform-prior 4 --posterior-bound NaN", 1, "above 0 and at most 1"),
        ("front --uniform-prior 4 --map-privacy -0.1", 1, "privacy is -0.1"),
        ("front --uniform-prior 4 --map-privacy NaN", 1, "privacy is NaN"),
        ("front --uniform-prior 4 --points 0", 2, "--points"),
        ("front --uniform-prior 4 --plot f.pdf", 2, ".svg or .png"),
        ("front --uniform-prior 4 --method exact --outputs 3", 1, "at least as many outputs as categories"),
        ("front --uniform-prior 4 --method evolve --outputs 5", 2, "--outputs cannot be used with --method evolve"),
        ("front --uniform-prior 4 --method evolve --population 1", 1, "--population is 1"),
        ("front --uniform-prior 4 --method evolve --mutation 2", 1, "--mutation is 2"),
        ("front --gamma-prior 5 --shape 0", 1, "--shape is 0"),
        ("front --uniform-prior 4 --prior 0.5,0.5", 2, "cannot be used with"),
        ("design --categories 4 --method front --uniform-prior 4", 2, "needs --map-privacy or --max-mse"),
        ("design --categories 4 --method front --map-privacy 0.5", 2, "a prior is required"),
        ("design --categories 4 --method front --map-privacy 0.8 --uniform-prior 4", 1, "Theorem 5"),
        ("design --categories 4 --method front --map-privacy 0.5 --uniform-prior 5", 1, "has 5 shares"),
        (
            "design --categories 4,4 --method front --map-privacy 0.5 --uniform-prior 4",
            1,
            "exactly one randomized attribute",
        ),
        ("design --categories 3 --method front --map-privacy 0.3 --prior 0.5,0.5,0", 1, "probability 0 to 2"),
        (
            "design --categories 4 --method independent --epsilon 1 --prior 0.25,0.25,0.25,0.25",
            2,
            "--prior cannot be used with",
        ),
    ] {
        sandbox.run(flags).refused(code, &[part]);
    }
}

/// Any accuracy function (Huang and Du 2008, eq. 5): 0 and 1 as a matrix is the front as it is, and others bring a
/// certified expected loss.
#[test]
fn losses_of_guesses() {
    let sandbox = Sandbox::new();
    sandbox.write("wrong.csv", "0,1,1\n1,0,1\n1,1,0\n");
    sandbox.write("loss.csv", ",low,mid,high\nlow,0,1,4\nmid,1,0,1\nhigh,4,1,0\n");
    let flags = "pareto --prior 0.5,0.3,0.2 --posterior-bound 0.9 --map-privacy 0.2,0.3,0.4 --method exact --json";
    let (plain, same) =
        (json(&sandbox.run(flags).fine().out), json(&sandbox.run(&format!("{flags} --loss wrong.csv")).fine().out));
    for (one, other) in plain["points"].as_array().unwrap().iter().zip(same["points"].as_array().unwrap()) {
        for field in ["privacy", "utility", "lower_bound"] {
            let (one, other) = (one[field].as_f64().unwrap(), other[field].as_f64().unwrap());
            assert!((one / other - 1.0).abs() < 1e-5, "{field}: {one} {other}");
        }
    }
    assert!(plain["largest_loss"].is_null() && same["largest_loss"] == 1.0);
    let said = sandbox.run("pareto --prior 0.5,0.3,0.2 --loss ordinal --points 3 --generations 60 --plot l.svg").fine();
    assert!(
        said.out.contains("expected loss of the best guess") && said.out.contains("largest loss, 2"),
        "{}",
        said.out
    );
    assert!(sandbox.read("l.svg").contains("measured by a loss"));
    // These shares sum to a hair more than one: privacy begins at 0 all the same.
    sandbox.run("pareto --prior 0.4,0.3,0.2,0.1 --loss ordinal --method exact --points 4").fine();

    sandbox.write(
        "schema.toml",
        "[[attribute]]\nname = \"Income\"\nkind = \"ordinal\"\ncategories = [\"low\", \"mid\", \"high\"]\n",
    );
    let design = "design schema.toml --method front --prior 0.5,0.3,0.2 --map-privacy 0.1";
    let made = sandbox.run(&format!("{design} --loss loss.csv -o plan.json")).fine().out;
    assert!(made.contains("the best guess loses at least 0.4000"), "{made}");
    sandbox.run("design schema.toml --method warner --p 0.6 -o warner.json").fine();
    let refine = "refine warner.json --prior 0.5,0.3,0.2 --loss ordinal --allow-unbounded";
    let refined = json(&sandbox.run(&format!("{refine} -o better.json --json")).fine().out);
    let of = |side: &str, field: &str| refined[side][field].as_f64().unwrap();
    assert!((of("before", "privacy") - of("after", "privacy")).abs() < 1e-6);
    assert!(of("after", "utility") < 0.95 * of("before", "utility") && refined["largest_loss"] == 2.0, "{refined}");
    let said = sandbox.run(refine).fine().out;
    assert!(said.contains("as a share of the largest loss, 2"), "{said}");

    for (text, said) in [
        ("0,1\n1,0\n", "the loss matrix has 2 rows and 2 columns, but there are 3 categories"),
        ("0,1,2\n1,0,x\n2,1,0\n", "the loss matrix is unreadable"),
        ("0,1,2\n1,0,-1\n2,1,0\n", "has -1 in row 2, column 3"),
        (",mid,low,high\nmid,0,1,2\nlow,1,0,1\nhigh,2,1,0\n", "where the category is \"low\""),
        ("0,0,0\n0,0,0\n0,0,0\n", "is 0 everywhere"),
    ] {
        sandbox.write("bad.csv", text);
        sandbox.run(&format!("{design} --loss bad.csv -o bad.json")).refused(1, &[said]);
    }
    sandbox.run(&format!("{design} --loss nothing.csv -o bad.json")).refused(1, &["--loss", "nothing.csv", "ordinal"]);
    sandbox.run(&format!("{design} --loss ordinal --outputs 4 -o bad.json")).refused(1, &["outputs"]);
    let far = "design schema.toml --method front --prior 0.5,0.3,0.2 --map-privacy 0.6 --loss ordinal -o bad.json";
    sandbox.run(far).refused(1, &["cannot be reached", "0.35"]);
    sandbox.run("design schema.toml --method warner --p 0.6 --loss ordinal").refused(2, &["--loss", "front"]);
    let large = "pareto --normal-prior 41 --loss ordinal --method exact --points 2";
    sandbox.run(large).refused(1, &["too many extreme posteriors", "--method evolve"]);
}
