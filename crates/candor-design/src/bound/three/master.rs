//! The optimal mixture of the sets found so far.

use nalgebra::{DMatrix, DVector};

/// Relative effect of the barrier on the error at which the search ends.
const GAP: f64 = 1e-11;

/// Returns the mean information by type of the mixture of columns with the least `sum of cost_U / I_U`.
///
/// Also returns the weights. The method is a barrier method in the weights `w >= 0`. The error is homogeneous of degree
/// -1. So instead of fixing the sum of the weights, the error plus that sum is minimized, and the weights are scaled at
/// the end.
pub fn mixture(costs: &[f64], columns: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let held: Vec<usize> = (0..costs.len()).filter(|&u| costs[u] > 0.0).collect();
    let count = columns.len();
    let table = DMatrix::from_fn(held.len(), count, |u, c| columns[c][held[u]]);
    let information = |weights: &DVector<f64>| &table * weights;
    let error =
        |weights: &DVector<f64>| held.iter().zip(information(weights).iter()).map(|(&u, i)| costs[u] / i).sum::<f64>();
    let mut weights = DVector::from_element(count, 1.0 / count as f64);
    weights *= error(&weights).sqrt();
    let scale = weights.sum();
    let merit = |weights: &DVector<f64>, barrier: f64| {
        error(weights) + weights.sum() - barrier * weights.iter().map(|weight| weight.ln()).sum::<f64>()
    };
    let mut barrier = scale / count as f64;
    while barrier * count as f64 > GAP * scale {
        barrier *= 0.2;
        for _ in 0..30 {
            let known = information(&weights);
            let slope = |c: usize| {
                let falls = held.iter().enumerate().map(|(at, &u)| costs[u] / known[at].powi(2) * table[(at, c)]);
                1.0 - falls.sum::<f64>() - barrier / weights[c]
            };
            let gradient = DVector::from_fn(count, |c, _| slope(c));
            let bent = DMatrix::from_fn(held.len(), count, |at, c| {
                (2.0 * costs[held[at]] / known[at].powi(3)).sqrt() * table[(at, c)] * weights[c]
            });
            let mut hessian = bent.transpose() * &bent;
            (0..count).for_each(|c| hessian[(c, c)] += barrier);
            let scaled = gradient.component_mul(&weights);
            let Some(factor) = hessian.cholesky() else { break };
            let relative = -factor.solve(&scaled);
            let promise = -relative.dot(&scaled);
            let largest = -relative.min();
            let mut length = if largest > 0.0 { (0.95 / largest).min(1.0) } else { 1.0 };
            let before = merit(&weights, barrier);
            let moved = |length: f64| weights.component_mul(&relative.map(|by| 1.0 + length * by));
            let gains = |length: f64| merit(&moved(length), barrier) <= before - 1e-4 * length * promise;
            while length > 1e-8 && !gains(length) {
                length *= 0.5;
            }
            if length <= 1e-8 {
                break;
            }
            weights = moved(length);
            if promise < 1e-3 * barrier {
                break;
            }
        }
    }
    let whole = weights.sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / whole).collect();
    let mut known = vec![0.0; costs.len()];
    for (column, share) in columns.iter().zip(&shares) {
        known.iter_mut().zip(column).for_each(|(sum, value)| *sum += share * value);
    }
    (known, shares)
}
