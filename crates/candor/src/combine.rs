//! Plans over disjoint attributes as one.

use candor_base::plan::Plan;
use candor_design::combine::combine as combined;
use serde::Serialize;

use crate::design::MAX_EPSILON;
use crate::error::StudyError;
use crate::guarantee::{CertifiedAttribute, ForPrior, certified, for_prior};

/// What is allowed of the combined plan.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CombineOptions {
    /// A plan with a larger record epsilon is refused. One without any is not, if a part has none.
    pub max_epsilon: f64,
}

impl CombineOptions {
    options! {
        max_epsilon: f64,
    }
}

impl Default for CombineOptions {
    fn default() -> CombineOptions {
        CombineOptions { max_epsilon: MAX_EPSILON }
    }
}

/// A combined plan.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Combination {
    /// Its record epsilon, certified, rounded up; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// What is certified of each attribute.
    pub attributes: Vec<CertifiedAttribute>,
    /// The plans that were combined.
    pub parts: Vec<CombinedPart>,
    /// What it gives for the prior that one of them was made for.
    pub for_prior: Option<ForPrior>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// Its fingerprint.
    pub fingerprint: String,
    /// The plan. Not in JSON: it is a file of its own.
    #[serde(skip)]
    pub plan: Plan,
}

/// One of the plans.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CombinedPart {
    /// The method that made it.
    pub method: String,
    /// The attributes that it randomizes.
    pub attributes: Vec<String>,
    /// Its record epsilon; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// Its fingerprint.
    pub fingerprint: String,
}

/// The plan that answers every attribute as its own plan does, independently of the others.
///
/// # Errors
/// If there are fewer than two plans, an attribute is randomized in two, or the sum of the epsilons would protect
/// nobody.
pub fn combine(plans: &[Plan], options: CombineOptions) -> Result<Combination, StudyError> {
    if options.max_epsilon.is_nan() {
        let (name, range) = ("max_epsilon", "it is a number, 0 or more");
        return Err(StudyError::Parameter { name, value: options.max_epsilon, range });
    }
    let found = combined(plans)?;
    let epsilon = found.plan.guarantee().epsilon().finite();
    if let Some(epsilon) = epsilon.filter(|epsilon| *epsilon > options.max_epsilon) {
        return Err(StudyError::ProtectsNobody { epsilon, limit: options.max_epsilon });
    }
    let part = |plan: &Plan| CombinedPart {
        method: plan.origin().method.clone(),
        attributes: plan.schema().randomized().iter().map(|&place| plan.schema().name(place).to_owned()).collect(),
        epsilon: plan.guarantee().epsilon().finite(),
        fingerprint: plan.fingerprint().as_str().to_owned(),
    };
    let unstated = (!found.unstated.is_empty()).then(|| {
        format!(
            "The plans of {} were certified for a prior each. A plan states one prior at most, so that this one states \
             none; what it gives for priors is computed by `audit` with a `prior` for each",
            found.unstated.join(" and ")
        )
    });
    Ok(Combination {
        epsilon,
        attributes: certified(&found.plan),
        parts: plans.iter().map(part).collect(),
        for_prior: for_prior(&found.plan),
        notes: unstated.into_iter().collect(),
        fingerprint: found.plan.fingerprint().as_str().to_owned(),
        plan: found.plan,
    })
}
