//! Projects the score of a parameter on those of all others, from rows `a` with `information = sum a a'`.
//!
//! Orthogonal transformations of the rows retain precision that normal equations lose if shares approach 0 or 1.

use nalgebra::DMatrix;

use super::solve::Solver;

/// Smallest part of a column that earlier columns leave unexplained, relative to it; less is rounding error.
const ROUNDING: f64 = 1e-13;

/// A direction in the space of all parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Projection {
    /// 1 for the tested parameter, and the response of the others to it.
    pub(super) weights: Vec<f64>,
    /// Information about the tested parameter given the others.
    pub(super) information: f64,
}

impl Projection {
    /// Projects by an information matrix, stored by rows; `None` if the free parameters leave no information.
    pub(super) fn of_matrix(matrix: &[f64], tested: usize, free: &[usize]) -> Option<Projection> {
        let n = matrix.len().isqrt();
        let column: Vec<f64> = free.iter().map(|&i| matrix[i * n + tested]).collect();
        let taken = if free.is_empty() { Vec::new() } else { Solver::new(matrix, n, free)?.solve(&column) };
        let inside: f64 = taken.iter().zip(&column).map(|(a, b)| a * b).sum();
        let information = matrix[tested * n + tested] - inside;
        let mut weights = vec![0.0; n];
        weights[tested] = 1.0;
        free.iter().zip(taken).for_each(|(&i, by)| weights[i] = -by);
        (information > 0.0).then_some(Projection { weights, information })
    }
}

/// Directions for several tested parameters, less their projections on the free ones.
#[derive(Clone, Debug)]
pub(super) struct Projections {
    /// For each tested parameter: 1 for itself, and the response of the free ones to it.
    pub(super) weights: Vec<Vec<f64>>,
    /// Information about the tested parameters given the others.
    pub(super) information: DMatrix<f64>,
}

impl Projections {
    /// Projects by an information matrix, stored by rows; `None` if the free parameters are not identified.
    pub(super) fn of_matrix(matrix: &[f64], tested: &[usize], free: &[usize]) -> Option<Projections> {
        let n = matrix.len().isqrt();
        let solver = if free.is_empty() { None } else { Some(Solver::new(matrix, n, free)?) };
        let direction = |at: usize| {
            let column: Vec<f64> = free.iter().map(|&i| matrix[i * n + at]).collect();
            let mut weights = vec![0.0; n];
            weights[at] = 1.0;
            let taken = solver.as_ref().map_or(Vec::new(), |solver| solver.solve(&column));
            free.iter().zip(taken).for_each(|(&i, by)| weights[i] = -by);
            weights
        };
        let weights: Vec<Vec<f64>> = tested.iter().map(|&at| direction(at)).collect();
        // The product of the matrix's free rows and a direction is zero.
        let entry = |a: usize, b: usize| (0..n).map(|j| matrix[tested[a] * n + j] * weights[b][j]).sum();
        let information = DMatrix::from_fn(tested.len(), tested.len(), entry);
        Some(Projections { weights, information })
    }
}

/// Returns the projection of the only tested parameter.
pub(super) fn only(Projections { mut weights, information }: Projections) -> Projection {
    Projection { weights: weights.pop().unwrap_or_default(), information: information[(0, 0)] }
}

/// Rows that are reduced to triangular form incrementally.
pub(super) struct Triangle {
    /// The parameters, with the tested ones last.
    order: Vec<usize>,
    tested: usize,
    held: DMatrix<f64>,
    rows: usize,
    squares: Vec<f64>,
}

impl Triangle {
    /// Creates an empty triangle.
    pub(super) fn new(parameters: usize, tested: &[usize]) -> Triangle {
        let free = (0..parameters).filter(|at| !tested.contains(at));
        let order: Vec<usize> = free.chain(tested.iter().copied()).collect();
        let held = DMatrix::zeros(3 * parameters + 32, parameters);
        Triangle { order, tested: tested.len(), held, rows: 0, squares: vec![0.0; parameters] }
    }

    /// Adds a row, given the value of each parameter.
    pub(super) fn add(&mut self, row: impl Fn(usize) -> f64) {
        if self.rows == self.held.nrows() {
            self.reduce();
        }
        for (column, &parameter) in self.order.iter().enumerate() {
            let value = row(parameter);
            self.held[(self.rows, column)] = value;
            self.squares[column] += value * value;
        }
        self.rows += 1;
    }

    fn reduce(&mut self) {
        let triangle = self.held.rows(0, self.rows).into_owned().qr().unpack_r();
        self.held.fill(0.0);
        self.held.view_mut((0, 0), triangle.shape()).copy_from(&triangle);
        self.rows = triangle.nrows();
    }

    /// Returns the projections of all tested parameters.
    pub(super) fn projections(mut self) -> Projections {
        self.reduce();
        let (n, k) = (self.order.len(), self.tested);
        let entry = |i: usize, j: usize| if i < self.rows { self.held[(i, j)] } else { 0.0 };
        // The remainder of each tested column, row by row.
        let mut left = DMatrix::zeros(n, k);
        let mut weights = vec![vec![0.0; n]; k];
        for (own, weights) in weights.iter_mut().enumerate() {
            let column = n - k + own;
            weights[self.order[column]] = 1.0;
            (n - k..n).for_each(|i| left[(i, own)] = entry(i, column));
            for i in (0..n - k).rev() {
                let known: f64 =
                    (i + 1..n - k).map(|j| entry(i, j) * weights[self.order[j]]).sum::<f64>() + entry(i, column);
                let pivot = entry(i, i);
                match pivot.abs() > ROUNDING * self.squares[i].sqrt() {
                    true => weights[self.order[i]] = -known / pivot,
                    // A parameter that the rows do not identify explains nothing.
                    false => left[(i, own)] = known,
                }
            }
        }
        Projections { weights, information: left.tr_mul(&left) }
    }
}

/// Returns rows `a` with `matrix = sum a a'`, for a positive semidefinite matrix of size `m`.
pub(super) fn root_rows(matrix: &[f64], m: usize) -> Vec<Vec<f64>> {
    let mut left = matrix.to_vec();
    let mut rows = Vec::with_capacity(m);
    for k in 0..m {
        let pivot = left[k * m + k];
        if pivot <= 0.0 || pivot <= 1e-14 * matrix[k * m + k] {
            continue;
        }
        let row: Vec<f64> = (0..m).map(|j| if j < k { 0.0 } else { left[k * m + j] / pivot.sqrt() }).collect();
        for i in k..m {
            (k..m).for_each(|j| left[i * m + j] -= row[i] * row[j]);
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projection_is_that_of_normal_equations() {
        let rows = [[1.0, 0.5, 2.0], [0.3, -1.0, 0.7], [2.0, 0.1, -0.4], [0.5, 0.5, 0.1]];
        let mut triangle = Triangle::new(3, &[1]);
        (0..50).for_each(|time| rows.iter().for_each(|row| triangle.add(|at| row[at] * f64::from(1 + time % 3))));
        let found = only(triangle.projections());
        let gram = |i: usize, j: usize| -> f64 {
            let factor: f64 = (0..50).map(|time| f64::from(1 + time % 3).powi(2)).sum();
            factor * rows.iter().map(|row| row[i] * row[j]).sum::<f64>()
        };
        let matrix = DMatrix::from_fn(3, 3, gram);
        let inverse = matrix.try_inverse().unwrap();
        assert!((found.information * inverse[(1, 1)] - 1.0).abs() < 1e-12);
        for at in 0..3 {
            assert!((found.weights[at] - inverse[(at, 1)] / inverse[(1, 1)]).abs() < 1e-12);
        }
    }

    #[test]
    fn several_projections_are_those_of_the_matrix() {
        let rows = [[1.0, 0.5, 2.0, 0.1], [0.3, -1.0, 0.7, 0.9], [2.0, 0.1, -0.4, 0.3], [0.5, 0.5, 0.1, -1.0]];
        let mut triangle = Triangle::new(4, &[3, 1]);
        rows.iter().for_each(|row| triangle.add(|at| row[at]));
        let found = triangle.projections();
        let gram: Vec<f64> = (0..16).map(|at| rows.iter().map(|row| row[at / 4] * row[at % 4]).sum::<f64>()).collect();
        let expected = Projections::of_matrix(&gram, &[3, 1], &[0, 2]).unwrap();
        assert!((&found.information - &expected.information).amax() < 1e-12);
        for (own, other) in found.weights.iter().zip(&expected.weights) {
            assert!(own.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-12), "{own:?} {other:?}");
        }
    }

    #[test]
    fn parameters_without_information_take_nothing_up() {
        let mut triangle = Triangle::new(2, &[1]);
        triangle.add(|at| if at == 1 { 3.0 } else { 0.0 });
        let found = only(triangle.projections());
        assert_eq!((found.weights, found.information), (vec![0.0, 1.0], 9.0));
    }

    #[test]
    fn root_rows_give_their_matrix() {
        let matrix = [4.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 9.0];
        let rows = root_rows(&matrix, 3);
        assert_eq!(rows.len(), 2);
        for i in 0..3 {
            for j in 0..3 {
                let sum: f64 = rows.iter().map(|row| row[i] * row[j]).sum();
                assert!((sum - matrix[i * 3 + j]).abs() < 1e-12);
            }
        }
    }
}
