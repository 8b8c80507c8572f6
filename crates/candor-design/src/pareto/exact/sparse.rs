//! Fewer answers with the same information.
//!
//! Weights that keep `K = sum w psi psi'` and the accuracy keep everything that matters. They are the solutions of a
//! linear program with `n(n+1)/2 + 1` equations, so some basic solution has at most that many answers. It is reached by
//! pivoting from the interior solution: each further atom is eliminated using the basis.

use nalgebra::DMatrix;

/// Size, relative to the largest entry of a column, below which entries are not used as pivots.
const PIVOT: f64 = 1e-9;

/// Returns nonnegative weights of the same `sum w psi psi'` and `sum w max psi`.
///
/// At most `n(n+1)/2 + 1` of them are positive. `posteriors` are scaled to entries of about one, each with its largest
/// probability.
pub(super) fn sparse(posteriors: &[(Vec<f64>, f64)], weights: &[f64]) -> Vec<f64> {
    let n = posteriors.first().map_or(0, |(psi, _)| psi.len());
    let mut order: Vec<usize> = (0..weights.len()).filter(|&a| weights[a] > 0.0).collect();
    let rows = n * (n + 1) / 2 + 1;
    if order.len() <= rows {
        return weights.to_vec();
    }
    // Heavy atoms make a good basis.
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    let mut tableau = DMatrix::zeros(rows, order.len());
    for (column, &a) in order.iter().enumerate() {
        let (psi, largest) = &posteriors[a];
        let products = (0..n).flat_map(|i| (i..n).map(move |j| psi[i] * psi[j]));
        products.chain([*largest]).enumerate().for_each(|(row, value)| tableau[(row, column)] = value);
    }
    let mut left: Vec<f64> = order.iter().map(|&a| weights[a]).collect();
    let (mut basis, mut used) = (Vec::new(), vec![false; rows]);
    for column in 0..order.len() {
        let free = (0..rows).filter(|&row| !used[row]);
        let Some(row) = free.max_by(|&a, &b| tableau[(a, column)].abs().total_cmp(&tableau[(b, column)].abs())) else {
            break;
        };
        if tableau[(row, column)].abs() > PIVOT {
            pivot(&mut tableau, row, column);
            used[row] = true;
            basis.push((row, column));
        }
    }
    let basic: Vec<usize> = basis.iter().map(|&(_, column)| column).collect();
    for entering in (0..order.len()).filter(|column| !basic.contains(column)) {
        // The entering atom is a combination of the basis: removing it moves its weight there.
        let blocking = basis
            .iter()
            .enumerate()
            .filter(|&(_, &(row, _))| tableau[(row, entering)] < -PIVOT)
            .map(|(place, &(row, column))| (left[column] / -tableau[(row, entering)], place))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let moved = blocking.map_or(left[entering], |(room, _)| room.min(left[entering]));
        for &(row, column) in &basis {
            left[column] = (left[column] + moved * tableau[(row, entering)]).max(0.0);
        }
        match blocking {
            Some((room, place)) if room < left[entering] => {
                let (row, leaving) = basis[place];
                left[entering] -= moved;
                left[leaving] = 0.0;
                pivot(&mut tableau, row, entering);
                basis[place] = (row, entering);
            }
            _ => left[entering] = 0.0,
        }
    }
    let mut sparse = vec![0.0; weights.len()];
    for (&a, w) in order.iter().zip(left) {
        sparse[a] = w;
    }
    sparse
}

fn pivot(tableau: &mut DMatrix<f64>, row: usize, column: usize) {
    let scale = 1.0 / tableau[(row, column)];
    tableau.row_mut(row).iter_mut().for_each(|cell| *cell *= scale);
    let factors: Vec<f64> = tableau.column(column).iter().copied().collect();
    for mut cells in tableau.column_iter_mut() {
        let across = cells[row];
        if across != 0.0 {
            for (r, (cell, factor)) in cells.iter_mut().zip(&factors).enumerate() {
                if r != row {
                    *cell -= factor * across;
                }
            }
        }
    }
}
