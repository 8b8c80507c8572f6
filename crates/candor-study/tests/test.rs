//! Tests of independence, in memory.

mod survey;

use candor_analysis::table_list::TableList;
use candor_study::StudyError;
use candor_study::test::{one_pair, tables, test};
use survey::{PEOPLE, Survey};

#[test]
fn what_depends_and_what_does_not() {
    let survey = Survey::independent();
    let dependent = test(&survey.plan, [0, 1], &survey.counts("smokes;school;smokes,school", &[]), 0.95).unwrap();
    assert_eq!((dependent.respondents, dependent.degrees), (PEOPLE, 2));
    assert!(dependent.p_value < 1e-6 && dependent.odds_ratio.is_none());
    // Of the truth: chi-square over the number of people is 2/3.
    let error = dependent.cramers_v_standard_error.unwrap();
    let (low, high) = (dependent.cramers_v_low.unwrap(), dependent.cramers_v_high.unwrap());
    assert!(low < dependent.cramers_v && dependent.cramers_v < high && high <= 1.0, "{low} {high}");
    assert!((low..=high).contains(&(2.0f64 / 3.0).sqrt()), "{low} {high}");
    assert!((dependent.cramers_v - (2.0f64 / 3.0).sqrt()).abs() < 6.0 * error && error < 0.1);
    let naive = dependent.naive.unwrap();
    assert!(naive.cramers_v.unwrap() < dependent.cramers_v);
    assert!(dependent.verdict().unwrap().starts_with("the same test"));
    // Smoking and the region: independent, two by two.
    let independent = test(&survey.plan, [0, 2], &survey.counts("smokes;region;smokes,region", &[]), 0.95).unwrap();
    assert!(independent.p_value > 1e-6 && independent.degrees == 1);
    let odds = independent.odds_ratio.unwrap();
    assert!(odds.low < odds.estimate && odds.estimate < odds.high && odds.low < 1.5 && odds.high > 0.6);
}

#[test]
fn tables_are_those_of_the_pair() {
    let survey = Survey::independent();
    let schema = survey.plan.schema();
    let pair = |text: &str| one_pair(&TableList::parse(text, schema).unwrap());
    assert_eq!(pair("school,smokes"), Ok([1, 0]));
    assert_eq!(pair("school"), Err(StudyError::Needs("`independence` takes two attributes, such as a,b")));
    let several = pair("school;smokes").unwrap_err().to_string();
    assert_eq!(several, "`independence` takes one pair of attributes, such as a,b");
    assert_eq!(tables(schema, [1, 0]).unwrap().lists(), [vec![1], vec![0], vec![1, 0]]);
    // The pair in the other order, or in groups, is another table.
    for counts in
        [survey.counts("smokes;school;school,smokes", &[]), survey.counts("smokes;school;smokes,school", &[2])]
    {
        assert!(matches!(test(&survey.plan, [0, 1], &counts, 0.95), Err(StudyError::Counts(_))));
    }
    let counts = survey.counts("smokes;school;smokes,school", &[]);
    assert!(matches!(test(&survey.plan, [0, 0], &counts, 0.95), Err(StudyError::Counts(_))));
    assert_eq!(test(&survey.plan, [0, 1], &counts, 1.0), Err(StudyError::Confidence(1.0)));
}

#[test]
fn what_cannot_be_estimated_is_an_error() {
    let silent = Survey::new(r#"{"method": "independent", "epsilon": 0}"#);
    let refused = test(&silent.plan, [0, 1], &silent.counts("smokes;school;smokes,school", &[]), 0.95).unwrap_err();
    assert!(refused.to_string().starts_with("not identifiable: "), "{refused}");
}
