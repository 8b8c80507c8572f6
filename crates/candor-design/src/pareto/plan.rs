//! Plans from points of the front: integers whose certificate meets the request.

use candor_base::channel::{Channel, Matrix, Rational, exact as exactly};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use super::channel::FrontChannel;
use super::exact::{ExactPoint, exact};
use super::loss::{Loss, rounded_down};
use super::measure::{Measures, measure};
use super::outputs::with_outputs;
use super::prior::Prior;
use super::refine::refine;
use super::{FrontError, FrontProblem};
use crate::cross::crossed_if_asked;
use crate::outcome::DesignOutcome;
use crate::traits::{Design, parameters, texts};
use crate::{DesignError, single_attribute};

/// A point of the front.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// At least this privacy (Huang and Du 2008, eq. 8).
    Privacy(f64),
    /// As private as possible with at most this average mean squared error (eq. 10).
    Error {
        /// Average mean squared error.
        mse: f64,
        /// Number of respondents.
        respondents: f64,
    },
}

/// Parameters of a point of the front: a prior, and the required privacy or error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontRequest {
    /// The prior probability of each category, in order, as stated in the plan; only ratios matter.
    pub prior: Vec<f64>,
    /// Smallest privacy: the probability that the best guess is wrong.
    #[serde(
        rename(serialize = "privacy", deserialize = "map_privacy"),
        alias = "privacy",
        skip_serializing_if = "Option::is_none"
    )]
    pub map_privacy: Option<f64>,
    /// Largest average mean squared error, instead of a privacy.
    #[serde(
        rename(serialize = "utility", deserialize = "max_mse"),
        alias = "utility",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_mse: Option<f64>,
    /// Number of respondents for the error; 10,000 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub respondents: Option<f64>,
    /// Largest posterior of any category given any answer; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posterior_bound: Option<f64>,
    /// Maximum number of outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<usize>,
    /// What a wrong guess costs; without it every wrong guess costs the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Attributes to cross-classify, so that they are reported together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<Vec<String>>,
}

impl FrontRequest {
    /// Creates a request for the channel with the smallest error for a prior, with at least this privacy.
    pub fn with_map_privacy(prior: impl Into<Vec<f64>>, map_privacy: f64) -> Self {
        FrontRequest { prior: prior.into(), map_privacy: Some(map_privacy), ..Self::default() }
    }

    /// Creates a request for the most private channel for a prior, with at most this average mean squared error.
    pub fn with_max_mse(prior: impl Into<Vec<f64>>, max_mse: f64) -> Self {
        FrontRequest { prior: prior.into(), max_mse: Some(max_mse), ..Self::default() }
    }

    parameters! {
        /// Sets the number of respondents for the error; 10,000 by default.
        respondents(respondents: f64): respondents = Some(respondents);
        /// Sets the largest posterior of any category given any answer; 1 by default.
        posterior_bound(bound: f64): posterior_bound = Some(bound);
        /// Sets the maximum number of outputs.
        outputs(outputs: usize): outputs = Some(outputs);
        /// What a wrong guess costs; privacy is then the expected loss as a share of the largest.
        loss(loss: Loss): loss = Some(loss);
        /// Sets the attributes to cross-classify, so that they are reported together.
        cross(names: impl IntoIterator<Item = impl Into<String>>): cross = Some(texts(names));
    }
}

impl Design for FrontRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let aim = match (self.map_privacy, self.max_mse) {
            (Some(privacy), None) => Aim::Privacy(privacy),
            (None, Some(mse)) => {
                Aim::Error { mse, respondents: self.respondents.unwrap_or(crate::DEFAULT_RESPONDENTS) }
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
        let Some(loss) = &self.loss else { return Ok(plan(&schema, &goal, aim, self.outputs, 1)?.0.into()) };
        let (attribute, _) = single_attribute(&schema, "front")?;
        let goal = goal.with_loss(loss.clone(), Some(schema.attributes()[attribute].categories()))?;
        let (plan, _) = plan(&schema, &goal, aim, self.outputs, 1)?;
        let note = certified_loss(&goal, &plan).map(|(privacy, largest)| {
            format!(
                "For the stated prior and this loss the best guess loses at least {:.4} on average: privacy \
                 {privacy:.4} times the largest loss, {largest}. Certified from the plan's integers.",
                privacy * largest
            )
        });
        Ok(DesignOutcome { notes: note.into_iter().collect(), ..plan.into() })
    }
}

/// Relative margins, so that rounding to integers does not violate the request; the first sufficient one is used.
const MARGINS: [f64; 3] = [0.0, 1e-8, 1e-6];

/// Designs a plan for one attribute whose channel is on the front for the goal's prior.
///
/// The certified MAP privacy is at least the requested one, and the certified worst posterior at most the bound. Both
/// hold for this prior only, and epsilon may be unbounded. With `outputs` the channel has at most that many
/// (heuristic).
///
/// # Errors
/// Returns an error unless the schema has one attribute to randomize and the prior has a positive share for each of its
/// categories. Returns a [`FrontError`] if no channel meets the request.
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
        Aim::Error { mse, respondents } => most_private(goal, mse * respondents * prior.len() as f64)?,
    };
    for margin in MARGINS {
        let Ok(tighter) = goal.with_bound(goal.bound() * (1.0 - margin)) else { break };
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
        let private = exactly(privacy).is_some_and(|privacy| match goal.accuracy() {
            Some(loss) => loss.certified(&matrix, prior.stated()).is_some_and(|certified| certified >= privacy),
            None => guess.accuracy() + privacy <= one,
        });
        let bounded = exactly(goal.bound()).is_some_and(|bound| *guess.worst() <= bound);
        // A privacy below 1 - delta has no effect: the bound alone guarantees that.
        if bounded && (private || privacy <= goal.range().0) {
            let origin = Origin { method: "front".to_owned(), requested: vec![None] };
            let plan = Plan::new(schema.clone(), vec![Block::new(vec![attribute], matrix)])?.with_origin(origin);
            return Ok((plan.with_prior(attribute, prior.stated().to_vec())?, point));
        }
    }
    Err(FrontError::Unsolved { privacy }.into())
}

/// The privacy of a plan for the goal's prior and loss, from its integers and rounded down, and the largest loss.
fn certified_loss(goal: &FrontProblem, plan: &Plan) -> Option<(f64, f64)> {
    let (accuracy, Channel::Matrix(matrix)) = (goal.accuracy()?, &plan.blocks()[0].channels()[0].1) else {
        return None;
    };
    Some((rounded_down(&accuracy.certified(matrix, goal.prior().stated())?), accuracy.largest()))
}

/// Returns the largest privacy at which the best channel has at most this variance, by bisection.
///
/// The variance of the front increases with privacy.
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

/// A plan whose answers were split, with the effects.
#[derive(Clone, Debug)]
pub struct RefinedPlan {
    /// The plan.
    pub plan: Plan,
    /// Measures of the given plan for the prior.
    pub before: Measures,
    /// Measures of this plan, with certified privacy and worst posterior.
    pub after: Measures,
    /// Number of answers before and after.
    pub outputs: (usize, usize),
    /// The largest loss, if guesses are measured by one.
    pub largest_loss: Option<f64>,
}

/// Returns the only attribute of a plan that can be refined, and `columns[category][answer]` of its channel.
///
/// # Errors
/// Returns [`DesignError::OneAttribute`] if the plan randomizes several attributes, and a [`FrontError::Channel`] if it
/// has a lottery or answers with sets.
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

/// Splits the answers of a plan of one attribute into better ones, at equal privacy for the prior.
///
/// Posteriors stay within the bound, which by default is the plan's own worst posterior.
///
/// # Errors
/// Returns the errors of [`unrefined`], and a [`FrontError`] if the prior does not fit or has shares of zero, or if the
/// plan has posteriors above the bound.
pub fn refine_plan(
    plan: &Plan,
    prior: Prior,
    bound: Option<f64>,
    loss: Option<&Loss>,
) -> Result<RefinedPlan, DesignError> {
    let (attribute, columns) = unrefined(plan)?;
    check_prior(plan.schema(), attribute, &prior)?;
    let channel = FrontChannel::from_columns(&prior, &columns)?;
    let present = measure(&channel, &prior);
    let goal = FrontProblem::new(prior, bound.unwrap_or(present.worst_posterior.clamp(f64::MIN_POSITIVE, 1.0)))?;
    let goal = match loss {
        Some(loss) => goal.with_loss(loss.clone(), Some(plan.schema().attributes()[attribute].categories()))?,
        None => goal,
    };
    if let Some(guesses) = goal.accuracy() {
        guesses.vertices()?;
    }
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
    if let Some((privacy, _)) = certified_loss(&goal, &better) {
        after.privacy = privacy;
    }
    Ok(RefinedPlan { plan: better, before: refined.before, after, outputs, largest_loss: goal.largest_loss() })
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
        /// The integers meet the request, and the file contains the guarantee.
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

    /// The expected loss that is asked for is what the integers give.
    #[test]
    fn plans_for_a_loss_keep_what_was_asked() {
        let schema = Schema::with_sizes(&[4]).unwrap();
        let goal = FrontProblem::new(Prior::new(&[0.4, 0.3, 0.2, 0.1]).unwrap(), 0.9).unwrap();
        let goal = goal.with_loss(Loss::Named("ordinal".to_owned()), None).unwrap();
        let (least, most) = goal.range();
        for part in [0.0, 0.3, 0.6, 0.9] {
            let privacy = least + part * (most - least);
            let (plan, point) = plan(&schema, &goal, Aim::Privacy(privacy), None, 1).unwrap();
            let (certified, largest) = certified_loss(&goal, &plan).unwrap();
            assert!(certified >= privacy || part == 0.0, "{certified} {privacy}");
            assert!((certified - point.measures.privacy).abs() < 1e-6 && largest == 3.0);
            assert!(plan.for_prior().unwrap().worst_posterior <= 0.9);
        }
        let request: crate::Request = serde_json::from_value(serde_json::json!({
            "method": "front", "prior": [0.4, 0.3, 0.2, 0.1], "map_privacy": 0.2, "loss": "ordinal",
        }))
        .unwrap();
        let made = crate::design(&schema, &request).unwrap();
        assert!(made.notes[0].contains("largest loss, 3"), "{:?}", made.notes);
        assert!(made.plan.request().unwrap().contains("\"loss\":\"ordinal\""));
    }

    #[test]
    fn by_error() {
        let goal = FrontProblem::new(Prior::new(&[0.4, 0.3, 0.2, 0.1]).unwrap(), 0.75).unwrap();
        let schema = Schema::with_sizes(&[4]).unwrap();
        // U* = 1.921569 at privacy 0.39 (front.md).
        let aim = Aim::Error { mse: 1.921569 / (1000.0 * 4.0), respondents: 1000.0 };
        let (plan, point) = plan(&schema, &goal, aim, None, 1).unwrap();
        assert!((plan.for_prior().unwrap().map_privacy - 0.39).abs() < 1e-5);
        assert!(point.measures.mse(1000.0, 4) <= 1.921569 / 4000.0 * (1.0 + 1e-6));
    }

    /// Warner with p = 0.49 for ten equal shares (front.md): from 4.7929 to 2.0769, the optimum, with eleven answers.
    #[test]
    fn a_warner_plan_refined() {
        let schema = Schema::with_sizes(&[10]).unwrap();
        let warner = crate::k_ary::warner(&schema, 0.49).unwrap();
        let refined = refine_plan(&warner, Prior::uniform(10).unwrap(), Some(1.0), None).unwrap();
        assert_eq!(refined.outputs, (10, 11));
        assert!((refined.before.variance - 4.7929).abs() < 5e-5 && (refined.after.variance - 2.0769).abs() < 5e-5);
        assert!((refined.after.privacy - refined.before.privacy).abs() < 1e-12);
        assert_eq!(refined.plan.for_prior().unwrap().map_privacy, refined.after.privacy);
        // Within the posteriors that the plan already has: no sharper, but still better.
        let within = refine_plan(&warner, Prior::normal(10).unwrap(), None, None).unwrap();
        assert!(within.after.variance < 0.9 * within.before.variance);
        assert!(within.after.worst_posterior <= within.before.worst_posterior + 1e-12);
        let several = crate::independent::independent(&Schema::with_sizes(&[2, 2]).unwrap(), &[1.0, 1.0]).unwrap();
        assert!(refine_plan(&several, Prior::uniform(2).unwrap(), None, None).is_err());
        assert!(refine_plan(&warner, Prior::uniform(9).unwrap(), None, None).is_err());
    }

    #[test]
    fn what_cannot_be_planned() {
        let schema = Schema::with_sizes(&[3]).unwrap();
        let goal = |shares: &[f64], bound| FrontProblem::new(Prior::new(shares).unwrap(), bound).unwrap();
        let message = |goal: &FrontProblem, aim| plan(&schema, goal, aim, None, 1).unwrap_err().to_string();
        assert!(message(&goal(&[0.5, 0.5], 0.8), Aim::Privacy(0.3)).contains("2 shares, but \"a1\" has 3 categories"));
        assert!(message(&goal(&[0.5, 0.5, 0.0], 0.8), Aim::Privacy(0.3)).contains("probability 0 to 2"));
        assert!(message(&goal(&[0.98, 0.01, 0.01], 0.99), Aim::Privacy(0.5)).contains("Theorem 5"));
        let useless = Aim::Error { mse: 1e-9, respondents: 100.0 };
        assert!(message(&goal(&[0.4, 0.3, 0.3], 0.8), useless).contains("that useful"));
    }
}
