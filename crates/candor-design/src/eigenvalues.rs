//! Eigenvalues of a transition matrix (Domingo-Ferrer and Soria-Comas 2020, section 2.3).
//!
//! They determine how much estimation amplifies the noise of the answers.

use nalgebra::{DMatrix, Schur};
use serde::Serialize;

/// Maximum size of a matrix without the two-level structure.
const MAX_SIZE: usize = 256;

/// Difference below which two entries count as equal.
const EQUALITY_TOLERANCE: f64 = 1e-13;

/// Fraction of the largest eigenvalue below which an eigenvalue counts as 0.
const NOTHING: f64 = 1e-13;

/// Maximum number of iterations.
const STEPS: usize = 100_000;

/// An eigenvalue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Eigenvalue {
    /// Its real part.
    pub real: f64,
    /// Its imaginary part.
    pub imaginary: f64,
}

impl Eigenvalue {
    fn real(real: f64) -> Eigenvalue {
        Eigenvalue { real, imaginary: 0.0 }
    }

    /// Returns its absolute value.
    pub fn modulus(self) -> f64 {
        self.real.hypot(self.imaginary)
    }
}

/// Returns the eigenvalues of a square matrix, given by columns, by decreasing absolute value.
///
/// Returns `None` if the matrix is not square or too large, or if the iteration does not converge.
pub fn eigenvalues(columns: &[Vec<f64>]) -> Option<Vec<Eigenvalue>> {
    let n = columns.len();
    if n == 0 || columns.iter().any(|column| column.len() != n) {
        return None;
    }
    let mut values = match of_two_levels(columns) {
        Some(values) => values,
        None if n > MAX_SIZE => return None,
        None => {
            let matrix = DMatrix::from_fn(n, n, |row, column| columns[column][row]);
            let symmetric = (0..n).all(|i| (0..i).all(|j| (columns[i][j] - columns[j][i]).abs() < EQUALITY_TOLERANCE));
            match symmetric {
                true => matrix.symmetric_eigenvalues().iter().map(|&value| Eigenvalue::real(value)).collect(),
                false => {
                    let found = Schur::try_new(matrix, f64::EPSILON, STEPS)?.complex_eigenvalues();
                    found.iter().map(|value| Eigenvalue { real: value.re, imaginary: value.im }).collect()
                }
            }
        }
    };
    values.sort_by(|a, b| b.modulus().total_cmp(&a.modulus()).then(b.real.total_cmp(&a.real)));
    Some(values)
}

/// Returns the eigenvalues of a matrix with one value on the diagonal and another elsewhere, or `None` for others.
fn of_two_levels(columns: &[Vec<f64>]) -> Option<Vec<Eigenvalue>> {
    let n = columns.len();
    let (kept, other) = (columns[0][0], columns[0].get(1).copied().unwrap_or(0.0));
    let is = |(input, column): (usize, &Vec<f64>)| {
        let near =
            |(output, p): (usize, &f64)| (p - if output == input { kept } else { other }).abs() < EQUALITY_TOLERANCE;
        column.iter().enumerate().all(near)
    };
    let values = || (1..n).map(|_| kept - other).chain([kept + (n - 1) as f64 * other]).map(Eigenvalue::real).collect();
    columns.iter().enumerate().all(is).then(values)
}

/// Returns `P_max / P_min`, the ratio of the largest to the smallest absolute eigenvalue.
///
/// Returns `None` if the smallest is 0, because shares are then not identifiable.
pub fn largest_over_smallest(values: &[Eigenvalue]) -> Option<f64> {
    let (largest, smallest) = (values.first()?.modulus(), values.last()?.modulus());
    (smallest > NOTHING * largest).then(|| largest / smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(columns: &[Vec<f64>]) -> Vec<Eigenvalue> {
        eigenvalues(columns).unwrap()
    }

    /// The sum is the trace and the product the determinant, for any matrix. The largest is 1 if columns sum to 1.
    #[test]
    fn trace_and_determinant() {
        let golden = vec![vec![0.7, 0.2, 0.1], vec![0.2, 0.6, 0.2], vec![0.1, 0.3, 0.6]];
        let values = found(&golden);
        assert!((values[0].real - 1.0).abs() < 1e-12 && values.iter().all(|value| value.imaginary == 0.0));
        assert!((values.iter().map(|value| value.real).sum::<f64>() - 1.9).abs() < 1e-12);
        let determinant = DMatrix::from_fn(3, 3, |row, column| golden[column][row]).determinant();
        assert!((values.iter().map(|value| value.real).product::<f64>() - determinant).abs() < 1e-12);
    }

    /// A circulant has the Fourier transform of its first column: a + b w + c w^2.
    #[test]
    fn pairs_are_complex() {
        let values = found(&[vec![0.6, 0.3, 0.1], vec![0.1, 0.6, 0.3], vec![0.3, 0.1, 0.6]]);
        let (real, imaginary) = (0.6 - 0.2, 3f64.sqrt() / 2.0 * 0.2);
        assert!((values[1].real - real).abs() < 1e-12 && (values[1].imaginary.abs() - imaginary).abs() < 1e-12);
        assert!((largest_over_smallest(&values).unwrap() - 1.0 / real.hypot(imaginary)).abs() < 1e-12);
    }

    #[test]
    fn large_ones_by_their_pattern_and_singular_ones() {
        let warner = |n: usize, kept: f64| {
            let other = (1.0 - kept) / (n - 1) as f64;
            (0..n).map(|i| (0..n).map(|j| if i == j { kept } else { other }).collect()).collect::<Vec<Vec<f64>>>()
        };
        let values = found(&warner(400, 0.7));
        assert!((values[0].real - 1.0).abs() < 1e-9 && (values[399].real - (0.7 - 0.3 / 399.0)).abs() < 1e-12);
        assert_eq!(largest_over_smallest(&found(&warner(4, 0.25))), None);
        assert_eq!(eigenvalues(&[vec![0.5, 0.25, 0.25], vec![0.1, 0.4, 0.5]]), None);
    }
}
