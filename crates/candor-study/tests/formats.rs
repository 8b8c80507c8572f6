//! Results have exactly the fields that docs/formats.md lists.

mod survey;

use std::collections::BTreeSet;

use candor::randomness::Source;
use candor_analysis::adjust::{DistinctRecords, Options};
use candor_analysis::dependence::Limits;
use candor_analysis::estimate::Interval;
use candor_analysis::table_list::TableList;
use candor_study::adjust::{adjust, margins};
use candor_study::cluster::cluster;
use candor_study::estimate::{EstimateOptions, estimate};
use candor_study::learn::from_responses;
use candor_study::query::{QueryOptions, Question, query};
use candor_study::size::size;
use candor_study::synthesize::{Parts, synthesize};
use candor_study::test::test;
use serde::Serialize;
use serde_json::Value;
use survey::Survey;

/// All names of fields, at any depth.
fn fields(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(object) => {
            object.iter().flat_map(|(name, value)| [name.clone()].into_iter().chain(fields(value))).collect()
        }
        Value::Array(list) => list.iter().flat_map(fields).collect(),
        _ => BTreeSet::new(),
    }
}

/// What is documented of a verb.
fn documented(verb: &str) -> BTreeSet<String> {
    let document = include_str!("../../../docs/formats.md");
    let (_, section) = document.split_once("## JSON output").unwrap();
    let row = section.lines().find_map(|line| line.strip_prefix(&format!("| `{verb}` |"))).unwrap();
    // What follows is about files.
    let row = row.split(". With").next().unwrap();
    let words = row.split('`').skip(1).step_by(2).filter(|word| !word.starts_with('-'));
    words.map(str::to_owned).collect()
}

/// Compares a result with the document; `values` are fields whose names come from the data.
fn is_documented(verb: &str, result: &impl Serialize, values: &[&str]) {
    let mut found = fields(&serde_json::to_value(result).unwrap());
    found.retain(|name| !values.contains(&name.as_str()));
    assert_eq!(found, documented(verb), "{verb}");
}

#[test]
fn estimates() {
    let survey = Survey::independent();
    let options = EstimateOptions { covariance: true, ..EstimateOptions::default() };
    let found = estimate(&survey.plan, &survey.counts("smokes", &[2]), &options).unwrap();
    is_documented("estimate", &found, &["region"]);
}

#[test]
fn tests() {
    // The odds ratio of two by two categories, and the naive test.
    let survey = Survey::independent();
    let found = test(&survey.plan, [0, 2], &survey.counts("smokes;region;smokes,region", &[]), 0.95).unwrap();
    is_documented("test", &found, &[]);
}

#[test]
fn queries() {
    let survey = Survey::independent();
    let question = Question::new(&survey.plan, "smokes = yes", QueryOptions::default()).unwrap();
    is_documented("query", &query(&question, &survey.counts("smokes", &[]), None), &[]);
}

#[test]
fn adjustments() {
    // One person, who is asked for a share of others: most cells cannot be attained.
    let survey = Survey::independent();
    let mut records = DistinctRecords::new(3);
    records.add(&[0, 0, 0], 3);
    records.add(&[1, 1, 0], 5);
    let margins = margins(&survey.plan, Some("smokes,school")).unwrap();
    let found = adjust(&survey.plan, &records, &margins, &Options::default()).unwrap();
    assert!(!found.unattainable.is_empty());
    is_documented("adjust", &found, &[]);
}

#[test]
fn clusters() {
    let survey = Survey::independent();
    let learned = from_responses(&survey.plan, &survey.counts("marginals;pairs", &[]), None, false).unwrap();
    let found = cluster(survey.plan.schema(), &learned, Limits::default()).unwrap();
    is_documented("cluster", &found, &[]);
}

#[test]
fn syntheses() {
    let survey = Survey::independent();
    let counts = survey.counts("smokes;school;region", &[]);
    let found = synthesize(&survey.plan, Parts::Clusters, &counts, Some(10), &Source::from_seed(1)).unwrap();
    is_documented("synthesize", &found, &[]);
}

#[test]
fn sizes() {
    let survey = Survey::independent();
    let tables = TableList::marginals(survey.plan.schema());
    is_documented("size", &size(&survey.plan, &tables, 0.02, 0.95, Interval::Wald).unwrap(), &[]);
}

#[test]
fn numbers_that_are_none_are_null() {
    let survey = Survey::independent();
    let mut found = estimate(&survey.plan, &survey.counts("smokes", &[]), &EstimateOptions::default()).unwrap();
    found.tables[0].condition = Some(f64::INFINITY);
    found.tables[0].cells[0].estimate = f64::NAN;
    let read: Value = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
    for json in [serde_json::to_value(&found).unwrap(), read] {
        assert!(json["tables"][0]["condition"].is_null() && json["tables"][0]["cells"][0]["estimate"].is_null());
        assert!(json["tables"][0]["cells"][1]["estimate"].is_f64());
    }
}
