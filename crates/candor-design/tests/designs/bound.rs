//! Lower bounds: golden numbers, the exact optimum on tiny domains, and no plan below the bound.

use std::collections::BTreeMap;

use crate::informations::by_components;
use candor_analysis::table_list::TableList;
use candor_base::randomness::Source;
use candor_base::schema::{Attribute, Schema};
use candor_design::bound::{Bound, Costs, OptimalityGap, squared_error};
use candor_design::compare::{ComparisonTarget, Simulation, compare, simulated_errors};
use candor_design::joint::least_epsilon::search::SearchLimits;
use candor_design::joint::least_error::{lottery, sampling, single};
use candor_design::joint::rr_joint::rr_joint;
use proptest::prelude::*;

const EFFORT: SearchLimits = SearchLimits::to(1e-10);

fn costs(schema: &Schema, tables: &str) -> Costs {
    let (tables, weights) = TableList::parse_weighted(tables, schema).unwrap();
    Costs::of_tables(schema, &tables, &weights).unwrap()
}

fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found} for {expected}");
}

/// Computed by a prototype in Python (barrier method), which was checked with cvxpy and Clarabel to six digits.
#[test]
fn golden_bounds_of_tables() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("../golden/bound_of_tables.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let sizes: Vec<usize> = serde_json::from_value(case["categories"].clone()).unwrap();
        let lists: Vec<Vec<usize>> = serde_json::from_value(case["tables"].clone()).unwrap();
        let schema = Schema::with_sizes(&sizes).unwrap();
        let weights = vec![1.0; lists.len()];
        let tables = TableList::new(lists, &schema).unwrap();
        compare_with_golden(Costs::of_tables(&schema, &tables, &weights).unwrap(), case);
    }
}

/// The same with other costs: `prod (a_i - 1)/a_i` for each component, for any tables.
#[test]
fn golden_bounds_of_components() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("../golden/bound_of_components.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let sizes: Vec<usize> = serde_json::from_value(case["categories"].clone()).unwrap();
        let schema = Schema::with_sizes(&sizes).unwrap();
        let mut costs = costs(&schema, case["components"].as_str().unwrap());
        let spread = |&i: &usize| (sizes[i] as f64 - 1.0) / sizes[i] as f64;
        costs.costs = costs.components.iter().map(|component| component.iter().map(spread).product()).collect();
        compare_with_golden(costs, case);
    }
}

fn compare_with_golden(costs: Costs, case: &serde_json::Value) {
    let epsilon = case["epsilon"].as_f64().unwrap();
    let number = |field: &str| case[field].as_f64().unwrap();
    // Without randomization only the sampling error would be left.
    let sampling: f64 = costs.costs.iter().sum();
    near(Bound::closed_form(costs.clone()).at(epsilon), number("closed_form").max(sampling), 1e-12, "closed form");
    near(Bound::by_pairs(costs, epsilon).at(epsilon), number("bound"), 1e-5, &case.to_string());
}

/// Returns `|P_U 1_A|^2` of a set of cells for each component, as means over the domain.
fn spectrum(sizes: &[usize], set: usize) -> Vec<f64> {
    let (k, cells) = (sizes.len(), sizes.iter().product::<usize>());
    let coordinates = |mut cell: usize| -> Vec<usize> {
        let split = |&size: &usize| {
            let at = cell % size;
            cell /= size;
            at
        };
        sizes.iter().map(split).collect()
    };
    // The mean square of the margin means over each set of attributes.
    let mean_square = |margin: usize| -> f64 {
        let mut counts: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        for cell in (0..cells).filter(|cell| set >> cell & 1 == 1) {
            let at = coordinates(cell).into_iter().enumerate().filter(|(i, _)| margin >> i & 1 == 1).map(|(_, at)| at);
            *counts.entry(at.collect()).or_default() += 1.0;
        }
        let width: f64 = (0..k).filter(|i| margin >> i & 1 == 1).map(|i| sizes[i] as f64).product();
        counts.values().map(|count| count * count).sum::<f64>() * width / (cells as f64).powi(2)
    };
    let squares: Vec<f64> = (0..1usize << k).map(mean_square).collect();
    let sign = |u: usize, s: usize| if (u ^ s).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
    let norm = |u: usize| (0..1usize << k).filter(|s| s & u == *s).map(|s| sign(u, s) * squares[s]).sum::<f64>();
    (0..1usize << k).map(|u| norm(u).max(0.0)).collect()
}

/// Returns a lower and an upper bound on the exact optimum over all channels, which meet to 1e-4.
///
/// The optimum is an A-optimal design over all subsets of the domain (theorem 1).
fn optimum(costs: &Costs, epsilon: f64) -> (f64, f64) {
    let (sizes, f) = (&costs.sizes, epsilon.exp_m1());
    let cells: usize = sizes.iter().product();
    let mask = |component: &Vec<usize>| component.iter().fold(0usize, |mask, i| mask | 1 << i);
    let mut informations: Vec<Vec<f64>> = (1..(1usize << cells) - 1)
        .map(|set| {
            let (spectrum, p) = (spectrum(sizes, set), set.count_ones() as f64 / cells as f64);
            let about = |(u, component): (usize, &Vec<usize>)| {
                f * f * spectrum[mask(component)] / (costs.dimension(u) * (1.0 + f * p).powi(2))
            };
            costs.components.iter().enumerate().map(about).collect()
        })
        .collect();
    informations.sort_by(|a, b| a.partial_cmp(b).unwrap());
    informations.dedup_by(|a, b| a.iter().zip(b).all(|(a, b)| (*a - *b).abs() < 1e-13));
    let mut weights = vec![1.0 / informations.len() as f64; informations.len()];
    let (mut lower, mut upper) = (0.0f64, f64::INFINITY);
    for _ in 0..200_000 {
        let total = |u: usize| informations.iter().zip(&weights).map(|(i, w)| i[u] * w).sum::<f64>();
        let totals: Vec<f64> = (0..costs.costs.len()).map(total).collect();
        let value: f64 = costs.costs.iter().zip(&totals).map(|(cost, total)| cost / total).sum();
        let price = |i: &Vec<f64>| i.iter().zip(&totals).zip(&costs.costs).map(|((i, t), c)| i * c / (t * t)).sum();
        let prices: Vec<f64> = informations.iter().map(price).collect();
        let most = prices.iter().copied().fold(0.0, f64::max);
        (lower, upper) = (lower.max(value * value / most), upper.min(value));
        if upper < lower * (1.0 + 1e-5) {
            break;
        }
        weights.iter_mut().zip(&prices).for_each(|(weight, price)| *weight *= (price / value).sqrt());
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
    assert!(upper < lower * (1.0 + 1e-4), "{lower} {upper}");
    (lower, upper)
}

/// The exact optimum is at least the bound, and close to it. No plan is below the optimum, and lotteries nearly reach
/// it.
#[test]
fn the_exact_optimum_on_tiny_domains() {
    for (sizes, tables, most) in [
        (&[2, 2][..], "joint", 1.0001),
        (&[2, 3], "marginals", 1.0001),
        (&[2, 3], "joint", 1.0001),
        (&[3, 3], "joint", 1.0001),
        (&[2, 2, 2], "marginals", 1.0001),
        (&[2, 2, 2], "pairs", 1.0001),
        (&[2, 2, 2], "joint", 1.0001),
        (&[2, 4], "joint", 1.006),
        (&[3, 4], "joint", 1.002),
        (&[3, 4], "marginals", 1.0001),
        (&[2, 2, 3], "pairs", 1.001),
        (&[2, 2, 3], "joint", 1.003),
        (&[2, 2, 3], "marginals", 1.0001),
    ] {
        let schema = Schema::with_sizes(sizes).unwrap();
        let (lists, weights) = TableList::parse_weighted(tables, &schema).unwrap();
        for epsilon in [0.5, 1.0, 2.0, 4.0] {
            let case = format!("{sizes:?} {tables} {epsilon}");
            let costs = costs(&schema, tables);
            let (lower, upper) = optimum(&costs, epsilon);
            let bound = Bound::new(costs, epsilon).at(epsilon);
            assert!(bound <= upper, "{case}: {bound} above {upper}");
            assert!(bound > upper / 1.07, "{case}: {bound} far below {upper}");
            let designed = lottery(&schema, epsilon, &lists, &weights, EFFORT).unwrap();
            let error = squared_error(&designed.plan, &lists, &weights).unwrap();
            assert!(error >= lower * (1.0 - 1e-9), "{case}: {error} below {lower}");
            assert!(error < most * upper, "{case}: {error} far above {upper}");
        }
    }
}

/// A number by hand for the oracle itself: single cells are optimal for the joint table of 2 x 3 at a large epsilon.
#[test]
fn single_cells_at_a_large_epsilon() {
    let schema = Schema::with_sizes(&[2, 3]).unwrap();
    let (_, upper) = optimum(&costs(&schema, "joint"), 4.0);
    let (f, n) = (4f64.exp_m1(), 6.0);
    // K-ary randomized response: lambda = F/(F + 6), error = (1/6) sum of d_U / lambda^2 = (5/6)/lambda^2.
    near(upper, 5.0 / n * ((f + n) / f).powi(2), 1e-4, "k-ary");
}

#[test]
fn what_is_minimised_is_what_is_printed() {
    let schema = Schema::with_sizes(&[4, 3, 5]).unwrap();
    for text in ["pairs", "marginals;pairs", "joint", "a1,a2:3;a3", "a2,a1;a1,a2;a1:0.5"] {
        let (tables, weights) = TableList::parse_weighted(text, &schema).unwrap();
        let costs = costs(&schema, text);
        for epsilon in [0.7, 3.0] {
            for found in [
                lottery(&schema, epsilon, &tables, &weights, EFFORT).unwrap(),
                sampling(&schema, epsilon, &tables, &weights).unwrap(),
                single(&schema, epsilon, &tables, &weights, EFFORT).unwrap(),
            ] {
                let printed = squared_error(&found.plan, &tables, &weights).unwrap();
                near(printed, by_components(&found.plan, &costs), 1e-9, text);
                near(printed, found.error, 1e-6, text);
                let standing = OptimalityGap::new(&found.plan, &tables, &weights).unwrap();
                assert_eq!(standing.error, printed);
                assert!(standing.bound <= printed && standing.times() >= 1.0);
                assert!(standing.bound >= printed * (1.0 - standing.percent() / 100.0));
                assert!(found.of_its_kind.is_none_or(|least| least >= standing.bound * (1.0 - 1e-6)));
            }
        }
    }
}

/// 1,000 repetitions with 480 records, uniform over 2 x 3 x 2. The squared error of a table has at least five degrees
/// of freedom, so its mean is within 0.1 of the expectation (five standard deviations).
#[test]
fn simulations_have_the_error_that_was_minimised() {
    let schema = Schema::with_sizes(&[2, 3, 2]).unwrap();
    let (tables, weights) = TableList::parse_weighted("pairs", &schema).unwrap();
    let records = 480usize;
    let column = |size: usize, step: usize| (0..records).map(|i| (i / step % size) as u16).collect::<Vec<u16>>();
    let truths = [column(2, 1), column(3, 2), column(2, 6)];
    for found in
        [lottery(&schema, 2.0, &tables, &weights, EFFORT).unwrap(), sampling(&schema, 2.0, &tables, &weights).unwrap()]
    {
        let source = Source::from_seed(11);
        let simulation = Simulation { truths: &truths, repeats: 1_000, source: &source };
        let simulated = simulated_errors(&found.plan, &[&tables], &simulation).unwrap()[0].unwrap();
        let cells = 6.0 + 4.0 + 6.0;
        let observed = simulated.powi(2) * cells * records as f64;
        // For these fixed records: without the sampling error, (cells - 1)/cells for each table.
        let expected = found.error - (5.0 / 6.0 + 3.0 / 4.0 + 5.0 / 6.0);
        near(observed, expected, 0.1, "simulated");
        assert!((observed / (1.25 * expected) - 1.0).abs() > 0.1, "the test can fail");
    }
}

#[test]
fn where_nothing_can_be_said_nothing_is() {
    let schema = Schema::with_sizes(&[4, 3]).unwrap();
    let (tables, weights) = TableList::parse_weighted("a1:1e308;a1,a2:1e308;a2:1e308", &schema).unwrap();
    let plan = rr_joint(&schema, 2.0).unwrap();
    assert_eq!(OptimalityGap::new(&plan, &tables, &weights), None, "beyond the numbers");
    assert!(OptimalityGap::new(&plan, &tables, &[1.0; 3]).is_some());
    let sets = candor_design::l_diversity::l_diversity(&schema, &[2, 2]).unwrap();
    assert_eq!(OptimalityGap::new(&sets, &tables, &[1.0; 3]), None, "no epsilon");
    let marginals = TableList::marginals(&schema);
    let alone = sampling(&schema, 2.0, &marginals, &[1.0; 2]).unwrap().plan;
    assert_eq!(OptimalityGap::new(&alone, &tables, &[1.0; 3]), None, "pairs are erased");
    assert!(OptimalityGap::new(&alone, &marginals, &[1.0; 2]).is_some());
}

#[test]
fn the_joint_table_is_not_better_off_with_joint() {
    let schema = Schema::with_sizes(&[5, 2, 2]).unwrap();
    let (tables, weights) = TableList::parse_weighted("joint", &schema).unwrap();
    for epsilon in [0.5, 1.0, 2.0, 3.0, 4.0, 8.0] {
        let designed = lottery(&schema, epsilon, &tables, &weights, EFFORT).unwrap();
        let [error, joint] = [&designed.plan, &rr_joint(&schema, epsilon).unwrap()]
            .map(|plan| squared_error(plan, &tables, &weights).unwrap());
        assert!(error <= joint * (1.0 + 1e-8), "{epsilon}: {error} against {joint}");
    }
    let plan = |text: &str| {
        let (tables, weights) = TableList::parse_weighted(text, &schema).unwrap();
        lottery(&schema, 2.0, &tables, &weights, EFFORT).unwrap().plan
    };
    assert_ne!(plan("marginals;pairs"), plan("pairs"));
    assert_eq!(plan("marginals;pairs"), plan("marginals;pairs"), "the same on every run");
}

/// Adult marginals at epsilon 4: sets over attributes that share no table are needed, and the bound is nearly attained.
#[test]
fn adult_marginals() {
    let schema = Schema::with_sizes(&[9, 16, 7, 15, 6, 5, 2, 2]).unwrap();
    let (tables, weights) = TableList::parse_weighted("marginals", &schema).unwrap();
    let plan = lottery(&schema, 4.0, &tables, &weights, EFFORT).unwrap().plan;
    let standing = OptimalityGap::new(&plan, &tables, &weights).unwrap();
    assert!(standing.times() < 1.004, "{standing:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// No method is below the bound, and the bound is not far from the best of them.
    #[test]
    fn no_method_is_below_the_bound(
        sizes in prop::collection::vec(2usize..7, 1..4), epsilon in 0.1f64..9.0, which in 0usize..3,
    ) {
        let schema = Schema::with_sizes(&sizes).unwrap();
        let words = ["marginals", "joint", if sizes.len() > 1 { "pairs" } else { "a1" }];
        let tables = TableList::parse(words[which], &schema).unwrap();
        let (clusters, time_limit) = (None, None);
        let goal = ComparisonTarget { epsilon, respondents: 1_000.0, tables: words[which], clusters, time_limit };
        let mut best = f64::INFINITY;
        for candidate in compare(&schema, &goal).unwrap() {
            let Ok(made) = candidate.made else { continue };
            let bounded = made.plan.guarantee().epsilon().finite().is_some();
            prop_assert_eq!(made.times_the_bound.is_some(), made.asked.is_some() && bounded);
            if let Some(times) = made.times_the_bound {
                prop_assert!(times >= 1.0 - 1e-12, "{}: {}", candidate.method.name(), times);
                let weights = vec![1.0; tables.lists().len()];
                let own = OptimalityGap::new(&made.plan, &tables, &weights).unwrap().times();
                prop_assert!((own / times - 1.0).abs() < 1e-5, "{} {}", own, times);
                best = best.min(times);
            }
        }
        prop_assert!(best < 3.0, "{best}");
    }

    /// For any tables and weights, theorem 3 is at least as good as theorem 2, and a larger epsilon does no harm.
    #[test]
    fn bounds_are_in_order(
        sizes in prop::collection::vec(2usize..9, 2..5), epsilon in 0.1f64..8.0, weight in 0.01f64..100.0,
    ) {
        let schema = Schema::with_sizes(&sizes).unwrap();
        let costs = costs(&schema, &format!("pairs:{weight};a1"));
        let bound = Bound::by_pairs(costs.clone(), epsilon);
        prop_assert!(bound.at(epsilon) >= Bound::closed_form(costs.clone()).at(epsilon));
        prop_assert!(Bound::by_pairs(costs.clone(), epsilon * 1.1).at(epsilon * 1.1) < bound.at(epsilon));
        // If no theorem applies, the sampling error is left.
        let sampling: f64 = costs.costs.iter().sum();
        for epsilon in [0.0, f64::NAN, 1e9] {
            prop_assert!(bound.at(epsilon) <= sampling && bound.at(epsilon) > sampling * (1.0 - 1e-12));
        }
    }
}

/// With a public attribute, the sampling error of its shares is part of error and bound. At a large epsilon nothing
/// else is left.
#[test]
fn public_attributes() {
    let labels = |n: usize| (0..n).map(|i| format!("c{i}")).collect::<Vec<String>>();
    let attributes = vec![Attribute::new("a", labels(3)).unwrap(), Attribute::new("b", labels(4)).unwrap().public()];
    let schema = Schema::new(attributes).unwrap();
    let tables = TableList::parse("a,b;b;a", &schema).unwrap();
    for (epsilon, most) in [(1.0, 1.2), (4.0, 1.2), (25.0, 1.0 + 1e-6)] {
        let plan = rr_joint(&schema, epsilon).unwrap();
        let standing = OptimalityGap::new(&plan, &tables, &[1.0; 3]).unwrap();
        assert!(standing.times() >= 1.0 && standing.times() < most, "{epsilon}: {standing:?}");
    }
    let plan = rr_joint(&schema, 25.0).unwrap();
    let sampling_error = 11.0 / 12.0 + 3.0 / 4.0 + 2.0 / 3.0;
    near(squared_error(&plan, &tables, &[1.0; 3]).unwrap(), sampling_error, 1e-6, "nothing but sampling");
}

/// More than ten attributes: few kinds of them have theorem 3, many have the closed form. Either is fast and valid.
#[test]
fn many_attributes() {
    let twelve = Schema::with_sizes(&[2; 12]).unwrap();
    let costs_of = |schema: &Schema| costs(schema, "pairs");
    let closed = Bound::closed_form(costs_of(&twelve)).at(6.0);
    let better = Bound::new(costs_of(&twelve), 6.0).at(6.0);
    assert!(better > 1.1 * closed, "{better} {closed}");
    // Like the 10 attributes of the golden file, each its own kind: there candor's patterns attain the bound at 8.
    let (tables, weights) = TableList::parse_weighted("pairs", &twelve).unwrap();
    let sampled = sampling(&twelve, 6.0, &tables, &weights).unwrap().error;
    assert!(better < sampled);
    let mixed = Schema::with_sizes(&(2..22).collect::<Vec<usize>>()).unwrap();
    assert_eq!(Bound::new(costs_of(&mixed), 2.0).at(2.0), Bound::closed_form(costs_of(&mixed)).at(2.0));
}
