//! RR-Independent: every attribute is randomized independently of the others.
//!
//! See Domingo-Ferrer and Soria-Comas 2020, section 3; it is the Kronecker product of Yamamoto and Shibuya 2024.

use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::outcome::DesignOutcome;
use crate::traits::{Candidates, ComparisonTarget, Design, parameters};
use crate::{DesignError, compliance_check, randomized_attributes};

/// Parameters of RR-Independent: `epsilon` (with a `ratio`), `attribute_epsilon` or `q`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndependentRequest {
    /// Record-level epsilon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// Allocation of the record-level epsilon; equal by default.
    #[serde(
        rename(serialize = "ratio", deserialize = "budget_split"),
        alias = "ratio",
        skip_serializing_if = "Option::is_none"
    )]
    pub ratio: Option<Vec<f64>>,
    /// Epsilon of each attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute_epsilon: Option<Vec<f64>>,
    /// Probability of keeping the true category of each attribute, rather than drawing uniformly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<f64>,
    /// Whether channels with shifted labels are randomly assigned, so that noncompliance can be detected.
    #[serde(
        rename(serialize = "mirrored", deserialize = "compliance_check"),
        alias = "mirrored",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub mirrored: bool,
}

impl IndependentRequest {
    /// Creates a request with a record-level epsilon.
    pub fn new(epsilon: f64) -> Self {
        IndependentRequest { epsilon: Some(epsilon), ..Self::default() }
    }

    /// Creates a request with one epsilon for each attribute, or one for all.
    pub fn with_attribute_epsilons(epsilons: impl Into<Vec<f64>>) -> Self {
        IndependentRequest { attribute_epsilon: Some(epsilons.into()), ..Self::default() }
    }

    /// Creates a request with this probability of keeping each true category, rather than drawing uniformly.
    pub fn with_retention_probability(q: f64) -> Self {
        IndependentRequest { q: Some(q), ..Self::default() }
    }

    parameters! {
        /// Sets the allocation of the record-level epsilon, as a ratio; equal by default.
        budget_split(ratio: impl Into<Vec<f64>>): ratio = Some(ratio.into());
    }

    parameters! {
        /// Adds channels with shifted labels, so that noncompliance can be detected.
        compliance_check: mirrored;
    }
}

impl Design for IndependentRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let (ratio, attribute_epsilon) = (self.ratio.as_deref(), self.attribute_epsilon.as_deref());
        let budget = Budget { epsilon: self.epsilon, ratio, attribute_epsilon, q: self.q };
        let epsilons = budget.epsilons(schema)?;
        let plan = if self.mirrored { mirrored_plan(schema, &epsilons)? } else { independent(schema, &epsilons)? };
        let recommend_workload = self.epsilon.is_some() && schema.randomized().len() > 1;
        Ok(DesignOutcome { recommend_workload, ..DesignOutcome::from(plan) })
    }

    fn at(_: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        vec![(None, Ok(IndependentRequest { epsilon: Some(goal.epsilon), ..IndependentRequest::default() }))]
    }
}

/// Designs one block of k-ary randomized response per attribute, each with its own epsilon.
///
/// The record-level epsilon is their sum. Marginal and conditional epsilons agree.
///
/// # Errors
/// Returns [`DesignError::CountMismatch`] if the number of epsilons is wrong, and [`DesignError::Channel`] if one is
/// invalid.
pub fn independent(schema: &Schema, epsilons: &[f64]) -> Result<Plan, DesignError> {
    let private = randomized_attributes(schema)?;
    if epsilons.len() != private.len() {
        let (what, found, expected) = ("attribute_epsilon", epsilons.len(), private.len());
        return Err(DesignError::CountMismatch { what, found, expected });
    }
    let block = |(&(attribute, size), &epsilon): (&(usize, usize), &f64)| {
        Ok(Block::new(vec![attribute], Pattern::k_ary(vec![Axis::single(size)], epsilon)?))
    };
    let blocks = private.iter().zip(epsilons).map(block).collect::<Result<_, DesignError>>()?;
    let requested = epsilons.iter().copied().map(Some).collect();
    Ok(Plan::new(schema.clone(), blocks)?.with_origin(Origin { method: "independent".to_owned(), requested }))
}

/// Designs the same plan with channels of shifted labels ([`compliance_check`]).
fn mirrored_plan(schema: &Schema, epsilons: &[f64]) -> Result<Plan, DesignError> {
    let plain = independent(schema, epsilons)?;
    let block = |(block, &epsilon): (&Block, &f64)| {
        let attribute = block.attributes()[0];
        let lottery = compliance_check::k_ary(schema.attributes()[attribute].categories(), epsilon)?;
        Ok(Block::lottery(vec![attribute], lottery))
    };
    let blocks = plain.blocks().iter().zip(epsilons).map(block).collect::<Result<_, DesignError>>()?;
    Ok(Plan::new(schema.clone(), blocks)?.with_origin(plain.origin().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::share;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_total_is_met_and_never_exceeded(
            sizes in prop::collection::vec(2usize..40, 1..12),
            total in 0.0f64..20.0,
            uneven in any::<bool>(),
        ) {
            let schema = Schema::with_sizes(&sizes).unwrap();
            let ratio: Vec<f64> = (0..sizes.len()).map(|i| if uneven { 1.0 + i as f64 } else { 1.0 }).collect();
            let plan = independent(&schema, &share(total, &ratio).unwrap()).unwrap();
            let certified = plan.guarantee().epsilon().as_f64();
            prop_assert!(certified <= total, "{certified} for {total}");
            prop_assert!(certified >= total - 1e-8 * sizes.len() as f64, "{certified} for {total}");
            for attribute in plan.guarantee().attributes() {
                prop_assert_eq!(attribute.marginal, Some(attribute.conditional));
            }
        }
    }

    #[test]
    fn one_epsilon_per_attribute() {
        let schema = Schema::with_sizes(&[2, 3]).unwrap();
        let error = independent(&schema, &[1.0]).unwrap_err().to_string();
        assert_eq!(error, "`attribute_epsilon` has 1 value, but there are 2 attributes to randomize");
        assert!(independent(&schema, &[1.0, -1.0]).is_err());
    }
}
