//! What others depend on is not silently replaced: responses, which a second draw of the same people would add to, and
//! plans, which their responses need. One rule for every command with an output (`candor_tables::existing`).

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
        let told = format!("{output} contains responses made with the plan sha256:");
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
    sandbox.run("design --categories 2 --method independent --epsilon 1.5 -o plan.json").fine();
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
    randomize("notes.csv").refused(1, &["notes.csv already exists", "--force"]);
    sandbox.run("randomize plan.json people.csv -o s.csv --seed 1").fine();
    randomize("s.csv").refused(1, &["s.csv already exists: it holds a simulation (seed 1)"]);
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
    sandbox.run("design --categories 3 --method independent --epsilon 1 -o plan.json").fine();
    let before = sandbox.read("plan.json");
    // The same plan is the same, whatever is noted of how it came about.
    sandbox.run("design --categories 3 --method independent --epsilon 1 -o plan.json").fine();
    sandbox.run("design --categories 3 --attribute-epsilon 1 -o plan.json").fine();
    sandbox.write("plan.json", &before);
    let told = ["Different plan exists at plan.json; responses made with it need it", "sha256:", "--force"];
    sandbox.run("design --categories 3 --method independent --epsilon 2 -o plan.json").refused(1, &told);
    sandbox.run("device --categories 3 --epsilon 2 -o plan.json").refused(1, &told);
    assert_eq!(sandbox.read("plan.json"), before);
    sandbox.run("design --categories 4 --method warner --p 0.7 -o warner.json").fine();
    sandbox
        .run("refine warner.json --uniform-prior 4 --posterior-bound 1 --allow-unbounded -o plan.json")
        .refused(1, &told);
    sandbox.write("other.json", "{\"fingerprint\": \"sha256:00\"}");
    sandbox
        .run("design --categories 3 --method independent --epsilon 2 -o other.json")
        .refused(1, &["already exists: it is not a plan"]);
    sandbox.write("empty.json", "");
    sandbox.run("design --categories 3 --method independent --epsilon 2 -o empty.json").fine();
    sandbox.run("design --categories 3 --method independent --epsilon 2 -o plan.json --force").fine();
    assert_ne!(sandbox.read("plan.json"), before);
    sandbox.run("design --categories 3 --method independent --epsilon 2 --force").refused(2, &["--output"]);
}

/// Every command that writes a file, with FILE for it: whether `--force` replaces what is there.
const WRITERS: [(&str, bool); 19] = [
    ("rake plan.json r.csv --method tree -o FILE", false),
    ("audit plan.json --restate FILE", false),
    ("associations plan.json r.csv --protocol attribute -o FILE", false),
    ("design --categories 5 --method independent --epsilon 1 -o FILE", true),
    ("combine warner.json other.json -o FILE", true),
    ("matrix warner.json -o FILE", false),
    ("device --categories 5 --epsilon 1 -o FILE", true),
    ("device --categories 5 --epsilon 1 --card FILE", false),
    ("import plan.json written.csv -o FILE", true),
    ("estimate plan.json r.csv -o FILE", false),
    ("estimate plan.json r.csv --format parquet -o FILE", false),
    ("explain plan.json -o FILE", false),
    ("pareto --uniform-prior 3 --points 2 -o FILE", false),
    ("randomize plan.json people.csv -o FILE", true),
    ("refine warner.json --uniform-prior 4 --posterior-bound 1 --allow-unbounded -o FILE", true),
    ("report plan.json r.csv -o FILE", false),
    ("schema infer people.csv --drop id,age -o FILE", true),
    ("sign plan.json --key key -o FILE", false),
    ("synthesize plan.json r.csv -o FILE", false),
];

#[test]
fn no_command_silently_replaces_responses_or_plans() {
    let sandbox = survey();
    sandbox.run("randomize plan.json people.csv -o r.csv").fine();
    sandbox.run("design --categories 4 --method warner --p 0.7 -o warner.json").fine();
    sandbox.run("design --categories 3 --method independent --epsilon 1 -o kept.json").fine();
    sandbox.write("other.toml", "[[attribute]]\nname = \"other\"\ncategories = [\"0\", \"1\"]\n");
    sandbox.run("design other.toml --method warner --p 0.7 -o other.json").fine();
    sandbox.run("sign --new-key key").fine();
    sandbox.write("written.csv", sandbox.read("r.csv"));
    for place in ["kept.csv", "kept.parquet"] {
        sandbox.run(&format!("randomize plan.json people.csv -o {place}")).fine();
    }
    for (words, force) in WRITERS {
        for place in ["kept.csv", "kept.parquet", "kept.json"] {
            let before = std::fs::read(sandbox.path(place)).unwrap();
            let told = sandbox.run(&words.replace("FILE", place)).refused(1, &[place]).err;
            assert_eq!(told.contains("--force"), force, "{words} to {place}: {told}");
            assert_eq!(std::fs::read(sandbox.path(place)).unwrap(), before, "{words} to {place}");
        }
    }
    sandbox.run("estimate plan.json kept.csv").fine();
}

/// The list above has every command whose help has an output.
#[test]
fn every_command_with_an_output_is_checked() {
    let help = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    for file in std::fs::read_dir(help).unwrap().map(|file| file.unwrap().path()) {
        let name = file.file_stem().unwrap().to_string_lossy().replace("candor-", "").replace('-', " ");
        let writes = std::fs::read_to_string(&file).unwrap().contains("-o, --output");
        // Folders of plots and pages, each of which is a document; what parties write is tested with their sessions.
        let folder = ["reproduce", "evidence", "experiment", "party"].iter().any(|words| name.starts_with(words));
        let listed = folder || WRITERS.iter().any(|(words, _)| words.starts_with(&name));
        assert!(!writes || listed, "candor {name} has an output");
    }
}

#[test]
fn imported_responses_and_schemas_replace_nothing_and_documents_only_documents() {
    let sandbox = survey();
    sandbox.run("randomize plan.json people.csv -o r.csv").fine();
    sandbox.write("written.csv", sandbox.read("r.csv"));
    for words in ["enter plan.json written.csv -o new.csv", "schema infer people.csv --drop id,age -o new.csv"] {
        sandbox.write("new.csv", "mine\n");
        sandbox.run(words).refused(1, &["new.csv already exists", "--force"]);
        assert_eq!(sandbox.read("new.csv"), "mine\n");
        sandbox.run(&format!("{words} --force")).fine();
        std::fs::remove_file(sandbox.path("new.csv")).unwrap();
        let _ = std::fs::remove_file(sandbox.path("new.csv.candor.json"));
        sandbox.run(words).fine();
        // A schema of the same text is the same schema.
        match words.starts_with("schema") {
            true => drop(sandbox.run(words).fine()),
            false => drop(sandbox.run(words).refused(1, &["new.csv already exists"])),
        }
        let _ = std::fs::remove_file(sandbox.path("new.csv.candor.json"));
    }
    // Imported responses that were moved away are still known by their sidecar file.
    std::fs::remove_file(sandbox.path("new.csv")).unwrap();
    sandbox.run("enter plan.json written.csv -o new.csv").fine();
    std::fs::rename(sandbox.path("new.csv"), sandbox.path("moved.csv")).unwrap();
    sandbox.run("estimate plan.json r.csv -o new.csv").refused(1, &["new.csv contains responses", "delete the file"]);
    for words in ["estimate plan.json r.csv -o page.csv", "report plan.json r.csv -o page.html"] {
        sandbox.run(words).fine();
        sandbox.run(words).fine();
    }
}

#[test]
fn weighted_and_synthetic_records_replace_nothing() {
    let sandbox = survey();
    for output in ["r.csv", "kept.csv"] {
        sandbox.run(&format!("randomize plan.json people.csv -o {output}")).fine();
    }
    sandbox.write("kept.json", sandbox.read("plan.json"));
    for words in ["rake plan.json r.csv --method tree -o new.csv", "synthesize plan.json r.csv -o new.csv"] {
        for before in ["mine\n", "weighted,by,hand\n"] {
            sandbox.write("new.csv", before);
            sandbox.run(words).refused(1, &["new.csv already exists: it would be lost", "--force"]);
            assert_eq!(sandbox.read("new.csv"), before);
        }
        sandbox.run(&format!("{words} --force")).fine();
        sandbox.run(words).refused(1, &["new.csv already exists"]);
        // Not even `--force` puts them in place of responses or a plan.
        for place in ["kept.csv", "kept.json"] {
            let before = sandbox.read(place);
            let replaced = format!("{} --force", words.replace("new.csv", place));
            sandbox.run(&replaced).refused(1, &[place, "cannot be made again"]);
            assert_eq!(sandbox.read(place), before);
        }
        sandbox.write("new.csv", "");
        sandbox.run(words).fine();
        sandbox.run(&words.replace("new.csv", "-")).fine();
    }
}

/// The code of a rejection, as programs read it; without `--json` nothing is on standard output.
#[test]
fn rejections_have_a_verdict_in_json() {
    let sandbox = survey();
    sandbox.run("randomize plan.json people.csv -o r.csv").fine();
    sandbox.run("design --categories 3 --method independent --epsilon 1 -o other.json").fine();
    for (words, code, begin) in [
        (
            "randomize plan.json people.csv -o r.csv",
            "already-released",
            "Already randomized: a second release adds epsilon",
        ),
        (
            "design --categories 4 --method independent --epsilon 1 -o plan.json",
            "plan-in-use",
            "Different plan exists at plan.json",
        ),
        ("estimate other.json r.csv", "wrong-plan", "Wrong plan: r.csv was made with sha256:"),
        ("rake other.json r.csv -o w.csv", "wrong-plan", "Wrong plan: r.csv"),
    ] {
        assert_eq!(sandbox.run(words).refused(1, &[begin]).out, "");
        let said = sandbox.run(&format!("{words} --json")).refused(1, &[begin]);
        let verdict: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(verdict["verdict"], code, "{words}");
        let text = verdict["verdict_text"].as_str().unwrap();
        assert!(text.starts_with(begin) && said.err.contains(text) && !text.contains('`'), "{words}: {text}");
    }
}
