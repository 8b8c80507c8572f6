//! Symmetric linear systems, with every parameter in its own units.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// A positive definite matrix, factorized after scaling its diagonal to one.
pub(super) struct Solver {
    factor: Cholesky<f64, Dyn>,
    scale: Vec<f64>,
}

/// Smallest pivot; less is rounding error.
const SINGULAR: f64 = 1e-13;

impl Solver {
    /// Factorizes the rows and columns `free` of a symmetric `n x n` matrix; `None` unless positive definite.
    pub(super) fn new(matrix: &[f64], n: usize, free: &[usize]) -> Option<Solver> {
        let diagonal = |i: usize| matrix[free[i] * n + free[i]];
        let scale: Vec<f64> = (0..free.len()).map(|i| diagonal(i).sqrt().recip()).collect();
        if !scale.iter().all(|s| s.is_finite() && *s > 0.0) {
            return None;
        }
        let scaled =
            DMatrix::from_fn(free.len(), free.len(), |i, j| matrix[free[i] * n + free[j]] * scale[i] * scale[j]);
        let factor = scaled.cholesky()?;
        let pivot = factor.l_dirty().diagonal().iter().fold(f64::INFINITY, |least, d| least.min(d * d));
        (pivot > SINGULAR).then_some(Solver { factor, scale })
    }

    /// Returns the solution for a right-hand side.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let scaled = DVector::from_iterator(right.len(), right.iter().zip(&self.scale).map(|(r, s)| r * s));
        let solved = self.factor.solve(&scaled);
        solved.iter().zip(&self.scale).map(|(x, s)| x * s).collect()
    }

    /// Returns the inverse.
    pub(super) fn inverse(&self) -> DMatrix<f64> {
        let inverse = self.factor.inverse();
        DMatrix::from_fn(inverse.nrows(), inverse.ncols(), |i, j| inverse[(i, j)] * self.scale[i] * self.scale[j])
    }

    /// Returns the logarithm of the determinant.
    pub(super) fn log_determinant(&self) -> f64 {
        let diagonal: f64 = self.factor.l_dirty().diagonal().iter().map(|d| d.ln()).sum();
        2.0 * diagonal - 2.0 * self.scale.iter().map(|s| s.ln()).sum::<f64>()
    }
}
