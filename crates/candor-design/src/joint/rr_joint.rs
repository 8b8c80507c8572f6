//! RR-Joint: randomized response on the complete record (Domingo-Ferrer and Soria-Comas 2020, section 3.2).

use candor_base::channel::{Axis, Pattern};
use candor_base::plan::{Block, Origin, Plan};
use candor_base::schema::Schema;
use candor_runtime::progress::ProgressSink;
use serde::{Deserialize, Serialize};

use crate::outcome::DesignOutcome;
use crate::traits::{Candidates, ComparisonTarget, Design, parameters};
use crate::{DesignError, compliance_check, randomized_attributes};

/// Parameters of RR-Joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointRequest {
    /// Record-level epsilon.
    pub epsilon: f64,
    /// Whether channels with shifted labels are randomly assigned, so that noncompliance can be detected.
    ///
    /// With two categories, half of the channels favor the opposite of the true one.
    #[serde(
        rename(serialize = "mirrored", deserialize = "compliance_check"),
        alias = "mirrored",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub mirrored: bool,
}

impl JointRequest {
    /// Creates a request for keeping or replacing the complete record at once, at this epsilon.
    pub fn new(epsilon: f64) -> Self {
        JointRequest { epsilon, mirrored: false }
    }

    parameters! {
        /// Adds channels with shifted labels, so that noncompliance can be detected.
        compliance_check: mirrored;
    }
}

impl Design for JointRequest {
    fn design(&self, schema: &Schema, _: ProgressSink<'_>) -> Result<DesignOutcome, DesignError> {
        let plan = if self.mirrored { mirrored_plan(schema, self.epsilon)? } else { rr_joint(schema, self.epsilon)? };
        Ok(DesignOutcome { recommend_workload: schema.randomized().len() > 1, ..DesignOutcome::from(plan) })
    }

    fn at(_: &Schema, goal: &ComparisonTarget<'_>) -> Candidates<Self> {
        vec![(None, Ok(JointRequest { epsilon: goal.epsilon, mirrored: false }))]
    }
}

/// Designs k-ary randomized response on the product of all attributes.
///
/// The complete record is kept, or replaced by a uniformly random one. Marginal epsilons are tiny; conditional epsilons
/// equal the record-level epsilon.
///
/// # Errors
/// Returns [`DesignError::Channel`] if epsilon is negative, infinite or not a number.
pub fn rr_joint(schema: &Schema, epsilon: f64) -> Result<Plan, DesignError> {
    let private = randomized_attributes(schema)?;
    let axes = private.iter().map(|&(_, size)| Axis::single(size)).collect();
    let attributes: Vec<usize> = private.iter().map(|&(attribute, _)| attribute).collect();
    let requested = vec![None; attributes.len()];
    let blocks = vec![Block::new(attributes, Pattern::k_ary(axes, epsilon)?)];
    Ok(Plan::new(schema.clone(), blocks)?.with_origin(Origin { method: "joint".to_owned(), requested }))
}

/// Designs the same plan with channels of shifted labels ([`compliance_check`]).
fn mirrored_plan(schema: &Schema, epsilon: f64) -> Result<Plan, DesignError> {
    let plain = rr_joint(schema, epsilon)?;
    let attributes = plain.blocks()[0].attributes().to_vec();
    let labels: Vec<&[String]> = attributes.iter().map(|&at| schema.attributes()[at].categories()).collect();
    let lottery = compliance_check::joint(&labels, epsilon)?;
    Ok(Plan::new(schema.clone(), vec![Block::lottery(attributes, lottery)])?.with_origin(plain.origin().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keep_probability_of_paper_004() {
        // p_C of Domingo-Ferrer and Soria-Comas 2020 with the sign corrected: 1/(1 + (prod - 1) e^-E). For {Rel, Sex,
        // Inc} and {Edu, Inc} at the summed UP epsilons for p = 0.7.
        for (sizes, epsilon, kept) in
            [(vec![6, 2, 2], 2.708_05 + 2.0 * 1.734_601, 0.954_425), (vec![16, 2], 3.646_32 + 1.734_601, 0.875_112)]
        {
            let plan = rr_joint(&Schema::with_sizes(&sizes).unwrap(), epsilon).unwrap();
            let pattern = match &plan.blocks()[0].channels()[0].1 {
                candor_base::channel::Channel::Pattern(pattern) => pattern,
                _ => unreachable!(),
            };
            let all: Vec<usize> = (0..sizes.len()).collect();
            let found = pattern.marginal(&all).probabilities()[0];
            assert!((found - kept).abs() < 1e-6, "{found} against {kept}");
        }
    }

    #[test]
    fn public_attributes_stay_out() {
        let schema = Schema::from_toml(
            "[[attribute]]\nname = \"p\"\npublic = true\ncategories = [\"x\", \"y\"]\n\
             [[attribute]]\nname = \"a\"\ncategories = [\"x\", \"y\"]\n",
        )
        .unwrap();
        assert_eq!(rr_joint(&schema, 1.0).unwrap().blocks()[0].attributes(), [1]);
        let public = Schema::from_toml("[[attribute]]\nname = \"p\"\npublic = true\ncategories = [\"x\"]\n").unwrap();
        assert_eq!(rr_joint(&public, 1.0), Err(DesignError::NothingPrivate));
    }
}
