//! The search for a proof: a barrier method.

use super::grid::Grid;
use super::newton::System;

/// The barrier ends where it can hide no more than this of the bound, relatively.
const GAP: f64 = 1e-6;

/// By how much the barrier falls from one round to the next.
const FALL: f64 = 0.2;

/// How many Newton steps there are at most in a round.
const STEPS: usize = 30;

/// How many inner steps there are at most in all, each a transform and back: about a second for ten attributes.
const WORK: usize = 20_000;

/// Numbers `y_S > 0` for every type of patterns that come close to the largest bound of theorem 3 (docs/mathematics/workload.md),
/// strictly within its conditions. `roots` are `sqrt(C_U d_U)`, summed over the components of each type; `e` is
/// `exp(epsilon)`.
///
/// The logarithm of the bound is concave in `y`. Maximised is that plus `barrier * (sum of ln y_S + sum over U of ln(1 -
/// yhat_U))` by Newton steps, with the barrier lowered until it does not matter. Whatever comes out is a proof, or the check
/// says it is none; so the search may stop anywhere.
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

/// What is maximised.
pub struct Problem<'a> {
    pub grid: &'a Grid,
    /// By type; their sum is 1.
    pub roots: Vec<f64>,
    /// `exp(epsilon)`.
    pub e: f64,
}

/// Numbers within the conditions.
pub struct Point {
    pub y: Vec<f64>,
    /// `1 - yhat_U` of each type, but `E - yhat_0` of the empty one.
    pub slacks: Vec<f64>,
    /// `sum of roots sqrt(1 - yhat_U)`.
    pub root: f64,
}

impl Problem<'_> {
    fn point(&self, y: Vec<f64>) -> Point {
        let mut slacks: Vec<f64> = self.grid.transform(&y).iter().map(|sum| 1.0 - sum).collect();
        slacks[0] += self.e - 1.0;
        let root = self.roots.iter().zip(&slacks).skip(1).map(|(root, slack)| root * slack.max(0.0).sqrt()).sum();
        Point { y, slacks, root }
    }

    /// The logarithm of the bound but for a constant, with the barrier.
    fn merit(&self, at: &Point, barrier: f64) -> f64 {
        let logarithms: f64 = at.y.iter().chain(&at.slacks[1..]).map(|x| x.ln()).sum();
        2.0 * at.root.ln() + at.slacks[0].ln() + barrier * logarithms
    }

    /// As far along the direction (relative to `y`) as it gains; `None` if it does not.
    fn ahead(&self, at: &Point, relative: &[f64], promise: f64, barrier: f64) -> Option<Point> {
        let step: Vec<f64> = relative.iter().zip(&at.y).map(|(by, y)| by * y).collect();
        let falls = self.grid.transform(&step);
        let hits = |(slack, fall): (&f64, &f64)| if *fall > 0.0 { slack / fall } else { f64::INFINITY };
        let room = at.slacks.iter().zip(&falls).map(hits).fold(f64::INFINITY, f64::min);
        let room = relative.iter().filter(|by| **by < 0.0).map(|by| -1.0 / by).fold(room, f64::min);
        let before = self.merit(at, barrier);
        let mut length = (0.95 * room).min(1.0);
        while length > 1e-10 {
            let next = self.point(at.y.iter().zip(&step).map(|(y, step)| y + length * step).collect());
            // Not a number where rounding has crossed a condition: that is not larger.
            if self.merit(&next, barrier) > before + 1e-4 * length * promise {
                return Some(next);
            }
            length *= 0.5;
        }
        None
    }
}
