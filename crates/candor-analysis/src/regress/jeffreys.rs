//! The Jeffreys penalty, `+ 1/2 ln |I(b)|` with `I` the expected information: finite always, and with the smallest error in small surveys
//! (Firth 1993).

use super::expected::{Possible, information};
use super::fit::{Fit, moved};
use super::problem::Problem;
use super::solve::Solver;
use super::sums::Want;

/// Steps at most.
const STEPS: usize = 300;

/// Half the difference by which the penalty's slope is taken, in standard errors.
const NEAR: f64 = 1e-4;

/// A step this small, in standard errors squared, is the last.
const CONVERGED: f64 = 1e-16;

/// Maximises the penalised likelihood by scoring; `None` if no finite maximum is found.
pub(super) fn maximise(problem: &Problem<'_>, possible: &Possible, start: &[f64]) -> Option<Fit> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let objective = |theta: &[f64]| -> Option<f64> {
        let penalty = 0.5 * solver(problem, possible, theta)?.log_determinant();
        Some(problem.likelihood(theta, Want::Value).value + penalty).filter(|value| value.is_finite())
    };
    let mut theta = start.to_vec();
    let mut value = objective(&theta)?;
    for _ in 0..STEPS {
        let solver = solver(problem, possible, &theta)?;
        let errors: Vec<f64> = solver.inverse().diagonal().iter().map(|v| v.sqrt()).collect();
        let mut gradient = problem.likelihood(&theta, Want::Gradient).gradient;
        for (i, sum) in gradient.iter_mut().enumerate() {
            let at = |by: f64| {
                let mut near = theta.clone();
                near[i] += by * errors[i];
                self::solver(problem, possible, &near).map(|solver| solver.log_determinant())
            };
            *sum += 0.5 * (at(NEAR)? - at(-NEAR)?) / (2.0 * NEAR * errors[i]);
        }
        let step = solver.solve(&gradient);
        let gain: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
        let mut size = 1.0;
        let next = loop {
            let next = moved(&theta, &step, &free, size);
            match objective(&next) {
                Some(reached) if reached >= value => break Some((next, reached)),
                _ => size *= 0.5,
            }
            if size < 1e-9 {
                break None;
            }
        };
        let done = gain < CONVERGED || next.is_none();
        if let Some((next, reached)) = next {
            (theta, value) = (next, reached);
        }
        if done {
            let sums = problem.likelihood(&theta, Want::Information);
            return (gain < 1e-8).then_some(Fit { theta, sums, converged: true, boundary: false });
        }
    }
    None
}

fn solver(problem: &Problem<'_>, possible: &Possible, theta: &[f64]) -> Option<Solver> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    Solver::new(&information(problem, possible, theta), problem.parameters, &free)
}
