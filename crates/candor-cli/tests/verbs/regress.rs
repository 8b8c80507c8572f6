//! `candor regress` as a user runs it.

use crate::sandbox::{Said, Sandbox};
use serde_json::Value;

/// Voters in two regions, with an age, a weight, a household and a remark; the vote is sensitive, and the more likely
/// the older people are.
fn voters() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut text = String::from("region,vote,school,age,weight,household,remark,population\n");
    for i in 0..4000 {
        let age = 20 + i * 7 % 50;
        let vote = if i * 7919 % 1000 < 200 + 10 * (age - 20) { "yes" } else { "no" };
        let (region, school) = (["north", "south"][i / 3 % 2], ["some", "much"][i / 5 % 2]);
        text += &format!("{region},{vote},{school},{age},{},{},x,20000\n", 1 + i % 3, i / 4);
    }
    sandbox.write("voters.csv", text);
    let one = |name: &str, labels: &str, public: &str| {
        format!("[[attribute]]\nname = \"{name}\"\n{public}categories = [{labels}]\n\n")
    };
    let schema = one("region", "\"north\", \"south\"", "public = true\n")
        + &one("vote", "\"no\", \"yes\"", "")
        + &one("school", "\"some\", \"much\"", "");
    sandbox.write("schema.toml", schema);
    sandbox.run("design schema.toml --epsilon 6 --method independent -o plan.json").fine();
    sandbox
        .run("randomize plan.json voters.csv --keep age,weight,household,remark,population --seed 3 -o responses.csv")
        .fine();
    sandbox
}

fn run(sandbox: &Sandbox, model: &str, more: &str) -> Said {
    let words = ["regress", "plan.json", "responses.csv", "--model", model];
    sandbox.run_words(&words.into_iter().chain(more.split_whitespace()).collect::<Vec<_>>())
}

fn json(sandbox: &Sandbox, model: &str, more: &str) -> Value {
    serde_json::from_str(&run(sandbox, model, &format!("{more} --json")).fine().out).unwrap()
}

#[test]
fn coefficients_with_errors_tests_and_effects() {
    let sandbox = voters();
    let found = json(&sandbox, "vote ~ region + age", "");
    let terms: Vec<&str> =
        found["coefficients"].as_array().unwrap().iter().map(|c| c["term"].as_str().unwrap()).collect();
    assert_eq!(terms, ["(constant)", "region=south", "age"]);
    let age = &found["coefficients"][2];
    // By the truth the share rises by a hundredth with each year.
    assert!(age["p_value"].as_f64().unwrap() < 1e-10 && age["category"] == "yes", "{age}");
    assert!((age["odds_ratio"].as_f64().unwrap().ln() - age["estimate"].as_f64().unwrap()).abs() < 1e-12);
    let effect = &found["effects"][3];
    assert_eq!((effect["term"].as_str(), effect["category"].as_str()), (Some("age"), Some("yes")));
    let (estimate, error) = (effect["estimate"].as_f64().unwrap(), effect["standard_error"].as_f64().unwrap());
    assert!((estimate - 0.01).abs() < 5.0 * error && error < 0.002, "{effect}");
    assert_eq!(
        (&found["method"], &found["converged"], &found["boundary"]),
        (&"ml".into(), &true.into(), &false.into())
    );
    assert!(age["design_effect"].as_f64().unwrap() > 1.0);
    // In standard deviations the test is the same.
    let scaled = json(&sandbox, "vote ~ region + age", "--standardize");
    let p = |found: &Value| found["coefficients"][1]["p_value"].as_f64().unwrap();
    assert!((p(&scaled) - p(&found)).abs() < 1e-6);
    let deviation = scaled["standardized"][0]["standard_deviation"].as_f64().unwrap();
    let both = scaled["coefficients"][2]["estimate"].as_f64().unwrap() - age["estimate"].as_f64().unwrap() * deviation;
    assert!(both.abs() < 1e-6, "{both}");
    let said = run(&sandbox, "vote ~ region*age", "--show-uncorrected").fine();
    assert!(said.out.contains("region=south:age") && said.out.contains("uncorrected"), "{}", said.out);
}

#[test]
fn a_randomized_predictor_and_a_linear_response() {
    let sandbox = voters();
    let corrected = json(&sandbox, "vote ~ school + age", "");
    assert_eq!((&corrected["method"], &corrected["log_likelihood"]), (&"corrected".into(), &Value::Null));
    let said = run(&sandbox, "vote ~ school + age", "--method ml").fine();
    assert!(
        said.err.contains("maximum likelihood assumes") && said.out.contains("Hausman"),
        "{}{}",
        said.err,
        said.out
    );
    let linear = json(&sandbox, "age ~ vote + region", "");
    let slope = linear["coefficients"][1]["estimate"].as_f64().unwrap();
    assert!(
        slope > 5.0 && linear["family"] == "linear" && linear["coefficients"][1]["odds_ratio"].is_null(),
        "{linear}"
    );
}

#[test]
fn the_sample_changes_errors() {
    let sandbox = voters();
    let error = |more: &str| json(&sandbox, "vote ~ age", more)["coefficients"][1]["standard_error"].as_f64().unwrap();
    let plain = error("");
    for more in [
        "--weights weight",
        "--psu household",
        "--strata region",
        "--strata region --psu household",
        "--strata region --fpc population",
    ] {
        let other = error(more);
        assert!(other != plain && (other / plain - 1.0).abs() < 0.25, "{more}: {other}, {plain}");
    }
    // Four rows that say the same thrice over tell no more than once: each household is one draw.
    let text = sandbox.read("responses.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let thrice: String = rows.lines().flat_map(|row| std::iter::repeat_n(format!("{row}\n"), 3)).collect();
    sandbox.write("thrice.csv", format!("{header}\n{thrice}"));
    let words =
        ["regress", "plan.json", "thrice.csv", "--model", "vote ~ age", "--psu", "household", "--json", "--unmarked"];
    let found: Value = serde_json::from_str(&sandbox.run_words(&words).fine().out).unwrap();
    let (clustered, once) = (found["coefficients"][1]["standard_error"].as_f64().unwrap(), error("--psu household"));
    assert!((clustered / once - 1.0).abs() < 1e-6, "{clustered} {once}");
}

/// A subpopulation has the coefficients of its people alone, and the model says how many they are.
#[test]
fn subpopulations_and_missing_values() {
    let sandbox = voters();
    let south = json(&sandbox, "vote ~ age", "--where region=south");
    let text = sandbox.read("responses.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let at = header.split(',').position(|name| name == "region").unwrap();
    let own: Vec<&str> = rows.lines().filter(|row| row.split(',').nth(at) == Some("south")).collect();
    sandbox.write("south.csv", format!("{header}\n{}\n", own.join("\n")));
    let words = ["regress", "plan.json", "south.csv", "--model", "vote ~ age", "--json", "--unmarked"];
    let alone: Value = serde_json::from_str(&sandbox.run_words(&words).fine().out).unwrap();
    for field in ["estimate", "standard_error", "low", "high"] {
        let [a, b] = [&south, &alone].map(|found| found["coefficients"][1][field].as_f64().unwrap());
        assert!((a / b - 1.0).abs() < 1e-6, "{field}: {a} {b}");
    }
    assert_eq!(south["people_modeled"].as_f64().unwrap() as usize, own.len());
    assert_eq!((&south["subpopulation"], &south["left_out"]), (&"region=south".into(), &Value::Array(Vec::new())));
    run(&sandbox, "vote ~ age", "--where vote=yes").refused(1, &["--where: it is about the outcome"]);
    // Missing values are no category of an order.
    let schema = "[[attribute]]\nname = \"mood\"\nkind = \"ordinal\"\ncategories = \
                  [\"low\", \"high\", \"best\", \"\"]\n\
                  [[attribute]]\nname = \"sex\"\npublic = true\ncategories = [\"f\", \"m\", \"\"]\n";
    sandbox.write("moods.toml", schema);
    let person = |i: usize| format!("{},{}\n", ["low", "high", "best", ""][i * 7 % 11 % 4], ["f", "m", "", "f"][i % 4]);
    sandbox.write("moods.csv", "mood,sex\n".to_owned() + &(0..800).map(person).collect::<String>());
    sandbox.run("design moods.toml --epsilon 5 --method independent -o moods.json").fine();
    sandbox.run("randomize moods.json moods.csv --seed 1 -o mood-responses.csv").fine();
    let words = ["regress", "moods.json", "mood-responses.csv", "--model", "mood ~ sex"];
    let said = sandbox.run_words(&words).fine();
    assert!(
        said.out.contains("People modeled: about") && said.out.contains("a missing value of mood, sex"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("(missing)"), "{}", said.out);
    let keeping = |family: &'static str| [&words[..], &["--missing", "category", "--family", family]].concat();
    sandbox.run_words(&keeping("ordinal")).refused(1, &["--missing category", "no place in their order"]);
    assert!(sandbox.run_words(&keeping("multinomial")).fine().out.contains("(missing)"));
}

#[test]
fn what_cannot_be_fitted_says_why() {
    let sandbox = voters();
    let refused = |model: &str, more: &str, parts: &[&str]| drop(run(&sandbox, model, more).refused(1, parts));
    refused("vote age", "", &["no ~"]);
    refused("vote ~ agee", "", &["no column \"agee\"", "age"]);
    refused("vote ~ remark", "", &["row 1, column \"remark\"", "is not a number", "public attribute"]);
    refused("vote ~ vote", "", &["cannot predict itself"]);
    refused("age ~ region", "", &["none of its variables is randomized"]);
    refused("vote ~ age + region", "--reference region=east", &["\"east\" is no category of \"region\""]);
    refused("vote ~ age", "--family poisson", &["--family poisson"]);
    refused("vote + age ~ age", "", &["cannot predict itself"]);
    refused("vote ~ school", "--method jeffreys", &["--method jeffreys", "a predictor is randomized"]);
    refused("vote ~ age", "--self-protective no", &["--self-protective", "a single channel"]);
    refused("vote ~ age", "--strata household --psu household", &["a stratum has only one cluster"]);
    refused("vote ~ age", "--strata region --fpc age", &["--fpc", "differs within a stratum"]);
    run(&sandbox, "vote ~ age", "--reference region").refused(2, &["NAME=CATEGORY"]);
    run(&sandbox, "vote ~ age", "--df design").refused(2, &["--df design requires --psu"]);
    sandbox.run("design schema.toml --method sampling --epsilon 3 --tables marginals -o marginals.json").fine();
    sandbox.run("randomize marginals.json voters.csv --seed 3 -o marginals.csv").fine();
    let words = ["regress", "marginals.json", "marginals.csv", "--model", "vote ~ school"];
    sandbox.run_words(&words).refused(1, &["collects nothing about", "--tables \"vote,school\""]);
}

#[test]
fn a_report_shows_coefficients() {
    let sandbox = voters();
    let words = ["report", "plan.json", "responses.csv", "--model", "vote ~ age", "-o", "report.html", "--json"];
    let said: Value = serde_json::from_str(&sandbox.run_words(&words).fine().out).unwrap();
    assert_eq!(said["regressions"][0]["model"], "vote ~ age");
    // The page's regressions are of the same sample.
    let weighted = sandbox.run_words(&[&words[..], &["--weights", "weight"]].concat()).fine().out;
    let weighted: Value = serde_json::from_str(&weighted).unwrap();
    let alone = json(&sandbox, "vote ~ age", "--weights weight");
    assert_eq!(weighted["regressions"][0]["coefficients"], alone["coefficients"]);
    assert_ne!(weighted["regressions"][0]["coefficients"], said["regressions"][0]["coefficients"]);
    let some = sandbox.run_words(&[&words[..], &["--where", "region = north"]].concat()).fine();
    let some: Value = serde_json::from_str(&some.out).unwrap();
    assert_eq!(some["regressions"][0]["subpopulation"], "region = north");
    let page = sandbox.read("report.html");
    assert!(page.contains("What predicts") && page.contains("Log odds"));
    sandbox
        .run_words(&["report", "plan.json", "-", "--model", "vote ~ age", "-o", "report.html"])
        .refused(2, &["--model reads"]);
}

/// The size that is printed is the one that a regression on so many needs: its errors are as predicted.
#[test]
fn respondents_for_a_coefficient() {
    let sandbox = voters();
    let size = |more: &[&str]| -> Value {
        let words = ["size", "plan.json", "--model", "vote ~ region + school", "--json"];
        serde_json::from_str(&sandbox.run_words(&[&words, more].concat()).fine().out).unwrap()
    };
    // A pilot is the whole population here; its errors are then those of the regression of all 4,000.
    let pilot = [
        "--effect",
        "region=south=0.5",
        "--effect",
        "school=much=0.1",
        "--expected-shares",
        "voters.csv",
        "--respondents",
        "4000",
    ];
    let found = size(&pilot);
    let fitted = json(&sandbox, "vote ~ region + school", "");
    for (effect, coefficient) in [(0, 1), (1, 2)] {
        let predicted = found["effects"][effect]["standard_error"].as_f64().unwrap();
        let error = fitted["coefficients"][coefficient]["standard_error"].as_f64().unwrap();
        assert!((error / predicted - 1.0).abs() < 0.15, "{predicted}, {error}");
    }
    let needed = size(&["--effect", "region=south=0.5", "--power", "0.9"])["effects"][0].clone();
    assert!(needed["power"].as_f64().unwrap() >= 0.9 && needed["respondents"].as_f64().unwrap() > 200.0, "{needed}");
    let words = ["size", "plan.json", "--model", "vote ~ region", "--effect", "region=south=0.5"];
    let said = sandbox.run_words(&words).fine();
    assert!(
        said.err.contains("nothing about vote, region is in --expected-shares") && said.out.contains("region=south"),
        "{}",
        said.err
    );
    sandbox.run("size plan.json --model vote~region").refused(2, &["--effect"]);
    sandbox.run("size plan.json --model vote~age --effect age=0.7").refused(
        1,
        &["--model: \"age\" is not an attribute", "\"region\", \"vote\", \"school\"", "--numeric-columns \"age\""],
    );
    assert!(
        sandbox
            .run("size plan.json --model vote~age --effect age=0.7 --numeric-columns age")
            .fine()
            .err
            .contains("normal")
    );
    sandbox
        .run("size plan.json --model vote~age --effect age=0.7 --numeric-columns age,region")
        .refused(1, &["--numeric-columns: \"region\" is an attribute of the plan"]);
    // What the pilot has is known.
    sandbox.run("size plan.json --model vote~age --effect age=0.01 --expected-shares voters.csv").fine();
    sandbox.run("size plan.json --model vote~region --effect region").refused(2, &["TERM=0.7"]);
    sandbox
        .run("size plan.json --detect-difference 0.1,0.2 --expected-shares voters.csv")
        .refused(2, &["cannot be used with '--expected-shares"]);
}

/// Line about the variables of the model.
const REFERENCES: &str = "\nRandomized (record-level epsilon 6.0000): vote; reference categories: region = north\n";

/// Twice ln 1.5 is 0.81093.
#[test]
fn epsilon_is_rounded_up() {
    let sandbox = voters();
    sandbox.run("design schema.toml --method independent --p 0.6 -o plan.json --force").fine();
    sandbox.run("randomize plan.json voters.csv --seed 3 -o responses.csv --force").fine();
    let said = run(&sandbox, "vote ~ region", "").fine();
    assert!(said.out.contains("Randomized (record-level epsilon 0.8110): vote;"), "{}", said.out);
}

/// Joint tests are printed always, contrasts and predictions when they are asked for; what does not go with the model
/// says so.
#[test]
fn factors_contrasts_and_predictions() {
    let sandbox = voters();
    sandbox.write("profiles.csv", "region,age\nnorth,30\nsouth,30\n");
    let found = json(&sandbox, "vote ~ region + age", "--predict profiles.csv");
    assert_eq!(found["log_likelihood_of"], serde_json::json!(["vote"]));
    assert_eq!((&found["randomized"], &found["references"]["region"]), (&found["log_likelihood_of"], &"north".into()));
    assert!(found["log_likelihood"].as_f64().unwrap() <= 0.0 && found["joint_tests"] == serde_json::json!([]));
    let [north, south] = &found["predictions"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!((&north["profile"]["region"], &north["category"]), (&"north".into(), &"yes".into()));
    let share = |one: &Value, name: &str| one[name].as_f64().unwrap();
    let log_odds = |share: f64| (share / (1.0 - share)).ln();
    let difference = log_odds(share(south, "estimate")) - log_odds(share(north, "estimate"));
    assert!((difference - found["coefficients"][1]["estimate"].as_f64().unwrap()).abs() < 1e-6, "{found}");
    assert!(share(north, "low") < share(north, "estimate") && share(north, "estimate") < share(north, "high"));
    let school = json(&sandbox, "vote ~ school + age", "");
    let tests = school["joint_tests"].as_array().unwrap();
    assert!(tests.len() <= 1 && tests.iter().all(|one| one["term"] == "school"), "{school}");
    let words = ["--contrast", "region=south - 10*age", "--predict", "profiles.csv"];
    let base = ["regress", "plan.json", "responses.csv", "--model", "vote ~ region + age"];
    let said = sandbox.run_words(&[&base[..], &words].concat()).fine();
    for part in ["Contrast region=south - 10*age", "Predicted share", "odds ratio", "AIC", "against no", REFERENCES] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    sandbox.write("empty.csv", "region,age\n");
    for (option, value, says) in [
        ("--contrast", "region=west", "--contrast: \"region=west\" has no known term"),
        ("--predict", "empty.csv", "no profiles"),
        ("--predict", "missing.csv", "missing.csv"),
    ] {
        sandbox.run_words(&[&base[..], &[option, value]].concat()).refused(1, &[says]);
    }
    sandbox.write("profiles.csv", "region,age\nwest,30\n");
    sandbox.run_words(&[&base[..], &["--predict", "profiles.csv"]].concat()).refused(1, &["\"west\" is no category"]);
}

#[test]
fn counts_have_rate_ratios_and_a_dispersion() {
    let sandbox = voters();
    // Years of age vary more than a Poisson count.
    let quasi = json(&sandbox, "age ~ vote", "--family quasi-poisson");
    let slope = &quasi["coefficients"][1];
    let ratio = slope["rate_ratio"].as_f64().unwrap();
    assert!((ratio.ln() - slope["estimate"].as_f64().unwrap()).abs() < 1e-12, "{slope}");
    assert!(slope["odds_ratio"].is_null() && slope["rate_ratio_high"].as_f64().unwrap() > ratio, "{slope}");
    assert_eq!((&quasi["family"], &quasi["modeled"]), (&"quasi-poisson".into(), &Value::Array(Vec::new())));
    let said = run(&sandbox, "age ~ vote", "--family poisson").fine();
    for part in [
        "Poisson regression",
        "Randomized (record-level epsilon 6.0000): vote",
        "rate ratio",
        "Logarithm of the mean of age\n",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    assert!(said.err.contains("specify --family quasi-poisson"), "{}", said.err);
    assert!(!run(&sandbox, "age ~ vote", "--family quasi-poisson").fine().err.contains("Poisson"));
    let refused = |model: &str, more: &str| run(&sandbox, model, more).refused(1, &[]).err;
    assert!(refused("vote ~ age", "--family poisson").contains("quasi-poisson"));
    assert!(refused("vote ~ age", "--family quasi-poisson").contains("is not a number"));
    assert!(refused("age ~ vote", "--family binary").contains("expected linear, poisson or quasi-poisson"));
    assert!(refused("age ~ vote", "--family quasi-poisson --method ml").contains("--method corrected"));
}
