//! A table is read once: whoever gives it twice, by whatever name, is told so, by every verb that reads tables.

use crate::sandbox::Sandbox;

/// People, a plan for them, their responses, and counts of those.
fn survey() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 60);
    sandbox.plan();
    sandbox.run("randomize plan.json people.csv -o responses.csv").fine();
    sandbox.write("counts.csv", "smokes,count\nno,20\nsometimes,30\nyes,10\n");
    sandbox
}

/// Every way to read several tables, with `TABLES` where they are named, and which.
const READERS: [(&str, &str); 16] = [
    ("randomize plan.json TABLES -o out.csv", "people.csv"),
    ("schema check schema.toml TABLES", "people.csv"),
    ("cluster schema.toml TABLES", "people.csv"),
    ("cluster schema.toml TABLES --protocol secure-sum", "people.csv"),
    ("cluster plan.json TABLES --protocol attribute", "responses.csv"),
    ("estimate plan.json TABLES", "responses.csv"),
    ("estimate plan.json TABLES --method iterative", "responses.csv"),
    ("estimate plan.json --tables smokes --unmarked --counts TABLES", "counts.csv"),
    ("test plan.json TABLES --independence smokes,age", "responses.csv"),
    ("query plan.json TABLES --where smokes=yes --method joint", "responses.csv"),
    ("query plan.json TABLES --where smokes=yes --method adjusted", "responses.csv"),
    ("adjust plan.json TABLES -o made.csv --force", "responses.csv"),
    ("synthesize plan.json TABLES -o made.csv --force --method joint", "responses.csv"),
    ("synthesize plan.json TABLES -o made.csv --force --method clusters", "responses.csv"),
    ("synthesize plan.json TABLES -o made.csv --force --method adjusted", "responses.csv"),
    ("report plan.json TABLES -o out.html", "responses.csv"),
];

#[test]
fn every_verb_reads_a_table_once() {
    let sandbox = survey();
    for (words, table) in READERS {
        let given = |tables: &str| sandbox.run(&words.replace("TABLES", tables));
        given(table).fine();
        given(&format!("{table} {table}")).refused(1, &[&format!("{table} is given twice"), "count twice"]);
        let message = format!("./{table} is the same file as {table}; its records would count twice");
        given(&format!("{table} ./{table}")).refused(1, &[&message]);
        given("- -").refused(2, &["standard input (-) can be read only once"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn links_and_redirections_are_the_file_they_lead_to() {
    let sandbox = survey();
    std::os::unix::fs::symlink(sandbox.path("responses.csv"), sandbox.path("link.csv")).unwrap();
    sandbox
        .run("estimate plan.json responses.csv link.csv")
        .refused(1, &["link.csv is the same file as responses.csv"]);
    sandbox.run("estimate plan.json link.csv").fine();
    let redirected = std::process::Command::new(env!("CARGO_BIN_EXE_candor"))
        .args(["estimate", "plan.json", "responses.csv", "-"])
        .current_dir(sandbox.path("."))
        .stdin(std::fs::File::open(sandbox.path("responses.csv")).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&redirected.stderr).into_owned();
    assert_eq!(redirected.status.code(), Some(1), "{said}");
    assert!(said.contains("standard input is the same file as responses.csv"), "{said}");
}
