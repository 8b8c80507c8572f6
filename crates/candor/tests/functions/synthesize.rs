//! Tests of synthetic records in memory.

use crate::survey::{PEOPLE, Survey};
use candor::StudyError;
use candor::estimate::{EstimateOptions, estimate};
use candor::prelude::ProgressSink;
use candor::rake::{RakeOptions, margins, rake};
use candor::synthesize::{Parts, synthesize, synthesize_weighted, tables, weigh};
use candor_base::randomness::Source;

#[test]
fn records_have_the_estimated_shares() {
    let survey = Survey::independent();
    let counts = survey.counts("smokes;school;region;smokes,school,region", &[]);
    let source = Source::from_seed(3);
    let shares = estimate(&survey.plan, &survey.counts("school", &[]), &EstimateOptions::default()).unwrap();
    let joint = synthesize(&survey.plan, &counts, Parts::Joint, None, &source, ProgressSink::none()).unwrap();
    let clusters =
        synthesize(&survey.plan, &counts, Parts::Clusters, Some(60_000), &source, ProgressSink::none()).unwrap();
    let records = survey.records();
    let weights = rake(
        &survey.plan,
        &records,
        &margins(&survey.plan, None).unwrap(),
        &RakeOptions::default(),
        ProgressSink::none(),
    )
    .unwrap();
    let adjusted = synthesize_weighted(&survey.plan, &records, &weights, None, &source).unwrap();
    assert_eq!([&joint, &clusters, &adjusted].map(|made| made.method), ["joint", "clusters", "adjusted"]);
    assert_eq!([&joint, &clusters, &adjusted].map(|made| made.records), [PEOPLE, 60_000, PEOPLE]);
    assert_eq!([&joint, &clusters, &adjusted].map(|made| made.converged), [None, None, Some(true)]);
    for made in [&joint, &clusters, &adjusted] {
        assert_eq!((made.respondents, made.columns.len()), (PEOPLE, 3));
        for (category, cell) in shares.tables[0].cells.iter().enumerate() {
            let share = made.columns[1].iter().filter(|&&code| usize::from(code) == category).count();
            assert!((share as f64 / made.records as f64 - cell.estimate).abs() < 2e-3, "{}", made.method);
        }
    }
    // The same source gives the same records, which are not in the JSON.
    assert_eq!(synthesize(&survey.plan, &counts, Parts::Joint, None, &source, ProgressSink::none()).unwrap(), joint);
    let json = serde_json::to_value(&joint).unwrap();
    assert!(json.get("columns").is_none() && json["seed"].is_null() && json["seconds"].is_null());
}

#[test]
fn what_cannot_be_made_is_refused_with_what_to_use_instead() {
    let survey = Survey::independent();
    assert_eq!(tables(&survey.plan, Parts::Joint).unwrap().lists(), [vec![0, 1, 2]]);
    assert_eq!(tables(&survey.plan, Parts::Clusters).unwrap().lists(), [vec![0], vec![1], vec![2]]);
    let source = Source::from_seed(3);
    let counts = survey.counts("smokes", &[]);
    let missing = synthesize(&survey.plan, &counts, Parts::Clusters, None, &source, ProgressSink::none());
    assert!(matches!(missing, Err(StudyError::Counts(_))));
    let many = synthesize(&survey.plan, &counts, Parts::Clusters, Some(100_000_001), &source, ProgressSink::none())
        .unwrap_err()
        .to_string();
    assert!(many.contains("at most 100,000,000 synthetic records can be made; specify `records`"), "{many}");
    let silent = Survey::new(r#"{"method": "independent", "epsilon": 0}"#);
    let counts = silent.counts("smokes;school;region;smokes,school,region", &[]);
    let refused =
        |parts| synthesize(&silent.plan, &counts, parts, None, &source, ProgressSink::none()).unwrap_err().to_string();
    assert!(refused(Parts::Joint).starts_with("not identifiable: "));
    assert!(refused(Parts::Joint).ends_with("; use `method clusters` or adjusted"));
    assert!(refused(Parts::Clusters).ends_with("; use `method adjusted`, or a plan with smaller blocks"));
}

/// Responses to this plan are not records; with two attributes, the tree and maximum entropy are equal to their
/// table.
#[test]
fn pair_tables_make_records_and_weights() {
    let survey = Survey::new(r#"{"method": "workload", "epsilon": 6, "tables": "pairs"}"#);
    let counts = survey.counts("smokes;school;smokes,school;region,smokes;region,school;region", &[]);
    let source = Source::from_seed(3);
    for parts in [Parts::Tree, Parts::Entropy] {
        let made = synthesize(&survey.plan, &counts, parts, None, &source, ProgressSink::none()).unwrap();
        assert_eq!(made.links[0].attributes, ["smokes", "school"]);
        assert!(made.links[0].information > 0.2 && made.untold.is_empty(), "{:?}", made.links);
        assert_eq!(
            made.columns[2].iter().filter(|&&code| code == 0).count(),
            survey.truths[2].iter().filter(|&&code| code == 0).count()
        );
        // A third of all people have much school and do not smoke; the standard error is below 0.012.
        let both = (0..PEOPLE as usize).filter(|&row| made.columns[0][row] == 0 && made.columns[1][row] == 2).count();
        assert!((both as f64 / PEOPLE as f64 - 1.0 / 3.0).abs() < 0.06, "{both}");
        let (records, weights) =
            weigh(&survey.plan, &counts, parts, &RakeOptions::default(), ProgressSink::none()).unwrap();
        assert!(weights.converged && weights.weights.len() == records.len() && weights.respondents == PEOPLE);
        assert!((weights.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    let answers = weigh(&survey.plan, &counts, Parts::Joint, &RakeOptions::default(), ProgressSink::none());
    assert!(matches!(answers, Err(StudyError::InvalidParameter(_))));
}

#[test]
fn weights_belong_to_records() {
    let survey = Survey::independent();
    let records = survey.records();
    let found = rake(
        &survey.plan,
        &records,
        &margins(&survey.plan, None).unwrap(),
        &RakeOptions::default(),
        ProgressSink::none(),
    )
    .unwrap();
    let wrong = [Vec::new(), vec![0.0; records.len()], vec![-1.0; records.len()], vec![f64::NAN; records.len()]];
    for weights in wrong {
        let mut edited = found.clone();
        edited.weights = weights;
        let made = synthesize_weighted(&survey.plan, &records, &edited, None, &Source::from_seed(3));
        assert!(matches!(made, Err(StudyError::Counts(_))));
    }
}
