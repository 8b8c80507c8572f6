//! Modules go one way: each uses only those that stand before it where its parent declares them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::source::code;

/// A module by its path from the root of its crate, which is the empty one.
type Module = Vec<String>;

/// The modules of a crate with their code.
pub struct Modules(BTreeMap<Module, String>);

impl Modules {
    /// Of sources by their paths below `src/`.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a Path, &'a str)>) -> Modules {
        Modules(files.into_iter().map(|(path, source)| (module(path), code(source))).collect())
    }

    /// Every use against the order, as a sentence.
    pub fn violations(&self) -> Vec<String> {
        let mut found: Vec<String> = self.0.keys().flat_map(|user| self.violations_of(user)).collect();
        found.dedup();
        found
    }

    fn violations_of(&self, user: &Module) -> Vec<String> {
        let paths = uses(&self.0[user]);
        let against = |path: &Vec<String>| -> Option<String> {
            let used = self.resolve(user, path)?;
            let shared = user.iter().zip(&used).take_while(|(a, b)| a == b).count();
            let (own, other) = (user.get(shared)?, used.get(shared)?);
            let parent = &user[..shared].to_vec();
            let order = children(&self.0[parent]);
            let place = |name: &String| order.iter().position(|child| child == name);
            (place(other) >= place(own)).then(|| {
                let listing =
                    if parent.is_empty() { "the crate's root".to_owned() } else { format!("`{}`", parent.join("::")) };
                format!("`{}` uses `{}`, but {listing} lists `{other}` after `{own}`", user.join("::"), path.join("::"))
            })
        };
        paths.iter().filter_map(against).collect()
    }

    /// The module that a path leads to, through re-exports.
    fn resolve(&self, user: &Module, path: &[String]) -> Option<Module> {
        let supers = path.iter().take_while(|segment| *segment == "super").count();
        let (mut at, names) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            _ => (user[..user.len().checked_sub(supers)?].to_vec(), &path[supers..]),
        };
        for name in names {
            let child = [at.clone(), vec![name.clone()]].concat();
            if self.0.contains_key(&child) {
                at = child;
                continue;
            }
            let from = reexports(self.0.get(&at)?).into_iter().find(|path| path.last() == Some(name));
            return Some(match from {
                Some(path) => [at, vec![path[0].clone()]].concat(),
                None => at,
            });
        }
        Some(at)
    }
}

/// `plan/format.rs` is the module `plan::format`; `plan/mod.rs` and `plan.rs` are `plan`.
fn module(path: &Path) -> Module {
    let mut module: Module = path.with_extension("").iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let last = module.last().map_or("", String::as_str);
    if last == "mod" || (module.len() == 1 && ["lib", "main"].contains(&last)) {
        module.pop();
    }
    module
}

/// The modules that a file declares, in order.
fn children(code: &str) -> Vec<String> {
    let declared = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "mod")?;
        words.get(at + 1)?.strip_suffix(';').map(str::to_owned)
    };
    code.lines().filter_map(declared).collect()
}

/// What a file hands on from its own modules: paths that begin with one.
fn reexports(code: &str) -> Vec<Vec<String>> {
    let own = children(code);
    let starts = code.match_indices("use ").map(|(at, word)| at + word.len());
    let exported = |at: &usize| {
        let line_start = code[..*at].rfind('\n').map_or(0, |n| n + 1);
        code[line_start..*at].trim_start().starts_with("pub")
    };
    let paths = starts.filter(exported).flat_map(|at| tree(&mut words(&code[at..]).peekable()));
    paths.filter(|path| own.contains(&path[0])).collect()
}

/// All paths in the code that begin with `crate` or `super`, those in braces one by one.
fn uses(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for word in ["crate", "super"] {
        for (at, _) in code.match_indices(&format!("{word}::")) {
            // Not the rest of a longer name, and not the middle of a path that was read from its beginning.
            if !code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:$".contains(c)) {
                found.extend(tree(&mut words(&code[at..]).peekable()));
            }
        }
    }
    found
}

/// Names, `::`, and single signs.
fn words(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let name = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if name > 0 {
            name
        } else if rest.starts_with("::") {
            2
        } else {
            rest.chars().next()?.len_utf8()
        };
        let (word, after) = rest.split_at(length);
        rest = after;
        Some(word)
    })
}

/// The paths of a use tree: `a::{b, c::d}` are `a::b` and `a::c::d`.
fn tree<'a>(words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Vec<Vec<String>> {
    let mut path: Vec<String> = Vec::new();
    while let Some(word) = words.next_if(|word| word.starts_with(|c: char| c.is_alphanumeric() || "_*".contains(c))) {
        path.push(word.to_owned());
        if words.next_if_eq(&"::").is_none() {
            break;
        }
    }
    if words.next_if_eq(&"{").is_none() {
        return vec![path];
    }
    let mut paths = Vec::new();
    while words.peek().is_some_and(|word| *word != "}") {
        paths.extend(tree(words).into_iter().map(|rest| [path.clone(), rest].concat()));
        // What a name is called here, and the comma.
        while words.next_if(|word| *word != "}" && *word != ",").is_some() {}
        words.next_if_eq(&",");
    }
    words.next();
    paths
}

#[test]
fn uses_against_the_order_are_found() {
    let files = [
        ("lib.rs", "pub mod low;\npub mod middle;\npub mod high;"),
        ("low.rs", "/// [`crate::high`]\nuse std::fmt;\n#[cfg(test)]\nmod tests { use crate::high; }"),
        (
            "middle/mod.rs",
            "mod first;\nmod second;\npub use second::{Handed as Given, On};\nuse crate::{low::Thing, high::{Other, \
             self}};",
        ),
        ("middle/first.rs", "use super::Own;\nuse super::On;\nfn f() { crate::low::g(); super::second::h() }"),
        ("middle/second.rs", "use super::first;\nuse super::super::low;"),
        ("high.rs", "use crate::{low, middle::On};\nuse other::high;"),
    ];
    let modules = Modules::new(files.map(|(path, source)| (Path::new(path), source)));
    assert_eq!(
        modules.violations(),
        [
            "`middle` uses `crate::high::Other`, but the crate's root lists `high` after `middle`",
            "`middle` uses `crate::high::self`, but the crate's root lists `high` after `middle`",
            "`middle::first` uses `super::On`, but `middle` lists `second` after `first`",
            "`middle::first` uses `super::second::h`, but `middle` lists `second` after `first`",
        ]
    );
}
