//! The evidence for approvals: every number in it is a fact with a source, in every language.

use crate::sandbox::Sandbox;
use candor::locale::evidence_texts;
use serde_json::Value;

const SURVEY: &str = "languages = [\"en\"]\ntitle = \"<b>Health</b> | 2026\"\nintroduction = \"x\"\ncontact \
                      = \"dpo@survey.test\"\n\
    invitations = true\ntokens_until = \"2026-12-01\"\nbatch = 77\npublic_results = 555\n";

fn made(sandbox: &Sandbox, arguments: &str) -> Value {
    serde_json::from_str(&sandbox.run(&format!("evidence {arguments} --json")).fine().out).unwrap()
}

/// All statements, and the facts by their numbers.
fn statements(evidence: &Value) -> Vec<(String, String, Vec<String>)> {
    let facts = evidence["facts"].as_array().unwrap();
    let value = |number: &Value| facts[number.as_u64().unwrap() as usize - 1]["value"].as_str().unwrap().to_owned();
    let points =
        evidence["sections"].as_array().unwrap().iter().flat_map(|section| section["points"].as_array().unwrap());
    let statements = points.flat_map(|point| point["statements"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    statements
        .map(|one| {
            let values = one["facts"].as_array().unwrap().iter().map(value).collect();
            (text(&one["name"]), text(&one["text"]), values)
        })
        .collect()
}

#[test]
fn every_number_of_a_statement_is_a_fact() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4,3 --epsilon 2.5 -o plan.json").fine();
    std::fs::create_dir(sandbox.path("survey")).unwrap();
    std::fs::copy(sandbox.path("plan.json"), sandbox.path("survey/plan.json")).unwrap();
    sandbox.write("survey/survey.toml", SURVEY);
    for (code, arguments) in [("en", ""), ("de", "--survey survey"), ("es", "--survey survey"), ("fr", "")] {
        let evidence = made(&sandbox, &format!("plan.json --language {code} {arguments}"));
        let texts = evidence_texts(code).unwrap();
        let mut with_facts = 0;
        for (name, text, values) in statements(&evidence) {
            // What is left without the values is the text of the table: no number comes from elsewhere.
            let mut masked = texts[&name].clone();
            for part in texts[&name].split('{').skip(1) {
                let place = part.split_once('}').unwrap().0;
                let facts = evidence["facts"].as_array().unwrap();
                let fact = facts.iter().find(|fact| fact["name"] == place).unwrap();
                assert!(values.contains(&fact["value"].as_str().unwrap().to_owned()), "{code} {name}: {place}");
                masked = masked.replace(&format!("{{{place}}}"), fact["value"].as_str().unwrap());
            }
            assert_eq!(text, masked, "{code} {name}");
            with_facts += usize::from(!values.is_empty());
        }
        assert!(with_facts >= 15, "{code}: {with_facts}");
        for fact in evidence["facts"].as_array().unwrap() {
            assert!(
                ["about", "value", "source"].iter().all(|part| !fact[*part].as_str().unwrap().is_empty()),
                "{fact}"
            );
        }
    }
}

#[test]
fn facts_are_those_of_the_plan_and_the_survey() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4,3 --epsilon 2.5 -o plan.json").fine();
    let audit: Value = serde_json::from_str(&sandbox.run("audit plan.json --json").fine().out).unwrap();
    std::fs::create_dir(sandbox.path("survey")).unwrap();
    std::fs::copy(sandbox.path("plan.json"), sandbox.path("survey/plan.json")).unwrap();
    sandbox.write("survey/survey.toml", SURVEY);
    let fact = |evidence: &Value, name: &str| -> String {
        let facts = evidence["facts"].as_array().unwrap();
        facts.iter().find(|fact| fact["name"] == name).unwrap()["value"].as_str().unwrap().to_owned()
    };
    let names = |evidence: &Value| statements(evidence).into_iter().map(|one| one.0).collect::<Vec<_>>();
    let alone = made(&sandbox, "plan.json");
    assert_eq!(fact(&alone, "fingerprint"), audit["fingerprint"].as_str().unwrap());
    let epsilon: f64 = fact(&alone, "epsilon").parse().unwrap();
    assert!(epsilon >= audit["epsilon"].as_f64().unwrap() && epsilon <= 2.5001);
    assert_eq!(fact(&alone, "questions"), "2");
    assert_eq!(fact(&alone, "randomized"), "a1, a2");
    // The most revealing response is stated, not the average alone.
    let largest = |field: &str| {
        let each = audit["attributes"].as_array().unwrap().iter().map(|one| one[field].as_f64().unwrap());
        each.fold(0.0, f64::max)
    };
    for (name, field) in [("guess", "guess_probability"), ("worst", "worst_posterior")] {
        let stated: f64 = fact(&alone, name).parse().unwrap();
        assert!((largest(field)..largest(field) + 1e-4).contains(&stated), "{name}: {stated}");
    }
    assert!(largest("worst_posterior") >= largest("guess_probability"));
    // Without a survey, nothing is said of one: neither of its settings nor of what the service does.
    let alone_facts = alone["facts"].to_string();
    for name in ["\"survey\"", "contact", "admission", "tokens_until", "batch", "public_results", "survey.toml"] {
        assert!(!alone_facts.contains(name), "{name}: {alone_facts}");
    }
    for (name, stated) in [("holder", true), ("release_plan", true), ("storage_none", true), ("admission_none", true)]
        .into_iter()
        .chain(["server", "rights_none", "contact", "release_none", "name"].map(|name| (name, false)))
    {
        assert_eq!(names(&alone).contains(&name.to_owned()), stated, "{name}");
    }
    // The command that it states holds.
    let command = alone["commands"][0].as_str().unwrap().strip_prefix("candor ").unwrap().to_owned();
    sandbox.run(&command).fine();
    let with = made(&sandbox, "plan.json --survey survey");
    for (name, value) in
        [("contact", "dpo@survey.test"), ("batch", "77"), ("public_results", "555"), ("tokens_until", "2026-12-01")]
    {
        assert_eq!(fact(&with, name), value);
    }
    for name in ["admission_tokens", "storage_batches", "release_public", "device", "server", "rights_none", "name"] {
        assert!(names(&with).contains(&name.to_owned()), "{name}");
    }
    // Without an epsilon, no statement promises one.
    sandbox.run("design --categories 4,5 --method l-diversity --l 3 -o lists.json").fine();
    let unbounded = made(&sandbox, "lists.json");
    assert!(
        names(&unbounded).contains(&"limit_unbounded".to_owned())
            && !names(&unbounded).contains(&"limit_bounded".to_owned())
            && !names(&unbounded).contains(&"again".to_owned())
    );
    // Public answers may single somebody out, so that nothing else is promised.
    sandbox.write(
        "schema.toml",
        "[[attribute]]\nname = \"Region\"\ncategories = [\"n\", \"s\"]\npublic = true\n[[attribute]]\nname = \
         \"Smokes\"\ncategories = [\"no\", \"yes\"]\n",
    );
    sandbox.run("design schema.toml --epsilon 1 -o survey/plan.json --force").fine();
    let public = made(&sandbox, "survey/plan.json --survey survey");
    assert!(names(&public).contains(&"rights_public".to_owned()) && fact(&public, "public") == "Region");
    let text = sandbox.run("evidence lists.json -o lists").fine();
    assert!(!sandbox.read("lists/evidence.md").contains("the first fails"), "{}", text.out);
    assert_eq!(fact(&unbounded, "epsilon"), "unbounded");
}

#[test]
fn files_are_written_and_nothing_else_is_replaced() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4,3 --epsilon 2.5 -o plan.json").fine();
    std::fs::create_dir(sandbox.path("survey")).unwrap();
    std::fs::copy(sandbox.path("plan.json"), sandbox.path("survey/plan.json")).unwrap();
    sandbox.write("survey/survey.toml", SURVEY);
    sandbox.run("evidence plan.json --survey survey -o out").fine();
    let html = sandbox.read("out/evidence.html");
    assert!(html.contains("&lt;b&gt;Health") && !html.contains("<b>Health") && html.contains("NIST SP 800-226"));
    let markdown = sandbox.read("out/evidence.md");
    assert!(
        markdown.starts_with("# Evidence for the approval of \\<b\\>Health")
            && markdown.contains("```sh\ncandor audit plan.json --require ldp=")
    );
    assert!(markdown.contains("candor sample-size plan.json") && !markdown.contains('{') && !html.contains("{times}"));
    sandbox.run("evidence plan.json --survey survey -o out").fine();
    sandbox.run("design --categories 4 --epsilon 1 -o other.json").fine();
    sandbox.run("evidence other.json --survey survey").refused(1, &["has the plan"]);
    sandbox.run("evidence plan.json --survey none").refused(1, &["cannot read none/plan.json"]);
    sandbox.write("survey/survey.toml", "title = ");
    sandbox.run("evidence plan.json --survey survey").refused(1, &["survey.toml"]);
    sandbox.run("evidence plan.json --language xx").refused(1, &["invalid --language: \"xx\""]);
    sandbox.run("evidence plan.json -o plan.json").refused(1, &["cannot create the folder plan.json"]);
    sandbox.run("evidence plan.json --json -o out").refused(2, &["cannot be used with"]);
}
