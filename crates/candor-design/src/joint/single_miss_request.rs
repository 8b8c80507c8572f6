//! Requests for methods that distinguish single misses only.
//!
//! They are the heuristic, the optimum of its kind, and the closed form for two attributes.

use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use super::single_miss::{Heuristic, by_need, heuristic, heuristic_within, reduced, two_attribute};
use crate::budget::ratio;
use crate::outcome::{AdjustedEpsilon, DesignOutcome};
use crate::traits::{Candidates, ComparisonTarget, Design, parameters, texts};
use crate::{DesignError, randomized_attributes};

/// Parameters of the heuristic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeuristicRequest {
    /// Record-level epsilon, for which attribute epsilons are as large as possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// The ratio of the attribute epsilons, with a record-level epsilon; equal by default.
    #[serde(
        rename(serialize = "ratio", deserialize = "budget_split"),
        alias = "ratio",
        skip_serializing_if = "Option::is_none"
    )]
    pub ratio: Option<Vec<f64>>,
    /// Epsilon of each attribute, instead of a record-level epsilon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute_epsilon: Option<Vec<f64>>,
    /// The names of the attributes in processing order; by default, those with the largest need come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    /// Whether larger attribute epsilons than requested are accepted.
    #[serde(
        rename(serialize = "allow_weaker", deserialize = "allow_larger_epsilon"),
        alias = "allow_weaker",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub allow_weaker: bool,
}

impl HeuristicRequest {
    /// Creates a request for attribute epsilons as large as this record-level epsilon allows.
    pub fn new(epsilon: f64) -> Self {
        HeuristicRequest { epsilon: Some(epsilon), ..Self::default() }
    }

    /// Creates a request with one epsilon for each attribute.
    pub fn with_attribute_epsilons(epsilons: impl Into<Vec<f64>>) -> Self {
        HeuristicRequest { attribute_epsilon: Some(epsilons.into()), ..Self::default() }
    }

    parameters! {
        /// Sets the ratio in which the record-level epsilon is allocated; equal by default.
        budget_split(ratio: impl Into<Vec<f64>>): ratio = Some(ratio.into());
        /// Sets the order in which attributes are processed; by default, those with the largest need come first.
        order(names: impl IntoIterator<Item = impl Into<String>>): order = Some(texts(names));
    }

    parameters! {
        /// Accepts larger attribute epsilons than requested.
        allow_larger_epsilon: allow_weaker;
    }
}

impl HeuristicRequest {
    /// Returns the plan, the requested or derived attribute epsilons, and the order of the attributes.
    fn found(&self, schema: &Schema) -> Result<(Heuristic, Vec<f64>, Vec<usize>), DesignError> {
        match (&self.attribute_epsilon, self.epsilon) {
            (Some(asked), None) => {
                let order = self.positions(schema, asked)?;
                Ok((heuristic(schema, asked, &order)?, asked.clone(), order))
            }
            (None, Some(_)) if self.order.is_some() => Err(DesignError::MissingParameter(
                "`order` goes with `attribute_epsilon`; with a total the neediest come first",
            )),
            (None, Some(total)) => {
                let found = heuristic_within(
                    schema,
                    total,
                    &ratio(self.ratio.as_deref(), randomized_attributes(schema)?.len())?,
                )?;
                let asked: Vec<f64> = found.plan.origin().requested.iter().copied().flatten().collect();
                let order = by_need(schema, &asked);
                Ok((found, asked, order))
            }
            _ => Err(DesignError::MissingParameter(
                "this method needs `epsilon` (a total) or `attribute_epsilon` (one per attribute)",
            )),
        }
    }

    /// Returns the order in which the randomized attributes are processed, by their places among them.
    fn positions(&self, schema: &Schema, epsilons: &[f64]) -> Result<Vec<usize>, DesignError> {
        let Some(names) = &self.order else { return Ok(by_need(schema, epsilons)) };
        let private = schema.randomized();
        let place = |name: &String| {
            let attribute = schema.position(name)?;
            private.iter().position(|&a| a == attribute).ok_or_else(|| DesignError::Public(name.clone()))
        };
        names.iter().map(place).collect()
    }
}

impl Design for HeuristicRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let (found, asked, order) = self.found(schema)?;
        let private = schema.randomized();
        let name = |i: usize| schema.attributes()[private[i]].name().to_owned();
        let altered: Vec<AdjustedEpsilon> = found
            .altered
            .iter()
            .map(|&(i, achieved)| AdjustedEpsilon { attribute: name(i), asked: asked[i], achieved })
            .collect();
        let weaker = altered.iter().filter(|altered| altered.achieved > altered.asked);
        let raised: Vec<String> =
            weaker.map(|a| format!("{} {:.4} instead of {}", a.attribute, a.achieved, a.asked)).collect();
        if !raised.is_empty() && !self.allow_weaker {
            return Err(DesignError::Weaker { attributes: asked.len(), raised });
        }
        let names: Vec<String> = order.iter().map(|&i| name(i)).collect();
        let mut note = format!("The attributes were taken in the order {}; the result depends on it", names.join(", "));
        let as_listed: Vec<usize> = (0..order.len()).collect();
        if order != as_listed
            && let Ok(other) = heuristic(schema, &asked, &as_listed)
        {
            let (epsilon, n) = (other.plan.guarantee().epsilon(), other.altered.len());
            let epsilons = if n == 1 { "attribute epsilon" } else { "attribute epsilons" };
            note +=
                &format!(": in the schema's order the record-level epsilon is {epsilon}, with {n} {epsilons} altered");
        }
        Ok(DesignOutcome { altered, notes: vec![note + "."], ..DesignOutcome::from(found.plan) })
    }

    fn at(schema: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        let request = || {
            let found = heuristic_within(schema, goal.epsilon, &vec![1.0; randomized_attributes(schema)?.len()])?;
            let asked: Vec<f64> = found.plan.origin().requested.iter().copied().flatten().collect();
            let allow_weaker = found.altered.iter().any(|&(i, achieved)| achieved > asked[i]);
            Ok(HeuristicRequest { epsilon: Some(goal.epsilon), allow_weaker, ..HeuristicRequest::default() })
        };
        vec![(None, request())]
    }
}

/// Parameters of the optimum among channels that distinguish single misses only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReducedRequest {
    /// Epsilon of each attribute.
    pub attribute_epsilon: Vec<f64>,
}

impl ReducedRequest {
    /// Creates a request with one epsilon for each attribute.
    pub fn new(epsilons: impl Into<Vec<f64>>) -> Self {
        ReducedRequest { attribute_epsilon: epsilons.into() }
    }
}

impl Design for ReducedRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        Ok(reduced(schema, &self.attribute_epsilon)?.into())
    }
}

/// Parameters of the closed form for two attributes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwoAttributeRequest {
    /// The two epsilons.
    pub attribute_epsilon: Vec<f64>,
}

impl TwoAttributeRequest {
    /// Creates a request with these two epsilons.
    pub fn new(epsilons: impl Into<Vec<f64>>) -> Self {
        TwoAttributeRequest { attribute_epsilon: epsilons.into() }
    }
}

impl Design for TwoAttributeRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        Ok(two_attribute(schema, &self.attribute_epsilon)?.into())
    }
}
