//! One Newton step of the barrier method.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::problem::{Point, Problem};

/// Largest number of unknowns that are solved for exactly; the others follow by iteration.
const EXACT: usize = 256;

/// Relative error of the solution at which the iteration ends.
const ACCURACY: f64 = 1e-2;

/// Maximum number of iterations.
const ITERATIONS: usize = 400;

/// The equations of a step, in units of `y`: `(Y (X' D X + p p'/2) Y + barrier) step = gradient`.
///
/// `X` is the transform, `D` a diagonal over components, and `Y` the diagonal of `y`. The matrix is never formed: a
/// product takes two transforms. The equations are solved by conjugate gradients. The preconditioner is the Cholesky
/// factor of the part of the matrix that differs most from the barrier's, and the diagonal of the rest. Numbers `y`
/// that tend to zero soon leave that part, so it covers nearly everything.
pub struct System<'a> {
    problem: &'a Problem<'a>,
    at: &'a Point,
    barrier: f64,
    /// `D`.
    curvature: Vec<f64>,
    /// `p`.
    pull: Vec<f64>,
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
    exact: Vec<usize>,
    factor: Option<Cholesky<f64, Dyn>>,
}

/// A step, with its expected gain.
pub struct Solution {
    /// The step relative to `y`.
    pub relative: Vec<f64>,
    /// Twice the gain in the merit function if that were quadratic.
    pub promise: f64,
    /// Number of matrix products computed.
    pub steps: usize,
}

impl<'a> System<'a> {
    pub fn new(problem: &'a Problem<'a>, at: &'a Point, barrier: f64) -> System<'a> {
        let (grid, root) = (problem.grid, at.root);
        let mut pull = vec![0.0; grid.points()];
        let mut curvature = vec![0.0; grid.points()];
        let mut slopes = vec![0.0; grid.points()];
        for u in 1..grid.points() {
            let slack = at.slacks[u];
            pull[u] = problem.roots[u] / (slack.sqrt() * root);
            curvature[u] = 0.5 * pull[u] / slack + barrier / (slack * slack);
            slopes[u] = -pull[u] - barrier / slack;
        }
        curvature[0] = at.slacks[0].powi(-2);
        slopes[0] = -1.0 / at.slacks[0];
        let times_y = |values: Vec<f64>| -> Vec<f64> { values.iter().zip(&at.y).map(|(value, y)| value * y).collect() };
        let gradient = times_y(grid.transposed(&slopes)).iter().map(|slope| slope + barrier).collect();
        let across = times_y(grid.transposed(&pull));
        let squares = times_y(times_y(grid.squared(&curvature)));
        let diagonal: Vec<f64> =
            squares.iter().zip(&across).map(|(square, across)| barrier + square + 0.5 * across * across).collect();
        let mut exact: Vec<usize> = (0..grid.points()).filter(|&s| diagonal[s] > 1.02 * barrier).collect();
        exact.sort_by(|&a, &b| diagonal[b].total_cmp(&diagonal[a]));
        exact.truncate(EXACT);
        let products = grid.products(&curvature);
        let entry = |row: usize, column: usize| {
            let (s, t) = (exact[row], exact[column]);
            match row.cmp(&column) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => diagonal[s],
                std::cmp::Ordering::Greater => at.y[s] * at.y[t] * products.get(s, t) + 0.5 * across[s] * across[t],
            }
        };
        // The factorization uses only the lower half.
        let factor = DMatrix::from_fn(exact.len(), exact.len(), entry).cholesky();
        System { problem, at, barrier, curvature, pull, gradient, diagonal, exact, factor }
    }

    fn product(&self, step: &[f64]) -> Vec<f64> {
        let grid = self.problem.grid;
        let scaled: Vec<f64> = step.iter().zip(&self.at.y).map(|(step, y)| step * y).collect();
        let mut moved = grid.transform(&scaled);
        let along = 0.5 * dot(&self.pull, &moved);
        for ((value, curvature), pull) in moved.iter_mut().zip(&self.curvature).zip(&self.pull) {
            *value = curvature * *value + pull * along;
        }
        let back = grid.transposed(&moved);
        back.iter().zip(&self.at.y).zip(step).map(|((value, y), step)| value * y + self.barrier * step).collect()
    }

    fn precondition(&self, values: &[f64]) -> Vec<f64> {
        let mut found: Vec<f64> = values.iter().zip(&self.diagonal).map(|(value, diagonal)| value / diagonal).collect();
        if let Some(factor) = &self.factor {
            let part = DVector::from_iterator(self.exact.len(), self.exact.iter().map(|&s| values[s]));
            self.exact.iter().zip(factor.solve(&part).iter()).for_each(|(&s, value)| found[s] = *value);
        }
        found
    }

    /// Solves by conjugate gradients, with at most `most` products.
    pub fn solve(&self, most: usize) -> Solution {
        let mut relative = vec![0.0; self.gradient.len()];
        let mut rest = self.gradient.clone();
        let mut direction = self.precondition(&rest);
        let mut size = dot(&rest, &direction);
        let (enough, mut steps) = (ACCURACY * ACCURACY * size, 0);
        while size > enough && steps < ITERATIONS.min(most) {
            steps += 1;
            let product = self.product(&direction);
            let length = size / dot(&direction, &product);
            relative.iter_mut().zip(&direction).for_each(|(x, d)| *x += length * d);
            rest.iter_mut().zip(&product).for_each(|(r, p)| *r -= length * p);
            let next = self.precondition(&rest);
            let next_size = dot(&rest, &next);
            direction.iter_mut().zip(&next).for_each(|(d, n)| *d = n + next_size / size * *d);
            size = next_size;
        }
        Solution { promise: dot(&relative, &self.gradient), relative, steps }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
