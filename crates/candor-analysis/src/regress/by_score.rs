//! Fits by the corrected score, and penalized likelihood fits if it has no solution.

use nalgebra::DMatrix;

use super::by_likelihood::{FARTHEST, MUCH, log_f};
use super::coefficients::{Asked, Shown, Tested, tested_parameters};
use super::corrected_profile::{CorrectedProfile, StandIn, best_value};
use super::expected::Everything;
use super::family::Kernel;
use super::fieller::fieller;
use super::fit::{Fit, solve_corrected, start};
use super::likelihood_profile::Drawn;
use super::observations::{Case, Observations};
use super::penalty::{Penalty, scales};
use super::problem::Problem;
use super::result::{EstimateKind, JointTest, Method, Regression, Test};
use super::solve::Solver;
use super::sums::Want;
use super::variance::{corrected_covariance, dispersion, score_covariance};
use super::walk::{Range, walk};
use super::{Family, Model, RegressError, joint};

/// What all fits by the corrected score share.
struct Solution<'a> {
    problem: Problem<'a>,
    /// The problem with a law of the randomized predictors.
    law: Problem<'a>,
    tables: Vec<f64>,
    root: Option<Fit>,
    /// The penalized likelihood fit that replaces the score, if needed.
    other: Option<Fit>,
}

impl<'a> Solution<'a> {
    fn new(data: &'a Observations<'a>, kernel: Kernel) -> Solution<'a> {
        let problem = Problem::new(data, kernel, false);
        let tables = problem.tables();
        let free: Vec<usize> = (0..problem.parameters).collect();
        let first = start(&problem, &tables);
        let root = solve_corrected(&problem, &tables, &first, &free);
        let law = Problem::new(data, kernel, true);
        let mut solution = Solution { problem, law, tables, root, other: None };
        let much = data.cases.len() * data.cells() > MUCH;
        if solution.can_stand_in() && (solution.root.is_none() || !much) {
            solution.other = Some(solution.fit_stand_in());
        }
        solution
    }

    /// Returns whether a likelihood can replace the score; it cannot for sum scores, whose distribution is not
    /// modeled.
    fn can_stand_in(&self) -> bool {
        self.problem.kernel != Kernel::LeastSquares && self.problem.data.score.is_none()
    }

    fn fit_stand_in(&self) -> Fit {
        log_f(&self.law, &start(&self.law, &self.tables), &vec![0.0; self.law.parameters])
    }

    fn stand_in(&self) -> Option<StandIn<'_>> {
        let fit = self.other.as_ref()?;
        Some(StandIn { problem: &self.law, penalty: Penalty::log_f(&self.law), theta: fit.theta.clone() })
    }

    /// Returns joint tests of the terms.
    fn joint(&self, everything: Option<&Everything>) -> Result<Vec<JointTest>, RegressError> {
        let (stand_in, problem) = (self.stand_in(), &self.problem);
        let profile = self.profile(everything, stand_in.as_ref());
        let none = vec![0.0; problem.parameters];
        joint::by_score(&profile, self.root.as_ref().map_or(&none, |root| &root.theta))
    }

    /// Returns the profile of the score statistic, with no parameter selected.
    fn profile<'b>(
        &'b self,
        everything: Option<&'b Everything>,
        stand_in: Option<&'b StandIn<'b>>,
    ) -> CorrectedProfile<'b> {
        let (problem, tables, drawn) = (&self.problem, &self.tables[..], Drawn::of(&self.problem));
        let (tested, free) = (0, Vec::new());
        CorrectedProfile { problem, tables, everything, drawn, stand_in, tested, free }
    }

    /// Returns the covariance of a solution, by the scatter of the scores, or by the model for Poisson counts.
    fn covariance(&self, root: &Fit, everything: Option<&Everything>) -> Result<DMatrix<f64>, RegressError> {
        let by_model = self.problem.kernel == (Kernel::LogLinear { scatter: false }) && everything.is_some();
        if !by_model || Drawn::of(&self.problem) == Drawn::Design {
            return corrected_covariance(&self.problem, root);
        }
        let n = self.problem.parameters;
        let each: Vec<Vec<f64>> = (0..n).map(|at| (0..n).map(|own| f64::from(u8::from(own == at))).collect()).collect();
        let scores = self.profile(everything, None).covariance(&root.theta, &each)?;
        let free: Vec<usize> = (0..n).collect();
        let bread = Solver::new(&root.sums.complete, n, &free).ok_or(RegressError::NoSolution)?.inverse();
        Ok(&bread * scores * &bread)
    }
}

/// Returns limits and tests of the parameters of a single column.
///
/// # Errors
/// Returns [`RegressError`] if the sampling design does not identify the variance.
pub(super) fn limits_of(
    data: &Observations,
    kernel: Kernel,
    asked: Asked<'_>,
    everything: Option<&Everything>,
    column: usize,
) -> Result<Vec<Option<Tested>>, RegressError> {
    let solution = Solution::new(data, kernel);
    match kernel {
        Kernel::LeastSquares => fieller_sets(&solution.problem, &solution.tables, asked, Some(column)),
        _ => walks(&solution, everything, asked, Some(column)),
    }
}

/// Fits a model by the corrected score.
///
/// # Errors
/// Returns [`RegressError`] if the sampling design does not identify the variance, or a linear model has no
/// solution.
pub(super) fn corrected(
    data: &Observations,
    kernel: Kernel,
    model: &Model,
    asked: Asked<'_>,
    everything: Option<&Everything>,
) -> Result<Regression, RegressError> {
    let mut solution = Solution::new(data, kernel);
    let joint = if asked.limits { solution.joint(everything)? } else { Vec::new() };
    if kernel == Kernel::LeastSquares {
        let fitted = linear(&solution, model, asked)?;
        return Ok(Regression { joint, ..fitted });
    }
    let tested = if asked.limits { walks(&solution, everything, asked, None)? } else { Vec::new() };
    let open = solution.root.is_none() || tested.iter().flatten().any(Tested::is_open);
    if open && solution.other.is_none() && solution.can_stand_in() {
        solution.other = Some(solution.fit_stand_in());
    }
    let Solution { problem, tables, root, other, .. } = &solution;
    let mut fitted = match (root, other) {
        (Some(root), other) if !open || other.is_none() => {
            let covariance = solution.covariance(root, everything)?;
            let (kind, critical, settings) = (EstimateKind::Corrected, asked.critical, asked.settings);
            let shown =
                Shown { problem, fit: root, covariance, kind, inner: None, tested: &tested, critical, settings };
            shown.told(model, tables)
        }
        (_, Some(other)) => {
            let mut fitted = by_stand_in(&solution, model, other, &tested, asked)?;
            if let Some(root) = root {
                exact_errors(&solution.covariance(root, everything)?, &mut fitted);
            }
            fitted
        }
        (_, None) => return Err(no_solution(model)),
    };
    fitted.boundary = root.is_none();
    fitted.method = Method::CorrectedScore;
    fitted.log_likelihood = None;
    if kernel.is_of_counts() {
        fitted.dispersion = Some(dispersion(problem, &fitted.theta));
    }
    fitted.joint = joint;
    Ok(fitted)
}

/// Returns the result with a replacement fit, which is shown if a limit is missing.
fn by_stand_in(
    solution: &Solution<'_>,
    model: &Model,
    fit: &Fit,
    tested: &[Option<Tested>],
    asked: Asked<'_>,
) -> Result<Regression, RegressError> {
    let Solution { problem, law, tables, root, .. } = solution;
    let shown = Shown {
        problem: law,
        fit,
        covariance: penalised_covariance(law, fit)?,
        kind: EstimateKind::Penalized,
        inner: asked.limits.then_some((EstimateKind::Corrected, root.as_ref().map(|root| (problem, root)))),
        tested,
        critical: asked.critical,
        settings: asked.settings,
    };
    let mut fitted = shown.told(model, tables);
    fitted.assumption = law.predictors.as_ref().map(|law| law.assumption());
    Ok(fitted)
}

/// Sets the exact standard errors of coefficients with two limits.
fn exact_errors(covariance: &DMatrix<f64>, fitted: &mut Regression) {
    for (at, own) in fitted.coefficients.iter_mut().enumerate() {
        if own.kind == EstimateKind::Corrected {
            own.standard_error = own.standard_error.map(|_| covariance[(at, at)].max(0.0).sqrt());
        }
    }
}

fn no_solution(model: &Model) -> RegressError {
    match model.family.is_of_counts() {
        true => RegressError::NoMean(model.response.clone()),
        false => RegressError::NoSolution,
    }
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

/// Returns limits and tests of all coefficients, or of those of one column.
fn walks(
    solution: &Solution<'_>,
    everything: Option<&Everything>,
    asked: Asked<'_>,
    column: Option<usize>,
) -> Result<Vec<Option<Tested>>, RegressError> {
    let Solution { problem, tables, root, .. } = solution;
    let stand_in = solution.stand_in();
    let stand_in = stand_in.as_ref();
    let scales = scales(problem);
    let much = problem.data.cases.len() * problem.data.cells() > MUCH;
    let mut all = vec![None; problem.parameters];
    for at in tested_parameters(problem, column) {
        let free = (0..problem.parameters).filter(|&other| other != at).collect();
        let drawn = Drawn::of(problem);
        let profile = CorrectedProfile { problem, tables, everything, drawn, stand_in, tested: at, free };
        let unit = scales[at].1.recip();
        // A log mean can have any size; log odds cannot.
        let middle = root.as_ref().filter(|_| problem.kernel.is_of_counts()).map_or(0.0, |root| root.theta[at]);
        let (low, high) = (middle.min(0.0) - FARTHEST * unit, middle.max(0.0) + FARTHEST * unit);
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

/// Returns Fieller's sets of all coefficients, or of those of one column.
fn fieller_sets(
    problem: &Problem<'_>,
    tables: &[f64],
    asked: Asked<'_>,
    column: Option<usize>,
) -> Result<Vec<Option<Tested>>, RegressError> {
    let drawn = Drawn::of(problem);
    let mut tested = vec![None; problem.parameters];
    for at in tested_parameters(problem, column) {
        let found = fieller(problem, tables, at, asked.critical, drawn)?.ok_or(RegressError::NoSolution)?;
        tested[at] = Some(Tested { found: found.0, test: Test::Fieller, gap: found.1 });
    }
    Ok(tested)
}

/// Fits a linear model, with Fieller's sets.
fn linear(solution: &Solution<'_>, model: &Model, asked: Asked<'_>) -> Result<Regression, RegressError> {
    let Solution { problem, tables, root, .. } = solution;
    let root = root.as_ref().ok_or(RegressError::NoSolution)?;
    let tested = if asked.limits { fieller_sets(problem, tables, asked, None)? } else { Vec::new() };
    let covariance = corrected_covariance(problem, root)?;
    let (kind, critical, settings) = (EstimateKind::Corrected, asked.critical, asked.settings);
    let shown = Shown { problem, fit: root, covariance, kind, inner: None, tested: &tested, critical, settings };
    let mut fitted = shown.told(model, tables);
    fitted.method = Method::CorrectedScore;
    fitted.log_likelihood = None;
    if model.family == Family::Linear {
        let mut squares = -2.0 * root.sums.value;
        if problem.data.score.is_some() {
            let excess = |case: &Case| case.weight * problem.data.excess(case).iter().sum::<f64>();
            // Corrects for overfitting: the variance of each coefficient reduces the residual squares.
            let (n, people) = (problem.parameters, problem.data.total);
            let information = DMatrix::from_column_slice(n, n, &root.sums.complete);
            squares += problem.data.cases.iter().map(excess).sum::<f64>();
            squares += people / (people - n as f64).max(1.0) * (&fitted.covariance * information).trace();
        }
        fitted.residual_deviation = Some((squares / problem.data.total).max(0.0).sqrt());
    }
    Ok(fitted)
}
