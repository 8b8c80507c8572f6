//! The cost of randomizing other attributes: an attribute's error with and without randomizing the others.

use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_runtime::names;
use candor_runtime::progress::{Progress, ProgressSink};

use super::{Candidate, compare, recommended};
use crate::DesignError;
use crate::predict::errors_within;
use crate::request::design;
use crate::traits::ComparisonTarget;

/// Errors of one attribute's tables under two plans of the same epsilon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone {
    /// Position of the attribute.
    pub attribute: usize,
    /// Root mean square standard error over all cells of its tables, if all attributes are randomized.
    pub among_all: f64,
    /// Root mean square standard error if no other attribute is randomized, for the best plan in that case.
    pub alone: f64,
}

/// Returns the error of each attribute's tables, under a candidate's plan and if no other attribute were randomized.
///
/// The difference is the cost of randomizing the others. Only randomized attributes in some requested table are
/// included. The result is empty for a single attribute. Cost: one comparison of all methods for each attribute.
///
/// # Errors
/// Returns [`DesignError::Tables`] if the tables do not fit the schema, and [`DesignError::Cancelled`] if `progress`
/// cancels.
pub fn alone(
    schema: &Schema,
    goal: &ComparisonTarget<'_>,
    best: &Candidate,
    progress: ProgressSink<'_>,
) -> Result<Vec<Alone>, DesignError> {
    let (private, tables) = (schema.randomized(), TableList::parse(goal.tables, schema)?);
    let (Ok(made), 2..) = (&best.made, private.len()) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for (done, &attribute) in (0..).zip(&private) {
        progress.report(Progress::new("attributes", done, Some(private.len() as u64)))?;
        let with: Vec<Vec<usize>> = tables.lists().iter().filter(|table| table.contains(&attribute)).cloned().collect();
        if with.is_empty() {
            continue;
        }
        let with = TableList::new(with, schema)?;
        let error = |plan: &Plan| {
            let squares = errors_within(plan, std::slice::from_ref(&with), goal.respondents, goal.deadline()).ok()?;
            squares.into_iter().next().flatten().map(|squares| squares.root_mean())
        };
        let only = only_randomized(schema, attribute, goal);
        if let (Some(among_all), Some(alone)) = (error(&made.plan), only.as_ref().and_then(error)) {
            found.push(Alone { attribute, among_all, alone });
        }
    }
    Ok(found)
}

/// Returns the best plan that randomizes one attribute and no other.
fn only_randomized(schema: &Schema, attribute: usize, goal: &ComparisonTarget<'_>) -> Option<Plan> {
    let by_itself = Schema::new(vec![schema.attributes()[attribute].clone().without_condition()]).ok()?;
    let name = names::quoted(schema.name(attribute));
    let candidates = compare(&by_itself, &ComparisonTarget { tables: &name, clusters: None, ..*goal }).ok()?;
    let request = &recommended(&candidates)?.made.as_ref().ok()?.request;
    let others = schema.attributes().iter().enumerate().map(|(i, other)| match i == attribute {
        true => other.clone().without_condition(),
        false => other.clone().without_condition().public(),
    });
    design(&Schema::new(others.collect()).ok()?, request).ok().map(|designed| designed.plan)
}
