//! RR-Joint: one randomized response on the whole record (Domingo-Ferrer and Soria-Comas 2020, section 3.2).

use candor::channel::{Axis, Pattern};
use candor::plan::{Block, Origin, Plan};
use candor::schema::Schema;
use candor_analysis::watch::Watch;
use serde::{Deserialize, Serialize};

use crate::designed::Designed;
use crate::method::{Candidates, Design, Goal};
use crate::{DesignError, private};

/// What RR-Joint takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointRequest {
    /// The epsilon of the record.
    pub epsilon: f64,
}

impl Design for JointRequest {
    fn design(&self, schema: &Schema, _: Watch<'_>) -> Result<Designed, DesignError> {
        let plan = rr_joint(schema, self.epsilon)?;
        Ok(Designed { recommend_workload: schema.private().len() > 1, ..Designed::from(plan) })
    }

    fn at(_: &Schema, goal: &Goal<'_>) -> Candidates<Self> {
        vec![(None, Ok(JointRequest { epsilon: goal.epsilon }))]
    }
}

/// k-ary randomized response on the product of all attributes: the whole record is kept, or
/// replaced by a uniformly random one. Marginal attribute epsilons are tiny, the conditional ones
/// are the record's.
///
/// # Errors
/// If epsilon is not a privacy loss.
pub fn rr_joint(schema: &Schema, epsilon: f64) -> Result<Plan, DesignError> {
    let private = private(schema)?;
    let axes = private.iter().map(|&(_, size)| Axis::single(size)).collect();
    let attributes: Vec<usize> = private.iter().map(|&(attribute, _)| attribute).collect();
    let requested = vec![None; attributes.len()];
    let blocks = vec![Block::new(attributes, Pattern::k_ary(axes, epsilon)?)];
    Ok(Plan::new(schema.clone(), blocks)?.with_origin(Origin { method: "joint".to_owned(), requested }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keep_probability_of_paper_004() {
        // p_C of Domingo-Ferrer and Soria-Comas 2020 with the sign right: 1/(1 + (prod - 1) e^-E), for {Rel, Sex, Inc} and
        // {Edu, Inc} at the summed UP budgets for p = 0.7.
        for (sizes, epsilon, kept) in
            [(vec![6, 2, 2], 2.708_05 + 2.0 * 1.734_601, 0.954_425), (vec![16, 2], 3.646_32 + 1.734_601, 0.875_112)]
        {
            let plan = rr_joint(&Schema::of_sizes(&sizes).unwrap(), epsilon).unwrap();
            let pattern = match &plan.blocks()[0].channels()[0].1 {
                candor::channel::Channel::Pattern(pattern) => pattern,
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
