//! A plan with what its design found out: bounds, what other methods would have cost, and what there is to know of it.

use candor::plan::Plan;
use serde::Serialize;

/// A plan and what is known about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Designed {
    /// The plan, certified.
    pub plan: Plan,
    /// No channel with the same marginal attribute epsilons has a smaller record epsilon.
    pub lower_bound: Option<f64>,
    /// Whether the search ended because its time was up.
    pub out_of_time: bool,
    /// What the same attribute epsilons would cost otherwise.
    pub alternatives: Vec<Alternative>,
    /// Attributes whose epsilon is not the one asked for.
    pub altered: Vec<Altered>,
    /// For a workload: how good the plan is.
    pub workload: Option<Goodness>,
    /// What else there is to know, in sentences.
    pub notes: Vec<String>,
    /// Whether a plan made for the tables would serve better.
    pub recommend_workload: bool,
}

/// Another method at the same attribute epsilons.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alternative {
    /// The method.
    pub method: &'static str,
    /// The record epsilon it would take.
    pub epsilon: f64,
    /// How many attribute epsilons would not be the ones asked for.
    pub altered: usize,
    /// How many of these would be larger.
    pub raised: usize,
}

impl Alternative {
    /// A method that meets every attribute epsilon at this record epsilon.
    pub(crate) fn exact(method: &'static str, epsilon: f64) -> Alternative {
        Alternative { method, epsilon, altered: 0, raised: 0 }
    }
}

/// An attribute epsilon that is not the one asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Altered {
    /// The attribute's name.
    pub attribute: String,
    /// What was asked for.
    pub asked: f64,
    /// What came out.
    pub achieved: f64,
}

/// How good a plan is for its workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Goodness {
    /// The error that was minimised, times the number of respondents.
    pub error: f64,
    /// No plan of its kind has a smaller error, or none that the search could find.
    pub lower_bound: f64,
    /// Whether the bound holds against all sets of patterns, not only those that the search tried.
    pub proven: bool,
    /// Other methods at the same total epsilon.
    pub others: Vec<OtherMethod>,
}

/// What another method would do for the same tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OtherMethod {
    /// The method.
    pub method: &'static str,
    /// The root mean square standard error over all tables; `None` if they cannot be estimated.
    pub standard_error: Option<f64>,
}

impl From<Plan> for Designed {
    fn from(plan: Plan) -> Designed {
        Designed {
            plan,
            lower_bound: None,
            out_of_time: false,
            alternatives: Vec::new(),
            altered: Vec::new(),
            workload: None,
            notes: Vec::new(),
            recommend_workload: false,
        }
    }
}
