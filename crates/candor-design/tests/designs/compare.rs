//! The comparison of methods: each equals its own design, the best is the best, and simulations agree.

use candor_analysis::estimate::{TableEstimator, Target};
use candor_analysis::table_list::TableList;
use candor_base::randomness::Source;
use candor_base::schema::Schema;
use candor_design::DesignError;
use candor_design::compare::{
    Candidate, CandidatePlan, ComparisonTarget, NotApplicable, Simulation, alone, answer, compare, recommended,
    simulated_errors,
};
use candor_design::independent::independent;
use candor_design::predict::predicted_error;
use candor_design::request::{Method, design};
use candor_runtime::progress::ProgressSink;
use proptest::prelude::*;

fn goal(epsilon: f64, tables: &str) -> ComparisonTarget<'_> {
    ComparisonTarget { epsilon, respondents: 10_000.0, tables, clusters: None, time_limit: None }
}

fn made<'a>(candidates: &'a [Candidate], name: &str) -> &'a CandidatePlan {
    candidates.iter().find(|c| c.name == name).unwrap().made.as_ref().unwrap()
}

/// The methods compared, in order.
const COMPARED: [&str; 10] = [
    "independent",
    "minimax",
    "joint",
    "clusters",
    "heuristic",
    "optimal",
    "sampling one attribute",
    "sampling one pair",
    "workload",
    "l-diversity",
];

#[test]
fn every_method_has_the_same_epsilon_and_the_errors_of_its_tables() {
    let schema = Schema::with_sizes(&[3, 5, 4]).unwrap();
    let clusters = [vec![0, 2]];
    let candidates = compare(&schema, &ComparisonTarget { clusters: Some(&clusters), ..goal(3.0, "pairs") }).unwrap();
    assert_eq!(candidates.iter().map(|c| c.name).collect::<Vec<_>>(), COMPARED);
    assert_eq!(made(&candidates, "clusters").plan.blocks().len(), 2);
    for candidate in &candidates {
        let made = candidate.made.as_ref().unwrap();
        let name = candidate.name;
        assert_eq!(
            design(&schema, &made.request).unwrap().plan,
            made.plan,
            "{name}: the request makes the same plan again"
        );
        match candidate.method {
            Method::LDiversity => assert_eq!(made.plan.guarantee().epsilon().finite(), None),
            _ => {
                let certified = made.plan.guarantee().epsilon().as_f64();
                assert!(certified <= 3.0 && certified > 3.0 - 1e-6, "{name}: {certified}");
            }
        }
        // The definition: every cell of every table separately.
        let error = |tables: &str| {
            let mut errors = Vec::new();
            for table in TableList::parse(tables, &schema).unwrap().lists() {
                let estimator = TableEstimator::new(&made.plan, table).unwrap();
                errors.extend(estimator.predict(10_000.0, Target::Population).ok()?.standard_errors);
            }
            Some((errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt())
        };
        let close = |found: Option<f64>, expected: Option<f64>| match (found, expected) {
            (Some(found), Some(expected)) => (found / expected - 1.0).abs() < 1e-12,
            (found, expected) => found == expected,
        };
        assert!(close(made.one_way, error("marginals")), "{name}");
        assert!(close(made.two_way, error("pairs")) && made.asked == made.two_way, "{name}");
    }
    assert_eq!(made(&candidates, "sampling one attribute").two_way, None, "one attribute tells nothing about pairs");
    // A workload-optimal plan is at least as good as sampling.
    let error = |name: &str| made(&candidates, name).asked.unwrap();
    assert!(error("workload") <= error("sampling one pair") * (1.0 + 1e-3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_recommended_one_has_the_least_error(
        sizes in prop::collection::vec(2usize..6, 1..4), epsilon in 0.3f64..6.0,
    ) {
        let schema = Schema::with_sizes(&sizes).unwrap();
        let tables = if sizes.len() > 1 { "pairs" } else { "marginals" };
        let candidates = compare(&schema, &goal(epsilon, tables)).unwrap();
        let best = recommended(&candidates).unwrap();
        let least = best.made.as_ref().unwrap().asked.unwrap();
        for candidate in candidates.iter().filter(|c| c.method != Method::LDiversity) {
            if let Some(error) = candidate.made.as_ref().ok().and_then(|made| made.asked) {
                prop_assert!(least <= error * (1.0 + 1e-6), "{} {} {}", candidate.name, least, error);
            }
        }
        let simpler = candidates.iter().take_while(|c| c.name != best.name);
        for candidate in simpler {
            let error = candidate.made.as_ref().ok().and_then(|made| made.asked);
            prop_assert!(error.is_none_or(|error| error > least), "{}", candidate.name);
        }
    }
}

#[test]
fn of_equal_methods_the_simplest_is_recommended() {
    let schema = Schema::with_sizes(&[2]).unwrap();
    let candidates = compare(&schema, &goal(1.0, "marginals")).unwrap();
    assert_eq!(recommended(&candidates).unwrap().method, Method::Independent);
    let [workload, alone] = ["workload", "independent"].map(|m| made(&candidates, m).one_way.unwrap());
    assert!((workload / alone - 1.0).abs() < 1e-6, "one attribute has nothing to share");
}

#[test]
fn what_does_not_apply_is_left_out_with_its_reason() {
    let reason = |sizes: &[usize], epsilon: f64, tables: &str, name: &str| {
        let schema = Schema::with_sizes(sizes).unwrap();
        let candidates = compare(&schema, &goal(epsilon, tables)).unwrap();
        candidates.into_iter().find(|c| c.name == name).unwrap().made.unwrap_err()
    };
    let two = reason(&[2, 5], 1.0, "pairs", "l-diversity");
    assert!(matches!(two, NotApplicable::Design(DesignError::TwoCategories { .. })), "{two}");
    assert!(matches!(reason(&[4], 1.0, "marginals", "sampling one pair"), NotApplicable::Tables(_)));
    assert!(matches!(reason(&[1000; 7], 4.0, "marginals", "joint"), NotApplicable::Short(e) if e < 1.0));
    let large = reason(&[2000, 2000, 2000], 4.0, "marginals", "sampling one pair");
    assert!(matches!(large, NotApplicable::TooLarge { .. } | NotApplicable::Short(_)), "{large}");
    let few = ComparisonTarget { respondents: 500.0, ..goal(4.0, "pairs") };
    let candidates = compare(&Schema::with_sizes(&[20; 18]).unwrap(), &few).unwrap();
    let workload = candidates.into_iter().find(|c| c.name == "workload").unwrap().made.unwrap_err();
    assert!(matches!(workload, NotApplicable::Design(DesignError::Respondents { tables: 153, .. })), "{workload}");
    let schema = Schema::with_sizes(&[3, 3]).unwrap();
    assert!(matches!(compare(&schema, &goal(1.0, "a9")), Err(DesignError::Tables(_))));
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(compare(&schema, &goal(epsilon, "marginals")), Err(DesignError::Epsilon(_))));
    }
}

#[test]
fn what_a_respondent_sends() {
    let schema = Schema::with_sizes(&[4, 8]).unwrap();
    let alone = answer(&candor_design::independent::independent(&schema, &[1.0, 1.0]).unwrap());
    assert_eq!((alone.columns, alone.categories, alone.bits), (2, 2, 5.0));
    // 6 pairs of 4, 56 triples of 8.
    let sets = answer(&candor_design::l_diversity::l_diversity(&schema, &[2, 3]).unwrap());
    assert_eq!((sets.columns, sets.categories), (2, 5));
    assert!((sets.bits - 336f64.log2()).abs() < 1e-12);
    let tables = TableList::marginals(&schema);
    let lottery = candor_design::joint::least_error::sampling(&schema, 1.0, &tables, &[1.0, 1.0]).unwrap();
    let tagged = answer(&lottery.plan);
    assert_eq!((tagged.columns, tagged.categories, tagged.bits), (3, 2, 6.0));
}

/// 40 repetitions with 3,000 records: 78 cells of two-way tables, of which over 40 vary freely. The errors are not
/// independent, so we count 10 for each repetition. Their mean square is within 35% of its expectation except with
/// probability 1e-6, and the root within 20%.
#[test]
fn simulations_agree_with_predictions() {
    let schema = Schema::with_sizes(&[3, 5, 4]).unwrap();
    let tables = TableList::parse("pairs", &schema).unwrap();
    let clusters = [vec![0, 2]];
    let candidates = compare(&schema, &ComparisonTarget { clusters: Some(&clusters), ..goal(3.0, "pairs") }).unwrap();
    let records = 3_000usize;
    // Records in which all cells of every pair are about equally common.
    let column = |size: usize, step: usize| (0..records).map(|i| (i / step % size) as u16).collect::<Vec<u16>>();
    let truths = [column(3, 1), column(5, 3), column(4, 15)];
    let marginals = TableList::marginals(&schema);
    for candidate in &candidates {
        let plan = &candidate.made.as_ref().unwrap().plan;
        let source = Source::from_seed(5);
        let simulation = Simulation { truths: &truths, repeats: 40, source: &source };
        let simulated = simulated_errors(plan, &[&marginals, &tables], &simulation).unwrap();
        for (list, simulated) in [&marginals, &tables].into_iter().zip(simulated) {
            let predicted = predicted_error(plan, list.lists(), records as f64, Target::Table).ok();
            assert_eq!(predicted.is_some(), simulated.is_some(), "{}", candidate.name);
            if let Some(ratio) = simulated.zip(predicted).map(|(s, p)| s / p) {
                assert!((ratio - 1.0).abs() < 0.2, "{}: {ratio}", candidate.name);
            }
        }
    }
    // The test can fail: half as many records have larger errors.
    let plan = &made(&candidates, "independent").plan;
    let source = Source::from_seed(5);
    let half: Vec<Vec<u16>> = truths.iter().map(|column| column[..records / 2].to_vec()).collect();
    let simulation = Simulation { truths: &half, repeats: 40, source: &source };
    let simulated = simulated_errors(plan, &[&tables], &simulation).unwrap()[0].unwrap();
    let predicted = predicted_error(plan, tables.lists(), records as f64, Target::Table).unwrap();
    assert!(simulated / predicted > 1.2);
    let wrong = Simulation { truths: &half[..2], repeats: 1, source: &source };
    assert!(simulated_errors(plan, &[&marginals], &wrong).is_err());
}

/// If a binary question is the only randomized one, plain randomized response is best; another design predicts its
/// errors.
#[test]
fn what_the_others_cost() {
    let schema = Schema::with_sizes(&[2, 3, 4, 2]).unwrap();
    for (epsilon, tables) in [(0.5, "pairs"), (2.0, "pairs"), (2.0, "marginals"), (2.0, "a1,a2;a3")] {
        let goal = goal(epsilon, tables);
        let candidates = compare(&schema, &goal).unwrap();
        let best = recommended(&candidates).unwrap();
        let found = alone(&schema, &goal, best, ProgressSink::none()).unwrap();
        let asked = TableList::parse(tables, &schema).unwrap();
        let in_a_table = |a: &usize| asked.lists().iter().any(|table| table.contains(a));
        assert_eq!(
            found.iter().map(|one| one.attribute).collect::<Vec<_>>(),
            (0..4).filter(in_a_table).collect::<Vec<_>>()
        );
        for one in &found {
            assert!(one.alone < 0.8 * one.among_all, "{one:?}");
        }
        let with: Vec<Vec<usize>> = asked.lists().iter().filter(|table| table.contains(&0)).cloned().collect();
        let made = best.made.as_ref().unwrap();
        let among_all = predicted_error(&made.plan, &with, goal.respondents, Target::Population).unwrap();
        assert!((found[0].among_all / among_all - 1.0).abs() < 1e-12);
        let others = schema.attributes().iter().enumerate();
        let open = others.map(|(i, other)| if i == 0 { other.clone() } else { other.clone().public() }).collect();
        let plain = independent(&Schema::new(open).unwrap(), &[epsilon]).unwrap();
        let by_itself = predicted_error(&plain, &with, goal.respondents, Target::Population).unwrap();
        assert!((found[0].alone / by_itself - 1.0).abs() < 1e-6, "{} {by_itself}", found[0].alone);
    }
    let one = Schema::with_sizes(&[3]).unwrap();
    let goal = goal(1.0, "marginals");
    let candidates = compare(&one, &goal).unwrap();
    assert_eq!(alone(&one, &goal, recommended(&candidates).unwrap(), ProgressSink::none()).unwrap(), []);
}
