//! Rao's score tests: is a coefficient zero? They take the fit without it only, and hold their level where Wald's do not.

use nalgebra::DVector;

use super::RegressError;
use super::expected::{Possible, information};
use super::fit::{Fit, maximise, maximise_for_score, solve_for_score};
use super::problem::Problem;
use super::solve::Solver;
use super::variance::score_covariance;

/// What a test takes for the spread of the score.
pub(super) enum Spread<'a> {
    /// The expected information, which is exact where the model holds.
    Expected(&'a Possible),
    /// The responses' own scores, weights and clusters and all (Boos 1992); `corrected` with the groups' tables.
    Empirical { corrected: Option<&'a [f64]> },
}

/// The statistic, chi-square with one degree of freedom, of the hypothesis that parameter `tested` is zero; `None` if the fit without it has no
/// maximum.
///
/// # Errors
/// If the sample does not tell the spread.
pub(super) fn statistic(
    problem: &Problem<'_>,
    full: &Fit,
    tested: usize,
    spread: &Spread<'_>,
) -> Result<Option<f64>, RegressError> {
    let n = problem.parameters;
    let free: Vec<usize> = (0..n).filter(|&i| i != tested).collect();
    let start = without(full, n, tested, &free);
    let corrected = match spread {
        Spread::Empirical { corrected } => *corrected,
        Spread::Expected(_) => None,
    };
    let restricted = match corrected {
        Some(tables) => solve_for_score(problem, tables, &start, &free),
        None => {
            let near = maximise_for_score(problem, &start, &free);
            let anew = || {
                let mut start = full.theta.clone();
                start[tested] = 0.0;
                maximise(problem, &start, &free)
            };
            let fit = if near.converged { near } else { anew() };
            Some(fit).filter(|fit| fit.converged || fit.boundary)
        }
    };
    let Some(restricted) = restricted else { return Ok(None) };
    let all: Vec<usize> = (0..n).collect();
    Ok(match spread {
        Spread::Expected(possible) => {
            let information = information(problem, possible, &restricted.theta);
            Solver::new(&information, n, &all).map(|solver| {
                let mut unit = vec![0.0; n];
                unit[tested] = 1.0;
                let weights = solver.solve(&unit);
                dot(&weights, &restricted.sums.gradient).powi(2) / weights[tested]
            })
        }
        Spread::Empirical { .. } => {
            let likelihood = Some(&restricted.sums).filter(|_| corrected.is_none());
            let covariance = score_covariance(problem, &restricted.theta, likelihood)?;
            let curve = match corrected {
                Some(_) => &restricted.sums.complete,
                None => &restricted.sums.observed,
            };
            effective(curve, n, tested, &free).and_then(|weights| {
                let variance = weights.dot(&(covariance * &weights));
                (variance > 0.0).then(|| dot(weights.as_slice(), &restricted.sums.gradient).powi(2) / variance)
            })
        }
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// About where the maximum without a parameter is: the others follow it to zero, as far as the information at the full fit tells.
fn without(full: &Fit, n: usize, tested: usize, free: &[usize]) -> Vec<f64> {
    let mut start = full.theta.clone();
    let pulled: Vec<f64> = free.iter().map(|&i| full.sums.observed[i * n + tested] * start[tested]).collect();
    if let Some(solver) = Solver::new(&full.sums.observed, n, free) {
        free.iter().zip(solver.solve(&pulled)).for_each(|(&i, by)| start[i] += by);
    }
    start[tested] = 0.0;
    start
}

/// The score of one parameter less what the others take up of it, as weights of all scores: it does not change if the others are a little off.
fn effective(curve: &[f64], n: usize, tested: usize, free: &[usize]) -> Option<DVector<f64>> {
    let column: Vec<f64> = free.iter().map(|&i| curve[i * n + tested]).collect();
    let taken = if free.is_empty() { Vec::new() } else { Solver::new(curve, n, free)?.solve(&column) };
    let mut weights = DVector::zeros(n);
    weights[tested] = 1.0;
    free.iter().zip(taken).for_each(|(&i, x)| weights[i] = -x);
    Some(weights)
}
