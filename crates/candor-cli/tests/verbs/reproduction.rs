//! docs/project/reproduction.md is what `candor reproduce --markdown` writes.

use candor_experiments::PAPERS;
use candor_experiments::exhibit::Pace;

use crate::sandbox::Sandbox;

const HOW: &str = "write it anew: cargo run --release -- reproduce --markdown docs/project/reproduction.md";

fn page() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/project/reproduction.md");
    std::fs::read_to_string(path).unwrap()
}

/// The sections of a page, each with its heading, without what follows a paper's heading.
fn sections(page: &str) -> Vec<String> {
    let body = |section: &str| section.split("\n## ").next().unwrap().trim_end().to_owned();
    page.split("\n### ").skip(1).map(body).collect()
}

/// What is compared of a section: seconds differ from run to run, so only the text before them.
fn compared(section: &str, pace: Pace) -> &str {
    match pace {
        Pace::Timing => section.split("\n<details>").next().unwrap(),
        Pace::Quick | Pace::Slow => section,
    }
}

/// Makes the exhibits of these paces anew and compares each with the page; returns how many there are.
fn compare(paces: &[Pace]) -> usize {
    let (sandbox, page) = (Sandbox::new(), sections(&page()));
    let mut count = 0;
    for paper in PAPERS {
        for exhibit in paper.exhibits.iter().filter(|exhibit| paces.contains(&exhibit.pace)) {
            sandbox.run(&format!("reproduce {} {} --markdown page.md", paper.name, exhibit.name)).fine();
            let fresh = sections(&sandbox.read("page.md"));
            assert_eq!(fresh.len(), 1);
            let heading = format!("{} {}: ", paper.name, exhibit.name);
            let kept = page.iter().find(|section| section.starts_with(&heading));
            let kept = kept.unwrap_or_else(|| panic!("{heading}is missing; {HOW}"));
            let (fresh, kept) = (compared(&fresh[0], exhibit.pace), compared(kept, exhibit.pace));
            assert!(fresh == kept, "this section changed; {HOW}\n--- the page\n{kept}\n--- now\n{fresh}");
            count += 1;
        }
    }
    count
}

#[test]
fn page_has_exactly_the_exhibits() {
    let expected: Vec<String> = PAPERS
        .iter()
        .flat_map(|paper| paper.exhibits.iter().map(|exhibit| format!("{} {}", paper.name, exhibit.name)))
        .collect();
    let page = page();
    let found: Vec<String> = sections(&page).iter().map(|s| s.split(':').next().unwrap().to_owned()).collect();
    assert_eq!(found, expected, "{HOW}");
    let sandbox = Sandbox::new();
    sandbox.run("reproduce l-diversity table-1 --markdown page.md").fine();
    let beginning = sandbox.read("page.md").split("\n## ").next().unwrap().to_owned();
    assert!(page.starts_with(&beginning), "the beginning changed; {HOW}");
    sandbox.run("reproduce l-diversity --markdown no/folder/page.md").refused(1, &["cannot write no/folder/page.md"]);
}

#[test]
fn quick_sections_are_up_to_date() {
    assert_eq!(compare(&[Pace::Quick]), 13);
}

#[test]
#[ignore = "minutes; part of the release recipe (CONTRIBUTING.md)"]
fn slow_sections_are_up_to_date() {
    assert_eq!(compare(&[Pace::Slow, Pace::Timing]), 14);
}

/// The comparison sees a changed digit, and no seconds.
#[test]
fn comparison_can_fail() {
    let page = "# Page\n\n## Paper\n\n### a b: c\n\ntext 1\n\n<details>\n2\n</details>\n\n## Next\n\n### d e: f\n";
    let found = sections(page);
    assert_eq!(found, ["a b: c\n\ntext 1\n\n<details>\n2\n</details>", "d e: f"]);
    let changed = found[0].replace('2', "3");
    assert_ne!(compared(&found[0], Pace::Quick), compared(&changed, Pace::Quick));
    assert_eq!(compared(&found[0], Pace::Timing), compared(&changed, Pace::Timing));
}
