//! Bodies of requests, from good ones to nonsense: never a panic, what is refused says why, and what is accepted reads
//! back the same. Short, and the same inputs every time; `CANDOR_FUZZ_TIMES=100` takes a hundred times as many.

use std::path::Path;

use candor_base::plan::Plan;
use candor_base::randomize::Client;
use candor_base::randomness::Source;
use candor_collect::http_problem::Problem;
use candor_collect::ids::IdKey;
use candor_collect::requests::{submission, token_request};
use candor_collect::simulate::{body_of, responses};
use candor_collect::survey::Survey;
use candor_collect::tokens::TokenKey;
use candor_tables::responses::ResponseReader;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Plans of every kind: public attributes, lotteries, sets, strips, a crossing.
const PLANS: [&str; 5] = ["public", "lotteries", "sets", "strips-in-blocks", "crossed-matrix"];

struct Target {
    survey: Survey,
    reader: ResponseReader,
    key: Option<TokenKey>,
}

impl Target {
    fn new(name: &str, tokens: bool) -> Target {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../candor-base/tests/plans/good");
        let plan = Plan::from_json(&std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap()).unwrap();
        let place = tempfile::tempdir().unwrap();
        let (survey, _) = Survey::create(&place.path().join("survey"), &folder.join(format!("{name}.json"))).unwrap();
        let key = if tokens { TokenKey::new("a secret of a test", "") } else { None };
        Target { reader: ResponseReader::new(&plan), survey, key }
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        let plan = &self.survey.plan;
        let lines = responses(plan, &Client::new(plan), &mut Source::from_seed(3).stream(0), 4);
        let id = "0123456789abcdef".repeat(if self.key.is_some() { 4 } else { 2 });
        let bodies = lines.iter().flat_map(|line| [body_of(&id, None, line), body_of(&id, Some("a code"), line)]);
        let asked = format!("{{\"invitation\":\"a code\",\"blinded\":\"{}\"}}", "e2".repeat(32));
        bodies.chain([asked]).map(String::into_bytes).collect()
    }

    fn check(&self, body: &[u8]) {
        let Target { survey, reader, key } = self;
        match submission(survey, reader, key.as_ref(), &IdKey::new(""), body) {
            Ok(accepted) => {
                let line = accepted.response.unwrap().line;
                let id = "0".repeat(32);
                let again =
                    submission(survey, reader, None, &IdKey::new(""), body_of(&id, None, &line).as_bytes()).unwrap();
                assert_eq!(again.response.unwrap().line, line, "what is stored reads back the same");
                assert_eq!(accepted.id.len(), 64, "ids are kept as hashes");
            }
            Err(problem) => refused(&problem),
        }
        match token_request(body) {
            Ok((asked, blinded)) => {
                assert!(asked.response.is_none() && asked.invitation.is_some());
                let _ = key.as_ref().and_then(|key| key.evaluate(&blinded));
            }
            Err(problem) => refused(&problem),
        }
    }
}

fn refused(problem: &Problem) {
    assert!(problem.status.is_client_error() && !problem.kind.is_empty());
    assert!((1..4_000).contains(&problem.detail.len()), "{}", problem.detail);
}

fn changed(mut body: Vec<u8>, changes: Vec<(Index, Vec<u8>, usize)>) -> Vec<u8> {
    for (place, put, removed) in changes {
        let at = place.index(body.len() + 1);
        let end = (at + removed).min(body.len());
        drop(body.splice(at..end, put));
    }
    body
}

#[test]
fn bodies_of_requests() {
    let telling =
        ["\"", ",", "{", "}", "[", "]", "null", "-1", "1e999", "18446744073709551616", "\0", "\\u0000", "é", ":"];
    let telling = select(telling.map(|text| text.as_bytes().to_vec()).to_vec());
    let put = prop_oneof![telling, vec(any::<u8>(), 0..4)];
    let times = std::env::var("CANDOR_FUZZ_TIMES").map_or(1, |times| times.parse().unwrap());
    for (name, tokens) in PLANS.into_iter().zip([false, true, false, true, false]) {
        let target = Target::new(name, tokens);
        target.seeds().iter().for_each(|seed| target.check(seed));
        let changes = vec((any::<Index>(), put.clone(), 0usize..6), 1..5);
        let inputs = (select(target.seeds()), changes).prop_map(|(seed, changes)| changed(seed, changes));
        let config = Config { cases: 400 * times, failure_persistence: None, ..Config::default() };
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let run = TestRunner::new_with_rng(config, rng).run(&inputs, |input| {
            target.check(&input);
            Ok(())
        });
        run.unwrap();
    }
}

/// In a survey with tokens whoever sends cannot choose the channel: of all that a plan has, one is accepted.
#[test]
fn the_channel_follows_from_the_token() {
    let Target { survey, reader, key } = Target::new("lotteries", true);
    let (plan, key) = (&survey.plan, key.unwrap());
    let lines = responses(plan, &Client::new(plan), &mut Source::from_seed(8).stream(0), 200);
    let mut kinds = std::collections::BTreeMap::<String, usize>::new();
    for number in 0..20 {
        let token = format!("{number:064x}");
        let value = key.value(&token).unwrap();
        for line in &lines {
            let body = format!("{{\"id\":\"{token}\",\"token\":\"{value}\",\"response\":{line}}}");
            let found = submission(&survey, &reader, Some(&key), &IdKey::new(""), body.as_bytes());
            *kinds
                .entry(found.map_or_else(|problem| problem.kind.to_owned(), |_| "accepted".to_owned()))
                .or_default() += 1;
        }
    }
    // Two blocks with two channels each: each response is accepted with one token of four, on average.
    assert_eq!(kinds.keys().collect::<Vec<_>>(), ["accepted", "tag"]);
    assert!((400..1_800).contains(&kinds["accepted"]), "{kinds:?}");
}

/// Free bits of a request, as a changed page could use them: order of fields, escapes, spaces, order and case of
/// hexadecimal digits. Nothing of them reaches the database: all that is accepted is stored as the same line, under the
/// same hash.
#[test]
fn a_request_has_no_free_bits_that_are_stored() {
    let target = Target::new("sets", false);
    let plan = &target.survey.plan;
    let ids = IdKey::new("");
    let id = ids.draw();
    let line = responses(plan, &Client::new(plan), &mut Source::from_seed(5).stream(0), 1).remove(0);
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line).unwrap();
    let text = |order: &[usize], escape: bool, space: &str, turned: bool| {
        let field = |&at: &usize| {
            let (name, value) = fields.iter().nth(at).unwrap();
            let mut value = value.clone();
            if let Some(list) = value.as_array_mut().filter(|_| turned) {
                list.reverse();
            }
            let mut value = value.to_string();
            if escape {
                value = value.replace('a', "\\u0061").replace('e', "\\u0065");
            }
            format!("{space}\"{name}\":{space}{value}")
        };
        format!("{{{}}}", order.iter().map(field).collect::<Vec<_>>().join(","))
    };
    let forward: Vec<usize> = (0..fields.len()).collect();
    let backward: Vec<usize> = forward.iter().rev().copied().collect();
    let (mut stored, mut refused) = (std::collections::BTreeSet::new(), 0);
    for order in [&forward, &backward] {
        for (escape, space, turned) in
            [(false, "", false), (true, "", false), (false, "  ", false), (false, "\t", true), (true, " ", true)]
        {
            let body = body_of(&id, None, &text(order, escape, space, turned));
            match submission(&target.survey, &target.reader, None, &ids, body.as_bytes()) {
                Ok(accepted) => drop(stored.insert((accepted.id, accepted.response.unwrap().line))),
                Err(_) => refused += 1,
            }
        }
    }
    assert_eq!(stored.len(), 1, "one line, however it was written ({refused} of 10 were refused): {stored:?}");
    let upper = body_of(&id.to_uppercase(), None, &line);
    let twice = format!("{{\"id\":\"{id}\",\"id\":\"{id}\",\"response\":{line}}}");
    let more = format!("{{\"id\":\"{id}\",\"note\":\"x\",\"response\":{line}}}");
    for body in [upper, twice, more] {
        let said = submission(&target.survey, &target.reader, None, &ids, body.as_bytes());
        assert!(said.is_err() || id.to_uppercase() == id, "{body}");
    }
}
