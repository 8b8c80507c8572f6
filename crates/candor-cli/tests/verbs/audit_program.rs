//! Audits of programs of others, good and bad ones.

use crate::sandbox::{Said, Sandbox};

fn audit(sandbox: &Sandbox, program: &str, more: &str) -> Said {
    let mut command = sandbox.command();
    command.args(["audit", "--truths", "yes,no", "--program", program]).args(more.split_whitespace());
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Tells the truth three times out of four, with awk's generator.
const CLIENT: &str = "awk -v seed=5 'BEGIN { srand(seed) } { lies = rand() < 0.25; print lies ? ($0 == \"yes\" \
                      ? \"no\" : \"yes\") : $0 }'";

#[test]
fn a_program_is_audited_beside_what_it_claims() {
    let sandbox = Sandbox::new();
    let said = audit(&sandbox, CLIENT, "--draws 40000 --claimed 1.2 --json").fine();
    let found: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let bound = found["lower_bound"].as_f64().unwrap();
    assert!((1.0..1.0987).contains(&bound), "{bound}");
    assert_eq!(
        (&found["confidence"], &found["exceeds_claim"], &found["draws"]),
        (&0.95.into(), &false.into(), &40_000.into())
    );
    assert!(found["event"].as_str().unwrap().starts_with("answer is ") && found["pair"].as_array().unwrap().len() == 2);
    let said =
        audit(&sandbox, CLIENT, "--draws 40000 --claimed 0.5").refused(1, &["does not meet the claimed epsilon 0.5"]);
    assert!(
        said.out.contains("The claim of epsilon 0.5 is false") && said.out.contains("no guarantee"),
        "{}",
        said.out
    );
    // One that tells the truth: as large as draws can show. One that tells nothing: no bound.
    assert!(audit(&sandbox, "cat", "--draws 4000").fine().out.starts_with("Epsilon at least 5."));
    assert!(audit(&sandbox, "sed s/.*/same/", "--draws 4000").fine().out.contains("No difference was found"));
    // Events with long answers fit the screen, too.
    let long = "sed 's/$/ is what was said by somebody who speaks at length/'";
    let said = audit(&sandbox, long, "--draws 4000").fine();
    assert!(said.out.contains("yes against no: answer is \"yes is what"), "{}", said.out);
    assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{}", said.out);
}

#[test]
fn programs_that_cannot_be_audited_are_told() {
    let sandbox = Sandbox::new();
    for (program, more, parts) in [
        ("./none", "", &["cannot run ./none", "No shell is used"][..]),
        ("sh -c 'cat", "", &["open quote"]),
        ("", "", &["specify the program"]),
        ("head -n 7", "", &["ended", "7 of 4000 answers", "one line for each line"]),
        ("sh -c 'head -n 3; echo broken pipe dream >&2; exit 9'", "", &["exit status: 9", "broken pipe dream"]),
        ("sh -c 'cat; exit 9'", "", &["exit status: 9", "4000 of 4000"]),
        ("awk '{ print; print }'", "", &["more than 4000 lines"]),
        ("sleep 30", "--time-limit 0.5", &["0 of 4000 answers in 0.5 seconds", "--time-limit"]),
        // It always answers soon, and would take minutes.
        ("awk '{ system(\"sleep 0.02\"); print; fflush() }'", "--time-limit 0.5", &["of 4000 answers in 0.5 seconds"]),
        ("sh -c 'printf \"\\377\\n\"; cat'", "", &["answer 1 is not valid UTF-8", "hexadecimal"]),
        ("sh -c 'tr -d \"\\n\" < /dev/zero'", "--time-limit 9", &["more than 65536", "short summary"]),
        ("cat", "--confidence 1", &["invalid --confidence: 1"]),
        ("cat", "--claimed -1", &["--claimed is -1"]),
        ("cat", "--time-limit 0", &["--time-limit is 0"]),
    ] {
        let begun = std::time::Instant::now();
        let more = format!("--draws 4000 {more}");
        let more = more.replace("--claimed -1", "--claimed=-1");
        audit(&sandbox, program, &more).refused(1, parts);
        assert!(begun.elapsed().as_secs() < 25, "{program}");
    }
    audit(&sandbox, "cat", "--draws 30").refused(1, &["invalid --draws: 30", "at least 40"]);
    sandbox.run("audit --program cat").refused(2, &["--truths"]);
    sandbox.run("audit --truths a,b").refused(2, &["--program"]);
    sandbox.run("audit --program cat --truths a").refused(1, &["invalid --truths: 1 distinct"]);
    sandbox.run("audit --program cat --truths a,a").refused(1, &["\"a\" is listed twice"]);
    sandbox.run("audit plan.json --program cat --truths a,b").refused(2, &["cannot be used with"]);
    assert_eq!(sandbox.files(), [""; 0]);
}
