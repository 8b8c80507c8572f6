//! Every link from one document to another leads somewhere, and the table of contents names every page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All documents below a folder.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => documents(&path, found),
            false if path.extension().is_some_and(|ending| ending == "md") => found.push(path),
            false => {}
        }
    }
}

/// The text outside of blocks and spans of code.
fn prose(text: &str) -> String {
    let mut inside = false;
    let mut prose = String::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        if !inside && !fence && !line.starts_with("    ") {
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    prose
}

/// Where the links of a document lead.
fn links(text: &str) -> Vec<String> {
    let ends = |rest: &str| rest.split_once(')').map(|(link, _)| link.to_owned());
    prose(text).split("](").skip(1).filter_map(ends).collect()
}

/// What links into a document may name: its headings (small letters, spaces as hyphens, no other signs), and what has
/// an id.
fn anchors(text: &str) -> BTreeSet<String> {
    let fences = text.split("```").step_by(2).collect::<String>();
    let anchor = |heading: &str| -> String {
        let kept = heading.trim().to_lowercase().replace('`', "");
        kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
    };
    let headings = fences.lines().filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#')));
    let written = text.split("id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    headings.chain(written).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = root();
    let mut all = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    documents(&root.join("docs"), &mut all);
    let (mut followed, mut broken) = (0, Vec::new());
    for document in &all {
        let text = std::fs::read_to_string(document).unwrap();
        for link in links(&text).iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            let is_there = target.exists()
                && (anchor.is_empty() || anchors(&std::fs::read_to_string(&target).unwrap()).contains(anchor));
            followed += 1;
            if !is_there {
                broken.push(format!("{}: {link}", document.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(followed > 200, "{followed} links");
}

#[test]
fn the_table_of_contents_names_every_page() {
    let docs = root().join("docs");
    let mut all = Vec::new();
    documents(&docs, &mut all);
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let named: BTreeSet<PathBuf> = links(&summary).iter().map(|link| docs.join(link)).collect();
    let pages: BTreeSet<PathBuf> = all.into_iter().filter(|page| !page.ends_with("SUMMARY.md")).collect();
    assert_eq!(named, pages);
}

/// Addresses that pages had once lead to pages that there are, and no page has one of them now.
#[test]
fn old_addresses_lead_to_pages() {
    let docs = root().join("docs");
    let listed = std::fs::read_to_string(docs.join("redirects.toml")).unwrap();
    let lines: Vec<&str> = listed.lines().filter(|line| line.starts_with('"')).collect();
    assert!(lines.len() > 20, "{} redirects", lines.len());
    for line in lines {
        let (old, new) = line.split_once(" = ").expect("old = new");
        let page = |quoted: &str| docs.join(format!("{}.md", quoted.trim_matches('"')));
        assert!(!page(old).exists(), "{line}: the old page is there");
        assert!(page(new).is_file(), "{line}: no such page");
    }
}
