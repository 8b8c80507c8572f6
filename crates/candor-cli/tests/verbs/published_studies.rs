//! Complex surveys beside R's package survey, and published results of R packages for randomized response: what
//! benches/results/*-validation.md prints.

use std::fmt::Write;

use crate::sandbox::Sandbox;
use serde_json::Value;

/// A plan that is as good as no randomization, and one that is not.
const DIRECT: f64 = 44.0;
const RANDOMIZED: f64 = 2.0;

fn golden(name: &str) -> Vec<f64> {
    let all: Value = serde_json::from_str(include_str!("../golden/studies.json")).unwrap();
    all[name].as_array().unwrap_or_else(|| panic!("{name}")).iter().map(|number| number.as_f64().unwrap()).collect()
}

fn attribute(name: &str, public: bool, categories: &[&str]) -> String {
    format!("[[attribute]]\nname = \"{name}\"\npublic = {public}\ncategories = {categories:?}\n\n")
}

/// A survey: its files, and the words that say how people were drawn.
struct Study {
    sandbox: Sandbox,
    design: &'static str,
}

impl Study {
    fn new(schema: String, table: &[u8], file: &str, kept: &str, epsilon: f64, design: &'static str) -> Study {
        let sandbox = Sandbox::new();
        sandbox.write("schema.toml", schema);
        sandbox.write(file, table);
        let words =
            format!("design schema.toml --method independent --epsilon {epsilon} --max-epsilon 100 -o plan.json");
        sandbox.run(&words).fine();
        sandbox.run(&format!("randomize plan.json {file} --keep {kept} --seed 7 -o responses.csv")).fine();
        Study { sandbox, design }
    }

    fn api(epsilon: f64, type_is_public: bool) -> Study {
        let schema = attribute("awards", false, &["no", "yes"]) + &attribute("type", type_is_public, &["E", "H", "M"]);
        let table = include_bytes!("../golden/api_clus1.csv");
        let kept = "learners,district,weight,districts";
        Study::new(schema, table, "api.csv", kept, epsilon, "--weights weight --psu district")
    }

    fn yrbs(epsilon: f64) -> Study {
        let (schema, table) =
            (attribute("helmet", false, &["mostly", "rarely", ""]), include_bytes!("../golden/yrbs.csv.gz"));
        let design = "--weights weight --psu psu --strata stratum";
        Study::new(schema, table, "yrbs.csv.gz", "stratum,psu,weight", epsilon, design)
    }

    fn nhanes(epsilon: f64) -> Study {
        let schema = attribute("cholesterol", false, &["normal", "high", ""])
            + &attribute("race", true, &["hispanic", "white", "black", "other"])
            + &attribute("sex", true, &["male", "female"])
            + &attribute("age", true, &["0-19", "20-39", "40-59", "60+"]);
        let table = include_bytes!("../golden/nhanes.csv.gz");
        let design = "--weights weight --psu psu --strata stratum";
        Study::new(schema, table, "nhanes.csv.gz", "stratum,psu,weight", epsilon, design)
    }

    /// What a verb says.
    fn json(&self, words: &str) -> Value {
        self.said(words, &[])
    }

    fn regression(&self, words: &str, model: &str) -> Value {
        self.said(&format!("regress {words}"), &["--model", model])
    }

    fn said(&self, words: &str, more: &[&str]) -> Value {
        let mut all: Vec<&str> = words.split_whitespace().collect();
        all.splice(1..1, ["plan.json", "responses.csv", "--json"]);
        all.extend(self.design.split_whitespace().chain(more.iter().copied()));
        serde_json::from_str(&self.sandbox.run_words(&all).fine().out).unwrap()
    }

    /// The shares of the last category of the first outcome, by group.
    fn shares(&self, words: &str) -> Vec<Value> {
        let found = self.json(words);
        let table = &found["tables"][0];
        let cells = table["cells"].as_array().unwrap();
        let last = |cell: &&Value| {
            let label = cell["categories"].as_array().unwrap().last().unwrap().as_str().unwrap();
            ["yes", "rarely", "high"].contains(&label)
        };
        let with = |cell: &Value| {
            let mut cell = cell.clone();
            cell["df"] = table["degrees_of_freedom"].clone();
            cell
        };
        cells.iter().filter(last).map(with).collect()
    }
}

fn number(value: &Value, field: &str) -> f64 {
    value[field].as_f64().unwrap_or_else(|| panic!("{field} of {value}"))
}

/// The share and its error are R's; the interval is at most this much wider or narrower at an end.
fn same_share(name: &str, cell: &Value, apart: f64) {
    let expected = golden(name);
    for (at, field) in ["estimate", "standard_error"].into_iter().enumerate() {
        let found = number(cell, field);
        assert!((found - expected[at]).abs() < 1e-8, "{name} {field}: {found} {}", expected[at]);
    }
    for (at, field) in [(2, "low"), (3, "high")] {
        let found = number(cell, field);
        assert!((found - expected[at]).abs() < apart, "{name} {field}: {found} {}", expected[at]);
    }
}

/// Coefficients and errors are R's, with R's degrees of freedom.
fn same_coefficients(name: &str, found: &Value, closeness: f64, df: bool) {
    for (at, own) in found["coefficients"].as_array().unwrap().iter().enumerate() {
        let expected = golden(&format!("{name} {at}"));
        for (place, field) in ["estimate", "standard_error"].into_iter().enumerate() {
            let value = number(own, field);
            let off = (value - expected[place]).abs() / (1.0 + expected[place].abs());
            assert!(off < closeness, "{name} {at} {field}: {value} {}", expected[place]);
        }
        assert!(!df || (number(own, "df") - expected[5]).abs() < 1e-9, "{name} {at}: {own}");
    }
}

#[test]
fn shares_of_three_surveys_are_those_of_r() {
    let api = Study::api(DIRECT, true);
    let all = api.shares("estimate --tables awards");
    same_share("api", &all[0], 0.001);
    assert_eq!(all[0]["df"], 14.0);
    same_share("api fpc", &api.shares("estimate --tables awards --fpc districts")[0], 0.002);
    let yrbs = Study::yrbs(DIRECT).shares("estimate --tables helmet --complete-cases");
    same_share("yrbs", &yrbs[0], 0.005);
    assert_eq!(yrbs[0]["df"], 41.0);
    let nhanes = Study::nhanes(DIRECT);
    same_share("nhanes", &nhanes.shares("estimate --tables cholesterol --complete-cases")[0], 0.001);
    // Groups as tables of their own, and as shares among those with the same category.
    let groups = nhanes.json("estimate --tables cholesterol --complete-cases --by race");
    for (code, table) in groups["tables"].as_array().unwrap().iter().enumerate() {
        let name = format!("nhanes {}", code + 1);
        same_share(&name, &table["cells"][1], 0.02);
        assert_eq!(table["degrees_of_freedom"], golden(&name)[4], "{name}");
    }
}

#[test]
fn groups_that_are_public_have_the_intervals_of_their_domain() {
    let api = Study::api(DIRECT, true);
    let by = api.json("estimate --tables awards --by type");
    let among = api.shares("estimate --tables awards|type");
    for (at, kind) in ["E", "H", "M"].into_iter().enumerate() {
        let (name, table) = (format!("api {kind}"), &by["tables"][at]);
        same_share(&name, &table["cells"][1], 0.05);
        assert_eq!(table["degrees_of_freedom"], golden(&name)[4], "{name}");
        for field in ["estimate", "standard_error", "low", "high", "effective_sample_size"] {
            let (one, other) = (number(&table["cells"][1], field), number(&among[at], field));
            assert!((one - other).abs() < 1e-6 * one.abs().max(1.0), "{name} {field}: {one} {other}");
        }
    }
}

#[test]
fn published_shares_follow_the_rule_of_the_nchs() {
    let grades = |study: &Study, words: &str| -> Vec<String> {
        study.shares(words).iter().map(|cell| cell["reliability"].as_str().unwrap().to_owned()).collect()
    };
    let api = Study::api(DIRECT, true);
    assert_eq!(grades(&api, "estimate --tables awards --standards nchs"), ["shown"]);
    let found = api.json("estimate --tables awards --by type --standards nchs");
    assert_eq!(found["standards"], "nchs");
    let told: Vec<&str> = found["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| table["cells"][1]["reliability"].as_str().unwrap())
        .collect();
    // 144, 14 and 25 schools: fewer than 30 are suppressed.
    assert_eq!(told, ["shown", "hidden", "hidden"]);
    let sizes: Vec<u64> =
        found["tables"].as_array().unwrap().iter().map(|table| table["sample_size"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [144, 14, 25]);
    for cell in found["tables"].as_array().unwrap().iter().map(|table| &table["cells"][1]) {
        let (p, error) = (number(cell, "estimate"), number(cell, "standard_error"));
        assert!((number(cell, "directly_asked") - p * (1.0 - p) / error.powi(2)).abs() < 1e-6);
        assert!((number(cell, "relative_standard_error") - error / p).abs() < 1e-9);
    }
    // Without noise the effective size of a share is that of R's interval, or less.
    let all = &api.shares("estimate --tables awards --standards nchs")[0];
    assert!(number(all, "effective_sample_size") <= 183.0 && number(all, "effective_sample_size") > 120.0, "{all}");
    let text =
        api.sandbox.run("estimate plan.json responses.csv --tables awards --by type --psu district --standards nchs");
    let text = text.fine().out;
    for said in
        ["effective n", "directly asked", "relative error", "standards of the NCHS", "too imprecise", "degrees of"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    let page = "report plan.json responses.csv --tables awards --psu district --standards nchs -o page.html";
    api.sandbox.run(page).fine();
    assert!(api.sandbox.read("page.html").contains("data presentation standards"));
    for refused in ["--confidence 0.9", "--interval wald", "--method constrained"] {
        let words = format!("estimate plan.json responses.csv --tables awards --standards nchs {refused}");
        api.sandbox.run(&words).refused(2, &["--standards nchs", "95%"]);
    }
}

#[test]
fn regressions_of_two_surveys_are_those_of_r() {
    let api = Study::api(DIRECT, true);
    let found = api.regression("--df design", "awards ~ learners + type");
    same_coefficients("api glm", &found, 1e-5, true);
    assert_eq!(found["design"], "weighted by weight, errors by 15 PSUs (district)");
    assert_eq!(found["test"], "one-step-cr2");
    // In groups of public attributes, and in one that randomized answers tell.
    let groups = api.regression("--df design --by type", "awards ~ learners");
    assert_eq!(groups["groups"][0]["group"]["type"], "E");
    same_coefficients("api E glm", &groups["groups"][0]["regression"], 1e-5, true);
    let hidden = Study::api(DIRECT, false);
    let found = hidden.regression("--df design --where type=E", "awards ~ learners");
    assert_eq!((found["method"].as_str(), found["subpopulation"].as_str()), (Some("corrected"), Some("type=E")));
    same_coefficients("api E glm", &found, 1e-5, false);
    assert!((number(&found, "people_modeled") - 144.0).abs() < 1e-6, "{found}");
    let nhanes = Study::nhanes(DIRECT);
    let found = nhanes.regression("--df design", "cholesterol ~ race + sex + age");
    same_coefficients("nhanes glm", &found, 1e-5, true);
    // Two PSUs a stratum: no coefficient has more degrees of freedom than the design.
    let found = nhanes.regression("", "cholesterol ~ race + sex + age");
    for own in found["coefficients"].as_array().unwrap() {
        assert!(number(own, "df") < 16.5, "{own}");
    }
    assert_eq!(found["joint_tests"][0]["denominator_df"], 14.0);
}

#[test]
fn randomized_answers_give_the_same_within_their_errors() {
    for (study, words, name) in [
        (Study::api(RANDOMIZED, true), "estimate --tables awards", "api"),
        (Study::yrbs(RANDOMIZED), "estimate --tables helmet --complete-cases", "yrbs"),
        (Study::nhanes(RANDOMIZED), "estimate --tables cholesterol --complete-cases", "nhanes"),
    ] {
        let cell = &study.shares(words)[0];
        let (share, error) = (number(cell, "estimate"), number(cell, "standard_error"));
        // Noise of the randomization alone is at most the whole error.
        assert!((share - golden(name)[0]).abs() < 5.0 * error, "{name}: {cell}");
        assert!(number(cell, "low") <= golden(name)[0] && golden(name)[0] <= number(cell, "high"), "{name}: {cell}");
    }
}

/// Responses by counts: rows of categories, and how many gave them.
fn counted(header: &str, rows: &[(&str, usize)]) -> String {
    let mut text = format!("{header}\n");
    for (row, count) in rows {
        (0..*count).for_each(|_| writeln!(text, "{row}").unwrap());
    }
    text
}

/// cWise, README: `bc.est(Y = Y, A = A, p = 0.15, p.prime = 0.15, data = cmdata)`.
#[test]
fn crosswise_model_with_an_anchor_as_cwise_prints_it() {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", attribute("Y", false, &["no", "yes"]) + &attribute("A", false, &["no", "yes"]));
    sandbox.run_words(&["device", "schema.toml", "--device", "crosswise: 0.15", "-o", "plan.json"]).fine();
    let rows = [
        ("different,different", 148),
        ("different,the same", 425),
        ("the same,different", 311),
        ("the same,the same", 1116),
    ];
    sandbox.write("responses.csv", counted("Y,A", &rows));
    let json = |words: &str| -> Value { serde_json::from_str(&sandbox.run(words).fine().out).unwrap() };
    let naive = json("estimate plan.json responses.csv --tables Y --unmarked --json");
    let cell = &naive["tables"][0]["cells"][1];
    // Printed: 0.1950, 0.0144, 0.1667 to 0.2233.
    assert!((number(cell, "estimate") - 0.1950).abs() < 5e-5 && (number(cell, "standard_error") - 0.0144).abs() < 5e-5);
    assert!((number(cell, "low") - 0.1667).abs() < 2e-3 && (number(cell, "high") - 0.2233).abs() < 2e-3, "{cell}");
    // Printed: attentive 0.7729, bias-corrected 0.1054. Its error is printed as 0.0208; a bootstrap of the counts gives
    // 0.0228, and so does linearization.
    let found = json("compliance plan.json responses.csv --anchor A=no --unmarked --json");
    assert!((number(&found["attentive"], "estimate") - 0.7729).abs() < 5e-5, "{found}");
    let text = sandbox.run("compliance plan.json responses.csv --anchor A=no --unmarked").fine().out;
    assert!(text.contains("0.1054") && text.contains("0.0227"), "{text}");
}

/// GLMMRR 0.6.0: `RRglm(response ~ Gender + pp, link = "RRlink.logit", ..)` on the crosswise answers of `Plagiarism`.
#[test]
fn crosswise_regression_as_glmmrr_fits_it() {
    let sandbox = Sandbox::new();
    let public = |name: &str| attribute(name, true, &["0", "1"]);
    sandbox.write("schema.toml", attribute("plagiarism", false, &["no", "yes"]) + &public("Gender") + &public("pp"));
    sandbox.run_words(&["device", "schema.toml", "--device", "crosswise: 1/4", "-o", "plan.json"]).fine();
    let mut rows = Vec::new();
    for (group, different, same) in [("0,0", 42, 110), ("0,1", 55, 97), ("1,0", 37, 118), ("1,1", 55, 100)] {
        rows.push((format!("different,{group}"), different));
        rows.push((format!("the same,{group}"), same));
    }
    let rows: Vec<(&str, usize)> = rows.iter().map(|(row, count)| (row.as_str(), *count)).collect();
    sandbox.write("responses.csv", counted("plagiarism,Gender,pp", &rows));
    let words =
        ["regress", "plan.json", "responses.csv", "--unmarked", "--json", "--model", "plagiarism ~ Gender + pp"];
    let found: Value = serde_json::from_str(&sandbox.run_words(&words).fine().out).unwrap();
    assert!((number(&found, "log_likelihood") + 375.342_849_185).abs() < 1e-6);
    let gender = &found["coefficients"][1];
    assert!((number(gender, "estimate") + 0.133_336_754_5).abs() < 1e-4, "{gender}");
    // Severe plagiarism is nearly out of reach (1.5%, error 5 points): GLMMRR prints 2.77 with an error of 3.01, and
    // the answers set no upper limit.
    let partial = &found["coefficients"][2];
    assert!(
        partial["high"].is_null() && partial["standard_error"].is_null() && number(partial, "low") > 0.0,
        "{partial}"
    );
    assert!(number(partial, "low") < 2.774 && number(partial, "p_value") < 0.05, "{partial}");
}
