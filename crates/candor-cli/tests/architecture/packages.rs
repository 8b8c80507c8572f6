//! What is published, and what builds it: versions agree, and workflows have the shape that their service demands.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What stands behind a word that begins a line, without quotes.
fn field(text: &str, begins: &str) -> String {
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix(begins));
    line.unwrap_or_else(|| panic!("no {begins}")).trim().trim_matches([',', '"', ' ']).to_owned()
}

#[test]
fn every_package_has_the_version_of_the_workspace() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, begins) in [
        ("CITATION.cff", "version:"),
        ("r/DESCRIPTION", "Version:"),
        ("clients/javascript/package.json", "\"version\":"),
        ("python/Cargo.toml", "version ="),
    ] {
        assert_eq!(field(&text(file), begins), version, "{file}");
    }
    assert_eq!(field(&text("python/pyproject.toml"), "name ="), "candor-privacy");
    let date = field(&text("CITATION.cff"), "date-released:");
    assert!(text("CHANGELOG.md").contains(&format!("## {version} ({date})")), "{date} is not the changelog's");
    // The files that the guide names are those of this version.
    let guide = text("docs/how-to/install.md");
    for file in [format!("candor_{version}_amd64.deb"), format!("candor_{version}.tar.gz")] {
        assert!(guide.contains(&file), "docs/how-to/install.md does not name {file}");
    }
}

/// A package of a crate has what lies in its folder: the texts of the licenses and a page for the registry, too, and
/// nothing that its sources include may lie elsewhere.
#[test]
fn every_crate_is_whole_by_itself() {
    for each in crate::crates::crates() {
        for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = fs::read_to_string(each.folder.join(file));
            let own = own.unwrap_or_else(|error| panic!("{}/{file}: {error}", each.name));
            assert!(own == text(file), "{}/{file} is not that of the repository", each.name);
        }
        assert!(each.folder.join("README.md").is_file(), "{} has no README.md", each.name);
        for (path, source) in crate::crates::rust_files(&each.folder.join("src")) {
            // What tests include may lie anywhere: nobody builds the tests of a package.
            let shipped = source.split("#[cfg(test)]").next().unwrap_or_default();
            let included = shipped.split("include_str!(\"").skip(1).chain(shipped.split("include_bytes!(\"").skip(1));
            for file in included.filter_map(|rest| rest.split('"').next()) {
                let folder = path.parent().expect("a folder").strip_prefix(&each.folder).expect("below the crate");
                let up = file.split('/').take_while(|part| *part == "..").count();
                assert!(up <= folder.components().count(), "{}: {file} is outside of the crate", path.display());
            }
        }
    }
}

/// A line of a workflow: how far it is indented, its key, its value, and whether it begins an item of a list.
#[derive(Debug)]
struct Line<'a> {
    indent: usize,
    key: &'a str,
    value: &'a str,
    item: bool,
}

/// The lines of the part of YAML that our workflows keep to: mappings, lists of mappings, flow lists and blocks of
/// text.
fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut block: Option<usize> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        let indent = line.len() - line.trim_start().len();
        if block.is_some_and(|block| indent > block) {
            continue;
        }
        let (item, rest) = match line.trim_start().strip_prefix("- ") {
            Some(rest) => (true, rest),
            None => (false, line.trim_start()),
        };
        assert!(indent.is_multiple_of(2) && !line.contains('\t'), "{line}");
        let (key, value) = rest.split_once(':').unwrap_or_else(|| panic!("neither a key nor a list of keys: {line}"));
        block = (value.trim() == "|").then_some(indent);
        lines.push(Line { indent: indent + if item { 2 } else { 0 }, key: key.trim(), value: value.trim(), item });
    }
    lines
}

/// What is wrong with a workflow.
fn wrong(text: &str) -> Vec<String> {
    let lines = lines(text);
    let mut wrong = Vec::new();
    for key in ["name", "on", "permissions", "jobs"] {
        if !lines.iter().any(|line| line.indent == 0 && line.key == key) {
            wrong.push(format!("no {key}"));
        }
    }
    let start = lines.iter().position(|line| line.indent == 0 && line.key == "jobs").map_or(lines.len(), |at| at + 1);
    let jobs: Vec<&[Line<'_>]> = lines[start..].chunk_by(|_, next| next.indent != 2).collect();
    for job in jobs {
        let name = job[0].key;
        for key in ["runs-on", "timeout-minutes", "steps"] {
            if !job.iter().any(|line| line.indent == 4 && line.key == key) {
                wrong.push(format!("{name}: no {key}"));
            }
        }
        for line in job.iter().filter(|line| line.item && line.indent == 8) {
            match line.key {
                "uses" if line.value.split_once('@').is_some_and(|(_, version)| version.starts_with('v')) => {}
                "run" if !line.value.is_empty() => {}
                _ => wrong.push(format!("{name}: a step begins with {}: {}", line.key, line.value)),
            }
        }
        let known =
            ["runs-on", "timeout-minutes", "steps", "strategy", "needs", "environment", "env", "permissions", "if"];
        for line in job.iter().filter(|line| line.indent == 4 && !known.contains(&line.key)) {
            wrong.push(format!("{name}: unknown {}", line.key));
        }
    }
    wrong
}

#[test]
fn workflows_have_the_shape_that_is_demanded_and_call_what_exists() {
    let oldest = field(&text("Cargo.toml"), "rust-version =");
    let mut found = 0;
    for entry in fs::read_dir(root().join(".github/workflows")).expect("workflows") {
        let path = entry.expect("a file").path();
        let workflow = fs::read_to_string(&path).expect("text");
        assert_eq!(wrong(&workflow), [""; 0], "{}", path.display());
        for script in [".ci/run", "release/build", "docs/book"] {
            let called = workflow.contains(&format!("run: {script}")) || workflow.contains(&format!(" {script}"));
            assert!(!called || root().join(script).is_file(), "{}: {script}", path.display());
        }
        if path.ends_with("test.yml") {
            assert!(workflow.contains(&format!("toolchain install {oldest} ")), "the oldest Rust is {oldest}");
            assert!(workflow.contains(".ci/run"));
        }
        found += 1;
    }
    assert!(found >= 4);
}

/// Steps of `release/build` that a script asks for and that the recipe does not have.
fn unknown_steps(script: &str, recipe: &str) -> Vec<String> {
    let calls = script.lines().filter_map(|line| line.split_once("release/build ")).map(|(_, words)| words);
    let words = calls.flat_map(|words| words.split_whitespace().map(|word| word.trim_matches('"')));
    words
        .filter(|word| !recipe.lines().any(|line| line.trim().starts_with(&format!("{word}) "))))
        .map(str::to_owned)
        .collect()
}

#[test]
fn scripts_call_steps_and_scripts_that_exist() {
    let recipe = text("release/build");
    let gate = text(".ci/run");
    for file in [".ci/run", ".github/workflows/release.yml", ".github/workflows/test.yml"] {
        assert_eq!(unknown_steps(&text(file), &recipe), [""; 0], "{file}");
    }
    assert_eq!(unknown_steps("- run: sudo release/build --twice all packages", &recipe), ["packages"]);
    let scripts: Vec<&str> = gate.lines().filter(|line| line.starts_with(".ci/")).collect();
    assert!(scripts.len() >= 4, "{scripts:?}");
    for script in scripts {
        assert!(root().join(script).is_file(), "{script}");
    }
    // What the recipe itself runs or copies.
    for file in recipe.split([' ', '"', '\n']).filter(|word| word.starts_with("release/bundle/")) {
        assert!(root().join(file.trim_end_matches('.')).exists(), "{file}");
    }
}

#[test]
fn wrong_workflows_are_found() {
    let good = "name: a\non:\n  push:\npermissions:\n  contents: read\njobs:\n  b:\n    runs-on: c\n    \
                timeout-minutes: 5\n    steps:\n      - uses: d/e@v4\n      - run: |\n          f: g\n";
    assert_eq!(wrong(good), [""; 0]);
    for (from, to, expected) in [
        ("permissions:\n  contents: read\n", "", "no permissions"),
        ("    timeout-minutes: 5\n", "", "b: no timeout-minutes"),
        ("d/e@v4", "d/e", "b: a step begins with uses: d/e"),
        ("runs-on", "run-on", "b: unknown run-on"),
    ] {
        assert!(wrong(&good.replace(from, to)).contains(&expected.to_owned()), "{expected}");
    }
}
