//! What others depend on is not silently replaced: responses, which a second draw of the same people would add to, and
//! plans, which their responses need.

use crate::sandbox::Sandbox;

fn survey() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.people("people.csv", 60);
    sandbox.plan();
    sandbox
}

#[test]
fn randomize_rejects_existing_responses_of_every_format() {
    let sandbox = survey();
    for output in ["r.csv", "r.tsv", "r.csv.gz", "r.parquet"] {
        let words = format!("randomize plan.json people.csv -o {output}");
        sandbox.run(&words).fine();
        let before = std::fs::read(sandbox.path(output)).unwrap();
        let told = format!("{output} holds responses made under the plan sha256:");
        sandbox.run(&words).refused(1, &["Already randomized: a second release adds epsilon ", &told, "--force"]);
        assert_eq!(std::fs::read(sandbox.path(output)).unwrap(), before);
        sandbox.run(&format!("{words} --force")).fine();
        assert_ne!(std::fs::read(sandbox.path(output)).unwrap(), before);
        sandbox.run(&format!("estimate plan.json {output}")).fine();
    }
}

#[test]
fn a_second_release_names_the_epsilon_that_it_adds() {
    let sandbox = Sandbox::new();
    sandbox.write("people.csv", "a1\n0\n1\n1\n");
    sandbox.run("design --categories 2 --epsilon 1.5 -o plan.json").fine();
    sandbox.run("randomize plan.json people.csv -o r.csv").fine();
    sandbox.run("randomize plan.json people.csv -o r.csv").refused(1, &["a second release adds epsilon 1.5000."]);
    sandbox.run("design --categories 4 --method l-diversity --l 2 -o sets.json").fine();
    sandbox.run("randomize sets.json people.csv -o s.csv").fine();
    let unbounded = "Already randomized: a second release reveals more, without a bound.";
    sandbox.run("randomize sets.json people.csv -o s.csv").refused(1, &[unbounded]);
}

#[test]
fn other_files_simulations_and_moved_responses_are_kept_too() {
    let sandbox = survey();
    let randomize = |output: &str| sandbox.run(&format!("randomize plan.json people.csv -o {output}"));
    sandbox.write("notes.csv", "mine\n");
    randomize("notes.csv").refused(1, &["notes.csv exists already", "--force"]);
    sandbox.run("randomize plan.json people.csv -o s.csv --seed 1").fine();
    randomize("s.csv").refused(1, &["s.csv exists already: it holds a simulation (seed 1)"]);
    sandbox.run("randomize plan.json people.csv -o s.csv --seed 2").fine();
    assert!(sandbox.read("s.csv.candor.json").contains("\"simulation\":2"));
    randomize("real.csv").fine();
    sandbox.run("randomize plan.json people.csv -o real.csv --seed 2").refused(1, &["Already randomized"]);
    // Responses that were moved away were made nevertheless.
    randomize("r.csv").fine();
    std::fs::rename(sandbox.path("r.csv"), sandbox.path("sent.csv")).unwrap();
    randomize("r.csv").refused(1, &["Already randomized"]);
    sandbox.run("randomize plan.json people.csv -o r.csv --force").fine();
    // Nothing is released by an empty file, a device or a stream.
    sandbox.write("empty.csv", "");
    randomize("empty.csv").fine();
    assert!(randomize("-").fine().out.contains("smokes"));
    assert!(randomize("-").fine().out.contains("smokes"));
}

#[cfg(unix)]
#[test]
fn links_to_responses_are_responses_and_devices_are_not() {
    let sandbox = survey();
    sandbox.run("randomize plan.json people.csv -o r.csv").fine();
    std::os::unix::fs::symlink(sandbox.path("r.csv"), sandbox.path("link.csv")).unwrap();
    sandbox.run("randomize plan.json people.csv -o link.csv").refused(1, &["Already randomized"]);
    for _ in 0..2 {
        sandbox.run("randomize plan.json people.csv -o /dev/null").fine();
    }
}

#[test]
fn what_failed_or_stopped_may_be_tried_again() {
    let sandbox = survey();
    sandbox.write("bad.csv", "smokes,age\nno,-1000\n");
    sandbox.run("randomize plan.json bad.csv -o r.csv").refused(1, &["bad.csv"]);
    sandbox.run("randomize plan.json people.csv -o r.csv").fine();
}

#[test]
fn design_rejects_to_replace_another_plan() {
    let sandbox = Sandbox::new();
    sandbox.run("design --categories 3 --epsilon 1 -o plan.json").fine();
    let before = sandbox.read("plan.json");
    // The same plan is the same, whatever is noted of how it came about.
    sandbox.run("design --categories 3 --epsilon 1 -o plan.json").fine();
    sandbox.run("design --categories 3 --attribute-epsilon 1 -o plan.json").fine();
    sandbox.write("plan.json", &before);
    let told = ["Different plan exists at plan.json; responses made with it need it", "sha256:", "--force"];
    sandbox.run("design --categories 3 --epsilon 2 -o plan.json").refused(1, &told);
    sandbox.run("device --categories 3 --epsilon 2 -o plan.json").refused(1, &told);
    assert_eq!(sandbox.read("plan.json"), before);
    sandbox.run("design --categories 4 --method warner --p 0.7 -o warner.json").fine();
    sandbox
        .run("refine warner.json --uniform-prior 4 --posterior-bound 1 --allow-unbounded -o plan.json")
        .refused(1, &told);
    sandbox.write("other.json", "{\"fingerprint\": \"sha256:00\"}");
    sandbox.run("design --categories 3 --epsilon 2 -o other.json").refused(1, &["exists already: it is not a plan"]);
    sandbox.write("empty.json", "");
    sandbox.run("design --categories 3 --epsilon 2 -o empty.json").fine();
    sandbox.run("design --categories 3 --epsilon 2 -o plan.json --force").fine();
    assert_ne!(sandbox.read("plan.json"), before);
    sandbox.run("design --categories 3 --epsilon 2 --force").refused(2, &["--output"]);
}
