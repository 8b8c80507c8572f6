//! Long work can be cancelled at any step; it then ends with nothing but the error.

use std::sync::atomic::{AtomicU64, Ordering};

use candor::StudyError;
use candor::audit::{AuditOptions, audit_with_progress};
use candor::counts::Counts;
use candor::estimate::{EstimateOptions, estimate_with_progress};
use candor::query::{QueryMethods, QueryOptions, ShareQuery, query_groups_with_progress, query_with_progress};
use candor::regress::{RegressOptions, Rows, model, regress_with_progress};
use candor::sampling::SamplingDesign;
use candor::scan::{Adjust, scan_with_progress, tables as tables_of_scan};
use candor::test::{test_groups_with_progress, test_with_progress};
use candor_analysis::estimate::{Interval, Method};
use candor_analysis::regress::{Family, Method as Fit, Questions};
use candor_runtime::parallel;
use candor_runtime::progress::{Cancelled, Progress, ProgressSink};
use candor_tables::input::Input;
use serde::Serialize;

use crate::survey::Survey;

/// Runs the work completely, and cancels it at each of its first steps and at some later ones.
fn can_be_ended<T: Serialize>(least: u64, work: impl Fn(ProgressSink<'_>) -> Result<T, StudyError>) {
    let written = |found: Result<T, StudyError>| found.map(|found| serde_json::to_string(&found).unwrap());
    let steps = AtomicU64::new(0);
    let counts = |_: &Progress| {
        steps.fetch_add(1, Ordering::Relaxed);
        true
    };
    let whole = written(work(ProgressSink::new(&counts)));
    let steps = steps.into_inner();
    assert!(whole.is_ok() && steps >= least, "{steps} steps; {whole:?}");
    assert_eq!(written(work(ProgressSink::none())), whole);
    let some = steps / 20 + 1;
    for last in (1..=steps).filter(|step| *step <= 10 || step % some == 0) {
        let told = AtomicU64::new(0);
        let ends = |_: &Progress| told.fetch_add(1, Ordering::Relaxed) + 1 < last;
        assert_eq!(written(work(ProgressSink::new(&ends))), Err(StudyError::Cancelled(Cancelled)), "{last} of {steps}");
        // After cancellation, only threads that were already working report progress.
        let told = told.into_inner();
        assert!(told <= last + parallel::threads() as u64, "told {told} times, ended at {last}");
    }
}

#[test]
fn estimates() {
    let survey = Survey::independent();
    let counts = survey.counts("smokes;school;smokes,school", &[2]);
    for method in [Method::Unbiased, Method::Iterative, Method::Constrained] {
        let options = EstimateOptions::default().method(method);
        can_be_ended(3, |progress| estimate_with_progress(&survey.plan, &counts, &options, progress));
    }
    let options = EstimateOptions::default().interval(Interval::Bootstrap);
    can_be_ended(1_000, |progress| estimate_with_progress(&survey.plan, &counts, &options, progress));
}

#[test]
fn tests() {
    let (survey, counted) = (Survey::independent(), "smokes;school;smokes,school");
    let (counts, groups) = (survey.counts(counted, &[]), survey.counts(counted, &[2]));
    can_be_ended(3, |progress| test_with_progress(&survey.plan, &counts, [0, 1], 0.95, progress));
    can_be_ended(2, |progress| test_groups_with_progress(&survey.plan, &groups, [0, 1], 0.95, progress));
    let tables = tables_of_scan(survey.plan.schema(), "smokes").unwrap();
    let counts = Counts::from_codes(&survey.plan, &survey.columns(), &tables, &[]).unwrap();
    can_be_ended(2, |progress| scan_with_progress(&survey.plan, &counts, "smokes", Adjust::Holm, 1, progress));
}

#[test]
fn queries() {
    let survey = Survey::independent();
    let options = QueryOptions::default().methods(QueryMethods::ALL);
    let question = ShareQuery::new(&survey.plan, "smokes = yes and school = none", options).unwrap();
    let counts = Counts::from_codes(&survey.plan, &survey.columns(), &question.tables().unwrap(), &[]).unwrap();
    let records = survey.records();
    can_be_ended(5, |progress| query_with_progress(&counts, Some(&records), &question, progress));
    let question = ShareQuery::new(&survey.plan, "smokes = yes", QueryOptions::default()).unwrap();
    let groups = survey.counts("smokes", &[2]);
    can_be_ended(2, |progress| query_groups_with_progress(&groups, &question, progress));
}

#[test]
fn audits() {
    let survey = Survey::independent();
    can_be_ended(11, |progress| audit_with_progress(&survey.plan, &AuditOptions::default(), progress));
}

#[test]
fn regressions() {
    let survey = Survey::independent();
    let everybody = SamplingDesign::new(survey.plan.schema(), &Default::default()).unwrap();
    let (responses, _) = survey.randomized();
    let profiles = vec![vec![("region".to_owned(), "north".to_owned())]];
    let contrasts = vec!["region=south".to_owned()];
    let asked = [
        ("smokes ~ region", Some(Fit::MaximumLikelihood), None),
        ("smokes ~ region", Some(Fit::Jeffreys), None),
        ("smokes ~ region", Some(Fit::CorrectedScore), None),
        ("region ~ smokes", None, None),
        ("region ~ smokes", Some(Fit::MaximumLikelihood), None),
        ("school ~ region", None, Some(Family::Ordinal)),
    ];
    for (text, method, family) in asked {
        let questions = match text.ends_with("~ region") && family.is_none() {
            true => Questions::default().contrasts(contrasts.clone()).profiles(profiles.clone()),
            false => Questions::default(),
        };
        let options = RegressOptions::default().method(method).family(family).questions(questions);
        let model = model(&survey.plan, text, &options).unwrap();
        let inputs = Input::from_batches("responses", responses[0].schema(), responses.clone().into_iter().map(Ok));
        let read = Rows::read(&survey.plan, inputs.unwrap().into(), &model, &everybody, ProgressSink::none());
        let rows = read.unwrap();
        can_be_ended(10, |progress| regress_with_progress(&rows, &model, &options, progress));
    }
}
