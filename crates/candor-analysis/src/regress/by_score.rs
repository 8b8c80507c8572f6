//! The fit by the corrected score, and the penalized likelihood that stands in where it has no solution.

use nalgebra::DMatrix;

use super::by_likelihood::{FARTHEST, MUCH, log_f};
use super::coefficients::{Asked, Shown, Tested, tested_parameters};
use super::corrected_profile::{CorrectedProfile, StandIn, best_value};
use super::expected::Everything;
use super::family::Kernel;
use super::fieller::fieller;
use super::fit::{Fit, solve_corrected, start};
use super::likelihood_profile::Drawn;
use super::observations::Observations;
use super::penalty::{Penalty, scales};
use super::problem::Problem;
use super::result::{EstimateKind, Method, Regression, Test};
use super::solve::Solver;
use super::sums::Want;
use super::variance::{corrected_covariance, score_covariance};
use super::walk::{Range, walk};
use super::{Family, Model, RegressError};

/// Fits by the corrected score.
///
/// # Errors
/// Returns an error if the design does not tell the errors, or a linear model has no solution.
pub(super) fn corrected(
    data: &Observations,
    kernel: Kernel,
    model: &Model,
    asked: Asked,
    everything: Option<&Everything>,
) -> Result<Regression, RegressError> {
    let problem = Problem::new(data, kernel, false);
    let tables = problem.tables();
    let free: Vec<usize> = (0..problem.parameters).collect();
    let first = start(&problem, &tables);
    let root = solve_corrected(&problem, &tables, &first, &free);
    if kernel == Kernel::LeastSquares {
        return linear(&problem, model, &tables, &root.ok_or(RegressError::NoSolution)?, asked);
    }
    let law = Problem::new(data, kernel, true);
    let much = data.cases.len() * data.cells() > MUCH;
    let fit_stand_in = || log_f(&law, &start(&law, &tables), &vec![0.0; law.parameters]);
    let mut other = (root.is_none() || !much).then(fit_stand_in);
    let stand_in =
        other.as_ref().map(|fit| StandIn { problem: &law, penalty: Penalty::log_f(&law), theta: fit.theta.clone() });
    let tested = match asked.limits {
        true => walks(&problem, &tables, root.as_ref(), stand_in.as_ref(), everything, asked)?,
        false => Vec::new(),
    };
    let open = root.is_none() || tested.iter().flatten().any(Tested::is_open);
    if open && other.is_none() {
        other = Some(fit_stand_in());
    }
    let mut fitted = match (&root, &other) {
        (Some(root), _) if !open => {
            let covariance = corrected_covariance(&problem, root)?;
            let (kind, critical) = (EstimateKind::Corrected, asked.critical);
            let shown =
                Shown { problem: &problem, fit: root, covariance, kind, inner: None, tested: &tested, critical };
            shown.told(model, &tables)
        }
        (_, Some(other)) => {
            let mut fitted = by_stand_in(&law, model, &tables, other, &tested, asked)?;
            if let Some(root) = &root {
                exact_errors(&problem, root, &mut fitted)?;
            }
            fitted
        }
        (_, None) => return Err(RegressError::NoSolution),
    };
    fitted.boundary = root.is_none();
    fitted.method = Method::CorrectedScore;
    fitted.log_likelihood = None;
    Ok(fitted)
}

/// What is shown where a limit is missing.
fn by_stand_in(
    law: &Problem<'_>,
    model: &Model,
    tables: &[f64],
    fit: &Fit,
    tested: &[Option<Tested>],
    asked: Asked,
) -> Result<Regression, RegressError> {
    let shown = Shown {
        problem: law,
        fit,
        covariance: penalised_covariance(law, fit)?,
        kind: EstimateKind::Penalised,
        inner: asked.limits.then_some(EstimateKind::Corrected),
        tested,
        critical: asked.critical,
    };
    let mut fitted = shown.told(model, tables);
    fitted.assumption = law.predictors.as_ref().map(|law| law.assumption());
    Ok(fitted)
}

/// The errors of coefficients with two limits, where there is a solution.
fn exact_errors(problem: &Problem<'_>, root: &Fit, fitted: &mut Regression) -> Result<(), RegressError> {
    let covariance = corrected_covariance(problem, root)?;
    for (at, own) in fitted.coefficients.iter_mut().enumerate() {
        if own.kind == EstimateKind::Corrected {
            own.standard_error = own.standard_error.map(|_| covariance[(at, at)].max(0.0).sqrt());
        }
    }
    Ok(())
}

fn penalised_covariance(problem: &Problem<'_>, fit: &Fit) -> Result<DMatrix<f64>, RegressError> {
    let (n, free) = (problem.parameters, (0..problem.parameters).collect::<Vec<usize>>());
    let solver = Solver::new(&fit.sums.observed, n, &free).or_else(|| Solver::new(&fit.sums.complete, n, &free));
    let bread = solver.ok_or(RegressError::NoSolution)?.inverse();
    Ok(match problem.data.sampled() {
        true => {
            let sums = problem.likelihood(&fit.theta, Want::Information);
            &bread * score_covariance(problem, &fit.theta, Some(&sums))? * &bread
        }
        false => bread,
    })
}

/// Limits and tests of all coefficients.
fn walks(
    problem: &Problem<'_>,
    tables: &[f64],
    root: Option<&Fit>,
    stand_in: Option<&StandIn<'_>>,
    everything: Option<&Everything>,
    asked: Asked,
) -> Result<Vec<Option<Tested>>, RegressError> {
    let scales = scales(problem);
    let much = problem.data.cases.len() * problem.data.cells() > MUCH;
    let mut all = vec![None; problem.parameters];
    for at in tested_parameters(problem) {
        let free = (0..problem.parameters).filter(|&other| other != at).collect();
        let drawn = Drawn::of(problem);
        let profile = CorrectedProfile { problem, tables, everything, drawn, stand_in, tested: at, free };
        let unit = scales[at].1.recip();
        let (low, high) = (-FARTHEST * unit, FARTHEST * unit);
        let start = match root {
            Some(root) => profile.point(root.theta.clone())?,
            None => {
                let theta = stand_in.map_or_else(|| vec![0.0; problem.parameters], |other| other.theta.clone());
                let near = profile.point(theta[..problem.parameters].to_vec())?;
                best_value(&profile, &near, low, high)?
            }
        };
        let range = Range { low, high, unit, critical: asked.critical, much };
        let found = walk(&profile, start, range)?;
        let test = if found.one_step { Test::OneStepCr2 } else { Test::Score };
        all[at] = Some(Tested { found, test, gap: false });
    }
    Ok(all)
}

/// A linear model: Fieller's sets.
fn linear(
    problem: &Problem<'_>,
    model: &Model,
    tables: &[f64],
    root: &Fit,
    asked: Asked,
) -> Result<Regression, RegressError> {
    let drawn = Drawn::of(problem);
    let mut tested = vec![None; if asked.limits { problem.parameters } else { 0 }];
    for (at, own) in tested.iter_mut().enumerate() {
        let found = fieller(problem, tables, at, asked.critical, drawn)?.ok_or(RegressError::NoSolution)?;
        *own = Some(Tested { found: found.0, test: Test::Fieller, gap: found.1 });
    }
    let covariance = corrected_covariance(problem, root)?;
    let (kind, critical) = (EstimateKind::Corrected, asked.critical);
    let shown = Shown { problem, fit: root, covariance, kind, inner: None, tested: &tested, critical };
    let mut fitted = shown.told(model, tables);
    fitted.method = Method::CorrectedScore;
    fitted.log_likelihood = None;
    if model.family == Family::Linear {
        fitted.residual_deviation = Some((-2.0 * root.sums.value / problem.data.total).max(0.0).sqrt());
    }
    Ok(fitted)
}
