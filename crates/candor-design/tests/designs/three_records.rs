//! Theorem 4: golden bounds by moments of three records, compared with theorem 3, plans and time limits.

use candor_analysis::table_list::TableList;
use candor_base::schema::Schema;
use candor_design::bound::{Bound, Costs};
use candor_runtime::progress::{Deadline, ProgressSink};

fn costs(sizes: &[usize], tables: &str) -> Costs {
    let schema = Schema::with_sizes(sizes).unwrap();
    let (tables, weights) = TableList::parse_weighted(tables, &schema).unwrap();
    Costs::of_tables(&schema, &tables, &weights).unwrap()
}

/// Computed by two prototypes in Python with Clarabel and SCS; `best_plan` is an upper bound of every valid lower
/// bound. The prototypes stopped slightly early, so the certified bound may exceed theirs by a few units of the fifth
/// digit.
#[test]
fn golden_bounds_by_three_records() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("../golden/three_records.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let sizes: Vec<usize> = serde_json::from_value(case["categories"].clone()).unwrap();
        let number = |field: &str| case[field].as_f64().unwrap();
        // Several large kinds take long: they are in the bench.
        if sizes.iter().any(|&size| size > 4) {
            continue;
        }
        // The search ends by itself; a busy machine must not end it earlier.
        let deadline = Deadline::start(Some(600.0), ProgressSink::none());
        let bound = Bound::within(costs(&sizes, "pairs"), number("epsilon"), &deadline).at(number("epsilon"));
        let golden = number("three_records");
        assert!(bound > golden * (1.0 - 1e-3) && bound < golden * (1.0 + 5e-5), "{case}: {bound}");
        assert!(bound < number("best_plan") * (1.0 + 1e-5), "{case}: {bound}");
    }
}

/// Certified in exact rationals by a prototype: the optimum over all sets of records.
#[test]
fn the_optimum_of_four_and_five_binary_attributes() {
    for (attributes, optimum) in [(4, 35.502_927_8), (5, 84.535_662_05)] {
        let bound = Bound::new(costs(&vec![2; attributes], "pairs"), 2.0).at(2.0);
        assert!((bound / optimum - 1.0).abs() < 1e-8, "{bound} for {optimum}");
    }
}

/// Attributes of one size whose tables differ are not exchangeable, and weights count.
#[test]
fn tables_that_treat_attributes_differently() {
    for tables in ["a1,a2;a2,a3;a4", "pairs:3;a1:0.5", "a1,a2,a3", "marginals"] {
        let costs = costs(&[2, 3, 2, 2], tables);
        for epsilon in [0.7, 2.0, 3.5] {
            let pairs = Bound::by_pairs(costs.clone(), epsilon).at(epsilon);
            let both = Bound::new(costs.clone(), epsilon).at(epsilon);
            assert!(both >= pairs && both < 1.2 * pairs, "{tables} {epsilon}: {both} {pairs}");
        }
    }
}

/// Without time only theorem 3 is used. The bound is also valid at epsilons other than the search's.
#[test]
fn time_and_epsilon() {
    let costs = costs(&[2; 6], "pairs");
    let none = Deadline::start(Some(0.0), ProgressSink::none());
    let pairs = Bound::by_pairs(costs.clone(), 2.0).at(2.0);
    assert_eq!(Bound::within(costs.clone(), 2.0, &none).at(2.0), pairs);
    let bound = Bound::new(costs.clone(), 2.0);
    assert!(bound.at(2.0) > 1.1 * pairs);
    let own = Bound::new(costs, 2.1).at(2.1);
    assert!(bound.at(2.1) <= own * (1.0 + 1e-6) && bound.at(2.1) > 0.9 * own, "{} {own}", bound.at(2.1));
    assert!(bound.at(f64::NAN).is_finite() && bound.at(1e9).is_finite());
}
