//! Questions asked only if, as a user meets them: schema, design, randomize, one by one, estimate.

use crate::sandbox::{Sandbox, rows};
use serde_json::Value;

const SCHEMA: &str = r#"
[[attribute]]
name = "Smokes"
categories = ["no", "yes", "former"]

[[attribute]]
name = "Daily"
kind = "ordinal"
asked_if = "Smokes in (yes, former)"
edges = [20]
categories = ["below 20", "from 20 on"]

[[attribute]]
name = "Quit"
asked_if = "Daily = 'from 20 on'"
categories = ["no", "yes", ""]
"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn person(i: usize) -> &'static str {
    match i % 20 {
        0..=9 => "no,,",
        10..=14 => "yes,5,",
        15 => "yes,40,no",
        16 => "yes,25,",
        17 | 18 => "former,12,",
        _ => "former,30,yes",
    }
}

fn survey() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", SCHEMA);
    let people: String = (0..40_000).map(|i| format!("{}\n", person(i))).collect();
    sandbox.write("people.csv", format!("Smokes,Daily,Quit\n{people}"));
    sandbox
}

#[test]
fn impossible_cells_are_zero_and_others_are_right() {
    let sandbox = survey();
    sandbox.run("schema check schema.toml people.csv").fine();
    sandbox.run("design schema.toml --method workload --epsilon 2 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv -o responses.parquet --seed 3").fine();
    let plan = json(&sandbox.read("plan.json"));
    assert_eq!(plan["version"].as_u64(), Some(2));
    let daily = &plan["schema"]["attributes"][1];
    assert_eq!(daily["asked_if"], json(r#"{"attribute": "Smokes", "categories": ["yes", "former"]}"#));
    assert_eq!(daily["categories"][2], "(not asked)");
    let said =
        json(&sandbox.run("estimate plan.json responses.parquet --tables Smokes,Daily;Smokes,Quit --json").fine().out);
    let truth = |categories: &[&str], second: usize| {
        let label = |person: &str| {
            let fields: Vec<&str> = person.split(',').collect();
            let daily = match fields[1].parse::<f64>() {
                Ok(number) if number < 20.0 => "below 20",
                Ok(_) => "from 20 on",
                Err(_) => "(not asked)",
            };
            let quit = if daily == "from 20 on" { fields[2] } else { "(not asked)" };
            [fields[0].to_owned(), daily.to_owned(), quit.to_owned()]
        };
        let is = |i: &usize| label(person(*i))[0] == categories[0] && label(person(*i))[second] == categories[1];
        (0..20).filter(is).count() as f64 / 20.0
    };
    for table in said["tables"].as_array().unwrap() {
        let second = if table["attributes"][1] == "Daily" { 1 } else { 2 };
        for cell in table["cells"].as_array().unwrap() {
            let labels: Vec<&str> =
                cell["categories"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
            let (estimate, error) = (cell["estimate"].as_f64().unwrap(), cell["standard_error"].as_f64().unwrap());
            let impossible = match (labels[0], labels[1]) {
                ("no", answer) => answer != "(not asked)",
                (_, answer) => table["attributes"][1] == "Daily" && answer == "(not asked)",
            };
            assert_eq!(impossible, error == 0.0, "{labels:?}: {estimate} {error}");
            assert!((estimate - truth(&labels, second)).abs() <= 5.5 * error, "{labels:?}: {estimate} {error}");
        }
    }
    // Those who were not asked did not answer; of numbers they have none.
    let among = sandbox.run("estimate plan.json responses.parquet --tables Daily --complete-cases --json").fine();
    let cells = json(&among.out)["tables"][0]["cells"].as_array().unwrap().len();
    assert_eq!(cells, 2);
    let answer =
        sandbox.run_words(&["query", "plan.json", "responses.parquet", "--where", "Daily >= 'from 20 on'", "--json"]);
    let answer = json(&answer.fine().out)["answers"][0].clone();
    let [estimate, error] = ["estimate", "standard_error"].map(|field| answer[field].as_f64().unwrap());
    assert!((estimate - 0.15).abs() < 5.5 * error, "those who were not asked are not above 20: {estimate} {error}");
    for verb in ["audit plan.json", "explain plan.json", "report plan.json responses.parquet -o report.html"] {
        sandbox.run(verb).fine();
    }
}

#[test]
fn records_that_contradict_are_refused() {
    let sandbox = survey();
    sandbox.run("design schema.toml --method independent --epsilon 6 -o plan.json").fine();
    for (record, parts) in [
        (
            "no,5,",
            [
                "row 2, column \"Daily\": \"below 20\" answers a question that is not asked here",
                "only if Smokes in (yes, former); leave it empty",
            ],
        ),
        (
            "yes,,",
            [
                "row 2, column \"Daily\": the value is missing",
                "the question is asked if Smokes in (yes, former), as it is here",
            ],
        ),
        ("yes,(not asked),", ["row 2, column \"Daily\": the value is missing", "give an answer"]),
        ("yes,5,no", ["row 2, column \"Quit\": \"no\" answers a question", "only if Daily = 'from 20 on'"]),
    ] {
        sandbox.write("bad.csv", format!("Smokes,Daily,Quit\nno,,\n{record}\nno,,\n"));
        let said = sandbox.run("schema check schema.toml bad.csv").refused(1, &["1 value in 3 records does not fit"]);
        assert!(parts.iter().all(|part| said.out.contains(part)), "{}", said.out);
        sandbox.run("randomize plan.json bad.csv -o out.csv").refused(1, &parts);
    }
    sandbox.write("wrong.csv", "Smokes,Daily,Quit\nnever,5,\n");
    let said = sandbox.run("schema check schema.toml wrong.csv --json").refused(1, &[]).out;
    assert_eq!(
        json(&said)["problems"].as_array().unwrap().len(),
        1,
        "what a wrong value would have meant is not known"
    );
    for (condition, part) in [
        ("Smoke = yes", "did you mean \"Smokes\"?"),
        ("Smokes = often", "not a category"),
        ("Quit = no", "depends on itself"),
    ] {
        sandbox.write("bad.toml", SCHEMA.replace("Smokes in (yes, former)", condition));
        sandbox
            .run("design bad.toml --method independent --epsilon 1 -o x.json")
            .refused(1, &["attribute \"Daily\" cannot be asked like this", part]);
    }
}

/// The vectors of the JavaScript client, at an epsilon at which answers are the truth.
#[test]
fn one_by_one_as_the_client() {
    let vectors = json(include_str!("../../../../clients/javascript/test/asked.json"));
    let attributes = vectors["attributes"].as_array().unwrap();
    let mut schema = String::new();
    for attribute in attributes {
        let field = |name: &str| attribute.get(name).map_or(String::new(), |value| format!("{name} = {value}\n"));
        let condition = attribute.get("asked_if").map_or(String::new(), |condition| {
            format!(
                "asked_if = {{ attribute = {}, categories = {} }}\n",
                condition["attribute"], condition["categories"]
            )
        });
        let edges = attribute.get("edges").map_or(String::new(), |edges| format!("edges = {edges}\n").replace('"', ""));
        schema += &format!(
            "[[attribute]]\n{}{}{}{edges}{condition}{}",
            field("name"),
            field("kind"),
            field("public"),
            field("categories")
        );
    }
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", schema);
    sandbox.run("design schema.toml --method independent --epsilon 120 --max-epsilon 130 -o plan.json").fine();
    let mut forms = std::collections::BTreeSet::new();
    for vector in vectors["records"].as_array().unwrap() {
        let ran = sandbox.run_with("randomize plan.json --stream", format!("{}\n", vector["record"]));
        let Some(codes) = vector["codes"].as_array() else {
            ran.refused(1, &[&format!("\"{}\"", vector["problem"].as_str().unwrap())]);
            continue;
        };
        let response = json(&ran.fine().out);
        forms.insert(response.as_object().unwrap().keys().cloned().collect::<Vec<_>>());
        for (attribute, code) in attributes.iter().zip(codes) {
            let label = &attribute["categories"][code.as_u64().unwrap() as usize];
            assert_eq!(&response[attribute["name"].as_str().unwrap()], label, "{vector}");
        }
    }
    assert_eq!(forms.len(), 1, "the form of a response does not tell");
}

/// Sets may hold the category for missing values, and that of those who were not asked.
#[test]
fn sets_hold_every_category() {
    let sandbox = survey();
    sandbox.write("one.toml", "[[attribute]]\nname = \"Quit\"\ncategories = [\"no\", \"yes\", \"unsure\", \"\"]\n");
    sandbox.write("one.csv", format!("Quit\n{}", "no\n\"\"\nyes\nunsure\n".repeat(500)));
    for method in ["minimax --likelihood-ratio 2", "l-diversity --l 2"] {
        sandbox.run(&format!("design one.toml --method {method} -o one.json --force")).fine();
        for file in ["one.out.csv", "one.out.parquet"] {
            sandbox.run(&format!("randomize one.json one.csv -o {file} --force --seed 1")).fine();
            let said = json(&sandbox.run(&format!("estimate one.json {file} --json")).fine().out);
            let cells = said["tables"][0]["cells"].as_array().unwrap();
            let total: f64 = cells.iter().map(|cell| cell["estimate"].as_f64().unwrap()).sum();
            assert!(cells.len() == 4 && (total - 1.0).abs() < 1e-9, "{method} {file}");
        }
        assert_eq!(rows(&sandbox.read("one.out.csv")).len(), 2001);
    }
}

/// Plans of candor 0.1 state the epsilon of one attribute as if the others could stay the same.
#[test]
fn a_plan_that_states_too_little_is_recognized_and_restated() {
    let sandbox = survey();
    sandbox.run("design schema.toml --method independent --epsilon 3 -o plan.json").fine();
    let text = sandbox.read("plan.json");
    let conditional: Vec<&str> = text.lines().filter(|line| line.contains("conditional_epsilon")).collect();
    assert_eq!(conditional.len(), 3);
    let stated = |line: &str| line.split('"').nth(3).unwrap().parse::<f64>().unwrap();
    assert!(conditional.iter().all(|line| (stated(line) - 3.0).abs() < 1e-9), "{conditional:?}");
    let mut old = text.clone();
    let marginals: Vec<&str> = text.lines().filter(|line| line.contains("marginal_epsilon")).collect();
    for (conditional, marginal) in conditional.iter().zip(marginals) {
        let number = marginal.split('"').nth(3).unwrap();
        let written = conditional.split('"').nth(3).unwrap();
        old = old.replacen(
            &format!("\"conditional_epsilon\": \"{written}\""),
            &format!("\"conditional_epsilon\": \"{number}\""),
            1,
        );
    }
    assert_ne!(old, text);
    sandbox.write("old.json", &old);
    sandbox.run("audit old.json").refused(1, &["tied to others"]);
    sandbox.run("estimate old.json people.csv").refused(1, &["candor audit old.json --restate NEW.json"]);
    sandbox.run("audit old.json --restate old.json").refused(1, &["both an input and the output"]);
    sandbox.run("audit old.json --restate new.json").fine();
    assert_eq!(sandbox.read("new.json"), text);
    // A number that no program of ours wrote is not restated.
    sandbox.write("false.json", old.replacen("\"conditional_epsilon\": \"1", "\"conditional_epsilon\": \"0", 1));
    sandbox.run("audit false.json --restate true.json").refused(1, &["do not trust this file"]);
}

/// Somebody who knows the answers to follow-up questions knows the answer that led to them: no text promises a limit
/// for such a reader, and plans without follow-up questions keep the stronger sentence.
#[test]
fn what_respondents_are_told_holds_for_tied_questions() {
    let sandbox = survey();
    let loose = "[[attribute]]\nname = \"Smokes\"\ncategories = [\"no\", \"yes\"]\n[[attribute]]\nname = \"Votes\"\n\
                 categories = [\"no\", \"yes\"]\n";
    sandbox.write("loose.toml", loose);
    sandbox.write("voters.csv", format!("Smokes,Votes\n{}", "no,yes\nyes,no\n".repeat(100)));
    for (schema, people, plan) in [("schema.toml", "people.csv", "plan.json"), ("loose.toml", "voters.csv", "two.json")]
    {
        sandbox.run(&format!("design {schema} --method independent --epsilon 2 -o {plan}")).fine();
        sandbox.run(&format!("randomize {plan} {people} --seed 1 -o {plan}.csv")).fine();
        let audited = sandbox.run(&format!("audit {plan} --verbose")).fine().out;
        let audited = audited.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(audited.contains("knows all your other answers"), plan == "two.json", "{audited}");
        assert_eq!(
            audited.contains("knows your answers to all questions that are not tied to it"),
            plan == "plan.json"
        );
        assert!(audited.contains("all other answers that are not tied to it"), "{audited}");
        for (language, strong, tied) in [
            ("en", "all your other answers", "not tied to it"),
            ("de", "alle Ihre anderen Antworten", "nicht an sie gebunden sind"),
            ("es", "todas sus otras respuestas", "no están ligadas a ella"),
            ("fr", "toutes vos autres réponses", "ne lui sont pas liées"),
        ] {
            let page = format!("{plan}-{language}.html");
            sandbox.run(&format!("report {plan} {plan}.csv --language {language} -o {page}")).fine();
            let page = sandbox.read(&page);
            assert_eq!(page.contains(strong), plan == "two.json", "{language}");
            assert_eq!(page.contains(&format!("{tied} (")), plan == "plan.json", "{language}");
        }
    }
}
