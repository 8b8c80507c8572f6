//! Bombs: small files that would take much time or memory are refused in little of both.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::sandbox::{CANDOR, Sandbox};

/// Runs the command with at most 1 GiB of address space; gives its exit code and what it said.
#[cfg(target_os = "linux")]
fn confined(sandbox: &Sandbox, words: &str, input: &[u8]) -> (Option<i32>, String) {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\"", CANDOR]).args(words.split_whitespace());
    // Address space that is only reserved counts, and every thread's allocator reserves some.
    command.current_dir(sandbox.path("")).env("MALLOC_ARENA_MAX", "1");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // It may stop reading early.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A gzip file of a header, a field of so many bytes, and nothing else.
#[cfg(target_os = "linux")]
fn gzip_bomb(bytes: usize) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"region,smokes,age\nnorth,").unwrap();
    let piece = vec![b'x'; 1 << 20];
    (0..bytes >> 20).for_each(|_| packed.write_all(&piece).unwrap());
    packed.finish().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn bombs_are_refused_within_a_gibibyte() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.write("bomb.csv.gz", gzip_bomb(700 << 20));
    sandbox.write("field.csv", [b"region,smokes,age\nnorth,".as_slice(), &vec![b'x'; 150 << 20]].concat());
    sandbox.write("fields.csv", [b"region,smokes,age\n".as_slice(), &vec![b','; 80 << 20]].concat());
    sandbox.write("quote.csv", [b"region,smokes,age\nnorth,\"".as_slice(), &vec![b'\n'; 150 << 20]].concat());
    sandbox.write("header.csv", "column,".repeat(60 << 17));
    sandbox.write("text.json", vec![b' '; 100 << 20]);
    sandbox.write("deep.json", format!("{{\"format\": {}", "[".repeat(1 << 20)));
    sandbox.write("deep.toml", format!("a = {}", "[".repeat(1 << 20)));
    sandbox.write("claims.parquet", include_bytes!("../../../../fuzz/seeds/table/claims-many-rows.parquet"));
    let line = [b"{\"region\": \"".as_slice(), &vec![b'x'; 200 << 20]].concat();
    let deep = "[".repeat(1 << 20).into_bytes();
    let none = Vec::new();
    for (words, input, message) in [
        ("randomize plan.json bomb.csv.gz -o out.csv", &none, "row 1: longer than 67108864 bytes"),
        ("schema check schema.toml field.csv", &none, "row 1: longer than 67108864 bytes"),
        ("schema infer field.csv", &none, "row 1: longer than 67108864 bytes"),
        ("schema check schema.toml fields.csv", &none, "row 1: more than 65536 fields"),
        ("schema check schema.toml quote.csv", &none, "is not closed"),
        ("randomize plan.json header.csv -o out.csv", &none, "header: "),
        ("estimate plan.json header.csv", &none, "header: "),
        ("audit text.json", &none, "longer than 64 MiB"),
        ("audit deep.json", &none, "deep.json"),
        ("design deep.toml --method independent --epsilon 1 -o p.json", &none, "deep.toml"),
        ("schema infer claims.parquet", &none, "claims 1099511627776 rows"),
        ("randomize plan.json --stream", &line, "line 1: longer than 4194304 bytes"),
        ("randomize plan.json --stream", &deep, "line 1: not a JSON object"),
    ] {
        let (code, said) = confined(&sandbox, words, input);
        assert_eq!(code, Some(1), "{words}: {}", &said[..said.len().min(1000)]);
        assert!(said.contains(message) && said.len() < 1000, "{words}: {}", &said[..said.len().min(1000)]);
    }
    assert!(!sandbox.files().contains(&"out.csv".to_owned()));
}

#[test]
fn a_costly_plan_is_refused_unless_it_is_allowed() {
    let sandbox = Sandbox::new();
    let list = |item: &str, n: usize| vec![item; n].join(", ");
    let part = format!(r#"{{"set": {{"threshold": {{"weights": [{}], "limit": 9}}}}, "weight": 1}}"#, list("1", 40));
    let names: Vec<String> = (0..40).map(|i| format!("\"a{i}\"")).collect();
    let attributes: Vec<String> = names
        .iter()
        .map(|name| format!(r#"{{"name": {name}, "kind": "nominal", "categories": ["no", "yes"]}}"#))
        .collect();
    sandbox.write(
        "bomb.json",
        format!(
            r#"{{"format": "candor plan", "version": 1, "fingerprint": "",
                "guarantee": {{"epsilon": null, "attributes": []}}, "schema": {{"attributes": [{}]}},
                "blocks": [{{"attributes": [{}], "lottery": [{{"weight": 1, "channel":
                {{"pattern": {{"categories": [{}], "answer_sizes": [{}], "parts": [{}]}}}}}}]}}]}}"#,
            attributes.join(", "),
            names.join(", "),
            list("2", 40),
            list("1", 40),
            list(&part, 1100),
        ),
    );
    sandbox.run("audit bomb.json").refused(1, &["steps", "8589934592", "--allow-costly-plan"]);
    sandbox.run("audit bomb.json --allow-costly-plan").refused(1, &["does not match its fingerprint"]);
}

#[test]
fn hints_are_for_the_first_wrong_value_of_a_column() {
    let sandbox = Sandbox::new();
    sandbox.plan();
    let rows = "north,yess,40\n".repeat(3) + "soth,yes,40\n" + &format!("north,{},40\n", "x".repeat(2_000_000));
    sandbox.write("bad.csv", format!("region,smokes,age\n{rows}"));
    let said = sandbox.run("schema check schema.toml bad.csv");
    assert_eq!(said.code, 1);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.len(), 5, "{}", said.out);
    // Equal problems are told once; the categories follow.
    assert!(lines[0].contains("\"yess\" is not a category; did you mean \"yes\"?; 2 more like it"), "{}", lines[0]);
    assert!(lines[1].contains("did you mean \"south\"?"), "{}", lines[1]);
    assert!(lines[2].contains("xxx...\" is not a category; the schema lists 3"), "{}", lines[2]);
    assert!(lines[3].contains("region") && lines[4].contains("smokes"), "{} {}", lines[3], lines[4]);
}
