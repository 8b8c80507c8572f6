//! Computes the sample size and power for detecting a difference of groups, a share, or noncompliance.

use candor_analysis::compliance::{Lottery, noncentrality, per_record, power};
use candor_analysis::power::{one_sample, one_sample_power, two_groups, two_groups_power, variance};
use candor_base::plan::Plan;
use serde::Serialize;

use crate::error::{StudyError, check_respondents};

/// The effect to detect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alternative {
    /// Two groups have different shares of the last category.
    Groups {
        /// Share in the first group.
        first: f64,
        /// Share in the second group.
        second: f64,
    },
    /// The share of the last category differs from the null hypothesis; one-sided.
    Null {
        /// Share under the null hypothesis.
        null: f64,
        /// True share.
        share: f64,
    },
    /// Some people do not comply and give the first answer.
    ///
    /// Among the others, the last category has `share`, and all other categories are equally frequent.
    Ignoring {
        /// Share of noncompliers.
        ignoring: f64,
        /// True share of the last category among compliers.
        share: f64,
    },
}

/// Options of the power analysis.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PowerOptions {
    /// The effect to detect.
    pub finding: Alternative,
    /// Significance level of the test.
    pub alpha: f64,
    /// Required power.
    pub power: f64,
    /// Sample size whose power is computed instead; for two groups, the size of each.
    pub respondents: Option<f64>,
}

/// Significance level of tests by default.
pub(crate) const DEFAULT_ALPHA: f64 = 0.05;

/// Required power by default.
pub(crate) const DEFAULT_POWER: f64 = 0.8;

impl PowerOptions {
    /// Creates options with a significance level of 5% and a power of 80%.
    pub fn new(finding: Alternative) -> PowerOptions {
        PowerOptions { finding, alpha: DEFAULT_ALPHA, power: DEFAULT_POWER, respondents: None }
    }

    candor_runtime::options! {
        alpha: f64,
        power: f64,
        respondents: impl Into<Option<f64>>,
    }
}

impl Alternative {
    /// Creates the alternative hypothesis from shares.
    ///
    /// These are the shares of two groups, or one share with a null share or a share of noncompliance. With
    /// noncompliance, the share is 0.5 by default.
    ///
    /// # Errors
    /// Returns [`StudyError`] if the shares match none of these cases.
    pub fn new(shares: &[f64], null_share: Option<f64>, noncompliance: Option<f64>) -> Result<Alternative, StudyError> {
        match (noncompliance, null_share, shares) {
            (Some(ignoring), None, []) => Ok(Alternative::Ignoring { ignoring, share: 0.5 }),
            (Some(ignoring), None, &[share]) => Ok(Alternative::Ignoring { ignoring, share }),
            (None, Some(null), &[share]) => Ok(Alternative::Null { null, share }),
            (None, None, &[first, second]) => Ok(Alternative::Groups { first, second }),
            _ => Err(StudyError::InvalidParameter(
                "`detect_difference`: expected the shares of two groups, such as 0.1,0.2; or one share with \
                 `null_share` or `noncompliance`",
            )),
        }
    }
}

/// Sample sizes of the questions of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Powers {
    /// Kind of effect: `groups`, `null` or `ignoring`.
    pub finding: &'static str,
    /// Significance level of the test.
    pub alpha: f64,
    /// Result for each question.
    pub questions: Vec<QuestionPower>,
}

/// Sample size for one question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuestionPower {
    /// The question.
    pub attribute: String,
    /// Category whose share is tested, or the self-protective answer of noncompliers.
    pub category: String,
    /// Sample size; for two groups, the size of each. `None` if there is a `reason`.
    pub respondents: Option<f64>,
    /// Power at this sample size.
    pub power: Option<f64>,
    /// Reason why no sample size suffices.
    pub reason: Option<String>,
}

/// Computes the sample size for each question of a plan, or the power at a given sample size.
///
/// # Errors
/// Returns [`StudyError`] if a share, the level or the power is invalid.
///
/// ```
/// # use candor::prelude::*;
/// #
/// # let schema = Schema::with_sizes(&[2, 3])?;
/// # let plan = design(&schema, &Independent::new(3.0).into(), &DesignOptions::default())?.plan;
/// use candor::power::{Alternative, PowerOptions, powers};
///
/// let options = PowerOptions::new(Alternative::Groups { first: 0.1, second: 0.2 }).power(0.9);
/// let found = powers(&plan, &options)?;
/// println!("{:?} respondents in each group", found.questions[0].respondents);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn powers(plan: &Plan, options: &PowerOptions) -> Result<Powers, StudyError> {
    check(options)?;
    let finding = match options.finding {
        Alternative::Groups { .. } => "groups",
        Alternative::Null { .. } => "null",
        Alternative::Ignoring { .. } => "ignoring",
    };
    let questions = plan.schema().randomized().into_iter().map(|attribute| {
        let described = &plan.schema().attributes()[attribute];
        let categories = described.categories();
        let found = one(plan, attribute, categories.len(), options);
        let category = match options.finding {
            Alternative::Ignoring { .. } => categories[0].clone(),
            _ => categories[categories.len() - 1].clone(),
        };
        QuestionPower {
            attribute: described.name().to_owned(),
            category,
            respondents: found.as_ref().ok().map(|found| found.0.ceil()),
            power: found.as_ref().ok().map(|found| found.1),
            reason: found.err(),
        }
    });
    Ok(Powers { finding, alpha: options.alpha, questions: questions.collect() })
}

fn check(options: &PowerOptions) -> Result<(), StudyError> {
    let open = |name: &'static str, value: f64| match value > 0.0 && value < 1.0 {
        true => Ok(()),
        false => Err(StudyError::Parameter { name, value, range: "it is a number above 0 and below 1" }),
    };
    let share = |name: &'static str, value: f64| match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(StudyError::Parameter { name, value, range: "it is a share from 0 to 1" }),
    };
    open("alpha", options.alpha)?;
    open("power", options.power)?;
    options.respondents.map_or(Ok(()), check_respondents)?;
    let (first, second) = match options.finding {
        Alternative::Groups { first, second } => (first, second),
        Alternative::Null { null, share: at } => {
            share("null_share", null)?;
            (null, at)
        }
        Alternative::Ignoring { ignoring, share: at } => {
            open("noncompliance", ignoring)?;
            return share("share", at);
        }
    };
    share("detect_difference", first)?;
    share("detect_difference", second)?;
    match first == second {
        true => Err(StudyError::InvalidParameter("`detect_difference`: expected two different shares")),
        false => Ok(()),
    }
}

/// Returns sample size and power for one question, or the reason why they do not exist.
fn one(plan: &Plan, attribute: usize, size: usize, options: &PowerOptions) -> Result<(f64, f64), String> {
    let lottery = Lottery::for_plan(plan, &[attribute]).map_err(|why| why.to_string())?;
    let truth = |share: f64| -> Vec<f64> {
        let rest = (1.0 - share) / (size as f64 - 1.0);
        (0..size).map(|category| if category + 1 == size { share } else { rest }).collect()
    };
    let unknown = || "the plan does not collect it".to_owned();
    let at = |share: f64| variance(&lottery, &truth(share), size - 1).ok_or_else(unknown);
    let PowerOptions { alpha, power: wanted, respondents, .. } = *options;
    match options.finding {
        Alternative::Groups { first, second } => {
            let (variances, difference) = ([at(first)?, at(second)?], first - second);
            let n = respondents.unwrap_or_else(|| two_groups(variances, difference, alpha, wanted).ceil());
            Ok((n, two_groups_power(variances, difference, alpha, n)))
        }
        Alternative::Null { null, share } => {
            let (supposed, true_one, difference) = (at(null)?, at(share)?, share - null);
            let n = respondents.unwrap_or_else(|| one_sample(supposed, true_one, difference, alpha, wanted).ceil());
            Ok((n, one_sample_power(supposed, true_one, difference, alpha, n)))
        }
        Alternative::Ignoring { ignoring, share } => {
            let said: Vec<f64> = (0..lottery.tags[0].channel.nrows()).map(|z| f64::from(u8::from(z == 0))).collect();
            let (degrees, each) = (lottery.degrees(), per_record(&lottery, &truth(share), ignoring, &said));
            if degrees == 0 || each <= 0.0 {
                return Err("no sample size detects it under this plan; use a plan with a compliance check".to_owned());
            }
            let n = respondents.unwrap_or_else(|| (noncentrality(degrees, alpha, wanted) / each).ceil());
            Ok((n, power(degrees, n * each, alpha)))
        }
    }
}
