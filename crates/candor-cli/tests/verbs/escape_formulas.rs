//! `--escape-formulas`: no cell of a CSV file is a formula to a spreadsheet.

use crate::sandbox::{Sandbox, rows};

const SCHEMA: &str = "[[attribute]]\nname = \"=x\"\ncategories = [\"=1+1\", \"-5\", \"no\"]\n\n\
                      [[attribute]]\nname = \"y\"\ncategories = [\"@a\", \"b\"]\n";

/// People whose labels look like formulas, their plan, and their responses.
fn formulas() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", SCHEMA);
    sandbox.run("design schema.toml --method independent --epsilon 4 -o plan.json").fine();
    let row = |i: usize| format!("{},{}\n", ["=1+1", "-5", "no"][i % 3], ["@a", "b"][i % 2]);
    sandbox.write("people.csv", "=x,y\n".to_owned() + &(0..300).map(row).collect::<String>());
    sandbox.run("randomize plan.json people.csv -o responses.csv").fine();
    sandbox
}

/// The first character of every cell that is not a number.
fn starts(text: &str) -> Vec<char> {
    let cells = rows(text).concat().into_iter().filter(|cell| cell.parse::<f64>().is_err());
    cells.filter_map(|cell| cell.trim_start_matches('"').chars().next()).collect()
}

#[test]
fn tables_for_people_hold_no_formulas_if_asked() {
    let sandbox = formulas();
    for (verb, output) in [
        ("adjust plan.json responses.csv", "weighted.csv"),
        ("synthesize plan.json responses.csv", "synthetic.tsv"),
        ("estimate plan.json responses.csv --tables pairs --format csv", "tables.csv"),
    ] {
        sandbox.run(&format!("{verb} -o {output}")).fine();
        let plain = sandbox.read(output).replace('\t', ",");
        assert!(starts(&plain).contains(&'=') && !starts(&plain).contains(&'\''), "{verb}: {plain}");
        std::fs::remove_file(sandbox.path(output)).unwrap();
        sandbox.run(&format!("{verb} -o {output} --escape-formulas")).fine();
        let safe = sandbox.read(output).replace('\t', ",");
        assert!(starts(&safe).contains(&'\''), "{verb}: {safe}");
        assert!(!starts(&safe).iter().any(|start| "=+-@".contains(*start)), "{verb}: {safe}");
    }
    sandbox.run("adjust plan.json responses.csv -o w.parquet --escape-formulas").refused(2, &["requires CSV output"]);
    sandbox
        .run("synthesize plan.json responses.csv -o s.parquet --escape-formulas")
        .refused(2, &["requires CSV output"]);
    sandbox.run("estimate plan.json responses.csv --escape-formulas").refused(2, &["requires --format csv"]);
}

#[test]
fn responses_stay_readable_or_are_refused() {
    let sandbox = formulas();
    let refused = sandbox.run("randomize plan.json people.csv -o r.csv --escape-formulas");
    refused.refused(1, &["\"=1+1\" in the column \"=x\" looks like a formula", "rename it", "write Parquet"]);
    sandbox.run("randomize plan.json people.csv -o r.parquet --escape-formulas").refused(2, &["requires CSV output"]);
    assert!(!sandbox.path("r.csv").exists());

    // A number is no formula, but a set that begins with one would look like one.
    sandbox.write("schema.toml", "[[attribute]]\nname = \"n\"\ncategories = [\"-1\", \"0\", \"1\", \"2\"]\n");
    sandbox.run("design schema.toml --method independent --epsilon 1 -o numbers.json").fine();
    sandbox.write("numbers.csv", "n,=k,weight\n-1,=1+1,-0.5\n0,@x,1\n1,fine,+2\n2,\"-a,b\",3\n");
    sandbox.run("design schema.toml --method l-diversity --l 2 -o sets.json").fine();
    let refused = sandbox.run("randomize sets.json numbers.csv -o s.csv --escape-formulas");
    refused.refused(1, &["\"-1\" in the column \"n\" looks like a formula"]);
    sandbox.run("randomize numbers.json numbers.csv -o r.csv --escape-formulas --keep =k,weight").fine();
    let text = sandbox.read("r.csv");
    let kept: Vec<&str> = text.lines().map(|line| line.split_once(',').unwrap().1).collect();
    assert_eq!(kept, ["'=k,weight", "'=1+1,-0.5", "'@x,1", "fine,+2", "\"'-a,b\",3"]);
    sandbox.run("estimate numbers.json r.csv").fine();
    sandbox.run("randomize numbers.json numbers.csv -o plain.csv --keep =k").fine();
    assert!(sandbox.read("plain.csv").contains(",=1+1\n"), "off unless asked for");
}
