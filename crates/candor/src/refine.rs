//! Improves the plan of one attribute without loss of privacy, for a known prior.

use candor_base::channel::Epsilon;
use candor_base::plan::Plan;
use candor_design::DEFAULT_RESPONDENTS;
use candor_design::pareto::loss::Loss;
use candor_design::pareto::measure::Measures;
use candor_design::pareto::plan::refine_plan;
use candor_design::pareto::prior::Prior;
use serde::Serialize;

use crate::error::{StudyError, check_respondents};

/// Limits on the refined plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RefineOptions {
    /// Upper bound on any posterior; `None` for that of the given plan.
    pub posterior_bound: Option<f64>,
    /// Whether an unbounded plan is accepted in place of one with a finite epsilon.
    pub allow_unbounded: bool,
    /// Number of respondents for the mean squared errors.
    pub respondents: f64,
    /// Loss of a wrong guess; `None` if every wrong guess costs the same.
    pub loss: Option<Loss>,
}

impl RefineOptions {
    candor_runtime::options! {
        posterior_bound: impl Into<Option<f64>>,
        allow_unbounded: bool,
        respondents: f64,
        loss: impl Into<Option<Loss>>,
    }
}

impl Default for RefineOptions {
    fn default() -> RefineOptions {
        RefineOptions { posterior_bound: None, allow_unbounded: false, respondents: DEFAULT_RESPONDENTS, loss: None }
    }
}

/// A plan before and after refinement.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Refinement {
    /// Measures of the given plan for the prior.
    pub before: ChannelMeasures,
    /// Certified measures of the refined plan.
    pub after: ChannelMeasures,
    /// Largest loss of a guess, if there is a loss: privacy times this is the expected loss of the best guess.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_loss: Option<f64>,
    /// Fingerprint of the refined plan.
    pub fingerprint: String,
    /// Epsilons of both plans. Not in JSON directly; see `before` and `after`.
    #[serde(skip)]
    pub epsilons: (Epsilon, Epsilon),
    /// The refined plan. Not in JSON; it is written to a file.
    #[serde(skip)]
    pub plan: Plan,
}

/// Privacy and error of a plan for a prior.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChannelMeasures {
    /// Probability that the best guess of the true value is wrong, or its expected loss as a share of the largest.
    pub privacy: f64,
    /// Mean squared error of the estimated shares, averaged over the categories; `None` if they are not identifiable.
    #[serde(flatten, serialize_with = "crate::old_keys::mse")]
    pub mse: Option<f64>,
    /// Largest posterior of any category given any answer.
    pub worst_posterior: f64,
    /// Number of outputs.
    pub outputs: usize,
    /// Epsilon of the plan; `None` if unbounded.
    pub epsilon: Option<f64>,
}

/// Splits the answers of a plan of one attribute, so that estimates improve while guess accuracy stays the same.
///
/// # Errors
/// Returns [`StudyError`] if the plan has several attributes or channels, or the prior does not fit.
/// Returns [`StudyError::LosesEpsilon`] if the guarantee for every prior would be lost.
pub fn refine(plan: &Plan, prior: Prior, options: &RefineOptions) -> Result<Refinement, StudyError> {
    check_respondents(options.respondents)?;
    let n = prior.len() as f64;
    let refined = refine_plan(plan, prior, options.posterior_bound, options.loss.as_ref())?;
    let (was, is) = (plan.guarantee().epsilon(), refined.plan.guarantee().epsilon());
    if let (Some(epsilon), None, false) = (was.finite(), is.finite(), options.allow_unbounded) {
        return Err(StudyError::LosesEpsilon { epsilon });
    }
    let mse = |m: &Measures| Some(m.variance / (options.respondents * n)).filter(|mse| mse.is_finite());
    let side = |m: &Measures, outputs: usize, epsilon: Option<f64>| ChannelMeasures {
        privacy: m.privacy,
        mse: mse(m),
        worst_posterior: m.worst_posterior,
        outputs,
        epsilon,
    };
    Ok(Refinement {
        before: side(&refined.before, refined.outputs.0, was.finite()),
        after: side(&refined.after, refined.outputs.1, is.finite()),
        largest_loss: refined.largest_loss,
        fingerprint: refined.plan.fingerprint().as_str().to_owned(),
        epsilons: (was, is),
        plan: refined.plan,
    })
}
