//! A fitted regression, as it is written down.

use std::collections::BTreeMap;

use candor_analysis::regress::{self, Average, Family, IgnoringOptions, Model, Questions};
use serde::Serialize;

/// A fitted model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Regression {
    /// The model, as it was asked for.
    pub model: String,
    /// The response's name.
    pub response: String,
    /// The categories whose log odds are modeled; of an ordinal response those that coefficients push towards; none of
    /// a number.
    pub modeled: Vec<String>,
    /// The category that they are compared with; none of ordinal responses and numbers.
    pub reference: Option<String>,
    /// The kind of response: `binary`, `multinomial`, `ordinal`, `linear`, `poisson` or `quasi-poisson`.
    pub family: &'static str,
    /// How it was fitted: `ml`, `jeffreys` or `corrected`.
    pub method: &'static str,
    /// The number of responses.
    pub respondents: u64,
    /// How many people the model is about, without those outside of the subpopulation and those without an answer; an
    /// estimate where randomized answers tell who they are.
    pub people_modeled: f64,
    /// The attributes of which people without an answer are left out.
    pub left_out: Vec<String>,
    /// The condition of the subpopulation, if it is not everybody.
    pub subpopulation: Option<String>,
    /// How many of them differ in what the model sees.
    pub rows: usize,
    /// How respondents were drawn and weighted, in words; `None` for a simple random sample.
    pub design: Option<String>,
    /// What p-values and limits come from: `score` (the projected score, walked outward from the best fit),
    /// `one-step-cr2` (the same with sampling clusters), `fieller` (linear models by the corrected score) or
    /// `wald-replicates` (estimates over their errors by replicate weights).
    pub test: &'static str,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// Whether the search came to its end.
    pub converged: bool,
    /// Whether the likelihood, or the corrected score, has no finite solution.
    pub boundary: bool,
    /// The log-likelihood, where there is one: of the answers about the attributes in `log_likelihood_of`, never above
    /// 0.
    pub log_likelihood: Option<f64>,
    /// The randomized attributes whose answers the log-likelihood is about: that of other models is comparable if
    /// theirs are the same.
    pub log_likelihood_of: Vec<String>,
    /// That of constants alone.
    pub null_log_likelihood: Option<f64>,
    /// Akaike's criterion, to compare models of the same answers by maximum likelihood; null for weights, designs, and
    /// at the boundary.
    pub aic: Option<f64>,
    /// Tjur's R2 of the truth, for binary responses: it does not depend on the noise.
    pub tjur_r2: Option<f64>,
    /// The standard deviation of what a linear model leaves.
    pub residual_deviation: Option<f64>,
    /// Of counts, their variance over their mean, given the predictors.
    pub dispersion: Option<f64>,
    /// What had to be assumed of randomized predictors.
    pub assumption: Option<&'static str>,
    /// The same for programs. Not in JSON.
    #[serde(skip)]
    pub assumed: Option<regress::Assumption>,
    /// How far maximum likelihood and the corrected score differ.
    pub hausman: Option<Hausman>,
    /// How many ignore the device, if that was asked for.
    pub ignoring: Option<Ignoring>,
    /// The coefficients.
    pub coefficients: Vec<Coefficient>,
    /// What the coefficients are called, each of them once: the term, after its category where there are several.
    pub terms: Vec<String>,
    /// The covariance of the coefficients, in their order; where a limit is missing, that of the penalized fit.
    pub covariance: Vec<Vec<f64>>,
    /// The average predicted share of each category, or the average predicted number.
    pub shares: Vec<Share>,
    /// By how much shares change, on average, with each predictor, all else as it is.
    pub effects: Vec<Effect>,
    /// Joint tests of the terms that have several coefficients.
    pub joint_tests: Vec<JointTest>,
    /// The contrasts that were asked for, as coefficients are.
    pub contrasts: Vec<Coefficient>,
    /// The predictions that were asked for.
    pub predictions: Vec<Prediction>,
    /// By how much numeric predictors were moved and divided.
    pub standardized: Vec<Standardized>,
    /// The same model in each group, if groups were asked for; all else is about everybody.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupRegression>,
    /// What should be known before believing it.
    pub notes: Vec<String>,
}

/// A model in one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupRegression {
    /// The group: names and categories of the attributes of `by`, in their order. In JSON an object.
    #[serde(serialize_with = "crate::format::as_object")]
    pub group: Vec<(String, String)>,
    /// Why there is no fit, if there is none.
    pub reason: Option<String>,
    /// The fit.
    pub regression: Option<Regression>,
}

/// A coefficient.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Coefficient {
    /// The term: `age`, `Sex=male`, `age:Sex=male`, `(constant)`, or `(threshold)`.
    pub term: String,
    /// The response's category that it is about; of a threshold, those that it lies between.
    pub category: Option<String>,
    /// The estimate.
    pub estimate: f64,
    /// What the estimate is: `ml`, `corrected`, or `penalized` where a limit is missing or Jeffreys' penalty was asked
    /// for.
    pub estimate_kind: &'static str,
    /// Its standard error; null where a limit is missing.
    pub standard_error: Option<f64>,
    /// Lower confidence limit; null if the answers set none.
    pub low: Option<f64>,
    /// Upper confidence limit; null if the answers set none.
    pub high: Option<f64>,
    /// The test statistic, chi-square with one degree of freedom; null for thresholds.
    pub statistic: Option<f64>,
    /// Degrees of freedom of Student's t that the statistic was taken from; null where it is normal.
    pub df: Option<f64>,
    /// The p-value of the test that it is zero, which agrees with the interval; null for thresholds.
    pub p_value: Option<f64>,
    /// What the p-value and the limits come from: `score`, `one-step-cr2`, `fieller`, `wald-replicates`, or `wald`
    /// (thresholds).
    pub test: &'static str,
    /// The odds ratio that it stands for, if it stands for one.
    pub odds_ratio: Option<f64>,
    /// Its lower limit; null if there is none.
    pub odds_ratio_low: Option<f64>,
    /// Its upper limit; null if there is none.
    pub odds_ratio_high: Option<f64>,
    /// Of counts the ratio of means that it stands for, if it stands for one.
    pub rate_ratio: Option<f64>,
    /// Its lower limit; null if there is none.
    pub rate_ratio_low: Option<f64>,
    /// Its upper limit; null if there is none.
    pub rate_ratio_high: Option<f64>,
    /// How many times as many respondents it took as direct questions would have.
    pub design_effect: Option<f64>,
    /// How many directly asked people would have told as much.
    pub directly_asked: Option<f64>,
    /// What taking the answers for the truth would have given, if asked for.
    pub naive: Option<f64>,
}

/// The average predicted share of a category.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Share {
    /// The category; none of a number.
    pub category: Option<String>,
    /// The share.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// An average marginal effect.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Effect {
    /// The predictor, and its category against the reference.
    pub term: String,
    /// The response's category; none of a number.
    pub category: Option<String>,
    /// The average change of its share.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

/// A joint test of all coefficients of a term.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JointTest {
    /// The term, as it stands in the formula.
    pub term: String,
    /// The statistic: chi-square, or F where there is a `denominator_df`.
    pub statistic: f64,
    /// How many coefficients are tested.
    pub df: usize,
    /// Degrees of freedom of the denominator of an F statistic.
    pub denominator_df: Option<f64>,
    /// The p-value of the hypothesis that all of them are zero.
    pub p_value: f64,
    /// What it comes from: `score`, or `wald-replicates`.
    pub test: &'static str,
}

/// What is predicted for a kind of people.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Prediction {
    /// The predictors that were given, with their values; all others are as they are among the respondents.
    pub profile: BTreeMap<String, String>,
    /// The response's category; none of a number.
    pub category: Option<String>,
    /// The share, or the mean.
    pub estimate: f64,
    /// Its standard error; null where the answers set no limit on one side.
    pub standard_error: Option<f64>,
    /// Lower confidence limit; of a share 0, of a mean null, if the answers set none.
    pub low: Option<f64>,
    /// Upper confidence limit; of a share 1, of a mean null, if the answers set none.
    pub high: Option<f64>,
}

/// A comparison of two fits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Hausman {
    /// The statistic.
    pub statistic: f64,
    /// Its degrees of freedom.
    pub degrees: usize,
    /// Its p-value.
    pub p_value: f64,
}

/// People who ignore the device.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ignoring {
    /// What they say.
    pub says: String,
    /// The true category of all who would, if not everybody alike.
    pub only: Option<String>,
    /// Their share; with `only`, among people of that category.
    pub estimate: f64,
    /// Its standard error; none if nobody seems to.
    pub standard_error: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
    /// The likelihood ratio against everybody following it.
    pub likelihood_ratio: f64,
    /// Its p-value, one-sided.
    pub p_value: f64,
}

/// A numeric predictor in standard deviations from its mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Standardized {
    /// The column.
    pub column: String,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub standard_deviation: f64,
}

/// The modeled categories, and the one that they are compared with.
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

/// What each coefficient is called, each of them once.
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
            estimate_kind: own.kind.name(),
            standard_error: own.standard_error,
            low: own.low,
            high: own.high,
            statistic: own.statistic,
            df: own.df,
            p_value: own.p_value,
            test: own.test.name(),
            odds_ratio: odds(own.estimate),
            odds_ratio_low: own.low.and_then(odds),
            odds_ratio_high: own.high.and_then(odds),
            rate_ratio: rate(own.estimate),
            rate_ratio_low: own.low.and_then(rate),
            rate_ratio_high: own.high.and_then(rate),
            design_effect: own.design_effect,
            directly_asked: own.design_effect.map(|effect| found.modelled / effect),
            naive: found.naive.as_ref().filter(|_| is_listed).and_then(|naive| naive.get(at).copied()),
        }
    };
    all.iter().enumerate().map(one).collect()
}

pub(crate) fn joint_test(found: regress::JointTest) -> JointTest {
    let regress::JointTest { term, statistic, df, denominator_df, p_value, test, .. } = found;
    JointTest { term, statistic, df, denominator_df, p_value, test: test.name() }
}

/// Predictions for the kinds of people that were asked for; of two categories one says it all.
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
        says: asked.says.clone(),
        only: asked.only.clone(),
        estimate: share.estimate,
        standard_error: share.standard_error,
        low: by.map(|by| share.estimate - by),
        high: by.map(|by| share.estimate + by),
        likelihood_ratio: share.likelihood_ratio,
        p_value: share.p_value,
    }
}

pub(crate) fn share(Average { category, estimate, standard_error, low, high, .. }: Average) -> Share {
    Share { category, estimate, standard_error, low, high }
}

pub(crate) fn effect(Average { term, category, estimate, standard_error, low, high }: Average) -> Effect {
    Effect { term, category, estimate, standard_error, low, high }
}

pub(crate) fn hausman((statistic, degrees, p_value): (f64, usize, f64)) -> Hausman {
    Hausman { statistic, degrees, p_value }
}
