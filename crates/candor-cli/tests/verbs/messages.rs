//! What is said: values as they are, commands that can be typed, and nothing hidden in names.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// Characters that turn the direction of text.
const TURNS: &str = "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
/// And those that only stand for a letter of their direction.
const MARKS: &str = "\u{200e}\u{200f}\u{61c}";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn tags_and_weights_are_told_as_they_stand() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.run("design schema.toml --method sampling --tables marginals --epsilon 2 -o lottery.json").fine();
    let tags = ["x", "-1", "2.5", "99999", "18446744073709551616"];
    for tag in tags {
        sandbox.write("r.csv", format!("region,smokes,age,candor_tag\nnorth,no,below 30,0\nsouth,no,below 30,{tag}\n"));
        let told = format!(
            "row 2, column \"candor_tag\": \"{tag}\" is not a tag of the plan; tags are whole numbers from 0 to "
        );
        sandbox.run("estimate lottery.json r.csv --unmarked").refused(1, &[&told]);
        sandbox.write("c.csv", format!("smokes,candor_tag,count\nno,{tag},1\n"));
        let told = format!("row 1, column \"candor_tag\": \"{tag}\" is not a tag of the plan; tags are whole numbers");
        sandbox.run("estimate lottery.json --counts c.csv --tables smokes --unmarked").refused(1, &[&told]);
    }
    sandbox.write("r.csv", "region,smokes,age,candor_tag\nnorth,no,below 30,\n");
    let told = "row 1, column \"candor_tag\": the value is missing; tags are whole numbers from 0 to ";
    sandbox.run("estimate lottery.json r.csv --unmarked").refused(1, &[told]);
    for (weight, told) in
        [("heavy", "\"heavy\" is not a weight; weights are"), ("", "the value is missing; weights are")]
    {
        sandbox.write("w.csv", format!("region,smokes,age,w\nnorth,no,below 30,{weight}\n"));
        sandbox
            .run("estimate plan.json w.csv --weights w --unmarked")
            .refused(1, &[&format!("row 1, column \"w\": {told} 0, or")]);
    }
}

#[test]
fn counts_beyond_what_is_exact_are_refused_with_their_figures() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    let most = 1u64 << 53;
    let estimate = |counts: &str| {
        sandbox.write("c.csv", format!("smokes,count\n{counts}"));
        sandbox.run("estimate plan.json --counts c.csv --tables smokes --json --unmarked")
    };
    for count in ["9223372036854775807", "9007199254740993", "1e30"] {
        estimate(&format!("yes,{count}\n")).refused(
            1,
            &[
                &format!("row 1, column \"count\": \"{count}\" is too large"),
                "at most 9007199254740992 (2^53) responses",
            ],
        );
    }
    estimate(&format!("yes,{most}\nno,{most}\n"))
        .refused(1, &["the counts for the table \"smokes\" sum to 18014398509481984; at most 9007199254740992 (2^53)"]);
    estimate(&format!("yes,{most}\nno,1\n")).refused(1, &["sum to 9007199254740993"]);
    let said = json(&estimate(&format!("yes,{}\nno,1\n", most - 1)).fine().out);
    assert_eq!(said["respondents"], most, "all that is exact is counted");
    estimate("yes,\n").refused(1, &["row 1, column \"count\": the value is missing; counts must be integers"]);
    assert_eq!(json(&estimate("yes,7.0\nno,1e2\n").fine().out)["respondents"], 107);
}

/// The names of the columns that a query makes.
fn columns(query: &str) -> Vec<String> {
    let select = query.lines().find(|line| line.starts_with("SELECT")).unwrap();
    let names = select.split(" AS \"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    names.collect()
}

#[test]
fn whatever_attributes_are_called_the_query_has_columns_of_its_own() {
    let sandbox = Sandbox::new();
    for names in [
        vec!["count", "sex"],
        vec!["Count", "CANDOR_COUNT"],
        vec!["COUNT", "Candor_Count", "CANDOR_COUNT_", "Candor_Table", "CANDOR_TABLE_", "Candor_Fingerprint"],
        vec!["a,b", " c "],
    ] {
        let schema =
            names.iter().map(|name| format!("[[attribute]]\nname = \"{name}\"\ncategories = [\"0\", \"1\"]\n\n"));
        sandbox.write("schema.toml", schema.collect::<String>());
        sandbox.run("design schema.toml --method independent --epsilon 4 -o plan.json --force").fine();
        let made = columns(&sandbox.run("sql plan.json").fine().out);
        let mut folded: Vec<String> = made.iter().map(|name| name.to_lowercase()).collect();
        folded.sort();
        folded.dedup();
        assert_eq!(folded.len(), made.len(), "{made:?}");
        // What comes back: for each attribute's table 30 zeros and 70 ones.
        let quoted = |name: &str| format!("\"{name}\"");
        let plan = json(&sandbox.read("plan.json"));
        let fingerprint = plan["fingerprint"].as_str().unwrap();
        let mut counts = made.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + "\n";
        for (i, name) in names.iter().enumerate() {
            for (value, count) in [("0", 30), ("1", 70)] {
                let cells = (0..names.len()).map(|j| if i == j { value } else { "" }).collect::<Vec<_>>().join(",");
                counts += &format!("{},{fingerprint},{cells},{count}\n", quoted(name));
            }
        }
        sandbox.write("counts.csv", counts);
        let said = json(&sandbox.run("estimate plan.json --counts counts.csv --json").fine().out);
        assert_eq!(said["tables"].as_array().unwrap().len(), names.len());
        for table in said["tables"].as_array().unwrap() {
            assert_eq!(table["respondents"], 100.0, "{table}");
            assert!(table["cells"][1]["estimate"].as_f64().unwrap() > 0.7, "{table}");
        }
    }
}

#[test]
fn suggested_commands_can_be_typed() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 200);
    for (file, typed) in [
        ("a plan.json", "'a plan.json'"),
        ("it's.json", "'it'\\''s.json'"),
        ("-plan.json", "./-plan.json"),
        ("two\nlines.json", "$'two\\nlines.json'"),
        ("\u{202e}nosj.json", "$'\\342\\200\\256nosj.json'"),
        ("$(x).json", "'$(x).json'"),
    ] {
        let output = format!("--output={file}");
        let said = sandbox.run_words(&["design", "schema.toml", "--epsilon", "1", &output]).fine().out;
        assert!(said.ends_with(&format!("Next: candor audit {typed}\n")), "{said}");
        std::fs::remove_file(sandbox.path(file)).unwrap();
        let said = sandbox.run_words(&["cluster", "schema.toml", "people.csv", &output]).fine().out;
        let next = format!("Next: candor design schema.toml --method clusters --from-clusters {typed} --epsilon E\n");
        assert!(said.ends_with(&next), "{said}");
    }
}

#[test]
fn bytes_that_are_no_text_are_found() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    let bad = |name: &str, bytes: &[u8], told: &str| {
        sandbox.write(name, bytes);
        sandbox.run(&format!("randomize plan.json {name} -o out.csv")).refused(1, &[told, "convert the file to UTF-8"]);
    };
    let header = b"id,region,smokes,age\n1,north,no,20\n";
    bad(
        "value.csv",
        &[&header[..], b"2,south,\"s\xc3\xa4y\xe4\",30\n"].concat(),
        "value.csv, row 2, column \"smokes\": byte 5, 0xE4, is not UTF-8",
    );
    bad("header.csv", b"id,reg\xfe,smokes,age\n", "header.csv, header, column 2 (\"reg\u{fffd}\"): byte 4, 0xFE,");
    bad("utf16.csv", b"\xff\xfei\0d\0,\0", "utf16.csv, header, column 1 (\"");
    sandbox.write("matrix.csv", b"0.8,0.2\n0.2,0.\xff8\n");
    sandbox
        .run("design --categories 2 --method matrix --matrix matrix.csv")
        .refused(1, &["matrix.csv, line 2: byte 7, 0xFF, is not UTF-8"]);
}

/// Whether a character may not reach a terminal.
fn hidden(c: char) -> bool {
    (c.is_control() && c != '\n') || TURNS.contains(c) || MARKS.contains(c)
}

#[test]
fn no_name_turns_the_text_around_it() {
    let sandbox = Sandbox::new();
    let toml = |text: &str| {
        let escaped: String = text.chars().map(|c| format!("\\U{:08X}", u32::from(c))).collect();
        format!("\"{escaped}\"")
    };
    let all: Vec<char> = TURNS.chars().chain(MARKS.chars()).collect();
    let names: Vec<String> = all.iter().map(|c| format!("x{c}\u{5d0}")).collect();
    let labels: Vec<String> = ["no", "yes"].iter().map(|word| format!("{TURNS}{MARKS}{word}\u{5d1}")).collect();
    let categories = labels.iter().map(|label| toml(label)).collect::<Vec<_>>().join(", ");
    let mut schema =
        format!("[[attribute]]\nname = {}\npublic = true\ncategories = [{categories}]\n\n", toml("p\u{202e}"));
    for name in &names {
        schema += &format!("[[attribute]]\nname = {}\ncategories = [{categories}]\n\n", toml(name));
    }
    sandbox.write("schema.toml", schema);
    let header: Vec<String> = ["p\u{202e}".to_owned()].into_iter().chain(names.clone()).collect();
    let mut table = header.join(",") + "\n";
    for i in 0..300usize {
        let row: Vec<&str> = (0..header.len()).map(|j| labels[i * (j + 3) / 7 % 2].as_str()).collect();
        table += &(row.join(",") + "\n");
    }
    sandbox.write("people.csv", table);
    sandbox.write("bad.csv", header.join(",") + "\n" + &vec!["\u{202e}?"; header.len()].join(",") + "\n");
    for words in [
        "design schema.toml --method independent --epsilon 13 --respondents 100 -o plan.json",
        "audit plan.json",
        "audit plan.json --json",
        "schema check schema.toml people.csv --json",
        "randomize plan.json people.csv -o responses.csv",
        "estimate plan.json responses.csv",
        "estimate plan.json responses.csv --json",
        "explain plan.json",
        "cluster schema.toml people.csv",
        "adjust plan.json responses.csv -o weighted.csv",
    ] {
        let said = sandbox.run(words).fine();
        for text in [&said.out, &said.err] {
            assert!(!text.contains(hidden), "{words}: {:?}", text.chars().filter(|&c| hidden(c)).collect::<Vec<_>>());
        }
    }
    for words in ["schema check schema.toml bad.csv", "randomize plan.json bad.csv -o out.csv", "audit \u{202e}.json"] {
        let said = sandbox.run(words).refused(1, &[]);
        let text = said.out + &said.err;
        assert!(text.contains("\\u{202e}") && !text.contains(hidden), "{words}: {text}");
    }
    // JSON says the same as ever.
    let said = json(&sandbox.run("audit plan.json --json").fine().out);
    assert_eq!(said["attributes"][0]["name"], names[0].as_str());
    for words in [
        vec!["explain", "plan.json", "--format", "html"],
        vec!["report", "plan.json", "responses.csv", "--tables", "marginals;pairs", "--title", "\u{202e}t", "-o", "-"],
    ] {
        let html = sandbox.run_words(&words).fine().out;
        assert!(!html.contains(|c| TURNS.contains(c)), "nothing turns, not even inside");
        let mut depth = 0;
        for (at, c) in html.char_indices() {
            depth += i32::from(html[at..].starts_with("<bdi>")) - i32::from(html[at..].starts_with("</bdi>"));
            let letter = MARKS.contains(c) || ('\u{590}'..='\u{5ff}').contains(&c);
            assert!(
                depth > 0 || !letter || html[..at].rfind("aria-label=\"") > html[..at].rfind('>'),
                "{}",
                &html[..at]
            );
        }
        assert_eq!(depth, 0);
        assert!(html.contains("<bdi>x\u{200f}\u{5d0}</bdi>"), "{html}");
    }
}

/// What R writes is read as it is meant, from the schema to the responses, and only words that nobody could know are
/// said again.
#[test]
fn a_table_that_a_schema_was_inferred_from_can_be_randomized() {
    let sandbox = Sandbox::new();
    let rows = ["31,yes,-9,NA", "NA,NA,2,DE", "52,no,1,FR", "18,,2,DE"];
    sandbox.write("people.csv", format!("age,smokes,children,country\n{}\n", rows.join("\n")));
    let infer = |more: &str| {
        sandbox.run(&format!("schema infer people.csv --bins age=edges:40 {more} -o schema.toml --force")).fine().err
    };
    let told = infer("");
    for note in [
        "note: column \"age\": 1 value is missing (written \"NA\"); the category \"\" stands for what is missing",
        "note: column \"smokes\": 2 values are missing (written \"NA\"); the category \"\" stands for what is missing",
        "if one of them is a category, specify --missing \"\", or other words",
        "note: column \"country\": 1 value is \"NA\", which is a category like any other; if it stands for what is \
         missing, say --missing NA",
    ] {
        assert!(told.contains(note), "{told}");
    }
    sandbox.run("schema check schema.toml people.csv").fine();
    sandbox.run("design schema.toml --method independent --epsilon 40 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 1").fine();
    // With so large an epsilon nobody's answer differs from the truth.
    assert_eq!(
        sandbox.read("responses.csv"),
        "age,smokes,children,country\nbelow 40,yes,-9,NA\n\"\",\"\",2,DE\n40 or more,no,1,FR\nbelow 40,\"\",2,DE\n"
    );

    let told = infer("--missing NA,-9");
    assert!(
        told.contains("note: the schema does not contain the words for missing values: specify --missing NA,-9 again"),
        "{told}"
    );
    sandbox.run("schema check schema.toml people.csv --missing NA,-9").fine();
    let checked = sandbox.run("schema check schema.toml people.csv");
    assert!(
        checked.code == 1 && checked.out.contains("\"-9\" is not a category; the schema lists 3"),
        "{}",
        checked.out
    );
    sandbox.run("design schema.toml --method independent --epsilon 40 -o plan.json --force").fine();
    sandbox.run("randomize plan.json people.csv -o responses.csv --force --seed 1 --missing NA,-9").fine();
    assert_eq!(
        sandbox.read("responses.csv"),
        "age,smokes,children,country\nbelow 40,yes,\"\",\"\"\n\"\",\"\",2,DE\n40 or more,no,1,FR\nbelow 40,\"\",2,DE\n"
    );
    sandbox.run("randomize plan.json --stream --missing NA").refused(2, &["--missing"]);
    sandbox.run("cluster schema.toml people.csv --missing NA,-9").fine();
    sandbox.run("compare schema.toml --epsilon 4 --simulate people.csv --missing NA,-9 --repeats 1").fine();
}

/// What is missing is called so wherever categories are shown, and single things are not told in the plural.
#[test]
fn missing_is_written_one_way_and_numbers_agree_with_their_nouns() {
    let sandbox = Sandbox::new();
    let people = (0..600).map(|i| {
        let of = |labels: [&'static str; 3], at: usize| labels[at % 3];
        format!("{},{},{}\n", of(["f", "m", ""], i / 7), of(["yes", "no", ""], i / 2), of(["20", "50", ""], i / 5))
    });
    sandbox.write("people.csv", "sex,smokes,age\n".to_owned() + &people.collect::<String>());
    sandbox.run("schema infer people.csv --public sex --bins age=edges:30 -o schema.toml").fine();
    sandbox.run("design schema.toml --method independent --epsilon 6 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv -o r.csv --seed 3").fine();
    sandbox.write("bad.csv", "sex,smokes,age\nf,perhaps,20\n");
    for words in [
        "schema check schema.toml bad.csv",
        "estimate plan.json r.csv --tables smokes,age",
        "estimate plan.json r.csv --tables smokes --by sex",
        "estimate plan.json r.csv --tables smokes|age --compare-groups sex",
        "estimate plan.json r.csv --tables age --compare-groups sex --mean age --scores age:20,50",
        "test plan.json r.csv --independence smokes,age --by sex",
        "query plan.json r.csv --where smokes=yes --compare-groups sex",
        "regress plan.json r.csv --model smokes~sex --missing category",
        "size plan.json --detect-difference 0.1,0.2",
        "report plan.json r.csv --tables smokes -o -",
    ] {
        let said = sandbox.run(words).out;
        assert!(said.contains("(missing)"), "{words}: {said}");
        for wrong in [
            "\"\"",
            "1 values",
            "1 ways",
            "of 1 public way",
            "p = below",
            "p = <",
            "= \n",
            "1 respondents are",
            " x \n",
        ] {
            assert!(!said.contains(wrong), "{words}: {wrong}: {said}");
        }
    }
    let compared = sandbox.run("compare schema.toml --epsilon 2").fine().out;
    assert!(!compared.contains("one of 1 public way"), "{compared}");
    assert!(!compared.contains("eigenvalue") && !compared.contains("hypervolume"), "{compared}");
}

/// Old spellings of commands and options, which scripts may still have.
#[test]
fn old_names_are_hidden_aliases() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    for (old, new) in [
        ("comply", "compliance"),
        ("enter", "import"),
        ("size", "sample-size"),
        ("adjust", "rake"),
        ("front", "pareto"),
        ("cluster", "associations"),
    ] {
        let help = |name: &str| sandbox.run(&format!("{name} --help")).fine().out;
        assert_eq!(help(old), help(new));
        assert!(!sandbox.run("--help").fine().out.contains(&format!("  {old} ")), "{old} is shown");
    }
    for (command, options) in [
        ("audit", "compare=informativeness"),
        ("estimate", "sampling-clusters=psu replicates=replicate-weights calibrate=benchmarks against=baseline"),
        ("estimate", "compare=compare-groups without-missing=complete-cases safe-cells=escape-formulas"),
        ("estimate", "against-plan=baseline-plan joined=single-cell-column values=scores"),
        ("test", "compare=compare-groups against=baseline against-plan=baseline-plan values=scores"),
        ("query", "compare=compare-groups values=scores"),
        ("report", "against=baseline against-plan=baseline-plan compare=compare-groups values=scores"),
        ("randomize", "one-by-one=stream safe-cells=escape-formulas"),
        ("device", "mirrored=compliance-check"),
        ("compliance", "says=self-protective ignoring=noncompliance"),
        ("regress", "says=self-protective only-if=self-protective-if show-naive=show-uncorrected"),
        ("associations", "attenuated=uncorrected"),
        ("design", "parity=likelihood-ratio ratio=budget-split single=one-channel inside=cluster-method file=matrix"),
        ("design", "mirrored=compliance-check allow-weaker=allow-larger-epsilon inputs=matrix-inputs utility=max-mse"),
        ("design", "privacy=map-privacy shares=expected-shares"),
        ("pareto", "privacy=map-privacy"),
        ("compare", "shares=expected-shares"),
        ("sample-size", "shares=expected-shares numbers=numeric-columns null=null-share detect=detect-difference"),
        ("sample-size", "ignoring=noncompliance"),
    ] {
        let help = sandbox.run(&format!("{command} --help")).fine().out;
        for (old, new) in options.split(' ').map(|pair| pair.split_once('=').unwrap()) {
            // Both are taken the same way: what is wrong is said of the new name, which alone is shown.
            let said = |name: &str| sandbox.run(&format!("{command} --{name} --no-such-option")).err;
            assert_eq!(said(old), said(new), "--{old} of {command}");
            assert!(
                help.contains(&format!("--{new} ")) || help.contains(&format!("--{new}\n")),
                "--{new} of {command}"
            );
            assert!(!help.contains(&format!("--{old} ")) && !help.contains(&format!("--{old}\n")), "--{old} is shown");
        }
    }
    for target in ["records", "table"] {
        let said = sandbox.run(&format!("estimate plan.json none.csv --target {target}")).refused(1, &["none.csv"]);
        assert!(!said.err.contains("invalid value"), "{}", said.err);
    }
}

/// Old names of a method's parameters, as older requests and plans have them.
#[test]
fn old_names_of_parameters_are_read() {
    for (old, new) in [
        (
            r#"{"method":"independent","epsilon":2,"ratio":[2,1]}"#,
            r#"{"method":"independent","epsilon":2,"budget_split":[2,1]}"#,
        ),
        (r#"{"method":"minimax","parity":[3]}"#, r#"{"method":"minimax","likelihood_ratio":[3]}"#),
    ] {
        let read = |text: &str| text.parse::<candor_design::request::Request>().unwrap();
        assert_eq!(read(old), read(new));
        // Plans carry the old names, which never change.
        assert_eq!(serde_json::to_value(read(new)).unwrap(), serde_json::to_value(read(old)).unwrap());
        assert!(!serde_json::to_string(&read(new)).unwrap().contains("budget_split"));
    }
}
