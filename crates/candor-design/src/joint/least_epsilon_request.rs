//! Requests for the privacy-optimal plan, which is compared with other methods for the same attribute epsilons.

use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use super::least_epsilon::search::SearchLimits;
use super::least_epsilon::{optimal, optimal_within};
use super::single_miss;
use crate::outcome::{AlternativeMethod, DesignOutcome};
use crate::traits::{Candidates, ComparisonTarget, Design, parameters};
use crate::{DesignError, budget, randomized_attributes};

/// Parameters of the optimum: attribute epsilons to be met, or a record-level epsilon with a ratio.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimalRequest {
    /// Epsilon of each attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute_epsilon: Option<Vec<f64>>,
    /// Record-level epsilon, for which attribute epsilons in the ratio are as large as possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// The ratio of the attribute epsilons; equal by default.
    #[serde(
        rename(serialize = "ratio", deserialize = "budget_split"),
        alias = "ratio",
        skip_serializing_if = "Option::is_none"
    )]
    pub ratio: Option<Vec<f64>>,
    /// Search time limit in seconds; [`DEFAULT_TIME_LIMIT_SECS`](candor_runtime::progress::DEFAULT_TIME_LIMIT_SECS) by
    /// default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
}

impl OptimalRequest {
    /// Creates a request for the largest attribute epsilons at this record-level epsilon.
    pub fn new(epsilon: f64) -> Self {
        OptimalRequest { epsilon: Some(epsilon), attribute_epsilon: None, ratio: None, time_limit: None }
    }

    /// Creates a request for the least record-level epsilon with these attribute epsilons.
    pub fn with_attribute_epsilons(epsilons: impl Into<Vec<f64>>) -> Self {
        OptimalRequest { attribute_epsilon: Some(epsilons.into()), epsilon: None, ratio: None, time_limit: None }
    }

    parameters! {
        /// Sets the ratio in which the record-level epsilon is allocated; equal by default.
        budget_split(ratio: impl Into<Vec<f64>>): ratio = Some(ratio.into());
        /// Sets the search time limit in seconds.
        time_limit(seconds: f64): time_limit = Some(seconds);
    }
}

impl Design for OptimalRequest {
    fn design(&self, schema: &Schema, progress: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let attributes = randomized_attributes(schema)?.len();
        let effort = SearchLimits::within(attributes, self.time_limit, progress);
        let found = match (&self.attribute_epsilon, self.epsilon) {
            (Some(epsilons), None) => optimal(schema, epsilons, effort)?,
            (None, Some(total)) => {
                optimal_within(schema, total, &budget::ratio(self.ratio.as_deref(), attributes)?, effort)?
            }
            (None, None) => {
                return Err(DesignError::MissingParameter(
                    "this method needs `attribute_epsilon` (one per attribute) or `epsilon` (a total)",
                ));
            }
            (Some(_), Some(_)) => {
                return Err(DesignError::MissingParameter(
                    "`epsilon` and `attribute_epsilon` contradict each other; give one of them",
                ));
            }
        };
        let epsilons: Vec<f64> = found.plan.origin().requested.iter().map(|e| e.unwrap_or(0.0)).collect();
        Ok(DesignOutcome {
            lower_bound: Some(found.lower_bound),
            stopped: found.stopped,
            alternatives: alternatives(schema, &epsilons),
            ..DesignOutcome::from(found.plan)
        })
    }

    fn at(_: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        let time_limit = goal.time_limit.map(|limit| limit.as_secs_f64());
        vec![(None, Ok(OptimalRequest { epsilon: Some(goal.epsilon), time_limit, ..OptimalRequest::default() }))]
    }
}

/// Returns the record-level epsilons of other methods for the same attribute epsilons.
fn alternatives(schema: &Schema, epsilons: &[f64]) -> Vec<AlternativeMethod> {
    let sizes = schema.randomized().into_iter().map(|a| schema.attributes()[a].categories().len() as f64);
    let positive: Vec<(f64, f64)> = sizes.zip(epsilons.iter().copied()).filter(|(_, e)| *e > 0.0).collect();
    // {no miss} must gain the largest need of any attribute: exp(epsilon) - 1 = max b / P(no miss).
    let need = positive.iter().map(|(a, e)| e.exp_m1() / a).fold(0.0, f64::max);
    let everything: f64 = positive.iter().map(|(a, _)| a.ln()).sum();
    let joint = if need > 0.0 { softplus(need.ln() + everything) } else { 0.0 };
    let mut all = vec![
        AlternativeMethod::exact("independent (Kronecker)", epsilons.iter().sum()),
        AlternativeMethod::exact("joint (RR-Joint)", joint),
    ];
    if let Ok(found) = single_miss::heuristic(schema, epsilons, &single_miss::by_need(schema, epsilons)) {
        let raised = found.altered.iter().filter(|&&(i, achieved)| achieved > epsilons[i]).count();
        let epsilon = found.plan.guarantee().epsilon().as_f64();
        all.push(AlternativeMethod { method: "heuristic", epsilon, altered: found.altered.len(), raised });
    }
    all
}

/// Returns `ln(1 + exp(x))`.
fn softplus(x: f64) -> f64 {
    if x > 30.0 { x } else { x.exp().ln_1p() }
}
