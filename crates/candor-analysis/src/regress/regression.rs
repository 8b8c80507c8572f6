//! Fits a regression: chooses the method, and computes standard errors, tests and predictions.

use candor_runtime::progress::{ProgressSink, Steps};
use nalgebra::DVector;
use statrs::distribution::{ContinuousCDF, Normal};

use super::by_likelihood::likelihood;
use super::by_score::corrected;
use super::coefficients::{Asked, Tested, p_value};
use super::design::{Combination, Values};
use super::effects::Scale;
use super::expected::{Everything, Possible};
use super::family::Kernel;
use super::fit::{maximise, start};
use super::observations::Observations;
use super::problem::Problem;
use super::questions::{Contrast, Questions, Setting};
use super::rare::rarest;
use super::result::{
    Coefficient, EstimateKind, IgnoringShare, Method, Prediction, Regression, Standardized, THRESHOLD, Test,
};
use super::rows::ModelRows;
use super::walk::Found;
use super::{Family, Model, RegressError, by_likelihood, by_score};
use crate::tally::LonelyPsu;

/// Options of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitting {
    /// Method; by default maximum likelihood if only the outcome is randomized, and otherwise the corrected score.
    pub method: Option<Method>,
    /// Whether to fit the model to the answers as well, ignoring the randomization.
    pub naive: bool,
    /// Confidence level of the limits, above 0 and below 1.
    pub confidence: f64,
    /// Whether to compute limits and p-values, which take most of the time.
    pub limits: bool,
    /// Treatment of strata with one sampling unit.
    pub lonely: LonelyPsu,
    /// Degrees of freedom of tests with primary sampling units.
    pub df: DegreesOfFreedom,
}

/// Degrees of freedom of tests with primary sampling units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DegreesOfFreedom {
    /// Those of Bell and McCaffrey for each coefficient.
    #[default]
    Satterthwaite,
    /// Clusters less strata, plus 1, less coefficients, for all of them.
    Design,
}

impl Default for Fitting {
    fn default() -> Fitting {
        let (lonely, df) = Default::default();
        Fitting { method: None, naive: false, confidence: 0.95, limits: true, lonely, df }
    }
}

impl Fitting {
    /// Returns the half-width of a normal interval in standard errors.
    pub(super) fn reach(&self) -> f64 {
        Normal::standard().inverse_cdf(0.5 + 0.5 * self.confidence)
    }
}

/// Fits a model to the rows that were read for it, with 95% limits.
///
/// # Errors
/// Returns the errors of [`regress_with`].
pub fn regress(
    rows: &ModelRows,
    model: &Model,
    method: Option<Method>,
    naive: bool,
) -> Result<Regression, RegressError> {
    regress_with(rows, model, &Fitting { method, naive, ..Fitting::default() })
}

/// Fits a model to the rows that were read for it.
///
/// There is always a fit. If the answers set no limit on one side of a coefficient, its estimate is from the
/// likelihood with the log-F(1,1) penalty.
///
/// # Errors
/// Returns [`RegressError`] if there are no responses, predictors are collinear, or the method does not apply to
/// the model.
pub fn regress_with(rows: &ModelRows, model: &Model, fitting: &Fitting) -> Result<Regression, RegressError> {
    regress_with_progress(rows, model, &Questions::default(), fitting, ProgressSink::none())
}

/// Fits a model, with contrasts and predictions. `progress` receives the steps of the fit.
///
/// # Errors
/// Returns the errors of [`regress_with`].
/// Returns another [`RegressError`] if a question does not match the model, or `progress` cancels.
pub fn regress_with_progress(
    rows: &ModelRows,
    model: &Model,
    questions: &Questions,
    fitting: &Fitting,
    progress: ProgressSink<'_>,
) -> Result<Regression, RegressError> {
    let steps = Steps::new("steps of the fit", None, progress);
    let found = fitted(model, rows, fitting, fitting.limits, (questions, &steps));
    steps.check()?;
    found
}

/// A model with its data, prepared for fitting.
struct Prepared<'a> {
    model: &'a Model,
    data: Observations<'a>,
    kernel: Kernel,
    by_score: bool,
    possible: Option<Possible>,
    everything: Option<Everything>,
}

impl<'a> Prepared<'a> {
    fn new(
        model: &'a Model,
        rows: &ModelRows,
        fitting: &Fitting,
        limits: bool,
        steps: &'a Steps<'a>,
    ) -> Result<Prepared<'a>, RegressError> {
        let method = fitting.method;
        let mut data = Observations::new(model, rows)?;
        data.steps = Some(steps);
        (data.lonely, data.design_df) = (fitting.lonely, fitting.df == DegreesOfFreedom::Design);
        let kernel = Kernel::new(model.family, data.outcomes, model.reference);
        let hidden = model.has_hidden_predictors() || data.ignoring || model.is_score();
        let leaves_out = model.leaves_out_hidden();
        check_method(method, hidden, &data, leaves_out)?;
        let of_law = model.family != Family::QuasiPoisson && !model.is_score();
        if let Some(other) = method.filter(|own| *own != Method::CorrectedScore && !of_law) {
            let message = "nothing but the mean of this outcome is modeled; take `method corrected`";
            return Err(RegressError::WrongMethod { method: other.name(), message });
        }
        if method == Some(Method::MaximumLikelihood) && model.companions > 0 && data.companions.is_none() {
            let message = "a matrix answers a predictor together with an attribute that is not in the model, of whose \
                           law nothing is known; take `method corrected`";
            return Err(RegressError::WrongMethod { method: "ml", message });
        }
        let possible = Possible::new(rows.answers(), data.groups.len()).filter(|_| !hidden && !leaves_out);
        let by_default = method.is_none() && (model.has_hidden_predictors() || leaves_out || !of_law);
        let by_score = method == Some(Method::CorrectedScore) || by_default;
        // The law of companions is not modeled, so there is no law of all answers.
        let needed = limits && (by_score || hidden) && model.companions == 0;
        let everything = if needed { Everything::new(rows.answers(), &data) } else { None };
        Ok(Prepared { model, data, kernel, by_score, possible, everything })
    }

    fn expected(&self) -> (Option<&Possible>, Option<&Everything>) {
        (self.possible.as_ref(), self.everything.as_ref())
    }

    /// Returns the results for a linear combination of coefficients of a fit, for each index of the outcome.
    fn combination(&self, weights: &[f64], asked: Asked<'_>, fitted: &Regression) -> Result<Vec<Tested>, RegressError> {
        let combination = Combination::new(weights.to_vec(), self.data.design.constant());
        let column = combination.place;
        let mut near = fitted.theta.clone();
        for (start, _) in places(&self.data, fitted) {
            let own = fitted.theta[start..].iter().zip(weights);
            near[start + column] = own.map(|(theta, weight)| theta * weight).sum();
        }
        let is_maximum = fitted.coefficients.iter().all(|own| own.kind == EstimateKind::MaximumLikelihood);
        let near = Some(&near[..]).filter(|_| is_maximum);
        let data = self.data.combined(combination);
        let found = match self.by_score {
            true => by_score::limits_of(&data, self.kernel, asked, self.everything.as_ref(), column)?,
            false => {
                let model = (self.kernel, self.model);
                by_likelihood::limits_of(&data, model, asked, self.expected(), column, near)?
            }
        };
        Ok(found.into_iter().flatten().collect())
    }
}

/// Checks that the method applies to the randomized variables.
fn check_method(
    method: Option<Method>,
    hidden: bool,
    data: &Observations,
    leaves_out: bool,
) -> Result<(), RegressError> {
    let refused = |method: Method, message| Err(RegressError::WrongMethod { method: method.name(), message });
    match method {
        Some(other) if data.ignoring && other != Method::MaximumLikelihood => {
            refused(other, "noncompliance can be modeled by maximum likelihood only")
        }
        Some(Method::Jeffreys) if hidden => {
            let message = "a predictor is randomized, and the penalty is for a randomized response alone";
            refused(Method::Jeffreys, message)
        }
        Some(other) if leaves_out && other != Method::CorrectedScore => {
            let message = "people with a missing value are left out, and whose value is missing is randomized; use \
                           `method corrected`, or keep them by `missing category`";
            refused(other, message)
        }
        _ => Ok(()),
    }
}

/// Returns the fit, with limits and tests if requested.
pub(super) fn fitted(
    model: &Model,
    rows: &ModelRows,
    fitting: &Fitting,
    limits: bool,
    (questions, steps): (&Questions, &Steps<'_>),
) -> Result<Regression, RegressError> {
    let (method, naive, critical) = (fitting.method, fitting.naive, fitting.reach().powi(2));
    let contrasts = questions.read_contrasts(model)?;
    let settings = questions.settings(model)?;
    let prepared = Prepared::new(model, rows, fitting, limits, steps)?;
    let (data, kernel) = (&prepared.data, prepared.kernel);
    let settings: Vec<Setting> = settings.into_iter().map(|one| one.standardized(&data.standardized)).collect();
    let asked = Asked { method, critical, limits, settings: &settings };
    let mut fitted = match (prepared.by_score, data.ignoring) {
        (true, _) => corrected(data, kernel, model, asked, prepared.everything.as_ref())?,
        (_, true) => with_ignoring(data, kernel, model, (rows, questions, steps), fitting, asked)?,
        _ => likelihood(data, kernel, model, asked, prepared.expected())?,
    };
    // A fit without noncompliers already contains its answers.
    let answered = fitted.ignoring.is_some_and(|share| share.estimate <= NOBODY);
    match (answered, limits) {
        (true, _) => {}
        (_, true) => answer(&prepared, &contrasts, asked, &mut fitted)?,
        _ => {
            let own = contrasts.iter().flat_map(|contrast| by_covariance(contrast, data, &fitted, critical)).collect();
            fitted.contrasts = own;
        }
    }
    if naive {
        let taken = data.taken_for_true();
        fitted.named = taken.is_some();
        fitted.naive = taken.and_then(|data| naive_fit(&data, kernel));
    }
    fitted.rarest = if limits && !data.ignoring { rarest(model, data) } else { None };
    let names = model.numbers.iter().cloned();
    fitted.standardized = names
        .zip(&data.standardized)
        .map(|(column, &(mean, standard_deviation))| Standardized { column, mean, standard_deviation })
        .collect();
    (fitted.responses, fitted.distinct, fitted.modelled) = (rows.responses(), rows.distinct(), data.total);
    Ok(fitted)
}

/// Returns the first parameter and the category of each index of the outcome.
fn places(data: &Observations, fitted: &Regression) -> Vec<(usize, Option<String>)> {
    let p = data.design.len();
    let first = fitted.coefficients.iter().position(|one| one.term != THRESHOLD).unwrap_or(0);
    let starts = (first..fitted.coefficients.len()).step_by(p.max(1));
    starts.map(|start| (start, fitted.coefficients[start].category.clone())).collect()
}

/// Returns a contrast by the covariance matrix, for each index of the outcome.
fn by_covariance(contrast: &Contrast, data: &Observations, fitted: &Regression, critical: f64) -> Vec<Coefficient> {
    let one = |(start, category): (usize, Option<String>)| {
        let own = fitted.theta[start..].iter().zip(&contrast.weights);
        let estimate: f64 = own.map(|(theta, weight)| theta * weight).sum();
        let k = contrast.weights.len();
        let part = fitted.covariance.view((start, start), (k, k));
        let weights = DVector::from_column_slice(&contrast.weights);
        let error = weights.dot(&(part * &weights)).max(0.0).sqrt();
        let (reach, statistic) = (critical.sqrt() * error, (estimate / error).powi(2));
        Coefficient {
            term: contrast.text.clone(),
            category,
            estimate,
            kind: fitted.coefficients[start].kind,
            standard_error: Some(error),
            low: Some(estimate - reach),
            high: Some(estimate + reach),
            statistic: Some(statistic),
            df: None,
            p_value: Some(p_value(statistic, 1)),
            test: Test::Wald,
            gap: false,
            variance_inflation: None,
        }
    };
    places(data, fitted).into_iter().map(one).collect()
}

/// Adds contrasts, and predictions for complete profiles, with the limits of the score test.
fn answer(
    prepared: &Prepared<'_>,
    contrasts: &[Contrast],
    asked: Asked<'_>,
    fitted: &mut Regression,
) -> Result<(), RegressError> {
    let (data, kernel) = (&prepared.data, prepared.kernel);
    let jeffreys = fitted.method == Method::Jeffreys;
    for contrast in contrasts {
        let found = prepared.combination(&contrast.weights, asked, fitted)?;
        let by_covariance = by_covariance(contrast, data, fitted, asked.critical);
        let one = |(own, tested): (Coefficient, Tested)| {
            let (Found { best, low, high, statistic, df, .. }, open) = (tested.found, tested.is_open());
            Coefficient {
                estimate: if open || jeffreys { own.estimate } else { best },
                kind: match (open || jeffreys, prepared.by_score) {
                    (true, _) => EstimateKind::Penalized,
                    (_, true) => EstimateKind::Corrected,
                    _ => EstimateKind::MaximumLikelihood,
                },
                standard_error: own.standard_error.filter(|_| !open),
                low,
                high,
                statistic: Some(statistic.max(0.0)),
                df,
                p_value: Some(p_value(statistic, 1)),
                test: tested.test,
                gap: tested.gap,
                ..own
            }
        };
        fitted.contrasts.extend(by_covariance.into_iter().zip(found).map(one));
    }
    let two = matches!(kernel, Kernel::Logit { categories: 2, .. });
    let scale = Scale::of(prepared.model.family);
    let one_index = two || kernel.is_of_numbers();
    let Some(constant) = data.design.constant().filter(|_| one_index) else { return Ok(()) };
    for (number, setting) in asked.settings.iter().enumerate().filter(|(_, setting)| setting.complete) {
        let weights = row_of(setting, data);
        debug_assert_eq!(weights[constant], 1.0);
        let Some(tested) = prepared.combination(&weights, asked, fitted)?.pop() else { continue };
        let about = kernel.category(0);
        for own in fitted.predictions.iter_mut().filter(|own| own.profile == number) {
            // If the index is about the other of two categories, the share is the complement.
            let turned = two && own.category != about.and_then(|code| prepared.model.categories.get(code).cloned());
            put_limits(own, &tested, scale, turned, jeffreys);
        }
    }
    Ok(())
}

/// Returns the row of the design matrix of a complete profile.
fn row_of(setting: &Setting, data: &Observations) -> Vec<f64> {
    let group = &data.groups[0];
    let (mut hidden, mut public, mut numbers) = (data.hidden[0].clone(), group.public.clone(), group.numbers.clone());
    setting.give(&mut hidden, &mut public, &mut numbers);
    let mut row = vec![0.0; data.design.len()];
    data.design.fill(Values { hidden: &hidden, public: &public, numbers: &numbers }, &mut row);
    row
}

/// Converts the limits of a linear predictor to those of a share or a mean.
fn put_limits(own: &mut Prediction, tested: &Tested, scale: Scale, turned: bool, jeffreys: bool) {
    let Found { best, low, high, .. } = tested.found;
    let back = |eta: f64| scale.back(if turned { -eta } else { eta });
    let (low, high) = if turned { (high, low) } else { (low, high) };
    (own.low, own.high) = match scale {
        Scale::LogOdds => (Some(low.map_or(0.0, back)), Some(high.map_or(1.0, back))),
        Scale::Log => (Some(low.map_or(0.0, back)), high.map(back)),
        Scale::Plain => (low, high),
    };
    if tested.is_open() {
        own.standard_error = None;
    } else if !jeffreys {
        own.estimate = back(best);
    }
}

/// Largest share of noncompliers that counts as none.
const NOBODY: f64 = 1e-6;

/// Returns the fit with noncompliance, compared with the fit without; the latter if there are no noncompliers.
fn with_ignoring(
    data: &Observations,
    kernel: Kernel,
    model: &Model,
    (rows, questions, steps): (&ModelRows, &Questions, &Steps<'_>),
    fitting: &Fitting,
    asked: Asked<'_>,
) -> Result<Regression, RegressError> {
    let base = Model { ignoring: None, ..model.clone() };
    let method = Some(Method::MaximumLikelihood);
    let fitting = Fitting { method, naive: false, ..*fitting };
    let mut complied = self::fitted(&base, rows, &fitting, asked.limits, (questions, steps))?;
    let fitted = match likelihood(data, kernel, model, Asked { method, ..asked }, (None, None)) {
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

/// Returns the fit that ignores the randomization.
fn naive_fit(data: &Observations, kernel: Kernel) -> Option<Vec<f64>> {
    let problem = Problem::new(data, kernel, false);
    let free: Vec<usize> = (0..problem.parameters).collect();
    let mut truth = data.clone();
    truth.unbiased.clone_from(&data.likelihoods);
    let tables = Problem::new(&truth, kernel, false).tables();
    let fit = maximise(&problem, &start(&problem, &tables), &free);
    fit.converged.then_some(fit.theta)
}
