//! The privacy-optimal design against golden optima, closed forms and its own certificate.

use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_design::joint::least_epsilon::levels::EpsilonTargets;
use candor_design::joint::least_epsilon::search::{MAX_STEPS, SearchLimits, search};
use candor_design::joint::least_epsilon::{Bounded, alike_epsilon, optimal, optimal_within};
use proptest::prelude::*;

struct Golden {
    sizes: Vec<usize>,
    epsilons: Vec<f64>,
    optimum: f64,
}

fn golden() -> Vec<Golden> {
    let cases: serde_json::Value = serde_json::from_str(include_str!("../golden/joint_optimum.json")).unwrap();
    let case = |case: &serde_json::Value| Golden {
        sizes: case["categories"].as_array().unwrap().iter().map(|a| a.as_u64().unwrap() as usize).collect(),
        epsilons: case["attribute_epsilons"].as_array().unwrap().iter().map(|e| e.as_f64().unwrap()).collect(),
        optimum: case["optimal_epsilon"].as_f64().unwrap(),
    };
    cases.as_array().unwrap().iter().map(case).collect()
}

/// Without a time limit, to the level of rounding.
const EFFORT: SearchLimits = SearchLimits::to(1e-10);

fn design(sizes: &[usize], epsilons: &[f64]) -> Bounded {
    optimal(&Schema::with_sizes(sizes).unwrap(), epsilons, EFFORT).unwrap()
}

fn certified(plan: &Plan) -> f64 {
    plan.guarantee().epsilon().as_f64()
}

/// Checks that each level is met to 1e-9 and never exceeded, and that the bound is below the certificate.
fn is_honest(found: &Bounded, epsilons: &[f64]) {
    assert!(found.lower_bound <= certified(&found.plan), "{} above {}", found.lower_bound, certified(&found.plan));
    for (attribute, &asked) in found.plan.guarantee().attributes().iter().zip(epsilons) {
        let marginal = attribute.marginal.unwrap().as_f64();
        assert!(marginal <= asked && marginal > asked - 1e-9, "{marginal} for {asked}");
        assert!(attribute.conditional.as_f64() <= certified(&found.plan) + 1e-12);
    }
}

#[test]
fn golden_optima() {
    let cases = golden();
    assert_eq!(cases.len(), 46);
    for Golden { sizes, epsilons, optimum } in cases {
        let found = design(&sizes, &epsilons);
        is_honest(&found, &epsilons);
        assert!((certified(&found.plan) - optimum).abs() < 1e-6, "{} for {optimum}", certified(&found.plan));
        assert!((found.lower_bound - optimum).abs() < 1e-6, "{} for {optimum}", found.lower_bound);
    }
}

/// Equal levels, levels within a total, and two kinds of levels: attributes in classes, by the linear program over
/// orbits.
#[test]
fn golden_optima_of_classes() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("../golden/joint_classes.json")).unwrap();
    let numbers = |value: &serde_json::Value| -> Option<Vec<f64>> {
        value.as_array().map(|list| list.iter().map(|number| number.as_f64().unwrap()).collect())
    };
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let sizes: Vec<usize> = numbers(&case["categories"]).unwrap().into_iter().map(|a| a as usize).collect();
        let close = |found: &Bounded, epsilons: &[f64], optimum: f64| {
            is_honest(found, epsilons);
            assert!((certified(&found.plan) - optimum).abs() < 1e-6, "{} for {optimum}", certified(&found.plan));
            assert!((found.lower_bound - optimum).abs() < 1e-6, "{} for {optimum}", found.lower_bound);
        };
        let equal = vec![case["equal_level"].as_f64().unwrap(); sizes.len()];
        close(&design(&sizes, &equal), &equal, case["optimal"].as_f64().unwrap());
        let levels = numbers(&case["levels"]).unwrap();
        if let Some(optimum) = case["optimal_of_levels"].as_f64() {
            close(&design(&sizes, &levels), &levels, optimum);
        }
        if let (Some(total), Some(level)) = (case["total"].as_f64(), case["level_within_total"].as_f64()) {
            let schema = Schema::with_sizes(&sizes).unwrap();
            let found = optimal_within(&schema, total, &vec![1.0; sizes.len()], EFFORT).unwrap();
            assert!(certified(&found.plan) <= total && found.lower_bound > total - 1e-6);
            let marginal = found.plan.guarantee().attributes()[0].marginal.unwrap().as_f64();
            assert!((marginal - level).abs() < 1e-6, "{marginal} for {level}");
        }
    }
}

/// Random numbers in a range, the same on every run.
struct Numbers(u64);

impl Numbers {
    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn instance(&mut self, k: usize, low: f64, high: f64) -> (Vec<usize>, Vec<f64>) {
        let sizes = (0..k).map(|_| self.within(2.0, 6.0) as usize).collect();
        (sizes, (0..k).map(|_| self.within(low, high)).collect())
    }
}

#[test]
fn gaps_of_larger_instances() {
    let mut numbers = Numbers(12_345);
    for (k, low, high, gap) in
        [(16, 0.2, 2.0, 1e-6), (16, 1.0, 10.0, 1e-6), (20, 0.2, 2.0, 1e-6), (24, 0.2, 2.0, 1e-6), (31, 0.2, 1.2, 1e-3)]
    {
        let (sizes, epsilons) = numbers.instance(k, low, high);
        let found = design(&sizes, &epsilons);
        is_honest(&found, &epsilons);
        assert!(
            certified(&found.plan) - found.lower_bound <= gap,
            "{k}: {}",
            certified(&found.plan) - found.lower_bound
        );
    }
}

/// Thirty attributes at epsilon 3: the program of the sets found so far has many equally good solutions, and pivots
/// between them must not end the search. (This instance was left with a gap of 3.)
#[test]
fn pivots_without_gain_are_not_the_end() {
    let sizes =
        vec![7, 14, 5, 11, 5, 2, 14, 14, 15, 2, 16, 14, 10, 13, 14, 4, 8, 8, 5, 9, 19, 15, 4, 12, 11, 9, 19, 20, 8, 10];
    let levels = EpsilonTargets::new(sizes, vec![3.0; 30]).unwrap();
    let found = search(&levels, SearchLimits::to(1e-7));
    assert!(found.upper - found.lower < 1e-6, "{} {}", found.lower, found.upper);
}

/// Nearly equal attributes make nearly singular programs; the gap must stay small.
#[test]
fn gaps_of_nearly_alike_attributes() {
    let mut numbers = Numbers(99);
    let check = |sizes: Vec<usize>| {
        let levels = EpsilonTargets::new(sizes.clone(), vec![3.0; sizes.len()]).unwrap();
        let found = search(&levels, EFFORT);
        assert!(found.upper - found.lower < 1e-6, "{sizes:?}: {} {}", found.upper, found.lower);
    };
    // Two that were wrong by 1e-3 and 1e-5 once.
    check(vec![12, 2, 14, 15, 9, 16, 19, 5, 20, 20, 18, 20, 14, 5, 2, 19]);
    check(vec![15, 18, 18, 4, 16, 4, 18, 10, 15, 9, 3, 8, 2, 11, 3, 6]);
    for _ in 0..100 {
        check((0..16).map(|_| numbers.within(2.0, 21.0) as usize).collect());
    }
}

/// Typical inputs: equal levels, few numbers of categories, ties everywhere. Steps are counted, so that this holds on
/// every machine.
#[test]
fn equal_and_nearly_equal_levels_take_few_steps() {
    let mut numbers = Numbers(31);
    let cases: [(usize, f64, f64, f64, f64, u64); 9] = [
        // Attributes, largest number of categories, lowest and highest level, gap, steps.
        (18, 5.0, 0.3, 0.3, 1e-7, 1 << 23),
        (22, 5.0, 0.3, 0.3, 1e-7, 1 << 23),
        (30, 5.0, 0.3, 0.3, 1e-7, 1 << 23),
        (30, 30.0, 1.0, 1.0, 1e-7, 1 << 28),
        (100, 5.0, 0.1, 0.1, 1e-5, 1 << 26),
        (1_000, 2.9, 0.02, 0.02, 1e-4, 1 << 30),
        (16, 5.0, 0.3, 0.300_000_1, 1e-7, 1 << 28),
        (16, 5.0, 0.3, 0.301, 1e-7, 1 << 28),
        (20, 5.0, 0.3, 0.33, 1e-7, 1 << 28),
    ];
    for (k, categories, low, high, gap, steps) in cases {
        for _ in 0..3 {
            let sizes: Vec<usize> = (0..k).map(|_| numbers.within(2.0, categories + 1.0) as usize).collect();
            let levels =
                EpsilonTargets::new(sizes.clone(), (0..k).map(|_| numbers.within(low, high)).collect()).unwrap();
            let found = search(&levels, SearchLimits::to(0.9 * gap));
            assert!(found.upper - found.lower <= gap, "{sizes:?} {low}: gap {}", found.upper - found.lower);
            assert!(found.steps <= steps, "{sizes:?} {low}: {} steps", found.steps);
        }
    }
}

/// The search ends by its steps even for hard instances, with two bounds.
#[test]
fn the_hardest_search_ends() {
    let (sizes, epsilons) = Numbers(5).instance(200, 0.05, 0.5);
    let found = search(&EpsilonTargets::new(sizes, epsilons).unwrap(), SearchLimits::to(0.0));
    assert!(found.steps < MAX_STEPS + MAX_STEPS / 8, "{}", found.steps);
    assert!(found.lower > 0.0 && found.upper >= found.lower && found.upper < 1.01 * found.lower);
}

#[test]
fn a_hundred_attributes() {
    let (sizes, epsilons) = Numbers(7).instance(100, 0.1, 0.5);
    let found = design(&sizes, &epsilons);
    is_honest(&found, &epsilons);
    let epsilon = certified(&found.plan);
    assert!((epsilon - found.lower_bound) / epsilon <= 0.003, "{epsilon} {}", found.lower_bound);
}

#[test]
fn alike_attributes_have_a_closed_form() {
    for (k, categories, epsilon) in [(2, 3, 1.0), (4, 5, 1.0), (9, 2, 0.3), (25, 4, 0.5), (200, 5, 0.1)] {
        let found = design(&vec![categories; k], &vec![epsilon; k]);
        is_honest(&found, &vec![epsilon; k]);
        let closed = alike_epsilon(k, categories, epsilon).unwrap();
        assert!((certified(&found.plan) - closed).abs() < 1e-8, "{k}: {} for {closed}", certified(&found.plan));
        assert!(certified(&found.plan) - found.lower_bound < 1e-8);
        assert_eq!(found.plan.to_json().matches("threshold").count(), 1, "one set is enough");
        // The general search does not use the closed form.
        if k < 30 {
            let levels = EpsilonTargets::new(vec![categories; k], vec![epsilon; k]).unwrap();
            let general = search(&levels, EFFORT);
            assert!((general.upper - closed).abs() < 1e-7 && general.lower <= closed + 1e-9);
        }
    }
    // A known value: a = 5, k = 4, levels 1: marginal 1, conditional 2.24.
    let found = design(&[5; 4], &[1.0; 4]);
    let attribute = &found.plan.guarantee().attributes()[0];
    assert!((attribute.conditional.as_f64() - 2.24).abs() < 0.005, "{}", attribute.conditional);
}

#[test]
fn obvious_answers() {
    // One attribute: k-ary randomized response. Epsilon 0: no information.
    assert!((certified(&design(&[4], &[1.5]).plan) - 1.5).abs() < 1e-9);
    assert_eq!(certified(&design(&[4, 2], &[0.0, 0.0]).plan), 0.0);
    let half = design(&[4, 2, 3], &[1.0, 0.0, 0.5]);
    is_honest(&half, &[1.0, 0.0, 0.5]);
    assert_eq!(half.plan.guarantee().attributes()[1].conditional.as_f64(), 0.0);
    assert!((certified(&half.plan) - certified(&design(&[4, 3], &[1.0, 0.5]).plan)).abs() < 1e-8);
}

/// If 64 bits are not enough for the request, the epsilon is smaller, never larger.
#[test]
fn huge_epsilons_are_not_exceeded() {
    for epsilons in [[20.0, 14.0], [30.0, 25.0], [40.0, 45.0], [60.0, 1.0]] {
        let found = design(&[4, 5], &epsilons);
        for (attribute, asked) in found.plan.guarantee().attributes().iter().zip(epsilons) {
            let marginal = attribute.marginal.unwrap().as_f64();
            assert!(marginal <= asked, "{marginal} for {asked}");
            assert!(asked > 22.0 || marginal > asked - 1e-6, "{marginal} for {asked}");
        }
    }
}

#[test]
fn what_is_no_privacy_loss_is_refused() {
    let schema = Schema::with_sizes(&[2, 3]).unwrap();
    for bad in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
        let error = optimal(&schema, &[1.0, bad], EFFORT).unwrap_err().to_string();
        assert!(error.contains("epsilon is"), "{error}");
    }
    let error = optimal(&schema, &[1.0], EFFORT).unwrap_err().to_string();
    assert!(error.contains("1 value, but there are 2"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Never more than the sum of the levels, never below the largest; bounds are valid; and the order of the
    /// attributes does not matter.
    #[test]
    fn random_instances(instance in prop::collection::vec((2usize..9, 0.05f64..8.0), 2..9)) {
        let (sizes, epsilons): (Vec<usize>, Vec<f64>) = instance.iter().copied().unzip();
        let found = design(&sizes, &epsilons);
        is_honest(&found, &epsilons);
        let epsilon = certified(&found.plan);
        prop_assert!(epsilon <= epsilons.iter().sum::<f64>() + 1e-9);
        prop_assert!(epsilon >= epsilons.iter().copied().fold(0.0, f64::max) - 1e-9);
        prop_assert!(epsilon - found.lower_bound < 1e-6, "{} {}", epsilon, found.lower_bound);
        let (sizes, epsilons): (Vec<usize>, Vec<f64>) = instance.iter().rev().copied().unzip();
        prop_assert!((certified(&design(&sizes, &epsilons).plan) - epsilon).abs() < 1e-7);
    }

    /// More misses are never more likely: X(S) >= X(T) for S within T.
    #[test]
    fn likelihoods_fall_with_misses(instance in prop::collection::vec((2usize..6, 0.05f64..6.0), 2..6)) {
        let (sizes, epsilons): (Vec<usize>, Vec<f64>) = instance.iter().copied().unzip();
        let found = design(&sizes, &epsilons);
        let candor_base::channel::Channel::Pattern(pattern) = &found.plan.blocks()[0]
            .channels()[0].1 else { unreachable!() };
        let all: Vec<usize> = (0..sizes.len()).collect();
        let masses = pattern.marginal(&all);
        let likelihood = |s: usize| {
            let answers: f64 = all.iter().filter(|&&i| s >> i & 1 == 1).map(|&i| sizes[i] as f64 - 1.0).product();
            masses.probabilities()[s] / answers
        };
        for s in 0..1usize << sizes.len() {
            for i in all.iter().filter(|&&i| s >> i & 1 == 0) {
                prop_assert!(likelihood(s) >= likelihood(s | 1 << i) * (1.0 - 1e-9));
            }
        }
    }

    /// The inverse problem: within the total, close to it, in the requested ratio.
    #[test]
    fn totals_are_met(
        instance in prop::collection::vec((2usize..7, 0.2f64..3.0), 2..7),
        total in 0.1f64..8.0,
    ) {
        let (sizes, ratio): (Vec<usize>, Vec<f64>) = instance.iter().copied().unzip();
        let found = optimal_within(&Schema::with_sizes(&sizes).unwrap(), total, &ratio, EFFORT).unwrap();
        let epsilon = certified(&found.plan);
        prop_assert!(epsilon <= total && epsilon > total - 1e-6, "{} for {}", epsilon, total);
        let marginal = |i: usize| found.plan.guarantee().attributes()[i].marginal.unwrap().as_f64();
        for i in 1..sizes.len() {
            prop_assert!((marginal(i) / marginal(0) - ratio[i] / ratio[0]).abs() < 1e-6 * ratio[i] / ratio[0]);
        }
    }
}
