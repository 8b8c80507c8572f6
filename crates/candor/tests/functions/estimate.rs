//! Tests of estimates in memory: groups, options, warnings and rejected input.

use crate::survey::{PEOPLE, Survey};
use candor::StudyError;
use candor::counts::{Counts, public_attributes};
use candor::estimate::{EstimateOptions, estimate};
use candor_analysis::estimate::{Interval, Method, Target};
use candor_analysis::table_list::TableList;
use candor_analysis::tally::Codes;
use candor_base::schema::Schema;
use candor_design::design;
use serde_json::{Value, json};

#[test]
fn tables_are_near_the_truth() {
    let survey = Survey::independent();
    let found = estimate(&survey.plan, &survey.counts("pairs;school", &[]), &EstimateOptions::default()).unwrap();
    assert_eq!(
        (found.respondents, found.method, found.target, found.interval),
        (PEOPLE, "unbiased", "population", "binomial")
    );
    let pair = &found.tables[0];
    assert_eq!((&pair.attributes[..], pair.group.len()), (&["smokes".to_owned(), "school".to_owned()][..], 0));
    let truth = [0.0, 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0, 0.0];
    for (cell, truth) in pair.cells.iter().zip(truth) {
        let error = cell.standard_error.unwrap();
        assert!((cell.estimate - truth).abs() < 6.0 * error && error < 0.05, "{cell:?}");
        assert!(cell.low.unwrap() <= cell.estimate.max(0.0) && cell.estimate < cell.high.unwrap());
    }
    assert_eq!(pair.cells[4].categories, ["yes", "some"]);
    assert_eq!(found.tables[1].cells.len(), 3);
    assert_eq!(found.cautions(), [""; 0]);
    assert_eq!(found.summary(), "unbiased estimate, 95% binomial intervals for the population");
}

#[test]
fn groups_add_up_to_all() {
    let survey = Survey::independent();
    let by = public_attributes(survey.plan.schema(), &["region"]).unwrap();
    let options = EstimateOptions::default();
    let groups = estimate(&survey.plan, &survey.counts("school", &by), &options).unwrap();
    let all = estimate(&survey.plan, &survey.counts("school", &[]), &options).unwrap();
    let json = serde_json::to_value(&groups).unwrap();
    assert_eq!(json["tables"][0]["group"], json!({"region": "north"}));
    assert_eq!(json["tables"][1]["group"], json!({"region": "south"}));
    let total: f64 = groups.tables.iter().map(|table| table.respondents).sum();
    assert_eq!(total, PEOPLE as f64);
    for (i, cell) in all.tables[0].cells.iter().enumerate() {
        let weighed: f64 = groups.tables.iter().map(|table| table.respondents / total * table.cells[i].estimate).sum();
        assert!((weighed - cell.estimate).abs() < 1e-12);
    }
}

#[test]
fn groups_are_public() {
    let survey = Survey::independent();
    let refused = public_attributes(survey.plan.schema(), &["region", "smokes"]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`by`: \"smokes\" is randomized, so its groups are unknown; estimate a table instead: `tables` \"smokes,..\""
    );
    let unknown = public_attributes(survey.plan.schema(), &["regions"]).unwrap_err().to_string();
    assert!(unknown.starts_with("`by`: ") && unknown.contains("region"), "{unknown}");
    let tables = TableList::parse("school", survey.plan.schema()).unwrap();
    let of = |by: &[usize]| Counts::from_codes(&survey.plan, &survey.columns(), &tables, by);
    assert!(matches!(of(&[0]), Err(StudyError::NotPublic { .. })));
    assert!(matches!(of(&[9]), Err(StudyError::Counts(_))));
    // The same holds for precomputed counts.
    let counted = survey.counts("school", &[2]);
    let new = |by: &[usize]| Counts::new(&survey.plan, by, counted.groups().clone(), PEOPLE);
    assert_eq!(new(&[2]).unwrap(), counted);
    assert!(matches!(new(&[1]), Err(StudyError::NotPublic { .. })));
    assert!(matches!(new(&[]), Err(StudyError::Counts(_))));
}

#[test]
fn counts_of_something_else_are_refused() {
    let survey = Survey::independent();
    let tables = TableList::parse("school", survey.plan.schema()).unwrap();
    let refused =
        |columns: &[Codes<'_>]| Counts::from_codes(&survey.plan, columns, &tables, &[]).unwrap_err().to_string();
    let columns = survey.columns();
    assert!(refused(&columns[1..]).contains("the columns are not those of the responses"));
    let wrong = vec![7; PEOPLE as usize];
    assert!(refused(&[columns[0], Codes::One(&wrong), columns[2]]).contains("a code stands for no answer"));
    let mut groups = survey.counts("school", &[2]).groups().clone();
    groups.insert(vec![1], survey.counts("smokes", &[]).groups()[&vec![]].clone());
    assert!(Counts::new(&survey.plan, &[2], groups, PEOPLE).unwrap_err().to_string().contains("different tables"));
    let other = Survey::new(r#"{"method": "sampling", "epsilon": 4, "tables": "smokes;school"}"#);
    let counted = survey.counts("school", &[]).groups().clone();
    let one =
        design(&Schema::with_sizes(&[2]).unwrap(), &serde_json::from_str(r#"{"method": "warner", "p": 0.7}"#).unwrap());
    for plan in [other.plan, one.unwrap().plan] {
        let refused = Counts::new(&plan, &[], counted.clone(), PEOPLE).unwrap_err().to_string();
        assert!(refused.contains("another plan"), "{refused}");
    }
}

#[test]
fn options_go_together() {
    let survey = Survey::independent();
    let counts = survey.counts("smokes;smokes,school", &[]);
    let run = |options: EstimateOptions| estimate(&survey.plan, &counts, &options);
    for confidence in [0.0, 1.0, -3.0, f64::NAN] {
        assert!(matches!(run(EstimateOptions::default().confidence(confidence)), Err(StudyError::Confidence(_))));
    }
    let refused = run(EstimateOptions::default().covariance(true).method(Method::Clipped)).unwrap_err();
    assert_eq!(refused, StudyError::InvalidParameter("`covariance` requires the unbiased method"));
    let found = run(EstimateOptions::default().covariance(true)).unwrap();
    let covariance = found.tables[0].covariance.as_ref().unwrap();
    for (i, cell) in found.tables[0].cells.iter().enumerate() {
        assert!((covariance[i][i] - cell.standard_error.unwrap().powi(2)).abs() < 1e-9);
    }
    assert_eq!(found.tables[1].covariance, None);
    let json = serde_json::to_value(&found).unwrap();
    assert!(json["tables"][0].get("covariance").is_some() && json["tables"][1].get("covariance").is_none());
}

#[test]
fn every_choice_has_its_name() {
    let survey = Survey::independent();
    let counts = survey.counts("smokes", &[]);
    let methods = [
        (Method::Unbiased, "unbiased"),
        (Method::PlugIn, "plug-in"),
        (Method::Iterative, "iterative"),
        (Method::Projected, "projected"),
        (Method::Constrained, "constrained"),
        (Method::Clipped, "clipped"),
    ];
    for (method, name) in methods {
        let options = EstimateOptions::default().method(method).target(Target::Table).interval(Interval::Simultaneous);
        let found = estimate(&survey.plan, &counts, &options).unwrap();
        assert_eq!((found.method, found.target, found.interval), (name, "records", "simultaneous"));
        let unbiased = matches!(method, Method::Unbiased | Method::PlugIn);
        let has_errors = unbiased || method == Method::Constrained;
        let cell = &found.tables[0].cells[0];
        assert_eq!((cell.standard_error.is_some(), cell.low.is_some()), (has_errors, has_errors), "{name}");
        assert_eq!(found.summary().contains("not unbiased"), !unbiased);
    }
}

#[test]
fn what_cannot_be_told_is_said() {
    // Nothing is identifiable.
    let silent = Survey::new(r#"{"method": "independent", "epsilon": 0}"#);
    let found = estimate(&silent.plan, &silent.counts("smokes", &[]), &EstimateOptions::default()).unwrap();
    let table = &found.tables[0];
    assert!(!table.identifiable && table.cells.is_empty());
    assert!(table.reason.as_ref().unwrap().starts_with("not identifiable: "));
    // Without responses there is no number, and none in JSON.
    let survey = Survey::independent();
    let none: Vec<Codes<'_>> = vec![Codes::One(&[]); 3];
    let tables = TableList::parse("smokes", survey.plan.schema()).unwrap();
    let counts = Counts::from_codes(&survey.plan, &none, &tables, &[]).unwrap();
    let found = estimate(&survey.plan, &counts, &EstimateOptions::default()).unwrap();
    assert_eq!(found.tables[0].reason.as_deref(), Some("no responses to estimate from"));
    assert_eq!(serde_json::to_value(&found).unwrap()["tables"][0]["cells"], Value::Array(Vec::new()));
}

#[test]
fn answers_that_nobody_gave_are_cautioned_of() {
    // Each answer is often drawn at random, although nobody's true answer is "yes".
    let survey = Survey::new(r#"{"method": "independent", "epsilon": 1}"#);
    let same = vec![0; PEOPLE as usize];
    let columns = [Codes::One(&same), Codes::One(&same), Codes::One(&same)];
    let tables = TableList::parse("smokes", survey.plan.schema()).unwrap();
    let counts = Counts::from_codes(&survey.plan, &columns, &tables, &[]).unwrap();
    let found = estimate(&survey.plan, &counts, &EstimateOptions::default()).unwrap();
    assert!(found.tables[0].implausible);
    let cautions = found.cautions();
    assert!(
        cautions.len() == 1 && cautions[0].starts_with("warning: these responses can hardly have come from this plan")
    );
}
