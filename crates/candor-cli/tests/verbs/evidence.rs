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
    let has = |evidence: &Value, name: &str| names(evidence).contains(&name.to_owned());
    assert!(has(&unbounded, "limit_diverse") && !has(&unbounded, "limit_bounded") && !has(&unbounded, "again"));
    // What it states instead is a fact, with a command that holds and fails for one more.
    assert_eq!(fact(&unbounded, "plausible"), "3");
    let command = unbounded["commands"][0].as_str().unwrap().strip_prefix("candor ").unwrap();
    let command = command.replace("plan.json", "lists.json");
    assert!(command.ends_with("--require l-diversity=3"), "{command}");
    sandbox.run(&command).fine();
    sandbox.run(&command.replace("=3", "=4")).refused(1, &["does not meet l-diversity=4 (it is 3)"]);
    // Where a response can prove an answer, nothing is promised.
    sandbox.write("matrix.csv", ",0,1\n0,1,0.5\n1,0,0.5\n");
    sandbox.run("design --categories 2 --method matrix --matrix matrix.csv --allow-unbounded -o proof.json").fine();
    let proof = made(&sandbox, "proof.json");
    assert!(has(&proof, "limit_unbounded") && !proof["facts"].to_string().contains("plausible"));
    // Public answers may single somebody out, so that nothing else is promised.
    sandbox.write(
        "schema.toml",
        "[[attribute]]\nname = \"Region\"\ncategories = [\"n\", \"s\"]\npublic = true\n[[attribute]]\nname = \
         \"Smokes\"\ncategories = [\"no\", \"yes\"]\n",
    );
    sandbox.run("design schema.toml --epsilon 1 -o survey/plan.json --force").fine();
    let public = made(&sandbox, "survey/plan.json --survey survey");
    assert!(names(&public).contains(&"rights_public".to_owned()) && fact(&public, "public") == "Region");
    assert_eq!(fact(&unbounded, "epsilon"), "unbounded");
}

/// A section of the form, and its fields, each with what it may hold.
type Section = (&'static str, &'static [(&'static str, &'static [&'static str])]);

/// The form of the deployments registry as its schema of July 2026 has it: groups, fields, and choices.
const FORM: [Section; 7] = [
    (
        "basic",
        &[
            ("name", &[]),
            ("data_curators", &[]),
            ("intended_use", &[]),
            (
                "data_product_type",
                &[
                    "Summary statistics",
                    "Machine learning model",
                    "Dataset",
                    "Synthetic data",
                    "Interactive API",
                    "SQL queries",
                ],
            ),
            ("data_product_region", &[]),
            ("description", &[]),
            ("publication_date", &["'1900-01-01'"]),
        ],
    ),
    (
        "dp_variant",
        &[
            ("variant_name", &["Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"]),
            ("data_domain", &[]),
            ("unprotected_quantities", &[]),
        ],
    ),
    (
        "privacy_loss",
        &[
            ("privacy_unit", &[]),
            ("privacy_unit_details", &[]),
            ("privacy_parameters", &[]),
            ("privacy_parameters_details", &[]),
        ],
    ),
    (
        "deployment_model",
        &[
            ("model_name", &["Local", "Central", "Shuffle", "Federated", "Varies"]),
            ("model_name_details", &[]),
            ("actors", &[]),
            ("release_type", &["One release", "Many releases"]),
            ("release_type_details", &[]),
            ("data_source_type", &["Static", "Dynamic"]),
            ("access_type", &["Interactive", "Non-interactive"]),
            ("access_type_details", &[]),
        ],
    ),
    ("accounting", &[("post_processing", &[]), ("composition", &[])]),
    (
        "implementation",
        &[("preprocessing_and_hyperparameter_tuning", &[]), ("mechanisms", &[]), ("justification", &[])],
    ),
    ("administrative", &[("notes", &[]), ("registry_authors", &[])]),
];

/// Checks that a form has the fields of the registry with allowed values, and returns the epsilon that it states.
fn checked_form(form: &str) -> Option<f64> {
    let (mut group, mut epsilon, mut found): (&str, Option<f64>, Vec<(&str, &str)>) = ("", None, Vec::new());
    let rest = form.strip_prefix("url_slug: candor_").unwrap().split_once("\nstatus: Draft\ntier: 3\ndeployment:\n");
    for line in rest.unwrap().1.lines() {
        let indent = line.len() - line.trim_start().len();
        let (key, value) = line.trim_start().split_once(':').map(|(key, value)| (key, value.trim())).unwrap();
        match indent {
            2 => group = FORM.iter().find(|(name, _)| *name == key).unwrap_or_else(|| panic!("{line}")).0,
            4 => {
                let fields = FORM.iter().find(|(name, _)| *name == group).unwrap().1;
                let (_, choices) = fields.iter().find(|(name, _)| *name == key).unwrap_or_else(|| panic!("{line}"));
                let chosen = value.split(" #").next().unwrap();
                let is_text = serde_json::from_str::<String>(value).is_ok_and(|text| !text.is_empty());
                let is_nested = ["data_curators", "registry_authors", "privacy_parameters"].contains(&key);
                assert!(choices.contains(&chosen) || choices.is_empty() && (is_text || is_nested), "{line}");
                found.push((group, key));
            }
            // Items of lists are quoted texts, too.
            6 if line.trim_start().starts_with("- ") => {
                serde_json::from_str::<String>(line.trim_start().trim_start_matches("- ")).unwrap();
            }
            6 if key == "epsilon" => epsilon = Some(value.parse().unwrap()),
            6 => assert_eq!((key, value), ("delta", "0")),
            _ => panic!("{line}"),
        }
    }
    for (group, fields) in FORM {
        for (field, _) in fields {
            // A plan without an epsilon has no parameters, nor anything to add up.
            let optional = epsilon.is_none() && ["privacy_parameters", "composition"].contains(field);
            let optional = optional || *field == "notes" || *field == "actors";
            assert!(optional || found.contains(&(group, field)), "{group}: no {field}");
        }
    }
    epsilon
}

#[test]
fn the_form_of_the_registry_is_filled_in() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4,3 --epsilon 2.5 -o plan.json").fine();
    sandbox.run("design --categories 4,5 --method l-diversity --l 3 -o lists.json").fine();
    std::fs::create_dir(sandbox.path("survey")).unwrap();
    std::fs::copy(sandbox.path("plan.json"), sandbox.path("survey/plan.json")).unwrap();
    sandbox.write("survey/survey.toml", SURVEY);
    let form = |arguments: &str| made(&sandbox, arguments)["registry"].as_str().unwrap().to_owned();
    let stated = checked_form(&form("plan.json")).unwrap();
    assert!((2.49..2.5001).contains(&stated), "{stated}");
    assert_eq!(checked_form(&form("lists.json")), None);
    // The registry is in English, and what stands in it cannot be read as Markdown or YAML.
    let with = form("plan.json --survey survey --language de");
    checked_form(&with);
    assert!(with.contains("\\\\<b\\\\>Health") && with.contains("release_type: Many releases"), "{with}");
    assert!(with.contains("To be filled in by the people responsible") && !with.contains("auszufüllen"));
    sandbox.run("evidence plan.json -o out").fine();
    assert_eq!(sandbox.read("out/registry.yaml"), form("plan.json"));
}

#[test]
fn what_nobody_has_written_is_not_stated() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 4,3 --epsilon 2.5 -o plan.json").fine();
    std::fs::create_dir(sandbox.path("survey")).unwrap();
    std::fs::copy(sandbox.path("plan.json"), sandbox.path("survey/plan.json")).unwrap();
    let texts =
        format!("title = \"{}\"\ncontact = \"{}\"\n", candor::evidence::NEW_TITLE, candor::evidence::NEW_CONTACT);
    sandbox.write("survey/survey.toml", &texts);
    let evidence = made(&sandbox, "plan.json --survey survey");
    let contact = statements(&evidence).into_iter().find(|(name, ..)| name == "contact").unwrap();
    assert_eq!((contact.1.as_str(), contact.2), ("Contact: not stated", vec!["not stated".to_owned()]));
    assert!(!evidence.to_string().contains("Please say here"));
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
