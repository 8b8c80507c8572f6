//! Scores: sums of randomized attributes whose categories stand for numbers.

use candor_base::plan::Plan;

use super::options::{Family, Missing, ModelOptions};
use super::{Formula, RegressError};
use crate::moments::Values;

/// The randomized attributes whose scores add up to the response, and what their categories stand for; none if it is
/// something else.
pub(super) fn scores(
    plan: &Plan,
    formula: &Formula,
    options: &ModelOptions,
) -> Result<Vec<(usize, Values)>, RegressError> {
    let attributes = plan.schema().attributes();
    let position = |name: &String| attributes.iter().position(|attribute| attribute.name() == name);
    let refused = |message: String| RegressError::Score(message);
    if let Some(name) = formula.summands().iter().find(|name| formula.terms().iter().flatten().any(|t| t == *name)) {
        return Err(RegressError::OwnPredictor(name.clone()));
    }
    if let [name] = formula.summands() {
        let is_randomized = position(name).is_some_and(|at| !attributes[at].is_public());
        if !(is_randomized && options.family == Some(Family::Linear)) {
            return Ok(Vec::new());
        }
    }
    if let Some(other) = options.family.filter(|family| *family != Family::Linear) {
        return Err(refused(format!("a sum is a number: `family linear`, not {}", other.name())));
    }
    if options.missing == Missing::Category {
        return Err(refused("a missing value has no score; leave out `missing category`".to_owned()));
    }
    let one = |name: &String| {
        let at = position(name).filter(|&at| !attributes[at].is_public()).ok_or_else(|| {
            refused(format!("\"{name}\" is no randomized attribute of the plan; a sum is of such attributes"))
        })?;
        let values = Values::of_item(&attributes[at]).map_err(|_| {
            let message = "stand for no numbers: they are words without an order; make it ordinal in the schema";
            refused(format!("the categories of \"{name}\" {message}"))
        })?;
        Ok((at, values))
    };
    formula.summands().iter().map(one).collect()
}
