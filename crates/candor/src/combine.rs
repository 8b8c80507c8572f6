//! Combines plans over disjoint attributes into one plan.

use candor_base::plan::Plan;
use candor_design::combine::combine as combined;
use serde::Serialize;

use crate::design::MAX_EPSILON;
use crate::error::StudyError;
use crate::guarantee::{CertifiedAttribute, ForPrior, certified, for_prior};

/// Limits on the combined plan.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CombineOptions {
    /// Largest accepted record-level epsilon. A combined plan may be unbounded if one of its parts is.
    pub max_epsilon: f64,
}

impl CombineOptions {
    candor_runtime::options! {
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
    /// Certified record-level epsilon, rounded up; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// Certified epsilons of each attribute.
    pub attributes: Vec<CertifiedAttribute>,
    /// The combined plans.
    pub parts: Vec<CombinedPart>,
    /// Guarantees for the prior of one of the plans, if it has one.
    pub for_prior: Option<ForPrior>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Fingerprint of the combined plan.
    pub fingerprint: String,
    /// The plan. Not in JSON; it is written to a file.
    #[serde(skip)]
    pub plan: Plan,
}

/// One of the combined plans.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CombinedPart {
    /// Method that made it.
    pub method: String,
    /// Attributes that it randomizes.
    pub attributes: Vec<String>,
    /// Record-level epsilon; `None` if unbounded.
    pub epsilon: Option<f64>,
    /// Its fingerprint.
    pub fingerprint: String,
}

/// Combines plans, so that each attribute is answered as in its plan, independently of the other plans.
///
/// # Errors
/// Returns [`StudyError`] if there are fewer than two plans, if two plans randomize the same attribute, or if the
/// sum of the epsilons exceeds the limit.
///
/// ```
/// use candor::prelude::*;
///
/// let text = |name: &str| format!("[[attribute]]\nname = \"{name}\"\ncategories = [\"no\", \"yes\"]");
/// let schema = |name: &str| Schema::from_toml(&text(name));
/// let plan = |schema: Schema| design(&schema, &Independent::new(1.0).into(), &DesignOptions::default());
/// let (first, second) = (plan(schema("smokes")?)?.plan, plan(schema("drinks")?)?.plan);
/// let both = combine(&[first, second], CombineOptions::default())?;
/// assert_eq!(both.plan.schema().attributes().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
            "The plans of {} were each certified for a prior. A plan states at most one prior, so this one states \
             none; an audit with a `prior` for each computes its guarantees under them",
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
