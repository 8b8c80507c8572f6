//! A better plan for one attribute, at equal privacy for a known prior.

use candor_base::channel::Epsilon;
use candor_base::plan::Plan;
use candor_design::DEFAULT_RESPONDENTS;
use candor_design::pareto::measure::Measures;
use candor_design::pareto::plan::refine_plan;
use candor_design::pareto::prior::Prior;
use serde::Serialize;

use crate::error::{StudyError, check_respondents};

/// How a plan may be refined.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RefineOptions {
    /// How likely an answer may make a truth; what the plan already allows if `None`.
    pub posterior_bound: Option<f64>,
    /// Whether a plan without any finite epsilon is accepted in place of one that has it.
    pub allow_unbounded: bool,
    /// For how many respondents utility is told.
    pub respondents: f64,
}

impl RefineOptions {
    options! {
        posterior_bound: impl Into<Option<f64>>,
        allow_unbounded: bool,
        respondents: f64,
    }
}

impl Default for RefineOptions {
    fn default() -> RefineOptions {
        RefineOptions { posterior_bound: None, allow_unbounded: false, respondents: DEFAULT_RESPONDENTS }
    }
}

/// A plan before and after.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Refinement {
    /// What the given plan gives for the prior.
    pub before: ChannelMeasures,
    /// What the better one gives, certified.
    pub after: ChannelMeasures,
    /// The better plan's fingerprint.
    pub fingerprint: String,
    /// Both epsilons, as they are shown. Not in JSON as such.
    #[serde(skip)]
    pub epsilons: (Epsilon, Epsilon),
    /// The better plan. Not in JSON: it is a file of its own.
    #[serde(skip)]
    pub plan: Plan,
}

/// What a plan gives for a prior.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChannelMeasures {
    /// How often the best guess of a truth is wrong.
    pub privacy: f64,
    /// The average mean squared error of the estimated shares; `None` if they cannot be estimated.
    pub utility: Option<f64>,
    /// The largest probability that any answer gives any truth.
    pub worst_posterior: f64,
    /// How many answers there are.
    pub outputs: usize,
    /// The plan's epsilon; `None` if unbounded.
    pub epsilon: Option<f64>,
}

/// Splits the answers of a plan of one attribute into several that a guesser can use no better, and an analyst can.
///
/// # Errors
/// If the plan is not of one attribute and one channel, the prior does not fit, or what was guaranteed whatever is
/// known beforehand would be lost.
pub fn refine(plan: &Plan, prior: Prior, options: &RefineOptions) -> Result<Refinement, StudyError> {
    check_respondents(options.respondents)?;
    let n = prior.len() as f64;
    let refined = refine_plan(plan, prior, options.posterior_bound)?;
    let (was, is) = (plan.guarantee().epsilon(), refined.plan.guarantee().epsilon());
    if let (Some(epsilon), None, false) = (was.finite(), is.finite(), options.allow_unbounded) {
        return Err(StudyError::LosesEpsilon { epsilon });
    }
    let utility = |m: &Measures| Some(m.variance / (options.respondents * n)).filter(|utility| utility.is_finite());
    let side = |m: &Measures, outputs: usize, epsilon: Option<f64>| ChannelMeasures {
        privacy: m.privacy,
        utility: utility(m),
        worst_posterior: m.worst_posterior,
        outputs,
        epsilon,
    };
    Ok(Refinement {
        before: side(&refined.before, refined.outputs.0, was.finite()),
        after: side(&refined.after, refined.outputs.1, is.finite()),
        fingerprint: refined.plan.fingerprint().as_str().to_owned(),
        epsilons: (was, is),
        plan: refined.plan,
    })
}
