//! Plan files: valid ones are read back to the letter, invalid ones are rejected for the right reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use candor_base::channel::{Axis, Channel, Epsilon, Matrix, Pattern};
use candor_base::plan::{Block, Content, MAX_COST, Plan, PlanError};
use candor_base::schema::{Attribute, Schema, SchemaError};

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(name)
}

fn good(name: &str) -> String {
    fs::read_to_string(folder("good").join(name)).unwrap()
}

#[test]
fn good_files_are_read_and_written_to_the_letter() {
    let mut read = 0;
    for entry in fs::read_dir(folder("good")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert_eq!(Plan::from_json(&text).unwrap().to_json(), text);
        read += 1;
    }
    assert!(read >= 9);
}

/// The verdict on each committed file: all of `good` are accepted, all of `bad` are rejected with this part of the
/// message.
///
/// Each bad file differs from a good one in one way only. Files whose names begin with "forged" have a matching
/// fingerprint. The tests of the JavaScript client and of the Python package read the same file.
#[derive(serde::Deserialize)]
struct Verdicts {
    good: BTreeSet<String>,
    bad: BTreeMap<String, String>,
}

fn verdicts() -> Verdicts {
    serde_json::from_str(&fs::read_to_string(folder("verdicts.json")).unwrap()).unwrap()
}

fn files(of: &str) -> BTreeSet<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    fs::read_dir(folder(of)).unwrap().map(name).collect()
}

#[test]
fn every_committed_file_has_a_verdict() {
    assert_eq!(files("good"), verdicts().good);
    assert_eq!(files("bad"), verdicts().bad.into_keys().collect());
}

#[test]
fn bad_files_are_refused_each_with_its_own_message() {
    for (name, expected) in verdicts().bad {
        let text = fs::read_to_string(folder("bad").join(&name)).unwrap();
        let message = Plan::from_json(&text).expect_err(&name).to_string();
        assert!(message.contains(&expected), "{name}: {message}");
    }
}

#[test]
fn an_edited_plan_is_refused_and_its_true_guarantee_shown() {
    // More weight on the true answer; the file still claims epsilon 1.
    let edited = good("k-ary.json").replace("13728766182127151932", "1372876618212715193");
    let error = Plan::from_json(&edited).unwrap_err();
    let PlanError::Fingerprint { actual: Some(actual), stated } = &error else { panic!("{error}") };
    assert_eq!(stated, "1");
    assert!(actual.as_f64() > 2.8, "{actual}");
    assert!(error.to_string().contains(&format!("guarantees epsilon {actual}")));
    // Renaming a category changes the subject of the plan.
    let renamed = good("k-ary.json").replacen("\"4\"", "\"four\"", 1);
    assert!(matches!(Plan::from_json(&renamed), Err(PlanError::Fingerprint { .. })));
    // White space, the order of fields and the form of integers do not matter.
    let value: serde_json::Value = serde_json::from_str(&good("k-ary.json")).unwrap();
    assert!(Plan::from_json(&value.to_string()).is_ok());
    assert!(Plan::from_json(&good("k-ary.json").replacen("\"weight\": 1,", "\"weight\": \"1\",", 1)).is_ok());
}

#[test]
fn the_fingerprint_is_pinned() {
    // Other implementations must arrive at the same fingerprint.
    let plan = Plan::from_json(&good("matrix.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&good("matrix.json")).unwrap();
    assert_eq!(value["fingerprint"], plan.fingerprint().as_str());
    assert_eq!(plan.fingerprint().as_str(), "sha256:aacef85d6c6ef8e20fcc4f8c83ddc1ed2ed42459554f5fdfc387f718b2b6c3bc");
    let with_prior = Plan::from_json(&good("prior.json")).unwrap();
    assert_eq!(
        with_prior.fingerprint().as_str(),
        "sha256:4c6fdc776da3ce6f3808293524106d5f41432a0373ec6c06e97f1b8619ea9d9c"
    );
}

#[test]
fn version_2_covers_the_prior_and_version_1_is_read_as_it_was() {
    let plan = Plan::from_json(&good("prior.json")).unwrap();
    assert!(plan.version() == 2 && plan.fingerprints_prior());
    let (attribute, prior) = (plan.for_prior().unwrap().attribute, plan.for_prior().unwrap().prior.clone());
    // The prior changes the fingerprint, and any other prior changes it again.
    let bare = Plan::new(plan.schema().clone(), plan.blocks().to_vec()).unwrap();
    assert!(bare.version() == 1 && !bare.fingerprints_prior() && bare != plan);
    assert_eq!(bare.clone().with_prior(attribute, prior.clone()).unwrap(), plan);
    let other: Vec<f64> = prior.iter().rev().copied().collect();
    assert_ne!(bare.clone().with_prior(attribute, other).unwrap(), plan);
    // The same plan in the form of version 1.
    let old = Plan::from_json(&good("prior-version-1.json")).unwrap();
    assert!(old.version() == 1 && !old.fingerprints_prior());
    assert_eq!(old.for_prior(), plan.for_prior());
    assert_eq!(old.fingerprint(), bare.fingerprint());
    assert_eq!(old.with_prior(attribute, prior).unwrap(), plan);
}

/// Any change of a prior, alone or with everything that follows from it, is rejected.
#[test]
fn a_prior_cannot_be_exchanged() {
    let text = good("prior.json");
    let plan = Plan::from_json(&text).unwrap();
    let bare = Plan::new(plan.schema().clone(), plan.blocks().to_vec()).unwrap();
    for prior in [vec![0.5, 0.5], vec![0.8, 0.2], vec![0.75, 0.26]] {
        let forged = bare.clone().with_prior(0, prior).unwrap().to_json();
        let forged = forged.replace(&json(&forged)["fingerprint"].to_string(), &json(&text)["fingerprint"].to_string());
        assert!(matches!(Plan::from_json(&forged), Err(PlanError::Fingerprint { .. })), "{forged}");
    }
    let known = json(&text)["guarantee"]["for_prior"].clone();
    for field in ["map_privacy", "worst_posterior"] {
        let forged = text.replace(&format!("\"{field}\": {}", known[field]), &format!("\"{field}\": \"0.99\""));
        assert!(forged != text && matches!(Plan::from_json(&forged), Err(PlanError::Guarantee { .. })), "{field}");
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn labels(labels: &[&str]) -> Vec<String> {
    labels.iter().map(|&label| label.to_owned()).collect()
}

fn k_ary(sizes: &[usize], epsilon: f64) -> Pattern {
    Pattern::k_ary(sizes.iter().copied().map(Axis::single).collect(), epsilon).unwrap()
}

#[test]
fn losses_add_over_blocks_and_the_worst_channel_of_a_lottery_counts() {
    let schema = Schema::with_sizes(&[2, 3, 4]).unwrap();
    let lottery: Vec<(u64, Channel)> = vec![(1, k_ary(&[2, 3], 0.5).into()), (9, k_ary(&[2, 3], 1.5).into())];
    let blocks = vec![Block::lottery(vec![0, 1], lottery), Block::new(vec![2], k_ary(&[4], 2.0))];
    let plan = Plan::new(schema, blocks).unwrap();
    let guarantee = plan.guarantee();
    assert!((guarantee.epsilon().as_f64() - 3.5).abs() < 1e-9);
    let conditional: Vec<f64> = guarantee.attributes().iter().map(|a| a.conditional.as_f64()).collect();
    for (found, expected) in conditional.iter().zip([1.5, 1.5, 2.0]) {
        assert!((found - expected).abs() < 1e-9, "{conditional:?}");
    }
    assert!(guarantee.attributes()[0].marginal.unwrap() < guarantee.attributes()[0].conditional);
}

#[test]
fn columns_of_responses() {
    let schema = Schema::new(vec![
        Attribute::new("a", labels(&["0", "1"])).unwrap(),
        Attribute::new("p", labels(&["x", "y"])).unwrap().public(),
        Attribute::new("b", labels(&["0", "1", "2"])).unwrap(),
        Attribute::new("c", labels(&["0", "1", "2", "3"])).unwrap(),
        Attribute::new("d", labels(&["0", "1"])).unwrap(),
    ])
    .unwrap();
    let crossed: Vec<Vec<u64>> = vec![vec![3, 5]; 4];
    let crossed = Matrix::new(vec![2, 2], labels(&["u", "v"]), 3, crossed).unwrap();
    let sets = Pattern::k_ary(vec![Axis::set(4, 2)], 1.0).unwrap();
    let lottery = || vec![(1, k_ary(&[3], 1.0).into()), (1, k_ary(&[3], 1.0).into())];
    let blocks =
        vec![Block::new(vec![0, 4], crossed), Block::lottery(vec![2], lottery()), Block::new(vec![3], sets.clone())];
    let plan = Plan::new(schema.clone(), blocks).unwrap();
    let names: Vec<String> = plan.columns().iter().map(|column| column.name.clone()).collect();
    assert_eq!(names, ["a*d", "p", "b", "c", "candor_tag"]);
    let columns = plan.columns();
    assert_eq!(columns[1].content, Content::Public { attribute: 1 });
    assert!(matches!(&columns[3].content, Content::Answer { set: true, block: 2, place: 0, .. }));
    assert_eq!(columns[4].content, Content::Tag { block: 1 });
    assert!(plan.guarantee().epsilon().as_f64() > 0.0);
    assert_eq!(plan.guarantee().attributes()[0].marginal, None);
    assert_eq!(plan.guarantee().attributes()[0].conditional, Epsilon::ZERO);
}

#[test]
fn plans_that_could_not_be_carried_out_are_refused() {
    let schema = || Schema::with_sizes(&[2, 3]).unwrap();
    let refused = |schema: Schema, blocks: Vec<Block>| Plan::new(schema, blocks).unwrap_err();
    let two = || vec![Block::new(vec![0], k_ary(&[2], 1.0)), Block::new(vec![1], k_ary(&[3], 1.0))];
    assert!(Plan::new(schema(), two()).is_ok());
    assert!(matches!(
        refused(schema(), vec![Block::new(vec![7], k_ary(&[2], 1.0))]),
        PlanError::AttributePosition { attribute: 7, .. }
    ));
    assert!(matches!(
        refused(schema(), vec![Block::new(vec![0, 1], k_ary(&[2], 1.0))]),
        PlanError::AttributeCount { .. }
    ));
    let mixed = vec![
        (1, Channel::from(k_ary(&[2], 1.0))),
        (1, Matrix::new(vec![2], labels(&["0", "1"]), 1, vec![vec![1, 1]; 2]).unwrap().into()),
    ];
    assert!(matches!(
        refused(Schema::with_sizes(&[2]).unwrap(), vec![Block::lottery(vec![0], mixed)]),
        PlanError::MixedLottery { .. }
    ));
    let zero = vec![(0, Channel::from(k_ary(&[2], 1.0)))];
    assert!(matches!(
        refused(Schema::with_sizes(&[2]).unwrap(), vec![Block::lottery(vec![0], zero)]),
        PlanError::LotteryWeights { .. }
    ));
    let semicolon = Schema::new(vec![Attribute::new("a", labels(&["x;y", "z", "w"])).unwrap()]).unwrap();
    let sets = Pattern::k_ary(vec![Axis::set(3, 2)], 1.0).unwrap();
    assert!(matches!(refused(semicolon, vec![Block::new(vec![0], sets.clone())]), PlanError::SetLabel { .. }));
    // Sets of two or more stay distinguishable with the missing category in them.
    let missing = Schema::new(vec![Attribute::new("a", labels(&["x", "z", ""])).unwrap()]).unwrap();
    assert!(Plan::new(missing, vec![Block::new(vec![0], sets)]).is_ok());
    let crossed = Matrix::new(vec![2, 2], labels(&["u", "v"]), 1, vec![vec![1, 1]; 4]).unwrap();
    let mut clash = ["a", "b", "a*b"].map(|name| Attribute::new(name, labels(&["0", "1"])).unwrap()).to_vec();
    let blocks = vec![Block::new(vec![0, 1], crossed), Block::new(vec![2], k_ary(&[2], 1.0))];
    assert!(matches!(refused(Schema::new(clash.clone()).unwrap(), blocks), PlanError::ColumnTwice(_)));
    clash[2] = clash[2].clone().public();
    assert!(matches!(Schema::new(clash), Err(SchemaError::PublicTruth { .. })));
}

/// Returns a plan of one block over binary attributes, with an invalid fingerprint.
fn forged(attributes: usize, lottery: &str) -> String {
    let name = |i: usize| format!(r#"{{"name": "a{i}", "kind": "nominal", "categories": ["no", "yes"]}}"#);
    let list = |of: &dyn Fn(usize) -> String| (0..attributes).map(of).collect::<Vec<String>>().join(", ");
    format!(
        r#"{{"format": "candor plan", "version": 1, "fingerprint": "sha256:0",
            "guarantee": {{"epsilon": null, "attributes": []}}, "schema": {{"attributes": [{}]}},
            "blocks": [{{"attributes": [{}], "lottery": [{lottery}]}}]}}"#,
        list(&name),
        list(&|i| format!("\"a{i}\"")),
    )
}

/// Returns a channel of this many thresholds over this many binary attributes.
fn thresholds(attributes: usize, parts: usize) -> String {
    let list = |of: &dyn Fn(usize) -> String, n: usize| (0..n).map(of).collect::<Vec<String>>().join(", ");
    let weights = |part: usize| list(&|i| (1 + (part * 31 + i * 17) % 101).to_string(), attributes);
    let part = |part: usize| {
        let limit = 100 + part % 50;
        format!(r#"{{"set": {{"threshold": {{"weights": [{}], "limit": {limit}}}}}, "weight": 1}}"#, weights(part))
    };
    format!(
        r#"{{"weight": 1, "channel": {{"pattern": {{"categories": [{}], "answer_sizes": [{}], "parts": [{}]}}}}}}"#,
        list(&|_| "2".into(), attributes),
        list(&|_| "1".into(), attributes),
        list(&part, parts),
    )
}

#[test]
fn a_plan_that_declares_too_much_is_refused_before_anything_is_computed() {
    let lottery = vec![thresholds(20, 4000); 5].join(", ");
    let bomb = forged(20, &lottery);
    let Err(PlanError::TooCostly { cost, limit: MAX_COST }) = Plan::from_json(&bomb) else { panic!("not refused") };
    assert!(cost > MAX_COST);
    let error = Plan::from_json_within(&bomb, 1000).unwrap_err();
    assert!(error.to_string().contains(&format!("{cost} steps")) && error.to_string().contains("1000"), "{error}");
}

#[test]
fn the_fingerprint_comes_before_the_certificate() {
    // The error omits the plan's current epsilon, which it would state for a plan of lower cost.
    let edited = forged(20, &thresholds(20, 300));
    assert!(matches!(Plan::from_json(&edited), Err(PlanError::Fingerprint { actual: None, .. })));
    assert!(Plan::from_json(&edited).unwrap_err().to_string().contains("was not computed"));
}

/// Labels that do not match each other make no plan private: answers to both attributes count.
#[test]
fn attributes_beside_a_crossing_with_other_labels_state_what_both_answers_tell() {
    let attribute = |name: &str, of: &[&str]| Attribute::new(name, labels(of)).unwrap();
    let schema = Schema::new(vec![attribute("a", &["no", "yes"]), attribute("a*b", &["N*0", "N*1", "Y*0", "Y*1"])]);
    let blocks = vec![Block::new(vec![0], k_ary(&[2], 1.0)), Block::new(vec![1], k_ary(&[4], 2.0))];
    let plan = Plan::new(schema.unwrap(), blocks).unwrap();
    let stated = plan.guarantee().attributes().iter().map(|attribute| attribute.conditional.as_f64());
    assert!(stated.into_iter().all(|epsilon| (epsilon - 3.0).abs() < 1e-9));
    let mut file = json(&plan.to_json());
    file["guarantee"]["attributes"][0]["conditional_epsilon"] = "0".into();
    assert!(matches!(Plan::from_json(&file.to_string()), Err(PlanError::Guarantee { .. })));
}

/// Nothing is examined if looking up names would take too long.
#[test]
fn a_schema_of_many_attributes_is_refused_by_its_names() {
    let attribute = |i: usize| format!("{{\"name\":\"x{i}\",\"categories\":[\"0\",\"1\"]}}");
    let attributes = (0..50_000).map(attribute).collect::<Vec<_>>().join(",");
    let file = format!(
        "{{\"format\":\"candor plan\",\"version\":1,\"fingerprint\":\"\",\"guarantee\":{{\"epsilon\":null,\
         \"attributes\":[]}},\"schema\":{{\"attributes\":[{attributes}]}},\"blocks\":[]}}"
    );
    let refused = Plan::from_json(&file);
    assert_eq!(refused, Err(PlanError::TooCostly { cost: 10_000_000_000, limit: MAX_COST }));
}
