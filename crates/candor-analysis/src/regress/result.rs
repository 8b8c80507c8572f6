//! Results of a regression: coefficients with standard errors and limits, averages and predictions.

use nalgebra::DMatrix;
use serde::Serialize;

use super::effects::{Average, Scale, limits};
use super::hidden_predictors::Assumption;
use super::rare::Rare;

/// Estimation method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Maximum likelihood. If a predictor is randomized, the likelihood includes its law given the public ones.
    #[serde(rename = "ml")]
    MaximumLikelihood,
    /// The likelihood times the square root of the determinant of the information, whose maximum is always finite.
    ///
    /// It applies only if the outcome alone is randomized.
    Jeffreys,
    /// The score with unbiased weights, without assumptions about the predictors.
    #[serde(rename = "corrected")]
    CorrectedScore,
}

impl Method {
    /// Returns the name of the method.
    pub fn name(self) -> &'static str {
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
    /// Coefficients.
    pub coefficients: Vec<Coefficient>,
    /// Covariance matrix of the coefficients, in the same order.
    pub covariance: DMatrix<f64>,
    /// Estimation method.
    pub method: Method,
    /// Log-likelihood, if there is one.
    pub log_likelihood: Option<f64>,
    /// Log-likelihood of the null model.
    pub null_log_likelihood: Option<f64>,
    /// Akaike information criterion, for comparing models of the same answers by maximum likelihood.
    ///
    /// `None` unless respondents are independent and the maximum is finite.
    pub aic: Option<f64>,
    /// Tjur's R2 for the true outcome, for binary outcomes.
    pub tjur: Option<f64>,
    /// Whether the fit converged.
    pub converged: bool,
    /// Whether the maximum of the likelihood, or the root of the corrected score, is infinite.
    pub boundary: bool,
    /// Assumption of maximum likelihood about randomized predictors.
    pub assumption: Option<Assumption>,
    /// Hausman test of maximum likelihood against the corrected score.
    pub hausman: Option<Hausman>,
    /// Estimated noncompliance, if requested.
    pub ignoring: Option<IgnoringShare>,
    /// Residual standard deviation of a linear model.
    pub residual_deviation: Option<f64>,
    /// Dispersion of counts: Pearson's statistic divided by its degrees of freedom.
    pub dispersion: Option<f64>,
    /// Average predicted shares.
    pub shares: Vec<Average>,
    /// Average marginal effects.
    pub effects: Vec<Average>,
    /// Joint tests of the terms with several coefficients.
    pub joint: Vec<JointTest>,
    /// Requested contrasts, for each category of the outcome with coefficients.
    pub contrasts: Vec<Coefficient>,
    /// Requested predictions.
    pub predictions: Vec<Prediction>,
    /// Coefficients at which the averages were computed, and the indices of each term with several of them.
    pub(super) theta: Vec<f64>,
    pub(super) terms: Vec<(String, Vec<usize>)>,
    /// Coefficients that ignore the randomization, if requested and answers are categories.
    pub naive: Option<Vec<f64>>,
    /// Whether every answer reports one category of each attribute.
    pub named: bool,
    /// Standardized predictors, if requested.
    pub standardized: Vec<Standardized>,
    /// Number of responses.
    pub responses: u64,
    /// Number of people in the model: those in the subpopulation who have an answer.
    ///
    /// It is an estimate if randomized answers decide who they are.
    pub modelled: f64,
    /// Number of distinct rows.
    pub distinct: usize,
    /// The share that the answers distinguish least from 0, if they hardly do.
    ///
    /// Intervals then cover more often than stated.
    pub rarest: Option<Rare>,
}

/// A joint test of all coefficients of a term.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JointTest {
    /// Term, as in the formula.
    pub term: String,
    /// Statistic: chi-square, or F if there is a `denominator_df`.
    pub statistic: f64,
    /// Number of coefficients.
    pub df: usize,
    /// Denominator degrees of freedom of an F statistic.
    pub denominator_df: Option<f64>,
    /// P-value of the hypothesis that all of them are zero.
    pub p_value: f64,
    /// Source of the test.
    pub test: Test,
}

/// Hausman test, which compares two estimators.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Hausman {
    /// Test statistic.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// P-value.
    pub p_value: f64,
}

/// A standardized numeric predictor.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Standardized {
    /// Name of the column.
    pub column: String,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub standard_deviation: f64,
}

/// Prediction for a profile.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// Index of the profile, in the order in which they were given.
    pub profile: usize,
    /// Category of the outcome; `None` for numbers.
    pub category: Option<String>,
    /// Predicted share or mean.
    pub estimate: f64,
    /// Standard error; `None` if the answers set no limit on one side.
    pub standard_error: Option<f64>,
    /// Lower confidence limit; for a share, 0 if the answers set none.
    pub low: Option<f64>,
    /// Upper confidence limit; for a share, 1 if the answers set none.
    pub high: Option<f64>,
}

impl Prediction {
    /// Replaces the standard error; `reach` is the quantile for the limits.
    pub(super) fn replace_error(&mut self, error: f64, reach: f64, scale: Scale) {
        let (low, high) = limits(self.estimate, error, reach, scale);
        (self.standard_error, self.low, self.high) = (Some(error), Some(low), Some(high));
    }
}

/// Estimated noncompliance with the device.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct IgnoringShare {
    /// Share of noncompliers, or their share in the category to which noncompliance is restricted.
    pub estimate: f64,
    /// Standard error; `None` if the estimated share is 0.
    pub standard_error: Option<f64>,
    /// Likelihood ratio statistic against full compliance.
    pub likelihood_ratio: f64,
    /// One-sided p-value: half that of chi-square with one degree of freedom.
    pub p_value: f64,
}

/// Kind of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EstimateKind {
    /// Maximum likelihood estimate.
    #[serde(rename = "ml")]
    MaximumLikelihood,
    /// Solution of the corrected score.
    Corrected,
    /// Maximum of a penalized likelihood, shrunk toward no effect, because the answers set no limit on at least
    /// one side.
    Penalized,
}

/// Source of a p-value and an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Projected score, walked outward from the best fit.
    Score,
    /// One step of the score, with the variance CR2 of primary sampling units, walked like the score.
    ///
    /// The degrees of freedom are those of Bell and McCaffrey.
    OneStepCr2,
    /// Fieller's set for a linear model.
    Fieller,
    /// Estimate divided by its standard error.
    Wald,
    /// Estimate divided by its standard error from replicate weights.
    WaldReplicates,
}

/// A coefficient or contrast.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Coefficient {
    /// Term, such as `age`, `Sex=male` or `(constant)`; `(threshold)` for an ordinal outcome.
    pub term: String,
    /// Category of the outcome, if the coefficient has one.
    pub category: Option<String>,
    /// Estimated coefficient.
    pub estimate: f64,
    /// Kind of estimate.
    pub kind: EstimateKind,
    /// Standard error; `None` if the answers set no limit on one side.
    pub standard_error: Option<f64>,
    /// Lower confidence limit; `None` if the answers set none.
    pub low: Option<f64>,
    /// Upper confidence limit; `None` if the answers set none.
    pub high: Option<f64>,
    /// Test statistic, chi-square with one degree of freedom; `None` for thresholds.
    pub statistic: Option<f64>,
    /// Degrees of freedom of Student's t, from which the statistic was computed; `None` for the normal
    /// distribution.
    pub df: Option<f64>,
    /// P-value of the test against zero; `None` for thresholds.
    ///
    /// It is below the level exactly if the interval excludes zero.
    pub p_value: Option<f64>,
    /// Source of p-value and interval.
    pub test: Test,
    /// Whether only values near zero are rejected, so that sign and size are unknown (linear models).
    pub gap: bool,
    /// Variance inflation: the number of respondents divided by that of direct questions with the same precision.
    pub variance_inflation: Option<f64>,
}

/// Term of the thresholds of an ordinal outcome.
pub const THRESHOLD: &str = "(threshold)";
