//! The whole regression: which method, its errors and tests, and what it says about people.

use nalgebra::DMatrix;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::effects::{Average, Averages};
use super::expected::{Possible, information};
use super::family::Kernel;
use super::fit::{Fit, maximise, maximise_near, solve_corrected, start};
use super::hidden_predictors::Assumption;
use super::observations::Observations;
use super::problem::Problem;
use super::rows::ModelRows;
use super::score_test::{Spread, statistic};
use super::solve::Solver;
use super::variance::{hausman, score_covariance};
use super::{Family, Model, RegressError, jeffreys};

/// How a model is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Maximum likelihood. If a predictor is hidden, its law given the public ones is part of it.
    MaximumLikelihood,
    /// The likelihood times the square root of the determinant of the information: finite always. Only where the response alone is hidden.
    Jeffreys,
    /// The score with unbiased weights: nothing is assumed of the predictors.
    CorrectedScore,
}

impl Method {
    /// What it is called.
    pub fn called(self) -> &'static str {
        match self {
            Method::MaximumLikelihood => "ml",
            Method::Jeffreys => "jeffreys",
            Method::CorrectedScore => "corrected",
        }
    }
}

/// A fitted model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Regression {
    /// The coefficients.
    pub coefficients: Vec<Coefficient>,
    /// How they vary together, in the same order.
    pub covariance: DMatrix<f64>,
    /// How it was fitted.
    pub method: Method,
    /// The log-likelihood, where there is one.
    pub log_likelihood: Option<f64>,
    /// That of constants alone.
    pub null_log_likelihood: Option<f64>,
    /// Whether the search came to its end.
    pub converged: bool,
    /// Whether the likelihood has no finite maximum, so that the penalty was used.
    pub boundary: bool,
    /// What maximum likelihood had to assume of hidden predictors.
    pub assumption: Option<Assumption>,
    /// How far maximum likelihood and the corrected score differ: statistic, degrees of freedom, p-value.
    pub hausman: Option<(f64, usize, f64)>,
    /// How many ignore the device, if that was asked for.
    pub ignoring: Option<IgnoringShare>,
    /// The standard deviation of what a linear model leaves.
    pub residual_deviation: Option<f64>,
    /// Average predicted shares.
    pub shares: Vec<Average>,
    /// Average marginal effects.
    pub effects: Vec<Average>,
    /// What taking the answers for the truth would have given, if asked for and answers are categories.
    pub naive: Option<Vec<f64>>,
    /// Whether every answer names one category of each attribute, so that it could be taken for the truth.
    pub named: bool,
    /// By how much numeric predictors were moved and divided, if asked for: name, mean, standard deviation.
    pub standardized: Vec<(String, f64, f64)>,
    /// The number of responses, and how many of them are different.
    pub responses: u64,
    /// How many rows are different.
    pub distinct: usize,
}

/// People who ignore the device.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct IgnoringShare {
    /// Their share (of those who would, if only people of one category do).
    pub estimate: f64,
    /// Its standard error; none if nobody seems to.
    pub standard_error: Option<f64>,
    /// The likelihood ratio against everybody following it.
    pub likelihood_ratio: f64,
    /// Its p-value, one-sided: half that of a chi-square with one degree of freedom.
    pub p_value: f64,
}

/// A coefficient.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Coefficient {
    /// The term, such as `age`, `Sex=male`, `(constant)`; `(threshold)` of an ordinal response.
    pub term: String,
    /// The response's category that it is about, if it is about one.
    pub category: Option<String>,
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The p-value of the score test that it is zero; none for thresholds, and where the fit without it has no maximum.
    pub p_value: Option<f64>,
    /// How many times as many respondents it takes as a direct question would.
    pub design_effect: Option<f64>,
}

/// Fits a model to the rows that were read for it; by default by maximum likelihood where the response alone is hidden (with the
/// penalty where that has no maximum), else by the corrected score.
///
/// # Errors
/// If there are no responses, columns tell one another, the method does not go with the model, or it has no solution.
pub fn regress(
    model: &Model,
    rows: &ModelRows,
    method: Option<Method>,
    naive: bool,
) -> Result<Regression, RegressError> {
    let data = Observations::new(model, rows)?;
    let kernel = Kernel::new(model.family, data.outcomes, model.reference);
    let hidden = model.has_hidden_predictors() || data.ignoring;
    if data.ignoring && method.is_some_and(|method| method != Method::MaximumLikelihood) {
        let message = "people who ignore the device are told apart by maximum likelihood only";
        return Err(RegressError::Method { method: method.map_or("", Method::called), message });
    }
    if method == Some(Method::Jeffreys) && hidden {
        let message = "a predictor is randomized, and the penalty is for a randomized response alone";
        return Err(RegressError::Method { method: "jeffreys", message });
    }
    let possible = Possible::new(rows.answers(), data.groups.len()).filter(|_| !hidden);
    let by_score = method == Some(Method::CorrectedScore) || (method.is_none() && model.has_hidden_predictors());
    let mut fitted = match (by_score, data.ignoring) {
        (true, _) => corrected(&data, kernel, model)?,
        (_, true) => with_ignoring(&data, kernel, model, rows)?,
        _ => likelihood(&data, kernel, model, method, possible.as_ref())?,
    };
    if naive {
        let taken = data.taken_for_true();
        fitted.named = taken.is_some();
        fitted.naive = taken.and_then(|data| naive_fit(&data, kernel));
    }
    let names = model.numbers.iter().cloned();
    fitted.standardized = names.zip(&data.standardized).map(|(name, &(mean, sd))| (name, mean, sd)).collect();
    (fitted.responses, fitted.distinct) = (rows.responses(), rows.distinct());
    Ok(fitted)
}

/// A share of people who ignore the device below this is none.
const NOBODY: f64 = 1e-6;

/// The fit with people who ignore the device, compared with that of everybody following it, which it is if nobody seems to.
fn with_ignoring(
    data: &Observations,
    kernel: Kernel,
    model: &Model,
    rows: &ModelRows,
) -> Result<Regression, RegressError> {
    let base = Model { ignoring: None, ..model.clone() };
    let mut complied = regress(&base, rows, Some(Method::MaximumLikelihood), false)?;
    let fitted = match likelihood(data, kernel, model, Some(Method::MaximumLikelihood), None) {
        Err(RegressError::Boundary) => None,
        fitted => Some(fitted?),
    };
    if let Some(mut fitted) = fitted
        && let Some(share) = fitted.ignoring.as_mut().filter(|share| share.estimate > NOBODY)
    {
        let logs = fitted.log_likelihood.zip(complied.log_likelihood);
        share.likelihood_ratio = logs.map_or(0.0, |(own, complied)| (2.0 * (own - complied)).max(0.0));
        share.p_value = 0.5 * p_value(share.likelihood_ratio, 1);
        return Ok(fitted);
    }
    complied.ignoring =
        Some(IgnoringShare { estimate: 0.0, standard_error: None, likelihood_ratio: 0.0, p_value: 1.0 });
    Ok(complied)
}

fn corrected(data: &Observations, kernel: Kernel, model: &Model) -> Result<Regression, RegressError> {
    let problem = Problem::new(data, kernel, false);
    let tables = problem.tables();
    let free: Vec<usize> = (0..problem.parameters).collect();
    let fit = solve_corrected(&problem, &tables, &start(&problem, &tables), &free).ok_or(RegressError::NoSolution)?;
    let covariance = corrected_covariance(&problem, &fit)?;
    let spread = Spread::Empirical { corrected: Some(&tables) };
    let mut fitted = told(&problem, model, &fit, covariance, &tables, &spread)?;
    fitted.method = Method::CorrectedScore;
    fitted.log_likelihood = None;
    if model.family == Family::Linear {
        fitted.residual_deviation = Some((-2.0 * fit.sums.value / data.total).max(0.0).sqrt());
    }
    Ok(fitted)
}

fn corrected_covariance(problem: &Problem<'_>, fit: &Fit) -> Result<DMatrix<f64>, RegressError> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let bread = Solver::new(&fit.sums.complete, problem.parameters, &free).ok_or(RegressError::NoSolution)?.inverse();
    Ok(&bread * score_covariance(problem, &fit.theta, None)? * &bread)
}

fn likelihood(
    data: &Observations,
    kernel: Kernel,
    model: &Model,
    method: Option<Method>,
    possible: Option<&Possible>,
) -> Result<Regression, RegressError> {
    let kernel = if kernel == Kernel::LeastSquares { Kernel::Normal } else { kernel };
    let problem = Problem::new(data, kernel, true);
    let tables = problem.tables();
    let first = start(&problem, &tables);
    let score = corrected_start(data, model, &tables);
    let mut fit = best(&problem, &first, score.as_ref());
    let boundary = fit.boundary || !fit.converged;
    let penalised = method == Some(Method::Jeffreys) || (method.is_none() && boundary);
    if penalised {
        let possible = possible.ok_or(RegressError::Boundary)?;
        fit = jeffreys::maximise(&problem, possible, &first).ok_or(RegressError::Boundary)?;
    } else if boundary {
        return Err(RegressError::Boundary);
    }
    let sampled = data.sampled();
    let covariance = covariance(&problem, &fit, possible.filter(|_| penalised), sampled)?;
    let errors: Vec<f64> = covariance.diagonal().iter().map(|variance| variance.max(0.0).sqrt()).collect();
    let spread = match possible.filter(|_| !sampled) {
        Some(possible) => Spread::Expected(possible),
        None => Spread::Empirical { corrected: None },
    };
    let mut fitted = told(&problem, model, &fit, covariance, &tables, &spread)?;
    fitted.method = if penalised { Method::Jeffreys } else { Method::MaximumLikelihood };
    fitted.boundary = boundary;
    fitted.assumption = problem.predictors.as_ref().map(|law| law.assumption());
    fitted.null_log_likelihood = null(&problem, &fit, &first);
    if kernel == Kernel::Normal {
        fitted.residual_deviation = Some(fit.theta[problem.starts[1]].exp());
    }
    if data.ignoring {
        let (theta, at) = (fit.theta[problem.own], problem.own);
        let share = 1.0 / (1.0 + (-theta).exp());
        let standard_error = Some(share * (1.0 - share) * errors[at]);
        fitted.ignoring = Some(IgnoringShare { estimate: share, standard_error, likelihood_ratio: 0.0, p_value: 1.0 });
    } else if let Some(score) = score.filter(|_| problem.predictors.is_some()) {
        fitted.hausman = compare(data, model, &fitted, &score)?;
    }
    Ok(fitted)
}

/// The log-likelihood of constants alone.
fn null(problem: &Problem<'_>, fit: &Fit, first: &[f64]) -> Option<f64> {
    let (constants, mut near) = (problem.constants(), vec![0.0; problem.parameters]);
    constants.iter().for_each(|&at| near[at] = fit.theta[at]);
    let found = maximise_near(problem, &near, &constants);
    let found = if found.converged { found } else { maximise(problem, first, &constants) };
    found.converged.then_some(found.sums.value)
}

/// With more numbers to look at, one start is enough if it leads to a maximum.
const MUCH: usize = 100_000;

/// The best of the maxima that are found from no effects, and from the solution of the corrected score.
fn best(problem: &Problem<'_>, first: &[f64], score: Option<&Fit>) -> Fit {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let Some(score) = score else { return maximise(problem, first, &free) };
    let mut second = first.to_vec();
    second[..score.theta.len()].copy_from_slice(&score.theta);
    let other = maximise(problem, &second, &free);
    if problem.data.cases.len() * problem.data.cells() > MUCH && other.converged && !other.boundary {
        return other;
    }
    let fit = maximise(problem, first, &free);
    if (other.converged, other.sums.value) > (fit.converged, fit.sums.value) { other } else { fit }
}

/// The inverse of the information: the observed one, or of a penalised fit the expected one; of a sample the sandwich around it.
fn covariance(
    problem: &Problem<'_>,
    fit: &Fit,
    penalised: Option<&Possible>,
    sampled: bool,
) -> Result<DMatrix<f64>, RegressError> {
    let free: Vec<usize> = (0..problem.parameters).collect();
    let bread = match penalised {
        Some(possible) => information(problem, possible, &fit.theta),
        None => fit.sums.observed.clone(),
    };
    let bread = Solver::new(&bread, problem.parameters, &free).ok_or(RegressError::Boundary)?.inverse();
    Ok(match sampled {
        true => &bread * score_covariance(problem, &fit.theta, Some(&fit.sums))? * &bread,
        false => bread,
    })
}

/// The solution of the corrected score, if there is one.
fn corrected_start(data: &Observations, model: &Model, tables: &[f64]) -> Option<Fit> {
    let problem = Problem::new(data, Kernel::new(model.family, data.outcomes, model.reference), false);
    let free: Vec<usize> = (0..problem.parameters).collect();
    solve_corrected(&problem, tables, &start(&problem, tables), &free)
}

/// Whether maximum likelihood and the corrected score differ by more than their errors allow.
fn compare(
    data: &Observations,
    model: &Model,
    fitted: &Regression,
    score: &Fit,
) -> Result<Option<(f64, usize, f64)>, RegressError> {
    let problem = Problem::new(data, Kernel::new(model.family, data.outcomes, model.reference), false);
    let larger = corrected_covariance(&problem, score)?;
    let n = score.theta.len();
    let smaller = fitted.covariance.view((0, 0), (n, n)).into_owned();
    let difference: Vec<f64> = fitted.coefficients.iter().zip(&score.theta).map(|(c, t)| c.estimate - t).collect();
    let found = hausman(&difference, &larger, &smaller);
    Ok(found.map(|(statistic, degrees)| (statistic, degrees, p_value(statistic, degrees))))
}

/// The p-value of a chi-square statistic.
fn p_value(statistic: f64, degrees: usize) -> f64 {
    ChiSquared::new(degrees as f64).map_or(1.0, |law| law.sf(statistic.max(0.0)))
}

/// What a fit says, coefficient by coefficient and on average.
fn told(
    problem: &Problem<'_>,
    model: &Model,
    fit: &Fit,
    covariance: DMatrix<f64>,
    tables: &[f64],
    spread: &Spread<'_>,
) -> Result<Regression, RegressError> {
    let coefficients = coefficients(problem, model, fit, &covariance, spread)?;
    let averages = Averages::new(problem, &fit.theta, tables, &covariance, &model.categories);
    let (shares, effects) = (averages.shares(), averages.effects());
    let kept = coefficients.len();
    Ok(Regression {
        coefficients,
        covariance: covariance.view((0, 0), (kept, kept)).into_owned(),
        method: Method::MaximumLikelihood,
        log_likelihood: Some(fit.sums.value),
        null_log_likelihood: None,
        converged: fit.converged,
        boundary: fit.boundary,
        assumption: None,
        hausman: None,
        ignoring: None,
        residual_deviation: None,
        shares,
        effects,
        naive: None,
        named: false,
        standardized: Vec::new(),
        responses: 0,
        distinct: 0,
    })
}

/// The coefficients with their errors and tests; the spread of a number is none.
fn coefficients(
    problem: &Problem<'_>,
    model: &Model,
    fit: &Fit,
    covariance: &DMatrix<f64>,
    spread: &Spread<'_>,
) -> Result<Vec<Coefficient>, RegressError> {
    let directly = directly_asked(problem, fit);
    let mut coefficients = Vec::new();
    for (index, &start) in problem.starts.iter().enumerate() {
        let category = problem.kernel.category(index).and_then(|code| model.categories.get(code));
        let threshold = || category.zip(model.categories.get(index + 1)).map(|(low, high)| format!("{low}|{high}"));
        if problem.kernel == Kernel::Normal && index == 1 {
            continue;
        }
        let mut one = |at: usize, term: &str, category: Option<String>, tested: bool| {
            let variance = covariance[(at, at)];
            let statistic = if tested { statistic(problem, fit, at, spread)? } else { None };
            coefficients.push(Coefficient {
                term: term.to_owned(),
                category,
                estimate: fit.theta[at],
                standard_error: variance.max(0.0).sqrt(),
                p_value: statistic.map(|statistic| p_value(statistic, 1)),
                design_effect: directly.as_ref().map(|direct| variance / direct[at]).filter(|ratio| ratio.is_finite()),
            });
            Ok::<(), RegressError>(())
        };
        if !problem.kernel.of_predictors(index) {
            one(start, THRESHOLD, threshold(), false)?;
            continue;
        }
        for (column, term) in problem.data.design.names().enumerate() {
            one(start + column, term, category.cloned(), true)?;
        }
    }
    Ok(coefficients)
}

/// What the threshold of an ordinal response is called.
pub const THRESHOLD: &str = "(threshold)";

/// The variances of the coefficients if the same people had been asked directly.
fn directly_asked(problem: &Problem<'_>, fit: &Fit) -> Option<Vec<f64>> {
    let free: Vec<usize> = (0..problem.own).collect();
    let inverse = Solver::new(&fit.sums.complete, problem.parameters, &free)?.inverse();
    let scale = match problem.kernel {
        Kernel::LeastSquares => -2.0 * fit.sums.value / problem.data.total,
        _ => 1.0,
    };
    Some(inverse.diagonal().iter().map(|variance| scale * variance).collect())
}

/// The fit with answers taken for the truth.
fn naive_fit(data: &Observations, kernel: Kernel) -> Option<Vec<f64>> {
    let problem = Problem::new(data, kernel, false);
    let free: Vec<usize> = (0..problem.parameters).collect();
    let mut truth = data.clone();
    truth.unbiased.clone_from(&data.likelihoods);
    let tables = Problem::new(&truth, kernel, false).tables();
    let fit = maximise(&problem, &start(&problem, &tables), &free);
    fit.converged.then_some(fit.theta)
}
