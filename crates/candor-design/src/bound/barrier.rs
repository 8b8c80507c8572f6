//! The search for a proof: a barrier method.

use super::grid::Grid;
use super::newton::System;
use super::problem::Problem;

/// The barrier ends where it can hide no more than this of the bound, relatively.
const GAP: f64 = 1e-6;

/// By how much the barrier falls from one round to the next.
const FALL: f64 = 0.2;

/// How many Newton steps there are at most in a round.
const STEPS: usize = 30;

/// How many inner steps there are at most in all, each a transform and back: about a second for ten attributes.
const WORK: usize = 20_000;

/// Numbers `y_S > 0` for every type of patterns that come close to the largest bound of theorem 3
/// (docs/mathematics/lower-bound.md), strictly within its conditions. `roots` are `sqrt(C_U d_U)`, summed over the
/// components of each type; `e` is `exp(epsilon)`.
///
/// The logarithm of the bound is concave in `y`. Newton steps maximize that plus
/// `barrier * (sum of ln y_S + sum over U of ln(1 - yhat_U))`, with the barrier lowered until it does not matter.
/// Whatever comes out is a proof, or the check says it is none; so the search may stop anywhere.
pub fn maximise(grid: &Grid, roots: &[f64], e: f64) -> Vec<f64> {
    let whole: f64 = roots.iter().sum();
    let problem = Problem { grid, roots: roots.iter().map(|root| root / whole).collect(), e };
    let points = grid.points() as f64;
    let (mut barrier, mut work) = (0.1, 0);
    // Far from all conditions: yhat_U is 0 but for yhat_0 = E/2.
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
