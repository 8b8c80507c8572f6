//! docs/reproduction.md is what `candor reproduce --markdown` writes.

use crate::sandbox::Sandbox;

const HOW: &str = "write it anew: cargo run --release -- reproduce --markdown docs/reproduction.md";

fn page() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduction.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_exhibit_has_a_section() {
    let listing = Sandbox::new().run("reproduce").fine().out;
    let page = page();
    let mut paper = "";
    for line in listing.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("  ") {
            None => paper = line.split(':').next().unwrap(),
            Some(exhibit) => {
                let name = exhibit.split(' ').next().unwrap();
                assert!(page.contains(&format!("\n### {paper} {name}: ")), "{paper} {name} is missing; {HOW}");
            }
        }
    }
}

/// The exhibits that take no time are compared word by word.
#[test]
fn quick_sections_are_up_to_date() {
    let sandbox = Sandbox::new();
    sandbox.run("reproduce l-diversity --markdown page.md").fine();
    let page = page();
    let fresh = sandbox.read("page.md");
    let mut sections = fresh.split("\n### ");
    assert!(page.starts_with(sections.next().unwrap().split("\n## ").next().unwrap()), "the beginning changed; {HOW}");
    let sections: Vec<&str> = sections.collect();
    assert_eq!(sections.len(), 5);
    for section in sections {
        assert!(page.contains(section.trim_end()), "this section changed; {HOW}\n{section}");
    }
    sandbox.run("reproduce l-diversity --markdown no/folder/page.md").refused(1, &["cannot write no/folder/page.md"]);
}
