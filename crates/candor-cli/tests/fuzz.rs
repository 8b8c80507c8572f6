//! The fuzz targets on their seeds and on mutations of them: short, and the same inputs every time. `fuzz/README.md`
//! tells how to run them for long.

#[path = "../../../fuzz/targets/mod.rs"]
mod targets;

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};

/// The seeds of a target, those that once broke it among them.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// What is done to a seed at one place.
#[derive(Clone, Debug)]
enum Change {
    Set(u8),
    Insert(Vec<u8>),
    Remove(usize),
    Repeat(usize),
    Cut,
}

fn change() -> impl Strategy<Value = Change> {
    let telling = select(vec!["\"", ",", "\n", "0", "-1", "1e999", "NaN", "18446744073709551616", "\0", "é", "=", ";"]);
    prop_oneof![
        4 => any::<u8>().prop_map(Change::Set),
        4 => telling.prop_map(|text| Change::Insert(text.as_bytes().to_vec())),
        2 => (1usize..20).prop_map(Change::Remove),
        2 => (1usize..40).prop_map(Change::Repeat),
        1 => Just(Change::Cut),
    ]
}

fn changed(mut data: Vec<u8>, changes: Vec<(Index, Change)>) -> Vec<u8> {
    for (place, change) in changes {
        let at = place.index(data.len() + 1);
        let end = |length: usize| (at + length).min(data.len());
        match change {
            Change::Set(byte) => data.iter_mut().skip(at).take(1).for_each(|old| *old = byte),
            Change::Insert(bytes) => drop(data.splice(at..at, bytes)),
            Change::Remove(length) => drop(data.drain(at..end(length))),
            Change::Repeat(length) => {
                let copy = data[at..end(length)].to_vec();
                drop(data.splice(at..at, copy));
            }
            Change::Cut => data.truncate(at),
        }
    }
    data
}

fn run(name: &str, cases: u32) {
    let (_, target) = targets::TARGETS.into_iter().find(|(known, _)| *known == name).unwrap();
    let seeds = seeds(name);
    assert!(!seeds.is_empty());
    seeds.iter().for_each(|seed| target(seed));
    let inputs =
        (select(seeds), vec((any::<Index>(), change()), 1..6)).prop_map(|(seed, changes)| changed(seed, changes));
    let times = std::env::var("CANDOR_FUZZ_TIMES").map_or(1, |times| times.parse().unwrap());
    let config = Config { cases: cases * times, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    runner
        .run(&inputs, |input| {
            target(&input);
            Ok(())
        })
        .unwrap();
}

#[test]
fn schemas() {
    run("schema", 3000);
}

#[test]
fn plans() {
    run("plan", 1000);
}

#[test]
fn tables() {
    run("table", 300);
}

#[test]
fn estimates() {
    run("estimate", 300);
}

#[test]
fn words() {
    run("words", 5000);
}

#[test]
fn responses() {
    run("response", 4000);
}
