//! Standard errors from replicate weights: the model is fitted again with each column of weights.

use candor_runtime::progress::{ProgressSink, Steps};
use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::effects::{Average, Scale};
use super::joint::by_covariance;
use super::questions::Questions;
use super::regression::{Fitting, fitted};
use super::result::{Coefficient, Method, Regression, THRESHOLD, Test};
use super::{Model, ModelRows, RegressError};
use crate::tally::{Replicates, Replication};

/// Fits a model with standard errors from the rows' replicate weights.
///
/// P-values are from estimates divided by these errors. See [`regress`](super::regress).
///
/// # Errors
/// Returns the errors of [`regress`](super::regress).
/// Returns another [`RegressError`] if there are fewer than two columns of replicate weights, or the model cannot be
/// fitted with one of them.
pub fn regress_replicated(
    rows: &ModelRows,
    model: &Model,
    method: Option<Method>,
    naive: bool,
    how: &Replication,
) -> Result<Regression, RegressError> {
    regress_replicated_with(rows, model, &Fitting { method, naive, ..Fitting::default() }, how)
}

/// Fits a model with standard errors from replicate weights, and with these options.
///
/// # Errors
/// Returns the errors of [`regress_replicated`].
pub fn regress_replicated_with(
    rows: &ModelRows,
    model: &Model,
    fitting: &Fitting,
    how: &Replication,
) -> Result<Regression, RegressError> {
    regress_replicated_with_progress(rows, model, &Questions::default(), fitting, how, ProgressSink::none())
}

/// Fits a model with standard errors from replicate weights, with contrasts and predictions.
///
/// `progress` receives the steps of the fits.
///
/// # Errors
/// Returns the errors of [`regress_replicated`].
/// Returns another [`RegressError`] if a question does not match the model, or `progress` cancels.
pub fn regress_replicated_with_progress(
    rows: &ModelRows,
    model: &Model,
    questions: &Questions,
    fitting: &Fitting,
    how: &Replication,
    progress: ProgressSink<'_>,
) -> Result<Regression, RegressError> {
    let steps = Steps::new("steps of the fits", None, progress);
    let found = replicated(model, rows, fitting, how, (questions, &steps));
    steps.check()?;
    found
}

fn replicated(
    model: &Model,
    rows: &ModelRows,
    fitting: &Fitting,
    how: &Replication,
    asked: (&Questions, &Steps<'_>),
) -> Result<Regression, RegressError> {
    let mut fitted = self::fitted(model, rows, fitting, false, asked)?;
    if rows.replicates() < 2 {
        return Err(RegressError::Replicates("errors take two columns of replicate weights or more".to_owned()));
    }
    let replicates =
        how.replicates(rows.replicate_weights()).map_err(|error| RegressError::Replicates(error.to_string()))?;
    let again = |column: usize| {
        let fitting = Fitting { method: Some(fitted.method), naive: false, ..*fitting };
        self::fitted(model, &rows.replicate(column), &fitting, false, asked)
            .map_err(|error| RegressError::Replicates(format!("with replicate weights number {}: {error}", column + 1)))
    };
    let fits = (0..rows.replicates()).map(again).collect::<Result<Vec<Regression>, _>>()?;
    put_errors(&mut fitted, &fits, &replicates, fitting, Scale::of(model.family()));
    Ok(fitted)
}

/// Replaces the standard errors of a fit by those of its replicates.
fn put_errors(fitted: &mut Regression, fits: &[Regression], replicates: &Replicates, fitting: &Fitting, scale: Scale) {
    let covariance = |of: &dyn Fn(&Regression) -> Vec<f64>| {
        let all: Vec<Vec<f64>> = fits.iter().map(of).collect();
        let middle = of(fitted);
        replicates.deviations(&middle, &all).into_iter().fold(
            DMatrix::zeros(middle.len(), middle.len()),
            |sum, deviation| {
                let deviation = DVector::from_vec(deviation);
                sum + &deviation * deviation.transpose()
            },
        )
    };
    let of_averages = |averages: &[Average]| averages.iter().map(|average| average.estimate).collect();
    let coefficients = covariance(&|fit| fit.coefficients.iter().map(|one| one.estimate).collect());
    let shares = covariance(&|fit| of_averages(&fit.shares));
    let effects = covariance(&|fit| of_averages(&fit.effects));
    let contrasts = covariance(&|fit| fit.contrasts.iter().map(|one| one.estimate).collect());
    let predictions = covariance(&|fit| fit.predictions.iter().map(|one| one.estimate).collect());
    let ignoring = covariance(&|fit| fit.ignoring.iter().map(|share| share.estimate).collect());
    let df = (replicates.degrees() + 1.0 - fitted.coefficients.len() as f64).max(1.0);
    for (at, own) in fitted.coefficients.iter_mut().enumerate() {
        replace_error(own, coefficients[(at, at)].sqrt(), fitting, df);
    }
    for (at, own) in fitted.contrasts.iter_mut().enumerate() {
        replace_error(own, contrasts[(at, at)].sqrt(), fitting, df);
    }
    let reach = reach(fitting, df);
    let errors = |averages: &mut Vec<Average>, covariance: &DMatrix<f64>, scale: Scale| {
        let own = std::mem::take(averages).into_iter().enumerate();
        *averages = own.map(|(at, own)| own.with_error(covariance[(at, at)].sqrt(), reach, scale)).collect();
    };
    errors(&mut fitted.shares, &shares, scale);
    errors(&mut fitted.effects, &effects, Scale::Plain);
    for (at, own) in fitted.predictions.iter_mut().enumerate() {
        own.replace_error(predictions[(at, at)].sqrt(), reach, scale);
    }
    let estimates: Vec<f64> = fitted.coefficients.iter().map(|one| one.estimate).collect();
    fitted.joint = by_covariance(&fitted.terms, &estimates, &coefficients, df);
    if let Some(share) = fitted.ignoring.as_mut().filter(|share| share.standard_error.is_some()) {
        share.standard_error = Some(ignoring[(0, 0)].sqrt());
    }
    fitted.covariance = coefficients;
}

/// Returns the half-width of an interval by Student's t, in standard errors.
fn reach(fitting: &Fitting, df: f64) -> f64 {
    let law = StudentsT::new(0.0, 1.0, df).ok();
    law.map_or(fitting.reach(), |law| law.inverse_cdf(0.5 + 0.5 * fitting.confidence))
}

/// Replaces the error of a coefficient, with interval and p-value by Student's t.
fn replace_error(own: &mut Coefficient, error: f64, fitting: &Fitting, df: f64) {
    let ratio = own.standard_error.map(|before| (error / before).powi(2));
    let t = own.estimate / error;
    let law = StudentsT::new(0.0, 1.0, df).ok();
    let reach = reach(fitting, df);
    own.standard_error = Some(error);
    (own.low, own.high) = (Some(own.estimate - reach * error), Some(own.estimate + reach * error));
    if own.term != THRESHOLD {
        own.statistic = Some(t * t);
        own.p_value = law.map(|law| 2.0 * law.sf(t.abs()));
    }
    (own.test, own.df) = (Test::WaldReplicates, Some(df));
    own.variance_inflation = own.variance_inflation.zip(ratio).map(|(effect, ratio)| effect * ratio);
}
