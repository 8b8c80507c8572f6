//! Links of the documents to files of the repository.

use std::fs;
use std::path::Path;

/// The targets of the links of a Markdown text, without those to other sites and within examples.
fn targets(text: &str) -> Vec<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let ends = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let names = ends.map(|(target, _)| target.split('#').next().unwrap_or_default().to_owned());
    names.filter(|target| !target.is_empty() && !target.contains("://") && !target.contains([' ', '`'])).collect()
}

/// Links of a document that lead to no file.
pub fn broken_in(document: &Path) -> Vec<String> {
    let targets = targets(&fs::read_to_string(document).unwrap()).into_iter();
    let broken = targets.filter(|target| !document.with_file_name(target).exists());
    broken.map(|target| format!("{}: {target}", document.display())).collect()
}

/// The same of all documents under a folder.
pub fn broken(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let generated = entry.ends_with("target") || entry.ends_with("node_modules");
        match entry.is_dir() {
            true if generated => {}
            true => broken(&entry, found),
            false if entry.extension().is_some_and(|extension| extension == "md") => found.extend(broken_in(&entry)),
            false => {}
        }
    }
}
