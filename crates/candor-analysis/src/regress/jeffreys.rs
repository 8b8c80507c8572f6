//! Jeffreys' penalty `+ 1/2 ln |I(b)|`, with `I` the expected information, which makes the maximum finite (Firth
//! 1993).
//!
//! Its gradient is exact. With `P` the probability of an answer and `q = I^-1 grad P`, it is half the sum over
//! people and answers of `2 q' (grad P)_m / P - (q' grad P) P_m / P^2`. The search is BFGS, starting with the metric
//! of the information.

use nalgebra::{DMatrix, DVector};

use super::expected::{Possible, each_derivative, information};
use super::fit::{Fit, moved};
use super::problem::Problem;
use super::solve::Solver;
use super::sums::Want;

/// Maximum number of steps.
const STEPS: usize = 500;

/// Squared length of a step, in standard errors, at which the search ends.
const CONVERGED: f64 = 1e-15;

/// The same if no step increases any more.
const NEARLY: f64 = 1e-7;

/// Maximizes the penalized likelihood; `None` if the information is singular at the start.
pub(super) fn maximise(problem: &Problem<'_>, possible: &Possible, start: &[f64]) -> Option<Fit> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let objective = |theta: &[f64]| -> Option<f64> {
        let penalty = 0.5 * solver(problem, possible, theta)?.log_determinant();
        Some(problem.likelihood(theta, Want::Value).value + penalty).filter(|value| value.is_finite())
    };
    let mut theta = start.to_vec();
    let mut value = objective(&theta)?;
    let mut slope = gradient(problem, possible, &theta)?;
    let mut metric = solver(problem, possible, &theta)?.inverse();
    let mut converged = false;
    for _ in 0..STEPS {
        if !problem.data.goes_on() {
            break;
        }
        let mut step = &metric * &slope;
        let mut gain = step.dot(&slope);
        if gain <= 0.0 {
            metric = solver(problem, possible, &theta)?.inverse();
            step = &metric * &slope;
            gain = step.dot(&slope);
        }
        converged = gain < CONVERGED;
        if converged {
            break;
        }
        let sizes = (0..50).map(|halvings| 0.5f64.powi(halvings));
        let mut reached = sizes.filter_map(|size| {
            let next = moved(&theta, step.as_slice(), &free, size);
            let reached = objective(&next)?;
            (reached >= value + 1e-4 * size * gain).then_some((next, reached))
        });
        let Some((next, reached)) = reached.next() else {
            converged = gain < NEARLY;
            break;
        };
        let after = gradient(problem, possible, &next)?;
        let moved_by = DVector::from_iterator(next.len(), next.iter().zip(&theta).map(|(a, b)| a - b));
        update(&mut metric, &moved_by, &(&slope - &after));
        (theta, value, slope) = (next, reached, after);
    }
    let sums = problem.likelihood(&theta, Want::Information);
    Some(Fit { theta, sums, converged, boundary: false })
}

/// Updates the inverse Hessian after a step and the change of the gradient; skipped unless the function is concave.
fn update(metric: &mut DMatrix<f64>, step: &DVector<f64>, change: &DVector<f64>) {
    let along = step.dot(change);
    if along <= 1e-14 * step.norm() * change.norm() {
        return;
    }
    let by = &*metric * change;
    let factor = (1.0 + change.dot(&by) / along) / along;
    metric.ger(factor, step, step, 1.0);
    metric.ger(-1.0 / along, &by, step, 1.0);
    metric.ger(-1.0 / along, step, &by, 1.0);
}

/// Returns the gradient of the penalized log-likelihood.
fn gradient(problem: &Problem<'_>, possible: &Possible, theta: &[f64]) -> Option<DVector<f64>> {
    let (n, m) = (problem.parameters, problem.kernel.indices());
    let inverse = solver(problem, possible, theta)?.inverse();
    let mut total = DVector::from_vec(problem.likelihood(theta, Want::Gradient).gradient);
    // For one group, the inverse of the information in the indices.
    let mut inner = DMatrix::zeros(m, m);
    let mut in_indices = vec![0.0; m];
    each_derivative(problem, possible, theta, |group, x, answers| {
        let columns: Vec<DVector<f64>> = (0..m)
            .map(|index| {
                let mut unit = vec![0.0; m];
                unit[index] = 1.0;
                DVector::from_vec(problem.in_parameters(&unit, x))
            })
            .collect();
        for j in 0..m {
            let image = &inverse * &columns[j];
            (0..m).for_each(|k| inner[(k, j)] = columns[k].dot(&image));
        }
        in_indices.fill(0.0);
        for (p, first, second) in answers {
            let q = &inner * DVector::from_column_slice(first);
            let along: f64 = q.iter().zip(first).map(|(q, d)| q * d).sum();
            for l in 0..m {
                let curve: f64 = (0..m).map(|k| q[k] * second[k * m + l]).sum();
                in_indices[l] += 0.5 * group.weight * (2.0 * curve / p - along * first[l] / (p * p));
            }
        }
        let own = problem.in_parameters(&in_indices, x);
        (0..n).for_each(|at| total[at] += own[at]);
    });
    Some(total)
}

fn solver(problem: &Problem<'_>, possible: &Possible, theta: &[f64]) -> Option<Solver> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    Solver::new(&information(problem, possible, theta), problem.parameters, &free)
}
