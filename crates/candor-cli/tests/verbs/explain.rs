//! The sheet for respondents: in every language, with questions as they are asked, and its numbers as JSON.

use crate::sandbox::Sandbox;
use serde_json::Value;

const SCHEMA: &str = "[[attribute]]\nname = \"health\"\ncategories = [\"1.0\", \"2.0\", \"\"]\n\n[[attribute]]\nname \
                      = \"vote\"\n\
                      categories = [\"no\", \"yes\"]\n";

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_language_says_it_and_no_place_is_left_open() {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", SCHEMA);
    for design in ["independent --epsilon 2", "workload --tables pairs --epsilon 2", "l-diversity --l 2,2"] {
        if sandbox.run(&format!("design schema.toml --method {design} -o plan.json --force")).code != 0 {
            sandbox.run("design --categories 3,3 --method l-diversity --l 2,2 -o plan.json --force").fine();
        }
        for (language, title) in [
            ("en", "What happens to your answers"),
            ("de", "Was mit Ihren Antworten geschieht"),
            ("es", "Qué pasa con sus respuestas"),
            ("fr", "Ce qui arrive à vos réponses"),
        ] {
            let html = sandbox.run(&format!("explain plan.json --format html --language {language}")).fine().out;
            assert!(html.contains(&format!("<html lang=\"{language}\">")) && html.contains(title), "{html}");
            let body = html.split("</style>").nth(1).unwrap();
            assert!(!body.contains(['{', '}']), "{language}: {body}");
        }
    }
    sandbox
        .run("explain plan.json --language xx")
        .refused(1, &["invalid --language: \"xx\"", "de, en, es, fr", "--texts"]);
}

#[test]
fn questions_and_labels_are_those_of_the_texts_and_never_in_the_plan() {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", SCHEMA);
    sandbox.run("design schema.toml --method independent --epsilon 2 -o plan.json").fine();
    let plan = sandbox.read("plan.json");
    sandbox.write(
        "texts.toml",
        "[questions.health]\ntext = \"How is your health?\"\nanswers = { \"1.0\" = \"very poor\", \"2.0\" = \"<good>\" \
         }\n\n\
         [questions.vote]\ntext = \"Did you vote?\"\n",
    );
    let text = words(&sandbox.run("explain plan.json --texts texts.toml").fine().out);
    assert!(text.contains("“How is your health?”: one answer") && text.contains("Did you vote?"), "{text}");
    assert!(text.contains("about “How is your health?”: “<good>”") && !text.contains("2.0"), "{text}");
    let html = sandbox.run("explain plan.json --texts texts.toml --format html").fine().out;
    assert!(html.contains("<bdi>&lt;good&gt;</bdi>"), "{html}");
    // The report has the same words; its numbers are about the values as they are.
    sandbox.write("people.csv", "health,vote\n1.0,no\n2.0,yes\n,yes\n".to_owned() + &"2.0,no\n".repeat(300));
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 1").fine();
    let said = sandbox.run("report plan.json responses.csv --texts texts.toml -o report.html --json").fine().out;
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["estimates"]["tables"][0]["cells"][0]["categories"][0], "1.0");
    let report = sandbox.read("report.html");
    for part in ["<bdi>How is your health?</bdi>", "<bdi>very poor</bdi>", "<bdi>(missing)</bdi>", "--texts texts.toml"]
    {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert_eq!(sandbox.read("plan.json"), plan);
    sandbox.write("bad.toml", "[questions.age]\ntext = \"How old are you?\"\n");
    sandbox
        .run("explain plan.json --texts bad.toml")
        .refused(1, &["bad.toml", "[questions.\"age\"]", "no such attribute"]);
    sandbox.write("bad.toml", "[sheet]\nmore = \"and more\"\n");
    sandbox.run("explain plan.json --texts bad.toml").refused(1, &["more = \"and more\": it must have {n}"]);
    sandbox.run("explain plan.json --texts texts.toml -o texts.toml").refused(1, &["both an input and the output"]);
}

#[test]
fn a_language_of_ones_own_may_be_written_from_right_to_left() {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", SCHEMA);
    sandbox.run("design schema.toml --method independent --epsilon 2 -o plan.json").fine();
    sandbox.write("he.toml", "language = \"he\"\n[sheet]\ntitle = \"\u{5d0}\"\n");
    sandbox.run("explain plan.json --texts he.toml").refused(1, &["these texts are missing: again, by_luck"]);
    let english = include_str!("../../../candor/texts/en.toml").split("[sheet]").nth(1).unwrap();
    sandbox.write("he.toml", format!("language = \"he\"\n[sheet]{english}"));
    let html = sandbox.run("explain plan.json --texts he.toml --format html").fine().out;
    assert!(html.contains("<html lang=\"he\" dir=\"rtl\">"), "{html}");
}

#[test]
fn the_numbers_of_a_lottery_are_about_the_pair_of_way_and_answer() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 2 --method independent --epsilon 0.62 --compliance-check -o plan.json").fine();
    let said: Value = serde_json::from_str(&sandbox.run("explain plan.json --json").fine().out).unwrap();
    let about = &said["attributes"][0];
    assert_eq!(about["keep_probability"], 0.5, "the ways are mirror images");
    let guess = about["guess_probability"].as_f64().unwrap();
    assert!((guess - 0.65).abs() < 0.001, "{guess}");
    assert_eq!(said["example"]["posterior"].as_f64().unwrap(), guess, "every way tells as much");
    let text = words(&sandbox.run("explain plan.json").fine().out);
    assert!(text.contains("66 of 100") && text.contains("about 65 mean") && !text.contains("50 out of"), "{text}");
    sandbox.run("explain plan.json --json -o -").refused(2, &["both write to standard output"]);
}
