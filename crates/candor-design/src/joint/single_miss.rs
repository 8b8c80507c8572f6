//! Channels that favor answers without a miss, and answers with exactly one (Yamamoto and Shibuya 2024, section IV-B).
//!
//! Let `w_0` and `w_j` be the probabilities of the parts {no miss} and {only j misses}, relative to that of a uniform
//! answer. Attribute `i` has the requested epsilon if
//!
//! ```text
//! M - (1 + g_i) w_i = b_i,     M = w_0 + sum of w_j,   g_i = exp(e_i)/(a_i - 1),   b_i = (exp(e_i) - 1)/a_i
//! ```
//!
//! So the single number `M` determines everything: `w_i = (M - b_i) / (1 + g_i)`, and the program of `k + 1` unknowns
//! has effectively one. (The published code has wrong coefficients here. They are derived from the levels themselves,
//! and levels are recomputed from the plan.)

use candor_base::channel::{Axis, PatternSet};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;

use super::least_epsilon::levels::EpsilonTargets;
use super::least_epsilon::{aim, bring_down, with_all};
use crate::{DesignError, randomized_attributes};

/// The relative probabilities of {no miss} and of {only j misses} for each `j`.
#[derive(Clone, Debug, PartialEq)]
struct Weights {
    none: f64,
    only: Vec<f64>,
}

/// A plan of the heuristic, with the epsilons it changed.
#[derive(Clone, Debug)]
pub struct Heuristic {
    /// The plan.
    pub plan: Plan,
    /// The attributes, counted among the randomized ones, whose epsilon differs from the requested one, with the
    /// achieved one.
    pub altered: Vec<(usize, f64)>,
}

/// Designs a plan by Algorithm 3 of Yamamoto and Shibuya 2024 in one pass.
///
/// The optimum of the first two attributes determines `M`. Each further attribute takes its part of `w_0` if {no miss}
/// stays the likeliest answer. Otherwise it takes nothing, and its epsilon becomes `ln(1 + a M)`, regardless of the
/// request.
///
/// `order` lists the randomized attributes in the order in which they are processed. The result equals the paper's
/// recursion, without its overflow. Cost: one step per attribute.
///
/// # Errors
/// Returns [`DesignError::CountMismatch`] unless there is one epsilon per attribute, [`DesignError::Epsilon`] if one is
/// invalid, and [`DesignError::Order`] unless the order lists each attribute once.
pub fn heuristic(schema: &Schema, epsilons: &[f64], order: &[usize]) -> Result<Heuristic, DesignError> {
    let (levels, axes) = levels(schema, epsilons)?;
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..axes.len()) {
        return Err(DesignError::Order(axes.len()));
    }
    let (weights, altered) = induct(&levels, order);
    let mut achieved = epsilons.to_vec();
    for &(i, epsilon) in &altered {
        achieved[i] = epsilon;
    }
    Ok(Heuristic { plan: plan(schema, "heuristic", axes, &weights, epsilons, &achieved)?, altered })
}

/// Returns the record-level epsilon of [`heuristic`] and the attribute epsilons it changes, without making a plan.
///
/// It takes one step per attribute, for any number of them.
pub fn heuristic_outcome(levels: &EpsilonTargets, order: &[usize]) -> (f64, Vec<(usize, f64)>) {
    let (weights, altered) = induct(levels, order);
    // exp(epsilon) = 1 + w_0 / P(no miss), through the logarithm.
    let x = weights.none.ln() + (0..levels.len()).map(|i| levels.size(i).ln()).sum::<f64>();
    (if x > 30.0 { x } else { x.exp().ln_1p() }, altered)
}

/// Returns the randomized attributes by decreasing need.
///
/// The first two limit the others, so those with the largest need come first.
pub fn by_need(schema: &Schema, epsilons: &[f64]) -> Vec<usize> {
    let private = schema.randomized();
    let need = |i: usize| epsilons[i].exp_m1() / schema.size(private[i]) as f64;
    let mut order: Vec<usize> = (0..epsilons.len().min(private.len())).collect();
    order.sort_by(|&a, &b| need(b).total_cmp(&need(a)));
    order
}

/// Attribute epsilons below this tell nothing, so a total that allows no more is refused.
const MIN_EPSILON: f64 = 1e-3;

/// Designs the heuristic's plan with attribute epsilons in the given ratio, as large as `total` allows.
///
/// Attributes with the largest need come first. Changed attribute epsilons may exceed the requested ones. The
/// record-level epsilon never exceeds the total, and is well below it only if a small change of scale changes other
/// attributes.
///
/// Cost: fifty outcomes of one step per attribute, and one or two plans.
///
/// # Errors
/// Returns [`DesignError::Epsilon`] if the total is invalid, [`DesignError::Ratio`] if the ratio is, and
/// [`DesignError::NoHeuristic`] if no scale stays within the total.
pub fn heuristic_within(schema: &Schema, total: f64, ratio: &[f64]) -> Result<Heuristic, DesignError> {
    let shares = crate::budget::share(total, ratio)?;
    let scaled = |scale: f64| -> Vec<f64> { shares.iter().map(|share| share * scale).collect() };
    let epsilon = |scale: f64| {
        let asked = scaled(scale);
        let (levels, _) = levels(schema, &asked)?;
        Ok::<f64, DesignError>(heuristic_outcome(&levels, &by_need(schema, &asked)).0)
    };
    // No attribute's epsilon can exceed the record's.
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, total / largest);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        *(if epsilon(middle)? <= total { &mut low } else { &mut high }) = middle;
    }
    if low * largest < MIN_EPSILON {
        return Err(DesignError::NoHeuristic(total));
    }
    // The integers decide; take a few steps down if they exceed the total.
    let mut scale = low;
    for _ in 0..20 {
        let asked = scaled(scale);
        let found = heuristic(schema, &asked, &by_need(schema, &asked))?;
        let excess = found.plan.guarantee().epsilon().as_f64() - total;
        if excess <= 0.0 {
            return Ok(found);
        }
        scale *= 1.0 - (1.5 * excess / total).min(0.5);
    }
    Err(DesignError::NoHeuristic(total))
}

fn induct(levels: &EpsilonTargets, order: &[usize]) -> (Weights, Vec<(usize, f64)>) {
    let mut weights = Weights { none: 0.0, only: vec![0.0; levels.len()] };
    let (first, rest) = order.split_at(order.len().min(2));
    let Some(mass) = smallest(levels, first) else { return (weights, Vec::new()) };
    weights.none = mass;
    let mut altered = Vec::new();
    // The largest `x` of a single miss, in units of `w_0`.
    let mut largest = 0.0f64;
    for (step, &i) in first.iter().chain(rest).enumerate() {
        let share = (mass - levels.need(i)) / levels.weight_of_price(i);
        let (left, per_answer) = (weights.none - share, share / (levels.size(i) - 1.0));
        // The base case is feasible, which rounding must not change.
        if step < 2 || (share >= 0.0 && left >= largest.max(per_answer)) {
            weights.none = left.max(0.0);
            weights.only[i] = share.max(0.0);
            largest = largest.max(per_answer);
        } else {
            altered.push((i, (levels.size(i) * mass).ln_1p()));
        }
    }
    (weights, altered)
}

/// Designs the best plan that distinguishes single misses only.
///
/// This is the linear program of `k + 1` unknowns of Yamamoto and Shibuya 2024, if it has a solution.
///
/// # Errors
/// Returns [`DesignError::CountMismatch`] unless there is one epsilon per attribute, and [`DesignError::Epsilon`] if
/// one is invalid. Returns [`DesignError::Infeasible`] if the program has no solution, mostly with small epsilons and
/// many categories.
pub fn reduced(schema: &Schema, epsilons: &[f64]) -> Result<Plan, DesignError> {
    let (levels, axes) = levels(schema, epsilons)?;
    let weights = solve(&levels).ok_or(DesignError::Infeasible)?;
    plan(schema, "reduced", axes, &weights, epsilons, epsilons)
}

/// Designs the optimal plan for two attributes in closed form (Yamamoto and Shibuya 2024, section IV-B1, cases I to
/// IV).
///
/// The cases are the two ends of the range of `M`, with one or the other condition binding. In cases I and II a single
/// miss of one attribute is as unlikely as both, in III and IV it is as likely as none.
///
/// # Errors
/// Returns [`DesignError::TwoAttributes`] unless there are two attributes, and the errors of [`reduced`].
pub fn two_attribute(schema: &Schema, epsilons: &[f64]) -> Result<Plan, DesignError> {
    let (levels, axes) = levels(schema, epsilons)?;
    if axes.len() != 2 {
        return Err(DesignError::TwoAttributes(axes.len()));
    }
    let weights = solve(&levels).ok_or(DesignError::Infeasible)?;
    plan(schema, "two-attribute", axes, &weights, epsilons, epsilons)
}

fn solve(levels: &EpsilonTargets) -> Option<Weights> {
    let all: Vec<usize> = (0..levels.len()).collect();
    let mass = smallest(levels, &all)?;
    let only: Vec<f64> = all.iter().map(|&i| ((mass - levels.need(i)) / levels.weight_of_price(i)).max(0.0)).collect();
    Some(Weights { none: (mass - only.iter().sum::<f64>()).max(0.0), only })
}

/// Returns the `M` for which {no miss} is least likely, subject to `0 <= w_i <= (a_i - 1) w_0`.
///
/// Returns `None` if no `M` satisfies this.
fn smallest(levels: &EpsilonTargets, attributes: &[usize]) -> Option<f64> {
    // w_0 = slope M + start.
    let slope = 1.0 - attributes.iter().map(|&i| 1.0 / levels.weight_of_price(i)).sum::<f64>();
    let start: f64 = attributes.iter().map(|&i| levels.need(i) / levels.weight_of_price(i)).sum();
    let (mut low, mut high) = (0.0f64, f64::INFINITY);
    for &i in attributes {
        low = low.max(levels.need(i));
        // (M - b) d <= slope M + start, d = 1 / ((1 + g)(a - 1)).
        let d = 1.0 / (levels.weight_of_price(i) * (levels.size(i) - 1.0));
        let (times, limit) = (d - slope, start + levels.need(i) * d);
        if times > 0.0 {
            high = high.min(limit / times);
        } else if times < 0.0 {
            low = low.max(limit / times);
        }
    }
    // The ends may coincide, which rounding must not change.
    let mass = if slope >= 0.0 { low } else { high };
    (low <= high * (1.0 + 1e-13) && mass.is_finite()).then_some(mass)
}

fn levels(schema: &Schema, epsilons: &[f64]) -> Result<(EpsilonTargets, Vec<Axis>), DesignError> {
    let private = randomized_attributes(schema)?;
    if epsilons.len() != private.len() {
        let (what, found, expected) = ("attribute_epsilon", epsilons.len(), private.len());
        return Err(DesignError::CountMismatch { what, found, expected });
    }
    let sizes: Vec<usize> = private.iter().map(|&(_, size)| size).collect();
    let axes = sizes.iter().map(|&size| Axis::single(size)).collect();
    Ok((EpsilonTargets::new(sizes, epsilons.iter().copied().map(aim).collect())?, axes))
}

fn plan(
    schema: &Schema,
    method: &str,
    axes: Vec<Axis>,
    weights: &Weights,
    requested: &[f64],
    achieved: &[f64],
) -> Result<Plan, DesignError> {
    let only = weights.only.iter().enumerate().map(|(i, &share)| (PatternSet::Only(vec![i]), share));
    let sets: Vec<(PatternSet, f64)> = [(PatternSet::no_miss(), weights.none)].into_iter().chain(only).collect();
    let pattern = bring_down(with_all(axes, &sets)?, achieved);
    let attributes = randomized_attributes(schema)?.iter().map(|&(attribute, _)| attribute).collect();
    let requested = requested.iter().copied().map(Some).collect();
    let plan = Plan::new(schema.clone(), vec![Block::new(attributes, pattern)])?;
    Ok(plan.with_origin(Origin { method: method.to_owned(), requested }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::least_epsilon::optimal;
    use crate::joint::least_epsilon::search::SearchLimits;
    use proptest::prelude::*;

    /// Returns the published solution for `m x n` data: `x_0` in the four cases.
    fn printed(m: f64, n: f64, e1: f64, e2: f64) -> f64 {
        let (x, y) = (e1.exp(), e2.exp());
        if x * y >= (m - 1.0) * (n - 1.0) {
            if n * (x - 1.0) >= m * (y - 1.0) {
                (n * x * y + (m - 1.0) * (n - 1.0) * (y - 1.0)) / (y + n - 1.0)
            } else {
                (m * x * y + (m - 1.0) * (n - 1.0) * (x - 1.0)) / (x + m - 1.0)
            }
        } else if (n - m) * x * y - m * (n - 1.0) * x + (m - 1.0) * n * y >= 0.0 {
            (n - 1.0) * (x + m - 1.0) * y / (-(x - 1.0) * y + m * (n - 1.0))
        } else {
            (m - 1.0) * x * (y + n - 1.0) / (-x * (y - 1.0) + (m - 1.0) * n)
        }
    }

    /// Algorithm 3 as published, with `x_0, .., x_k` and the achieved epsilons; it overflows for many attributes.
    fn algorithm_3(a: &[f64], asked: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (m, n, x, y) = (a[0], a[1], asked[0].exp(), asked[1].exp());
        let x0 = printed(m, n, asked[0], asked[1]);
        // (4), solved for x_1 and x_2.
        let determinant = x * y - (m - 1.0) * (n - 1.0);
        let (p, q) = (x0 - (n - 1.0) * x, x0 - (m - 1.0) * y);
        let mut values = vec![x0, (y * p + (n - 1.0) * q) / determinant, (x * q + (m - 1.0) * p) / determinant];
        let mut epsilons = asked.to_vec();
        for i in 2..a.len() {
            let mut next: Vec<f64> = values.iter().map(|x| a[i] * x - a[i] + 1.0).collect();
            let product: f64 = a[..i].iter().product();
            let capital_a: f64 = (0..i).map(|h| (a[h] - 1.0) * next[h + 1]).sum();
            let capital_b = product - a[..i].iter().sum::<f64>() + i as f64 - 1.0;
            let (capital_c, e) = (product - 1.0, asked[i].exp());
            // x_0 + (a - 1) x_i = a x_0', x_0 - e x_i = -A - B + e C.
            let xi = (a[i] * values[0] + capital_a + capital_b - e * capital_c) / (a[i] - 1.0 + e);
            let x0 = a[i] * values[0] - (a[i] - 1.0) * xi;
            if x0 < 1.0 || xi < 1.0 || next[1..].iter().any(|&x| x0 < x) || x0 < xi {
                next[0] = a[i] * values[0] - a[i] + 1.0;
                next.push(1.0);
                epsilons[i] = ((next[0] + capital_a + capital_b) / (1.0 + capital_c)).ln();
            } else {
                next[0] = x0;
                next.push(xi);
            }
            values = next;
        }
        (values, epsilons)
    }

    proptest! {
        #[test]
        fn two_attributes_are_as_printed_and_optimal(
            m in 2usize..9, n in 2usize..9, e1 in 0.05f64..6.0, e2 in 0.05f64..6.0,
        ) {
            let schema = Schema::with_sizes(&[m, n]).unwrap();
            let plan = two_attribute(&schema, &[e1, e2]).unwrap();
            let certified = plan.guarantee().epsilon().as_f64();
            prop_assert!((certified - printed(m as f64, n as f64, e1, e2).ln()).abs() < 1e-7);
            for (attribute, asked) in plan.guarantee().attributes().iter().zip([e1, e2]) {
                let marginal = attribute.marginal.unwrap().as_f64();
                prop_assert!(marginal <= asked && marginal > asked - 1e-9, "{} for {}", marginal, asked);
            }
            let best = optimal(&schema, &[e1, e2], SearchLimits::to(1e-10)).unwrap();
            prop_assert!((best.plan.guarantee().epsilon().as_f64() - certified).abs() < 1e-7);
        }

        #[test]
        fn the_heuristic_is_algorithm_3(instance in prop::collection::vec((2usize..7, 0.2f64..8.0), 2..9)) {
            let sizes: Vec<usize> = instance.iter().map(|i| i.0).collect();
            let epsilons: Vec<f64> = instance.iter().map(|i| i.1).collect();
            // Near a tie of the feasibility check rounding decides; otherwise the recursion is exact enough.
            let (values, achieved) = algorithm_3(&sizes.iter().map(|&a| a as f64).collect::<Vec<_>>(), &epsilons);
            let schema = Schema::with_sizes(&sizes).unwrap();
            let found = heuristic(&schema, &epsilons, &(0..sizes.len()).collect::<Vec<_>>()).unwrap();
            let certified = found.plan.guarantee().epsilon().as_f64();
            prop_assert!((certified - values[0].ln()).abs() < 1e-6, "{} for {}", certified, values[0].ln());
            let levels = EpsilonTargets::new(sizes.clone(), epsilons.clone()).unwrap();
            let (outcome, altered) = heuristic_outcome(&levels, &(0..sizes.len()).collect::<Vec<_>>());
            prop_assert!((outcome - certified).abs() < 1e-6 && altered.len() == found.altered.len());
            for (attribute, achieved) in found.plan.guarantee().attributes().iter().zip(&achieved) {
                prop_assert!((attribute.marginal.unwrap().as_f64() - achieved).abs() < 1e-6);
            }
        }

        #[test]
        fn the_heuristic_keeps_within_a_total(sizes in prop::collection::vec(2usize..9, 1..9), total in 0.1f64..9.0) {
            let schema = Schema::with_sizes(&sizes).unwrap();
            let found = match heuristic_within(&schema, total, &vec![1.0; sizes.len()]) {
                Ok(found) => found,
                Err(DesignError::NoHeuristic(_)) => {
                    // Even the smallest attribute epsilons spend the total.
                    let least = vec![MIN_EPSILON; sizes.len()];
                    let spent = heuristic(&schema, &least, &by_need(&schema, &least)).unwrap().plan;
                    prop_assert!(spent.guarantee().epsilon().as_f64() > 0.999 * total);
                    return Ok(());
                }
                Err(error) => panic!("{error}"),
            };
            let certified = found.plan.guarantee().epsilon().as_f64();
            prop_assert!(certified <= total && certified > 0.999 * total, "{} for {}", certified, total);
            let asked: Vec<f64> = found.plan.origin().requested.iter().map(|e| e.unwrap()).collect();
            let again = heuristic(&schema, &asked, &by_need(&schema, &asked)).unwrap();
            prop_assert_eq!(again.plan, found.plan);
        }

        #[test]
        fn the_reduced_program_lies_between(instance in prop::collection::vec((2usize..6, 0.5f64..8.0), 2..7)) {
            let sizes: Vec<usize> = instance.iter().map(|i| i.0).collect();
            let epsilons: Vec<f64> = instance.iter().map(|i| i.1).collect();
            let schema = Schema::with_sizes(&sizes).unwrap();
            let best = optimal(&schema, &epsilons, SearchLimits::to(1e-10)).unwrap();
            let order: Vec<usize> = (0..sizes.len()).collect();
            let heuristic = heuristic(&schema, &epsilons, &order).unwrap();
            match reduced(&schema, &epsilons) {
                Ok(plan) => {
                    let certified = plan.guarantee().epsilon().as_f64();
                    prop_assert!(certified >= best.lower_bound - 1e-7);
                    let most = heuristic.plan.guarantee().epsilon().as_f64();
                    prop_assert!(!heuristic.altered.is_empty() || certified <= most + 1e-7);
                    for (attribute, asked) in plan.guarantee().attributes().iter().zip(&epsilons) {
                        let marginal = attribute.marginal.unwrap().as_f64();
                        prop_assert!(marginal <= *asked && marginal > asked - 1e-9, "{} for {}", marginal, asked);
                    }
                }
                Err(error) => {
                    prop_assert_eq!(error, DesignError::Infeasible);
                    prop_assert!(!heuristic.altered.is_empty(), "the heuristic found a solution");
                }
            }
        }
    }

    #[test]
    fn a_thousand_attributes_do_not_overflow() {
        let sizes: Vec<usize> = (0..1_000).map(|i| 2 + i % 4).collect();
        let epsilons: Vec<f64> = (0..1_000).map(|i| 1.0 + (i % 9) as f64).collect();
        let levels = EpsilonTargets::new(sizes, epsilons).unwrap();
        let (weights, altered) = induct(&levels, &(0..1_000).collect::<Vec<_>>());
        assert!(weights.none.is_finite() && weights.only.iter().all(|w| w.is_finite() && *w >= 0.0));
        assert!(altered.len() > 900, "nearly all levels come out altered: {}", altered.len());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let schema = Schema::with_sizes(&[2, 3, 4]).unwrap();
        let message = |result: Result<Plan, DesignError>| result.unwrap_err().to_string();
        assert!(message(two_attribute(&schema, &[1.0; 3])).contains("two attributes"));
        let order = |order: &[usize]| heuristic(&schema, &[1.0; 3], order).map(|found| found.plan);
        for bad in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3]] {
            assert!(message(order(bad)).contains("each of the 3 attributes once"));
        }
        assert!(message(reduced(&schema, &[1.0, -1.0, 1.0])).contains("epsilon is"));
        let wide = Schema::with_sizes(&[8; 4]).unwrap();
        assert!(message(reduced(&wide, &[0.3, 0.3, 0.3, 7.0])).contains("no solution"));
    }
}
