//! Tests of raking in memory.

use crate::survey::{PEOPLE, Survey};
use candor::StudyError;
use candor::estimate::{EstimateOptions, estimate};
use candor::prelude::ProgressSink;
use candor::rake::{Adjustment, DistinctRecords, Options, RakeOptions, margins};
use candor_analysis::adjust::{AdjustError, check_plan};
use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;

/// Rakes without benchmarks or progress.
fn rake(plan: &Plan, records: &DistinctRecords, margins: &TableList, stop: &Options) -> Result<Adjustment, StudyError> {
    candor::rake::rake(plan, records, margins, &RakeOptions::default().stop(*stop), ProgressSink::none())
}

#[test]
fn weights_agree_with_estimates() {
    let survey = Survey::independent();
    let records = survey.records();
    let tables = margins(&survey.plan, None).unwrap();
    let found = rake(&survey.plan, &records, &tables, &Options::default()).unwrap();
    assert_eq!((found.respondents, found.records, found.weights.len()), (PEOPLE, records.len(), records.len()));
    assert_eq!(found.margins, [["smokes"], ["school"], ["region"]]);
    assert!(found.converged && found.reason.is_none() && found.unattainable.is_empty());
    assert!(found.summary().starts_with("Converged after ") && found.about_missing().is_none());
    assert_eq!(found.fingerprint, survey.plan.fingerprint().as_str());
    let shares = estimate(&survey.plan, &survey.counts("school", &[]), &EstimateOptions::default()).unwrap();
    for (category, cell) in shares.tables[0].cells.iter().enumerate() {
        let inside = (0..records.len()).filter(|&i| usize::from(records.record(i)[1]) == category);
        let weight: f64 = inside.map(|i| found.weights[i]).sum();
        assert!((weight - cell.estimate).abs() < 1e-5, "{category}");
    }
    let json = serde_json::to_value(&found).unwrap();
    assert!(json.get("weights").is_none() && json["seconds"].is_null());
}

#[test]
fn what_stands_against_weights_is_told() {
    let survey = Survey::independent();
    let tables = margins(&survey.plan, Some("pairs")).unwrap();
    let options = Options::default().max_iterations(1);
    let slow = rake(&survey.plan, &survey.records(), &margins(&survey.plan, None).unwrap(), &options).unwrap();
    assert!(!slow.converged && slow.summary().starts_with("NOT CONVERGED: after 1 iteration margins are"));
    assert!(slow.reason.unwrap().ends_with("allow more `max_iterations`, a larger `tolerance`, or fewer `margins`."));
    // Only two kinds of answers occur, so the other cells have no record.
    let mut few = DistinctRecords::new(3);
    few.add(&[0, 0, 0], 300);
    few.add(&[1, 1, 0], 500);
    few.add(&[1, 2, 0], 40);
    let found = rake(&survey.plan, &few, &tables, &Options::default()).unwrap();
    let missing = found.missing();
    assert!(!missing.is_empty() && missing.windows(2).all(|two| two[0].share >= two[1].share));
    assert!(
        missing.iter().all(|missing| missing.cell.starts_with("smokes = ") && missing.cell.contains(", school = "))
    );
    assert!(found.about_missing().unwrap().starts_with("No record with a weight has these"));
}

#[test]
fn what_is_no_answer_is_refused() {
    let survey = Survey::independent();
    let tables = margins(&survey.plan, None).unwrap();
    let refused =
        |records: &DistinctRecords, options: &Options| rake(&survey.plan, records, &tables, options).unwrap_err();
    for record in [&[0, 0][..], &[0, 3, 0]] {
        let mut wrong = DistinctRecords::new(record.len());
        wrong.add(record, 1);
        assert!(matches!(refused(&wrong, &Options::default()), StudyError::Adjust(AdjustError::NotAnswers)));
    }
    let records = survey.records();
    for (tolerance, max_iterations) in [(0.0, 10), (f64::NAN, 10), (1e-6, 0)] {
        assert!(matches!(
            refused(&records, &Options::default().tolerance(tolerance).max_iterations(max_iterations)),
            StudyError::InvalidParameter(_)
        ));
    }
    let nobody = refused(&DistinctRecords::new(3), &Options::default());
    assert!(matches!(nobody, StudyError::Adjust(_)), "{nobody:?}");
    let unknown = margins(&survey.plan, Some("nothing")).unwrap_err().to_string();
    assert!(unknown.starts_with("`margins`: there is no attribute \"nothing\""), "{unknown}");
    let lottery = Survey::new(r#"{"method": "sampling", "epsilon": 4, "tables": "smokes;school"}"#);
    assert!(margins(&lottery.plan, None).unwrap_err().to_string().contains("randomly assigned channels"));
}

#[test]
fn plans_that_do_not_answer_with_records_are_refused_with_an_alternative() {
    let plan = |name: &str| {
        let path = format!("{}/../candor-base/tests/plans/good/{name}.json", env!("CARGO_MANIFEST_DIR"));
        Plan::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    for good in ["independent", "joint", "k-ary", "public", "resampled", "general-patterns", "many-attributes"] {
        assert_eq!(check_plan(&plan(good)), Ok(()), "{good}");
    }
    assert_eq!(check_plan(&plan("lottery")), Err(AdjustError::Lottery));
    assert_eq!(check_plan(&plan("lotteries")).unwrap_err(), AdjustError::Lottery);
    assert!(matches!(check_plan(&plan("sets")), Err(AdjustError::Sets(_))));
    assert!(matches!(check_plan(&plan("crossed-matrix")), Err(AdjustError::Crossed(_))));
    assert!(matches!(check_plan(&plan("matrix")), Err(AdjustError::OtherAnswers(_))));
    for name in ["lottery", "sets", "crossed-matrix", "matrix"] {
        assert!(check_plan(&plan(name)).unwrap_err().to_string().contains("estimate"), "{name}");
    }
}
