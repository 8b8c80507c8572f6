//! Computes the sample size and power for detecting a coefficient of a regression.

pub use candor_analysis::regress::Effect;
use candor_analysis::regress::{
    Anticipated, Anticipation, DISPERSION, Family, INTERCEPT, Missing, Model, Profile, anticipate,
};
use candor_base::plan::Plan;
use candor_base::schema::{Attribute, Schema, nearest};
use serde::Serialize;

use crate::error::{StudyError, check_respondents};
use crate::power::{DEFAULT_ALPHA, DEFAULT_POWER};
use crate::regress::{ModelQuery, RegressOptions};
use crate::shares::{Kind, Shares};

/// Options of the power analysis of a regression.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EffectOptions {
    /// Expected coefficients.
    ///
    /// All others are zero. Unless intercepts are listed, they are chosen so that the outcome has its expected
    /// shares.
    pub effects: Vec<Effect>,
    /// Numeric columns of the model that the expected shares do not contain.
    ///
    /// Any other name that is not an attribute of the plan is an error.
    pub numbers: Vec<String>,
    /// Significance level of the test.
    pub alpha: f64,
    /// Required power for each effect.
    pub power: f64,
    /// Sample size whose power is computed instead.
    pub respondents: Option<f64>,
}

impl Default for EffectOptions {
    fn default() -> EffectOptions {
        let (effects, numbers) = (Vec::new(), Vec::new());
        EffectOptions { effects, numbers, alpha: DEFAULT_ALPHA, power: DEFAULT_POWER, respondents: None }
    }
}

impl EffectOptions {
    candor_runtime::options! {
        effects: Vec<Effect>,
        numbers: Vec<String>,
        alpha: f64,
        power: f64,
        respondents: impl Into<Option<f64>>,
    }
}

/// Returns the questions of a model about planned responses, for [`effects()`].
///
/// Missing values are a category, as in expected shares.
///
/// # Errors
/// Returns the errors of [`regress::model`](crate::regress::model).
pub fn model(plan: &Plan, text: &str, options: RegressOptions) -> Result<ModelQuery, StudyError> {
    crate::regress::model(plan, text, &options.missing(Missing::Category))
}

/// Sample size and power for the effects of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EffectPowers {
    /// The model formula, as requested.
    pub model: String,
    /// Name of the outcome.
    pub response: String,
    /// Family: `binary`, `multinomial`, `ordinal`, `linear`, `poisson` or `quasi-poisson`.
    pub family: &'static str,
    /// Estimation method of the regression: `ml` or `corrected`.
    pub method: &'static str,
    /// Significance level of the tests.
    pub alpha: f64,
    /// Result for each effect.
    pub effects: Vec<EffectPower>,
    /// Expected shares of the outcome; empty for numbers.
    pub shares: Vec<ResponseShare>,
    /// Assumptions, in sentences.
    pub notes: Vec<String>,
}

/// Sample size and power for one effect.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EffectPower {
    /// Term of the model.
    pub term: String,
    /// Category of the outcome, if one was given.
    pub category: Option<String>,
    /// Expected coefficient.
    pub effect: f64,
    /// Number of respondents.
    pub respondents: f64,
    /// Power at this number of respondents.
    pub power: f64,
    /// Standard error of the estimated coefficient.
    pub standard_error: f64,
    /// Probability that the interval has no limit on one side.
    pub one_sided: f64,
}

/// Expected share of a category of the outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResponseShare {
    /// Category label.
    pub category: String,
    /// Expected share.
    pub share: f64,
}

/// Parses an effect: `TERM=0.7`, or `TERM=0.7 for CATEGORY`.
///
/// # Errors
/// Returns [`StudyError::Refused`] for any other form.
pub fn parse_effect(text: &str) -> Result<Effect, StudyError> {
    let read = |at: usize| {
        let (term, rest) = (text[..at].trim(), &text[at + 1..]);
        let (value, category) = rest.split_once(" for ").map_or((rest, None), |(value, of)| (value, Some(of.trim())));
        let value = value.trim().parse().ok().filter(|value: &f64| value.is_finite())?;
        (!term.is_empty()).then(|| Effect { term: term.to_owned(), category: category.map(str::to_owned), value })
    };
    // Terms and categories may contain the sign.
    text.rmatch_indices('=').find_map(|(at, _)| read(at)).ok_or_else(|| {
        let message =
            "is no effect; it is written as \"TERM=0.7\", or \"TERM=0.7 for CATEGORY\" of a multinomial response";
        StudyError::Refused(format!("`effect`: \"{text}\" {message}"))
    })
}

/// Computes the sample size for each effect of a model under a plan, or the power at a given sample size.
///
/// The test is that of [`regress`](crate::regress::regress) with its default method. The population has the
/// expected shares.
///
/// # Errors
/// Returns [`StudyError`] if an effect is zero or not in the model, a level or power is invalid, or there are too
/// many combinations of values.
pub fn effects(
    plan: &Plan,
    asked: &ModelQuery,
    shares: &Shares,
    options: &EffectOptions,
) -> Result<EffectPowers, StudyError> {
    check(options)?;
    let model = asked.model();
    let schema = plan.schema();
    check_numbers(schema, model.numbers(), shares, &options.numbers)?;
    let attributes = [model.randomized(), model.public()].concat();
    let response = schema.position(model.response()).ok();
    let predictors = match is_kept(model) {
        true => &model.numbers()[..model.numbers().len() - 1],
        false => model.numbers(),
    };
    let split = model.randomized().len();
    let profile = |(codes, numbers, share): Kind| {
        let (randomized, public) = codes.split_at(split);
        Profile { randomized: randomized.to_vec(), public: public.to_vec(), numbers, share }
    };
    let profiles = shares.kinds(schema, &attributes, predictors)?.into_iter().map(profile).collect();
    let of_response = match (model.is_score(), response) {
        (true, _) => shares.table(schema, model.items())?,
        (_, Some(at)) => shares.of(schema, at),
        _ => Vec::new(),
    };
    let (companions, effects) = (shares.table(schema, model.companions())?, options.effects.clone());
    let people = Anticipated { profiles, response: of_response.clone(), companions, effects };
    let (method, found) = anticipate(model, asked.layout(), &people)?;
    let categories = model.categories().iter().cloned();
    Ok(EffectPowers {
        model: asked.text().to_owned(),
        response: model.response().to_owned(),
        family: model.family().name(),
        method: method.name(),
        alpha: options.alpha,
        effects: found.into_iter().map(|one| power_of(one, options)).collect(),
        shares: categories.zip(of_response).map(|(category, share)| ResponseShare { category, share }).collect(),
        notes: notes(plan, asked, shares, options, response),
    })
}

/// Returns whether the outcome is a kept column.
fn is_kept(model: &Model) -> bool {
    model.family().is_of_numbers() && !model.is_score()
}

fn power_of(Anticipation { effect, variance, test, .. }: Anticipation, options: &EffectOptions) -> EffectPower {
    let EffectOptions { alpha, power, .. } = *options;
    let needed = || test.zero.respondents(alpha, power).ceil();
    let respondents = options.respondents.unwrap_or_else(needed);
    EffectPower {
        power: test.zero.power(alpha, respondents),
        standard_error: (variance / respondents).sqrt(),
        one_sided: test.one_sided(alpha, respondents),
        respondents,
        effect: effect.value,
        term: effect.term,
        category: effect.category,
    }
}

fn check(options: &EffectOptions) -> Result<(), StudyError> {
    for (name, value) in [("alpha", options.alpha), ("power", options.power)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(StudyError::Parameter { name, value, range: "it is a number above 0 and below 1" });
        }
    }
    options.respondents.map_or(Ok(()), check_respondents)?;
    let mut found = options.effects.iter().filter(|effect| effect.is_tested()).peekable();
    if found.peek().is_none() {
        return Err(StudyError::InvalidParameter("`effect`: expected a coefficient to detect, such as \"TERM=0.7\""));
    }
    match found.any(|effect| effect.value == 0.0) {
        true => Err(StudyError::InvalidParameter("invalid `effect`: 0; no sample size can detect an effect of 0")),
        false => Ok(()),
    }
}

/// Rejects names that are neither attributes nor listed as numbers: there are no data yet in which they could be
/// columns.
fn check_numbers(schema: &Schema, used: &[String], shares: &Shares, named: &[String]) -> Result<(), StudyError> {
    let quoted = |name: &str| format!("\"{name}\"");
    if let Some(name) = named.iter().find(|name| !used.contains(name)) {
        let problem = if schema.position(name).is_ok() { "is an attribute of the plan" } else { "is not in the model" };
        return Err(StudyError::Refused(format!("`numeric_columns`: {} {problem}", quoted(name))));
    }
    let Some(name) = used.iter().find(|name| !shares.knows_number(name) && !named.contains(name)) else {
        return Ok(());
    };
    let like = nearest(name, schema.attributes().iter().map(Attribute::name));
    let like = like.map_or(String::new(), |like| format!(" (did you mean {}?)", quoted(like)));
    let known: Vec<String> = schema.attributes().iter().map(|attribute| quoted(attribute.name())).collect();
    Err(StudyError::Refused(format!(
        "`model`: {} is not an attribute of the plan{like}, which has {}; for a numeric kept column, specify \
         `numeric_columns` \"{name}\", or its values in `expected_shares`",
        quoted(name),
        known.join(", ")
    )))
}

/// Returns notes about assumptions that replace missing information.
fn notes(
    plan: &Plan,
    asked: &ModelQuery,
    shares: &Shares,
    options: &EffectOptions,
    response: Option<usize>,
) -> Vec<String> {
    let model = asked.model();
    let listed = |names: &[&str]| names.join(", ");
    let mut notes = Vec::new();
    let adapted = !options.effects.iter().any(|effect| effect.term == INTERCEPT);
    let outcomes = match model.is_score() {
        true => model.items(),
        false => response.as_slice(),
    };
    let outcomes = if adapted || model.is_score() { outcomes } else { &[] };
    let used = [outcomes, model.randomized(), model.public(), model.companions()].concat();
    let unknown = used.into_iter().filter(|&attribute| !shares.knows(attribute));
    let uniform: Vec<&str> = unknown.map(|attribute| plan.schema().name(attribute)).collect();
    if !uniform.is_empty() {
        notes.push(format!(
            "note: nothing about {} is in `expected_shares`: all categories are assumed to be equally frequent",
            listed(&uniform)
        ));
    }
    let kept = is_kept(model);
    let predictors = model.numbers().iter().filter(|name| !(kept && *name == model.response()));
    let normal: Vec<&str> = predictors.filter(|name| !shares.knows_number(name)).map(String::as_str).collect();
    if !normal.is_empty() {
        notes.push(format!(
            "note: nothing about {} is in `expected_shares`: assumed to be normal, so that an effect is that of one \
             standard deviation",
            listed(&normal)
        ));
    }
    if kept && model.family() == Family::Linear {
        notes.push("note: the effects of a linear model are in residual standard deviations".to_owned());
    }
    let dispersed = options.effects.iter().any(|effect| effect.term == DISPERSION);
    if kept && model.family() == Family::QuasiPoisson && !dispersed {
        notes.push(format!(
            "note: the variance of the count is assumed to equal its mean; specify the `effect` \"{DISPERSION}=3\" if \
             it is three times the mean"
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_as_they_are_written() {
        let read = |text: &str| parse_effect(text).ok().map(|effect| (effect.term, effect.category, effect.value));
        let is =
            |term: &str, category: Option<&str>, value| Some((term.to_owned(), category.map(str::to_owned), value));
        assert_eq!(read("age=-0.5"), is("age", None, -0.5));
        assert_eq!(read("Sex=male=0.7"), is("Sex=male", None, 0.7));
        assert_eq!(read("Sex=male:age = 1e-2 for a=b"), is("Sex=male:age", Some("a=b"), 0.01));
        assert_eq!(read("(constant)=-1.2"), is("(constant)", None, -1.2));
        for bad in ["", "age", "=0.7", "age=x", "age=inf", "age=0.7 of male"] {
            assert!(parse_effect(bad).unwrap_err().to_string().starts_with("`effect`"), "{bad}");
        }
    }
}
