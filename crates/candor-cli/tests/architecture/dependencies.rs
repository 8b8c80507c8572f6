//! What comes with candor is what `deny.toml` allows: the checks of `cargo deny check licenses bans sources` that need
//! nothing but Cargo, for the system that the tests run on. Hosted CI runs the tool itself, for every system.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The quoted strings of a list of `deny.toml`, or of one of its keys.
fn listed(deny: &str, list: &str, key: Option<&str>) -> Vec<String> {
    let lines = deny.lines().map(str::trim).skip_while(|line| *line != format!("{list} = [")).skip(1);
    let entries = lines.take_while(|line| *line != "]");
    let quoted = |line: &str| {
        let from = key.map_or(Some(line), |key| line.split_once(&format!("{key} = ")).map(|(_, value)| value))?;
        from.split('"').nth(1).map(str::to_owned)
    };
    entries.filter_map(quoted).collect()
}

/// Whether what is allowed meets a license expression: any of those joined by `OR` or `/`, all of those joined by
/// `AND`.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut at = 0;
    let met = !words.is_empty() && any(&words, &mut at, allowed);
    assert_eq!(at, words.len(), "not a license expression: {expression}");
    met
}

fn any(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all(words, at, allowed);
    }
    met
}

fn all(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    *at += 1;
    if words.get(*at - 1) == Some(&"(") {
        let met = any(words, at, allowed);
        *at += 1;
        return met;
    }
    let mut name = words.get(*at - 1).map(|word| (*word).to_owned()).unwrap_or_default();
    if words.get(*at) == Some(&"WITH") {
        name = format!("{name} WITH {}", words.get(*at + 1).copied().unwrap_or_default());
        *at += 2;
    }
    allowed.contains(&name)
}

/// Name, version and license of every package of the workspace and below it, on this system, with all features.
fn packages() -> Vec<(String, String, String)> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--workspace", "--all-features", "--offline", "--locked", "--prefix", "none"])
        .args(["--format", "{p}|{l}"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let mut found = BTreeSet::new();
    for line in String::from_utf8(tree.stdout).expect("text").lines().filter(|line| !line.is_empty()) {
        let (package, license) = line.split_once('|').expect("a license, or nothing");
        let mut words = package.split_whitespace();
        let (name, version) = (words.next().expect("a name"), words.next().expect("a version").trim_start_matches('v'));
        found.insert((name.to_owned(), version.to_owned(), license.trim_end_matches(" (*)").to_owned()));
    }
    found.into_iter().collect()
}

#[test]
fn dependencies_have_allowed_licenses_and_one_version() {
    let deny = fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    let allowed: BTreeSet<String> = listed(&deny, "allow", None).into_iter().collect();
    let skipped = listed(&deny, "skip", Some("crate"));
    assert!(allowed.len() >= 5 && skipped.len() >= 10, "deny.toml is read wrongly: {allowed:?} {skipped:?}");
    let packages = packages();
    assert!(packages.len() > 200, "only {} packages", packages.len());
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, version, license) in &packages {
        assert!(is_met(license, &allowed), "{name} {version} has the license \"{license}\"; see deny.toml");
        let is_skipped = skipped.iter().any(|skip| {
            skip.split_once('@').is_some_and(|(of, begins)| {
                of == name && (version == begins || version.starts_with(&format!("{begins}.")))
            })
        });
        if !is_skipped {
            versions.entry(name).or_default().push(version);
        }
    }
    for (name, versions) in versions {
        assert_eq!(versions.len(), 1, "{name} has several versions, {versions:?}: a reason belongs into deny.toml");
    }
}

#[test]
fn dependencies_come_from_the_registry_and_none_is_denied() {
    let deny = fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    let denied = listed(&deny, "deny", Some("crate"));
    assert!(!denied.is_empty());
    for lock in ["Cargo.lock", "python/Cargo.lock"] {
        let lock_file = fs::read_to_string(root().join(lock)).expect("a lock file");
        let quoted = |begins: &str| -> BTreeSet<String> {
            let values = lock_file.lines().filter_map(|line| line.strip_prefix(begins));
            values.map(|value| value.trim_matches('"').to_owned()).collect()
        };
        let sources = quoted("source = ");
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        assert_eq!(sources.iter().map(String::as_str).collect::<Vec<_>>(), [registry], "{lock}");
        let names = quoted("name = ");
        for name in &denied {
            assert!(!names.contains(name), "{lock} has {name}, which deny.toml denies");
        }
    }
}

#[test]
fn license_expressions_are_read() {
    let allowed = ["MIT", "Apache-2.0", "BSD-3-Clause"].map(str::to_owned).into();
    for met in [
        "MIT",
        "MIT/GPL-3.0",
        "GPL-3.0 OR MIT",
        "Apache-2.0 AND MIT",
        "(MIT OR GPL-3.0) AND Apache-2.0",
        "GPL-3.0 OR (MIT AND BSD-3-Clause)",
    ] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for unmet in ["", "GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR ISC) AND MIT", "Apache-2.0 WITH LLVM-exception"] {
        assert!(!is_met(unmet, &allowed), "{unmet}");
    }
}
