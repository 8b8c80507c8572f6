//! Sets, audits, comparisons and the respondents' page as a user meets them.

use crate::sandbox::Sandbox;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn criterion<'a>(audit: &'a Value, name: &str) -> &'a Value {
    audit["criteria"].as_array().unwrap().iter().find(|c| c["name"] == name).unwrap()
}

/// A schema with ten diagnoses, and people of whom four in ten have the first.
fn survey(sandbox: &Sandbox, people: usize) {
    let labels: Vec<String> = (0..10).map(|i| format!("\"d{i}\"")).collect();
    sandbox
        .write("schema.toml", format!("[[attribute]]\nname = \"diagnosis\"\ncategories = [{}]\n", labels.join(", ")));
    let mut text = String::from("diagnosis\n");
    (0..people).for_each(|i| text += &format!("d{}\n", if i % 10 < 4 { 0 } else { i % 10 }));
    sandbox.write("people.csv", text);
}

#[test]
fn l_diversity_from_design_to_estimates() {
    let sandbox = Sandbox::new();
    survey(&sandbox, 20_000);
    let said = sandbox.run("design schema.toml --method l-diversity --l 3 -o plan.json").fine();
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("at least 3 categories of each attribute are equally plausible"), "{words}");
    sandbox.run("randomize plan.json people.csv -o responses.parquet --seed 4").fine();
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 4").fine();
    let row = sandbox.read("responses.csv").lines().nth(1).unwrap().to_owned();
    assert_eq!(row.split(';').count(), 3, "{row}");
    let truth = [0.4, 0.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1];
    let unbiased = json(&sandbox.run("estimate plan.json responses.parquet --json --covariance").fine().out);
    let csv = json(&sandbox.run("estimate plan.json responses.csv --json --covariance").fine().out);
    assert_eq!(unbiased["tables"], csv["tables"]);
    let table = &unbiased["tables"][0];
    // Ten cells, six standard errors: false alarms are rarer than one in ten million.
    for (i, truth) in truth.iter().enumerate() {
        let cell = &table["cells"][i];
        let (share, se) = (cell["estimate"].as_f64().unwrap(), cell["standard_error"].as_f64().unwrap());
        assert!((share - truth).abs() < 6.0 * se, "{i}: {share} {truth} {se}");
        // Standard errors are not below those of the nearest proper distribution, so they can be a little larger.
        let variance = table["covariance"][i][i].as_f64().unwrap();
        assert!((variance.sqrt() / se - 1.0).abs() < 0.01, "{} {se}", variance.sqrt());
        let row: f64 = table["covariance"][i].as_array().unwrap().iter().map(|c| c.as_f64().unwrap()).sum();
        assert!(row.abs() < 1e-12, "shares sum to one, so rows of their covariance to nothing: {row}");
    }
    let iterated = json(&sandbox.run("estimate plan.json responses.parquet --method iterative --json").fine().out);
    let shares: Vec<f64> = (0..10).map(|i| iterated["tables"][0]["cells"][i]["estimate"].as_f64().unwrap()).collect();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares.iter().all(|&s| s >= 0.0));
    assert!(shares.iter().zip(truth).all(|(a, b)| (a - b).abs() < 0.03), "{shares:?}");
    sandbox.run("estimate plan.json responses.csv --covariance").refused(2, &["--covariance requires --json"]);
    // A list with a label too few, too many or twice cannot be an answer.
    for (bad, part) in
        [("d1;d2", "a set of 2"), ("d1;d2;d3;d4", "a set of 4"), ("d1;d1;d2", "a set of 3"), ("d1;d2;x", "\"x\"")]
    {
        sandbox.write("bad.csv", format!("diagnosis\n{bad}\n"));
        sandbox.run("estimate plan.json bad.csv --unmarked").refused(1, &["bad.csv, row 1", part]);
    }
}

#[test]
fn l_diversity_on_a_cross_classification() {
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 6_000);
    sandbox.plan();
    let made = sandbox
        .run("design schema.toml --method l-diversity --l 2 --cross smokes,age")
        .refused(1, &["has bins of numbers"]);
    assert!(made.out.is_empty());
    sandbox.write(
        "plain.toml",
        "[[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"sometimes\", \"yes\"]\n\n\
         [[attribute]]\nname = \"region\"\ncategories = [\"north\", \"south\"]\n",
    );
    let said = sandbox.run("design plain.toml --method l-diversity --l 3 --cross smokes,region -o cross.json").fine();
    assert!(said.out.contains("smokes*region"), "{}", said.out);
    // The table has both columns, not their combination; so has a record that comes alone.
    sandbox.run("randomize cross.json people.csv -o responses.csv --seed 9").fine();
    let first = sandbox.read("responses.csv").lines().nth(1).unwrap().to_owned();
    assert!(first.split(';').count() == 3 && first.contains("no*north"), "{first}");
    let one =
        sandbox.run_with("randomize cross.json --stream --seed 1", "{\"smokes\": \"yes\", \"region\": \"south\"}\n");
    assert!(one.fine().out.contains("yes*south"));
    let table = json(&sandbox.run("estimate cross.json responses.csv --json").fine().out);
    for cell in table["tables"][0]["cells"].as_array().unwrap() {
        let (share, se) = (cell["estimate"].as_f64().unwrap(), cell["standard_error"].as_f64().unwrap());
        assert!((share - 1.0 / 6.0).abs() < 6.0 * se, "{cell}");
    }
    sandbox.run("audit cross.json --require l-diversity=3").fine();
    sandbox.write("half.csv", "smokes\nyes\n");
    sandbox.run("randomize cross.json half.csv -o out.csv").refused(1, &["region"]);
    sandbox
        .run("design plain.toml --method independent --epsilon 1 --cross smokes,region")
        .refused(2, &["--cross cannot be used with"]);
}

#[test]
fn an_audit_answers_every_question() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 20 --method l-diversity --l 5 -o l.json").fine();
    sandbox.run("design --categories 20 --method minimax --likelihood-ratio 14.19 -o m.json").fine();
    let names = [
        "ldp",
        "parity",
        "beta-factor",
        "rho",
        "information-bounds",
        "average-security",
        "map-privacy",
        "worst-posterior",
        "l-diversity",
        "guessing",
        "mutual-information",
    ];
    let audit = json(&sandbox.run("audit l.json --json").fine().out);
    let found: Vec<&str> = audit["criteria"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(found, names);
    let value = |name: &str| criterion(&audit, name)["value"].as_f64();
    assert_eq!((value("ldp"), value("parity"), value("l-diversity")), (None, None, Some(5.0)));
    assert!(
        (value("guessing").unwrap() - 0.2).abs() < 1e-12 && (value("worst-posterior").unwrap() - 0.2).abs() < 1e-12
    );
    assert!((value("mutual-information").unwrap() - 2.0).abs() < 1e-9);
    assert!(criterion(&audit, "average-security")["warning"].as_str().unwrap().contains("Do not rely"));
    assert!(criterion(&audit, "ldp")["holds"].is_null() && criterion(&audit, "ldp")["required"].is_null());
    let text = sandbox.run("audit l.json").fine().out;
    assert!(names.iter().all(|name| text.contains(name)), "{text}");
    assert!(text.contains("at least 5 answers fit what we receive equally well"), "{text}");

    // Thresholds: what holds, what does not, and the exit code.
    sandbox.run("audit l.json --require l-diversity=5 --require worst-posterior=0.75 --require guessing=0.2").fine();
    let said = sandbox.run("audit l.json --require ldp=1 --require l-diversity=6 --require guessing=0.3 --json");
    let said = said.refused(1, &["l.json does not meet ldp=1 (it is unbounded), nor l-diversity=6 (it is 5)"]);
    let audit = json(&said.out);
    let held = |name: &str| criterion(&audit, name)["holds"].as_bool();
    assert_eq!((held("ldp"), held("l-diversity"), held("guessing")), (Some(false), Some(false), Some(true)));
    sandbox.run("audit m.json --require rho=0.1:0.62 --require parity=14.19 --require ldp=2.653").fine();
    sandbox.run("audit m.json --require rho=0.1:0.5").refused(1, &["rho=0.1:0.5 (it is 0.6120)"]);

    // A prior, and the closest one that breaks a bound.
    let shares = ["0.24"].iter().copied().chain(std::iter::repeat_n("0.04", 19)).collect::<Vec<_>>().join(",");
    let prior = format!("audit l.json --prior a1={shares} --require worst-posterior=0.75 --json");
    let audit = json(&sandbox.run(&prior).fine().out);
    assert!((criterion(&audit, "worst-posterior")["value"].as_f64().unwrap() - 0.6).abs() < 1e-9);
    let breaking = &criterion(&audit, "worst-posterior")["closest_breaking_prior"];
    // 0.24 + t = 0.75 (0.24 + 0.16): t = 0.06.
    assert!((breaking["distance"].as_f64().unwrap() - 0.06).abs() < 1e-9, "{breaking}");

    for (flags, code, part) in [
        ("l.json --require rho=0.5:0.1", 1, "rho1 below rho2"),
        ("l.json --require average-security=2", 1, "above 1 and below 2"),
        ("l.json --require parity=0.9", 1, "1 or more"),
        ("l.json --require l-diversity=21", 1, "has only 20 categories"),
        ("l.json --require l-diversity=1", 1, "2 or more"),
        ("l.json --require safety=1", 1, "unknown criterion \"safety\""),
        ("l.json --require ldp=1 --require ldp=2", 1, "required twice"),
        ("l.json --prior a1=0.5,0.5", 1, "2 probabilities for 20 categories"),
        ("l.json --prior b=1", 1, "unknown randomized attribute \"b\""),
        ("l.json --prior nonsense", 2, "expected NAME=P,P,.."),
        ("l.json m.json --prior a1=1", 2, "a single plan"),
        ("--informativeness l.json", 2, "requires two plans"),
        ("", 2, "required"),
    ] {
        sandbox.run(&format!("audit {flags}")).refused(code, &[part]);
    }
}

#[test]
fn several_plans_and_comparisons() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 5 --method independent --epsilon 1 -o a.json").fine();
    sandbox.run("design --categories 5 --method independent --epsilon 2 -o b.json").fine();
    let both = json(&sandbox.run("audit a.json b.json --json").fine().out);
    assert!((both["epsilon"].as_f64().unwrap() - 3.0).abs() < 1e-8);
    assert_eq!(both["attributes"][0]["plans"], 2);
    sandbox.run("audit a.json b.json --require ldp=3").fine();
    sandbox.run("audit a.json b.json --require ldp=2.9").refused(1, &["together do not meet ldp=2.9"]);

    let compared = json(&sandbox.run("audit --informativeness a.json b.json --json").fine().out);
    assert_eq!(compared["relation"], "second-better");
    assert_eq!(compared["blocks"][0]["first_to_second"]["holds"], false);
    let same = sandbox.run("audit --informativeness a.json a.json").fine().out;
    assert!(same.contains("equally informative"), "{same}");
    // P1 and P2 of Nayak and Zhai 2019, section 3.1: P1 is the more informative, and discloses.
    sandbox.write("p1.csv", ",0,1\nfirst,0.5,0\nsecond,0,0.5\nneither,0.5,0.5\n");
    sandbox.write("p2.csv", ",0,1\nfirst,0.7,0.2\nsecond,0.3,0.8\n");
    sandbox.run("design --categories 2 --method matrix --matrix p1.csv --allow-unbounded -o p1.json").fine();
    sandbox.run("design --categories 2 --method matrix --matrix p2.csv -o p2.json").fine();
    let text = sandbox.run("audit --informativeness p1.json p2.json").fine().out;
    assert!(text.contains("p1.json is more informative than p2.json"), "{text}");
    let proofs = json(&sandbox.run("audit --informativeness p1.json p2.json --json").fine().out);
    let garbling = &proofs["blocks"][0]["first_to_second"]["proof"]["garbling"];
    let entry = |i: usize, j: usize| garbling[i][j].as_f64().unwrap();
    // C P1 = P2, checked here by hand.
    for (i, row) in [[0.7, 0.2], [0.3, 0.8]].iter().enumerate() {
        assert!((0.5 * entry(i, 0) + 0.5 * entry(i, 2) - row[0]).abs() < 1e-9);
        assert!((0.5 * entry(i, 1) + 0.5 * entry(i, 2) - row[1]).abs() < 1e-9);
    }
    let other = &proofs["blocks"][0]["second_to_first"]["proof"];
    assert!(other["other"].as_f64().unwrap() > other["at_best"].as_f64().unwrap());
    sandbox.run("design --categories 6 --method independent --epsilon 1 -o six.json").fine();
    sandbox.run("audit --informativeness a.json six.json").refused(1, &["different attributes"]);
}

/// Section 4.3 of Nayak and Zhai 2019.
#[test]
fn methods_at_equal_variance() {
    let sandbox = Sandbox::new();
    let found = json(&sandbox.run("compare --categories 50 --l 10 --json").fine().out);
    let method =
        |name: &str| found["methods"].as_array().unwrap().iter().find(|m| m["method"] == name).unwrap().clone();
    let number = |name: &str, field: &str| method(name)[field].as_f64().unwrap();
    assert_eq!(number("l-diversity", "guessing"), 0.1);
    assert!(method("l-diversity")["epsilon"].is_null());
    assert!((number("minimax", "parity") - 18.023_183).abs() < 1e-6 && method("minimax")["answer_size"] == 3);
    assert!((number("minimax", "guessing") - 0.1783).abs() < 5e-5);
    for name in ["l-diversity", "minimax", "k-ary", "RAPPOR"] {
        assert!((number(name, "added_variance") - 11.025).abs() < 1e-9, "{name}");
    }
    let text = sandbox.run("compare --categories 20 --added-variance 5.07").fine().out;
    assert!(text.contains("0.4274") && text.contains("0.2000"), "{text}");
    sandbox.run("compare --categories 20 --l 20").refused(1, &["below 20"]);
    sandbox.run("compare --categories 20 --l 1").refused(1, &["2 or more"]);
    sandbox.run("compare --categories 20 --added-variance -1").refused(2, &["a number above 0"]);
    sandbox.run("compare --categories 20").refused(2, &["--added-variance"]);
}

#[test]
fn a_page_for_respondents() {
    let sandbox = Sandbox::new();
    survey(&sandbox, 1);
    sandbox.run("design schema.toml --method l-diversity --l 3 -o l.json").fine();
    let text = sandbox.run("explain l.json").fine().out;
    for part in [
        "a list of 3 of the 10 answers. Yours is always on it",
        "at least 3 answers fit what is sent",
        "34 of 100",
        "Of 100 people who send this, about 33 mean",
        "does not hide that you took part",
    ] {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part}: {text}");
    }
    for jargon in ["epsilon", "parity", "channel", "posterior", "privacy budget"] {
        assert!(!text.to_lowercase().contains(jargon), "{jargon}");
    }
    sandbox.run("explain l.json -o sheet.html").fine();
    let html = sandbox.read("sheet.html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("<html lang=\"en\">") && html.contains("<main>"));
    assert!(!html.contains("http:") && !html.contains("https:") && !html.contains("<script"), "self-contained");
    assert!(sandbox.run("explain l.json --format html").fine().out.contains("<h1>"));
    // Every kind of plan has a page; labels are text, never markup.
    sandbox.write(
        "odd.toml",
        "[[attribute]]\nname = \"<b>x</b>\"\ncategories = [\"a&b\", \"<i>\"]\n\n[[attribute]]\nname \
         = \"y\"\ncategories = [\"0\", \"1\", \"2\"]\n\n\
         [[attribute]]\nname = \"z\"\npublic = true\ncategories = [\"0\", \"1\"]\n",
    );
    sandbox.write("wide.csv", ",0,1\nsays 0,1/3,0\nsays 1,0,1/3\nsilent,2/3,2/3\n");
    for design in [
        "odd.toml --method independent --epsilon 2",
        "odd.toml --method joint --epsilon 2",
        "odd.toml --method minimax --likelihood-ratio 3",
        "odd.toml --method independent --epsilon 0",
        "--categories 300 --method minimax --likelihood-ratio 2",
        "--categories 4 --method warner --p 0.001",
        "--categories 2 --method matrix --matrix wide.csv --allow-unbounded",
    ] {
        sandbox.run(&format!("design {design} -o plan.json --force")).fine();
        let html = sandbox.run("explain plan.json --format html").fine().out;
        assert!(!html.contains("<b>") && !html.contains("<i>") && !html.contains("NaN"), "{design}");
        assert!(html.contains("z") || !design.starts_with("odd"), "{design}");
        assert_eq!(html.contains("gives your answer away"), design.contains("--allow-unbounded"), "{design}");
    }
    // Under a lottery the example is of one way, and says so.
    sandbox.run("design --categories 4,5 --method sampling --epsilon 2 --tables marginals -o plan.json --force").fine();
    let text = sandbox.run("explain plan.json").fine().out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Chance picked way 1 of 2. This is sent about “a2”"), "{text}");
    sandbox.run("explain l.json -o l.json").refused(1, &["both an input and the output"]);
    sandbox.run("explain none.json").refused(1, &["cannot read none.json"]);
}

/// Plans without an epsilon say so where answers are made, and to those who answer; others do not.
#[test]
fn what_answers_can_settle_is_said() {
    let sandbox = Sandbox::new();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    sandbox.write("people.csv", "a1\n0\n1\n2\n");
    sandbox.write("zeros.csv", ",0,1,2\nnot 0,0,0.5,0.5\nnot 1,0.5,0,0.5\nnot 2,0.5,0.5,0\n");
    let (some, proof) = ("can rule some answers out for certain, but never all but one", "can prove which one is true");
    for (design, said) in [
        ("--method l-diversity --l 2", Some(some)),
        ("--method matrix --matrix zeros.csv --allow-unbounded", Some(some)),
        ("--method front --prior 0.5,0.3,0.2 --map-privacy 0.2", Some(proof)),
        ("--method warner --p 0.6", None),
    ] {
        sandbox.run(&format!("design --categories 3 {design} -o plan.json --force")).fine();
        let run = sandbox.run("randomize plan.json people.csv -o responses.csv --force --json").fine();
        let value = json(&run.out);
        assert_eq!(value["unbounded"], said.is_some(), "{design}");
        let one = sandbox.run_with("randomize plan.json --stream", b"{\"a1\": 0}\n").fine();
        let page = words(&sandbox.run("explain plan.json").fine().out);
        for text in [words(&run.err), words(&one.err), page] {
            assert_eq!(text.matches("rule some answers out").count(), usize::from(said.is_some()), "{design}: {text}");
            assert!(said.is_none_or(|said| text.contains(said)), "{design}: {text}");
        }
        assert_eq!(run.err.contains("no finite epsilon"), said.is_some(), "{design}");
    }
}

/// What is told of a loss too small for floats is small, and not nothing.
#[test]
fn nothing_is_called_independent_that_is_not() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 2,2 --method joint --epsilon 1e-13 -o plan.json").fine();
    let page = sandbox.run("explain plan.json").fine().out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!page.contains("does not depend on your answers") && page.contains("at most 1.01 times"), "{page}");
    sandbox.run("design --categories 2,2 --method joint --epsilon 0 -o plan.json --force").fine();
    let page = sandbox.run("explain plan.json").fine().out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("does not depend on your answers at all"), "{page}");
}

#[test]
fn paper_002_regenerates() {
    let sandbox = Sandbox::new();
    let all = sandbox.run("reproduce l-diversity -o figures").fine().out;
    for part in
        ["97 of 99 printed numbers", "30 of 30 printed numbers", "12 cells", "k = 10, l = 5: 1 and 2", "none differs"]
    {
        assert!(all.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part}: {all}");
    }
    assert!(sandbox.path("figures/l-diversity-table-1-added-variance.csv").exists());
    assert!(sandbox.path("figures/l-diversity-table-1-added-variance.svg").exists());
    assert!(sandbox.run("reproduce").fine().out.contains("l-diversity: A local l-diversity mechanism"));
}

/// With a number of respondents, the audit says what a reader of the shuffled responses learns, and it can be required.
#[test]
fn audits_tell_what_shuffling_adds() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    let told = sandbox.run("audit plan.json --respondents 20000 --require shuffled=0.9 --require ldp=9").fine();
    assert!(told.out.contains("shuffled 0.") && told.out.contains("0.9 required: holds"), "{}", told.out);
    assert!(told.out.contains("hides only among those with the same region"), "{}", told.out);
    let json = sandbox.run("audit plan.json --respondents 20000 --delta 1e-7 --colluding 5000 --json").fine().out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let last = &json["shuffled"];
    assert_eq!((&last["name"], &last["colluding"]), (&"shuffled".into(), &5000.into()));
    assert!(last["value"].as_f64().unwrap() < json["epsilon"].as_f64().unwrap() / 2.0);
    sandbox
        .run("audit plan.json --respondents 20000 --require shuffled=0.001")
        .refused(1, &["shuffled=0.001 (it is 0."]);
    let counted = sandbox.run("audit plan.json --respondents 20000 --tables marginals").fine().out;
    assert!(counted.contains("counted separately") || counted.contains("as they are published"), "{counted}");
    sandbox.run("audit plan.json --tables marginals").refused(2, &["--respondents"]);
    sandbox.run("audit plan.json --respondents 100 --tables nowhere").refused(1, &["nowhere"]);
    sandbox.run("audit plan.json --require shuffled=1").refused(2, &["--respondents"]);
    sandbox.run("audit plan.json --respondents 100 --delta 0.1").refused(2, &["--delta"]);
    sandbox.run("audit plan.json --respondents 100 --colluding 100").refused(2, &["--respondents"]);
}

/// A follow-up's list of answers can prove the question: respondents are not told otherwise.
#[test]
fn lists_about_follow_ups_give_the_question_away() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "schema.toml",
        "[[attribute]]\nname = \"Use\"\ncategories = [\"no\", \"yes\"]\n[[attribute]]\nname = \"Daily\"\ncategories = \
         [\"no\", \"yes\"]\nasked_if = \"Use = yes\"\n",
    );
    sandbox.run("design schema.toml --method l-diversity --l 2 -o plan.json").fine();
    let sheet = sandbox.run("explain plan.json").fine().out;
    assert!(!sheet.contains("never all but one") && !sheet.contains("nobody can be sure what you said"), "{sheet}");
    sandbox.write("people.csv", "Use,Daily\nno,\nyes,no\n");
    let warned = sandbox.run("randomize plan.json people.csv -o r.csv").fine().err;
    assert!(warned.contains("can prove which one is true"), "{warned}");
}
