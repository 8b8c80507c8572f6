//! How many respondents it takes.

mod survey;

use candor_analysis::estimate::{Interval, TableEstimator, Target};
use candor_analysis::table_list::TableList;
use candor_study::StudyError;
use candor_study::size::size;
use survey::Survey;

#[test]
fn so_many_respondents_reach_the_margin_and_one_fewer_do_not() {
    let plan = Survey::independent().plan;
    let tables = TableList::parse("smokes;pairs", plan.schema()).unwrap();
    let found = size(&plan, &tables, 0.02, 0.95, Interval::Wald).unwrap();
    assert_eq!(found.tables[1].attributes, ["smokes", "school"]);
    for (one, table) in found.tables.iter().zip(tables.lists()) {
        let needed = one.respondents.unwrap();
        let error = |respondents: f64| {
            let estimator = TableEstimator::new(&plan, table).unwrap();
            Interval::Wald.reach(0.95, 1) * estimator.predict(respondents, Target::Population).unwrap().largest_error()
        };
        assert!(error(needed) <= 0.02 * (1.0 + 1e-12) && error(needed - 1.0) > 0.02, "{one:?}");
    }
    let all = size(&plan, &tables, 0.02, 0.95, Interval::Simultaneous).unwrap();
    assert!(all.tables[1].respondents > found.tables[1].respondents);
}

#[test]
fn what_no_number_tells_says_why() {
    let silent = Survey::new(r#"{"method": "independent", "epsilon": 0}"#).plan;
    let tables = TableList::parse("smokes", silent.schema()).unwrap();
    let found = size(&silent, &tables, 0.02, 0.95, Interval::Wald).unwrap();
    assert_eq!(found.tables[0].respondents, None);
    assert!(found.tables[0].reason.as_ref().unwrap().starts_with("not identifiable"));
    for margin in [0.0, 1.0, f64::NAN] {
        assert!(matches!(size(&silent, &tables, margin, 0.95, Interval::Wald), Err(StudyError::Needs(_))));
    }
    assert_eq!(size(&silent, &tables, 0.02, 1.5, Interval::Wald), Err(StudyError::Confidence(1.5)));
}

/// No truth needs more than the worst case, and some need more than the uniform one.
#[test]
fn the_worst_case_holds_for_every_truth() {
    for request in [r#"{"method": "independent", "epsilon": 6}"#, r#"{"method": "workload", "epsilon": 3}"#] {
        let plan = Survey::new(request).plan;
        let tables = TableList::parse("smokes;school;pairs", plan.schema()).unwrap();
        let found = size(&plan, &tables, 0.02, 0.95, Interval::Wald).unwrap();
        for (one, table) in found.tables.iter().zip(tables.lists()) {
            let (uniform, worst) = (one.respondents.unwrap(), one.worst_case.unwrap());
            assert!(worst >= uniform, "{one:?}");
            let estimator = TableEstimator::new(&plan, table).unwrap();
            let cells: usize = table.iter().map(|&a| plan.schema().size(a)).product();
            let margin = |shares: &[f64]| {
                let estimate = estimator.predict_at(worst, shares).unwrap().unwrap();
                Interval::Wald.reach(0.95, 1) * estimate.largest_error()
            };
            let mut largest: f64 = 0.0;
            for step in 0..=40 {
                let share = f64::from(step) / 40.0;
                for other in 1..cells {
                    let truth: Vec<f64> = (0..cells)
                        .map(|cell| {
                            if cell == 0 {
                                share
                            } else if cell == other {
                                1.0 - share
                            } else {
                                0.0
                            }
                        })
                        .collect();
                    largest = largest.max(margin(&truth));
                }
            }
            assert!(largest <= 0.02 * (1.0 + 1e-9), "{one:?}: {largest}");
            // It is not far above what some truth needs.
            assert!(largest > 0.02 * 0.95, "{one:?}: {largest}");
        }
    }
}
