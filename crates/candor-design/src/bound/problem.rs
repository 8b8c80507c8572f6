//! The convex program of theorem 3, and points within its conditions.

use super::grid::Grid;

/// The objective and its parameters.
pub struct Problem<'a> {
    pub grid: &'a Grid,
    /// By type; their sum is 1.
    pub roots: Vec<f64>,
    /// `exp(epsilon)`.
    pub e: f64,
}

/// A point within the conditions.
pub struct Point {
    pub y: Vec<f64>,
    /// `1 - yhat_U` for each type, but `E - yhat_0` for the empty one.
    pub slacks: Vec<f64>,
    /// `sum of roots sqrt(1 - yhat_U)`.
    pub root: f64,
}

impl Problem<'_> {
    pub fn point(&self, y: Vec<f64>) -> Point {
        let mut slacks: Vec<f64> = self.grid.transform(&y).iter().map(|sum| 1.0 - sum).collect();
        slacks[0] += self.e - 1.0;
        let root = self.roots.iter().zip(&slacks).skip(1).map(|(root, slack)| root * slack.max(0.0).sqrt()).sum();
        Point { y, slacks, root }
    }

    /// Returns the logarithm of the bound, except for a constant, with the barrier.
    fn merit(&self, at: &Point, barrier: f64) -> f64 {
        let logarithms: f64 = at.y.iter().chain(&at.slacks[1..]).map(|x| x.ln()).sum();
        2.0 * at.root.ln() + at.slacks[0].ln() + barrier * logarithms
    }

    /// Returns the point furthest along the direction (relative to `y`) that is a gain; `None` if there is none.
    pub fn ahead(&self, at: &Point, relative: &[f64], promise: f64, barrier: f64) -> Option<Point> {
        let step: Vec<f64> = relative.iter().zip(&at.y).map(|(by, y)| by * y).collect();
        let falls = self.grid.transform(&step);
        let hits = |(slack, fall): (&f64, &f64)| if *fall > 0.0 { slack / fall } else { f64::INFINITY };
        let room = at.slacks.iter().zip(&falls).map(hits).fold(f64::INFINITY, f64::min);
        let room = relative.iter().filter(|by| **by < 0.0).map(|by| -1.0 / by).fold(room, f64::min);
        let before = self.merit(at, barrier);
        let mut length = (0.95 * room).min(1.0);
        while length > 1e-10 {
            let next = self.point(at.y.iter().zip(&step).map(|(y, step)| y + length * step).collect());
            // NaN if rounding has crossed a condition, which compares as not larger.
            if self.merit(&next, barrier) > before + 1e-4 * length * promise {
                return Some(next);
            }
            length *= 0.5;
        }
        None
    }
}
