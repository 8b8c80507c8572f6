//! Responses and the file beside them are one: whatever is cut off, killed, full, or done twice at once.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::sandbox::{CANDOR, Sandbox};

const ROWS: usize = 2000;

/// Two plans for the same people.
fn two_plans() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.plan();
    sandbox.people("people.csv", ROWS);
    sandbox.run("design schema.toml --method independent --epsilon 1 -o other.json").fine();
    sandbox
}

fn fingerprint(sandbox: &Sandbox, plan: &str) -> String {
    let plan: serde_json::Value = serde_json::from_str(&sandbox.read(plan)).unwrap();
    plan["fingerprint"].as_str().unwrap().to_owned()
}

/// What is at a place: nothing, the pair of one run, or one that is refused. Anything else fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    Nothing,
    Of(u64),
    Refused,
}

/// Runs of `plan.json` have even seeds and those of `other.json` odd ones, so that a seed tells the plan, and the
/// responses of a seed are known to the byte.
fn pair(sandbox: &Sandbox, name: &str, expected: &dyn Fn(u64) -> String) -> Pair {
    let (table, sidecar) = (sandbox.path(name), sandbox.path(&format!("{name}.candor.json")));
    let Ok(text) = fs::read_to_string(&sidecar) else {
        assert!(!table.exists(), "responses without a sidecar");
        return Pair::Nothing;
    };
    let said: serde_json::Value = serde_json::from_str(&text).unwrap();
    if said["complete"] == false {
        let said = sandbox.run(&format!("estimate plan.json {name}"));
        if table.exists() {
            said.refused(1, &["may belong to another plan", "remove", "make it again"]);
        }
        return Pair::Refused;
    }
    let seed = said["simulation"].as_u64().unwrap();
    let plan = ["plan.json", "other.json"][seed as usize % 2];
    assert_eq!(said["fingerprint"], fingerprint(sandbox, plan), "the sidecar is one");
    assert!(fs::read_to_string(&table).unwrap() == expected(seed), "the responses are those of the sidecar");
    Pair::Of(seed)
}

fn start(sandbox: &Sandbox, seed: u64, output: &str) -> Child {
    command(sandbox, seed, "people.csv", output).spawn().unwrap()
}

/// A run that gets its table through a pipe.
fn start_waiting(sandbox: &Sandbox, seed: u64, output: &str) -> Child {
    command(sandbox, seed, "-", output).stdin(Stdio::piped()).spawn().unwrap()
}

fn command(sandbox: &Sandbox, seed: u64, table: &str, output: &str) -> Command {
    let plan = ["plan.json", "other.json"][seed as usize % 2];
    let mut command = sandbox.command();
    command.args(["randomize", plan, table, "-o", output, "--force", "--seed", &seed.to_string()]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The responses of each seed, by runs that nothing disturbs.
fn undisturbed(sandbox: &Sandbox, seeds: u64) -> Vec<String> {
    let one = |seed: u64| {
        assert!(start(sandbox, seed, "quiet.csv").wait().unwrap().success());
        sandbox.read("quiet.csv")
    };
    let texts = (0..seeds).map(one).collect();
    fs::remove_file(sandbox.path("quiet.csv")).unwrap();
    fs::remove_file(sandbox.path("quiet.csv.candor.json")).unwrap();
    texts
}

#[test]
fn runs_at_once_to_one_output_leave_the_pair_of_one_of_them() {
    let sandbox = two_plans();
    let expected = undisturbed(&sandbox, 2);
    let people = fs::read(sandbox.path("people.csv")).unwrap();
    for _ in 0..10 {
        let mut runs: Vec<Child> = (0..6).map(|run| start_waiting(&sandbox, run % 2, "r.csv")).collect();
        let mut pipes: Vec<_> = runs.iter_mut().map(|run| run.stdin.take().unwrap()).collect();
        pipes.iter_mut().for_each(|pipe| pipe.write_all(&people).unwrap());
        // All tables end at once, so that all pairs are put in place at once.
        drop(pipes);
        for mut run in runs {
            assert!(run.wait().unwrap().success());
        }
        let found = pair(&sandbox, "r.csv", &|seed| expected[seed as usize].clone());
        assert!(matches!(found, Pair::Of(_)), "{found:?}");
    }
    assert!(!sandbox.files().iter().any(|name| name.contains("unfinished")));
}

/// Readers see the responses of one run, with its sidecar, while others replace them.
#[test]
fn readers_never_see_responses_with_the_sidecar_of_others() {
    let sandbox = two_plans();
    assert!(start(&sandbox, 0, "r.csv").wait().unwrap().success());
    let mut writers: Vec<Child> = (0..12).map(|run| start(&sandbox, run % 2, "r.csv")).collect();
    let mut told = [0, 0];
    while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
        let said = sandbox.run("estimate plan.json r.csv");
        match said.code {
            0 => told[0] += 1,
            // No other error: the pair is the other plan's.
            _ => {
                said.refused(1, &["Wrong plan: "]);
                told[1] += 1;
            }
        }
    }
    assert!(told[0] + told[1] > 0);
}

#[test]
fn killed_at_any_time_there_is_one_pair_or_none_or_one_that_is_refused() {
    let sandbox = two_plans();
    let expected = undisturbed(&sandbox, 2);
    let mut found = Vec::new();
    for kill in 0..30u64 {
        let mut run = start(&sandbox, kill % 2, "r.csv");
        // From before anything is written to after everything is, on a machine that is not busy.
        std::thread::sleep(Duration::from_micros(1500 * kill));
        run.kill().unwrap();
        run.wait().unwrap();
        found.push(pair(&sandbox, "r.csv", &|seed| expected[seed as usize].clone()));
    }
    // Whatever was left, the next run puts it right.
    assert!(start(&sandbox, 1, "r.csv").wait().unwrap().success());
    assert_eq!(pair(&sandbox, "r.csv", &|seed| expected[seed as usize].clone()), Pair::Of(1), "{found:?}");
}

/// A limit on the size of files acts like a disk that is full at that byte: of the responses, or of nothing at all.
#[test]
fn a_full_disk_at_any_byte_leaves_what_was_there() {
    let sandbox = two_plans();
    let expected = undisturbed(&sandbox, 2);
    let whole = expected[0].len().div_ceil(512);
    for (output, old) in [("new.csv", false), ("old.csv", true), ("old.csv.gz", true), ("old.parquet", true)] {
        if old {
            assert!(start(&sandbox, 0, output).wait().unwrap().success());
        }
        let files = sandbox.files();
        let contents: Vec<Vec<u8>> = files.iter().map(|name| fs::read(sandbox.path(name)).unwrap()).collect();
        for blocks in [0, 1, 2, whole / 2, whole - 1] {
            // Compressed outputs are smaller.
            let blocks = if output.ends_with("csv") { blocks } else { blocks.min(1) };
            let command = format!(
                "ulimit -f {blocks}; exec {CANDOR} randomize other.json people.csv -o {output} --force --seed 1"
            );
            let mut shell = Command::new("sh");
            let said = shell.args(["-c", &command]).current_dir(sandbox.path("")).output().unwrap();
            let told = String::from_utf8_lossy(&said.stderr).into_owned();
            assert_eq!(said.status.code(), Some(1), "{output}, {blocks} blocks: {told}");
            assert!(
                told.contains(&format!("cannot write {output}")) && told.contains("nothing was written there"),
                "{told}"
            );
            assert_eq!(sandbox.files(), files, "{output}, {blocks} blocks");
        }
        for (name, content) in files.iter().zip(&contents) {
            assert!(fs::read(sandbox.path(name)).unwrap() == *content, "{name} changed");
        }
    }
}

/// A small disk, taken away when dropped.
struct Mounted<'a>(&'a Path);

impl Mounted<'_> {
    fn new<'a>(place: &'a Path, options: &str) -> Option<Mounted<'a>> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", options, "candor-test"]).arg(place).output();
        mount.is_ok_and(|mount| mount.status.success()).then_some(Mounted(place))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// A disk that has room for the responses, but not for what goes beside them: where one may be mounted.
#[test]
fn a_full_disk_at_the_sidecar_leaves_what_was_there() {
    let sandbox = two_plans();
    let expected = undisturbed(&sandbox, 2);
    let disk = sandbox.path("disk");
    fs::create_dir(&disk).unwrap();
    let size = expected[0].len().div_ceil(4096) * 4096;
    for spare in [0, 4096, 8192, 12288, 16384, 65536] {
        let options = format!("size={}", size + spare);
        let Some(mounted) = Mounted::new(&disk, &options) else {
            eprintln!("no disk can be mounted here");
            return;
        };
        let said = sandbox.run("randomize plan.json people.csv -o disk/r.csv --force --seed 0");
        let left: Vec<_> = fs::read_dir(&disk).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let found = pair(&sandbox, "disk/r.csv", &|seed| expected[seed as usize].clone());
        drop(mounted);
        match said.code {
            0 => assert_eq!((found, left.len()), (Pair::Of(0), 2)),
            _ => {
                said.refused(1, &["cannot write", "nothing was written there"]);
                assert_eq!((found, left.len()), (Pair::Nothing, 0), "{left:?}");
            }
        }
    }
}

#[test]
fn signals_that_end_a_run_leave_nothing_unfinished() {
    for (signal, code) in [("HUP", 129), ("INT", 130), ("QUIT", 131), ("TERM", 143), ("XCPU", 152)] {
        let sandbox = Sandbox::new();
        sandbox.plan();
        let people = fs::read(sandbox.people("people.csv", 100_000)).unwrap();
        let before = sandbox.files();
        let mut command = sandbox.command();
        command.args(["randomize", "plan.json", "-", "-o", "out.csv"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&people).unwrap();
        while !sandbox.files().iter().any(|name| name.contains("unfinished")) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        assert_eq!(sandbox.files(), before, "{signal}");
    }
}

#[test]
fn responses_that_were_cut_off_or_added_to_are_refused() {
    let sandbox = two_plans();
    for name in ["r.csv", "r.tsv", "r.csv.gz"] {
        assert!(start(&sandbox, 0, name).wait().unwrap().success());
        sandbox.run(&format!("estimate plan.json {name}")).fine();
    }
    let whole = sandbox.read("r.csv");
    let rows: Vec<&str> = whole.lines().collect();
    for (text, found) in [
        (rows[..ROWS].join("\n") + "\n", "contains 1999 responses"),
        (whole.clone() + rows[1] + "\n", "contains 2001 responses"),
        (rows[0].to_owned() + "\n", "contains 0 responses"),
    ] {
        sandbox.write("r.csv", text);
        for verb in [
            "estimate plan.json r.csv",
            "adjust plan.json r.csv -o w.csv",
            "test plan.json r.csv --independence smokes,age",
        ] {
            let said = sandbox.run(verb);
            said.refused(1, &[found, "2000 were written", "r.csv.candor.json", "remove"]);
        }
    }
    assert!(!sandbox.path("w.csv").exists());
    // Who leaves rows out on purpose removes the file beside them.
    sandbox.write("r.csv", rows[..1000].join("\n") + "\n");
    fs::remove_file(sandbox.path("r.csv.candor.json")).unwrap();
    sandbox.run("estimate plan.json r.csv").refused(1, &["does not name the plan", "--unmarked"]);
    let said = sandbox.run("estimate plan.json r.csv --unmarked").fine();
    assert!(said.err.contains("does not name the plan"), "{}", said.err);
}

#[test]
fn what_is_no_response_does_not_inherit_the_sidecar_of_responses() {
    let sandbox = two_plans();
    assert!(start(&sandbox, 0, "in.csv").wait().unwrap().success());
    assert!(start(&sandbox, 1, "r.csv").wait().unwrap().success());
    for command in [
        "synthesize plan.json in.csv -o r.csv",
        "adjust plan.json in.csv -o r.csv",
        "estimate plan.json in.csv --format csv -o r.csv",
    ] {
        let before = sandbox.read("r.csv");
        sandbox.run(command).refused(1, &["r.csv contains responses"]);
        assert_eq!(sandbox.read("r.csv"), before, "{command}");
        assert!(sandbox.path("r.csv.candor.json").exists());
    }
    sandbox.run("randomize plan.json people.csv --format parquet -o r.csv --force").fine();
    assert!(!sandbox.path("r.csv.candor.json").exists());
    // What is not a sidecar is nobody's to replace: here the plan itself.
    fs::copy(sandbox.path("plan.json"), sandbox.path("x.csv.candor.json")).unwrap();
    let said = sandbox.run("randomize x.csv.candor.json people.csv -o x.csv");
    said.refused(1, &["x.csv.candor.json is not a valid sidecar file of responses"]);
    assert_eq!(sandbox.read("x.csv.candor.json"), sandbox.read("plan.json"));
    assert!(!sandbox.path("x.csv").exists());
}

#[test]
fn links_are_written_through_also_when_they_lead_to_nothing_yet() {
    use std::os::unix::fs::symlink;
    let sandbox = two_plans();
    fs::create_dir(sandbox.path("far")).unwrap();
    symlink("far/real.csv", sandbox.path("link.csv")).unwrap();
    symlink("none/real.csv", sandbox.path("lost.csv")).unwrap();
    for seed in [0, 1] {
        let plan = ["plan.json", "other.json"][seed];
        assert!(start(&sandbox, seed as u64, "link.csv").wait().unwrap().success());
        assert!(sandbox.path("link.csv").is_symlink() && !sandbox.path("far/real.csv").is_symlink());
        // The sidecar is where the responses are, whichever way they are read.
        assert!(sandbox.path("far/real.csv.candor.json").exists() && !sandbox.path("link.csv.candor.json").exists());
        for name in ["link.csv", "far/real.csv"] {
            let said = sandbox.run(&format!("estimate {plan} {name}")).fine();
            assert!(!said.err.contains("does not name the plan"), "{}", said.err);
        }
    }
    sandbox.run("randomize plan.json people.csv -o lost.csv").refused(1, &["cannot write lost.csv"]);
    assert!(sandbox.path("lost.csv").is_symlink());
    // A link with a sidecar of its own, as stores of large files have them.
    fs::rename(sandbox.path("far/real.csv.candor.json"), sandbox.path("link.csv.candor.json")).unwrap();
    sandbox.run("estimate plan.json link.csv").refused(1, &["Wrong plan: "]);
}

/// How a command ends does not depend on whether its messages can be written.
#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_error_changes_nothing() {
    let sandbox = two_plans();
    for (arguments, code) in [("audit nofile.json", 1), ("audit", 2), ("randomize nofile.json none.csv -o out.csv", 1)]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(CANDOR);
        command.current_dir(sandbox.path("")).args(arguments.split(' ')).stderr(full);
        assert_eq!(command.status().unwrap().code(), Some(code), "{arguments}");
    }
}
