//! Scores: numeric outcomes from the categories of attributes, or sums over several randomized attributes.

use candor_base::plan::Plan;
use candor_base::schema::Attribute;

use super::no_answer::has_missing;
use super::options::{Family, Missing, ModelOptions};
use super::{Formula, RegressError};
use crate::moments::{Values, ValuesError};

/// Returns the attributes whose scores add up to the outcome, with their scores; empty for other outcomes.
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
    let alone = formula.summands().len() == 1;
    let is_score = |family: Family| matches!(family, Family::Linear | Family::QuasiPoisson);
    if alone && !(position(&formula.summands()[0]).is_some() && options.family.is_some_and(is_score)) {
        return Ok(Vec::new());
    }
    let family = options.family.unwrap_or(Family::Linear);
    if !is_score(family) {
        return Err(refused(format!(
            "a sum is a number: `family linear` or `family quasi-poisson`, not {}",
            family.name()
        )));
    }
    let one = |name: &String| {
        let at = position(name).filter(|&at| alone || !attributes[at].is_public()).ok_or_else(|| {
            refused(format!("\"{name}\" is no randomized attribute of the plan; a sum is of such attributes"))
        })?;
        if options.missing == Missing::Category && has_missing(&attributes[at]) {
            return Err(refused(format!(
                "a missing value of \"{name}\" has no score; leave out `missing category`, or take a schema \
                 without missing values"
            )));
        }
        Ok((at, values(&attributes[at], family, alone)?))
    };
    formula.summands().iter().map(one).collect()
}

/// Returns the scores of an item.
///
/// Counts require a ratio scale, which ranks lack. So for counts, only items of a sum with two categories may have
/// labels that are not numbers; their scores are 0 and 1.
fn values(attribute: &Attribute, family: Family, alone: bool) -> Result<Values, RegressError> {
    let counts = family.is_of_counts();
    let codes = 0..attribute.categories().len();
    let answers = || codes.clone().filter(|&code| attribute.is_answer(code));
    let found = match counts && (alone || answers().count() != 2) {
        true => Values::new(attribute),
        false => Values::of_item(attribute),
    };
    let values = found.map_err(|error| RegressError::Score(refusal(error, counts)))?;
    if counts && answers().any(|code| values.of(code).is_some_and(|value| value < 0.0)) {
        let message = "is not a count; they must be 0 or more";
        return Err(RegressError::Score(format!("a category of \"{}\" {message}", attribute.name())));
    }
    Ok(values)
}

fn refusal(error: ValuesError, counts: bool) -> String {
    match error {
        ValuesError::OpenBins { name, .. } => {
            format!("the bins of \"{name}\" are not numbers; plan with points of a grid, or take `family ordinal`")
        }
        ValuesError::Words { name, category } if counts => format!(
            "the category \"{category}\" of \"{name}\" is not a number, and a log mean takes numbers; take another \
             family"
        ),
        ValuesError::Words { name, .. } => format!(
            "the categories of \"{name}\" stand for no numbers: they are words without an order; make it ordinal in \
             the schema"
        ),
        other => other.to_string(),
    }
}
