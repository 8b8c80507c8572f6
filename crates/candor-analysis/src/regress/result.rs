//! What a regression gives: coefficients with their errors and limits, and what they say about people.

use nalgebra::DMatrix;

use super::effects::{Average, Scale, limits};
use super::hidden_predictors::Assumption;
use super::rare::Rare;

/// How a model is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Maximum likelihood. If a predictor is hidden, its law given the public ones is part of it.
    MaximumLikelihood,
    /// The likelihood times the square root of the determinant of the information, which has a finite maximum always.
    /// Only where the response alone is hidden.
    Jeffreys,
    /// The score with unbiased weights: nothing is assumed of the predictors.
    CorrectedScore,
}

impl Method {
    /// What it is called.
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
    /// Akaike's criterion, of a maximum of the likelihood of independent respondents: to compare models of the same
    /// answers.
    pub aic: Option<f64>,
    /// Tjur's R2 of the truth, of binary responses.
    pub tjur: Option<f64>,
    /// Whether the search came to its end.
    pub converged: bool,
    /// Whether the likelihood, or the corrected score, has no finite solution.
    pub boundary: bool,
    /// What maximum likelihood had to assume of hidden predictors.
    pub assumption: Option<Assumption>,
    /// How far maximum likelihood and the corrected score differ: statistic, degrees of freedom, p-value.
    pub hausman: Option<(f64, usize, f64)>,
    /// How many ignore the device, if that was asked for.
    pub ignoring: Option<IgnoringShare>,
    /// The standard deviation of what a linear model leaves.
    pub residual_deviation: Option<f64>,
    /// By how much the variance of counts exceeds their mean: Pearson's statistic over its degrees of freedom.
    pub dispersion: Option<f64>,
    /// Average predicted shares.
    pub shares: Vec<Average>,
    /// Average marginal effects.
    pub effects: Vec<Average>,
    /// Joint tests of the terms that have several coefficients.
    pub joint: Vec<JointTest>,
    /// The contrasts that were asked for, for each category of the response that coefficients are about.
    pub contrasts: Vec<Coefficient>,
    /// The predictions that were asked for.
    pub predictions: Vec<Prediction>,
    /// The coefficients that the averages were taken at, and of each term with several of them which they are.
    pub(super) theta: Vec<f64>,
    pub(super) terms: Vec<(String, Vec<usize>)>,
    /// What taking the answers for the truth would have given, if asked for and answers are categories.
    pub naive: Option<Vec<f64>>,
    /// Whether every answer names one category of each attribute, so that it could be taken for the truth.
    pub named: bool,
    /// By how much numeric predictors were moved and divided, if asked for: name, mean, standard deviation.
    pub standardized: Vec<(String, f64, f64)>,
    /// The number of responses, and how many of them are different.
    pub responses: u64,
    /// How many people the model is about, without those who have no answer; estimated where randomized answers tell
    /// who they are.
    pub modelled: f64,
    /// How many rows are different.
    pub distinct: usize,
    /// The share that the answers can least tell from 0, if they hardly can: intervals then hold more often than they
    /// say.
    pub rarest: Option<Rare>,
}

/// A joint test of all coefficients of a term.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JointTest {
    /// The term, as it stands in the formula.
    pub term: String,
    /// The statistic, chi-square where there is only one number of degrees of freedom.
    pub statistic: f64,
    /// How many coefficients.
    pub df: usize,
    /// Degrees of freedom of the denominator, where the p-value is that of an F law.
    pub denominator_df: Option<f64>,
    /// The p-value of the hypothesis that all are zero.
    pub p_value: f64,
    /// What it comes from.
    pub test: Test,
}

/// What is predicted for a kind of people.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// The number of the profile, in the order in which they were given.
    pub profile: usize,
    /// The response's category, none if it is a number.
    pub category: Option<String>,
    /// The share, or the mean.
    pub estimate: f64,
    /// Its standard error; none where the answers set no limit on one side.
    pub standard_error: Option<f64>,
    /// Lower confidence limit; of a share 0 if the answers set none.
    pub low: Option<f64>,
    /// Upper confidence limit; of a share 1 if the answers set none.
    pub high: Option<f64>,
}

impl Prediction {
    /// With another standard error, whose quantile for the limits is `reach`.
    pub(super) fn replace_error(&mut self, error: f64, reach: f64, scale: Scale) {
        let (low, high) = limits(self.estimate, error, reach, scale);
        (self.standard_error, self.low, self.high) = (Some(error), Some(low), Some(high));
    }
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

/// What an estimate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EstimateKind {
    /// The value of largest likelihood.
    MaximumLikelihood,
    /// The solution of the corrected score.
    Corrected,
    /// The maximum of a penalized likelihood, drawn towards no effect: the answers set no limit on one side at least.
    Penalized,
}

impl EstimateKind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            EstimateKind::MaximumLikelihood => "ml",
            EstimateKind::Corrected => "corrected",
            EstimateKind::Penalized => "penalized",
        }
    }
}

/// What a p-value and an interval come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// The projected score, walked outward from the best fit.
    Score,
    /// One step of the score with the variance CR2 of sampling clusters and the degrees of freedom of Bell and
    /// McCaffrey, walked as the score is.
    OneStepCr2,
    /// Fieller's set of a linear model.
    Fieller,
    /// The estimate over its standard error.
    Wald,
    /// The same with a standard error of replicate weights.
    WaldReplicates,
}

impl Test {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Test::Score => "score",
            Test::OneStepCr2 => "one-step-cr2",
            Test::Fieller => "fieller",
            Test::Wald => "wald",
            Test::WaldReplicates => "wald-replicates",
        }
    }
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
    /// What the estimate is.
    pub kind: EstimateKind,
    /// Its standard error; none where the answers set no limit on one side.
    pub standard_error: Option<f64>,
    /// Lower confidence limit; `None` if the answers set none.
    pub low: Option<f64>,
    /// Upper confidence limit; `None` if the answers set none.
    pub high: Option<f64>,
    /// What the p-value is of, chi-square with one degree of freedom; none for thresholds.
    pub statistic: Option<f64>,
    /// Degrees of freedom of Student's t that the statistic was taken from; none where it is normal.
    pub df: Option<f64>,
    /// The p-value of the hypothesis that it is zero, below the level exactly if the interval excludes zero; none for
    /// thresholds.
    pub p_value: Option<f64>,
    /// What the p-value and the interval come from.
    pub test: Test,
    /// Whether only values near zero are rejected, so that neither sign nor size is known (linear models).
    pub gap: bool,
    /// How many times as many respondents it takes as a direct question would.
    pub design_effect: Option<f64>,
}

/// What the threshold of an ordinal response is called.
pub const THRESHOLD: &str = "(threshold)";
