//! What people do on their first day: files in each other's places, columns of mostly one value, a narrow terminal.

use crate::sandbox::Sandbox;

#[test]
fn files_in_each_others_places_are_recognized() {
    let sandbox = Sandbox::new();
    let rows: String = (0..300).map(|i| format!("{},{}\n", i % 2, i % 3)).collect();
    sandbox.write("people.csv", format!("a,b\n{rows}"));
    sandbox.run("schema infer people.csv -o schema.toml").fine();
    sandbox.run("design schema.toml --method independent --epsilon 2 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv -o responses.csv").fine();
    for (command, said) in [
        ("schema infer responses.csv", "this is a file of responses, made under the plan sha256:"),
        ("schema infer plan.json", "this is a plan, which holds its schema; a schema is inferred from true records"),
        ("schema infer schema.toml", "this is a schema already"),
        ("schema check people.csv schema.toml", "the schema comes first: candor schema check schema.toml people.csv"),
        ("estimate responses.csv plan.json", "this is a table, not a plan; the plan comes first"),
        ("estimate plan.json schema.toml", "this is a schema, not responses"),
        ("report plan.json plan.json -o page.html", "this is a plan; the plan comes first, then the responses"),
        ("randomize plan.json responses.csv -o again.csv", "contains responses made with the plan"),
        ("estimate plan.json people.csv", "does not name the plan it was made with"),
        ("design people.csv --epsilon 1", "candor schema infer people.csv -o schema.toml"),
    ] {
        sandbox.run(command).refused(1, &[said]);
    }
    assert!(!sandbox.files().iter().any(|name| name == "page.html" || name == "again.csv"));
    let within = sandbox.run("design schema.toml --epsilon 1 --tables a;b|a");
    within.refused(2, &["percentages within groups come from the table of both: name a,b"]);
}

#[test]
fn comparisons_and_verdicts_are_at_most_100_columns_wide() {
    let sandbox = Sandbox::new();
    let rows: String = (0..300).map(|i| format!("{},{},{}\n", i % 2, i % 3, i % 5)).collect();
    sandbox.write("people.csv", format!("a,b,c\n{rows}"));
    sandbox.run("schema infer people.csv -o schema.toml").fine();
    sandbox.run("design schema.toml --epsilon 1 --respondents 300 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv --seed 1 -o responses.csv").fine();
    for command in [
        "compare schema.toml --epsilon 1",
        "compare schema.toml --epsilon 0.1 --tables a,b;c --respondents 1000000",
        "design schema.toml --epsilon 0.5 --respondents 300",
        "sample-size plan.json --margin 0.03",
        "estimate plan.json responses.csv --tables pairs",
        "query plan.json responses.csv --where a=1",
    ] {
        let said = sandbox.run(command).fine().out;
        // A command to be copied is one line.
        let lines = said.lines().filter(|line| !line.trim_start().starts_with("candor "));
        let wide: Vec<&str> = lines.filter(|line| line.chars().count() > 100).collect();
        assert!(wide.is_empty(), "{command}: {wide:#?}");
    }
}

#[test]
fn advice_for_a_column_with_one_value_nearly_everywhere_works() {
    let sandbox = Sandbox::new();
    let rows: String = (0..400).map(|i| format!("{}\n", if i % 10 == 0 { i / 10 } else { 0 })).collect();
    sandbox.write("people.csv", format!("visits\n{rows}"));
    let said = sandbox.run("schema infer people.csv --bins quantile:4 -o schema.toml").refused(1, &["in one bin"]);
    let advice = said.err.split("--bins ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    sandbox.run(&format!("schema infer people.csv --bins {advice} -o schema.toml")).fine();
}
