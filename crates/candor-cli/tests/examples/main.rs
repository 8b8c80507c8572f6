//! Every example in the documents and in the help is run, and what they show is what is said. Set `CANDOR_WRITE_DOCS`
//! to accept changed outputs; CONTRIBUTING.md says how examples are written.

#![cfg(unix)]

mod document;
mod run;
#[path = "../sandbox/mod.rs"]
mod sandbox;

use std::path::{Path, PathBuf};

use run::{all, root, run_alone, run_document, with_files};

/// The Markdown files in a folder and below.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(documents(&entry));
        } else if entry.extension().is_some_and(|ending| ending == "md") {
            found.push(entry);
        }
    }
    found.sort();
    found
}

#[test]
fn documents_show_what_happens() {
    let mut paths = documents(&root().join("docs"));
    paths.extend(["README.md", "CONTRIBUTING.md", "fuzz/README.md"].map(|name| root().join(name)));
    let wrong = all(&paths, |path| run_document(path));
    assert!(
        wrong.is_empty(),
        "{}\n\nIf outputs changed and should have: CANDOR_WRITE_DOCS=1 cargo test -p candor-cli --test examples",
        wrong.join("\n\n")
    );
}

#[test]
fn help_shows_what_works() {
    let files = with_files();
    let verbs = files.verbs();
    let wrong = all(&verbs, |verb| {
        let words = verb.split(' ').chain(["--help"]);
        let said = files.command().args(words).env("COLUMNS", "120").output().unwrap();
        let examples = document::examples_of_help(&String::from_utf8_lossy(&said.stdout));
        // The demo has no flags worth an example; "schema" only holds others, "collect" and "studio" start programs.
        if examples.is_empty() && !["demo", "schema", "collect", "studio"].contains(&verb.as_str()) {
            return vec![format!("candor {verb} --help has no example")];
        }
        let name = format!("candor {verb} --help");
        examples.iter().flat_map(|example| run_alone(&name, &files, example)).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A wrong example is found, whatever is wrong with it.
#[test]
fn wrong_examples_are_told() {
    let sandbox = run::with_data();
    let text = "```sh\ncandor design --categories 3 --method independent --epsilon -1\nrm \
                people.csv\n```\n```console\n$ candor --version\ncandor 99\n```\n";
    let path = sandbox.write("wrong.md", text);
    let wrong = run_document(&path);
    for (complaint, part) in
        wrong.iter().zip([":2: candor design", ":3: rm people.csv", ":6: candor --version\nnow says"])
    {
        assert!(complaint.contains(part), "{complaint}");
    }
    assert_eq!(wrong.len(), 3);
}
