//! Tests of queries in memory, by every method.

use crate::survey::{PEOPLE, Survey};
use candor::StudyError;
use candor::counts::Counts;
use candor::query::{Answers, QueryMethods, QueryOptions, ShareQuery, query};

fn all_methods() -> QueryOptions {
    QueryOptions::default().methods(QueryMethods::ALL)
}

fn ask(survey: &Survey, condition: &str, options: QueryOptions) -> Answers {
    let question = ShareQuery::new(&survey.plan, condition, options).unwrap();
    let counts = Counts::from_codes(&survey.plan, &survey.columns(), &question.tables().unwrap(), &[]).unwrap();
    let records = question.needs_records().then(|| survey.records());
    query(&counts, records.as_ref(), &question)
}

#[test]
fn methods_side_by_side() {
    let survey = Survey::independent();
    let found = ask(&survey, " smokes = yes and school = none ", all_methods());
    assert_eq!((found.condition.as_str(), found.respondents), (" smokes = yes and school = none ", PEOPLE));
    let names: Vec<&str> = found.answers.iter().map(|answer| answer.method).collect();
    assert_eq!(names, ["joint", "clusters", "independent", "adjusted", "naive"]);
    let [joint, clusters, independent, adjusted, _] = &found.answers[..] else { panic!("five answers") };
    // A third of all people; if the attributes were independent, half of a third.
    let error = joint.standard_error.unwrap();
    assert!((joint.estimate.unwrap() - 1.0 / 3.0).abs() < 6.0 * error && error < 0.05);
    // About two standard errors to each side, as for intervals of `estimate`.
    let sides = [joint.estimate.unwrap() - joint.low.unwrap(), joint.high.unwrap() - joint.estimate.unwrap()];
    assert!(sides.iter().all(|side| (side / error - 1.96).abs() < 0.2), "{joint:?}");
    assert!((independent.estimate.unwrap() - 1.0 / 6.0).abs() < 0.05);
    // Each attribute has its own block here.
    assert_eq!(clusters.estimate, independent.estimate);
    assert!(independent.standard_error.is_none() && independent.low.is_none() && independent.high.is_none());
    let between = independent.estimate.unwrap()..joint.estimate.unwrap() + 6.0 * error;
    assert!(between.contains(&adjusted.estimate.unwrap()), "{adjusted:?}");
    assert!(found.answers.iter().all(|answer| answer.reason.is_none()));
}

#[test]
fn one_answer_unless_more_are_asked_for() {
    let survey = Survey::independent();
    let condition = "smokes = yes and school = none";
    let found = ask(&survey, condition, QueryOptions::default());
    assert_eq!(found.answers, ask(&survey, condition, all_methods()).answers[..1]);
    assert!(found.answers[0].low < found.answers[0].estimate && found.answers[0].estimate < found.answers[0].high);
}

#[test]
fn only_what_is_needed_is_counted() {
    let survey = Survey::independent();
    let question = |options: QueryOptions, condition: &str| ShareQuery::new(&survey.plan, condition, options).unwrap();
    let condition = "smokes = yes or school > none";
    let joint = question(QueryOptions::default(), condition);
    assert_eq!(joint.tables().unwrap().lists(), [vec![0, 1]]);
    assert!(!joint.needs_records() && joint.note().is_none());
    let all = question(all_methods(), condition);
    assert_eq!(all.tables().unwrap().lists(), [vec![0, 1], vec![0], vec![1]]);
    assert!(all.needs_records() && all.note().unwrap().contains("clusters takes attributes of different blocks"));
    assert_eq!(question(all_methods(), "school = some").note(), None);
    let together = Survey::new(r#"{"method": "joint", "epsilon": 4}"#);
    let question = ShareQuery::new(&together.plan, condition, all_methods()).unwrap();
    assert!(question.note().unwrap().contains("clusters is the same as joint"));
}

#[test]
fn what_cannot_be_answered_says_why() {
    // A plan with several channels per block has no answer records to weight.
    let lottery = Survey::new(r#"{"method": "sampling", "epsilon": 4, "tables": "smokes;school"}"#);
    let found = ask(&lottery, "smokes = yes and school = none", all_methods());
    let adjusted = found.answers.iter().find(|answer| answer.method == "adjusted").unwrap();
    assert!(adjusted.estimate.is_none() && adjusted.reason.as_ref().unwrap().contains("randomly assigned channels"));
    // Records and tables that were not given.
    let survey = Survey::independent();
    let question = ShareQuery::new(&survey.plan, "smokes = yes", all_methods()).unwrap();
    let found = query(&survey.counts("school", &[]), None, &question);
    let reasons: Vec<&str> = found.answers.iter().map(|answer| answer.reason.as_deref().unwrap()).collect();
    let [tables, records] = ["its tables were not counted", "the answer records were not kept"];
    assert_eq!(reasons, [tables, tables, tables, records, records]);
}

#[test]
fn questions_that_are_none() {
    let survey = Survey::independent();
    let refused = ShareQuery::new(&survey.plan, "smokes = maybe", QueryOptions::default()).unwrap_err().to_string();
    assert!(refused.starts_with("`where`: at character "), "{refused}");
    let options = QueryOptions::default().confidence(0.0);
    assert_eq!(ShareQuery::new(&survey.plan, "smokes = yes", options).unwrap_err(), StudyError::Confidence(0.0));
}
