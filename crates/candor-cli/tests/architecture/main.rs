//! The shape of the house: modules and crates go one way, and what a respondent must trust is small
//! (docs/project/architecture.md).

mod crates;
mod dependencies;
mod links;
mod modules;
mod packages;
mod source;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crates::{Crate, crates, rust_files};
use modules::Modules;

/// What the trusted base may hold at most: lines of code, and crates with itself, without the reader of written
/// schemas, which no respondent's client needs.
const BASE_LINES: usize = 5_000;
const BASE_CRATES: usize = 35;

/// What the trusted base must do without.
const NOT_IN_BASE: [&str; 3] = ["nalgebra", "statrs", "rand_distr"];

/// A function fits on a screen, a file has one subject.
const FUNCTION_LINES: usize = 60;
const FILE_LINES: usize = 500;

/// A line fits beside another file.
const COLUMNS: usize = 120;

/// Longer functions and files that are known; none may be added, and one that was split leaves the list.
const LONG: &[&str] = &[];

fn crate_named(name: &str) -> Crate {
    crates().into_iter().find(|c| c.name == name).expect("a crate of the workspace")
}

#[test]
fn modules_use_what_stands_before_them() {
    for each in crates() {
        let files = rust_files(&each.folder.join("src"));
        let below = |path: &Path| path.strip_prefix(each.folder.join("src")).expect("found there").to_owned();
        let files: Vec<_> = files.iter().map(|(path, source)| (below(path), source)).collect();
        let modules = Modules::new(files.iter().map(|(path, source)| (path.as_path(), source.as_str())));
        assert_eq!(modules.violations(), [""; 0], "{}", each.name);
    }
}

#[test]
fn crates_use_what_stands_before_them() {
    assert_eq!(crates::violations(&crates(), &crates::documented()), [""; 0]);
}

#[test]
fn the_trusted_base_is_small() {
    let base = crate_named("candor-base");
    let lines: usize = rust_files(&base.folder.join("src")).iter().map(|(_, text)| source::lines_of_code(text)).sum();
    assert!((1_000..=BASE_LINES).contains(&lines), "{lines} lines of code; at most {BASE_LINES} are to be trusted");
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--package", "candor-base", "--no-default-features"])
        .args(["--edges", "normal", "--prefix", "none"])
        .current_dir(&base.folder)
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).expect("names");
    let below: BTreeSet<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(below.contains("candor-base") && below.len() <= BASE_CRATES, "{} crates: {below:?}", below.len());
    for name in NOT_IN_BASE {
        assert!(!below.contains(name), "the trusted base must not use {name}");
    }
}

/// Overrides of a profile go on to those that inherit it: `dist` must lift each of `release`, or users get a crate that
/// is hardly optimized. Those where time is spent are fully optimized, the others at least for size.
#[test]
fn what_users_get_is_optimized() {
    let manifest = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml")).unwrap();
    let section = |name: &str| {
        let lines = manifest.lines().skip_while(|line| *line != name).skip(1);
        let entries = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once(" = "));
        entries.map(|(of, value)| (of.to_owned(), value.to_owned())).collect::<Vec<(String, String)>>()
    };
    let lifted = section("[profile.dist.package]");
    let at = |value: &str, level: &str| value.starts_with(&format!("{{ opt-level = {level}"));
    assert!(lifted.iter().all(|(_, value)| at(value, "3") || at(value, "\"s\"")), "{lifted:?}");
    for (name, _) in section("[profile.release.package]").iter().filter(|(_, value)| at(value, "2")) {
        assert!(lifted.iter().any(|(of, value)| of == name && at(value, "3")), "time is spent in {name}");
    }
    let names =
        |entries: Vec<(String, String)>| entries.into_iter().map(|(name, _)| name).collect::<BTreeSet<String>>();
    let low = names(section("[profile.release.package]"));
    assert!(!low.is_empty());
    assert_eq!(low, names(lifted));
}

/// A file in a folder of tests that its `main.rs` does not name would never be compiled.
#[test]
fn no_test_is_forgotten() {
    let mut programs = 0;
    for tests in crates().iter().map(|each| each.folder.join("tests")).filter(|tests| tests.is_dir()) {
        let files = rust_files(&tests);
        for (main, listed) in files.iter().filter(|(path, _)| path.ends_with("main.rs")) {
            programs += 1;
            for (path, _) in files.iter().filter(|(path, _)| path.parent() == main.parent() && path != main) {
                let module = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
                let named = listed.lines().any(|line| line.trim_end() == format!("mod {module};"));
                assert!(named, "{} is missing in {}", path.display(), main.display());
            }
        }
    }
    assert!(programs >= 7, "only {programs} folders of tests");
}

#[test]
fn lines_fit_beside_another_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut long = Vec::new();
    for folder in ["crates", "python/src", "fuzz/fuzz_targets", "fuzz/targets"] {
        for (path, text) in rust_files(&root.join(folder)) {
            let lines = text.lines().zip(1..).filter(|(line, _)| line.chars().count() > COLUMNS);
            long.extend(lines.map(|(_, number)| format!("{}:{number}", path.display())));
        }
    }
    assert!(long.is_empty(), "over {COLUMNS} columns: {long:#?}");
}

#[test]
fn functions_fit_on_a_screen_and_files_have_one_subject() {
    let mut long = BTreeSet::new();
    for each in crates() {
        for (path, text) in rust_files(&each.folder.join("src")) {
            let file = format!("{}/{}", each.name, path.strip_prefix(&each.folder).expect("found there").display());
            if text.lines().count() > FILE_LINES {
                long.insert(file.clone());
            }
            let functions = source::functions(&text).into_iter().filter(|(_, lines)| *lines > FUNCTION_LINES);
            long.extend(functions.map(|(name, _)| format!("{file}: {name}")));
        }
    }
    let known: BTreeSet<String> = LONG.iter().map(|known| (*known).to_owned()).collect();
    let new: Vec<&String> = long.difference(&known).collect();
    let gone: Vec<&String> = known.difference(&long).collect();
    assert!(new.is_empty(), "over {FUNCTION_LINES} lines, or {FILE_LINES} of a file; split by subject: {new:#?}");
    assert!(gone.is_empty(), "no longer too long; take them off the list: {gone:#?}");
}

#[test]
fn links_of_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut broken = Vec::new();
    for folder in ["docs", "benches", "data", "crates", "clients", "fuzz", "release"] {
        links::broken(&root.join(folder), &mut broken);
    }
    for name in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "ROADMAP.md", "CODE_OF_CONDUCT.md"] {
        broken.extend(links::broken_in(&root.join(name)));
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
