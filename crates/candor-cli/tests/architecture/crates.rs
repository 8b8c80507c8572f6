//! Crates go one way: each uses only those that stand before it in the table of docs/project/architecture.md.

use std::fs;
use std::path::{Path, PathBuf};

/// A crate of the workspace.
pub struct Crate {
    pub name: String,
    pub folder: PathBuf,
    /// The crates of the workspace that it uses, also in tests.
    pub uses: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All crates of the workspace.
pub fn crates() -> Vec<Crate> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(root().join("crates")).expect("crates").map(|entry| entry.expect("a folder").path()).collect();
    folders.sort();
    let read = |folder: PathBuf| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        Crate { uses: dependencies(&manifest), name, folder }
    };
    folders.into_iter().map(read).collect()
}

/// The dependencies of a manifest whose names are those of this workspace.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section.contains("dependencies") {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            if name == "candor" || name.starts_with("candor-") {
                found.push(name.to_owned());
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The crates in the table of docs/project/architecture.md, in its order, with those each may use.
pub fn documented() -> Vec<(String, Vec<String>)> {
    let document = fs::read_to_string(root().join("docs/project/architecture.md")).expect("the document");
    table(&document)
}

/// The rows `| floor | crate | ... | what it may use |`.
fn table(document: &str) -> Vec<(String, Vec<String>)> {
    let names = |cell: &str| {
        let quoted = cell.split('`').skip(1).step_by(2);
        quoted.filter(|name| name.starts_with("candor")).map(str::to_owned).collect::<Vec<String>>()
    };
    let lines = document.lines().skip_while(|line| !line.starts_with("| floor | crate |"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        Some((names(cells.get(1)?).pop()?, names(cells.last()?)))
    };
    lines.take_while(|line| line.starts_with('|')).filter_map(row).collect()
}

/// What is against the table, or missing from it, as sentences.
pub fn violations(crates: &[Crate], documented: &[(String, Vec<String>)]) -> Vec<String> {
    let place = |name: &str| documented.iter().position(|(documented, _)| documented == name);
    let mut found = Vec::new();
    for Crate { name, uses, .. } in crates {
        let Some(own) = place(name) else {
            found.push(format!("`{name}` is missing from the table"));
            continue;
        };
        for used in uses {
            if place(used).is_none_or(|place| place >= own) {
                found.push(format!("`{name}` uses `{used}`, which does not stand before it"));
            } else if !documented[own].1.contains(used) {
                found.push(format!("`{name}` uses `{used}`; the table does not allow it"));
            }
        }
    }
    found
}

/// The Rust files of a folder and below, with their text.
pub fn rust_files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("text");
            files.push((path, text));
        }
    }
    files.sort();
    files
}

#[test]
fn crates_against_the_table_are_found() {
    let document = "| floor | crate | role | may use |\n|---|---|---|---|\n| 1 | `candor-a` | `candor-x` | numbers |\n\
                    | 2 | `candor-b` | | `candor-a` |\n| 3 | `candor-c` | | `candor-a` |\n\nAlso `candor-d`.";
    let manifest = "[package]\nname = \"candor-x\"\n[dependencies]\ncandor-c.workspace = true\nserde = \"1\"\n\
                    [dev-dependencies]\ncandor-a = { path = \"..\" }\n";
    assert_eq!(dependencies(manifest), ["candor-a", "candor-c"]);
    let a_crate = |name: &str, uses: &[&str]| Crate {
        name: name.to_owned(),
        folder: PathBuf::new(),
        uses: uses.iter().map(|used| (*used).to_owned()).collect(),
    };
    let crates = [
        a_crate("candor-a", &[]),
        a_crate("candor-b", &["candor-a", "candor-c"]),
        a_crate("candor-c", &["candor-a", "candor-b"]),
        a_crate("candor-d", &[]),
    ];
    assert_eq!(
        violations(&crates, &table(document)),
        [
            "`candor-b` uses `candor-c`, which does not stand before it",
            "`candor-c` uses `candor-b`; the table does not allow it",
            "`candor-d` is missing from the table",
        ]
    );
}
