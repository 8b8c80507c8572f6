//! The whole regression: which method, its errors and tests, and what it says about people.

use statrs::distribution::{ContinuousCDF, Normal};

use super::by_likelihood::likelihood;
use super::by_score::corrected;
use super::coefficients::{Asked, p_value};
use super::expected::{Everything, Possible};
use super::family::Kernel;
use super::fit::{maximise, start};
use super::observations::Observations;
use super::problem::Problem;
use super::result::{IgnoringShare, Method, Regression};
use super::rows::ModelRows;
use super::{Model, RegressError};
use crate::tally::LonelyPsu;

/// How a model is fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitting {
    /// The method; by default maximum likelihood where the response alone is hidden, else the corrected score.
    pub method: Option<Method>,
    /// Whether to fit the answers as if they were true, too.
    pub naive: bool,
    /// Confidence of the limits, above 0 and below 1.
    pub confidence: f64,
    /// Whether limits and p-values are wanted, which take most of the time.
    pub limits: bool,
    /// What becomes of strata with one sampling unit.
    pub lonely: LonelyPsu,
    /// Degrees of freedom of tests under a sampling design with clusters.
    pub df: DegreesOfFreedom,
}

/// Degrees of freedom of tests with sampling clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DegreesOfFreedom {
    /// Those of Bell and McCaffrey for each coefficient, with the variance CR2.
    #[default]
    Satterthwaite,
    /// Clusters less strata plus 1 less coefficients, for all of them.
    Design,
}

impl Default for Fitting {
    fn default() -> Fitting {
        let (lonely, df) = Default::default();
        Fitting { method: None, naive: false, confidence: 0.95, limits: true, lonely, df }
    }
}

impl Fitting {
    /// Half the length of a normal interval, in standard errors.
    pub(super) fn reach(&self) -> f64 {
        Normal::standard().inverse_cdf(0.5 + 0.5 * self.confidence)
    }
}

/// Fits a model to the rows that were read for it, with 95% limits.
///
/// # Errors
/// As [`regress_with`].
pub fn regress(
    model: &Model,
    rows: &ModelRows,
    method: Option<Method>,
    naive: bool,
) -> Result<Regression, RegressError> {
    regress_with(model, rows, &Fitting { method, naive, ..Fitting::default() })
}

/// Fits a model to the rows that were read for it. A fit exists always: where the answers set a coefficient no limit on one side, its estimate is
/// that of the likelihood with the log-F(1,1) penalty.
///
/// # Errors
/// If there are no responses, columns tell one another, or the method does not go with the model.
pub fn regress_with(model: &Model, rows: &ModelRows, fitting: &Fitting) -> Result<Regression, RegressError> {
    fitted(model, rows, fitting, fitting.limits)
}

/// The same; without limits and tests if they are not wanted.
pub(super) fn fitted(
    model: &Model,
    rows: &ModelRows,
    fitting: &Fitting,
    limits: bool,
) -> Result<Regression, RegressError> {
    let (method, naive) = (fitting.method, fitting.naive);
    let asked = Asked { method, critical: fitting.reach().powi(2), limits };
    let mut data = Observations::new(model, rows)?;
    (data.lonely, data.few_clusters) = (fitting.lonely, fitting.df == DegreesOfFreedom::Satterthwaite);
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
    let leaves_out = model.leaves_out_hidden();
    if let Some(other) = method.filter(|method| leaves_out && *method != Method::CorrectedScore) {
        let message = "people without an answer are left out, and randomized answers tell who they are; take `method corrected`, or \
                       keep them by `missing category`";
        return Err(RegressError::Method { method: other.called(), message });
    }
    let possible = Possible::new(rows.answers(), data.groups.len()).filter(|_| !hidden && !leaves_out);
    let by_default = method.is_none() && (model.has_hidden_predictors() || leaves_out);
    let by_score = method == Some(Method::CorrectedScore) || by_default;
    let needed = limits && (by_score || hidden);
    let everything = if needed { Everything::new(rows.answers(), &data) } else { None };
    let mut fitted = match (by_score, data.ignoring) {
        (true, _) => corrected(&data, kernel, model, asked, everything.as_ref())?,
        (_, true) => with_ignoring(&data, kernel, model, rows, fitting, asked)?,
        _ => likelihood(&data, kernel, model, asked, possible.as_ref(), everything.as_ref())?,
    };
    if naive {
        let taken = data.taken_for_true();
        fitted.named = taken.is_some();
        fitted.naive = taken.and_then(|data| naive_fit(&data, kernel));
    }
    let names = model.numbers.iter().cloned();
    fitted.standardized = names.zip(&data.standardized).map(|(name, &(mean, sd))| (name, mean, sd)).collect();
    (fitted.responses, fitted.distinct, fitted.modelled) = (rows.responses(), rows.distinct(), data.total);
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
    fitting: &Fitting,
    asked: Asked,
) -> Result<Regression, RegressError> {
    let base = Model { ignoring: None, ..model.clone() };
    let method = Some(Method::MaximumLikelihood);
    let mut complied = self::fitted(&base, rows, &Fitting { method, naive: false, ..*fitting }, asked.limits)?;
    let fitted = match likelihood(data, kernel, model, Asked { method, ..asked }, None, None) {
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
