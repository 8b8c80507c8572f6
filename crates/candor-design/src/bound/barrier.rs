//! The search for a proof by a barrier method.

use super::grid::Grid;
use super::newton::System;
use super::problem::Problem;

/// Relative effect of the barrier on the bound at which the search ends.
const GAP: f64 = 1e-6;

/// Factor by which the barrier decreases from round to round.
const FALL: f64 = 0.2;

/// Maximum number of Newton steps in a round.
const STEPS: usize = 30;

/// Maximum number of inner steps, each a transform and its inverse: about a second for ten attributes.
const WORK: usize = 20_000;

/// Finds numbers `y_S > 0` for every type of pattern that nearly maximize the bound of theorem 3.
///
/// They lie strictly within its conditions (docs/mathematics/lower-bound.md). `roots` are `sqrt(C_U d_U)`, summed over
/// the components of each type, and `e` is `exp(epsilon)`.
///
/// The logarithm of the bound is concave in `y`. Newton steps maximize it plus
/// `barrier * (sum of ln y_S + sum over U of ln(1 - yhat_U))`, with the barrier lowered until it is negligible. A
/// separate check decides whether the result is a proof, so the search may stop at any point.
pub fn maximise(grid: &Grid, roots: &[f64], e: f64) -> Vec<f64> {
    let whole: f64 = roots.iter().sum();
    let problem = Problem { grid, roots: roots.iter().map(|root| root / whole).collect(), e };
    let points = grid.points() as f64;
    let (mut barrier, mut work) = (0.1, 0);
    // Far from all conditions: yhat_U is 0, except for yhat_0 = E/2.
    let mut at = problem.point(grid.uniform().iter().map(|share| 0.5 * e * share).collect());
    loop {
        for _ in 0..STEPS {
            let system = System::new(&problem, &at, barrier);
            let solution = system.solve(WORK - work);
            work += solution.steps;
            let Some(next) = problem.ahead(&at, &solution.relative, solution.promise, barrier) else { break };
            at = next;
            if solution.promise < 0.1 * barrier {
                break;
            }
        }
        if 2.0 * points * barrier < GAP || work >= WORK {
            return at.y;
        }
        barrier *= FALL;
    }
}
