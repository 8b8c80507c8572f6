//! Errors from replicate weights: the model is fitted again with each column of them.

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, Normal};

use super::effects::Average;
use super::{Method, Model, ModelRows, RegressError, Regression, regress};
use crate::tally::Replicates;

/// As [`regress`], but all errors are those of the rows' replicate weights, and p-values those of estimates over their errors.
///
/// # Errors
/// As [`regress`], or if there are fewer than two columns of replicate weights, or the model cannot be fitted with one of them.
pub fn regress_replicated(
    model: &Model,
    rows: &ModelRows,
    method: Option<Method>,
    naive: bool,
    how: Replicates,
) -> Result<Regression, RegressError> {
    let mut fitted = regress(model, rows, method, naive)?;
    if rows.replicates() < 2 {
        return Err(RegressError::Replicates("errors take two columns of replicate weights or more".to_owned()));
    }
    let again = |column: usize| {
        regress(model, &rows.replicate(column), Some(fitted.method), false)
            .map_err(|error| RegressError::Replicates(format!("with replicate weights number {}: {error}", column + 1)))
    };
    let fits = (0..rows.replicates()).map(again).collect::<Result<Vec<Regression>, _>>()?;
    let covariance = |of: &dyn Fn(&Regression) -> Vec<f64>| {
        let middle = DVector::from_vec(of(&fitted));
        let factor = how.factor(fits.len());
        fits.iter().fold(DMatrix::zeros(middle.len(), middle.len()), |sum, fit| {
            let deviation = DVector::from_vec(of(fit)) - &middle;
            sum + &deviation * deviation.transpose() * factor
        })
    };
    let of_averages = |averages: &[Average]| averages.iter().map(|average| average.estimate).collect();
    let coefficients = covariance(&|fit| fit.coefficients.iter().map(|one| one.estimate).collect());
    let shares = covariance(&|fit| of_averages(&fit.shares));
    let effects = covariance(&|fit| of_averages(&fit.effects));
    let ignoring = covariance(&|fit| fit.ignoring.iter().map(|share| share.estimate).collect());
    for (at, own) in fitted.coefficients.iter_mut().enumerate() {
        let (before, error) = (own.standard_error, coefficients[(at, at)].sqrt());
        own.standard_error = error;
        own.p_value = own.p_value.map(|_| 2.0 * Normal::standard().sf((own.estimate / error).abs()));
        own.design_effect = own.design_effect.map(|effect| effect * (error / before).powi(2));
    }
    let errors = |averages: &mut [Average], covariance: &DMatrix<f64>| {
        averages.iter_mut().enumerate().for_each(|(at, own)| own.standard_error = covariance[(at, at)].sqrt());
    };
    errors(&mut fitted.shares, &shares);
    errors(&mut fitted.effects, &effects);
    if let Some(share) = fitted.ignoring.as_mut().filter(|share| share.standard_error.is_some()) {
        share.standard_error = Some(ignoring[(0, 0)].sqrt());
    }
    fitted.covariance = coefficients;
    Ok(fitted)
}
