//! A plan from a point of the front: integers whose certificate keeps what was asked.

use candor_base::channel::{Channel, Matrix, Rational, exact as exactly};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use super::channel::FrontChannel;
use super::exact::{ExactPoint, exact};
use super::measure::{Measures, measure};
use super::outputs::with_outputs;
use super::prior::Prior;
use super::refine::refine;
use super::{FrontError, FrontProblem};
use crate::cross::crossed_if_asked;
use crate::method::{Design, parameters, texts};
use crate::outcome::DesignOutcome;
use crate::{DesignError, single_attribute};

/// Which point of the front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// At least this privacy (Huang and Du 2008, eq. 8).
    Privacy(f64),
    /// At most this average mean squared error (eq. 10) with so many respondents, as privately as possible.
    Utility {
        /// The average mean squared error.
        utility: f64,
        /// The number of respondents.
        respondents: f64,
    },
}

/// What a point of the front takes: a prior, and how private or how useful it is to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontRequest {
    /// The share of each category, in order, as the plan states it: the shares count relative to their sum.
    pub prior: Vec<f64>,
    /// At least this privacy: how often the best guess is wrong.
    #[serde(
        rename(serialize = "privacy", deserialize = "map_privacy"),
        alias = "privacy",
        skip_serializing_if = "Option::is_none"
    )]
    pub privacy: Option<f64>,
    /// Instead, at most this average mean squared error.
    #[serde(
        rename(serialize = "utility", deserialize = "max_mse"),
        alias = "utility",
        skip_serializing_if = "Option::is_none"
    )]
    pub utility: Option<f64>,
    /// The number of respondents that `utility` is about; 10,000 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub respondents: Option<f64>,
    /// No answer may make any category likelier than this; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posterior_bound: Option<f64>,
    /// At most so many outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<usize>,
    /// Attributes to be reported together, as one with all combinations for categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<Vec<String>>,
}

impl FrontRequest {
    /// The most useful channel for a prior under which the best guess is wrong at least so often.
    pub fn of_privacy(prior: impl Into<Vec<f64>>, privacy: f64) -> Self {
        FrontRequest { prior: prior.into(), privacy: Some(privacy), ..Self::default() }
    }

    /// The most private channel for a prior with at most this average mean squared error.
    pub fn of_error(prior: impl Into<Vec<f64>>, mean_squared_error: f64) -> Self {
        FrontRequest { prior: prior.into(), utility: Some(mean_squared_error), ..Self::default() }
    }

    parameters! {
        /// The number of respondents that the error is about; 10,000 by default.
        respondents(respondents: f64): respondents = Some(respondents);
        /// No answer may make any category likelier than this; 1 by default.
        posterior_bound(bound: f64): posterior_bound = Some(bound);
        /// At most so many outputs.
        outputs(outputs: usize): outputs = Some(outputs);
        /// Attributes to be reported together, as one with all combinations for categories.
        cross(names: impl IntoIterator<Item = impl Into<String>>): cross = Some(texts(names));
    }
}

impl Design for FrontRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let aim = match (self.privacy, self.utility) {
            (Some(privacy), None) => Aim::Privacy(privacy),
            (None, Some(utility)) => {
                Aim::Utility { utility, respondents: self.respondents.unwrap_or(crate::DEFAULT_RESPONDENTS) }
            }
            (None, None) => return Err(DesignError::MissingParameter("this method needs `map_privacy` or `max_mse`")),
            (Some(_), Some(_)) => {
                return Err(DesignError::MissingParameter(
                    "`map_privacy` and `max_mse` are two ways to choose a point; give one of them",
                ));
            }
        };
        let goal = FrontProblem::new(Prior::stated_as(&self.prior)?, self.posterior_bound.unwrap_or(1.0))?;
        let schema = crossed_if_asked(schema, self.cross.as_deref())?;
        Ok(plan(&schema, &goal, aim, self.outputs, 1)?.0.into())
    }
}

/// How much is given away, relatively, so that rounding to integers does not break what was asked; the first that
/// suffices.
const MARGINS: [f64; 3] = [0.0, 1e-8, 1e-6];

/// A plan for one attribute whose channel is on the front for the goal's prior.
///
/// The certified MAP privacy is not below what was asked and the certified worst posterior not above the bound, both
/// for this prior only; there may be no epsilon at all. With `outputs` the channel has at most so many (heuristic).
///
/// # Errors
/// Unless the schema has one attribute to randomize and the prior a positive share for each of its categories; or if no
/// channel has what is asked.
pub fn plan(
    schema: &Schema,
    goal: &FrontProblem,
    aim: Aim,
    outputs: Option<usize>,
    seed: u64,
) -> Result<(Plan, ExactPoint), DesignError> {
    let (attribute, categories) = single_attribute(schema, "front")?;
    let prior = goal.prior();
    check_prior(schema, attribute, prior)?;
    let privacy = match aim {
        Aim::Privacy(privacy) => privacy,
        Aim::Utility { utility, respondents } => most_private(goal, utility * respondents * prior.len() as f64)?,
    };
    for margin in MARGINS {
        let Ok(tighter) = FrontProblem::new(prior.clone(), goal.bound() * (1.0 - margin)) else { break };
        let most = tighter.range().1;
        let asked = (privacy + margin).min(most).max(privacy);
        let point = match outputs {
            Some(outputs) => with_outputs(&tighter, asked, outputs, seed)?,
            None => exact(&tighter, asked)?,
        };
        let labels = (1..=point.channel.outputs()).map(|output| format!("o{output}")).collect();
        let matrix = Matrix::rounded(vec![categories], labels, &point.channel.columns(prior))?;
        let guess = matrix.guess(prior.stated()).ok_or(candor_base::plan::PlanError::Prior)?;
        let one = Rational::from(num_bigint::BigUint::from(1u32));
        let private = exactly(privacy).is_some_and(|privacy| guess.accuracy() + privacy <= one);
        let bounded = exactly(goal.bound()).is_some_and(|bound| *guess.worst() <= bound);
        // Less privacy than 1 - delta cannot be asked for: the bound alone gives that.
        if bounded && (private || privacy <= goal.range().0) {
            let origin = Origin { method: "front".to_owned(), requested: vec![None] };
            let plan = Plan::new(schema.clone(), vec![Block::new(vec![attribute], matrix)])?.with_origin(origin);
            return Ok((plan.with_prior(attribute, prior.stated().to_vec())?, point));
        }
    }
    Err(FrontError::Unsolved { privacy }.into())
}

/// The largest privacy at which the best channel has at most this variance, by bisection: the front rises with privacy.
fn most_private(goal: &FrontProblem, variance: f64) -> Result<f64, FrontError> {
    let (mut low, mut high) = goal.range();
    let least = exact(goal, low)?;
    if variance.is_nan() || least.lower_bound > variance {
        return Err(FrontError::Parameter {
            name: "max_mse",
            value: variance,
            range: "no channel within the posterior bound is that useful; ask for a larger error, more respondents or \
                    a larger bound",
        });
    }
    for _ in 0..20 {
        let middle = 0.5 * (low + high);
        match exact(goal, middle) {
            Ok(point) if point.measures.variance <= variance => low = middle,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// A plan whose answers were split, and what that changed.
#[derive(Clone, Debug)]
pub struct RefinedPlan {
    /// The plan.
    pub plan: Plan,
    /// What the given plan gives for the prior.
    pub before: Measures,
    /// What this one gives, certified privacy and worst posterior.
    pub after: Measures,
    /// How many answers there were, and are.
    pub outputs: (usize, usize),
}

/// The one attribute of a plan that can be refined, and `columns[truth][answer]` of its channel.
///
/// # Errors
/// If the plan randomizes several attributes, by a lottery, or answers with sets.
pub fn unrefined(plan: &Plan) -> Result<(usize, Vec<Vec<f64>>), DesignError> {
    let (attribute, categories) = single_attribute(plan.schema(), "refine")?;
    let wrong = |problem: &str| Err(FrontError::Channel(problem.to_owned()).into());
    let [(_, channel)] = plan.blocks()[0].channels() else {
        return wrong("the plan draws lots between channels; only a single channel can be refined");
    };
    match channel {
        Channel::Matrix(matrix) => {
            let column = |input| (0..matrix.labels().len()).map(|output| matrix.probability(output, input)).collect();
            Ok((attribute, (0..categories).map(column).collect()))
        }
        Channel::Pattern(pattern) if pattern.axes()[0].answer == 1 => {
            let kept = pattern.keep_probability(0);
            let other = (1.0 - kept) / (categories - 1) as f64;
            let column = |input| (0..categories).map(|output| if output == input { kept } else { other }).collect();
            Ok((attribute, (0..categories).map(column).collect()))
        }
        Channel::Pattern(_) | Channel::Strip(_) => {
            wrong("the plan answers with sets of categories, which are as sharp as they can be")
        }
    }
}

/// Splits the answers of a plan of one attribute into better ones, at equal privacy for the prior and within the
/// posterior bound (by default, what the plan already allows).
///
/// # Errors
/// As [`unrefined`], if the prior does not fit or has shares of zero, or if the plan has posteriors above the bound.
pub fn refine_plan(plan: &Plan, prior: Prior, bound: Option<f64>) -> Result<RefinedPlan, DesignError> {
    let (attribute, columns) = unrefined(plan)?;
    check_prior(plan.schema(), attribute, &prior)?;
    let channel = FrontChannel::from_columns(&prior, &columns)?;
    let present = measure(&channel, &prior);
    let goal = FrontProblem::new(prior, bound.unwrap_or(present.worst_posterior.clamp(f64::MIN_POSITIVE, 1.0)))?;
    let refined = refine(&goal, &channel)?;
    let categories = goal.prior().len();
    let outputs = (channel.outputs(), refined.channel.outputs());
    let labels = (1..=outputs.1).map(|output| format!("o{output}")).collect();
    let matrix = Matrix::rounded(vec![categories], labels, &refined.channel.columns(goal.prior()))?;
    let origin = Origin { method: "refine".to_owned(), requested: vec![None] };
    let better = Plan::new(plan.schema().clone(), vec![Block::new(vec![attribute], matrix)])?.with_origin(origin);
    let better = better.with_prior(attribute, goal.prior().stated().to_vec())?;
    let mut after = refined.after;
    if let Some(certified) = better.for_prior() {
        (after.privacy, after.worst_posterior) = (certified.map_privacy, certified.worst_posterior);
    }
    Ok(RefinedPlan { plan: better, before: refined.before, after, outputs })
}

/// Checks that a prior has a positive share for every category of the attribute.
fn check_prior(schema: &Schema, attribute: usize, prior: &Prior) -> Result<(), FrontError> {
    let attribute = &schema.attributes()[attribute];
    let (given, categories) = (prior.len() + prior.left_out(), attribute.categories().len());
    if given != categories {
        let problem = format!("has {given} shares, but \"{}\" has {categories} categories", attribute.name());
        return Err(FrontError::Prior(problem));
    }
    if prior.left_out() > 0 {
        let never = (0..categories).filter(|j| !prior.kept().contains(j)).map(|j| attribute.categories()[j].as_str());
        return Err(FrontError::Prior(format!(
            "gives probability 0 to {}: a plan must be able to randomize every category. Give it a small positive \
             share, or take it out of the schema",
            never.collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// What is asked is what the integers give, and the file carries it.
        #[test]
        fn the_certificate_keeps_what_was_asked(
            counts in prop::collection::vec(0.05f64..1.0, 2..7),
            over in 0.05f64..1.0,
            part in 0.0f64..0.95,
            rounded in any::<bool>(),
        ) {
            let prior = Prior::from_counts(&counts).unwrap();
            let prior = if rounded { prior.rounded() } else { prior };
            let bound = prior.largest() + over * (1.0 - prior.largest());
            let goal = FrontProblem::new(prior, bound).unwrap();
            let (least, most) = goal.range();
            let privacy = least + part * (most - least);
            let schema = Schema::with_sizes(&[counts.len()]).unwrap();
            let (plan, _) = plan(&schema, &goal, Aim::Privacy(privacy), None, 1).unwrap();
            let stated = plan.for_prior().unwrap();
            prop_assert!(stated.map_privacy >= privacy && stated.map_privacy < privacy + 1e-4);
            prop_assert!(stated.worst_posterior <= bound);
            prop_assert_eq!(&stated.prior, goal.prior().stated());
            let read = Plan::from_json(&plan.to_json()).unwrap();
            prop_assert_eq!(read.for_prior(), plan.for_prior());
        }
    }

    #[test]
    fn by_utility() {
        let goal = FrontProblem::new(Prior::new(&[0.4, 0.3, 0.2, 0.1]).unwrap(), 0.75).unwrap();
        let schema = Schema::with_sizes(&[4]).unwrap();
        // U* = 1.921569 at privacy 0.39 (front.md).
        let aim = Aim::Utility { utility: 1.921569 / (1000.0 * 4.0), respondents: 1000.0 };
        let (plan, point) = plan(&schema, &goal, aim, None, 1).unwrap();
        assert!((plan.for_prior().unwrap().map_privacy - 0.39).abs() < 1e-5);
        assert!(point.measures.utility(1000.0, 4) <= 1.921569 / 4000.0 * (1.0 + 1e-6));
    }

    /// Warner with p = 0.49 for ten equal shares (front.md): from 4.7929 to 2.0769, the optimum, with eleven answers.
    #[test]
    fn a_warner_plan_refined() {
        let schema = Schema::with_sizes(&[10]).unwrap();
        let warner = crate::k_ary::warner(&schema, 0.49).unwrap();
        let refined = refine_plan(&warner, Prior::uniform(10).unwrap(), Some(1.0)).unwrap();
        assert_eq!(refined.outputs, (10, 11));
        assert!((refined.before.variance - 4.7929).abs() < 5e-5 && (refined.after.variance - 2.0769).abs() < 5e-5);
        assert!((refined.after.privacy - refined.before.privacy).abs() < 1e-12);
        assert_eq!(refined.plan.for_prior().unwrap().map_privacy, refined.after.privacy);
        // Within what the plan allows already: no sharper, still better.
        let within = refine_plan(&warner, Prior::normal(10).unwrap(), None).unwrap();
        assert!(within.after.variance < 0.9 * within.before.variance);
        assert!(within.after.worst_posterior <= within.before.worst_posterior + 1e-12);
        let several = crate::independent::independent(&Schema::with_sizes(&[2, 2]).unwrap(), &[1.0, 1.0]).unwrap();
        assert!(refine_plan(&several, Prior::uniform(2).unwrap(), None).is_err());
        assert!(refine_plan(&warner, Prior::uniform(9).unwrap(), None).is_err());
    }

    #[test]
    fn what_cannot_be_planned() {
        let schema = Schema::with_sizes(&[3]).unwrap();
        let goal = |shares: &[f64], bound| FrontProblem::new(Prior::new(shares).unwrap(), bound).unwrap();
        let message = |goal: &FrontProblem, aim| plan(&schema, goal, aim, None, 1).unwrap_err().to_string();
        assert!(message(&goal(&[0.5, 0.5], 0.8), Aim::Privacy(0.3)).contains("2 shares, but \"a1\" has 3 categories"));
        assert!(message(&goal(&[0.5, 0.5, 0.0], 0.8), Aim::Privacy(0.3)).contains("probability 0 to 2"));
        assert!(message(&goal(&[0.98, 0.01, 0.01], 0.99), Aim::Privacy(0.5)).contains("Theorem 5"));
        let useless = Aim::Utility { utility: 1e-9, respondents: 100.0 };
        assert!(message(&goal(&[0.4, 0.3, 0.3], 0.8), useless).contains("that useful"));
    }
}
