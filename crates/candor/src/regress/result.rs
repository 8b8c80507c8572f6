//! Results of a regression, as written in JSON.

use std::collections::BTreeMap;

use candor_analysis::regress::{
    self, Assumption, Average, EstimateKind, Family, Hausman, IgnoringOptions, JointTest, Method, Model, Questions,
    Standardized, Test,
};
use serde::Serialize;

/// A fitted regression model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Regression {
    /// The model formula, as requested.
    pub model: String,
    /// Name of the outcome.
    pub response: String,
    /// Categories whose log odds are modeled; empty for numeric outcomes.
    ///
    /// For an ordinal outcome, positive coefficients make these categories more likely.
    pub modeled: Vec<String>,
    /// Reference category; `None` for ordinal and numeric outcomes.
    pub reference: Option<String>,
    /// Randomized attributes of the model.
    pub randomized: Vec<String>,
    /// Record-level epsilon of the plan: that of all answers of a respondent together; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// Reference category of each categorical predictor. In JSON, an object.
    #[serde(serialize_with = "crate::format::as_object")]
    pub references: Vec<(String, String)>,
    /// Family: `binary`, `multinomial`, `ordinal`, `linear`, `poisson` or `quasi-poisson`.
    pub family: Family,
    /// Estimation method: `ml`, `jeffreys` or `corrected`.
    pub method: Method,
    /// Number of responses.
    pub respondents: u64,
    /// Number of people in the model: those in the subpopulation who have an answer.
    ///
    /// It is an estimate if randomized answers decide who they are.
    pub people_modeled: f64,
    /// Attributes in which people without an answer are left out.
    pub left_out: Vec<String>,
    /// Condition of the subpopulation; `None` for everybody.
    pub subpopulation: Option<String>,
    /// Number of distinct responses as the model distinguishes them.
    pub rows: usize,
    /// Description of the sampling design and the weights; `None` for a simple random sample.
    #[serde(flatten, serialize_with = "crate::old_keys::sampling_note")]
    pub sampling_note: Option<String>,
    /// Source of p-values and confidence limits:
    ///
    /// - `score`: the projected score, walked outward from the best fit,
    /// - `one-step-cr2`: the same with primary sampling units,
    /// - `fieller`: linear models by the corrected score,
    /// - `wald-replicates`: estimates divided by their standard errors from replicate weights.
    pub test: Test,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Whether the fit converged.
    pub converged: bool,
    /// Whether the maximum of the likelihood, or the root of the corrected score, is infinite.
    pub boundary: bool,
    /// Log-likelihood of the answers to the attributes in `log_likelihood_of`, at most 0; `None` if there is none.
    pub log_likelihood: Option<f64>,
    /// Randomized attributes whose answers the log-likelihood covers.
    ///
    /// Log-likelihoods of two models are comparable if these are the same.
    pub log_likelihood_of: Vec<String>,
    /// Log-likelihood of the null model.
    pub null_log_likelihood: Option<f64>,
    /// Akaike information criterion, for comparing models of the same answers by maximum likelihood.
    ///
    /// `None` with weights or a sampling design, and at the boundary.
    pub aic: Option<f64>,
    /// Tjur's R2 for the true outcome, for binary outcomes; the randomization does not affect it.
    pub tjur_r2: Option<f64>,
    /// Residual standard deviation of a linear model.
    pub residual_deviation: Option<f64>,
    /// Dispersion of counts: their variance divided by their mean, given the predictors.
    pub dispersion: Option<f64>,
    /// Assumption about randomized predictors, if any.
    pub assumption: Option<Assumption>,
    /// Hausman test of maximum likelihood against the corrected score.
    pub hausman: Option<Hausman>,
    /// Estimated noncompliance, if requested.
    pub ignoring: Option<Ignoring>,
    /// Coefficients.
    pub coefficients: Vec<Coefficient>,
    /// Unique names of the coefficients: the term, after its category if there are several.
    pub terms: Vec<String>,
    /// Covariance matrix of the coefficients, in their order; that of the penalized fit if a limit is missing.
    pub covariance: Vec<Vec<f64>>,
    /// Average predicted share of each category, or average predicted number.
    pub shares: Vec<Average>,
    /// Average marginal effects: mean change of the shares with each predictor, all else being equal.
    pub effects: Vec<Average>,
    /// Joint tests of the terms with several coefficients.
    pub joint_tests: Vec<JointTest>,
    /// Requested contrasts, with the same fields as coefficients.
    pub contrasts: Vec<Coefficient>,
    /// Requested predictions.
    pub predictions: Vec<Prediction>,
    /// Means and standard deviations of the standardized predictors.
    pub standardized: Vec<Standardized>,
    /// The same model in each group, if requested; the other fields are about everybody.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupRegression>,
    /// Warnings and notes.
    pub notes: Vec<String>,
}

/// The model in one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupRegression {
    /// Names and categories of the grouping attributes, in order; an object in JSON.
    #[serde(serialize_with = "crate::format::as_object")]
    pub group: Vec<(String, String)>,
    /// Reason why there is no fit.
    pub reason: Option<String>,
    /// The fit; `None` if there is none.
    pub regression: Option<Regression>,
}

/// A coefficient or contrast.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Coefficient {
    /// Term: `age`, `Sex=male`, `age:Sex=male`, `(constant)` or `(threshold)`.
    pub term: String,
    /// Category of the outcome; for a threshold, the two categories that it separates.
    pub category: Option<String>,
    /// Estimated coefficient.
    pub estimate: f64,
    /// Kind of estimate: `ml`, `corrected` or `penalized`.
    ///
    /// It is `penalized` if a limit is missing or Jeffreys' penalty was requested.
    pub estimate_kind: EstimateKind,
    /// Standard error; `None` if a limit is missing.
    pub standard_error: Option<f64>,
    /// Lower confidence limit; `None` if the responses set none.
    pub low: Option<f64>,
    /// Upper confidence limit; `None` if the responses set none.
    pub high: Option<f64>,
    /// Test statistic, chi-square with one degree of freedom; `None` for thresholds.
    pub statistic: Option<f64>,
    /// Degrees of freedom of Student's t, from which the statistic was computed; `None` for the normal
    /// distribution.
    pub df: Option<f64>,
    /// P-value of the test against zero, which agrees with the interval; `None` for thresholds.
    pub p_value: Option<f64>,
    /// Source of p-value and limits: `score`, `one-step-cr2`, `fieller`, `wald-replicates`, or `wald` for
    /// thresholds.
    pub test: Test,
    /// Odds ratio; `None` if the coefficient is not a log odds ratio.
    pub odds_ratio: Option<f64>,
    /// Lower confidence limit of the odds ratio; `None` if there is none.
    pub odds_ratio_low: Option<f64>,
    /// Upper confidence limit of the odds ratio; `None` if there is none.
    pub odds_ratio_high: Option<f64>,
    /// Ratio of means in a model of counts; `None` in others.
    pub rate_ratio: Option<f64>,
    /// Lower confidence limit of the ratio; `None` if there is none.
    pub rate_ratio_low: Option<f64>,
    /// Upper confidence limit of the ratio; `None` if there is none.
    pub rate_ratio_high: Option<f64>,
    /// Variance inflation: the number of respondents divided by that of direct questions with the same precision.
    #[serde(flatten, serialize_with = "crate::old_keys::variance_inflation")]
    pub variance_inflation: Option<f64>,
    /// Number of directly asked respondents that would give the same precision.
    pub directly_asked: Option<f64>,
    /// Estimate that ignores the randomization, if requested.
    pub naive: Option<f64>,
}

impl Coefficient {
    /// Returns whether the estimate is shrunk toward no effect although maximum likelihood was requested.
    pub fn is_shrunk(&self, of: &Regression) -> bool {
        self.estimate_kind == EstimateKind::Penalized && of.method != Method::Jeffreys
    }
}

/// Prediction for people with given predictors.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Prediction {
    /// Values of the given predictors; all others keep their values among the respondents.
    pub profile: BTreeMap<String, String>,
    /// Category of the outcome; `None` for numbers.
    pub category: Option<String>,
    /// Predicted share or mean.
    pub estimate: f64,
    /// Standard error; `None` if the responses set no limit on one side.
    pub standard_error: Option<f64>,
    /// Lower confidence limit; if the responses set none, 0 for a share and `None` for a mean.
    pub low: Option<f64>,
    /// Upper confidence limit; if the responses set none, 1 for a share and `None` for a mean.
    pub high: Option<f64>,
}

/// Estimated noncompliance with the device.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ignoring {
    /// Self-protective answer of noncompliers.
    #[serde(flatten, serialize_with = "crate::old_keys::self_protective_answer")]
    pub self_protective_answer: String,
    /// True category to which noncompliance is restricted; `None` for everybody.
    pub only: Option<String>,
    /// Share of noncompliers; with `only`, among people of that category.
    pub estimate: f64,
    /// Standard error; `None` if the estimated share is 0.
    pub standard_error: Option<f64>,
    /// Lower confidence limit.
    pub low: Option<f64>,
    /// Upper confidence limit.
    pub high: Option<f64>,
    /// Likelihood ratio statistic against full compliance.
    pub likelihood_ratio: f64,
    /// One-sided p-value.
    pub p_value: f64,
}

/// Returns the modeled categories and the reference category.
pub(crate) fn modeled(model: &Model) -> (Vec<String>, Option<String>) {
    let all = model.categories();
    match model.family() {
        Family::Linear | Family::Poisson | Family::QuasiPoisson => (Vec::new(), None),
        Family::Ordinal => (all.last().cloned().into_iter().collect(), None),
        Family::Binary | Family::Multinomial => {
            let reference = all.get(model.reference()).cloned();
            (all.iter().filter(|one| Some(*one) != reference.as_ref()).cloned().collect(), reference)
        }
    }
}

/// Returns unique names of the coefficients.
pub(crate) fn terms(found: &regress::Regression) -> Vec<String> {
    let first = found.coefficients.first().and_then(|one| one.category.as_ref());
    let several = found.coefficients.iter().any(|one| one.category.as_ref() != first);
    let name = |one: &regress::Coefficient| match one.category.as_ref().filter(|_| several) {
        Some(category) => format!("{category}: {}", one.term),
        None => one.term.clone(),
    };
    found.coefficients.iter().map(name).collect()
}

pub(crate) fn rows_of(found: &regress::Regression) -> Vec<Vec<f64>> {
    found.covariance.row_iter().map(|row| row.iter().copied().collect()).collect()
}

pub(crate) fn coefficients(
    found: &regress::Regression,
    all: &[regress::Coefficient],
    family: Family,
) -> Vec<Coefficient> {
    let is_listed = std::ptr::eq(all, &found.coefficients[..]);
    let one = |(at, own): (usize, &regress::Coefficient)| {
        let is_slope = own.term != regress::INTERCEPT && own.term != regress::THRESHOLD;
        let odds = |log: f64| (is_slope && !family.is_of_numbers()).then_some(log.exp());
        let rate = |log: f64| (is_slope && family.is_of_counts()).then_some(log.exp());
        Coefficient {
            term: own.term.clone(),
            category: own.category.clone(),
            estimate: own.estimate,
            estimate_kind: own.kind,
            standard_error: own.standard_error,
            low: own.low,
            high: own.high,
            statistic: own.statistic,
            df: own.df,
            p_value: own.p_value,
            test: own.test,
            odds_ratio: odds(own.estimate),
            odds_ratio_low: own.low.and_then(odds),
            odds_ratio_high: own.high.and_then(odds),
            rate_ratio: rate(own.estimate),
            rate_ratio_low: own.low.and_then(rate),
            rate_ratio_high: own.high.and_then(rate),
            variance_inflation: own.variance_inflation,
            directly_asked: own.variance_inflation.map(|effect| found.modelled / effect),
            naive: found.naive.as_ref().filter(|_| is_listed).and_then(|naive| naive.get(at).copied()),
        }
    };
    all.iter().enumerate().map(one).collect()
}

/// Returns the requested predictions; for a binary outcome, those of the modeled category only.
pub(crate) fn predictions(
    found: &regress::Regression,
    questions: &Questions,
    modeled: &[String],
    family: Family,
) -> Vec<Prediction> {
    let told = |one: &&regress::Prediction| family != Family::Binary || one.category.as_ref() == modeled.first();
    let one = |one: &regress::Prediction| Prediction {
        profile: questions.profiles[one.profile].iter().cloned().collect(),
        category: one.category.clone(),
        estimate: one.estimate,
        standard_error: one.standard_error,
        low: one.low,
        high: one.high,
    };
    found.predictions.iter().filter(told).map(one).collect()
}

pub(crate) fn ignoring(asked: &IgnoringOptions, share: regress::IgnoringShare, reach: f64) -> Ignoring {
    let by = share.standard_error.map(|error| reach * error);
    Ignoring {
        self_protective_answer: asked.self_protective.clone(),
        only: asked.only.clone(),
        estimate: share.estimate,
        standard_error: share.standard_error,
        low: by.map(|by| share.estimate - by),
        high: by.map(|by| share.estimate + by),
        likelihood_ratio: share.likelihood_ratio,
        p_value: share.p_value,
    }
}
