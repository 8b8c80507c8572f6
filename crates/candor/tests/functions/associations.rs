//! Tests of associations and clusters in memory, by every protocol.

use crate::survey::{PEOPLE, Survey};
use candor::StudyError;
use candor::associations::{associations, from_parties, from_responses, from_truth, pair_tables, response_tables};
use candor_analysis::association::{Limits, Measure, Parties};
use candor_analysis::tally::RecordCounts;
use candor_base::randomness::Source;
use candor_base::schema::Schema;

/// Counts of the pair of the first two attributes.
fn pair(counts: Vec<u64>, records: u64) -> RecordCounts {
    RecordCounts::new([(vec![0, 1], counts)], records)
}

/// In the true records, chi-square divided by the number of people is 2/3.
fn exact() -> f64 {
    (2.0f64 / 3.0).sqrt()
}

#[test]
fn protocols_agree() {
    let survey = Survey::independent();
    let schema = survey.plan.schema();
    assert_eq!(pair_tables(schema).unwrap().lists(), [vec![0, 1]]);
    assert_eq!(response_tables(schema).unwrap().lists(), [vec![0], vec![1], vec![0, 1]]);
    let counts: Vec<u64> = vec![0, 1_000, 2_000, 2_000, 1_000, 0];
    let truth = from_truth(schema, &pair(counts, PEOPLE), None).unwrap();
    assert!((truth.dependences[0].value - exact()).abs() < 1e-12 && truth.epsilon.is_none());
    let parties = Parties { schema, columns: &survey.truths, collectors: 3 };
    let source = Source::from_seed(1);
    let sums = from_parties(&parties, None, None, &source).unwrap();
    assert_eq!((&sums.dependences, sums.records, sums.epsilon), (&truth.dependences, PEOPLE, None));
    assert!(sums.traffic.unwrap().shares > 0 && sums.disclosure().unwrap().contains("`protocol randomized-pairs`"));
    let responses = from_responses(&survey.plan, &survey.counts("marginals;pairs", &[]), None, false).unwrap();
    let paired = from_parties(&parties, Some(4.0), None, &source).unwrap();
    for learned in [&responses, &paired] {
        let [found] = learned.dependences[..] else { panic!("one pair") };
        assert!((found.value - exact()).abs() < 6.0 * found.standard_error.unwrap(), "{learned:?}");
        assert!(learned.cost().unwrap().contains("cost respondents epsilon") && learned.disclosure().is_none());
    }
    let weaker = from_responses(&survey.plan, &survey.counts("marginals;pairs", &[]), None, true).unwrap();
    assert!(weaker.dependences[0].value < responses.dependences[0].value);
    assert!(weaker.summary().contains("too weak") && !responses.summary().contains("too weak"));
}

#[test]
fn clusters_say_why() {
    let survey = Survey::independent();
    let schema = survey.plan.schema();
    let learned = from_truth(schema, &pair(vec![0, 1_000, 2_000, 2_000, 1_000, 0], PEOPLE), None).unwrap();
    let found = |cells: u64, dependence: f64| {
        associations(schema, &learned, Limits::default().cells(cells).dependence(dependence)).unwrap()
    };
    let together = found(6, 0.5);
    assert_eq!(
        (together.clusters, together.combinations),
        (vec![vec!["smokes".to_owned(), "school".to_owned()]], vec![6])
    );
    assert_eq!(together.steps[0].outcome, "merged");
    assert_eq!(
        together.steps[0].reason,
        "{smokes} and {school} together: smokes and school depend 0.8165; 6 combinations."
    );
    for (cells, dependence, outcome) in [(5, 0.5, "too-many-cells"), (6, 0.9, "too-little-dependence")] {
        let apart = found(cells, dependence);
        assert_eq!((apart.clusters.len(), apart.steps[0].outcome, apart.combinations), (2, outcome, vec![2, 3]));
    }
    let json = serde_json::to_value(found(6, 0.5)).unwrap();
    assert!(json["bytes"].is_null() && json.get("combinations").is_none() && json["steps"][0].get("reason").is_none());
}

#[test]
fn measures_that_take_an_order_are_noted() {
    let survey = Survey::independent();
    let counts = survey.counts("marginals;pairs", &[]);
    let learned = from_responses(&survey.plan, &counts, Some(Measure::Pearson), false).unwrap();
    assert!(learned.notes.len() == 1 && learned.notes[0].starts_with("note: \"smokes\" is nominal"));
    assert!(from_responses(&survey.plan, &counts, None, false).unwrap().notes.is_empty());
    // Attributes that the plan does not identify count as independent, with a note.
    let silent = Survey::new(r#"{"method": "independent", "epsilon": 0}"#);
    let learned = from_responses(&silent.plan, &silent.counts("marginals;pairs", &[]), None, false).unwrap();
    assert!(learned.dependences.is_empty());
    assert!(
        learned.notes[0].starts_with("note: \"smokes\" and \"school\" are treated as independent: not identifiable")
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let survey = Survey::independent();
    let schema = survey.plan.schema();
    assert!(matches!(from_truth(schema, &pair(vec![1, 2], 3), None), Err(StudyError::Counts(_))));
    assert!(matches!(from_truth(schema, &RecordCounts::default(), None), Err(StudyError::Counts(_))));
    let counts = survey.counts("pairs", &[]);
    assert!(matches!(from_responses(&survey.plan, &counts, None, false), Err(StudyError::Counts(_))));
    let source = Source::from_seed(1);
    let parties =
        |schema, columns, collectors| from_parties(&Parties { schema, columns, collectors }, None, None, &source);
    assert!(matches!(parties(schema, &survey.truths[1..], 3), Err(StudyError::Counts(_))));
    let wrong = [vec![9; 3], vec![0; 3], vec![0; 3]];
    assert!(matches!(parties(schema, &wrong, 3), Err(StudyError::Counts(_))));
    let many = parties(schema, &survey.truths, 4_000).unwrap_err().to_string();
    assert!(many.starts_with("6,000 parties with 4,000 collectors") && many.contains("fewer `collectors`"), "{many}");
    let one = Schema::with_sizes(&[2]).unwrap();
    assert!(matches!(parties(&one, &survey.truths[..1], 3), Err(StudyError::Refused(_))));
    let learned = from_truth(schema, &pair(vec![1; 6], 6), None).unwrap();
    let limits = Limits::default().cells(10).dependence(f64::NAN);
    assert!(matches!(associations(schema, &learned, limits), Err(StudyError::InvalidParameter(_))));
    assert!(matches!(associations(&one, &learned, Limits::default()), Err(StudyError::Counts(_))));
}
