//! Which attributes belong together, plans for them, and count queries, as a user asks.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// The Adult data with a schema, an independent plan with p = 0.7 for each attribute, and responses.
fn adult() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.adult("people.csv");
    sandbox.run("schema infer people.csv -o schema.toml").fine();
    sandbox.run("design schema.toml --q 0.7 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv -o responses.parquet --seed 5").fine();
    sandbox
}

fn clusters(value: &Value) -> Vec<Vec<String>> {
    serde_json::from_value(value["clusters"].clone()).unwrap()
}

fn dependence(value: &Value, a: &str, b: &str) -> Value {
    let list = value["dependences"].as_array().unwrap();
    list.iter().find(|d| d["a"] == a && d["b"] == b).unwrap_or_else(|| panic!("{a}, {b}")).clone()
}

#[test]
fn clusters_from_true_records_and_from_responses() {
    let sandbox = adult();
    let json = |words: &str| -> Value { serde_json::from_str(&sandbox.run(words).fine().out).unwrap() };
    let truth = json("cluster schema.toml people.csv --max-cells 50 --json -o clusters.json");
    let several: Vec<Vec<String>> = clusters(&truth).into_iter().filter(|cluster| cluster.len() > 1).collect();
    assert_eq!(several, [["Relationship", "Sex", "Income"]]);
    assert_eq!(truth["epsilon"], Value::Null);
    assert!((dependence(&truth, "Relationship", "Sex")["value"].as_f64().unwrap() - 0.649).abs() < 1e-6);
    // What was written is what was said.
    assert_eq!(serde_json::from_str::<Value>(&sandbox.read("clusters.json")).unwrap(), truth);

    let learned = json("cluster plan.json responses.parquet --protocol attribute --max-cells 50 --json");
    assert_eq!(clusters(&learned), clusters(&truth));
    assert!((learned["epsilon"].as_f64().unwrap() - 21.8897).abs() < 1e-3);
    for (a, b) in [("Relationship", "Sex"), ("Education", "Income"), ("Work-class", "Occupation"), ("Sex", "Income")] {
        let (found, exact) = (dependence(&learned, a, b), dependence(&truth, a, b));
        let distance = (found["value"].as_f64().unwrap() - exact["value"].as_f64().unwrap()).abs();
        assert!(distance < 5.0 * found["standard_error"].as_f64().unwrap(), "{a}, {b}: {found} {exact}");
    }
    let weaker = json("cluster plan.json responses.parquet --protocol attribute --uncorrected --json");
    assert!(dependence(&weaker, "Relationship", "Sex")["value"].as_f64().unwrap() < 0.4);

    let text = sandbox.run("cluster schema.toml people.csv --max-cells 50").fine().out;
    assert!(text.contains("together: Relationship and Sex depend 0.6490; 12 combinations."), "{text}");
    assert!(text.contains("84 combinations are more than 50."), "{text}");

    // A plan for the clusters, at the sum of the attributes' epsilons.
    let plan =
        json("design schema.toml --method clusters --from-clusters clusters.json --q 0.7 --json -o clustered.json");
    assert!((plan["epsilon"]["certified"].as_f64().unwrap() - 21.8897).abs() < 1e-3);
    let same = json("design schema.toml --method clusters --clusters Relationship,Sex,Income --q 0.7 --json");
    assert_eq!(plan["fingerprint"], same["fingerprint"]);
    for inside in ["joint", "optimal", "workload"] {
        let plan = json(&format!(
            "design schema.toml --method clusters --clusters Relationship,Sex,Income;Education,Race --cluster-method \
             {inside} --epsilon 8 --json"
        ));
        assert!(plan["epsilon"]["certified"].as_f64().unwrap() <= 8.0, "{inside}");
    }
}

#[test]
fn protocols_that_disclose_nobody() {
    let sandbox = Sandbox::new();
    let mut text = String::from("a,b,c\n");
    (0..3000).for_each(|i| text += &format!("{},{},{}\n", i % 3, (i % 3 + i32::from(i % 10 == 0)) % 3, i / 7 % 2));
    sandbox.write("people.csv", text);
    sandbox.run("schema infer people.csv -o schema.toml").fine();
    let json = |words: &str| -> Value { serde_json::from_str(&sandbox.run(words).fine().out).unwrap() };
    let truth = json("cluster schema.toml people.csv --json");
    let summed = json("cluster schema.toml people.csv --protocol secure-sum --json");
    assert_eq!((&summed["dependences"], &summed["clusters"]), (&truth["dependences"], &truth["clusters"]));
    assert!(summed["bytes"]["shares"].as_u64().unwrap() > 0);
    let pairs = json("cluster schema.toml people.csv --protocol randomized-pairs --epsilon 9 --seed 3 --json");
    assert!((pairs["epsilon"].as_f64().unwrap() - 9.0).abs() < 1e-6);
    assert_eq!(clusters(&pairs), clusters(&truth));
    let said = sandbox.run("cluster schema.toml people.csv --protocol secure-sum --collectors 5").fine().out;
    assert!(
        said.contains("3,000 parties sent shares to 5 collectors") && said.contains("exact pair tables are public"),
        "{said}"
    );
}

#[test]
fn wrong_requests_are_explained() {
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 60);
    sandbox.plan();
    sandbox.run("randomize plan.json people.csv -o responses.csv").fine();
    let run = |words: &str| sandbox.run(words);
    run("cluster plan.json responses.csv").refused(2, &["use --protocol attribute"]);
    run("cluster schema.toml responses.csv")
        .refused(1, &["contains responses, not true records", "--protocol attribute"]);
    run("cluster schema.toml people.csv --min-dependence 2").refused(2, &["from 0 to 1"]);
    run("cluster schema.toml people.csv --uncorrected").refused(2, &["--protocol attribute"]);
    run("cluster schema.toml people.csv --epsilon 2").refused(2, &["randomized-pairs"]);
    run("cluster schema.toml people.csv --protocol randomized-pairs").refused(2, &["needs --epsilon"]);
    run("cluster schema.toml people.csv --protocol randomized-pairs --epsilon -1").refused(1, &["epsilon"]);
    run("cluster schema.toml people.csv --protocol secure-sum --collectors 1").refused(1, &["expected 2 to 60"]);
    run("cluster schema.toml people.csv --seed 1").refused(2, &["--seed"]);
    run("cluster schema.toml people.csv -o people.csv").refused(1, &["both an input and the output"]);
    run("estimate plan.json responses.csv responses.csv").refused(1, &["responses.csv is given twice"]);
    run("audit schema.toml").refused(1, &["expected a plan, but this is a schema"]);
    sandbox.run_words(&["demo", "--folder", ""]).refused(2, &["--folder"]);
    run("demo --folder /").refused(1, &["not empty"]);
    run("design schema.toml --method clusters --epsilon 2").refused(2, &["--clusters", "--from-clusters"]);
    run("design schema.toml --method clusters --clusters smokes,agee --epsilon 2")
        .refused(1, &["did you mean \"age\""]);
    run("design schema.toml --method clusters --clusters smokes,region --epsilon 2")
        .refused(1, &["\"region\" is public"]);
    run("design schema.toml --method clusters --clusters smokes;smokes --epsilon 2").refused(1, &["named twice"]);
    run("design schema.toml --method clusters --from-clusters schema.toml --epsilon 2")
        .refused(1, &["candor associations"]);
    run("design schema.toml --method clusters --clusters smokes,age --epsilon 2 --q 0.5")
        .refused(2, &["--epsilon, --attribute-epsilon, --p and --q say the same; give one of them"]);
    run("design schema.toml --method independent --clusters smokes,age --epsilon 2")
        .refused(2, &["requires --method clusters"]);
    run("design schema.toml --method clusters --clusters smokes,age --q 1").refused(1, &["--q is 1"]);
    assert!(!sandbox.files().iter().any(|name| name.contains("clusters")));
}

#[test]
fn conditions_are_counted() {
    let sandbox = adult();
    let query = |words: &[&str]| -> Value {
        let said = sandbox.run_words(&[&["query"], words, &["--json"]].concat()).fine();
        serde_json::from_str(&said.out).unwrap()
    };
    let text = sandbox.read("people.csv");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let place = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    let (education, sex) = (place("Education"), place("Sex"));
    let holds = |row: &&Vec<&str>| ["Bachelors", "Masters"].contains(&row[education]) && row[sex] == "Female";
    let truth = rows[1..].iter().filter(holds).count() as f64 / (rows.len() - 1) as f64;
    let condition = "Education in (Bachelors, Masters) and Sex = Female";
    let value = query(&["plan.json", "responses.parquet", "--method", "all", "--where", condition]);
    let methods: Vec<&str> =
        value["answers"].as_array().unwrap().iter().map(|a| a["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["joint", "clusters", "independent", "adjusted", "naive"]);
    let joint = &value["answers"][0];
    let (estimate, error) = (joint["estimate"].as_f64().unwrap(), joint["standard_error"].as_f64().unwrap());
    assert!((estimate - truth).abs() < 5.0 * error && error < 0.01, "{value} {truth}");
    for answer in &value["answers"].as_array().unwrap()[1..] {
        assert_eq!(answer["standard_error"], Value::Null);
        assert!((answer["estimate"].as_f64().unwrap() - truth).abs() < 0.02, "{answer}");
    }
    // One cell, by another way.
    let estimated: Value = serde_json::from_str(
        &sandbox.run("estimate plan.json responses.parquet --tables Education,Sex --json").fine().out,
    )
    .unwrap();
    let cells = estimated["tables"][0]["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["categories"] == serde_json::json!(["Masters", "Female"])).unwrap();
    let one = query(&["plan.json", "responses.parquet", "--where", "Education = Masters and Sex = Female"]);
    for field in ["estimate", "standard_error", "low", "high"] {
        let (a, b) = (cell[field].as_f64().unwrap(), one["answers"][0][field].as_f64().unwrap());
        assert!((a - b).abs() < 1e-12, "{field}: {a} {b}");
    }
    // A lottery has no records to adjust, and says so; the rest is answered.
    sandbox.run("design schema.toml --method workload --epsilon 6 --tables pairs -o lottery.json").fine();
    sandbox.run("randomize lottery.json people.csv -o drawn.parquet --seed 6").fine();
    let value = query(&["lottery.json", "drawn.parquet", "--method", "all", "--where", condition]);
    assert!(value["answers"][3]["reason"].as_str().unwrap().contains("randomly assigned channels"), "{value}");
    let joint = &value["answers"][0];
    let (estimate, error) = (joint["estimate"].as_f64().unwrap(), joint["standard_error"].as_f64().unwrap());
    assert!((estimate - truth).abs() < 5.0 * error, "{value} {truth}");

    // A condition on more combinations than can be listed is refused, not guessed at.
    let names: Vec<String> = (1..=16).map(|i| format!("a{i} = 0")).collect();
    sandbox
        .run(
            "design --categories 16,16,16,16,16,16,16,16,16,16,16,16,16,16,16,16 --method independent --epsilon 16 \
                 -o many.json",
        )
        .fine();
    let row = vec!["0"; 16].join(",");
    let header: Vec<String> = (1..=16).map(|i| format!("a{i}")).collect();
    sandbox.write("many.csv", format!("{}\n{row}\n{row}\n", header.join(",")));
    sandbox.run("randomize many.json many.csv -o answers.csv").fine();
    let value = query(&["many.json", "answers.csv", "--where", &names.join(" and "), "--method", "independent"]);
    assert!(value["answers"][0]["reason"].as_str().unwrap().contains("too many combinations"), "{value}");

    for (words, code, parts) in [
        (
            ["--where", "Sex = Femal"],
            1,
            "at character 7: \"Femal\" is not a category of \"Sex\"; did you mean \"Female\"?",
        ),
        (["--where", "Sex > Female"], 1, "have no order"),
        (["--where", ""], 1, "the condition ends"),
        (["--confidence", "0.9"], 2, "--where"),
    ] {
        sandbox.run_words(&[&["query", "plan.json", "responses.parquet"], &words[..]].concat()).refused(code, &[parts]);
    }
}

/// The singular cases that Domingo-Ferrer and Soria-Comas 2020 do not mention: keeping one of two categories with
/// probability 1/2 (and one of nine with 1/9) erases the attribute.
#[test]
fn what_is_erased_is_refused_by_every_verb() {
    let sandbox = Sandbox::new();
    for (categories, p) in [(2, "0.5"), (9, "0.1111111111111111")] {
        let people: String = (0..90).map(|i| format!("{}\n", i % categories)).collect();
        sandbox.write("people.csv", format!("a1\n{people}"));
        sandbox.run(&format!("design --categories {categories} --method warner --p {p} -o plan.json --force")).fine();
        sandbox.run("randomize plan.json people.csv -o responses.csv --force").fine();
        let told = "the answers carry no information about \"a1\"";
        sandbox.run("estimate plan.json responses.csv").refused(1, &[told]);
        sandbox.run("adjust plan.json responses.csv -o weighted.csv").refused(1, &[told]);
        sandbox.run("synthesize plan.json responses.csv -o synthetic.csv").refused(1, &[told]);
        let query = sandbox.run("query plan.json responses.csv --where a1=0").fine();
        assert!(query.out.contains(told), "{}", query.out);
    }
    // Uniform perturbation never erases anything, however little is kept.
    sandbox.run("design --categories 2 --method up --q 0.01 -o plan.json --force").fine();
    sandbox.write("people.csv", "a1\n0\n1\n1\n");
    sandbox.run("randomize plan.json people.csv -o responses.csv --force").fine();
    sandbox.run("estimate plan.json responses.csv").fine();
}

/// Covariances of answers have the order of the truth (Corollary 1); a covariance may be beyond 1, others may not.
#[test]
fn covariances_are_measured() {
    let sandbox = Sandbox::new();
    let mut text = String::from("a,b,c\n");
    (0..6000).for_each(|i| text += &format!("{},{},{}\n", i % 5, (i % 5 + i / 5 % 2) % 5, i / 7 % 2));
    sandbox.write("people.csv", text);
    sandbox.run("schema infer people.csv -o schema.toml").fine();
    sandbox.run("design schema.toml --q 0.7 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 3").fine();
    let json = |words: &str| -> Value { serde_json::from_str(&sandbox.run(words).fine().out).unwrap() };
    let value = |found: &Value, a: &str, b: &str| dependence(found, a, b)["value"].as_f64().unwrap();
    let truth = json("associations schema.toml people.csv --measure covariance --min-dependence 1.01 --json");
    // Of 0..4: the variance is 2; with one step up for half of them, and 4 to 0 among these, 2 - 1.
    assert!((value(&truth, "a", "b") - 1.0).abs() < 0.01, "{truth}");
    assert_eq!(clusters(&truth).len(), 3);
    let learned = json("associations plan.json responses.csv --protocol attribute --measure covariance --json");
    let found = dependence(&learned, "a", "b");
    let error = found["standard_error"].as_f64().unwrap();
    assert!((value(&learned, "a", "b") - value(&truth, "a", "b")).abs() < 5.0 * error && error < 0.1, "{found}");
    let answers =
        json("associations plan.json responses.csv --protocol attribute --measure covariance --uncorrected --json");
    assert!((value(&answers, "a", "b") / value(&truth, "a", "b") - 0.49).abs() < 0.1, "{answers}");
    sandbox
        .run("associations schema.toml people.csv --measure cramer --min-dependence 1.01")
        .refused(2, &["--min-dependence must be a number from 0 to 1"]);
    sandbox.run("associations schema.toml people.csv --min-dependence nan").refused(2, &["0 or more"]);
}
