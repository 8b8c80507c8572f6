//! Maximum likelihood fits, and penalized fits for coefficients without a confidence limit.

use nalgebra::DMatrix;

use super::chord::Regular;
use super::coefficients::{Asked, Shown, Tested, p_value, tested_parameters};
use super::expected::{Everything, Possible, information};
use super::family::Kernel;
use super::fit::{Fit, maximise, maximise_at, maximise_near, maximise_penalised, solve_corrected, start};
use super::likelihood_profile::{Drawn, Information, LikelihoodProfile};
use super::observations::Observations;
use super::penalty::{Penalty, scales};
use super::problem::Problem;
use super::result::{EstimateKind, Hausman, IgnoringShare, Method, Regression, Test};
use super::solve::Solver;
use super::sums::Want;
use super::variance::{corrected_covariance, dispersion, hausman, score_covariance};
use super::walk::{Range, walk};
use super::{Model, RegressError, jeffreys, joint};

/// Amount of data from which one start suffices if it leads to a maximum.
pub(super) const MUCH: usize = 100_000;

/// Amount of data from which few starts are tried.
const SOME: usize = 20_000;

/// Largest log odds that a walk visits.
pub(super) const FARTHEST: f64 = 14.0;

/// Largest number of standard errors that a walk visits for a coefficient of a linear model.
const FARTHEST_ERRORS: f64 = 50.0;

/// The largest likelihood found.
struct Top {
    fit: Fit,
    /// Whether it is a maximum, instead of increasing to infinity.
    finite: bool,
}

/// What all maximum likelihood fits of a model share.
struct Climb<'a> {
    problem: Problem<'a>,
    tables: Vec<f64>,
    first: Vec<f64>,
    score: Option<Fit>,
    ridge: Penalty,
    top: Top,
    information: Information<'a>,
}

impl<'a> Climb<'a> {
    fn new(
        data: &'a Observations<'a>,
        kernel: Kernel,
        model: &Model,
        (possible, everything): (Option<&'a Possible>, Option<&'a Everything>),
        near: Option<&[f64]>,
    ) -> Climb<'a> {
        let kernel = if kernel == Kernel::LeastSquares { Kernel::Normal } else { kernel };
        let problem = Problem::new(data, kernel, true);
        let tables = problem.tables();
        let first = start(&problem, &tables);
        let ridge = Penalty::ridge(&problem);
        let (score, top) = match near.and_then(|near| maximum_near(&problem, near)) {
            Some(top) => (None, top),
            None => {
                let score = corrected_start(data, model, &tables);
                let top = best(&problem, &first, score.as_ref(), &ridge);
                (score, top)
            }
        };
        let everything = everything.filter(|_| !kernel.is_of_numbers() && !data.ignoring);
        let information = match (possible, everything) {
            (Some(possible), _) => Information::Response(possible),
            (_, Some(everything)) => Information::Everything(everything),
            _ => Information::Observed,
        };
        Climb { problem, tables, first, score, ridge, top, information }
    }

    /// Returns the fit with the largest likelihood, with the penalty of the ridge in its sums.
    fn with_ridge(&self) -> Fit {
        let mut top = self.top.fit.clone();
        top.sums = self.ridge.sums(&self.problem, &top.theta, Want::Information);
        top
    }
}

/// Returns limits and tests of the parameters of a single column.
///
/// `near` is the known maximum.
///
/// # Errors
/// Returns [`RegressError`] if the sampling design does not identify the variance.
pub(super) fn limits_of(
    data: &Observations,
    (kernel, model): (Kernel, &Model),
    asked: Asked<'_>,
    expected: (Option<&Possible>, Option<&Everything>),
    column: usize,
    near: Option<&[f64]>,
) -> Result<Vec<Option<Tested>>, RegressError> {
    let climb = Climb::new(data, kernel, model, expected, near);
    walks(&climb, asked, Some(column))
}

/// Fits a model by maximum likelihood.
///
/// # Errors
/// Returns [`RegressError`] if the sampling design does not identify the variance, or the requested penalty cannot
/// be computed.
pub(super) fn likelihood(
    data: &Observations,
    kernel: Kernel,
    model: &Model,
    asked: Asked<'_>,
    (possible, everything): (Option<&Possible>, Option<&Everything>),
) -> Result<Regression, RegressError> {
    let climb = Climb::new(data, kernel, model, (possible, everything), None);
    let Climb { problem, tables, first, top, .. } = &climb;
    if data.ignoring && !top.finite {
        return Err(RegressError::Boundary);
    }
    let tested = if asked.limits { walks(&climb, asked, None)? } else { Vec::new() };
    let open = !top.finite || tested.iter().flatten().any(Tested::is_open);
    let penalised = match (asked.method, open) {
        (Some(Method::Jeffreys), _) => Some(by_jeffreys(problem, possible, first)?),
        (_, true) => Some(log_f(problem, first, &top.fit.theta)),
        _ => None,
    };
    let by_jeffreys = asked.method == Some(Method::Jeffreys);
    let shown = Shown {
        problem,
        fit: penalised.as_ref().unwrap_or(&top.fit),
        covariance: covariance(problem, penalised.as_ref(), &top.fit, possible.filter(|_| by_jeffreys))?,
        kind: if penalised.is_some() { EstimateKind::Penalized } else { EstimateKind::MaximumLikelihood },
        inner: (penalised.is_some() && !by_jeffreys && asked.limits)
            .then_some((EstimateKind::MaximumLikelihood, Some((problem, &top.fit)))),
        tested: &tested,
        critical: asked.critical,
        settings: asked.settings,
    };
    let mut fitted = shown.told(model, tables);
    if top.finite && !by_jeffreys && penalised.is_some() {
        exact_errors(problem, &top.fit, &mut fitted)?;
    }
    if asked.limits {
        let starts = [&first[..], &top.fit.theta];
        fitted.joint = joint::by_likelihood(problem, starts, climb.information, &climb.ridge)?;
    }
    fitted.method = if by_jeffreys { Method::Jeffreys } else { Method::MaximumLikelihood };
    let shown = penalised.as_ref().unwrap_or(&top.fit);
    describe(problem, top, shown, by_jeffreys, &mut fitted);
    let comparable = top.finite && !by_jeffreys && !problem.data.sampled();
    fitted.aic = fitted.log_likelihood.filter(|_| comparable).map(|log| 2.0 * problem.parameters as f64 - 2.0 * log);
    fitted.null_log_likelihood = null(problem, &top.fit, first, &climb.ridge);
    if data.ignoring {
        fitted.ignoring = Some(ignoring(problem, &top.fit)?);
    } else if let Some(score) = climb.score.as_ref().filter(|_| problem.predictors.is_some() && top.finite && !open) {
        fitted.hausman = compare(data, model, &fitted, score)?;
    }
    Ok(fitted)
}

/// Adds the likelihood and its assumption to the result.
fn describe(problem: &Problem<'_>, top: &Top, shown: &Fit, by_jeffreys: bool, fitted: &mut Regression) {
    fitted.boundary = !top.finite;
    let at = if by_jeffreys { shown } else { &top.fit };
    fitted.log_likelihood = Some(problem.likelihood(&at.theta, Want::Value).value);
    fitted.assumption = problem.predictors.as_ref().map(|law| law.assumption());
    if problem.kernel == Kernel::Normal {
        fitted.residual_deviation = Some(shown.theta[problem.starts[1]].exp());
    }
    if problem.kernel.is_of_counts() {
        fitted.dispersion = Some(dispersion(problem, &shown.theta));
    }
}

/// Returns the share of noncompliers with its standard error.
fn ignoring(problem: &Problem<'_>, fit: &Fit) -> Result<IgnoringShare, RegressError> {
    let share = 1.0 / (1.0 + (-fit.theta[problem.own]).exp());
    let error = covariance(problem, None, fit, None)?[(problem.own, problem.own)].max(0.0).sqrt();
    let standard_error = Some(share * (1.0 - share) * error);
    Ok(IgnoringShare { estimate: share, standard_error, likelihood_ratio: 0.0, p_value: 1.0 })
}

/// Sets the exact standard errors of coefficients with two limits, if the likelihood has a maximum.
fn exact_errors(problem: &Problem<'_>, fit: &Fit, fitted: &mut Regression) -> Result<(), RegressError> {
    let covariance = covariance(problem, None, fit, None)?;
    for (at, own) in fitted.coefficients.iter_mut().enumerate() {
        if own.kind == EstimateKind::MaximumLikelihood {
            own.standard_error = own.standard_error.map(|_| covariance[(at, at)].max(0.0).sqrt());
        }
    }
    Ok(())
}

/// Returns limits and tests of all coefficients, or of those of one column.
fn walks(climb: &Climb<'_>, asked: Asked<'_>, column: Option<usize>) -> Result<Vec<Option<Tested>>, RegressError> {
    let (problem, information, ridge) = (&climb.problem, climb.information, &climb.ridge);
    let scales = scales(problem);
    let much = problem.data.cases.len() * problem.data.cells() > MUCH;
    let top = climb.with_ridge();
    let regular = match (information, Drawn::of(problem)) {
        (Information::Response(possible), Drawn::Simple) if climb.top.finite => {
            Regular::new(problem, possible, ridge, &top)
        }
        _ => None,
    };
    let mut all = vec![None; problem.parameters];
    for at in tested_parameters(problem, column) {
        let free: Vec<usize> = (0..problem.parameters).filter(|&other| other != at).collect();
        let (drawn, chord) = (Drawn::of(problem), regular.as_ref().and_then(|regular| regular.chord(at, &free)));
        let profile = LikelihoodProfile { problem, information, drawn, ridge, tested: at, free, much, chord };
        let start = profile.start(&top)?;
        let unit = scales[at].1.recip();
        let (low, high, unit) = match problem.kernel {
            Kernel::LogLinear { .. } => {
                (start.at.min(0.0) - FARTHEST * unit, start.at.max(0.0) + FARTHEST * unit, unit)
            }
            Kernel::Normal | Kernel::LeastSquares => {
                let reach = FARTHEST_ERRORS * start.error;
                (start.at.min(0.0) - reach, start.at.max(0.0) + reach, start.error)
            }
            _ => (-FARTHEST * unit, FARTHEST * unit, unit),
        };
        let range = Range { low, high, unit, critical: asked.critical, much };
        let found = walk(&profile, start, range)?;
        let test = if found.one_step { Test::OneStepCr2 } else { Test::Score };
        all[at] = Some(Tested { found, test, gap: false });
    }
    Ok(all)
}

fn by_jeffreys(problem: &Problem<'_>, possible: Option<&Possible>, first: &[f64]) -> Result<Fit, RegressError> {
    let message = "there are too many different answers to go through them all";
    let refused = RegressError::WrongMethod { method: Method::Jeffreys.name(), message };
    jeffreys::maximise(problem, possible.ok_or_else(|| refused.clone())?, first).ok_or(refused)
}

/// Maximizes the likelihood with the log-F penalty, from zero effects and from near the largest likelihood.
pub(super) fn log_f(problem: &Problem<'_>, first: &[f64], top: &[f64]) -> Fit {
    let penalty = Penalty::log_f(problem);
    let free: Vec<usize> = (0..problem.parameters).collect();
    let near = top.iter().map(|value| value.clamp(-3.0, 3.0)).collect::<Vec<f64>>();
    let ordinal = matches!(problem.kernel, Kernel::Ordinal { .. });
    let starts = if ordinal { vec![first.to_vec()] } else { vec![first.to_vec(), near] };
    let fits = starts.iter().map(|start| maximise_penalised(problem, start, &free, &penalty));
    let mut best = fits
        .max_by(|a, b| a.sums.value.total_cmp(&b.sums.value))
        .unwrap_or_else(|| maximise_penalised(problem, first, &free, &penalty));
    best.boundary = false;
    best
}

/// Returns the log-likelihood of the null model.
fn null(problem: &Problem<'_>, fit: &Fit, first: &[f64], ridge: &Penalty) -> Option<f64> {
    let (constants, mut near) = (problem.constants(), vec![0.0; problem.parameters]);
    constants.iter().for_each(|&at| near[at] = fit.theta[at]);
    let found = maximise_near(problem, &near, &constants, ridge);
    let found = if found.converged { found } else { maximise_penalised(problem, first, &constants, ridge) };
    found.converged.then(|| found.sums.value + ridge.taken(&found.theta))
}

/// Returns the maximum that is known up to rounding; `None` if it is not there.
fn maximum_near(problem: &Problem<'_>, near: &[f64]) -> Option<Top> {
    if near.len() != problem.parameters {
        return None;
    }
    let free: Vec<usize> = (0..problem.parameters).collect();
    let fit = maximise_at(problem, near, &free);
    (fit.converged && !fit.boundary).then_some(Top { fit, finite: true })
}

/// Maximizes the likelihood from zero effects and from the solution of the corrected score.
///
/// With little data, it tries more starts.
fn best(problem: &Problem<'_>, first: &[f64], score: Option<&Fit>, ridge: &Penalty) -> Top {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let numbers = problem.data.cases.len() * problem.data.cells();
    let mut starts = Vec::new();
    if let Some(score) = score {
        let mut second = first.to_vec();
        second[..score.theta.len()].copy_from_slice(&score.theta);
        starts.push(second);
    }
    let is_finite = |fit: &Fit| fit.converged && !fit.boundary;
    if let Some(fit) = starts.first().map(|start| maximise(problem, start, &free)).filter(&is_finite)
        && numbers > MUCH
    {
        return Top { fit, finite: true };
    }
    starts.push(first.to_vec());
    if numbers <= SOME && !matches!(problem.kernel, Kernel::Normal | Kernel::LeastSquares) {
        starts.extend(more_starts(problem, first));
    }
    let fits = starts.iter().map(|start| maximise_penalised(problem, start, &free, ridge));
    let valued = fits.map(|fit| (fit.sums.value + ridge.taken(&fit.theta), fit));
    let best = valued.filter(|(value, _)| value.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0));
    let near = best.map_or_else(|| maximise_penalised(problem, first, &free, ridge), |(_, fit)| fit);
    let fit = maximise_at(problem, &near.theta, &free);
    match is_finite(&fit) {
        true => Top { fit, finite: true },
        false => Top { fit: near, finite: false },
    }
}

/// Returns more starts: small and large intercepts, and each coefficient far to either side.
fn more_starts(problem: &Problem<'_>, first: &[f64]) -> Vec<Vec<f64>> {
    let scales = scales(problem);
    let constant = problem.data.design.constant();
    let ordinal = matches!(problem.kernel, Kernel::Ordinal { .. });
    let with = |parameters: &[usize], value: f64| {
        let mut start = first.to_vec();
        parameters.iter().for_each(|&at| start[at] = value / scales[at].1);
        start
    };
    let p = problem.data.design.len();
    let constants: Vec<usize> = constant
        .map_or(Vec::new(), |column| problem.starts.iter().filter(|_| !ordinal).map(|start| start + column).collect());
    let mut all = if constants.is_empty() { Vec::new() } else { vec![with(&constants, -4.0), with(&constants, 2.0)] };
    let columns = tested_parameters(problem, None);
    let slopes = columns.into_iter().filter(|at| constant != Some((at - problem.starts[0]) % p.max(1)) || ordinal);
    for at in slopes {
        all.extend([with(&[at], 3.0), with(&[at], -3.0)]);
    }
    all
}

/// Returns the covariance of the coefficients: the inverse information.
///
/// It is the observed information, or for Jeffreys' penalty the expected one. A penalized fit includes the penalty.
/// A sampling design uses the sandwich estimator.
fn covariance(
    problem: &Problem<'_>,
    penalised: Option<&Fit>,
    top: &Fit,
    expected: Option<&Possible>,
) -> Result<DMatrix<f64>, RegressError> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let fit = penalised.unwrap_or(top);
    let bread = match expected {
        Some(possible) => information(problem, possible, &fit.theta),
        None => fit.sums.observed.clone(),
    };
    let n = problem.parameters;
    let solver = Solver::new(&bread, n, &free).or_else(|| Solver::new(&fit.sums.complete, n, &free));
    let bread = solver.ok_or(RegressError::Boundary)?.inverse();
    Ok(match problem.data.sampled() {
        true => {
            let sums = problem.likelihood(&fit.theta, Want::Information);
            &bread * score_covariance(problem, &fit.theta, Some(&sums))? * &bread
        }
        false => bread,
    })
}

/// Returns the solution of the corrected score, if there is one.
fn corrected_start(data: &Observations, model: &Model, tables: &[f64]) -> Option<Fit> {
    let problem = Problem::new(data, Kernel::new(model.family, data.outcomes, model.reference), false);
    let free: Vec<usize> = (0..problem.parameters).collect();
    solve_corrected(&problem, tables, &start(&problem, tables), &free)
}

/// Returns the Hausman test of maximum likelihood against the corrected score.
fn compare(
    data: &Observations,
    model: &Model,
    fitted: &Regression,
    score: &Fit,
) -> Result<Option<Hausman>, RegressError> {
    let problem = Problem::new(data, Kernel::new(model.family, data.outcomes, model.reference), false);
    let larger = corrected_covariance(&problem, score)?;
    let n = score.theta.len();
    let smaller = fitted.covariance.view((0, 0), (n, n)).into_owned();
    let difference: Vec<f64> = fitted.coefficients.iter().zip(&score.theta).map(|(c, t)| c.estimate - t).collect();
    let found = hausman(&difference, &larger, &smaller);
    Ok(found.map(|(statistic, degrees)| Hausman { statistic, degrees, p_value: p_value(statistic, degrees) }))
}
