//! Responses tell the plan they were made under. Those that do not are read only if the user vouches for them, and what
//! can hardly have come from the plan is said, marked or not.

use crate::sandbox::Sandbox;

/// Two plans whose responses have the same columns and labels, and responses of the first without a mark.
fn two_plans(rows: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let people: String = (0..rows).map(|i| format!("{},{}\n", usize::from(i % 10 == 0), i % 7 % 2)).collect();
    sandbox.write("people.csv", format!("a1,a2\n{people}"));
    sandbox.run("design --categories 2,2 --method independent --epsilon 6 -o plan.json").fine();
    sandbox.run("design --categories 2,2 --method independent --epsilon 1 -o other.json").fine();
    sandbox.run("randomize plan.json people.csv -o responses.csv --seed 1").fine();
    sandbox.write("bare.csv", sandbox.read("responses.csv"));
    sandbox.write("counts.csv", "a1,a2,count\n0,0,300\n0,1,300\n1,0,200\n1,1,200\n");
    sandbox
}

/// Every command that reads responses or their counts.
const READERS: [&str; 14] = [
    "estimate PLAN bare.csv",
    "estimate PLAN bare.csv --method iterative",
    "estimate PLAN --counts counts.csv --tables a1",
    "test PLAN bare.csv --independence a1,a2",
    "test PLAN responses.csv --tables a1 --baseline bare.csv",
    "query PLAN bare.csv --where a1=1",
    "query PLAN bare.csv --where a1=1 --method joint",
    "query PLAN --counts counts.csv --where a1=1",
    "regress PLAN bare.csv --model a1~a2 --method ml",
    "cluster PLAN bare.csv --protocol attribute",
    "adjust PLAN bare.csv -o out.csv --force",
    "synthesize PLAN bare.csv -o out.csv --force",
    "report PLAN bare.csv -o out.html",
    "report PLAN responses.csv --baseline bare.csv -o out.html",
];

#[test]
fn every_command_asks_for_a_mark() {
    let sandbox = two_plans(3_000);
    for words in READERS {
        let words = words.replace("PLAN", "plan.json");
        let file = if words.contains("counts.csv") { "counts.csv" } else { "bare.csv" };
        let told = format!("{file} does not name the plan it was made with");
        sandbox.run(&words).refused(1, &[&told, "--unmarked"]);
        sandbox.run(&format!("{words} --unmarked")).fine();
    }
    let said = sandbox.run("estimate plan.json bare.csv --unmarked").fine();
    assert!(said.err.contains("bare.csv does not name the plan it was made with; you vouch for it"), "{}", said.err);
    assert!(!said.err.contains("Implausible"), "{}", said.err);
    // What is of another plan is of another plan, whoever vouches.
    sandbox.run("estimate other.json responses.csv --unmarked").refused(1, &["Wrong plan: "]);
    sandbox.run_with("estimate plan.json -", sandbox.read("bare.csv")).refused(1, &["standard input does not name"]);
}

#[test]
fn what_cannot_come_from_the_plan_is_implausible() {
    let sandbox = two_plans(3_000);
    for words in READERS.iter().filter(|words| words.contains("bare.csv") && !words.contains("baseline")) {
        let said = sandbox.run(&format!("{} --unmarked", words.replace("PLAN", "other.json")));
        let told = "warning: implausible: bare.csv: Implausible under this plan: wrong file, or edited";
        assert!(said.err.contains(told), "{words}: {}", said.err);
    }
    let said = sandbox.run("estimate other.json bare.csv --unmarked --json").fine();
    assert!(said.out.contains("\"implausible\":[\"bare.csv\"]"), "{}", said.out);
    // Marked responses that were edited, too.
    let edited = sandbox.read("responses.csv").lines().skip(1).map(|_| "0,0\n").collect::<String>();
    sandbox.write("responses.csv", format!("a1,a2\n{edited}"));
    let said = sandbox.run("estimate plan.json responses.csv").fine();
    assert!(said.err.contains("implausible: responses.csv"), "{}", said.err);
    // Of several files the wrong one is named.
    sandbox.run("randomize plan.json people.csv -o more.csv --seed 2").fine();
    let said = sandbox.run("estimate plan.json more.csv responses.csv").fine();
    assert!(said.err.contains("implausible: responses.csv") && !said.err.contains("more.csv"), "{}", said.err);
}

#[test]
fn counts_tell_their_plan() {
    let sandbox = two_plans(3_000);
    let query = sandbox.run("sql plan.json --tables a1 --from responses").fine().out;
    let fingerprint = sandbox.run("audit plan.json --json").fine().out;
    let fingerprint = fingerprint.split("\"fingerprint\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(query.contains(&format!("'{fingerprint}' AS \"candor_fingerprint\"")), "{query}");
    let counts = |told: &str| format!("candor_fingerprint,a1,count\n{told},0,600\n{fingerprint},1,400\n");
    sandbox.write("marked.csv", counts(fingerprint));
    sandbox.run("estimate plan.json --counts marked.csv --tables a1").fine();
    sandbox.run("estimate other.json --counts marked.csv --tables a1").refused(1, &["Wrong plan: "]);
    sandbox.write("mixed.csv", counts("sha256:00"));
    sandbox.run("estimate plan.json --counts mixed.csv --tables a1").refused(1, &["Wrong plan", "sha256:00"]);
    sandbox.write("half.csv", counts(""));
    sandbox.run("estimate plan.json --counts half.csv --tables a1").refused(1, &["does not name the plan"]);
    sandbox.run("estimate plan.json --counts half.csv --tables a1 --unmarked").fine();
}
