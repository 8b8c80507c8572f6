//! `candor randomize` as a user runs it: formats, streams, order, and what is refused.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, rows};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn gunzip(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn row_order_public_values_and_kept_columns_survive_every_format() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    // More than two batches, so that several cores work on different parts of the table.
    let rows_wanted = 150_000;
    sandbox.people("people.csv", rows_wanted);
    let people = rows(&sandbox.read("people.csv"));
    sandbox.run("randomize plan.json people.csv -o a.csv --keep id --seed 5").fine();
    sandbox.run("randomize plan.json people.csv -o a.parquet --keep id --seed 5").fine();
    let answers = rows(&sandbox.read("a.csv"));
    assert_eq!(answers[0], ["region", "smokes", "age", "id"]);
    assert_eq!(answers.len(), rows_wanted + 1);
    let mut kept = 0;
    for (truth, answer) in people.iter().zip(&answers).skip(1) {
        assert_eq!((&truth[0], &truth[1]), (&answer[3], &answer[0]), "row order, public and kept columns");
        kept += usize::from(truth[2] == answer[1]);
    }
    // Epsilon 1 for three categories: kept with probability 0.5761, here within six deviations.
    let share = kept as f64 / rows_wanted as f64;
    assert!((share - 0.57612).abs() < 6.0 * (0.25 / rows_wanted as f64).sqrt(), "{share}");

    // Parquet in, and the same seed: the same answers, whatever the format.
    let schema = "[[attribute]]\nname = \"smokes\"\ncategories = [\"no\", \"sometimes\", \"yes\"]\n";
    sandbox.write("one.toml", schema);
    sandbox.run("design one.toml --method warner --p 0.9 -o one.json").fine();
    sandbox.run("randomize one.json people.csv -o b.csv --seed 9 --keep id,region").fine();
    sandbox.run("design one.toml --method frapp --lambda 1e9 -o copy.json").fine();
    // A plan that hardly changes anything makes a Parquet copy of the truth.
    sandbox.run("randomize copy.json people.csv -o truth.parquet --seed 1 --keep id,region").fine();
    let refused = sandbox.run("randomize one.json truth.parquet -o c.csv --seed 9");
    refused.refused(1, &["truth.parquet contains responses made with the plan sha256:", "Use the true records"]);
    sandbox.run("randomize copy.json people.csv -o truth.csv --seed 1 --keep id,region").fine();
    let refused = sandbox.run("randomize one.json truth.csv -o c.csv --seed 9");
    refused.refused(1, &["truth.csv contains responses"]);
}

#[test]
fn delimiters_quotes_gzip_and_several_files() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "schema.toml",
        "[[attribute]]\nname = \"a;b\"\ncategories = [\"x, y\", \"say \\\"hi\\\"\", \"two\\nlines\", \"\"]\n\n\
         [[attribute]]\nname = \"c\"\ncategories = [\"0\", \"1\"]\n",
    );
    sandbox.run("design schema.toml --attribute-epsilon 30,30 --max-epsilon 60 -o plan.json").fine();
    let header = "\"a;b\"@c@rest\n";
    let body = "x, y@0@r1\n\"say \"\"hi\"\"\"@1@\"r@2\"\n\"two\nlines\"@0@r3\n@1@\n";
    sandbox.write("one.txt", format!("\u{feff}{header}{body}").replace('@', ";"));
    sandbox.write("two.csv.gz", gzip(&format!("{header}{body}").replace("x, y", "\"x, y\"").replace('@', ",")));
    sandbox.write("three.tsv", format!("{header}{body}").replace('@', "\t"));
    sandbox.run("randomize plan.json one.txt two.csv.gz three.tsv -o all.csv.gz --keep rest").fine();
    let text = gunzip(&fs::read(sandbox.path("all.csv.gz")).unwrap());
    // Epsilon 30 keeps the truth but with a chance of about 1e-13.
    let once =
        |second: &str| format!("\"x, y\",0,r1\n\"say \"\"hi\"\"\",1,{second}\n\"two\nlines\",0,r3\n\"\",1,\"\"\n");
    let expected =
        format!("\"a;b\",c,rest\n{}{}{}", once("r;2"), once("\"r,2\""), once("\"r\t2\"").replace('"', "\u{1}"));
    let unquoted = text.replace("\"r\t2\"", "r\t2");
    let expected = expected.replace('\u{1}', "\"").replace("\"r\t2\"", "r\t2");
    assert_eq!(unquoted, expected);
    sandbox.run("randomize plan.json one.txt -o tabs.csv --output-delimiter tab --keep rest").fine();
    assert!(sandbox.read("tabs.csv").starts_with("\"a;b\"\tc\trest\nx, y\t0\tr1\n"));
    sandbox.run("randomize plan.json one.txt -o tabs.tsv").fine();
    assert!(sandbox.read("tabs.tsv").starts_with("\"a;b\"\tc\nx, y\t0\n"));
    let sidecar = sandbox.read("all.csv.gz.candor.json");
    assert!(sidecar.contains("\"records\":12") && sidecar.contains("\"simulation\":null"), "{sidecar}");
    sandbox.run("randomize plan.json one.txt -o x.csv --delimiter ,").refused(1, &["one.txt has no column \"a;b\""]);
}

#[test]
fn standard_input_and_output() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 1000);
    let text = sandbox.read("people.csv");
    let piped = sandbox.run_with("randomize plan.json - -o - --seed 3", &text).fine();
    sandbox.run("randomize plan.json people.csv -o file.csv --seed 3").fine();
    assert_eq!(piped.out, sandbox.read("file.csv"), "the same through pipes");
    assert!(piped.err.contains("1,000 records"), "what was done goes to standard error");
    let zipped = sandbox.run_with("randomize plan.json - -o - --seed 3", gzip(&text)).fine();
    assert_eq!(zipped.out, piped.out);
    // Parquet through both pipes.
    let mut command = sandbox.command();
    command.args(["randomize", "plan.json", "people.csv", "-o", "-", "--format", "parquet"]);
    let parquet = command.output().unwrap().stdout;
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    sandbox.run_with("randomize plan.json - -o x.csv", parquet).refused(1, &["standard input contains responses"]);
    sandbox.run("randomize plan.json - - -o x.csv").refused(2, &["only once"]);
    assert!(!sandbox.path("x.csv").exists());
}

#[test]
fn a_seed_repeats_and_no_seed_does_not() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 100);
    let warned = sandbox.run("randomize plan.json people.csv -o a.csv --seed 1").fine();
    assert!(warned.err.contains("warning: --seed is for simulations"));
    sandbox.run("randomize plan.json people.csv -o b.csv --seed 1").fine();
    sandbox.run("randomize plan.json people.csv -o c.csv").fine();
    let json = sandbox.run("randomize plan.json people.csv -o d.csv --json").fine();
    assert_eq!(sandbox.read("a.csv"), sandbox.read("b.csv"));
    assert_ne!(sandbox.read("a.csv"), sandbox.read("c.csv"));
    assert_ne!(sandbox.read("c.csv"), sandbox.read("d.csv"));
    assert!(sandbox.read("a.csv.candor.json").contains("\"simulation\":1"));
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((value["records"].as_u64(), value["simulation"].is_null()), (Some(100), true));
    assert!(value["seconds"].as_f64().unwrap() > 0.0);
    assert!(value["fingerprint"].as_str().unwrap().starts_with("sha256:"));
}

/// Every bad table: a clear message, exit 1, nothing written, the input untouched, and no true value
/// but the offending one in the message.
/// pandas writes a column of whole numbers with missing values as 1.0, 2.0; another file of the same people may not.
#[test]
fn whole_numbers_with_a_point_are_the_same_categories() {
    let sandbox = Sandbox::new();
    sandbox.write("floats.csv", "a,b\n".to_owned() + &"1.0,2.5\n2.0,1.0\n3.0,1.0\n".repeat(20));
    sandbox.write("whole.csv", "a,b\n".to_owned() + &"1,2.5\n2,1\n3,1\n".repeat(20));
    sandbox.run("schema infer floats.csv -o schema.toml").fine();
    assert!(sandbox.read("schema.toml").contains("categories = [\"1\", \"2\", \"3\"]"));
    sandbox.run("design schema.toml --method independent --epsilon 1 -o plan.json").fine();
    for file in ["floats", "whole"] {
        sandbox.run(&format!("randomize plan.json {file}.csv --seed 7 -o {file}-r.csv")).fine();
    }
    assert_eq!(sandbox.read("floats-r.csv"), sandbox.read("whole-r.csv"));
    sandbox.write("bad.csv", "a,b\n1.5,1\n");
    sandbox.run("randomize plan.json bad.csv -o out.csv").refused(1, &["\"1.5\" is not a category"]);
}

#[test]
fn bad_tables() {
    let header = "id,region,smokes,age\n";
    let cases: Vec<(&str, Vec<u8>, Vec<&str>)> = vec![
        (
            "missing column",
            b"id,region,smoke,age\n1,north,no,20\n".to_vec(),
            vec!["bad.csv has no column \"smokes\"", "did you mean \"smoke\"?"],
        ),
        (
            "unknown category",
            format!("{header}1,north,no,secret1\n2,south,Yes,20\n").into(),
            vec!["bad.csv, row 1, column \"age\": \"secret1\" does not fit; a number"],
        ),
        (
            "nearest category",
            format!("{header}1,north,no,20\n2,south,some times,20\n").into(),
            vec!["row 2, column \"smokes\": \"some times\" is not a category; did you mean \"sometimes\"?"],
        ),
        (
            "missing value",
            format!("{header}1,north,,20\n").into(),
            vec!["row 1, column \"smokes\": the value is missing; list \"\" among the categories"],
        ),
        ("unknown public value", format!("{header}1,west,no,20\n").into(), vec!["column \"region\": \"west\""]),
        (
            "ragged row",
            format!("{header}1,north,no,20\n2,south,no\n").into(),
            vec!["bad.csv, row 2: 3 fields, but the header has 4"],
        ),
        (
            "invalid UTF-8",
            [header.as_bytes(), b"1,north,n\xff,20\n"].concat(),
            vec!["row 1, column \"smokes\": byte 2, 0xFF, is not UTF-8"],
        ),
        (
            "invalid UTF-8 in the header",
            b"id,reg\xfe,smokes,age\n".to_vec(),
            vec!["header, column 2 (\"reg\u{fffd}\"): byte 4, 0xFE, is not UTF-8"],
        ),
        ("empty file", Vec::new(), vec!["bad.csv is empty"]),
        ("no records", header.into(), vec!["there are no records in bad.csv"]),
        ("duplicate header", b"id,region,smokes,age,smokes\n".to_vec(), vec!["two columns named \"smokes\""]),
        (
            "damaged gzip",
            [&gzip(&format!("{header}1,north,no,20\n"))[..25], b"xx"].concat(),
            vec!["cannot read bad.csv"],
        ),
        ("damaged Parquet", b"PAR1 and nothing else PAR2".to_vec(), vec!["cannot read bad.csv as Parquet"]),
    ];
    for (what, content, parts) in cases {
        let sandbox = Sandbox::new();
        sandbox.plan();
        let input = sandbox.write("bad.csv", &content);
        let before = sandbox.files();
        for output in ["out.csv", "out.parquet"] {
            let said = sandbox.run(&format!("randomize plan.json bad.csv -o {output}")).refused(1, &parts);
            assert!(said.err.starts_with("error: ") && said.out.is_empty(), "{what}: {}", said.err);
            assert!(!said.err.contains("south"), "{what}: more than the offending value was told: {}", said.err);
        }
        assert_eq!(sandbox.files(), before, "{what}: something was left behind");
        assert_eq!(fs::read(input).unwrap(), content, "{what}: the input changed");
    }
}

#[test]
fn a_bad_row_far_down_leaves_nothing_behind_and_an_old_output_alone() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 200_000);
    let mut text = sandbox.read("people.csv");
    text += "200000,north,never,20\n";
    sandbox.write("people.csv", text);
    sandbox.write("out.csv", "from before\n");
    let before = sandbox.files();
    sandbox
        .run("randomize plan.json people.csv -o out.csv --force")
        .refused(1, &["row 200001, column \"smokes\": \"never\""]);
    sandbox.run("randomize plan.json people.csv -o out.parquet --force").refused(1, &["row 200001"]);
    assert_eq!(sandbox.files(), before);
    assert_eq!(sandbox.read("out.csv"), "from before\n");
}

#[test]
fn empty_lines_in_a_single_column_are_not_passed_over() {
    let sandbox = Sandbox::new();
    sandbox.write("schema.toml", "[[attribute]]\nname = \"a\"\ncategories = [\"x\", \"y\", \"\"]\n");
    sandbox.run("design schema.toml --method independent --epsilon 1 -o plan.json").fine();
    sandbox.write("gap.csv", "a\nx\n\ny\n");
    sandbox.run("randomize plan.json gap.csv -o out.csv").refused(1, &["row 2: an empty line", "write \"\""]);
    sandbox.write("fine.csv", "a\nx\n\"\"\ny\n\n");
    sandbox.run("randomize plan.json fine.csv -o out.csv").fine();
    assert_eq!(sandbox.read("out.csv").lines().count(), 4);
}

#[test]
fn places_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    let people = sandbox.people("people.csv", 5000);
    let before = fs::read(&people).unwrap();
    sandbox.run("randomize plan.json people.csv -o ./people.csv").refused(1, &["both an input and the output"]);
    sandbox
        .run("randomize plan.json people.csv -o no/such/folder/out.csv")
        .refused(1, &["cannot write no/such/folder/out.csv"]);
    sandbox.run("randomize plan.json people.csv -o .").refused(1, &["it is a folder"]);
    sandbox.run("randomize plan.json nobody.csv -o out.csv").refused(1, &["cannot read nobody.csv"]);
    sandbox
        .run("randomize plan.json people.csv -o out.csv --keep smokes")
        .refused(1, &["true values would be published"]);
    sandbox.run("randomize plan.json people.csv -o out.csv --keep region").refused(1, &["cannot be kept"]);
    sandbox.run("randomize plan.json people.csv -o out.csv --keep ID").refused(1, &["no column \"ID\"", "\"id\""]);
    if cfg!(target_os = "linux") {
        // A full disk, as the device that is always full.
        for format in ["csv", "parquet"] {
            let said = sandbox.run(&format!("randomize plan.json people.csv -o /dev/full --format {format}"));
            said.refused(1, &["cannot write /dev/full", "No space left"]);
        }
        sandbox.run("randomize plan.json people.csv -o /dev/null").fine();
        assert!(!fs::metadata("/dev/null").unwrap().is_file(), "a device was replaced by a file");
    }
    assert_eq!(fs::read(&people).unwrap(), before);
    assert_eq!(sandbox.files(), ["people.csv", "plan.json", "schema.toml"]);
}

#[cfg(unix)]
#[test]
fn interrupted_or_killed_midway() {
    for (signal, leaves_nothing) in [("-TERM", true), ("-INT", true), ("-KILL", false)] {
        let sandbox = Sandbox::new();
        sandbox.plan();
        let people = fs::read_to_string(sandbox.people("people.csv", 300_000)).unwrap();
        let mut command = sandbox.command();
        command.args(["randomize", "plan.json", "-", "-o", "out.csv"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(people.as_bytes()).unwrap();
        // The table is not at its end, so the command is still at work; wait for its unfinished file.
        let begun = Instant::now();
        while !sandbox.files().iter().any(|name| name.contains("unfinished")) {
            assert!(begun.elapsed() < Duration::from_secs(60), "no output was begun");
            std::thread::sleep(Duration::from_millis(5));
        }
        let killed = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert!(!child.wait().unwrap().success());
        drop(pipe);
        let files = sandbox.files();
        assert!(!files.contains(&"out.csv".to_owned()), "{signal}: {files:?}");
        assert_eq!(files.len() == 3, leaves_nothing, "{signal}: {files:?}");
    }
}

#[test]
fn one_record_at_a_time() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    let record = r#"{"region": "north", "smokes": "yes", "age": 44}"#;
    let mut command = sandbox.command();
    command.args(["randomize", "plan.json", "--stream"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut ask, mut answers) = (child.stdin.take().unwrap(), std::io::BufReader::new(child.stdout.take().unwrap()));
    for _ in 0..3 {
        // Each answer comes before the next question.
        writeln!(ask, "{record}").unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut answers, &mut line).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["region"], "north");
        assert!(["no", "sometimes", "yes"].contains(&answer["smokes"].as_str().unwrap()));
        assert!(["below 30", "30 to below 50", "50 or more"].contains(&answer["age"].as_str().unwrap()));
    }
    drop(ask);
    assert!(child.wait().unwrap().success());

    let refused = |record: &str, part: &str| {
        sandbox.run_with("randomize plan.json --stream", record).refused(1, &["line 1: ", part]);
    };
    refused(r#"{"region": "north", "age": 44}"#, "the field \"smokes\" is missing");
    refused(r#"{"region": "north", "smokes": "Yes", "age": 44}"#, "did you mean \"yes\"?");
    refused(r#"{"region": "north", "smokes": ["yes"], "age": 44}"#, "must be a string");
    refused(r#"{"region": "north", "smokes": "yes", "age": null}"#, "not a category");
    refused("secret, not JSON", "not a JSON object");
}

/// What devices answer one by one is read back by the verbs that take responses, from a file or a pipe.
#[test]
fn answers_one_by_one_are_responses() {
    let sandbox = Sandbox::new();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/lotteries.json");
    let record = |i: usize| {
        format!("{{\"a1\":{},\"a2\":{},\"a3\":{},\"a4\":{},\"a5\":{}}}\n", i % 4, i % 3, i % 2, i % 5, i % 2)
    };
    let records: String = (0..200).map(record).collect();
    let lines = sandbox.run_with(&format!("randomize {plan} --stream"), records).fine().out;
    let fields: Vec<usize> = ["candor_fingerprint", "a1", "a2", "a5", "candor_tag", "candor_tag_2"]
        .iter()
        .map(|name| lines.lines().next().unwrap().find(&format!("\"{name}\":")).unwrap())
        .collect();
    assert!(fields.is_sorted(), "the order of the responses: {fields:?}");
    sandbox.write("lines.jsonl", &lines);
    let commands = [
        format!("estimate {plan} FILE --tables a2,a3 --json"),
        format!("test {plan} FILE --independence a2,a3 --json"),
        format!("query {plan} FILE --where a2=1 --json"),
    ];
    for command in commands {
        let file = sandbox.run(&command.replace("FILE", "lines.jsonl")).fine();
        assert!(!file.err.contains("not checked"), "the plan is known: {}", file.err);
        let piped = sandbox.run_with(&command.replace("FILE", "-"), &lines).fine();
        let without_time = |json: &str| {
            let mut json: serde_json::Value = serde_json::from_str(json).unwrap();
            json.as_object_mut().unwrap().remove("seconds");
            json
        };
        assert_eq!(without_time(&file.out), without_time(&piped.out), "{command}");
        assert_eq!(without_time(&file.out)["respondents"], 200, "{command}");
    }
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good/lottery.json");
    sandbox.run(&format!("estimate {other} lines.jsonl")).refused(1, &["Wrong plan: lines.jsonl was made with"]);
    sandbox.write("torn.jsonl", &lines[..lines.len() - 9]);
    sandbox.run(&format!("estimate {plan} torn.jsonl")).refused(1, &["torn.jsonl, line 200: not a JSON object"]);
}

#[test]
fn sets_and_lotteries_are_written_and_answered() {
    let sandbox = Sandbox::new();
    let plans = concat!(env!("CARGO_MANIFEST_DIR"), "/../candor-base/tests/plans/good");
    let table = |sizes: &[usize]| {
        let header: Vec<String> = (1..=sizes.len()).map(|i| format!("a{i}")).collect();
        let row = |r: usize| sizes.iter().map(|size| (r % size).to_string()).collect::<Vec<_>>().join(",");
        format!("{}\n{}\n", header.join(","), (0..50).map(row).collect::<Vec<_>>().join("\n"))
    };
    sandbox.write("sets.csv", table(&[9, 3, 300, 3]));
    sandbox.write("lotteries.csv", table(&[4, 3, 2, 5, 2]));
    sandbox.write("crossed-matrix.csv", table(&[2, 3]));
    for name in ["sets", "lotteries", "crossed-matrix"] {
        sandbox.run(&format!("randomize {plans}/{name}.json {name}.csv -o {name}.parquet")).fine();
        sandbox.run(&format!("randomize {plans}/{name}.json {name}.csv -o {name}.out.csv")).fine();
    }
    let sets = rows(&sandbox.read("sets.out.csv"));
    assert_eq!(sets[0], ["a1", "a2", "a3", "a4"]);
    for row in &sets[1..] {
        assert_eq!(row[0].split(';').count(), 4);
        assert_eq!(row[2].split(';').count(), 150);
        assert_eq!(row[3], "0;1;2");
    }
    let lotteries = rows(&sandbox.read("lotteries.out.csv"));
    assert_eq!(lotteries[0], ["a1", "a2", "a3", "a4", "a5", "candor_tag", "candor_tag_2"]);
    assert!(
        lotteries[1..].iter().all(|row| ["0", "1"].contains(&row[5].as_str()) && ["0", "1"].contains(&row[6].as_str()))
    );
    assert_eq!(rows(&sandbox.read("crossed-matrix.out.csv"))[0], ["a1*a2"]);
    let said = sandbox.run_with(
        &format!("randomize {plans}/lotteries.json --stream"),
        "{\"a1\":0,\"a2\":1,\"a3\":0,\"a4\":4,\"a5\":1}\n",
    );
    let answer: serde_json::Value = serde_json::from_str(&said.fine().out).unwrap();
    assert!(answer["candor_tag"].as_u64().unwrap() < 2 && answer["candor_tag_2"].as_u64().unwrap() < 2);
}

/// A quote that is not closed would make one field of all rows after it: published with a kept column,
/// or lost without one.
#[test]
fn unclosed_quotes_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    let cases = [
        "id,region,smokes,age\n1,north,no,20\n2,south,yes,\"30\n3,north,no,secret\n",
        "id,region,smokes,age\n\"1,north,no,20\n2,south,yes,30\n3,north,no,40\n",
    ];
    for text in cases {
        sandbox.write("stray.csv", text);
        for command in
            ["randomize plan.json stray.csv -o out.csv --keep id", "randomize plan.json stray.csv -o out.csv"]
        {
            let said = sandbox.run(command);
            assert_eq!(said.code, 1, "{}", said.err);
            assert!(!said.err.contains("secret"), "{}", said.err);
        }
        sandbox.run("schema check schema.toml stray.csv").refused(1, &[]);
    }
    // Closed again far below: no field runs over a thousand lines.
    let mut text = String::from("id,region,smokes,age\n\"1,north,no,20\n");
    (0..3000).for_each(|i| text += &format!("{i},south,yes,30\n"));
    text += "9\",north,no,40\n";
    sandbox.write("stray.csv", text);
    sandbox.run("randomize plan.json stray.csv -o out.csv").refused(1, &["is not closed"]);
    // A long or odd value is cut and made harmless before it is shown.
    sandbox.write("odd.csv", format!("id,region,smokes,age\n1,north,\u{1b}[8m{},20\n", "x".repeat(5000)));
    let said = sandbox
        .run("randomize plan.json odd.csv -o out.csv")
        .refused(1, &["\\u{1b}[8mxxx", "xxx...\" is not a category"]);
    assert!(said.err.len() < 400, "{}", said.err.len());
    assert!(!sandbox.path("out.csv").exists());
}

#[test]
fn damaged_parquet_is_an_error_and_never_a_crash() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 500);
    sandbox.run("randomize plan.json people.csv -o whole.parquet --seed 1").fine();
    let whole = fs::read(sandbox.path("whole.parquet")).unwrap();
    let mut state = 1u64;
    for _ in 0..150 {
        let mut damaged = whole.clone();
        for _ in 0..3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % damaged.len();
            damaged[at] ^= (state >> 20) as u8 | 1;
        }
        sandbox.write("damaged.parquet", damaged);
        for command in ["randomize plan.json damaged.parquet -o out.csv", "schema check schema.toml damaged.parquet"] {
            let said = sandbox.run(command);
            assert!(said.code == 0 || said.code == 1, "{}: {}", said.code, said.err);
            assert!(!said.err.contains("bug in candor"), "{}", said.err);
        }
    }
}

#[test]
fn slow_pipes_are_understood() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    for bytes in [b"region;smokes;age\nnorth;no;20\n".to_vec(), gzip("region,smokes,age\nnorth,no,20\n")] {
        let mut command = sandbox.command();
        command.args(["randomize", "plan.json", "-", "-o", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        for piece in [&bytes[..1], &bytes[1..3], &bytes[3..]] {
            pipe.write_all(piece).unwrap();
            pipe.flush().unwrap();
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
    }
}

/// A bad row is told at once, not when whoever feeds the pipe is done.
#[test]
fn errors_do_not_wait_for_the_end_of_a_pipe() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    let mut command = sandbox.command();
    command.args(["randomize", "plan.json", "-", "-o", "out.csv"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let _ = pipe.write_all(format!("region,smokes,age\n{}", "north,never,20\n".repeat(140_000)).as_bytes());
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60), "still waiting for the pipe");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("row 1, column \"smokes\""));
    assert_eq!(sandbox.files(), ["plan.json", "schema.toml"]);
}

#[test]
fn nothing_that_is_read_is_overwritten() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 50);
    let files = ["people.csv", "plan.json", "schema.toml"];
    let before: Vec<String> = files.iter().map(|name| sandbox.read(name)).collect();
    for command in [
        "schema infer people.csv --drop id --bins age=quantile:3 -o people.csv",
        "design schema.toml --method independent --epsilon 1 -o ./schema.toml",
        "randomize plan.json people.csv -o plan.json",
        "randomize plan.json people.csv -o people.csv",
        "demo --folder .",
    ] {
        let said = sandbox.run(command);
        assert_eq!(said.code, 1, "{command}: {}", said.err);
    }
    let after: Vec<String> = files.iter().map(|name| sandbox.read(name)).collect();
    assert_eq!(before, after);
    sandbox.run("randomize plan.json people.csv -o x.parquet.gz").refused(2, &["without .gz"]);
    // Where the file beside responses cannot be written, neither are they.
    fs::create_dir(sandbox.path("r.csv.candor.json")).unwrap();
    sandbox.run("randomize plan.json people.csv -o r.csv").refused(1, &["r.csv.candor.json"]);
    assert!(!sandbox.path("r.csv").exists());
}

#[cfg(unix)]
#[test]
fn links_and_permissions_of_outputs_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", 50);
    let real = sandbox.write("real.csv", "old");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&real, sandbox.path("link.csv")).unwrap();
    sandbox.run("randomize plan.json people.csv -o link.csv --force").fine();
    assert!(sandbox.path("link.csv").is_symlink());
    assert_eq!(sandbox.read("real.csv").lines().count(), 51);
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
}

/// Names that hold what could be a delimiter are read back, whatever else stands in the header.
#[test]
fn names_like_delimiters_are_read_back() {
    let sandbox = Sandbox::new();
    for name in ["Kids; boys; girls", "a|b|c|d", "x,y"] {
        sandbox.write(
            "odd.toml",
            format!(
                "[[attribute]]\nname = \"{name}\"\ncategories = \
                                           [\"0\", \"1\"]\n[[attribute]]\nname = \"z\"\ncategories = \
                                           [\"1\", \"2\"]\n"
            ),
        );
        sandbox.write("odd.csv", format!("\"{name}\",z\n0,1\n1,2\n0,2\n"));
        sandbox.run("design odd.toml --method independent --epsilon 2 -o odd.json --force").fine();
        sandbox.run("randomize odd.json odd.csv -o responses.csv --force --seed 1").fine();
        sandbox.run("estimate odd.json responses.csv").fine();
    }
}
