//! The other verbs as a user runs them: schema, design, audit, demo, and what they refuse.

use sandbox::Sandbox;

mod sandbox;

#[test]
fn the_demo_tells_its_commands_and_they_can_be_repeated() {
    let sandbox = Sandbox::new();
    let said = sandbox.run("demo").fine();
    let commands: Vec<&str> = said.out.lines().filter_map(|line| line.strip_prefix("$ candor ")).collect();
    let verbs: Vec<&str> = commands.iter().filter_map(|command| command.split(' ').next()).collect();
    assert_eq!(
        verbs,
        [
            "schema",
            "compare",
            "design",
            "audit",
            "randomize",
            "estimate",
            "test",
            "query",
            "associations",
            "design",
            "randomize",
            "rake",
            "synthesize",
            "pareto",
            "report"
        ]
    );
    let report = sandbox.read("candor-demo/report.html");
    for command in commands {
        // Words in quotes stand together.
        let parts = command.split('\'').enumerate();
        let words: Vec<&str> = parts
            .flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
            .collect();
        sandbox.run_words(&words).fine();
    }
    assert_eq!(sandbox.read("candor-demo/report.html"), report, "it again");
    assert!(said.out.contains("record-level epsilon 4.0000 (certified)"), "{}", said.out);
    // 1,644 intervals that are not independent of each other: within three percentage points.
    let covered = said.out.split("% cover").next().unwrap().rsplit(", ").next().unwrap().trim().to_owned();
    let covered: f64 = covered.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((covered - 95.0).abs() < 3.0, "{covered}");
}

#[test]
fn schemas_are_inferred_edited_and_checked() {
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 300);
    sandbox.run("schema infer people.csv").refused(
        1,
        &[
            "column \"id\": contains numbers with more than 100 distinct values",
            "--bins id=edges:20,40,60,80",
            "--drop id",
            "column \"age\": contains numbers with 60 distinct values",
        ],
    );
    let said =
        sandbox.run("schema infer people.csv --drop id --bins age=quantile:3 --public region -o schema.toml").fine();
    assert!(said.err.contains("3 attributes from 300 records"), "{}", said.err);
    let toml = sandbox.read("schema.toml");
    assert_eq!(
        toml,
        "[[attribute]]\nname = \"region\"\npublic = true\ncategories = [\"north\", \"south\"]\n\n\
         [[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"sometimes\", \"yes\"]\n\n\
         [[attribute]]\nname = \"age\"\nkind = \"ordinal\"\nedges = [38.0, 58.0]\n\
         categories = [\"below 38\", \"38 to below 58\", \"58 or more\"]\n"
    );
    assert_eq!(
        sandbox.run("schema check schema.toml people.csv").fine().out,
        "Meets the schema: all 300 records fit.\n"
    );
    // A person narrows the schema by hand: what no longer fits is told once, with its number and the categories.
    sandbox.write("schema.toml", toml.replace("\"no\", \"sometimes\"", "\"no\""));
    let said = sandbox.run("schema check schema.toml people.csv").refused(1, &["100 values in 300 records do not fit"]);
    assert_eq!(said.out.lines().count(), 2, "{}", said.out);
    assert!(said.out.contains("; 99 more like it\nthe categories of \"smokes\" are \"no\", \"yes\"\n"), "{}", said.out);
    assert!(
        said.out.starts_with("people.csv, row 2, column \"smokes\": \"sometimes\" is not a category"),
        "{}",
        said.out
    );
    let json = sandbox.run("schema check schema.toml people.csv --json").refused(1, &[]).out;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["problems"].as_array().unwrap().len(), 100);
    assert_eq!(value["problems"][0]["row"], 2);
    sandbox.run("schema infer people.csv --bins width:20 -o all.toml").fine();
    assert!(sandbox.read("all.toml").contains("edges = [20.0, 40.0, 60.0]"), "{}", sandbox.read("all.toml"));
    sandbox
        .run("schema infer people.csv --bins smokes=quantile:3 --drop id,age")
        .refused(1, &["not numbers", "such as \"no\""]);
    sandbox.run("schema infer people.csv --bins age=deciles").refused(2, &["quantile:5, width:10 or edges:18,65"]);
    sandbox.run("schema infer people.csv --drop nothing").refused(1, &["no column \"nothing\""]);
    sandbox.run("schema check people.csv people.csv").refused(1, &["not a schema", "candor schema infer"]);
}

#[test]
fn odd_columns() {
    let sandbox = Sandbox::new();
    let mut text = String::from("same,gaps,few,flag,many\n");
    for i in 0..300 {
        let gap = ["", "x"][i % 2];
        text += &format!("1,{gap},{},{},t{i}\n", [10, 9, 2][i % 3], ["true", "false"][i % 2]);
    }
    sandbox.write("odd.csv", text);
    sandbox.run("schema infer odd.csv").refused(
        1,
        &["column \"same\": has the same value in every record", "column \"many\": has more than 100 distinct values"],
    );
    let said = sandbox.run("schema infer odd.csv --drop same,many").fine();
    assert!(said.err.contains("\"gaps\": 150 values are missing"), "{}", said.err);
    assert!(said.out.contains("categories = [\"x\", \"\"]"), "{}", said.out);
    assert!(
        said.out.contains("kind = \"ordinal\"\ncategories = [\"2\", \"9\", \"10\"]"),
        "numbers in order: {}",
        said.out
    );
}

#[test]
fn every_method_designs_and_every_mistake_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("M.csv", "0.7,0.2,0.1\n0.2,0.6,0.3\n0.1,0.2,0.6\n");
    sandbox.write("rows.csv", "0.7,0.2,0.1\n0.2,0.6,0.2\n0.1,0.3,0.6\n");
    sandbox.write("wide.csv", ",0,1\nsays 0,1/3,0\nsays 1,0,1/3\nsilent,2/3,2/3\n");
    for (flags, certified) in [
        ("--categories 9,16,7 --method independent --epsilon 4", 4.0),
        ("--categories 9,16,7 --epsilon 4 --budget-split 2,1,1", 4.0),
        ("--categories 9,16,7 --method kronecker --attribute-epsilon 1,0.5,0.25", 1.75),
        ("--categories 9,16,7 --method joint --epsilon 4", 4.0),
        ("--categories 4 --method warner --p 0.7", 7f64.ln()),
        ("--categories 4 --method up --q 0.6", 7f64.ln()),
        ("--categories 4 --method frapp --lambda 7", 7f64.ln()),
        ("--categories 3 --method matrix --matrix M.csv", 7f64.ln()),
        ("--categories 3 --method matrix --matrix rows.csv --matrix-inputs rows", 7f64.ln()),
        ("--categories 5 --method independent --epsilon 0", 0.0),
        ("--categories 20 --method minimax --likelihood-ratio 14.19", 14.19f64.ln()),
        ("--categories 20,9 --method minimax --likelihood-ratio 14.19,3", 14.19f64.ln() + 3f64.ln()),
        ("--categories 20,9 --method minimax --attribute-epsilon 0.5", 1.0),
    ] {
        let json = sandbox.run(&format!("design {flags} --json -o plan.json --force")).fine().out;
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let found = value["epsilon"]["certified"].as_f64().unwrap();
        assert!(found <= certified + 1e-12 && found > certified - 1e-8, "{flags}: {found}");
        let audit = sandbox.run("audit plan.json --json").fine().out;
        let audit: serde_json::Value = serde_json::from_str(&audit).unwrap();
        assert_eq!(audit["epsilon"].as_f64(), Some(found), "{flags}");
        assert_eq!(audit["fingerprint"], value["fingerprint"]);
        assert_eq!(audit["criteria"][0]["name"], "ldp");
    }
    let wide = "design --categories 2 --method matrix --matrix wide.csv";
    sandbox.run(wide).refused(1, &["no finite epsilon", "--allow-unbounded"]);
    let json = sandbox.run(&format!("{wide} --allow-unbounded --json -o wide.json")).fine().out;
    assert!(json.contains("\"certified\":null"));
    assert!(sandbox.run("audit wide.json").fine().out.contains("unbounded"));

    for (flags, code, part) in [
        ("--categories 9,16", 2, "needs --epsilon"),
        (
            "--categories 9,16 --method independent --epsilon -1",
            1,
            "epsilon is -1; it must be a finite number, 0 or more",
        ),
        ("--categories 9,16 --method independent --epsilon NaN", 2, "it must be a finite number"),
        ("--categories 9,16 --method independent --epsilon inf", 2, "it must be a finite number"),
        ("--categories 9,1 --method independent --epsilon 1", 1, "--categories: attribute \"a2\" has 1 category"),
        ("--categories 9,0 --method independent --epsilon 1", 1, "has 0 categories"),
        ("--categories 9,16 --epsilon 1 --budget-split 1", 1, "--budget-split has 1 value, but there are 2 attributes"),
        ("--categories 9,16 --epsilon 1 --budget-split 0,0", 1, "at least one of them positive"),
        ("--categories 9,16 --attribute-epsilon 1,2,3", 1, "--attribute-epsilon has 3 values, but there are 2"),
        ("--categories 9,16 --epsilon 1 --attribute-epsilon 1,2", 2, "cannot be used with"),
        ("--categories 9,16 --method independent --epsilon 60", 1, "beyond --max-epsilon 50"),
        ("--categories 9,16 --method independent --epsilon 60 --max-epsilon nan", 2, "expected a number, 0 or more"),
        ("--categories 1000,1000,1000,1000,1000,1000,1000 --method joint --epsilon 4", 1, "the limit is 0.0000"),
        ("--categories 65535,65535 --method matrix --matrix M.csv", 1, "combinations"),
        ("--categories 4 --method warner --p 1", 1, "--p is 1; it must be above 0 and below 1"),
        ("--categories 4 --method warner", 2, "needs --p"),
        ("--categories 20 --method l-diversity", 2, "needs --l"),
        ("--categories 20 --method l-diversity --l 1", 1, "--l is 1; it must be 2 or more"),
        ("--categories 20,4 --method l-diversity --l 5", 1, "at most 4, the number of categories of \"a2\""),
        ("--categories 20 --method l-diversity --l 2,3", 1, "--l has 2 values, but there are 1"),
        ("--categories 20 --epsilon 1 --l 5", 2, "--l cannot be used with --method independent"),
        ("--categories 20 --method minimax", 2, "needs --likelihood-ratio or --attribute-epsilon"),
        (
            "--categories 20 --method minimax --likelihood-ratio 0.5",
            1,
            "--likelihood-ratio is 0.5; a parity is a ratio",
        ),
        ("--categories 20 --method minimax --likelihood-ratio -1", 1, "--likelihood-ratio is -1"),
        ("--categories 20 --method minimax --likelihood-ratio 2 --attribute-epsilon 1", 2, "cannot be used with"),
        (
            "--categories 4 --method warner --q 0.5",
            2,
            "--q cannot be used with --method warner; it requires --method independent or clusters or up",
        ),
        (
            "--categories 4,4 --method warner --p 0.5",
            1,
            "requires exactly one randomized attribute, but the schema has 2",
        ),
        (
            "--categories 3 --method matrix --matrix rows.csv",
            1,
            "rows.csv: the matrix: its rows sum to 1, not its columns",
        ),
        ("--categories 4 --method matrix --matrix M.csv", 1, "3 columns, but there are 4 inputs"),
        ("--categories 3 --method matrix --matrix none.csv", 1, "cannot read none.csv"),
        ("none.toml --method independent --epsilon 1", 1, "cannot read none.toml"),
        ("--categories 4 --method magic --epsilon 1", 2, "invalid value 'magic'"),
        ("--categories 4 --method independent --epsilon 1 --json -o -", 2, "standard output"),
        (
            "--categories 4 --method independent --epsilon 1 -o no/folder/plan.json",
            1,
            "cannot write no/folder/plan.json",
        ),
    ] {
        sandbox.run(&format!("design {flags}")).refused(code, &[part]);
    }
}

#[test]
fn a_plan_edited_by_hand_is_refused_by_every_verb() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 10);
    let plan = sandbox.read("plan.json");
    let weight = plan.split("\"all\"").nth(1).unwrap().split('"').nth(3).unwrap();
    sandbox.write("plan.json", plan.replacen(weight, &weight[..weight.len() - 1], 1));
    for command in ["audit plan.json", "randomize plan.json people.csv -o out.csv"] {
        let said = sandbox.run(command);
        said.refused(
            1,
            &[
                "plan.json: the plan does not match its fingerprint",
                "As it stands it guarantees epsilon",
                "the file states 2",
            ],
        );
    }
    sandbox.run("audit schema.toml").refused(1, &["schema.toml: expected a plan, but this is a schema"]);
    assert!(!sandbox.path("out.csv").exists());
}

#[test]
fn a_plan_on_standard_output_is_only_the_plan() {
    let sandbox = Sandbox::new();
    let said = sandbox.run("design --categories 3,4 --method independent --epsilon 1 -o -").fine();
    assert!(said.out.starts_with("{\n  \"format\": \"candor plan\""));
    assert!(said.err.contains("record-level epsilon 1.0000"));
    let audited = sandbox.run_with("audit -", &said.out).fine();
    assert!(audited.out.contains("2 randomized attributes in 2 blocks"));
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 200_000);
    for command in ["audit plan.json", "randomize plan.json people.csv -o -"] {
        let script = format!("{} {command} 2>err.txt | head -n 1; echo ${{PIPESTATUS[0]}}", sandbox::CANDOR);
        let output =
            std::process::Command::new("bash").args(["-c", &script]).current_dir(sandbox.path("")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.ends_with("0\n"), "{command}: {text}{}", sandbox.read("err.txt"));
        assert!(!sandbox.read("err.txt").contains("error"), "{}", sandbox.read("err.txt"));
    }
}

/// The help is part of the product: a change to it must be seen. Set `CANDOR_WRITE_HELP` to accept.
#[test]
fn help_is_pinned() {
    let sandbox = Sandbox::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    for verb in [
        "",
        "schema",
        "schema infer",
        "schema check",
        "design",
        "combine",
        "sample-size",
        "device",
        "import",
        "compliance",
        "choose",
        "compare",
        "audit",
        "sign",
        "verify",
        "explain",
        "evidence",
        "randomize",
        "sql",
        "estimate",
        "test",
        "regress",
        "query",
        "associations",
        "party",
        "party init",
        "party share",
        "party sum",
        "party finish",
        "party check",
        "rake",
        "synthesize",
        "matrix",
        "pareto",
        "refine",
        "report",
        "reproduce",
        "experiment",
        "experiment multidimensional",
        "experiment optimized-rr",
        "experiment optrr",
        "experiment l-diversity",
        "demo",
        "completions",
        "man",
    ] {
        let mut command = sandbox.command();
        let said = command.args(verb.split_whitespace()).arg("--help").env("COLUMNS", "120").output().unwrap();
        let text = String::from_utf8(said.stdout).unwrap();
        let path = folder.join(format!("candor {verb}").trim().replace(' ', "-") + ".txt");
        if std::env::var_os("CANDOR_WRITE_HELP").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let pinned = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            text, pinned,
            "the help of \"candor {verb}\" changed; run with CANDOR_WRITE_HELP=1 if that is meant"
        );
    }
}
