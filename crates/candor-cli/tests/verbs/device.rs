//! Surveys without computers: from a question to cards, to what was written down, to estimates; and who did not follow.

use crate::sandbox::Sandbox;
use serde_json::Value;

fn question(sandbox: &Sandbox) {
    sandbox.write("question.toml", "[[attribute]]\nname = \"Work\"\ncategories = [\"no\", \"yes\"]\n");
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn from_a_question_to_an_estimate() {
    let sandbox = Sandbox::new();
    question(&sandbox);
    let said = sandbox
        .run("device question.toml --epsilon 1.61 --compliance-check -o plan.json --card card.html --json")
        .fine();
    let found = json(&said.out);
    let chosen = &found["questions"][0]["devices"][found["questions"][0]["chosen"].as_u64().unwrap() as usize];
    assert_eq!((chosen["device"].as_str(), chosen["ratio"].as_str()), (Some("die: 1-4 truth, 5 no, 6 yes"), Some("5")));
    let card = sandbox.read("card.html");
    for part in [
        "Card A",
        "Card B",
        "1, 2, 3 or 4",
        "the opposite of your true answer",
        "at most 5 times as likely",
        "<bdi>Work</bdi>",
    ] {
        assert!(card.contains(part), "{part}: {card}");
    }
    // 1,000 answers by hand: letters for cards, another order of columns, something to keep.
    let rows = |work: &str, card: &str, n: usize| format!("34,{card},{work}\n").repeat(n);
    let table = [
        "age,card,Work\n".to_owned(),
        rows("no", "A", 350),
        rows("yes", "A", 150),
        rows("no", "b", 140),
        rows("yes", "1", 360),
    ];
    sandbox.write("answers.csv", table.concat());
    sandbox.run("enter plan.json answers.csv --cards card --keep age -o responses.parquet").fine();
    let estimate = json(&sandbox.run("estimate plan.json responses.parquet --json").fine().out);
    // Yes of card A 0.3, of card B 0.72: share 1/2 + (0.3 - 0.72)/(2 * 2/3).
    let yes = estimate["tables"][0]["cells"][1]["estimate"].as_f64().unwrap();
    assert!((yes - (0.5 - 0.42 / (4.0 / 3.0))).abs() < 1e-9, "{yes}");
    assert_eq!(estimate["compliance"][0]["degrees"], 1);
    let comply = json(&sandbox.run("comply plan.json responses.parquet --self-protective no --json").fine().out);
    let class = &comply["questions"][0]["ignoring"];
    assert!((class["share"].as_f64().unwrap() - (1.0 - 0.3 - 0.72)).abs() < 1e-9, "{class}");
    // A file written as text says its plan beside it.
    sandbox.run("enter plan.json answers.csv --cards card -o responses.csv").fine();
    sandbox.run("comply plan.json responses.csv").fine();
    let said = sandbox.run("enter plan.json responses.csv -o again.csv");
    said.refused(1, &["need not be imported again"]);
}

#[test]
fn what_cannot_be_entered() {
    let sandbox = Sandbox::new();
    question(&sandbox);
    sandbox.run("device question.toml --epsilon 1.61 --compliance-check -o plan.json").fine();
    for (table, part) in [
        ("candor_tag,Work\nC,no\n", "\"2\""),
        ("candor_tag,Work\nA,maybe\n", "maybe"),
        ("candor_tag,Work\nA,\n", "Work"),
        ("Work\nno\n", "candor_tag"),
        ("candor_tag,Work\n", "no records"),
    ] {
        sandbox.write("answers.csv", table);
        sandbox.run("enter plan.json answers.csv -o out.csv").refused(1, &[part]);
        assert!(!sandbox.path("out.csv").exists());
    }
    sandbox.run("enter plan.json answers.csv --cards a,b -o out.csv").refused(2, &["1 lotteries"]);
}

#[test]
fn devices_and_their_warnings() {
    let sandbox = Sandbox::new();
    question(&sandbox);
    let said = sandbox.run_words(&["device", "question.toml", "--device", "crosswise: 1/4", "-o", "plan.json"]).fine();
    assert!(
        said.err.contains("there is no epsilon") && said.err.contains("months are not one in twelve"),
        "{}",
        said.err
    );
    let said = sandbox
        .run_words(&[
            "device",
            "question.toml",
            "--device",
            "sum of two dice: 2-4 yes, 11-12 no, else truth",
            "-o",
            "dice.json",
        ])
        .fine();
    assert!(said.out.contains("It wastes 16%") && said.err.contains("not uniform"), "{}{}", said.out, said.err);
    let audit = json(&sandbox.run("audit dice.json --json").fine().out);
    assert!((audit["epsilon"].as_f64().unwrap() - 10f64.ln()).abs() < 1e-9);
    assert_eq!(audit["version"], 2);
    sandbox
        .run_words(&["device", "question.toml", "--device", "die: 1-4 truth, 5 yes"])
        .refused(1, &["no rule covers 6"]);
    sandbox.run("device question.toml --epsilon 0.001").refused(1, &["no device reaches"]);
    sandbox.run("device question.toml --epsilon 1.61 --card c.html --language xx").refused(1, &["de, en"]);
    sandbox.run("device question.toml").refused(2, &["--device"]);
    // German, and categories that are shifted.
    sandbox.write("three.toml", "[[attribute]]\nname = \"<b>Party</b>\"\ncategories = [\"a\", \"b\", \"c\"]\n");
    sandbox.run("device three.toml --epsilon 1.4 --compliance-check --card card.html --language de").fine();
    let card = sandbox.read("card.html");
    assert!(
        card.contains("Karte C") && card.contains("in der Liste 2 weiter unten") && !card.contains("<b>"),
        "{card}"
    );
}

/// 1,000 answers under the triangular model with a prevalence of 1/4: 400 say "at least one", so that the share is
/// (.4 - .25)/.75 = .2 with variance .4 * .6/(1000 * .75^2).
#[test]
fn triangular_model_from_card_to_estimate() {
    let sandbox = Sandbox::new();
    question(&sandbox);
    let device = ["device", "question.toml", "--device", "triangular: 1/4", "--card", "card.html"];
    let said = sandbox.run_words(&[&device[..], &["-o", "plan.json", "--json"]].concat()).fine();
    let found = json(&said.out);
    let listed = &found["questions"][0]["devices"][0];
    assert_eq!((listed["device"].as_str(), &listed["epsilon"]), (Some("triangular: 1/4"), &Value::Null));
    assert_eq!((&found["record_epsilon"], &listed["slope"]), (&Value::Null, &json("0.75")));
    let warnings = found["warnings"].to_string();
    for part in ["the reply \\\"neither\\\" reveals \\\"no\\\"", "is 4 times as likely", "-0.01 (1 - p)/(1 - q)"] {
        assert!(warnings.contains(part), "{part}: {warnings}");
    }
    assert!(!warnings.contains("some answers rule out some truths"), "{warnings}");
    let card = sandbox.read("card.html");
    for part in ["the other answer is yes, or this one is", "neither", "at least one", "<bdi>yes</bdi>"] {
        assert!(card.contains(part), "{part}: {card}");
    }
    let words =
        [("de", "die andere Antwort ist Ja"), ("es", "la otra respuesta es sí"), ("fr", "l’autre réponse est oui")];
    for (language, part) in words {
        sandbox.run_words(&[&device[..], &["--language", language]].concat()).fine();
        assert!(sandbox.read("card.html").contains(part), "{language}");
    }
    sandbox.run_words(&[&device[..], &["--compliance-check"]].concat()).refused(1, &["no compliance-check cards"]);
    let rows = |answer: &str, n: usize| format!("{answer}\n").repeat(n);
    sandbox.write("answers.csv", "Work\n".to_owned() + &rows("at least one", 400) + &rows("neither", 600));
    sandbox.run("import plan.json answers.csv -o responses.parquet").fine();
    let estimate = json(&sandbox.run("estimate plan.json responses.parquet --json").fine().out);
    let yes = &estimate["tables"][0]["cells"][1];
    let number = |name: &str| yes[name].as_f64().unwrap();
    assert!((number("estimate") - 0.2).abs() < 1e-12, "{yes}");
    let variance = 0.4 * 0.6 / (1000.0 * 0.75 * 0.75);
    assert!((number("standard_error").powi(2) / variance - 1.0).abs() < 0.002, "{yes}");
    let audit = sandbox.run("audit plan.json").fine().out;
    assert!(audit.contains("No epsilon guarantee"), "{audit}");
    let regression = json(
        &sandbox.run_words(&["regress", "plan.json", "responses.parquet", "--model", "Work ~ 1", "--json"]).fine().out,
    );
    let intercept = regression["coefficients"][0]["estimate"].as_f64().unwrap();
    assert!((intercept - (0.2f64 / 0.8).ln()).abs() < 1e-6, "{regression}");
}

#[test]
fn power_and_its_flags() {
    let sandbox = Sandbox::new();
    question(&sandbox);
    sandbox.run("device question.toml --epsilon 1.61 -o one.json").fine();
    sandbox.run("device question.toml --epsilon 1.61 --compliance-check -o plan.json").fine();
    let number = |command: &str, field: &str| json(&sandbox.run(command).fine().out)["questions"][0][field].clone();
    assert_eq!(number("size one.json --detect-difference 0.1,0.2 --json", "respondents"), 687.0);
    assert_eq!(number("size plan.json --detect-difference 0.1,0.2 --json", "respondents"), 687.0);
    assert_eq!(number("size plan.json --noncompliance 0.1 --detect-difference 0.2 --json", "respondents"), 684.0);
    let power =
        number("size one.json --detect-difference 0.2 --null-share 0 --alpha 0.01 --respondents 200 --json", "power")
            .as_f64()
            .unwrap();
    assert!((power - 0.986_887_158).abs() < 1e-6, "{power}");
    assert!(number("size one.json --noncompliance 0.1 --json", "reason").as_str().unwrap().contains("no sample size"));
    sandbox.run("size one.json --detect-difference 0.1").refused(2, &["shares of two groups"]);
    sandbox.run("size one.json --detect-difference 0.1,0.1").refused(2, &["two different shares"]);
    sandbox.run("size one.json --detect-difference 0.1,1.2").refused(1, &["it is a share"]);
    sandbox.run("size one.json --detect-difference 0.1,0.2 --margin 0.1").refused(2, &["cannot be used with"]);
    sandbox.run("size one.json").refused(2, &["--margin"]);
}

#[test]
fn designs_that_show_who_ignores_them() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 2,3 --method independent --epsilon 2 --compliance-check -o plan.json").fine();
    sandbox.run("design --categories 2,2 --method joint --epsilon 2 --compliance-check -o joint.json").fine();
    sandbox.run("design --categories 2,3 --method joint --epsilon 2 --compliance-check -o shifted.json").fine();
    sandbox.run("design --categories 16,17 --method joint --epsilon 2 --compliance-check").refused(2, &["256"]);
    for plan in ["plan.json", "joint.json", "shifted.json"] {
        let audit = json(&sandbox.run(&format!("audit {plan} --json")).fine().out);
        assert!((audit["epsilon"].as_f64().unwrap() - 2.0).abs() < 1e-6);
        let size = json(&sandbox.run(&format!("size {plan} --noncompliance 0.2 --json")).fine().out);
        for question in size["questions"].as_array().unwrap() {
            assert!(question["respondents"].as_f64().unwrap() < 20_000.0, "{question}");
        }
    }
}

/// Sets of cells cannot be tested, and it is said; a question that cannot be answered with what people are supposed to
/// say is tested all the same.
#[test]
fn what_can_be_tested() {
    let sandbox = Sandbox::new();
    let attribute = |name: &str, labels: &str| format!("[[attribute]]\nname = \"{name}\"\ncategories = [{labels}]\n\n");
    sandbox.write(
        "schema.toml",
        attribute("a", "\"x\", \"y\", \"z\"")
            + &attribute("b", "\"no\", \"yes\"")
            + &attribute("c", "\"u\", \"v\", \"w\""),
    );
    let row =
        |i: usize| format!("{},{},{}\n", ["x", "y", "z"][i % 3], ["no", "yes"][i / 2 % 2], ["u", "v", "w"][i / 5 % 3]);
    sandbox.write("people.csv", format!("a,b,c\n{}", (0..900).map(row).collect::<String>()));
    sandbox.run("design schema.toml --method workload --tables pairs --epsilon 1 -o strips.json").fine();
    assert!(sandbox.read("strips.json").contains("strip"), "answers with sets of cells");
    sandbox.run("randomize strips.json people.csv --seed 1 -o strips.csv").fine();
    let said = sandbox.run("comply strips.json strips.csv").fine().out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said.matches("No test: answers that are sets").count(), 3, "{said}");
    assert!(
        json(&sandbox.run("estimate strips.json strips.csv --json").fine().out)["compliance"]
            .as_array()
            .is_none_or(Vec::is_empty)
    );

    sandbox.run("design schema.toml --method independent --compliance-check --epsilon 3 -o cards.json").fine();
    sandbox.run("randomize cards.json people.csv --seed 1 -o cards.csv").fine();
    let found = json(&sandbox.run("comply cards.json cards.csv --self-protective no --json").fine().out);
    let questions = found["questions"].as_array().unwrap();
    assert!(
        questions.iter().all(|one| one["test"]["p_value"].as_f64().is_some() && one["reason"].is_null()),
        "{found}"
    );
    assert_eq!(questions.iter().map(|one| one["ignoring"].is_null()).collect::<Vec<_>>(), [true, false, true]);
    sandbox.run("comply cards.json cards.csv --self-protective maybe").refused(1, &["--self-protective", "\"maybe\""]);
}
