//! Workload-optimal plans: the eight Adult attributes against results of another program, small cases against all sets
//! of patterns.

use crate::informations::by_components;
use candor_analysis::table_list::TableList;
use candor_base::channel::Channel;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_design::DesignError;
use candor_design::bound::Costs;
use candor_design::joint::least_epsilon::search::SearchLimits;
use candor_design::joint::least_error::{lottery, sampling, single};
use candor_design::minimax::minimax;
use proptest::prelude::*;

const ADULT: [usize; 8] = [9, 16, 7, 15, 6, 5, 2, 2];
const EFFORT: SearchLimits = SearchLimits::to(1e-10);

/// Returns `sum of v_U` over the pairs, each once, from the plan itself.
fn pairs(plan: &Plan, sizes: &[usize]) -> f64 {
    let schema = Schema::with_sizes(sizes).unwrap();
    let mut costs = Costs::of_tables(&schema, &TableList::parse("pairs", &schema).unwrap(), &[1.0; 28]).unwrap();
    let spread = |i: &usize| (sizes[*i] as f64 - 1.0) / sizes[*i] as f64;
    costs.components.retain(|component| component.len() == 2);
    costs.costs = costs.components.iter().map(|component| component.iter().map(spread).product()).collect();
    by_components(plan, &costs)
}

fn certified(plan: &Plan) -> f64 {
    plan.guarantee().epsilon().as_f64()
}

#[test]
fn too_large_epsilons_are_rejected_before_a_search() {
    let schema = Schema::with_sizes(&[4, 5, 2]).unwrap();
    let (tables, weights) = TableList::parse_weighted("pairs", &schema).unwrap();
    for epsilon in [1_000.0, 50_000.0, f64::INFINITY, f64::NAN, 0.0, -1.0] {
        let found = lottery(&schema, epsilon, &tables, &weights, EFFORT);
        assert!(matches!(found, Err(DesignError::Epsilon(_))), "{epsilon}");
    }
}

#[test]
fn adult() {
    let schema = Schema::with_sizes(&ADULT).unwrap();
    let (tables, weights) = TableList::parse_weighted("marginals;pairs", &schema).unwrap();
    // Results of another program: sampling with k-ary answers, one channel, lottery. It counted each component once.
    // Here single attributes count by the number of their tables, about 2.7 times as much, so that pairs have slightly
    // larger errors.
    for (epsilon, sampled, one_channel, lotteries) in [
        (1.0, 658_400.0, 401_600.0, 134_200.0),
        (2.0, 54_740.0, 51_570.0, 22_980.0),
        (4.0, 2_197.0, 3_670.0, 1_972.0),
        (8.0, 484.0, 238.0, 157.0),
    ] {
        let found = lottery(&schema, epsilon, &tables, &weights, EFFORT).unwrap();
        assert!(pairs(&found.plan, &ADULT) <= 1.01 * lotteries, "{epsilon}: {}", pairs(&found.plan, &ADULT));
        assert!(found.of_its_kind.is_none() && found.plan.blocks()[0].channels().len() <= 40);
        let one = single(&schema, epsilon, &tables, &weights, EFFORT).unwrap();
        let error = pairs(&one.plan, &ADULT);
        assert!(error > 0.998 * one_channel && error < 1.08 * one_channel, "{epsilon}: {error}");
        let least = one.of_its_kind.unwrap();
        assert!(least <= one.error && least > one.error * (1.0 - 1e-4));
        let alone = sampling(&schema, epsilon, &TableList::parse("pairs", &schema).unwrap(), &[1.0; 28]).unwrap();
        let error = pairs(&alone.plan, &ADULT);
        assert!(error > 0.998 * sampled && error < 1.02 * sampled, "{epsilon}: {error}");
        assert!(pairs(&found.plan, &ADULT) < error, "never worse than sampling");
        for plan in [&found.plan, &one.plan, &alone.plan] {
            assert!(
                certified(plan) <= epsilon && certified(plan) > epsilon - 1e-6,
                "{} for {epsilon}",
                certified(plan)
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// With three attributes every set of patterns is tried: the bound is a proof, and no other plan is below it.
    #[test]
    fn small_cases_are_proven(sizes in prop::collection::vec(2usize..7, 3), epsilon in 0.3f64..6.0) {
        let schema = Schema::with_sizes(&sizes).unwrap();
        let (tables, weights) = TableList::parse_weighted("pairs", &schema).unwrap();
        let found = lottery(&schema, epsilon, &tables, &weights, EFFORT).unwrap();
        let least = found.of_its_kind.unwrap();
        prop_assert!(least <= found.error * (1.0 + 1e-9));
        prop_assert!(least >= found.error * (1.0 - 2e-3), "{} {}", least, found.error);
        let alone = sampling(&schema, epsilon, &tables, &weights).unwrap();
        let one = single(&schema, epsilon, &tables, &weights, EFFORT).unwrap();
        prop_assert!(least <= alone.error && least <= one.error);
        prop_assert!(found.error <= alone.error * (1.0 + 1e-9), "never worse than sampling");
        prop_assert!(certified(&found.plan) <= epsilon && certified(&found.plan) > epsilon - 1e-6);
    }
}

/// Weights shift the error.
#[test]
fn weights_matter() {
    let schema = Schema::with_sizes(&[4, 5, 6]).unwrap();
    let error = |text: &str| {
        let (tables, weights) = TableList::parse_weighted(text, &schema).unwrap();
        let plan = lottery(&schema, 2.0, &tables, &weights, EFFORT).unwrap().plan;
        let of_first = TableList::parse("a1", &schema).unwrap();
        by_components(&plan, &Costs::of_tables(&schema, &of_first, &[1.0]).unwrap()).sqrt()
    };
    assert!(error("a1:100;a2;a3") < 0.9 * error("a1;a2;a3"));
}

#[test]
fn one_attribute_and_many() {
    for (size, epsilon) in [(2, 0.5), (5, 1.0), (20, 0.5), (20, 3.0), (50, 1.0), (300, 2.0)] {
        let one = Schema::with_sizes(&[size]).unwrap();
        let found = lottery(&one, epsilon, &TableList::marginals(&one), &[1.0], EFFORT).unwrap();
        let axes = |plan: &Plan| match plan.blocks()[0].channels() {
            [(_, Channel::Pattern(pattern))] => pattern.axes().to_vec(),
            other => panic!("{other:?}"),
        };
        let best = minimax(&one, &[epsilon]).unwrap();
        assert_eq!(axes(&found.plan), axes(&best), "subset selection at its best size");
        let costs = Costs::of_tables(&one, &TableList::marginals(&one), &[1.0]).unwrap();
        assert!((by_components(&best, &costs) / found.error - 1.0).abs() < 1e-6);
    }
    let many = Schema::with_sizes(&[3; 24]).unwrap();
    let tables = TableList::marginals(&many);
    let found = lottery(&many, 3.0, &tables, &[1.0; 24], EFFORT).unwrap();
    let alone = sampling(&many, 3.0, &tables, &[1.0; 24]).unwrap();
    assert!(found.error < 0.9 * alone.error, "{} against {}", found.error, alone.error);
    assert!(single(&many, 3.0, &tables, &[1.0; 24], EFFORT).unwrap_err().to_string().contains("at most 20"));
}

#[test]
fn what_is_no_goal_is_refused() {
    let schema = Schema::with_sizes(&[2, 3]).unwrap();
    let tables = TableList::marginals(&schema);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(lottery(&schema, bad, &tables, &[1.0; 2], EFFORT).unwrap_err().to_string().contains("epsilon is"));
    }
}
