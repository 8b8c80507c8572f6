//! The front of the classical methods: Warner's, which equals UP and FRAPP (Huang and Du 2008, Theorem 2).
//!
//! The true category is reported with probability `p`, and every other one with `q = (1 - p)/(n - 1)`. Everything has a
//! closed form: `variance = sum lambda_i (1 - lambda_i) / (p - q)^2` with `lambda = q + (p - q) pi`, and
//! `privacy = 1 - sum_i max(p pi_i, q max_{j != i} pi_j)`. At `p = 1/n` nothing is identifiable. Below it the true
//! category is *less* likely than any other answer, and near the largest privacy that branch is on the front.

use super::FrontProblem;
use super::channel::FrontChannel;
use super::loss::privacy_of;
use super::measure::Measures;
use super::prior::Prior;

/// Number of steps by which the paper varies `p` (section VI-B).
pub const STEPS: usize = 1000;

/// A point of the classical front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarnerPoint {
    /// Probability of reporting the true category.
    pub p: f64,
    /// The measures for this probability.
    pub measures: Measures,
}

/// Returns the measures of Warner's method in time `O(n)`; the variance is infinite at `p = 1/n`.
pub fn warner(prior: &Prior, p: f64) -> Measures {
    let shares = prior.shares();
    let n = shares.len() as f64;
    let q = (1.0 - p) / (n - 1.0);
    let mut order: Vec<f64> = shares.to_vec();
    order.sort_by(|a, b| b.total_cmp(a));
    let (mut right, mut worst, mut spread) = (0.0, 0.0f64, 0.0);
    let mut largest_seen = false;
    for &share in shares {
        let lambda = q + (p - q) * share;
        // The largest share among the others.
        let other = if share == order[0] && !largest_seen { order[1] } else { order[0] };
        largest_seen |= share == order[0];
        let largest = (p * share).max(q * other);
        right += largest;
        worst = worst.max(largest / lambda);
        spread += lambda * (1.0 - lambda);
    }
    let difference = p - q;
    let variance = if difference.abs() < 1e-9 { f64::INFINITY } else { spread / (difference * difference) };
    Measures { privacy: 1.0 - right, variance, worst_posterior: worst }
}

/// Returns the channel of Warner's method.
pub fn channel(prior: &Prior, p: f64) -> FrontChannel {
    let n = prior.len();
    let q = (1.0 - p) / (n - 1) as f64;
    let cell = |i: usize| (if i / n == i % n { p } else { q }) * prior.shares()[i % n];
    FrontChannel::new(prior, (0..n * n).map(cell).collect())
}

/// Returns the largest `p` whose posteriors are within the bound.
///
/// It is `r/(r + n - 1)` with `r = delta (1 - pmax)/((1 - delta) pmax)`. The largest posterior of a category `i` is
/// `p pi_i/(p pi_i + q (1 - pi_i))`, which increases with `pi_i`.
pub fn largest_p(goal: &FrontProblem) -> f64 {
    let (delta, largest) = (goal.bound(), goal.prior().largest());
    let r = delta * (1.0 - largest) / ((1.0 - delta) * largest);
    if r.is_finite() { r / (r + goal.prior().len() as f64 - 1.0) } else { 1.0 }
}

/// Returns the classical front for `p = 0, 1/steps, .., 1`, by increasing privacy.
///
/// Points that violate the bound, are uninformative (`p = 1/n`) or are dominated by another are left out.
pub fn front(goal: &FrontProblem, steps: usize) -> Vec<WarnerPoint> {
    let point = |k: usize| {
        let p = k as f64 / steps as f64;
        let measures = warner(goal.prior(), p);
        let privacy = goal.accuracy().map_or(measures.privacy, |loss| privacy_of(loss, &channel(goal.prior(), p)));
        WarnerPoint { p, measures: Measures { privacy, ..measures } }
    };
    let allowed = |point: &WarnerPoint| {
        point.measures.variance.is_finite() && point.measures.worst_posterior <= goal.bound() * (1.0 + 1e-12)
    };
    let mut points: Vec<WarnerPoint> = (0..=steps).map(point).filter(allowed).collect();
    points.sort_by(|a, b| {
        b.measures.privacy.total_cmp(&a.measures.privacy).then(a.measures.variance.total_cmp(&b.measures.variance))
    });
    let mut best = f64::INFINITY;
    points.retain(|point| {
        let kept = point.measures.variance < best;
        best = best.min(point.measures.variance);
        kept
    });
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use super::super::hypervolume::hypervolume;
    use super::super::measure::{measure, measure_square};
    use super::*;

    fn normal() -> Prior {
        Prior::normal(10).unwrap()
    }

    #[test]
    fn closed_form_against_the_matrix() {
        for prior in [normal(), Prior::gamma(10, 1.0, 2.0).unwrap(), Prior::new(&[0.99, 0.01]).unwrap()] {
            let n = prior.len();
            for p in [0.0, 0.003, 0.05, 0.2, 0.37, 0.9, 1.0] {
                let closed = warner(&prior, p);
                let general = measure(&channel(&prior, p), &prior);
                assert!((closed.privacy - general.privacy).abs() < 1e-12);
                assert!((closed.variance / general.variance - 1.0).abs() < 1e-8, "{n} {p}");
                assert!((closed.worst_posterior - general.worst_posterior).abs() < 1e-12);
            }
            assert_eq!(warner(&prior, 1.0 / n as f64).variance, f64::INFINITY);
        }
    }

    /// Grid points, ranges and minima computed by another program.
    #[test]
    fn golden_tables() {
        let golden = [
            (0.532, 0.451764, 3.838586),
            (0.478, 0.502307, 5.034377),
            (0.424, 0.547456, 6.876780),
            (0.370, 0.592279, 9.932336),
            (0.316, 0.637101, 15.557336),
            (0.262, 0.681924, 27.710114),
            (0.208, 0.719918, 62.432336),
        ];
        let check = |prior: &Prior, golden: &[(f64, f64, f64)]| {
            for &(p, privacy, variance) in golden {
                let found = warner(prior, p);
                assert!((found.privacy - privacy).abs() < 1e-6 && (found.variance - variance).abs() < 1e-6, "{p}");
            }
        };
        check(&normal(), &golden);
        let gamma = [(0.333, 0.579940, 13.323394), (0.269, 0.617576, 25.419576), (0.205, 0.646417, 66.017709)];
        check(&Prior::gamma(10, 1.0, 2.0).unwrap(), &gamma);
        let uniform = [(0.49, 0.51, 4.792899), (0.36, 0.64, 10.784024), (0.23, 0.77, 43.136095)];
        check(&Prior::uniform(10).unwrap(), &uniform);
        for (bound, exact, grid) in [
            (0.6, 0.5982, 0.598919),
            (0.7, 0.5094, 0.510104),
            (0.75, 0.4513, 0.451764),
            (0.8, 0.3853, 0.385311),
            (0.9, 0.2256, 0.226197),
        ] {
            let goal = FrontProblem::new(normal(), bound).unwrap();
            let least = warner(&normal(), largest_p(&goal));
            assert!((least.privacy - exact).abs() < 5e-5, "{bound}: {}", least.privacy);
            assert!((least.worst_posterior - bound).abs() < 1e-12);
            assert!((front(&goal, STEPS)[0].measures.privacy - grid).abs() < 1e-6, "{bound}");
        }
        let gamma = front(&FrontProblem::new(Prior::gamma(10, 1.0, 2.0).unwrap(), 0.75).unwrap(), STEPS);
        assert!((gamma[0].measures.privacy - 0.537820).abs() < 1e-6 && (gamma[0].p - 0.397).abs() < 1e-12);
        assert!((gamma[gamma.len() - 1].measures.privacy - 0.664169).abs() < 1e-6);
    }

    #[test]
    fn the_branch_below_one_in_n_is_on_the_front_and_the_singular_point_is_not() {
        let points = front(&FrontProblem::new(normal(), 0.75).unwrap(), STEPS);
        let low = points.iter().find(|point| (point.p - 0.003).abs() < 1e-12).expect("p = 0.003 is on the front");
        assert!((low.measures.privacy - 0.749246).abs() < 1e-6 && (low.measures.variance - 77.41).abs() < 5e-3);
        assert!(points.iter().all(|point| (point.p - 0.1).abs() > 1e-9 && point.measures.variance.is_finite()));
        for pair in points.windows(2) {
            assert!(!pair[0].measures.dominates(&pair[1].measures) && !pair[1].measures.dominates(&pair[0].measures));
        }
    }

    /// 3.207 is the limit of fine steps; the paper's thousand steps dominate slightly less.
    #[test]
    fn the_hypervolume_of_the_issue() {
        let goal = FrontProblem::new(normal(), 0.75).unwrap();
        for (steps, golden) in [(STEPS, 3.2059), (100 * STEPS, 3.2073)] {
            let points = front(&goal, steps);
            let found = hypervolume(points.iter().map(|point| (point.measures.privacy, point.measures.mse(1e4, 10))));
            assert!((found - golden).abs() < 5e-5, "{found}");
        }
    }

    /// Theorem 2: the three families have the same matrices.
    #[test]
    fn up_and_frapp_are_warner() {
        let n = 7usize;
        let k = n as f64;
        for p in [0.0, 0.02, 0.3, 0.9] {
            let (q, lambda) = ((k * p - 1.0) / (k - 1.0), p * (k - 1.0) / (1.0 - p));
            for i in 0..n * n {
                let diagonal = f64::from(i % (n + 1) == 0);
                let warner = diagonal * p + (1.0 - diagonal) * (1.0 - p) / (k - 1.0);
                let up = diagonal * q + (1.0 - q) / k;
                let frapp = (diagonal * lambda + 1.0 - diagonal) / (lambda + k - 1.0);
                assert!((warner - up).abs() < 1e-15 && (warner - frapp).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn two_categories_and_a_common_one() {
        let prior = Prior::new(&[0.99, 0.01]).unwrap();
        let points = front(&FrontProblem::new(prior.clone(), 0.995).unwrap(), STEPS);
        assert!(!points.is_empty());
        for point in points {
            let p = point.p;
            let square = measure_square(&[p, 1.0 - p, 1.0 - p, p], &prior);
            assert!((square.privacy - point.measures.privacy).abs() < 1e-12 && point.measures.privacy <= 0.01 + 1e-12);
        }
    }
}
