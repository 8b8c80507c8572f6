//! What a plan randomizes is not published another way: not by naming a column of it, and not in a message.

use crate::sandbox::Sandbox;
use serde_json::{Value, json};

/// A plan that randomizes `Sex*HIV`, made of the columns `Sex` and `HIV`, and people.
fn crossed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "schema.toml",
        "[[attribute]]\nname = \"Sex\"\ncategories = [\"m\", \"f\"]\n\n\
         [[attribute]]\nname = \"HIV\"\ncategories = [\"no\", \"yes\"]\n\n\
         [[attribute]]\nname = \"Region\"\npublic = true\ncategories = [\"north\", \"south\"]\n",
    );
    sandbox.run("design schema.toml --method l-diversity --l 2 --cross Sex,HIV -o cross.json").fine();
    let mut text = String::from("Sex,HIV,Region,weight\n");
    for i in 0..400 {
        text += &format!("{},{},{},1\n", ["m", "f"][i % 2], ["no", "yes"][i / 2 % 2], ["north", "south"][i / 4 % 2]);
    }
    sandbox.write("people.csv", text);
    sandbox
}

#[test]
fn no_verb_takes_a_column_that_an_answer_is_made_of() {
    let sandbox = crossed();
    sandbox.run("randomize cross.json people.csv -o responses.csv --keep weight").fine();
    sandbox.run("estimate cross.json responses.csv --by Region --weights weight").fine();
    let files = sandbox.files();
    for name in ["Sex", "HIV", "Sex*HIV", "HIV*weight", "weight*Sex"] {
        let refused = |words: &str, said: &[&str]| {
            sandbox.run(&words.replace("NAME", name)).refused(1, said);
            assert_eq!(sandbox.files(), files, "nothing is written");
        };
        for output in ["out.csv", "out.parquet"] {
            refused(
                &format!("randomize cross.json people.csv -o {output} --keep NAME"),
                &["cannot be kept", "randomizes \"Sex*HIV\""],
            );
        }
        refused("estimate cross.json responses.csv --weights NAME", &["cannot hold weights", "\"Sex*HIV\""]);
        refused("estimate cross.json responses.csv --by NAME", &["--by:", "is randomized", "--tables \"Sex*HIV,..\""]);
        if name == "Sex*HIV" {
            continue;
        }
        // What is estimated are the attributes of the plan: their parts are none.
        for verb in [
            "estimate cross.json responses.csv --tables NAME",
            "report cross.json responses.csv -o out.html --tables NAME",
            "sql cross.json --tables NAME",
            "size cross.json --margin 0.1 --tables NAME",
            "adjust cross.json responses.csv -o out.csv --margins NAME",
            "synthesize cross.json responses.csv -o out.csv --method adjusted --margins NAME",
            "test cross.json responses.csv --independence NAME,Region",
            "query cross.json responses.csv --where NAME=no",
        ] {
            refused(verb, &[]);
        }
    }
    // Nor is such a column made up where there is none.
    sandbox
        .run("randomize cross.json people.csv -o out.csv --keep Region*weight")
        .refused(1, &["no column \"Region*weight\""]);
    sandbox.write("named.csv", "Sex*HIV,Sex,HIV,Region\nm*no,m,no,north\n");
    for name in ["Sex", "HIV", "Sex*HIV"] {
        sandbox
            .run(&format!("randomize cross.json named.csv -o out.csv --keep {name}"))
            .refused(1, &["cannot be kept"]);
    }
}

#[test]
fn nothing_public_is_part_of_what_is_randomized() {
    let sandbox = crossed();
    let attribute = |name: &str| format!("[[attribute]]\nname = \"{name}\"\ncategories = [\"no\", \"yes\"]\n");
    for (public, randomized) in [("HIV", "Sex*HIV"), ("Sex*HIV", "HIV"), ("a*b", "b*c")] {
        sandbox.write("both.toml", format!("{}public = true\n\n{}", attribute(public), attribute(randomized)));
        let told = format!("\"{public}\" cannot be public while \"{randomized}\"");
        sandbox.run("design both.toml --method independent --epsilon 1").refused(1, &["both.toml", &told]);
        sandbox.run("schema check both.toml people.csv").refused(1, &[&told]);
    }
    // A plan that was edited is refused for what it would publish, whatever its fingerprint.
    let mut plan: Value = serde_json::from_str(&sandbox.read("cross.json")).unwrap();
    let public = json!({"name": "HIV", "kind": "nominal", "public": true, "categories": ["no", "yes"]});
    plan["schema"]["attributes"].as_array_mut().unwrap().push(public);
    sandbox.write("edited.json", plan.to_string());
    for verb in ["audit edited.json", "randomize edited.json people.csv -o out.csv", "explain edited.json"] {
        sandbox.run(verb).refused(1, &["\"HIV\" cannot be public while \"Sex*HIV\""]);
    }
    // Nor can a crossing be made beside its parts.
    let schema = attribute("a") + "\n" + &attribute("b") + "\n" + &attribute("b*c") + "public = true\n";
    sandbox.write("beside.toml", schema);
    sandbox.run("design beside.toml --method l-diversity --l 2 --cross a,b").refused(1, &["cannot be public"]);
}

#[test]
fn messages_hold_one_true_value_at_most_and_little_of_it() {
    let sandbox = crossed();
    let long = format!("SECRET{}", "x".repeat(200_000));
    let header = "Sex,HIV,Region\n";
    let one_part = &["column \"HIV\": \"maybe\" is not a category"][..];
    let cases: [(String, &[&str], &[&str]); 6] = [
        (format!("{header}m,maybe,north\n"), one_part, &["m*", "\"m\""]),
        (format!("{header}mmm,maybe,north\n"), &["column \"Sex\": \"mmm\" is not a category"], &["maybe"]),
        (format!("{header}m,,north\n"), &["column \"HIV\": the value is missing"], &["\"m\""]),
        (format!("{header}m,{long},north\n"), &["column \"HIV\": \"SECRETxxx"], &["\"m\""]),
        ("Sex*HIV,Region\nm*maybe,north\n".to_owned(), &["column \"Sex*HIV\": \"maybe\" is not"], &["m*maybe"]),
        (format!("{long},{long}\nm,no\n"), &["two columns named \"SECRETxxx"], &[]),
    ];
    for (text, parts, quiet) in cases {
        sandbox.write("bad.csv", text);
        let said = sandbox.run("randomize cross.json bad.csv -o out.csv").refused(1, parts);
        assert!(said.err.len() < 400, "{}", said.err.len());
        quiet.iter().for_each(|part| assert!(!said.err.contains(part), "{part}: {}", said.err));
    }
    let fields = |sex: &str, hiv: &str| format!("{{\"Sex\": {sex}, \"HIV\": {hiv}, \"Region\": \"north\"}}\n");
    let quoted = format!("\"{long}\"");
    for (record, part) in [
        (fields("\"m\"", "\"maybe\""), "line 1: the field \"HIV\" is \"maybe\", which is not a category"),
        (fields("\"m\"", &quoted), "line 1: the field \"HIV\" is \"SECRETxxx"),
        (fields(&quoted, "\"yes\""), "line 1: the field \"Sex\" is \"SECRETxxx"),
        (fields("\"m\"", "null"), "the field \"HIV\" is \"\", which is not a category; list \"\""),
        (format!("{{\"Sex*HIV\": {quoted}, \"Region\": \"north\"}}"), "the field \"Sex*HIV\" is \"SECRETxxx"),
    ] {
        let said = sandbox.run_with("randomize cross.json --stream", record).refused(1, &[part]);
        assert!(said.err.len() < 400 && !said.err.contains("m*"), "{}", said.err);
    }
    // A schema that cannot be inferred: one value for the first column, none for the others.
    sandbox.write("odd.csv", format!("a,b\n{long},second\n1,2\n"));
    let said =
        sandbox.run("schema infer odd.csv --bins a=width:1 --bins b=width:1").refused(1, &["such as \"SECRETxxx"]);
    assert!(said.err.len() < 600 && !said.err.contains("second"), "{}", said.err);
    sandbox.write("bad.csv", format!("{header}m,{long},north\n"));
    let said = sandbox.run("schema check schema.toml bad.csv --json").refused(1, &[]);
    assert!(said.out.len() < 2_000 && said.err.len() < 400, "{} {}", said.out.len(), said.err.len());
}

/// A crossing whose name does not tell its columns would protect none of them.
#[test]
fn a_crossing_tells_its_columns_or_is_refused() {
    let sandbox = Sandbox::new();
    for name in ["*", "a*", "*a", "a**c"] {
        let attribute = |name: &str| format!("[[attribute]]\nname = \"{name}\"\ncategories = [\"0\", \"1\", \"2\"]\n");
        sandbox.write("odd.toml", attribute(name) + &attribute("b"));
        let design = ["design", "odd.toml", "--method", "minimax", "--likelihood-ratio", "2", "--cross"];
        let names = format!("{name},b");
        let said = sandbox.run_words(&[&design[..], &[&names]].concat());
        said.refused(1, &["--cross", "could not be split"]);
    }
}
