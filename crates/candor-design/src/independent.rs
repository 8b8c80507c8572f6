//! RR-Independent: every attribute is randomized independently of the others.
//!
//! See Domingo-Ferrer and Soria-Comas 2020, section 3; it is the Kronecker product of Yamamoto and Shibuya 2024.

use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::k_ary::warner_channel;
use crate::outcome::DesignOutcome;
use crate::traits::{Candidates, ComparisonTarget, Design, parameters};
use crate::{DesignError, compliance_check, randomized_attributes};

/// Parameters of RR-Independent: `epsilon` (with a `ratio`), `attribute_epsilon`, `p` or `q`.
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
    /// Probability of reporting the true category of each attribute: `p` in the main diagonal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
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
        let budget = Budget { epsilon: self.epsilon, ratio, attribute_epsilon, p: self.p, q: self.q };
        let epsilons = budget.epsilons(schema)?;
        let plan = match (self.mirrored, self.p) {
            (true, p) => mirrored_plan(schema, at_least_even(schema, p).map(|()| &epsilons[..])?)?,
            (false, Some(p)) => of_warner(schema, p)?,
            (false, None) => independent(schema, &epsilons)?,
        };
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

/// Designs one block of Warner's method per attribute, all with the same `p`.
///
/// The plan names no requested epsilons: they follow from `p`, and rounded they may be below the certified ones.
fn of_warner(schema: &Schema, p: f64) -> Result<Plan, DesignError> {
    let private = randomized_attributes(schema)?;
    let block = |&(attribute, size): &(usize, usize)| Ok(Block::new(vec![attribute], warner_channel(size, p)?));
    let blocks = private.iter().map(block).collect::<Result<_, DesignError>>()?;
    let requested = vec![None; private.len()];
    Ok(Plan::new(schema.clone(), blocks)?.with_origin(Origin { method: "independent".to_owned(), requested }))
}

/// Checks that the true category is the likeliest answer about each attribute, as shifted labels require.
fn at_least_even(schema: &Schema, p: Option<f64>) -> Result<(), DesignError> {
    let smallest = randomized_attributes(schema)?.into_iter().map(|(_, size)| size).min().unwrap_or(2);
    match p.filter(|p| p * (smallest as f64) < 1.0) {
        None => Ok(()),
        Some(value) => {
            let range = format!("with `compliance_check` it must be at least 1/{smallest}, the share of a category");
            Err(DesignError::Parameter { name: "p", value, range })
        }
    }
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

    /// `p` in the main diagonal, `(1 - p)/(n - 1)` elsewhere, also where the truth is then the least likely answer.
    #[test]
    fn p_is_in_the_main_diagonal() {
        let sizes = [9, 2, 5];
        let schema = Schema::with_sizes(&sizes).unwrap();
        for p in [0.05, 0.1, 0.3, 0.5, 0.7] {
            let request = IndependentRequest { p: Some(p), ..IndependentRequest::default() };
            let plan = request.design(&schema, ProgressSink::none()).unwrap().plan;
            assert!(plan.origin().requested.iter().all(Option::is_none));
            for (found, &n) in plan.guarantee().attributes().iter().zip(&sizes) {
                assert!((found.keep_probability.unwrap() - p).abs() < 1e-12, "{n} {p}");
                let epsilon = (p * (n as f64 - 1.0) / (1.0 - p)).ln().abs();
                assert!((found.conditional.as_f64() - epsilon).abs() < 1e-9, "{n} {p}");
            }
        }
        let refused =
            |request: IndependentRequest| request.design(&schema, ProgressSink::none()).unwrap_err().to_string();
        assert!(refused(IndependentRequest { p: Some(1.0), ..Default::default() }).contains("below 1"));
        assert!(refused(IndependentRequest { p: Some(0.5), q: Some(0.5), ..Default::default() }).contains("give one"));
        let mirrored = IndependentRequest { p: Some(0.3), mirrored: true, ..Default::default() };
        assert!(refused(mirrored).contains("at least 1/2"));
    }

    #[test]
    fn one_epsilon_per_attribute() {
        let schema = Schema::with_sizes(&[2, 3]).unwrap();
        let error = independent(&schema, &[1.0]).unwrap_err().to_string();
        assert_eq!(error, "`attribute_epsilon` has 1 value, but there are 2 attributes to randomize");
        assert!(independent(&schema, &[1.0, -1.0]).is_err());
    }
}
