//! What the others cost an attribute: the error of its tables if all are randomized, and if it alone is.

use candor_analysis::table_list::TableList;
use candor_base::plan::Plan;
use candor_base::schema::Schema;
use candor_runtime::names;
use candor_runtime::progress::{Progress, ProgressSink};

use super::{Candidate, compare, recommended};
use crate::DesignError;
use crate::method::ComparisonTarget;
use crate::predict::errors_within;
use crate::request::design;

/// One attribute's tables, under two plans of the same epsilon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone {
    /// The attribute.
    pub attribute: usize,
    /// The root mean square standard error over all cells of the tables with it, under the plan that randomizes all.
    pub among_all: f64,
    /// The same if no other were randomized, under the best plan for that.
    pub alone: f64,
}

/// For each randomized attribute that is in one of the tables asked for: the error of those tables under the plan of a
/// candidate, and if the attribute were the only one randomized. What is only randomized because something else is
/// costs as much as the difference tells. Empty if there is but one.
///
/// Cost: for each attribute one comparison of all methods over it alone.
///
/// # Errors
/// If the tables are none of the schema's, or whoever watches ends it.
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

/// The best plan that randomizes one attribute and leaves the others as they are.
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
